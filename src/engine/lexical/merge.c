/*
 * merge.c: writes what lives in some parts into one new segment file, term by term:
 * the parts' dictionaries are walked in step, and each term's postings are decoded,
 * renumbered without the dead, and encoded again. Parts stand in the order of their
 * keys, so new ordinals grow along. Sealing a head is the same with one part.
 *
 * Memory: four bytes a chunk for the map of ordinals, and the writer's.
 */
#include "engine/lexical/private.h"

#include "engine/lexical/writer.h"
#include "util/fault.h"
#include "util/mem.h"

#define CHECK_TERMS 512 /* look up from the work every so many terms */

struct source {
	const struct lex_slice *slice;
	const uint32_t *map;
	struct lex_terms *terms;      /* of a segment */
	struct lex_live_list **lists; /* of a head, in order */
	size_t lists_n, next;
	struct bytes term; /* the current one; NONE at the end */
};

struct merge {
	struct lexical *lx;
	struct source *src;
	size_t n;
	struct lex_writer w;
	struct lex_decoder de;
	bool damaged;
	const bool *stop;
	void (*between)(struct lexical *lx);
};

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

static enum status pause_work(struct merge *m, struct error *e)
{
	if (m->stop && __atomic_load_n(m->stop, __ATOMIC_RELAXED))
		return error_set(e, ST_CANCELLED, "cancelled");
	if (m->between)
		m->between(m->lx);
	return ST_OK;
}

/* ---- chunks ---- */

static enum status write_chunks(struct merge *m, const struct lex_slice *s, uint32_t *map,
	struct error *e)
{
	enum status st = ST_OK;

	for (uint32_t ord = 0; !st && ord < s->chunks; ord++) {
		struct lex_row row;

		map[ord] = UINT32_MAX;
		if (lex_slice_dead(s, ord))
			continue;
		map[ord] = m->w.chunks;
		lex_slice_row(s, ord, &row);
		st = lex_writer_chunk(&m->w, &row, lex_slice_length(s, ord), e);
		if (!st && ord % 65536 == 0)
			st = pause_work(m, e);
	}
	return st;
}

/* ---- terms of one part ---- */

static int compare_lists(const void *a, const void *b)
{
	const struct lex_live_list *x = *(struct lex_live_list *const *)a;
	const struct lex_live_list *y = *(struct lex_live_list *const *)b;

	return bytes_cmp(x->term, y->term);
}

static enum status collect_lists(struct source *s)
{
	const struct lex_live_table *t =
		atomic_load_explicit(&s->slice->part->head.live.table, memory_order_acquire);

	s->lists = mem_array(t->mask + 1, sizeof(struct lex_live_list *));
	if (!s->lists)
		return ST_NOMEM;
	for (size_t i = 0; i <= t->mask; i++) {
		struct lex_live_list *l = atomic_load_explicit(&t->slot[i], memory_order_acquire);

		if (l && lex_live_count(l, s->slice->chunks) > 0)
			s->lists[s->lists_n++] = l;
	}
	qsort(s->lists, s->lists_n, sizeof(struct lex_live_list *), compare_lists);
	return ST_OK;
}

static void source_step(struct merge *m, struct source *s)
{
	s->term = BYTES_NONE;
	if (s->terms) {
		if (lex_terms_next(s->terms, &m->damaged))
			s->term = (struct bytes){ s->terms->term, s->terms->len };
	} else if (s->next < s->lists_n) {
		s->term = s->lists[s->next++]->term;
	}
}

static enum status source_init(struct merge *m, struct source *s, const struct lex_slice *slice,
	const uint32_t *map)
{
	s->slice = slice;
	s->map = map;
	if (slice->part->seg) {
		s->terms = mem_alloc(sizeof(*s->terms));
		if (!s->terms)
			return ST_NOMEM;
		lex_terms_init(s->terms, slice->part->seg);
	} else if (collect_lists(s)) {
		return ST_NOMEM;
	}
	source_step(m, s);
	return ST_OK;
}

/* ---- postings ---- */

static void add_posting(struct merge *m, const struct source *s, uint32_t ord, uint32_t tf)
{
	if (s->map[ord] != UINT32_MAX)
		lex_encoder_add(&m->w.encoder, s->map[ord], tf);
}

static void add_from_segment(struct merge *m, const struct source *s)
{
	const struct lex_postings *p = &s->terms->postings;

	if (!lex_decoder_init(&m->de, p->data, p->size, p->df, s->slice->chunks)) {
		m->damaged = true;
		return;
	}
	while (lex_decoder_next(&m->de, &m->damaged))
		for (uint32_t i = 0; i < m->de.count; i++)
			add_posting(m, s, m->de.ords[i], m->de.tfs[i]);
}

static void add_from_head(struct merge *m, const struct source *s)
{
	const struct lex_live_list *l = s->lists[s->next - 1];

	for (const struct lex_live_block *b = l->first; b;
		b = atomic_load_explicit(&b->next, memory_order_acquire)) {
		uint32_t n = lex_live_block_count(l, b, s->slice->chunks);

		for (uint32_t i = 0; i < n; i++)
			add_posting(m, s, b->v[i], b->v[b->cap + i]);
		if (n < b->cap)
			break;
	}
}

/* The smallest current term, copied to *buf: the source's own moves on. */
static struct bytes smallest_term(const struct merge *m, char *buf)
{
	struct bytes least = BYTES_NONE;

	for (size_t i = 0; i < m->n; i++) {
		struct bytes t = m->src[i].term;

		if (t.data && (!least.data || bytes_cmp(t, least) < 0))
			least = t;
	}
	if (least.data)
		memcpy(buf, least.data, least.len);
	return (struct bytes){ least.data ? buf : NULL, least.len };
}

static enum status write_term(struct merge *m, struct bytes term, struct error *e)
{
	for (size_t i = 0; i < m->n; i++) {
		struct source *s = &m->src[i];

		if (!s->term.data || !bytes_eq(s->term, term))
			continue;
		if (s->terms)
			add_from_segment(m, s);
		else
			add_from_head(m, s);
		source_step(m, s);
	}
	if (m->damaged)
		return error_set(e, ST_CORRUPT, "a segment file is damaged");
	return lex_writer_term(&m->w, term, e);
}

static enum status write_terms(struct merge *m, struct error *e)
{
	char buf[LEXICAL_MAX_TERM];
	struct bytes term;
	enum status st = lex_writer_begin_terms(&m->w, e);

	for (size_t done = 1; !st; done++) {
		term = smallest_term(m, buf);
		if (!term.data)
			break;
		st = write_term(m, term, e);
		if (!st && done % CHECK_TERMS == 0)
			st = pause_work(m, e);
	}
	if (!st && m->damaged)
		st = error_set(e, ST_CORRUPT, "a segment file is damaged");
	return st;
}

/* ---- all of it ---- */

static enum status write_all(struct merge *m, const struct lex_slice *slices, uint32_t **maps,
	struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < m->n; i++) {
		maps[i] = mem_array(slices[i].chunks, sizeof(*maps[i]));
		st = maps[i] ? write_chunks(m, &slices[i], maps[i], e) : no_memory(e);
	}
	for (size_t i = 0; !st && i < m->n; i++)
		if (source_init(m, &m->src[i], &slices[i], maps[i]))
			st = no_memory(e);
	if (!st && slices[0].part->seg && fault_hit("lexical.merge", NULL, NULL))
		st = error_set(e, ST_IO, "cannot merge segments: the disk failed");
	if (!st)
		st = write_terms(m, e);
	return st ? st : lex_writer_finish(&m->w, e);
}

static void sources_free(struct merge *m)
{
	for (size_t i = 0; m->src && i < m->n; i++) {
		mem_free(m->src[i].terms);
		mem_free(m->src[i].lists);
	}
	mem_free(m->src);
}

static uint64_t count_live(const struct lex_slice *slices, size_t n)
{
	uint64_t live = 0;

	for (size_t i = 0; i < n; i++)
		live += slices[i].chunks - slices[i].deleted;
	return live;
}

enum status lex_merge(struct lexical *lx, const struct lex_slice *slices, size_t n, uint32_t **maps,
	const bool *stop, void (*between)(struct lexical *lx), struct lex_segment **ret,
	struct error *e)
{
	uint64_t live = count_live(slices, n), id = lx->next_id;
	struct merge *m;
	enum status st;

	if (live == 0)
		return ST_OK;
	m = mem_zero(sizeof(*m));
	if (!m)
		return no_memory(e);
	lx->next_id++;
	m->lx = lx;
	m->n = n;
	m->stop = stop;
	m->between = between;
	m->src = mem_array(n, sizeof(*m->src));
	st = m->src ? lex_writer_init(&m->w, lx->dir, id, (uint32_t)live, e) : no_memory(e);
	if (!st) {
		st = write_all(m, slices, maps, e);
		lex_writer_release(&m->w);
	}
	sources_free(m);
	mem_free(m);
	return st ? st : lex_segment_open(lx->dir, id, ret, e);
}
