/*
 * lexical_model.h: for the tests of the lexical index: a seeded generator of chunks,
 * an index beside a brute-force scorer that knows the living set alone, and the
 * comparison of the two.
 */
#ifndef RCPD_TESTS_LEXICAL_MODEL_H
#define RCPD_TESTS_LEXICAL_MODEL_H

#include "../unit.h"

#include "engine/lexical/lexical.h"

struct rng {
	uint64_t state;
};

uint64_t rng_next(struct rng *r);
uint32_t rng_below(struct rng *r, uint32_t n); /* 0..n-1 */

#define MODEL_MAX_TERMS 64

struct model_chunk {
	int64_t key;
	char doc_id[24];
	uint32_t no, length;
	size_t term_count;
	uint16_t terms[MODEL_MAX_TERMS]; /* numbers of words */
	uint32_t tfs[MODEL_MAX_TERMS];
	bool dead;
};

/* All chunks there ever were, with the commit that added and removed them, so that
 * an index can be brought up to date after it was reopened. */
struct model {
	struct rng rng;
	char dir[64];
	struct lexical *lx;
	size_t head_chunks;
	unsigned merge_factor;
	uint32_t words; /* how many different ones */
	uint32_t gap;   /* keys grow by 1 to gap */
	uint32_t ids;   /* how many document ids are drawn from; 0: all different */
	struct model_chunk *chunks;
	uint64_t *added, *removed;
	size_t count, cap;
	uint64_t commit;
};

/* The living set at some moment, and the view of the index that goes with it. */
struct model_state {
	struct lexical_view *view;
	bool *alive; /* of the first count chunks */
	size_t count;
	uint64_t commit;
};

void model_init(struct model *m, uint64_t seed, size_t head_chunks, unsigned merge_factor);
void model_release(struct model *m); /* closes, removes the folder */
struct bytes model_word(uint32_t no, char buf[16]);
void model_add(struct model *m);
void model_remove_some(struct model *m); /* one that lives, if any */
void model_publish(struct model *m);
/* Until there is nothing more to do; fails the test on errors. */
void model_maintain(struct model *m);
/* Closes and opens; checks that the reported commit is `at_most` or less, replays the
 * rest. Returns the reported commit. */
uint64_t model_reopen(struct model *m);
void model_open(struct model *m, uint64_t *ret_commit);
void model_replay(struct model *m, uint64_t after);

void model_state_take(struct model *m, struct model_state *s);
void model_state_release(struct model_state *s);
/* Compares n random searches, and the document frequencies, with brute force. */
void model_state_check(struct model *m, const struct model_state *s, unsigned n);
/* The same for the present. */
void model_check(struct model *m, unsigned n);

#endif
