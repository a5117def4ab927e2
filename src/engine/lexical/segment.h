/*
 * engine/lexical/segment.h: an immutable file of the index, mapped into memory.
 *
 *   header    magic, counts, keys, where the sections are, their checksums, its own
 *   docs      groups of 64 chunks: rows of bit fields, then the document ids
 *   lengths   2 bytes a chunk, or 4 if one needs them
 *   postings  the lists with more than one posting (postings.h), by term
 *   terms     blocks of 32 terms in order, front-coded, with df and list size
 *   prefixes  first 8 bytes of each block's first term, as a big-endian number
 *   offsets   where each block of terms begins
 *   groups    24 bytes for each group of chunks
 *
 * A chunk's ordinal is its place; keys grow with it. A group holds its first key, and
 * a row the key's distance from (first key + place), the chunk number, and offset
 * and length of the document id among the group's ids, each in as many bits as the
 * group needs. Ids of neighbours that are equal are stored once.
 *
 * Sorted terms with prefixes rather than a hash table: the binary search runs over
 * a quarter byte a term, which stays in cache, a look-up costs some 0.3 us, merging needs the
 * order, front coding saves a third of the dictionary, and nobody can craft
 * collisions.
 *
 * Opening checks the header, the sections' places and sizes, and every checksum. A
 * file that passes may still be hostile: whatever is read from it is checked again
 * where it is used, so that no read goes outside the mapping.
 */
#ifndef RCPD_ENGINE_LEXICAL_SEGMENT_H
#define RCPD_ENGINE_LEXICAL_SEGMENT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "engine/lexical/lexical.h"
#include "engine/lexical/postings.h"

#define LEX_HEADER_BYTES 512
#define LEX_MAGIC "RCPDLEX\n"
#define LEX_FORMAT 1U
#define LEX_GROUP 64U
#define LEX_GROUP_BYTES 24U
#define LEX_TERMS_BLOCK 32U
#define LEX_ALIGN 64U             /* of sections */
#define LEX_PIECE ((size_t)65536) /* a section's checksum chains pieces of this size */
#define LEX_DOCS_SLACK 16U        /* zero bytes after the docs: bit fields may be overread */

enum lex_section {
	LEX_DOCS,
	LEX_LENGTHS,
	LEX_POSTINGS,
	LEX_TERMS,
	LEX_PREFIXES,
	LEX_OFFSETS,
	LEX_GROUPS,
	LEX_SECTIONS
};

struct lex_segment {
	_Atomic unsigned refs;
	_Atomic bool doomed; /* unlink when the last reference goes */
	char *path;
	uint64_t id;
	uint64_t checksum; /* the header's, which covers the others */
	const unsigned char *map;
	size_t size;
	uint32_t chunks, terms;
	bool wide; /* lengths of 4 bytes */
	uint64_t total_length;
	int64_t first_key, last_key;
	struct {
		const unsigned char *p;
		size_t n;
	} section[LEX_SECTIONS];
};

/* "DIR/lex-ID.seg", new memory. */
char *lex_segment_path(const char *dir, uint64_t id);
/* New reference. ST_CORRUPT, ST_FUTURE, ST_NOT_FOUND, ST_IO, ST_NOMEM. */
enum status lex_segment_open(const char *dir, uint64_t id, struct lex_segment **ret,
	struct error *e);
struct lex_segment *lex_segment_ref(struct lex_segment *s);
void lex_segment_unref(struct lex_segment *s); /* NULL is fine */

/* Where a term's postings are; they are df (>= 1). */
struct lex_postings {
	uint32_t df, term; /* term: its number in the dictionary */
	const unsigned char *data;
	size_t size;
};

/* False if the segment does not have the term (or lies about it). */
bool lex_segment_find(const struct lex_segment *s, struct bytes term, struct lex_postings *ret);

/* The first 8 bytes as a number that sorts as the bytes do. */
uint64_t lex_term_prefix(struct bytes term);

/* All terms in order. */
struct lex_terms {
	const struct lex_segment *s;
	const unsigned char *p, *end; /* what is left of the block */
	uint64_t list_at;             /* place in the postings */
	uint32_t next;                /* number of the next term */
	struct lex_postings postings; /* of the current one */
	size_t len;
	char term[LEXICAL_MAX_TERM];
};

void lex_terms_init(struct lex_terms *t, const struct lex_segment *s);
/* False at the end or for damage, which differ by *ret_damaged. */
bool lex_terms_next(struct lex_terms *t, bool *ret_damaged);

/* A chunk; ord below s->chunks. */
struct lex_row {
	int64_t key;
	struct bytes doc_id; /* lent by the segment */
	uint32_t no;
};

uint32_t lex_segment_length(const struct lex_segment *s, uint32_t ord);
int64_t lex_segment_key(const struct lex_segment *s, uint32_t ord);
void lex_segment_row(const struct lex_segment *s, uint32_t ord, struct lex_row *ret);
/* The first ordinal whose key is not below; s->chunks if there is none. */
uint32_t lex_segment_seek(const struct lex_segment *s, int64_t key);

#endif
