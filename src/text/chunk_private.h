/*
 * text/chunk_private.h: what the files behind chunk.h share; nothing else includes it.
 *
 *   chunk.c           the loop: format to parser, parser to packer
 *     chunk_markdown.c  chunk_html.c  chunk_code.c (and plain text): headings and blocks
 *     chunk_split.c     a block that is too long: sentences, lines, words, characters
 *       chunk_cursor.c    the visible characters of a stretch
 *       sentences.c       sentence ends
 *     chunk_pack.c      pieces to chunks: sections, merging
 *     chunk_overlap.c   where the next chunk starts inside the one before
 *   chunk_lex.c         tags, comments, text; chunk_entities.c
 *   tokens.c  chunk_plain.c  format.c
 */
#ifndef RCPD_TEXT_CHUNK_PRIVATE_H
#define RCPD_TEXT_CHUNK_PRIVATE_H

#include "text/chunk.h"

/* tokens.c: a count that goes on from where it was, in 1/TOKEN_UNIT of a token. */
#define TOKEN_UNIT 64
struct token_count {
	uint64_t units;
	uint32_t run; /* characters of the run of one class */
	uint8_t class;
	char last; /* ASCII punctuation before */
};
/* Goes on until the end or past the limit (tokens); returns whether it kept to it. */
bool tokens_add(struct token_count *c, const char *p, size_t n, size_t limit);
size_t tokens_of(const struct token_count *c);

/* chunk_entities.c: the character reference at p[0..n), p[0] == '&': its length, 0 if
 * it is none or names no character. */
size_t html_entity(const char *p, size_t n, uint32_t *ret_cp);

/* chunk_lex.c */
enum html_kind {
	HTML_TEXT,
	HTML_INLINE, /* a tag that separates nothing */
	HTML_BLOCK,  /* a tag that ends a block */
	HTML_HIDDEN, /* comment, declaration, script, style, template, noscript */
};

enum html_name {
	NAME_OTHER,
	NAME_H1,
	NAME_H2,
	NAME_H3,
	NAME_H4,
	NAME_H5,
	NAME_H6,
	NAME_TABLE,
	NAME_PRE,
	NAME_CELL, /* td, th */
	NAME_BR,
};

struct html_token {
	enum html_kind kind;
	enum html_name name;
	bool closing;
	size_t start, end;
};

/*
 * Reads markup in one pass. What is never closed is text, apart from comments,
 * scripts and styles, which run to the end. The flags remember what was looked for in
 * vain, so that no input makes it search twice.
 */
struct html_lexer {
	struct bytes text;
	size_t at;
	unsigned missing; /* bits, see chunk_lex.c */
};
void html_lexer_init(struct html_lexer *lx, struct bytes text, size_t at);
/* False at the end. A text token never holds the start of markup. */
bool html_next(struct html_lexer *lx, struct html_token *ret);

/* chunk_cursor.c: the visible characters of text[at..end), white space among them. */
struct cursor {
	struct bytes text;
	size_t end;
	bool html;
	struct html_lexer lexer;
	size_t at, text_end; /* what is left of the text token */
	bool block;          /* a block tag was passed since the last character */
};
struct visible {
	uint32_t cp;
	size_t start, end;
	bool after_block; /* a block tag stands before it */
	bool after_tag;   /* markup stands before it */
};
void cursor_init(struct cursor *c, struct bytes text, size_t start, size_t end, bool html);
bool cursor_next(struct cursor *c, struct visible *ret);
bool chunk_is_space(uint32_t cp);
/* A character that is a word by itself: Chinese, Japanese. */
bool chunk_is_wide(uint32_t cp);

/* sentences.c */
struct sentences;
/* plain: without ICU, as when its data is missing. ST_NOMEM. */
enum status sentences_new(bool plain, struct sentences **ret);
void sentences_free(struct sentences *s);
/* The sentences of what the cursor reads, in order, from a visible character to one;
 * ends of lines are spaces. ST_NOMEM or what take returns. */
enum status sentences_each(struct sentences *s, struct cursor *c,
	enum status (*take)(void *arg, size_t start, size_t end), void *arg);

/* chunk_pack.c */
#define PATH_LEVELS 6
#define PATH_HEADING_MAX 200 /* bytes of a heading in a context */

struct path_slot {
	size_t start, end;    /* of the heading's text; end 0: none */
	struct bytes context; /* what a person reads of it, made when first wanted */
};

struct path {
	struct path_slot slots[PATH_LEVELS];
};

/* Pieces that will be a chunk. */
struct draft {
	bool open;
	size_t start, end;
	size_t body;      /* start of what is no heading; SIZE_MAX: nothing yet */
	unsigned missing; /* of the HTML lexer at its start */
	struct token_count count;
	struct path path;
};

enum block_kind {
	BLOCK_PROSE, /* sentences, then lines */
	BLOCK_LINES, /* lines: program text, tables */
	BLOCK_CODE,  /* paragraphs, then lines */
};

struct packer {
	struct bytes text;
	enum text_format format;
	struct text_chunk_options opt;
	size_t small; /* sections of at most these tokens may be merged */
	struct arena *arena;
	struct text_chunk *chunks; /* heap */
	size_t n, cap;
	struct path path;   /* here */
	unsigned level;     /* of the heading before, 1 to 6; 0: none */
	bool in_heading;    /* the pieces are of a heading */
	bool whole;         /* the pieces are whole blocks */
	unsigned missing;   /* of the HTML lexer at the start of the block */
	struct draft ready; /* sections that are whole and small */
	struct draft cur;   /* of this section */
	bool flushed;       /* this section has given a chunk already */
	struct sentences *sentences;
	struct path last_path; /* of the chunk before */
	struct bytes last_context;
};

/* A heading begins a section; text_start..text_end is what it says. */
enum status pack_heading(struct packer *p, size_t start, size_t end, unsigned level,
	size_t text_start, size_t text_end);
/* A stretch with something visible at both ends; split if it is too long. */
enum status pack_block(struct packer *p, size_t start, size_t end, enum block_kind kind);
/* One piece. *ret_fits is false, and nothing was done, if it is longer than the target,
 * unless force is set. */
enum status pack_piece(struct packer *p, size_t start, size_t end, bool force, bool *ret_fits);
enum status pack_finish(struct packer *p);

/* chunk_context.c: ST_NOMEM. */
enum status context_make(struct packer *p, struct path *path, struct bytes *ret);

/* chunk_split.c: a block that does not fit. */
enum status split_block(struct packer *p, size_t start, size_t end, enum block_kind kind);

/* chunk_overlap.c: where a chunk that goes on after d may begin, so that at most
 * `tokens` of d are repeated; d's end if none. *ret_missing as in struct draft. */
size_t overlap_start(const struct packer *p, const struct draft *d, size_t tokens,
	unsigned *ret_missing);

/* The parsers: headings and blocks of the whole text into the packer. */
enum status chunk_markdown(struct packer *p);
enum status chunk_html(struct packer *p);
enum status chunk_code(struct packer *p);
enum status chunk_paragraphs(struct packer *p);

/* A line of text: [start, end) without its end of line. */
struct line {
	size_t start, end, next;
	size_t first, last; /* the visible part; first == last: blank */
};
/* The line at `at` up to `end`; false at the end. */
bool line_read(struct bytes text, size_t at, size_t end, struct line *ret);

/* chunk_code.c: the definitions that a line stands in, by indentation. */
#define CODE_DEPTH 16
struct enclosing {
	struct {
		size_t indent, start, end;
	} lines[CODE_DEPTH];
	size_t n;
};
/* Makes the definition around the line the packer's path. */
void enclosing_at(struct enclosing *e, struct packer *p, const struct line *l);
/* Goes on behind the line. */
void enclosing_add(struct enclosing *e, struct packer *p, const struct line *l);

#endif
