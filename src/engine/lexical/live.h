/*
 * engine/lexical/live.h: an append-only inverted index in memory: terms to growing
 * lists of numbers, one writer, any number of readers that never lock.
 *
 *   table ─▶ slots ─▶ list {term, count} ─▶ block ─▶ block ─▶ …   4, 8, … 128 numbers
 *
 * The head keeps chunk ordinals with tf in it, and each part its deletes (numbers
 * are the deletes' serials, no tf). A reader knows a limit below which all is there
 * (its view) and looks at nothing above: what a writer has appended but not yet
 * published lies above the limit of every reader.
 *
 * Publication: a list's count is stored (release) after the entry, a block before it
 * holds anything, a table after it is filled. Old tables stay until the end; as each
 * is twice the one before, they cost less than the newest.
 */
#ifndef RCPD_ENGINE_LEXICAL_LIVE_H
#define RCPD_ENGINE_LEXICAL_LIVE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"

struct lex_live_block {
	struct lex_live_block *_Atomic next;
	uint32_t base, cap;                  /* entries before it, entries it can hold */
	_Atomic uint32_t max_tf, min_length; /* of its entries, published ones or not */
	uint32_t v[];                        /* cap numbers, then cap tfs unless bare */
};

struct lex_live_list {
	struct bytes term;
	uint64_t hash;
	_Atomic uint32_t count;
	struct lex_live_block *first;
	struct lex_live_block *last; /* the writer's: has room unless full */
};

struct lex_live_table {
	struct lex_live_table *older;
	size_t mask;
	struct lex_live_list *_Atomic slot[];
};

struct lex_live {
	struct arena arena; /* the writer's: lists, blocks, terms */
	struct lex_live_table *_Atomic table;
	size_t lists; /* the writer's */
	bool bare;    /* no tf */
};

/* False when out of memory. */
bool lex_live_init(struct lex_live *lv, bool bare);
void lex_live_release(struct lex_live *lv);
/* The list of a term, NULL if there is none. hash is hash_bytes of the term. */
struct lex_live_list *lex_live_find(const struct lex_live *lv, struct bytes term, uint64_t hash);
/* The same, made if missing, with room for one more number, so that the push after
 * it cannot fail; NULL when out of memory (nothing that a reader sees has changed). */
struct lex_live_list *lex_live_reserve(struct lex_live *lv, struct bytes term, uint64_t hash);
/* Appends number >= the last one; the same number again is taken as the same entry. */
void lex_live_push(struct lex_live_list *list, uint32_t number, uint32_t tf, uint32_t length);
/* How many numbers are below limit. */
uint32_t lex_live_count(const struct lex_live_list *list, uint32_t limit);
/* How many entries of a block are there; 0 ends the walk. Then those below limit. */
uint32_t lex_live_block_count(const struct lex_live_list *list, const struct lex_live_block *b,
	uint32_t limit);

#endif
