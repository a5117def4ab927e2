/* live.c: the append-only index in memory; see live.h for its shape and rules. */
#include "engine/lexical/live.h"

#include "engine/lexical/pack.h"
#include "util/mem.h"

#define FIRST_SLOTS 256
#define FIRST_BLOCK 4

static struct lex_live_table *table_new(size_t slots)
{
	struct lex_live_table *t = mem_zero(sizeof(*t) + slots * sizeof(t->slot[0]));

	if (t)
		t->mask = slots - 1;
	return t;
}

bool lex_live_init(struct lex_live *lv, bool bare)
{
	struct lex_live_table *t = table_new(FIRST_SLOTS);

	arena_init(&lv->arena, 0);
	lv->lists = 0;
	lv->bare = bare;
	atomic_init(&lv->table, t);
	return t != NULL;
}

void lex_live_release(struct lex_live *lv)
{
	struct lex_live_table *t = atomic_load_explicit(&lv->table, memory_order_relaxed);

	while (t) {
		struct lex_live_table *older = t->older;

		mem_free(t);
		t = older;
	}
	atomic_store_explicit(&lv->table, NULL, memory_order_relaxed);
	arena_release(&lv->arena);
}

/* The slot that holds the term, or the empty one where it belongs. */
static size_t probe(const struct lex_live_table *t, struct bytes term, uint64_t hash,
	struct lex_live_list **ret)
{
	size_t i = hash & t->mask;

	for (;; i = (i + 1) & t->mask) {
		struct lex_live_list *l = atomic_load_explicit(&t->slot[i], memory_order_acquire);

		if (!l || (l->hash == hash && bytes_eq(l->term, term))) {
			*ret = l;
			return i;
		}
	}
}

struct lex_live_list *lex_live_find(const struct lex_live *lv, struct bytes term, uint64_t hash)
{
	struct lex_live_list *l;

	probe(atomic_load_explicit(&lv->table, memory_order_acquire), term, hash, &l);
	return l;
}

/* Doubles the table when it is half full: probes stay short. */
static bool grow_table(struct lex_live *lv)
{
	struct lex_live_table *old = atomic_load_explicit(&lv->table, memory_order_relaxed);
	struct lex_live_table *t;

	if (lv->lists * 2 <= old->mask)
		return true;
	t = table_new((old->mask + 1) * 2);
	if (!t)
		return false;
	for (size_t i = 0; i <= old->mask; i++) {
		struct lex_live_list *l = atomic_load_explicit(&old->slot[i], memory_order_relaxed);
		size_t at = l ? l->hash & t->mask : 0;

		if (!l)
			continue;
		while (atomic_load_explicit(&t->slot[at], memory_order_relaxed))
			at = (at + 1) & t->mask;
		atomic_store_explicit(&t->slot[at], l, memory_order_relaxed);
	}
	t->older = old;
	atomic_store_explicit(&lv->table, t, memory_order_release);
	return true;
}

static struct lex_live_block *block_new(struct lex_live *lv, uint32_t base, uint32_t cap)
{
	size_t numbers = lv->bare ? cap : 2 * (size_t)cap;
	struct lex_live_block *b = arena_zero(&lv->arena, sizeof(*b) + numbers * sizeof(b->v[0]));

	if (!b)
		return NULL;
	b->base = base;
	b->cap = cap;
	atomic_init(&b->min_length, UINT32_MAX);
	return b;
}

static struct lex_live_list *list_new(struct lex_live *lv, struct bytes term, uint64_t hash)
{
	struct lex_live_list *l = arena_zero(&lv->arena, sizeof(*l));

	if (!l || arena_dup_bytes(&lv->arena, term, &l->term))
		return NULL;
	l->hash = hash;
	l->first = l->last = block_new(lv, 0, FIRST_BLOCK);
	return l->first ? l : NULL;
}

struct lex_live_list *lex_live_reserve(struct lex_live *lv, struct bytes term, uint64_t hash)
{
	struct lex_live_list *l;
	struct lex_live_block *b;
	size_t at;

	if (!grow_table(lv))
		return NULL;
	at = probe(atomic_load_explicit(&lv->table, memory_order_relaxed), term, hash, &l);
	if (!l) {
		struct lex_live_table *t = atomic_load_explicit(&lv->table, memory_order_relaxed);

		l = list_new(lv, term, hash);
		if (l) {
			lv->lists++;
			atomic_store_explicit(&t->slot[at], l, memory_order_release);
		}
		return l;
	}
	b = l->last;
	if (atomic_load_explicit(&l->count, memory_order_relaxed) < b->base + b->cap)
		return l;
	b = block_new(lv, b->base + b->cap, b->cap < LEX_BLOCK ? b->cap * 2 : LEX_BLOCK);
	if (!b)
		return NULL;
	atomic_store_explicit(&l->last->next, b, memory_order_release);
	l->last = b;
	return l;
}

void lex_live_push(struct lex_live_list *list, uint32_t number, uint32_t tf, uint32_t length)
{
	struct lex_live_block *b = list->last;
	uint32_t count = atomic_load_explicit(&list->count, memory_order_relaxed);
	uint32_t at = count - b->base;

	if (at > 0 && b->v[at - 1] == number)
		return;
	b->v[at] = number;
	if (tf > 0)
		b->v[b->cap + at] = tf;
	if (tf > atomic_load_explicit(&b->max_tf, memory_order_relaxed))
		atomic_store_explicit(&b->max_tf, tf, memory_order_relaxed);
	if (length < atomic_load_explicit(&b->min_length, memory_order_relaxed))
		atomic_store_explicit(&b->min_length, length, memory_order_relaxed);
	atomic_store_explicit(&list->count, count + 1, memory_order_release);
}

uint32_t lex_live_block_count(const struct lex_live_list *list, const struct lex_live_block *b,
	uint32_t limit)
{
	uint32_t count = atomic_load_explicit(&list->count, memory_order_acquire);
	uint32_t low = 0, high;

	if (count <= b->base)
		return 0;
	high = count - b->base < b->cap ? count - b->base : b->cap;
	if (b->v[high - 1] < limit)
		return high;
	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (b->v[middle] < limit)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t lex_live_count(const struct lex_live_list *list, uint32_t limit)
{
	uint32_t total = 0, n;

	for (const struct lex_live_block *b = list->first; b;
		b = atomic_load_explicit(&b->next, memory_order_acquire)) {
		n = lex_live_block_count(list, b, limit);
		total += n;
		if (n < b->cap)
			break;
	}
	return total;
}
