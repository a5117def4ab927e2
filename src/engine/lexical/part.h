/*
 * engine/lexical/part.h: what a view is made of: segments, then frozen heads, then
 * the head being written, in the order of their keys.
 *
 * A part is shared by views and the index and freed with its last reference. Who may
 * call what: "writer" means whoever holds the index's lock (private.h).
 */
#ifndef RCPD_ENGINE_LEXICAL_PART_H
#define RCPD_ENGINE_LEXICAL_PART_H

#include "engine/lexical/segment.h"
#include "engine/lexical/tombs.h"

/* A head's chunks; replaced by a copy of twice the size when full. */
struct lex_head_rows {
	struct lex_head_rows *older;
	uint32_t cap;
	uint32_t *lengths;
	struct lex_row row[];
};

struct lex_head {
	struct lex_live live;
	struct lex_head_rows *_Atomic rows;
	uint32_t count;        /* the writer's, published or not */
	uint64_t total_length; /* the same */
};

struct lex_part {
	_Atomic unsigned refs;
	struct lex_segment *seg; /* own reference; NULL for a head */
	struct lex_head head;
	struct lex_base *base; /* own; NULL: none is dead. Segments only */
	struct lex_tombs tombs;
	uint64_t commit; /* with the parts before it, all adds up to it; set when frozen */
	bool busy;       /* the maintainer's: being merged */
	struct lex_part *next_replaced; /* the maintainer's, see private.h */
};

/* A part as a view sees it. */
struct lex_slice {
	struct lex_part *part;
	uint32_t chunks;      /* ordinals below this exist */
	uint32_t seen;        /* deletes seen */
	uint32_t deleted;     /* base and seen */
	uint64_t live_length; /* of the living chunks */
};

struct lex_part *lex_part_new_head(void); /* NULL when out of memory */
/* Takes seg and base on success only. */
struct lex_part *lex_part_new_segment(struct lex_segment *seg, struct lex_base *base,
	uint64_t commit);
struct lex_part *lex_part_ref(struct lex_part *p);
void lex_part_unref(struct lex_part *p); /* NULL is fine */
/* Nobody but the caller has a reference (and so nobody can take one). */
bool lex_part_alone(const struct lex_part *p);

/* The writer: everything there is, published or not. */
struct lex_slice lex_part_now(struct lex_part *p);
/* The slice with only the first `seen` deletes. */
struct lex_slice lex_part_slice(struct lex_part *p, uint32_t chunks, uint64_t length,
	uint32_t seen);
/* The writer: appends a chunk to a head. False when out of memory. */
bool lex_part_add(struct lex_part *p, const struct lexical_chunk *c);
/* The writer: the chunk's ordinal if it lives here; UINT32_MAX otherwise. */
uint32_t lex_part_find(const struct lex_part *p, int64_t key);
/* The writer: deletes it. False when out of memory. */
bool lex_part_remove(struct lex_part *p, uint32_t ord, const struct lexical_term *terms, size_t n);

/* Readers; ord below slice->chunks. */
bool lex_slice_dead(const struct lex_slice *s, uint32_t ord);
int64_t lex_slice_key(const struct lex_slice *s, uint32_t ord);
uint32_t lex_slice_length(const struct lex_slice *s, uint32_t ord);
void lex_slice_row(const struct lex_slice *s, uint32_t ord, struct lex_row *ret);
/* The first ordinal whose key is not below; slice->chunks if there is none. */
uint32_t lex_slice_seek(const struct lex_slice *s, int64_t key);

/* A term in a slice: where its postings are and how many living chunks hold it. */
struct lex_term_in {
	const struct lex_live_list *list; /* head */
	struct lex_postings postings;     /* segment: df > 0 if it is there */
	uint32_t live;                    /* df without the deleted */
};

/* False if no chunk of the slice has it. */
bool lex_slice_find(const struct lex_slice *s, struct bytes term, uint64_t hash,
	struct lex_term_in *ret);

#endif
