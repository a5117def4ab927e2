/* tombs.c: a part's deletes; see tombs.h. */
#include "engine/lexical/tombs.h"

#include "util/hash.h"
#include "util/mem.h"

#define FIRST_RECORDS 64

void lex_base_free(struct lex_base *b)
{
	if (!b)
		return;
	mem_free(b->dead);
	mem_free(b->ids);
	mem_free(b->counts);
	mem_free(b);
}

uint32_t lex_base_count(const struct lex_base *b, uint32_t term)
{
	uint32_t low = 0, high = b ? b->terms : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (b->ids[middle] < term)
			low = middle + 1;
		else
			high = middle;
	}
	return b && low < b->terms && b->ids[low] == term ? b->counts[low] : 0;
}

void lex_tombs_init(struct lex_tombs *t)
{
	memset(t, 0, sizeof(*t));
	atomic_init(&t->marks, NULL);
	atomic_init(&t->records, NULL);
}

void lex_tombs_release(struct lex_tombs *t)
{
	struct lex_tomb_marks *m = atomic_load_explicit(&t->marks, memory_order_relaxed);
	struct lex_tomb_records *r = atomic_load_explicit(&t->records, memory_order_relaxed);

	if (m)
		lex_live_release(&t->live);
	while (m) {
		struct lex_tomb_marks *older = m->older;

		mem_free(m);
		m = older;
	}
	while (r) {
		struct lex_tomb_records *older = r->older;

		mem_free(r);
		r = older;
	}
	lex_tombs_init(t);
}

bool lex_tombs_has(const struct lex_tombs *t, uint32_t ord)
{
	const struct lex_tomb_marks *m = atomic_load_explicit(&t->marks, memory_order_relaxed);

	return lex_marks_dead(m, ord, UINT32_MAX);
}

/* Room for a mark at every ordinal below `chunks`. */
static bool grow_marks(struct lex_tombs *t, uint32_t chunks)
{
	struct lex_tomb_marks *old = atomic_load_explicit(&t->marks, memory_order_relaxed), *m;
	size_t cap = chunks;

	if (old && old->cap >= chunks)
		return true;
	if (old && cap < 2 * (size_t)old->cap)
		cap = 2 * (size_t)old->cap;
	m = mem_zero(sizeof(*m) + cap * sizeof(m->at[0]));
	if (!m)
		return false;
	if (!old && !lex_live_init(&t->live, true)) {
		mem_free(m);
		return false;
	}
	m->cap = (uint32_t)cap;
	m->older = old;
	for (uint32_t i = 0; old && i < old->cap; i++)
		atomic_store_explicit(&m->at[i],
			atomic_load_explicit(&old->at[i], memory_order_relaxed),
			memory_order_relaxed);
	atomic_store_explicit(&t->marks, m, memory_order_release);
	return true;
}

static bool grow_records(struct lex_tombs *t)
{
	struct lex_tomb_records *old = atomic_load_explicit(&t->records, memory_order_relaxed), *r;
	size_t cap = old ? 2 * (size_t)old->cap : FIRST_RECORDS;

	if (old && t->count < old->cap)
		return true;
	r = mem_zero(sizeof(*r) + cap * sizeof(r->at[0]));
	if (!r)
		return false;
	r->cap = (uint32_t)cap;
	r->older = old;
	for (uint32_t i = 0; old && i < old->cap; i++)
		atomic_store_explicit(&r->at[i],
			atomic_load_explicit(&old->at[i], memory_order_relaxed),
			memory_order_relaxed);
	atomic_store_explicit(&t->records, r, memory_order_release);
	return true;
}

/* A record with a list for each term, each with room. */
static struct lex_tomb *prepare(struct lex_tombs *t, const struct lexical_term *terms, size_t n)
{
	struct lex_tomb *tomb;

	if (n > UINT32_MAX)
		return NULL;
	tomb = arena_zero(&t->live.arena, sizeof(*tomb) + n * sizeof(struct lex_live_list *));
	for (size_t i = 0; tomb && i < n; i++) {
		struct bytes term = terms[i].term;

		tomb->lists[i] = lex_live_reserve(&t->live, term, hash_bytes(term.data, term.len));
		if (!tomb->lists[i])
			return NULL;
	}
	return tomb;
}

bool lex_tombs_add(struct lex_tombs *t, uint32_t ord, uint32_t chunks, uint32_t length,
	const struct lexical_term *terms, size_t term_count)
{
	struct lex_tomb *tomb;
	uint32_t serial = t->count + 1;

	if (!grow_marks(t, chunks) || !grow_records(t))
		return false;
	tomb = prepare(t, terms, term_count);
	if (!tomb)
		return false;
	tomb->ord = ord;
	tomb->length = length;
	tomb->length_sum = t->length_sum + length;
	tomb->term_count = term_count;
	for (size_t i = 0; i < term_count; i++)
		lex_live_push(tomb->lists[i], serial, 0, UINT32_MAX);
	atomic_store_explicit(&atomic_load_explicit(&t->records, memory_order_relaxed)
				       ->at[t->count],
		tomb, memory_order_release);
	atomic_store_explicit(&atomic_load_explicit(&t->marks, memory_order_relaxed)->at[ord],
		serial, memory_order_relaxed);
	t->length_sum = tomb->length_sum;
	t->count = serial;
	return true;
}

const struct lex_tomb *lex_tombs_get(const struct lex_tombs *t, uint32_t serial)
{
	struct lex_tomb_records *r = atomic_load_explicit(&t->records, memory_order_acquire);

	return atomic_load_explicit(&r->at[serial - 1], memory_order_acquire);
}

uint32_t lex_tombs_count(const struct lex_tombs *t, struct bytes term, uint64_t hash, uint32_t seen)
{
	const struct lex_live_list *list;

	if (seen == 0)
		return 0;
	list = lex_live_find(&t->live, term, hash);
	return list ? lex_live_count(list, seen + 1) : 0;
}
