/*
 * engine/lexical/writer.h: writes one segment file. Order of calls:
 *
 *   init, chunk … chunk, begin_terms, { lex_encoder_add(&w->encoder) …, term } …, finish
 *
 * or release at any moment, which removes what was written. The file gets its name
 * only when all of it is on disk. Memory: four bytes a chunk, the dictionary, and
 * half a byte a chunk for the groups.
 */
#ifndef RCPD_ENGINE_LEXICAL_WRITER_H
#define RCPD_ENGINE_LEXICAL_WRITER_H

#include "engine/lexical/segment.h"

struct lex_writer {
	uint64_t id;
	const char *dir; /* borrowed */
	char *path;      /* the final name */
	char *tmp;       /* the name until then */
	int fd;
	/* The section being written: whole pieces go out and into the checksum. */
	struct strbuf out;
	uint64_t at; /* place in the file of what is in out */
	uint64_t section_at, section_hash;
	struct {
		uint64_t at, n, checksum;
	} section[LEX_SECTIONS];
	/* Chunks. */
	uint32_t *lengths, chunks, max_chunks, longest;
	uint64_t total_length;
	int64_t first_key;
	struct lex_row rows[LEX_GROUP]; /* of the group being filled; ids in group_ids */
	uint32_t id_at[LEX_GROUP];
	uint32_t used;
	struct strbuf group_ids, groups;
	int64_t last_key;
	/* Terms. */
	struct lex_encoder encoder;
	uint32_t terms;
	uint64_t list_at; /* place in the postings of the next list */
	struct strbuf last_term, dictionary, prefixes, offsets, list;
};

/* Starts the file; at most max_chunks chunks will come. */
enum status lex_writer_init(struct lex_writer *w, const char *dir, uint64_t id, uint32_t max_chunks,
	struct error *e);
void lex_writer_release(struct lex_writer *w);
/* The next chunk, keys growing; its ordinal is how many came before it. */
enum status lex_writer_chunk(struct lex_writer *w, const struct lex_row *row, uint32_t length,
	struct error *e);
enum status lex_writer_begin_terms(struct lex_writer *w, struct error *e);
/* Takes what was added to the encoder as the term's list; terms in order of bytes.
 * A term without postings is left out. */
enum status lex_writer_term(struct lex_writer *w, struct bytes term, struct error *e);
/* Puts the file in its place, on disk. Needs at least one chunk. */
enum status lex_writer_finish(struct lex_writer *w, struct error *e);

#endif
