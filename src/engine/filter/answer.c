/*
 * answer.c: filter_eval. Blocks that the cache knows are copied, the others are
 * evaluated, and the result that knows them all takes the place of the older one.
 */
#include "engine/filter/key.h"
#include "engine/filter/leaf.h"

/* Bits over entries become bits over keys. */
static void to_keys(const struct flt_slice *s, const uint64_t *bits, uint64_t *ret)
{
	unsigned first = s->block->first / 64, shift = s->block->first % 64;
	size_t words = (s->n + 63) / 64;

	if (s->offsets) {
		for (size_t i = 0; i < words; i++)
			for (uint64_t w = bits[i]; w; w &= w - 1)
				flt_bit_set(ret, s->offsets[i * 64 + (unsigned)__builtin_ctzll(w)]);
		return;
	}
	for (size_t i = 0; i < words; i++) {
		ret[first + i] |= bits[i] << shift;
		/* The last word of a block carries nothing on. */
		if (shift && bits[i] >> (64 - shift))
			ret[first + i + 1] |= bits[i] >> (64 - shift);
	}
}

static enum status eval_block(struct flt_run *r, const struct flt_node *root,
	const struct flt_slice *s, struct flt_block_result *ret)
{
	struct flt_block_result b = { .no = s->block->no, .born = flt_slice_born(s) };
	enum flt_truth truth;
	enum status st = flt_tree_eval(r, root, s, &truth);

	if (st != ST_OK)
		return st;
	if (truth == FLT_ALL)
		b.count = b.born;
	if (truth == FLT_SOME) {
		b.page = flt_page_new();
		if (!b.page)
			return ST_NOMEM;
		to_keys(s, r->levels[0], b.page->bits);
		b.count = (uint32_t)flt_popcount(b.page->bits, FLT_BLOCK_WORDS);
	}
	*ret = b;
	return ST_OK;
}

static uint64_t entries_unknown(const struct filter_view *v, const struct flt_result *known)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < v->slice_count; i++) {
		const struct flt_slice *s = &v->slices[i];

		if (!flt_result_find(known, s->block->no, flt_slice_born(s)))
			sum += s->n;
	}
	return sum;
}

/* Fills ret with what is known and what is found out. */
static enum status complete(struct flt_run *r, const struct engine_filter *tree,
	const struct flt_result *known, struct flt_result *ret)
{
	struct flt_node *root;
	enum status st = flt_tree_make(r, tree, &root);

	for (size_t i = 0; i < r->view->slice_count && st == ST_OK; i++) {
		const struct flt_slice *s = &r->view->slices[i];
		const struct flt_block_result *there =
			flt_result_find(known, s->block->no, flt_slice_born(s));
		struct flt_block_result b = { .page = NULL };

		if (there) {
			b = *there;
			(void)flt_page_ref(b.page);
		} else {
			st = eval_block(r, root, s, &b);
		}
		if (st == ST_OK)
			flt_result_add(ret, b);
	}
	return st;
}

/* The result that knows every block of the view; new reference. */
static enum status result_get(const struct filter_view *v, const struct engine_filter *tree,
	const struct engine_stop *stop, struct bytes key, struct flt_result **ret)
{
	struct flt_cache *cache = &v->filter->cache;
	struct flt_result *known = flt_cache_get(cache, key), *result;
	struct flt_run run = { .view = v, .stop = stop };
	struct arena scratch;
	enum status st;

	run.entries = entries_unknown(v, known);
	flt_cache_count(cache, run.entries == 0);
	if (run.entries == 0 && known) {
		*ret = known;
		return ST_OK;
	}
	result = flt_result_new(key, v->slice_count);
	if (!result) {
		flt_result_unref(known);
		return ST_NOMEM;
	}
	arena_init(&scratch, 0);
	run.arena = &scratch;
	st = complete(&run, tree, known, result);
	arena_release(&scratch);
	flt_result_unref(known);
	if (st != ST_OK) {
		flt_result_unref(result);
		return st;
	}
	flt_cache_put(cache, result);
	*ret = result;
	return ST_OK;
}

/* The keys of a block that are alive, at most `words` words; of these, the ones that
 * have a bit in page (NULL: all). */
static uint64_t copy_living(const struct flt_block *b, const uint64_t *page, size_t words,
	uint64_t *out)
{
	for (size_t i = 0; i < words; i++) {
		uint64_t w = atomic_load_explicit(&b->living[i], memory_order_relaxed);

		out[i] = page ? w & page[i] : w;
	}
	return flt_popcount(out, words);
}

/* One block's words of the answer; the last block may have fewer. */
static uint64_t copy_block(const struct flt_slice *s, const struct flt_block_result *b,
	size_t words, uint64_t *out)
{
	bool whole = s->block->dropped == 0 &&
		atomic_load_explicit(&s->block->gone, memory_order_relaxed) == 0;
	uint32_t last = flt_slice_offset(s, s->n - 1);
	uint64_t beyond;

	if (b->count == 0) {
		memset(out, 0, words * sizeof(out[0]));
		return 0;
	}
	if (b->page && whole) {
		memcpy(out, b->page->bits, words * sizeof(out[0]));
		return b->count;
	}
	if (b->page)
		return copy_living(s->block, b->page->bits, words, out);
	/* The open block may have later keys, which this view does not have. */
	(void)copy_living(s->block, NULL, last / 64 + 1, out);
	beyond = last % 64 == 63 ? 0 : ~UINT64_C(0) << (last % 64 + 1);
	out[last / 64] &= ~beyond;
	memset(out + last / 64 + 1, 0, (words - last / 64 - 1) * sizeof(out[0]));
	return flt_popcount(out, last / 64 + 1);
}

static enum status assemble(const struct filter_view *v, const struct flt_result *result,
	struct arena *arena, struct lexical_filter *ret, uint64_t *ret_count)
{
	const struct flt_slice *first = &v->slices[0], *last = &v->slices[v->slice_count - 1];
	uint32_t end = flt_slice_offset(last, last->n - 1);
	uint64_t blocks = (uint64_t)last->block->no - (uint64_t)first->block->no, sum = 0;
	size_t words = (size_t)blocks * FLT_BLOCK_WORDS + end / 64 + 1, at = 0;
	uint64_t *bits;

	/* At most 2^58 words; a range of keys that is too wide finds no memory. */
	bits = arena_alloc(arena, words * sizeof(bits[0]));
	if (!bits)
		return ST_NOMEM;
	for (size_t i = 0; i < v->slice_count; i++) {
		const struct flt_slice *s = &v->slices[i];
		size_t to = (size_t)(s->block->no - first->block->no) * FLT_BLOCK_WORDS;
		size_t n = s == last ? words - to : FLT_BLOCK_WORDS;
		/* Another view's result may know more blocks, hence the search. */
		const struct flt_block_result *b =
			flt_result_find(result, s->block->no, flt_slice_born(s));

		memset(bits + at, 0, (to - at) * sizeof(bits[0])); /* blocks that are gone */
		sum += copy_block(s, b, n, bits + to);
		at = to + n;
	}
	*ret = (struct lexical_filter){ bits, first->block->no * FLT_BLOCK_KEYS, words * 64 };
	*ret_count = sum;
	return ST_OK;
}

enum status filter_eval(const struct filter_view *v, const struct engine_filter *tree,
	const struct engine_stop *stop, struct arena *arena, struct lexical_filter *ret,
	uint64_t *ret_count, struct error *e)
{
	static const uint64_t nothing;
	struct strbuf key = STRBUF_INIT;
	struct flt_result *result;
	enum status st = flt_key_make(v, tree, &key);

	if (st == ST_OK && !strbuf_ok(&key))
		st = ST_NOMEM;
	if (st == ST_OK && v->slice_count == 0) {
		*ret = (struct lexical_filter){ &nothing, 0, 0 };
		*ret_count = 0;
	} else if (st == ST_OK) {
		st = result_get(v, tree, stop, (struct bytes){ key.data, key.len }, &result);
		if (st == ST_OK) {
			st = assemble(v, result, arena, ret, ret_count);
			flt_result_unref(result);
		}
	}
	strbuf_release(&key);
	if (st == ST_NOMEM)
		return error_set(e, st, "not enough memory to evaluate the filter");
	if (st == ST_CANCELLED)
		return error_set(e, st, "cancelled");
	if (st != ST_OK)
		return error_set(e, st, "the filter is nested too deeply");
	return ST_OK;
}
