/*
 * prune.c: the best chunks of one slice without scoring most of them: MaxScore
 * (Turtle and Flood, 1995) with block bounds (Ding and Suel, 2011), by windows.
 *
 * In each window of ordinals every list has a bound from its blocks there. Sorted by
 * it, the lists whose bounds sum up to less than the cut are not essential: a chunk
 * that is in none of the others cannot get in. So the essential lists alone say who is
 * a candidate. Their scores are accumulated; then come the others, highest bound
 * first, and before each the candidates that cannot get in any more are dropped. A
 * list is run through while there are many candidates (adding to those only), since
 * decoding in a row costs a nanosecond a posting and a look-up thirty; when few are
 * left, these are looked up one by one. Windows, and blocks of essential lists, whose
 * bounds do not reach the cut are skipped without decoding.
 *
 * Scores here are approximate (score.h). Who reaches the cut goes into a pool; the
 * pool is scored exactly when the slice ends or the pool is full. A chunk that ties
 * with the k-th one is never below the cut, so ties are settled exactly, too.
 */
#include "engine/lexical/search.h"

#define SPARSE_BLOCK (2 * LEX_WINDOW) /* a block that spans more is decoded for its bound */
#define FEW_TOUCHED 16                /* postings that are run through for one look-up less */
#define NOTHING 1e-30F                /* far below any score, but above 0 */
#define FEW_ALLOWED 32                /* one chunk in so many allowed: begin with the filter */

/* ---- exact scores ---- */

static double score_exactly(struct lex_search *s, uint32_t ord)
{
	uint32_t ords[LEX_BLOCK], tfs[LEX_BLOCK], length;
	double norm, sum = 0;

	lex_lengths_get(&s->lengths, &ord, 1, &length);
	norm = lex_norm(&s->model, length);
	for (uint32_t t = 0; t < s->n; t++) {
		uint32_t tf = lex_cursor_probe(&s->cursors[t], ord, ords, tfs);

		s->scores[t] = tf ? lex_score(&s->model, s->terms[t].idf, tf, norm) : 0;
	}
	for (size_t i = 0; i < s->query->term_count; i++)
		sum += s->scores[s->positions[i]];
	return sum;
}

static void empty_pool(struct lex_search *s)
{
	for (size_t i = 0; i < s->pool_count; i++) {
		struct lex_scored found = { 0, s->slice_no, s->pool[i].ord };

		if (s->pool[i].score < s->top.cut)
			continue;
		found.score = score_exactly(s, found.ord);
		lex_top_offer(&s->top, found);
	}
	s->pool_count = 0;
}

/* Drops who fell below the cut since; if that frees little, all are scored. */
static void tidy_pool(struct lex_search *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->pool_count; i++)
		if (s->pool[i].score >= s->top.cut)
			s->pool[n++] = s->pool[i];
	s->pool_count = n;
	if (n > s->pool_cap / 2)
		empty_pool(s);
}

static void take(struct lex_search *s, uint32_t ord, float score)
{
	lex_top_note(&s->top, score);
	s->pool[s->pool_count++] = (struct lex_maybe){ score, ord };
	if (s->pool_count == s->pool_cap)
		tidy_pool(s);
}

/* ---- candidates ---- */

static uint32_t tf_at(struct lex_search *s, struct lex_cursor *c, uint32_t ord)
{
	if (!lex_cursor_load(c)) {
		s->damaged = true;
		return 0;
	}
	c->pos = lex_lower_bound(c->ords, c->pos, c->count, ord);
	if (c->ords[c->pos] != ord)
		return 0;
	lex_cursor_load_tfs(c);
	return c->tfs[c->pos];
}

/* Bounds of the blocks around ord in the lists order[from..to), summed up in rest. */
static float sum_blocks(struct lex_search *s, uint32_t ord, uint32_t from, uint32_t to)
{
	float sum = 0;

	for (uint32_t i = from; i < to; i++) {
		struct lex_cursor *c = &s->cursors[s->order[i]];

		if (lex_cursor_seek_block(c, ord))
			sum += c->bounds[c->block];
		s->rest[i] = sum;
	}
	return sum;
}

/* A chunk with its score in the lists order[to..n); from: the first one that has
 * anything in the window. */
static void complete(struct lex_search *s, uint32_t ord, float score, uint32_t from, uint32_t to)
{
	uint32_t length;
	float norm;

	if (score + sum_blocks(s, ord, from, to) < s->top.cut || !lex_search_allows(s, ord))
		return;
	lex_lengths_get(&s->lengths, &ord, 1, &length);
	norm = s->model.base + s->model.per_length * (float)length;
	for (uint32_t i = to; i-- > from;) {
		struct lex_cursor *c = &s->cursors[s->order[i]];
		uint32_t tf;

		if (score + s->rest[i] < s->top.cut)
			return;
		tf = c->block < c->blocks ? tf_at(s, c, ord) : 0;
		if (tf > 0)
			score += c->weight * (float)tf / ((float)tf + norm);
	}
	if (score > NOTHING && score >= s->top.cut)
		take(s, ord, score);
}

/* ---- one window ---- */

struct window {
	uint32_t base, end;
	uint32_t first;     /* of order: the first list with anything in the window */
	uint32_t essential; /* of order: the first that is essential */
	float others;       /* bounds of those that are not */
	float total;        /* of all */
};

/* The postings of the current block from base to end: scores into out, from place
 * *ret_from to *ret_to. */
static bool score_block(struct lex_search *s, struct lex_cursor *c, const struct window *w,
	float *out, uint32_t *ret_from, uint32_t *ret_to)
{
	uint32_t lengths[LEX_BLOCK], from, to = 0;

	if (!lex_cursor_load(c)) {
		s->damaged = true;
		return false;
	}
	lex_cursor_load_tfs(c);
	from = lex_lower_bound(c->ords, c->pos, c->count, w->base);
	to = c->lasts[c->block] < w->end ? c->count
					 : lex_lower_bound(c->ords, from, c->count, w->end);
	lex_lengths_get(&s->lengths, c->ords + from, to - from, lengths);
	lex_score_run(&s->model, c->weight, c->tfs + from, lengths, to - from, out);
	*ret_from = from;
	*ret_to = to;
	return true;
}

/* Done with the current block as far as the window goes; false if it goes no further. */
static bool leave_block(struct lex_cursor *c, const struct window *w)
{
	if (c->lasts[c->block] >= w->end)
		return false;
	c->block++;
	return c->block < c->blocks && lex_cursor_block_start(c) < w->end;
}

/* Adds a list's scores up; returns how many chunks of the window are touched now. */
static uint32_t accumulate(struct lex_search *s, struct lex_cursor *c, const struct window *w,
	uint32_t touched)
{
	float out[LEX_BLOCK], others = w->total - c->window;
	uint32_t from, to;

	do {
		/* The sum is rounded, more than the slack allows for if others is what
		 * remains of a larger number: so a little less is skipped. */
		if ((c->bounds[c->block] + others) * 1.0001F < s->top.cut)
			continue;
		if (!score_block(s, c, w, out, &from, &to))
			return touched;
		for (uint32_t i = from; i < to; i++) {
			uint32_t at = c->ords[i] - w->base;

			s->touched[touched] = at;
			touched += s->acc[at] == 0 && touched < LEX_WINDOW;
			s->acc[at] += out[i - from];
		}
		c->pos = to;
	} while (leave_block(c, w));
	return touched;
}

/* The current block's postings in the window that are touched: their places there into
 * `at`, ordinals and tfs packed together. Returns how many. */
static uint32_t pick_touched(const struct lex_search *s, const struct lex_cursor *c,
	const struct window *w, uint32_t *at, uint32_t *ords, uint32_t *tfs)
{
	uint32_t n = 0;

	for (uint32_t i = c->pos; i < c->count && c->ords[i] < w->end; i++) {
		uint32_t place = c->ords[i] - w->base;

		at[n] = place;
		ords[n] = i;
		n += s->acc[place] > 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		/* The loop above has set the first n, which the analyser cannot see. */
		tfs[i] = c->tfs[ords[i]]; /* NOLINT(clang-analyzer-core.*) */
		ords[i] = at[i] + w->base;
	}
	return n;
}

/* The same for a list that is not essential: only chunks that are touched count, and
 * only these are scored. */
static void add_to_touched(struct lex_search *s, struct lex_cursor *c, const struct window *w)
{
	uint32_t at[LEX_BLOCK], ords[LEX_BLOCK], tfs[LEX_BLOCK], lengths[LEX_BLOCK], n;
	float out[LEX_BLOCK];

	do {
		if (!lex_cursor_load(c)) {
			s->damaged = true;
			return;
		}
		lex_cursor_load_tfs(c);
		c->pos = lex_lower_bound(c->ords, c->pos, c->count, w->base);
		n = pick_touched(s, c, w, at, ords, tfs);
		lex_lengths_get(&s->lengths, ords, n, lengths);
		lex_score_run(&s->model, c->weight, tfs, lengths, n, out);
		for (uint32_t i = 0; i < n; i++)
			s->acc[at[i]] += out[i];
	} while (leave_block(c, w));
}

/* Keeps the touched chunks that reach the cut with `more`; returns how many. */
static uint32_t drop_hopeless(struct lex_search *s, uint32_t touched, float more)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < touched; i++) {
		uint32_t at = s->touched[i];
		float sum = s->acc[at];
		bool keep = sum + more >= s->top.cut; /* without a branch: nobody can guess it */

		s->touched[n] = at;
		n += keep;
		s->acc[at] = keep ? sum : 0;
	}
	return n;
}

/* About how many postings the list has in the window. */
static uint32_t estimate(const struct lex_cursor *c, const struct window *w)
{
	uint32_t span;
	uint64_t n;

	if (c->block == c->blocks)
		return 0;
	span = c->lasts[c->block] - lex_cursor_block_start(c) + 1;
	n = (uint64_t)c->ats[c->block].count * (w->end - w->base) / span;
	return n < LEX_WINDOW ? (uint32_t)n : LEX_WINDOW;
}

/* Calls complete for the touched chunks in order, with the lists below `to`; clears
 * the sums. */
static void complete_touched(struct lex_search *s, const struct window *w, uint32_t touched,
	uint32_t to)
{
	for (uint32_t i = 0; i < touched; i++)
		s->bits[s->touched[i] / 64] |= UINT64_C(1) << s->touched[i] % 64;
	for (uint32_t i = 0; touched > 0 && i < LEX_WINDOW / 64; i++) {
		for (uint64_t bits = s->bits[i]; bits; bits &= bits - 1) {
			uint32_t at = i * 64 + (uint32_t)__builtin_ctzll(bits);
			float score = s->acc[at];

			s->acc[at] = 0;
			complete(s, w->base + at, score, w->first, to);
		}
		s->bits[i] = 0;
	}
}

/* The touched chunks meet the lists that are not essential. */
static void finish_touched(struct lex_search *s, const struct window *w, uint32_t touched)
{
	uint32_t i = w->essential;

	while (i > w->first) {
		struct lex_cursor *c = &s->cursors[s->order[--i]];

		touched = drop_hopeless(s, touched, s->sums[i]);
		if (touched * FEW_TOUCHED <= estimate(c, w)) {
			complete_touched(s, w, touched, i + 1);
			return;
		}
		if (lex_cursor_seek_block(c, w->base) && lex_cursor_block_start(c) < w->end)
			add_to_touched(s, c, w);
	}
	complete_touched(s, w, drop_hopeless(s, touched, 0), w->first);
}

static void walk_many(struct lex_search *s, const struct window *w)
{
	uint32_t touched = 0;

	for (uint32_t i = w->essential; i < s->n; i++)
		touched = accumulate(s, &s->cursors[s->order[i]], w, touched);
	finish_touched(s, w, touched);
}

/* Few chunks are allowed: they are the candidates from the start, with a sum that is as
 * good as none, and no list is essential. */
static void walk_allowed(struct lex_search *s, struct window *w)
{
	uint32_t touched = 0;

	w->essential = s->n;
	lex_search_mark_allowed(s, w->base, w->end, s->bits);
	for (uint32_t i = 0; i < LEX_WINDOW / 64; i++) {
		for (uint64_t bits = s->bits[i]; bits; bits &= bits - 1) {
			uint32_t at = i * 64 + (uint32_t)__builtin_ctzll(bits);

			s->touched[touched++] = at;
			s->acc[at] = NOTHING;
		}
		s->bits[i] = 0;
	}
	finish_touched(s, w, touched);
}

/* ---- windows ---- */

/* What the list can add to a chunk of the window; 0 if it has none there, and then
 * *next falls to the first ordinal after the window that it may have. */
static float window_bound(struct lex_search *s, struct lex_cursor *c, uint32_t base, uint32_t end,
	uint32_t *next)
{
	uint32_t start;
	float best = 0;

	if (!lex_cursor_seek_block(c, base))
		return 0;
	start = lex_cursor_block_start(c);
	if (start < end && c->lasts[c->block] >= end && c->lasts[c->block] - start > SPARSE_BLOCK) {
		if (!lex_cursor_load(c)) {
			s->damaged = true;
			return 0;
		}
		c->pos = lex_lower_bound(c->ords, c->pos, c->count, base);
		start = c->ords[c->pos];
	}
	if (start >= end) {
		*next = start < *next ? start : *next;
		return 0;
	}
	for (uint32_t b = c->block; b < c->blocks; b++) {
		best = c->bounds[b] > best ? c->bounds[b] : best;
		if (c->lasts[b] >= end - 1)
			break;
	}
	return best;
}

/* Lists by bound, lowest first; nearly in order from the window before. */
static void sort_lists(struct lex_search *s)
{
	for (uint32_t i = 1; i < s->n; i++) {
		uint32_t t = s->order[i], j = i;

		for (; j > 0 && s->cursors[s->order[j - 1]].window > s->cursors[t].window; j--)
			s->order[j] = s->order[j - 1];
		s->order[j] = t;
	}
}

static void split_lists(struct lex_search *s, struct window *w)
{
	float sum = 0;

	w->first = w->essential = 0;
	w->others = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		float bound = s->cursors[s->order[i]].window;

		sum += bound;
		if (bound <= 0)
			w->first = w->essential = i + 1;
		s->sums[i] = sum;
		if (sum < s->top.cut) {
			w->essential = i + 1;
			w->others = sum;
		}
	}
	w->total = sum;
}

static void walk_window(struct lex_search *s, const struct window *ends)
{
	struct window w = *ends;
	uint32_t allowed = lex_search_count_allowed(s, w.base, w.end);

	if (allowed == 0)
		return;
	sort_lists(s);
	split_lists(s, &w);
	if (w.essential == s->n)
		return;
	if (allowed <= (w.end - w.base) / FEW_ALLOWED)
		walk_allowed(s, &w);
	else
		walk_many(s, &w);
}

static enum status walk_slice(struct lex_search *s)
{
	struct window w = { 0 };

	while (w.base < s->slice->chunks) {
		uint32_t left = s->slice->chunks - w.base, next = UINT32_MAX;
		float sum = 0;

		if (lex_search_stopped(s))
			return ST_CANCELLED;
		w.end = left < LEX_WINDOW ? s->slice->chunks : w.base + LEX_WINDOW;
		for (uint32_t t = 0; t < s->n; t++) {
			struct lex_cursor *c = &s->cursors[t];

			c->window = window_bound(s, c, w.base, w.end, &next);
			sum += c->window;
		}
		if (sum > 0 && sum >= s->top.cut)
			walk_window(s, &w);
		w.base = sum > 0 ? w.end : next;
	}
	return ST_OK;
}

enum status lex_search_prune(struct lex_search *s)
{
	size_t used = 0;
	enum status st;

	for (uint32_t t = 0; t < s->n; t++) {
		lex_search_open(s, &s->cursors[t], t, &used);
		s->order[t] = t;
	}
	st = used > 0 ? walk_slice(s) : ST_OK;
	empty_pool(s);
	return st;
}
