/*
 * engine_model.h: what the engine is to answer, worked out as plainly as can be:
 * documents in an array, every chunk scored, every value looked at. It shares the
 * analysis of texts with the engine (text/) and nothing else.
 */
#ifndef RCPD_TESTS_ENGINE_MODEL_H
#define RCPD_TESTS_ENGINE_MODEL_H

#include <stdlib.h>

#include "engine/engine.h"

#define MODEL_DOCS 120 /* ids */
#define MODEL_CHUNKS 6 /* of a document, at most */
#define MODEL_VALUES 10
#define MODEL_MAX_HITS (MODEL_DOCS * MODEL_CHUNKS)

struct model_rng {
	uint64_t state;
};
uint32_t model_below(struct model_rng *r, uint32_t n); /* 0 … n - 1 */

struct model_term {
	char word[TEXT_TERM_MAX];
	size_t len;
	uint32_t tf;
};

struct model_bag {
	struct model_term *terms; /* sorted; malloc */
	size_t n, cap;
	uint32_t length;
};

struct model_doc {
	bool alive;
	struct engine_document doc; /* its bytes are own or constant */
	char id[16];
	char *text; /* malloc */
	enum text_lang lang;
	struct engine_chunk chunks[MODEL_CHUNKS];
	struct engine_value values[MODEL_VALUES];
	char strings[MODEL_VALUES][32];
	struct model_bag bags[MODEL_CHUNKS];
	size_t bag_count;
};

/* Texts that people wrote, to draw from in place of made-up ones. */
struct model_real {
	char **texts, **titles, **queries;
	size_t count, query_count;
};

struct model {
	struct model_rng rng;
	const struct model_real *real; /* NULL: made-up texts */
	struct text_analyzer *analyzer;
	struct model_doc docs[MODEL_DOCS];
};

struct model_hit {
	const struct model_doc *doc;
	uint32_t chunk;
	double score;
};

void model_init(struct model *m, uint64_t seed);
void model_release(struct model *m);

/* A random document under id number `no`; it does not live yet. Number 0 has a value
 * of each field, from which their types can be told. */
void model_draw(struct model *m, size_t no, struct model_doc *ret);
void model_doc_release(struct model_doc *d);
/* Takes the document in the place of what lives under its id. */
void model_put(struct model *m, size_t no, struct model_doc *d);
void model_kill(struct model *m, size_t no);

/* A random query's text; its words in order as the engine is to see them. */
void model_draw_query(struct model *m, char *buf, size_t size);
size_t model_analyze(struct model *m, const char *query, struct model_term *ret, size_t max);
/* Which documents pass; NULL: all. */
typedef bool model_pass(const struct model_doc *d, const void *arg);
/* All hits in order. */
size_t model_search(const struct model *m, const struct model_term *terms, size_t n,
	model_pass *pass, const void *arg, struct model_hit *ret);
/* All living chunks that pass, by id and number. */
size_t model_list(const struct model *m, model_pass *pass, const void *arg, struct model_hit *ret);

/* ---- engine_filter_model.c ---- */

/* Fields have these numbers in every engine that takes document 0 first. */
enum { FIELD_FLOAT, FIELD_WORD, FIELD_INT, FIELD_BOOL, FIELD_DATE, FIELD_PROSE, MODEL_FIELDS };
extern const struct engine_declared model_declared[1]; /* FIELD_FLOAT */
const char *model_field_name(size_t field);

/* A random value of a field, in the document's slot i, perhaps one that contradicts
 * its type. */
void model_draw_value(struct model *m, struct model_doc *d, size_t i, size_t field, bool element);
/* The value that tells a field's type. */
void model_first_value(struct model_doc *d, size_t i, size_t field);
/* A random tree in the arena. */
struct engine_filter *model_draw_filter(struct model *m, struct arena *arena, unsigned depth);
/* As model_pass wants it; arg is the tree. */
bool model_passes(const struct model_doc *d, const void *tree);

#endif
