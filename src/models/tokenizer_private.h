/*
 * models/tokenizer_private.h: what the files behind tokenizer.h share; nothing else
 * includes it.
 *
 *   tokenizer.c            the stages one after the other, ids out
 *     tokenizer_added.c      added tokens, matched in the text before all else
 *     tokenizer_normal.c     normaliser steps; tokenizer_bert.c, tokenizer_charsmap.c
 *     tokenizer_split.c      pre-tokeniser steps: text to pieces
 *     tokenizer_wordpiece.c  tokenizer_unigram.c: pieces to ids
 *   tokenizer_trie.c       tokens by their bytes
 *   tokenizer_read.c       tokenizer.json; tokenizer_read_steps.c, tokenizer_read_model.c
 *
 * The reference keeps an alignment of every byte with the original text. Of that only one
 * thing decides about ids: whether a piece begins where the original begins ("first" of
 * Metaspace). So a text here carries how many of its leading bytes are aligned with the
 * first byte of the original: `first`.
 */
#ifndef RCPD_MODELS_TOKENIZER_PRIVATE_H
#define RCPD_MODELS_TOKENIZER_PRIVATE_H

#include <jansson.h>

#include "models/tokenizer.h"
#include "util/strbuf.h"

#define TOKENIZER_MAX_JSON (64u << 20)
#define TOKENIZER_MAX_IDS (1u << 22)
#define TOKENIZER_MAX_TOKEN 1024 /* bytes */
#define TOKENIZER_MAX_STEPS 32
#define TOKENIZER_MAX_ADDED 16384

/* ---- tokenizer_trie.c: bytes to values; nodes breadth first, children side by side ---- */

#define TRIE_NONE UINT32_MAX

struct trie {
	uint32_t n;        /* nodes; 0 is the root */
	uint32_t *first;   /* n + 1: a node's first child; the next one's is its end */
	uint32_t *value;   /* TRIE_NONE: no token ends here */
	uint8_t *label;    /* the byte that leads to a node */
	uint32_t top[256]; /* the root's children; 0: none */
};

struct trie_key {
	struct bytes token;
	uint64_t head; /* trie_build's: the first eight bytes, for comparing */
	uint32_t value;
};

/* Sorts the keys; of equal ones the last counts. Keys of no bytes are left out. */
enum status trie_build(struct trie *t, struct trie_key *keys, size_t n, struct error *e);
void trie_release(struct trie *t);
/* The child by a byte; 0: none. */
uint32_t trie_next(const struct trie *t, uint32_t node, unsigned char byte);
/* The value of exactly these bytes; TRIE_NONE. */
uint32_t trie_find(const struct trie *t, struct bytes token);

/* ---- steps ---- */

enum normal_kind {
	NORMAL_BERT,
	NORMAL_FORM,
	NORMAL_LOWER,
	NORMAL_MARKS, /* StripAccents */
	NORMAL_STRIP,
	NORMAL_REPLACE,
	NORMAL_PREPEND,
	NORMAL_CHARSMAP, /* Precompiled */
	NORMAL_NMT,
};

struct charsmap {
	const uint32_t *units; /* double array */
	size_t n;
	struct bytes texts; /* ends with a NUL */
};

struct normal_step {
	enum normal_kind kind;
	int form;                                /* enum unicode_form */
	bool clean, chinese, accents, lowercase; /* BERT */
	bool left, right;                        /* STRIP */
	struct bytes pattern, content;           /* REPLACE, PREPEND (content) */
	bool spaces;                             /* REPLACE: a run of two or more blanks */
	struct charsmap map;
};

enum split_kind { SPLIT_BERT, SPLIT_WORDS, SPLIT_SPACES, SPLIT_METASPACE, SPLIT_PUNCTUATION };
enum split_behavior {
	BEHAVIOR_REMOVED,
	BEHAVIOR_ISOLATED,
	BEHAVIOR_PREVIOUS, /* MergedWithPrevious */
	BEHAVIOR_NEXT,     /* MergedWithNext */
	BEHAVIOR_CONTIGUOUS,
};
enum split_prepend { PREPEND_ALWAYS, PREPEND_FIRST, PREPEND_NEVER };

struct split_step {
	enum split_kind kind;
	enum split_behavior behavior; /* PUNCTUATION */
	enum split_prepend prepend;   /* METASPACE */
	struct bytes replacement;     /* METASPACE: one character */
	bool split;
};

struct added_token {
	struct bytes content;
	uint32_t id;
	bool single_word, left, right, normalized;
};

struct tokenizer {
	struct arena arena; /* tokens, steps, maps */
	struct normal_step normal[TOKENIZER_MAX_STEPS];
	size_t normal_n;
	struct split_step split[TOKENIZER_MAX_STEPS];
	size_t split_n;

	struct bytes *tokens; /* by id */
	size_t ids;
	uint32_t vocabulary; /* tokens of the model, without added ones */
	struct trie trie;    /* of the model's vocabulary */
	bool has_unknown;
	uint32_t unknown;

	bool unigram;
	/* WordPiece */
	uint32_t continuing; /* the trie's node after the prefix; TRIE_NONE: no such tokens */
	size_t max_chars;
	/* Unigram */
	double *scores; /* by id */
	double unknown_score;
	uint32_t bytes[256]; /* ids of "<0x00>"…; TRIE_NONE */
	bool byte_fallback;  /* and all that a text may need are looked up in bytes */

	struct added_token *added;
	size_t added_n;
	struct trie raw, normalized; /* values index added */
};

/* ---- one text on its way ---- */

struct unigram_node {
	double score;
	uint32_t id, start;
};

struct encoder {
	const struct tokenizer *t;
	struct strbuf text, other;                /* normalised; scratch of the next step */
	struct strbuf level[TOKENIZER_MAX_STEPS]; /* Metaspace rewrites its piece */
	struct unigram_node *nodes;
	size_t nodes_cap;
	uint32_t *ids;
	size_t n, cap;
};

bool encoder_push(struct encoder *en, uint32_t id); /* false: no memory */

/* Ids of a piece, not empty, appended. False: no memory. */
bool wordpiece_encode(struct encoder *en, const char *p, size_t n);
bool unigram_encode(struct encoder *en, const char *p, size_t n);

/* Splits a piece by steps [step…] and gives the parts to the model. */
bool split_run(struct encoder *en, size_t step, const char *p, size_t n, size_t first);

/*
 * Applies all steps; text (its first `first` bytes aligned with the beginning) to
 * en->text, *first changed. False: no memory. For the normal form of an added token the
 * encoder may be a fresh one.
 */
bool normal_run(struct encoder *en, struct bytes text, size_t *first);

/* A step at work: characters come in order from `in`, and go out with what they stand
 * for, as in unicode_normalize. */
struct rewrite {
	struct bytes in;
	size_t in_first, at; /* at: bytes of in that are accounted for */
	struct strbuf *out;
	size_t first;
};
bool rewrite_emit(void *rewrite, uint32_t cp, int change);
bool normal_bert(const struct normal_step *s, struct rewrite *r);
bool normal_charsmap(const struct charsmap *m, struct rewrite *r);
/* Checks a map's bytes, aligned, which stay borrowed. */
enum status charsmap_read(struct bytes blob, struct charsmap *ret, struct error *e);

/*
 * Finds the added tokens of one kind in a text: calls for each stretch, with the token or
 * NULL. False when fn returned false.
 */
typedef bool added_fn(void *arg, size_t start, size_t end, const struct added_token *token);
bool added_scan(const struct tokenizer *t, bool normalized, struct bytes text, added_fn *fn,
	void *arg);

/* ---- reading ---- */

enum status read_normalizer(struct tokenizer *t, const json_t *v, unsigned depth, struct error *e);
enum status read_splitter(struct tokenizer *t, const json_t *v, unsigned depth, struct error *e);
enum status read_model(struct tokenizer *t, const json_t *v, struct error *e);
enum status read_added(struct tokenizer *t, const json_t *v, struct error *e);
/* A member that must be a boolean (or missing: the default). */
enum status read_flag(const json_t *object, const char *name, bool missing, bool *ret,
	struct error *e);
/* A string's copy in the tokenizer's arena; NONE for NULL or no string. ST_NOMEM. */
enum status read_string(struct tokenizer *t, const json_t *v, struct bytes *ret, struct error *e);
bool read_type_is(const json_t *v, const char *type);

#endif
