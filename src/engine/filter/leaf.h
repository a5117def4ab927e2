/*
 * engine/filter/leaf.h: a filter tree made ready for a view, and what it says about a
 * block: a bit an entry.
 *
 * NE, NIN and "exists: false" become the negation of what they negate; an operator on
 * a missing field is false by then. Everything lives in the evaluation's arena.
 */
#ifndef RCPD_ENGINE_FILTER_LEAF_H
#define RCPD_ENGINE_FILTER_LEAF_H

#include "engine/filter/private.h"
#include "engine/filter/scan.h"

/* One evaluation. */
struct flt_run {
	const struct filter_view *view;
	const struct engine_stop *stop;
	struct arena *arena;                       /* scratch; gone after the evaluation */
	uint64_t entries;                          /* in the blocks that are to be looked at */
	uint32_t asked;                            /* leaves until stop is asked again */
	uint64_t *levels[ENGINE_FILTER_DEPTH + 1]; /* a block's bits, made when needed */
};

struct flt_leaf {
	enum flt_leaf_kind { FLT_NEVER, FLT_RANGE, FLT_IN, FLT_CONTAINS } kind;
	size_t field;
	uint64_t lo, hi;    /* RANGE */
	struct flt_set set; /* IN; CONTAINS: codes that were looked at and match */
	/* CONTAINS: codes that were looked at; NULL: all were. */
	uint64_t *known;
	const struct flt_dict *dict;
	struct bytes needle;
	bool whole_elements; /* of arrays, KEYWORD */
};

struct flt_node {
	enum engine_filter_kind kind;
	struct flt_node *children;
	size_t count;
	struct flt_leaf leaf;
};

/* What bits say as a whole, so that blocks can be skipped. */
enum flt_truth { FLT_NONE, FLT_ALL, FLT_SOME };

/* True if the caller wants no more. Cheap enough for each leaf. */
bool flt_run_stopped(struct flt_run *r, uint32_t cost);

/* Makes a leaf ready; *ret_negated: its bits are to be turned. ST_NOMEM, ST_CANCELLED. */
enum status flt_leaf_make(struct flt_run *r, const struct engine_filter *f, struct flt_leaf *ret,
	bool *ret_negated);
/* A bit an entry, (n + 63) / 64 words, the rest of the last one 0. ST_CANCELLED. */
enum status flt_leaf_eval(struct flt_run *r, const struct flt_leaf *leaf, const struct flt_slice *s,
	uint64_t *out, enum flt_truth *ret);

/* CONTAINS: prepares the leaf; looks at the strings that the block has and that were
 * not looked at yet. */
enum status flt_contains_make(struct flt_run *r, struct flt_leaf *leaf);
enum status flt_contains_block(struct flt_run *r, const struct flt_leaf *leaf,
	const struct flt_slice *s);

/* The tree made ready: the root. It is not too deep (flt_key_make). */
enum status flt_tree_make(struct flt_run *r, const struct engine_filter *f, struct flt_node **ret);
/* What it says about a block, in levels[0]. */
enum status flt_tree_eval(struct flt_run *r, const struct flt_node *root, const struct flt_slice *s,
	enum flt_truth *ret);

#endif
