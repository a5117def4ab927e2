/*
 * vector_model.h: for the tests of the vector index: a seeded generator of clustered
 * vectors, an index beside a brute-force search that knows the living set alone, and the
 * comparison of the two.
 */
#ifndef RCPD_TESTS_VECTOR_MODEL_H
#define RCPD_TESTS_VECTOR_MODEL_H

#include "../unit.h"

#include "engine/vector/vector.h"

struct vrng {
	uint64_t state;
};

uint64_t vrng_next(struct vrng *r);
uint32_t vrng_below(struct vrng *r, uint32_t n); /* 0..n-1 */

struct vmodel_vector {
	int64_t key;
	uint64_t added, removed; /* commits; 0: not yet */
	float *values;
	int16_t *wide;
};

/* All vectors there ever were, with the commits that added and removed them, so that an
 * index can be brought up to date after it was reopened. */
struct vmodel {
	struct vrng rng;
	char dir[64];
	struct vectors *vs;
	size_t dimension, head_vectors, exact_most;
	uint32_t gap;      /* keys grow by 1 to gap */
	uint32_t clusters; /* around so many centres; 0: anywhere */
	float *centres;
	struct vmodel_vector *v;
	size_t count, cap;
	uint64_t commit;
};

/* A view of the index, and the commit whose living set goes with it. */
struct vmodel_state {
	struct vectors_view *view;
	uint64_t commit;
};

void vmodel_init(struct vmodel *m, uint64_t seed, size_t dimension, size_t head_vectors,
	size_t exact_most);
void vmodel_release(struct vmodel *m); /* closes, removes the folder */
void vmodel_draw(struct vmodel *m, float *ret);
void vmodel_add(struct vmodel *m);
void vmodel_remove_some(struct vmodel *m); /* one that lives, if any */
void vmodel_publish(struct vmodel *m);
/* Until there is nothing more to do; fails the test on errors. Lists that wait get a
 * commit. */
void vmodel_maintain(struct vmodel *m);
/* The same until everything is in files. */
void vmodel_write_all(struct vmodel *m);
/* Closes and opens; checks that the reported commit is not too high, replays the rest.
 * Returns the reported commit. */
uint64_t vmodel_reopen(struct vmodel *m);
void vmodel_open(struct vmodel *m, uint64_t *ret_commit);
void vmodel_replay(struct vmodel *m, uint64_t after);

void vmodel_state_take(struct vmodel *m, struct vmodel_state *s);
void vmodel_state_release(struct vmodel_state *s);
/*
 * Compares n random searches, with and without filters, with brute force. Exact ones bit
 * for bit; others too while the view has no lists. Of others the scores must be right and
 * as many be found as there are. Returns how many of the best were found by those, of how
 * many in *ret_of (may be NULL).
 */
uint64_t vmodel_state_check(struct vmodel *m, const struct vmodel_state *s, unsigned n,
	uint64_t *ret_of);
/* The same for the present. */
uint64_t vmodel_check(struct vmodel *m, unsigned n, uint64_t *ret_of);

#endif
