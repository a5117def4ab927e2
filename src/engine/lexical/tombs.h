/*
 * engine/lexical/tombs.h: the deletes of one part (a segment or a head).
 *
 *   base    fixed when the part was made: a bitmap and, for each term that the dead
 *           chunks hold, how many of them do
 *   tombs   since then, numbered from 1: at[ordinal] is the number of the chunk's
 *           delete (0: lives), an index of terms to delete numbers, and for each
 *           delete a record to carry it over when the part is replaced
 *
 * A view remembers the number of the last delete it sees, so it needs no copy of any
 * of this: a chunk lives in it if it is not in the base and its number is 0 or
 * higher; a term's document frequency is less by the numbers up to that.
 *
 * One writer; readers never lock. Arrays are replaced by larger copies; the old ones
 * stay until the end, because a reader may still look at them, and are right for it:
 * deletes it can see were made before its view.
 */
#ifndef RCPD_ENGINE_LEXICAL_TOMBS_H
#define RCPD_ENGINE_LEXICAL_TOMBS_H

#include "engine/lexical/lexical.h"
#include "engine/lexical/live.h"

struct lex_base {
	uint64_t *dead; /* bit per ordinal */
	uint32_t chunks, deleted;
	uint64_t deleted_length;
	/* Terms by their number in the segment's dictionary, growing. */
	uint32_t terms, *ids, *counts;
};

void lex_base_free(struct lex_base *b); /* NULL is fine */
static inline bool lex_base_dead(const struct lex_base *b, uint32_t ord)
{
	return b && (b->dead[ord / 64] >> ord % 64 & 1);
}
/* Deleted chunks that hold the term. */
uint32_t lex_base_count(const struct lex_base *b, uint32_t term);

struct lex_tomb_marks {
	struct lex_tomb_marks *older;
	uint32_t cap;
	_Atomic uint32_t at[];
};

struct lex_tomb {
	uint32_t ord, length;
	uint64_t length_sum; /* of this delete and those before */
	size_t term_count;
	struct lex_live_list *lists[]; /* of the index below */
};

struct lex_tomb_records {
	struct lex_tomb_records *older;
	uint32_t cap;
	const struct lex_tomb *_Atomic at[];
};

struct lex_tombs {
	struct lex_live live;                     /* usable once marks is set */
	struct lex_tomb_marks *_Atomic marks;     /* NULL before the first delete */
	struct lex_tomb_records *_Atomic records; /* the same */
	uint32_t count;                           /* the writer's */
	uint64_t length_sum;                      /* the same */
};

void lex_tombs_init(struct lex_tombs *t);
void lex_tombs_release(struct lex_tombs *t);
/* The writer: has the ordinal been deleted? */
bool lex_tombs_has(const struct lex_tombs *t, uint32_t ord);
/* The writer: marks it; chunks: how many ordinals the part has now. Terms that stand
 * twice count once. False when out of memory: nothing has changed. */
bool lex_tombs_add(struct lex_tombs *t, uint32_t ord, uint32_t chunks, uint32_t length,
	const struct lexical_term *terms, size_t term_count);
/* Readers: is it dead for one who sees `seen` deletes? */
static inline bool lex_marks_dead(const struct lex_tomb_marks *m, uint32_t ord, uint32_t seen)
{
	uint32_t at = m && ord < m->cap ? atomic_load_explicit(&m->at[ord], memory_order_relaxed)
					: 0;

	return at != 0 && at <= seen;
}
/* Delete number `serial`, 1 to what a view sees. */
const struct lex_tomb *lex_tombs_get(const struct lex_tombs *t, uint32_t serial);
/* Deletes up to `seen` of chunks that hold the term. */
uint32_t lex_tombs_count(const struct lex_tombs *t, struct bytes term, uint64_t hash,
	uint32_t seen);

#endif
