/*
 * contains.c: substring search, once for each distinct string and not for each entry.
 * When there are fewer strings than entries to look at, all are searched at once;
 * else, for instance when only the last block has to be looked at, those that occur.
 */
#include "engine/filter/leaf.h"

#define COST_A_STRING 1U

static bool matches(const struct flt_leaf *leaf, uint64_t value)
{
	struct bytes s = flt_dict_at(leaf->dict, (uint32_t)(value / 2));

	if (value % 2 && leaf->whole_elements)
		return bytes_eq(s, leaf->needle);
	return leaf->needle.len == 0 || memmem(s.data, s.len, leaf->needle.data, leaf->needle.len);
}

static enum status search_all(struct flt_run *r, struct flt_leaf *leaf)
{
	uint64_t *bits = leaf->set.bits;

	for (uint64_t value = 0; value < leaf->set.bit_count; value++) {
		if (matches(leaf, value))
			flt_bit_set(bits, value);
		if (flt_run_stopped(r, COST_A_STRING))
			return ST_CANCELLED;
	}
	return ST_OK;
}

enum status flt_contains_make(struct flt_run *r, struct flt_leaf *leaf)
{
	uint64_t strings = flt_dict_count(leaf->dict);
	size_t words = (size_t)(strings * 2 / 64 + 1);

	leaf->set.bit_count = strings * 2;
	leaf->set.bits = arena_array(r->arena, words, sizeof(uint64_t));
	if (!leaf->set.bits)
		return ST_NOMEM;
	if (strings <= r->entries)
		return search_all(r, leaf);
	leaf->known = arena_array(r->arena, words, sizeof(uint64_t));
	return leaf->known ? ST_OK : ST_NOMEM;
}

static enum status look_at(struct flt_run *r, const struct flt_leaf *leaf, uint64_t value)
{
	/* The dictionary may have grown since; such a value is none of this view's. */
	if (value >= leaf->set.bit_count || flt_bit(leaf->known, value))
		return ST_OK;
	flt_bit_set(leaf->known, value);
	if (matches(leaf, value))
		flt_bit_set(leaf->set.bits, value);
	return flt_run_stopped(r, COST_A_STRING) ? ST_CANCELLED : ST_OK;
}

static enum status look_at_array(struct flt_run *r, const struct flt_leaf *leaf,
	const struct flt_column *c, const void *values, size_t n)
{
	enum status st = ST_OK;

	for (size_t i = 0; i < n && st == ST_OK; i++)
		st = look_at(r, leaf, c->base + flt_load(values, c->width, i));
	return st;
}

enum status flt_contains_block(struct flt_run *r, const struct flt_leaf *leaf,
	const struct flt_slice *s)
{
	const struct flt_column *c;
	const struct flt_list *l;
	enum status st = ST_OK;
	uint32_t count;

	if (!leaf->known)
		return ST_OK;
	if (!s->block->lists) {
		c = flt_block_column(s->block, leaf->field);
		/* Where there is no value the array has base, which some entry has. */
		if (c && c->values)
			st = look_at_array(r, leaf, c, c->values, s->n);
		if (c && st == ST_OK)
			st = look_at_array(r, leaf, c, c->more, c->more_count);
		return st;
	}
	l = flt_block_find_list(s->block, leaf->field);
	count = l ? flt_list_count(l) : 0;
	for (uint32_t i = 0; i < count && st == ST_OK && flt_list_entry(l, i) < s->n; i++)
		st = look_at(r, leaf, flt_list_value(l, i));
	return st;
}
