/*
 * text/chunk.h: long texts into passages: by structure first (headings, paragraphs,
 * list items, code blocks, functions), then by sentences (UAX #29), then by words,
 * to a target of tokens with overlap. A chunk is a stretch of the stored text, so
 * that a citation can be sliced out of it.
 *
 * All functions are pure and may be called from any thread.
 */
#ifndef RCPD_TEXT_CHUNK_H
#define RCPD_TEXT_CHUNK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"
#include "util/strbuf.h"

/* Stored in the rows: never renumber. */
enum text_format { TEXT_PLAIN = 0, TEXT_MARKDOWN = 1, TEXT_HTML = 2, TEXT_CODE = 3 };

/*
 * The format of a text: by its media type ("text/markdown; charset=utf-8"), else by the
 * end of its address (".md", ".html", ".c"…), else by what it looks like. Both may be
 * NONE.
 */
enum text_format text_format_of(struct bytes mime, struct bytes uri, struct bytes text);

/*
 * An estimate of the tokens that a byte-pair tokenizer of today's language models makes
 * of the text: within 15 % on English prose (D43). Monotonic: the start of a text
 * has at most as many as the whole. One pass.
 */
size_t text_tokens(struct bytes text);

struct text_chunk_options {
	size_t target;  /* tokens of a chunk at most, >= 16 */
	size_t overlap; /* tokens repeated from the chunk before, < target / 2 */
	size_t max;     /* chunks at most: more is ST_TOO_LARGE */
};

struct text_chunk {
	size_t start, end;    /* bytes; start < end, on character boundaries */
	struct bytes context; /* headings that it stands under, its own too, outermost first,
	                       * joined by " > "; white space made single; at most 200 bytes
	                       * of each; of code the line of the definition around it;
	                       * NONE if there are none */
};

/*
 * Cuts text (valid UTF-8) into chunks, in order. Each character that is not white space
 * or markup alone is in one of them; a chunk begins and ends with something visible. A
 * text within the target is one chunk and covers all of the text, white space too; a
 * blank text gives none. A chunk never crosses a heading, unless the sections on both
 * sides are small. Arrays and contexts are in the arena. ST_NOMEM, ST_TOO_LARGE.
 */
enum status text_chunk(struct bytes text, enum text_format format,
	const struct text_chunk_options *opt, struct arena *arena, struct text_chunk **ret,
	size_t *ret_n);

/*
 * What a person reads of a stretch of text, for indexing: HTML without tags, comments,
 * scripts and styles, entities decoded; the other formats as they are. The stretch may
 * begin or end inside an element, never inside a tag of a chunk made by text_chunk.
 * *ret is text itself or lies in buf, whose content is replaced. ST_NOMEM.
 */
enum status text_plain(struct bytes text, enum text_format format, struct strbuf *buf,
	struct bytes *ret);

#endif
