/*
 * tree.c: AND, OR and NOT over the bits of a block. A level of the tree has one array
 * of bits; what is decided already is not looked at. Recursion is as deep as the tree,
 * which is at most ENGINE_FILTER_DEPTH
 * (key.c looked).
 */
#include "engine/filter/leaf.h"

static enum status make_node(struct flt_run *r, const struct engine_filter *f,
	struct flt_node *ret);

static enum status make_leaf(struct flt_run *r, const struct engine_filter *f, struct flt_node *ret)
{
	struct flt_leaf leaf = { .kind = FLT_NEVER };
	bool negated;
	enum status st = flt_leaf_make(r, f, &leaf, &negated);

	if (st != ST_OK)
		return st;
	if (!negated) {
		ret->kind = ENGINE_LEAF;
		ret->leaf = leaf;
		return ST_OK;
	}
	ret->kind = ENGINE_NOT;
	ret->count = 1;
	ret->children = arena_array(r->arena, 1, sizeof(ret->children[0]));
	if (!ret->children)
		return ST_NOMEM;
	ret->children[0].kind = ENGINE_LEAF;
	ret->children[0].leaf = leaf;
	return ST_OK;
}

static enum status make_node(struct flt_run *r, const struct engine_filter *f, struct flt_node *ret)
{
	enum status st = ST_OK;

	if (f->kind == ENGINE_LEAF)
		return make_leaf(r, f, ret);
	ret->kind = f->kind;
	ret->count = f->count;
	ret->children = arena_array(r->arena, f->count, sizeof(ret->children[0]));
	if (!ret->children)
		return ST_NOMEM;
	for (size_t i = 0; i < f->count && st == ST_OK; i++)
		st = make_node(r, &f->children[i], &ret->children[i]);
	return st;
}

enum status flt_tree_make(struct flt_run *r, const struct engine_filter *f, struct flt_node **ret)
{
	struct flt_node *root = arena_zero(r->arena, sizeof(*root));

	if (!root)
		return ST_NOMEM;
	*ret = root;
	return make_node(r, f, root);
}

static enum status eval_node(struct flt_run *r, const struct flt_node *node,
	const struct flt_slice *s, unsigned level, enum flt_truth *ret);

/* Negated leaves may make the tree one deeper than its client's. */
static uint64_t *level_bits(struct flt_run *r, unsigned level)
{
	if (!r->levels[level])
		r->levels[level] = arena_alloc(r->arena, FLT_BLOCK_WORDS * sizeof(uint64_t));
	return r->levels[level];
}

static enum status eval_not(struct flt_run *r, const struct flt_node *node,
	const struct flt_slice *s, unsigned level, enum flt_truth *ret)
{
	enum status st = eval_node(r, &node->children[0], s, level, ret);
	uint64_t *bits = r->levels[level];

	if (st != ST_OK)
		return st;
	if (*ret != FLT_SOME) {
		*ret = *ret == FLT_NONE ? FLT_ALL : FLT_NONE;
		return ST_OK;
	}
	for (size_t i = 0; i < (s->n + 63) / 64; i++)
		bits[i] = ~bits[i];
	if (s->n % 64)
		bits[s->n / 64] &= (UINT64_C(1) << s->n % 64) - 1;
	return ST_OK;
}

/* into = into AND (OR) from; whether that is none, all or some. */
static enum flt_truth combine(uint64_t *into, const uint64_t *from, uint32_t n, bool all_must)
{
	uint64_t any = 0, all = ~UINT64_C(0), rest = n % 64 ? ~UINT64_C(0) << n % 64 : 0;
	size_t words = (n + 63) / 64;

	for (size_t i = 0; i < words; i++)
		into[i] = all_must ? into[i] & from[i] : into[i] | from[i];
	for (size_t i = 0; i < words; i++) {
		any |= into[i];
		all &= i + 1 < words ? into[i] : into[i] | rest;
	}
	return any == 0 ? FLT_NONE : all == ~UINT64_C(0) ? FLT_ALL : FLT_SOME;
}

/* The first child that is some lies at this level, the others at the next one. */
static enum status eval_many(struct flt_run *r, const struct flt_node *node,
	const struct flt_slice *s, unsigned level, enum flt_truth *ret)
{
	bool all_must = node->kind == ENGINE_AND;
	enum flt_truth neutral = all_must ? FLT_ALL : FLT_NONE;
	enum flt_truth final = all_must ? FLT_NONE : FLT_ALL, sum = neutral, child = neutral;

	for (size_t i = 0; i < node->count && sum != final; i++) {
		unsigned at = level + (sum == FLT_SOME);
		enum status st = eval_node(r, &node->children[i], s, at, &child);

		if (st != ST_OK)
			return st;
		if (child == neutral)
			continue;
		if (child == final || sum == neutral)
			sum = child;
		else
			sum = combine(r->levels[level], r->levels[at], s->n, all_must);
	}
	*ret = sum;
	return ST_OK;
}

static enum status eval_node(struct flt_run *r, const struct flt_node *node,
	const struct flt_slice *s, unsigned level, enum flt_truth *ret)
{
	uint64_t *bits = level_bits(r, level);

	if (!bits)
		return ST_NOMEM;
	switch (node->kind) {
	case ENGINE_LEAF:
		return flt_leaf_eval(r, &node->leaf, s, bits, ret);
	case ENGINE_NOT:
		return eval_not(r, node, s, level, ret);
	case ENGINE_AND:
	case ENGINE_OR:
		break;
	}
	return eval_many(r, node, s, level, ret);
}

enum status flt_tree_eval(struct flt_run *r, const struct flt_node *root, const struct flt_slice *s,
	enum flt_truth *ret)
{
	return eval_node(r, root, s, 0, ret);
}
