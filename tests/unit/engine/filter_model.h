/*
 * filter_model.h: for the tests of the filter columns: random schemas, chunks and trees,
 * columns beside a list of what was added, and the naive evaluation of a tree on that
 * list, which shares no code with the columns.
 */
#ifndef RCPD_TESTS_FILTER_MODEL_H
#define RCPD_TESTS_FILTER_MODEL_H

#include "../unit.h"

#include <stdatomic.h>

#include "engine/filter/filter.h"

struct fm_rng {
	uint64_t state;
};

uint64_t fm_next(struct fm_rng *r);
uint32_t fm_below(struct fm_rng *r, uint32_t n); /* 0..n-1 */

#define FM_FIELDS 24
#define FM_VALUES 40 /* of a chunk, at most */
#define FM_WORDS 600
#define FM_WORD_SIZE 32

/* A value that suits its field. */
struct fm_value {
	uint32_t field;
	bool element;
	int64_t i;
	double r;
	struct bytes s;
};

struct fm_chunk {
	int64_t key;
	struct fm_value *values;
	size_t n;
	_Atomic bool dead;
};

struct fm {
	struct fm_rng rng;
	struct filter *f;
	enum engine_type types[FM_FIELDS];
	size_t field_count;
	uint32_t words;  /* how many of them are in use */
	uint32_t wide;   /* numbers are below it */
	uint32_t filled; /* percent of the fields that a chunk has */
	char word[FM_WORDS][FM_WORD_SIZE];
	size_t word_len[FM_WORDS];
	struct fm_chunk *chunks;
	size_t count, room;
	uint64_t contradictions;
	int64_t key;
};

/* max: chunks at most. Draws a schema of `fields` fields. */
void fm_init(struct fm *m, uint64_t seed, size_t max, size_t fields, size_t cache_bytes);
void fm_release(struct fm *m); /* all views released before */
/* One more field, of a random type. */
void fm_define(struct fm *m);
/* Draws values for a chunk: raw ones for filter_add, and those of them that suit for
 * the model. Returns how many raw ones. Strings live as long as the model. */
size_t fm_draw(struct fm *m, struct filter_value raw[FM_VALUES], struct fm_value good[FM_VALUES],
	size_t *ret_good);
/* Adds a random chunk whose key is `step` above the last; ST_NOMEM leaves all as it was. */
enum status fm_add(struct fm *m, uint32_t step);
void fm_forget(struct fm *m, size_t chunk);

/* A random tree over the first `fields` fields and one that is not there. rng apart, so
 * that readers can draw at once. */
struct engine_filter *fm_tree(const struct fm *m, struct fm_rng *r, size_t fields, unsigned depth,
	struct arena *a);
bool fm_matches(const struct fm *m, const struct engine_filter *f, const struct fm_chunk *c,
	size_t fields);
/* Whether the columns say the same as the model of the first n chunks, bit for bit.
 * `moving`: chunks are being forgotten at this moment. */
bool fm_agree(const struct fm *m, const struct filter_view *v, const struct engine_filter *tree,
	size_t n, bool moving);

/* A leaf for tests that are written out. */
struct engine_filter fm_leaf(size_t field, enum engine_op op, struct engine_scalar *values,
	size_t n);

#endif
