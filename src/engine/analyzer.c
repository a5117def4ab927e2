/*
 * analyzer.c: a chunk's text, title and context as a bag of terms: each distinct term
 * once, with how often it occurs. The title's terms count ENGINE_TITLE_WEIGHT times, in
 * frequency and length. Depends on the row alone, so that a chunk which dies can be
 * taken out of the index by the same terms that it was put in with.
 *
 * Every chunk of a document is analysed with the whole title again, when it comes and
 * when it goes, the latter by the writer alone: a title's length is bounded here.
 *
 * Scratch is kept from chunk to chunk: nothing is allocated once it has grown.
 */
#include "engine/private.h"

#include "engine/lexical/postings.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/utf8.h"

#define FIRST_SLOTS 1024 /* power of two; half of them used at most */
#define TITLE_MOST 2048  /* bytes of a title that are searched */

struct word {
	uint64_t hash;
	size_t at; /* its bytes in `bytes` */
	uint32_t len, tf;
};

struct analyzer {
	struct analyzer *next; /* in the pool */
	struct text_analyzer *text;
	uint32_t *slots; /* open addressing: 1 + place in words, 0: free */
	size_t slot_count;
	struct word *words;
	struct lexical_term *terms;
	size_t n, cap;
	struct strbuf bytes;
	struct strbuf plain; /* of HTML */
	uint32_t weight;     /* of the text being analysed */
	uint64_t length;
};

void analyzers_init(struct analyzers *pool)
{
	pthread_mutex_init(&pool->lock, NULL);
	pool->free = NULL;
}

static void analyzer_free(struct analyzer *a)
{
	if (!a)
		return;
	text_analyzer_free(a->text);
	mem_free(a->slots);
	mem_free(a->words);
	mem_free(a->terms);
	strbuf_release(&a->bytes);
	strbuf_release(&a->plain);
	mem_free(a);
}

void analyzers_release(struct analyzers *pool)
{
	while (pool->free) {
		struct analyzer *next = pool->free->next;

		analyzer_free(pool->free);
		pool->free = next;
	}
	pthread_mutex_destroy(&pool->lock);
}

static enum status analyzer_new(struct analyzer **ret)
{
	struct analyzer *a = mem_zero(sizeof(*a));
	enum status st = ST_NOMEM;

	if (!a)
		return ST_NOMEM;
	strbuf_init(&a->bytes);
	strbuf_init(&a->plain);
	a->slot_count = FIRST_SLOTS;
	a->slots = mem_array(FIRST_SLOTS, sizeof(*a->slots));
	if (a->slots)
		st = text_analyzer_new(&a->text);
	if (st)
		analyzer_free(a);
	else
		*ret = a;
	return st;
}

enum status analyzer_take(struct analyzers *pool, struct analyzer **ret, struct error *e)
{
	enum status st = ST_OK;

	pthread_mutex_lock(&pool->lock);
	*ret = pool->free;
	if (pool->free)
		pool->free = pool->free->next;
	pthread_mutex_unlock(&pool->lock);
	if (!*ret)
		st = analyzer_new(ret);
	if (st == ST_NOMEM)
		return engine_no_memory(e);
	if (st)
		return error_set(e, st, "texts cannot be analysed: ICU's data is missing");
	return ST_OK;
}

void analyzer_put(struct analyzers *pool, struct analyzer *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&pool->lock);
	a->next = pool->free;
	pool->free = a;
	pthread_mutex_unlock(&pool->lock);
}

enum status bag_copy(const struct bag *from, struct arena *arena, struct bag *ret, struct error *e)
{
	size_t bytes = 0;
	char *at;

	for (size_t i = 0; i < from->n; i++)
		bytes += from->terms[i].term.len;
	*ret = *from;
	ret->terms = arena_array(arena, from->n ? from->n : 1, sizeof(*ret->terms));
	at = arena_alloc(arena, bytes ? bytes : 1);
	if (!ret->terms || !at)
		return engine_no_memory(e);
	for (size_t i = 0; i < from->n; i++) {
		struct bytes term = from->terms[i].term;

		memcpy(at, term.data, term.len);
		ret->terms[i] = (struct lexical_term){ { at, term.len }, from->terms[i].tf };
		at += term.len;
	}
	return ST_OK;
}

struct text_analyzer *analyzer_text(struct analyzer *a)
{
	return a->text;
}

void analyzer_version(struct strbuf *out)
{
	strbuf_addf(out, "%s title=%d of %d", text_analyze_version(), ENGINE_TITLE_WEIGHT,
		TITLE_MOST);
}

/* ---- the table ---- */

static void reset(struct analyzer *a)
{
	if (a->n * 8 > a->slot_count) {
		memset(a->slots, 0, a->slot_count * sizeof(*a->slots));
	} else {
		for (size_t i = 0; i < a->n; i++) {
			size_t at = a->words[i].hash & (a->slot_count - 1);

			/* All between a word's place and the next gap are words of the table. */
			for (; a->slots[at]; at = (at + 1) & (a->slot_count - 1))
				a->slots[at] = 0;
		}
	}
	a->n = 0;
	a->length = 0;
	strbuf_reset(&a->bytes);
}

static bool grow_slots(struct analyzer *a)
{
	size_t count = a->slot_count * 2;
	uint32_t *slots = mem_array(count, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < a->n; i++) {
		size_t at = a->words[i].hash & (count - 1);

		while (slots[at])
			at = (at + 1) & (count - 1);
		slots[at] = (uint32_t)i + 1;
	}
	mem_free(a->slots);
	a->slots = slots;
	a->slot_count = count;
	return true;
}

static bool grow_words(struct analyzer *a)
{
	size_t cap = a->cap ? a->cap * 2 : FIRST_SLOTS / 2;
	struct word *words = mem_resize(a->words, cap * sizeof(*words));
	struct lexical_term *terms;

	if (!words)
		return false;
	a->words = words;
	terms = mem_resize(a->terms, cap * sizeof(*terms));
	if (!terms)
		return false;
	a->terms = terms;
	a->cap = cap;
	return true;
}

static bool add_word(struct analyzer *a, size_t slot, uint64_t hash, const char *data, size_t len)
{
	size_t at = a->bytes.len;

	if (a->n == a->cap && !grow_words(a))
		return false;
	strbuf_add(&a->bytes, data, len);
	if (!strbuf_ok(&a->bytes))
		return false;
	a->words[a->n] = (struct word){ hash, at, (uint32_t)len, a->weight };
	a->slots[slot] = (uint32_t)++a->n;
	return a->n * 2 < a->slot_count || grow_slots(a);
}

static int take_term(void *arg, const struct text_term *t)
{
	struct analyzer *a = arg;
	uint64_t hash = hash_bytes(t->data, t->len);
	size_t slot = hash & (a->slot_count - 1);

	if (!(t->flags & TEXT_TERM_INNER))
		a->length += a->weight;
	for (; a->slots[slot]; slot = (slot + 1) & (a->slot_count - 1)) {
		struct word *w = &a->words[a->slots[slot] - 1];

		if (w->hash != hash || w->len != t->len ||
			memcmp(a->bytes.data + w->at, t->data, t->len) != 0)
			continue;
		if (w->tf <= LEX_MAX_TF - a->weight)
			w->tf += a->weight;
		return 0;
	}
	return !add_word(a, slot, hash, t->data, t->len);
}

static enum status add_text(struct analyzer *a, struct bytes text, enum text_lang lang,
	uint32_t weight, struct error *e)
{
	enum status st;

	if (!text.data)
		return ST_OK;
	a->weight = weight;
	st = text_analyze(a->text, text, lang, take_term, a);
	switch (st) {
	case ST_OK:
		return ST_OK;
	case ST_NOMEM:
	case ST_CANCELLED: /* by take_term, for want of memory */
		return engine_no_memory(e);
	case ST_TOO_LARGE:
		return error_set(e, st, "a text is too long to be analysed");
	default:
		return error_set(e, st, "a text cannot be analysed");
	}
}

enum status analyzer_bag(struct analyzer *a, const struct store_row *row, struct bag *ret,
	struct error *e)
{
	struct bytes plain, title = row->title;
	enum status st;

	if (title.len > TITLE_MOST)
		title.len = utf8_floor(title.data, title.len, TITLE_MOST);
	reset(a);
	strbuf_reset(&a->plain);
	if (text_plain(row->text, row->format, &a->plain, &plain))
		return engine_no_memory(e);
	st = add_text(a, title, row->analysis, ENGINE_TITLE_WEIGHT, e);
	if (!st && row->contextual)
		st = add_text(a, row->context, row->analysis, 1, e);
	if (!st)
		st = add_text(a, plain, row->analysis, 1, e);
	if (st)
		return st;
	for (size_t i = 0; i < a->n; i++) {
		const struct word *w = &a->words[i];

		a->terms[i] = (struct lexical_term){ { a->bytes.data + w->at, w->len }, w->tf };
	}
	ret->terms = a->terms;
	ret->n = a->n;
	ret->length = a->length < INT32_MAX ? (uint32_t)a->length : INT32_MAX;
	return ST_OK;
}
