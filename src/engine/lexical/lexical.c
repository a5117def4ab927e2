/*
 * lexical.c: opening, closing and the writer's calls. Every change goes to the last
 * part (adds) or to the part that holds the chunk (deletes) at once, where views
 * that were taken before do not see it; publishing makes a view that does.
 */
#include "engine/lexical/lexical.h"

#include "engine/lexical/private.h"
#include "util/mem.h"

#define DEFAULT_HEAD 16384
#define MOST_BYTES ((size_t)64 << 20) /* of terms in a head: long chunks fill it sooner */
#define DEFAULT_MERGE 4

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

bool lex_make_room(struct lexical *lx)
{
	struct lex_part **parts;

	if (lx->count + 2 > lx->cap) {
		size_t cap = lx->cap ? 2 * lx->cap : 16;

		parts = mem_resize(lx->parts, cap * sizeof(struct lex_part *));
		if (!parts)
			return false;
		lx->parts = parts;
		lx->cap = cap;
	}
	if (lx->spare && lx->spare->cap < lx->count + 2) {
		lexical_view_unref(lx->spare);
		lx->spare = NULL;
	}
	if (!lx->spare)
		lx->spare = lex_view_new(lx->count + 8);
	return lx->spare != NULL;
}

/* Makes a view of all there is; the caller has made room. */
static void publish_all(struct lexical *lx, uint64_t commit)
{
	struct lexical_view *v = lx->spare;

	lx->spare = NULL;
	lex_view_fill(v, lx, commit);
	for (size_t i = 0; i < lx->count; i++)
		lex_view_add(v, lex_part_now(lx->parts[i]));
	lex_view_publish(lx, v);
	lx->pending = false;
}

static enum status start(struct lexical *lx, struct error *e)
{
	struct lex_part *head;
	enum status st = lex_list_read(lx, e);

	if (st)
		return st;
	lex_list_sweep(lx);
	head = lex_make_room(lx) ? lex_part_new_head() : NULL;
	if (!head)
		return no_memory(e);
	lx->last_key = lx->count ? lx->parts[lx->count - 1]->seg->last_key : INT64_MIN;
	lx->parts[lx->count++] = head;
	publish_all(lx, lx->list_commit);
	atomic_store(&lx->persisted, lx->list_commit);
	lx->frozen_commit = lx->list_commit;
	return ST_OK;
}

enum status lexical_open(const struct lexical_options *opt, struct lexical **ret,
	uint64_t *ret_commit, struct error *e)
{
	struct lexical *lx = mem_zero(sizeof(*lx));
	enum status st = ST_NOMEM;

	if (!lx)
		return no_memory(e);
	pthread_mutex_init(&lx->lock, NULL);
	lx->k1 = opt->k1;
	lx->b = opt->b;
	lx->head_chunks = opt->head_chunks ? opt->head_chunks : DEFAULT_HEAD;
	lx->merge_factor = opt->merge_factor > 1 ? opt->merge_factor : DEFAULT_MERGE;
	lx->identity = lex_checksum(opt->identity.data, opt->identity.len, 1);
	lx->dir = mem_strdup(opt->dir);
	st = lx->dir ? start(lx, e) : no_memory(e);
	if (st) {
		lexical_close(lx);
		return st;
	}
	*ret_commit = lx->list_commit;
	*ret = lx;
	return ST_OK;
}

void lexical_close(struct lexical *lx)
{
	struct lexical_view *v;

	if (!lx)
		return;
	v = atomic_load(&lx->current);
	atomic_store(&lx->current, NULL);
	lexical_view_unref(v);
	lex_view_trim(lx);
	lexical_view_unref(lx->spare);
	for (size_t i = 0; i < lx->count; i++)
		lex_part_unref(lx->parts[i]);
	while (lx->replaced) {
		struct lex_part *next = lx->replaced->next_replaced;

		lex_part_unref(lx->replaced);
		lx->replaced = next;
	}
	pthread_mutex_destroy(&lx->lock);
	mem_free(lx->parts);
	mem_free(lx->dir);
	mem_free(lx);
}

static enum status check_terms(const struct lexical_term *terms, size_t n, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		if (terms[i].term.len == 0 || terms[i].term.len > LEXICAL_MAX_TERM)
			return error_set(e, ST_INVALID, "a term has 1 to %d bytes",
				LEXICAL_MAX_TERM);
		if (terms[i].tf == 0 || terms[i].tf > LEX_MAX_TF)
			return error_set(e, ST_INVALID, "a term occurs 1 to 2^%d times",
				LEX_TF_BITS);
	}
	return ST_OK;
}

enum status lexical_add(struct lexical *lx, const struct lexical_chunk *chunk, struct error *e)
{
	enum status st = check_terms(chunk->terms, chunk->term_count, e);
	struct lex_part *head;
	size_t before;

	if (!st && (chunk->doc_id.len > UINT16_MAX || chunk->length > INT32_MAX))
		st = error_set(e, ST_TOO_LARGE, "a document id or a chunk is too long");
	if (st)
		return st;
	pthread_mutex_lock(&lx->lock);
	head = lx->parts[lx->count - 1];
	before = head->head.live.arena.total;
	if (chunk->key <= lx->last_key || chunk->key == INT64_MIN) {
		st = error_set(e, ST_INVALID, "row keys have to grow");
	} else if (head->head.count == LEX_MAX_CHUNKS - 1) {
		st = error_set(e, ST_TOO_LARGE, "too many chunks wait to be sealed");
	} else if (!lex_make_room(lx) || !lex_part_add(head, chunk)) {
		st = no_memory(e);
	} else {
		lx->unsealed_bytes += head->head.live.arena.total - before;
		lx->last_key = chunk->key;
		lx->unsealed++;
		lx->pending = true;
	}
	pthread_mutex_unlock(&lx->lock);
	return st;
}

/* The part whose keys reach to `key`: the parts are in order of keys. */
static struct lex_part *find_part(const struct lexical *lx, int64_t key, uint32_t *ret_ord)
{
	for (size_t i = lx->count; i-- > 0;) {
		struct lex_part *p = lx->parts[i];

		*ret_ord = lex_part_find(p, key);
		if (*ret_ord != UINT32_MAX)
			return p;
		if (p->seg && p->seg->first_key <= key)
			return NULL; /* it would be here */
	}
	return NULL;
}

enum status lexical_remove(struct lexical *lx, int64_t key, const struct lexical_term *terms,
	size_t term_count, struct error *e)
{
	enum status st = check_terms(terms, term_count, e);
	struct lex_part *p;
	uint32_t ord;

	if (st)
		return st;
	pthread_mutex_lock(&lx->lock);
	p = find_part(lx, key, &ord);
	if (p && (!lex_make_room(lx) || !lex_part_remove(p, ord, terms, term_count))) {
		st = no_memory(e);
	} else if (p) {
		lx->unsealed++;
		lx->pending = true;
	}
	pthread_mutex_unlock(&lx->lock);
	return st;
}

/* The head takes no more; an empty one goes behind it (the caller has made room).
 * Left for the next publish when memory is short. Must be published at once: the
 * maintainer takes a frozen head as its view shows it. */
static void freeze_head(struct lexical *lx, uint64_t commit)
{
	struct lex_part *head = lex_part_new_head();

	if (!head)
		return;
	lx->parts[lx->count - 1]->commit = commit;
	lx->parts[lx->count++] = head;
	lx->unsealed = lx->unsealed_bytes = 0;
	lx->freeze = false;
	lx->frozen_commit = commit;
}

bool lexical_heavy(struct lexical *lx)
{
	bool heavy;

	pthread_mutex_lock(&lx->lock);
	heavy = lx->unsealed_bytes >= MOST_BYTES;
	pthread_mutex_unlock(&lx->lock);
	return heavy;
}

void lexical_publish(struct lexical *lx, uint64_t commit)
{
	pthread_mutex_lock(&lx->lock);
	lx->pending = true;
	if (lex_make_room(lx)) {
		if (lx->unsealed >= lx->head_chunks || lx->unsealed_bytes >= MOST_BYTES ||
			lx->freeze)
			freeze_head(lx, commit);
		publish_all(lx, commit);
		lex_make_room(lx); /* a spare for next time, if there is memory */
	}
	pthread_mutex_unlock(&lx->lock);
}

void lexical_freeze(struct lexical *lx)
{
	struct lexical_view *v;

	pthread_mutex_lock(&lx->lock);
	v = atomic_load(&lx->current);
	if (lx->pending) {
		lx->freeze = true;
	} else if (v->commit > lx->frozen_commit && lex_make_room(lx)) {
		freeze_head(lx, v->commit);
		publish_all(lx, v->commit);
		lex_make_room(lx);
	}
	pthread_mutex_unlock(&lx->lock);
}

uint64_t lexical_persisted_commit(const struct lexical *lx)
{
	return atomic_load(&lx->persisted);
}

int64_t lexical_last_key(const struct lexical *lx)
{
	return lx->last_key;
}

size_t lexical_held_bytes(const struct lexical *lx)
{
	size_t n = 0;

	for (const struct lex_part *p = lx->replaced; p; p = p->next_replaced)
		if (!p->seg && !lex_part_alone(p))
			n += p->head.live.arena.total;
	return n;
}
