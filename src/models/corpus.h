/*
 * models/corpus.h: a latent semantic space of the corpus itself (Deerwester et al. 1990,
 * "Indexing by Latent Semantic Analysis"), in any language: words and character n-grams
 * of 3 and 4, hashed into 2^16 buckets (Weinberger et al. 2009, "Feature Hashing for Large
 * Scale Multitask Learning"), weighted by tf-idf, projected by a truncated singular value
 * decomposition (randomised: Halko, Martinsson, Tropp 2011, "Finding Structure with
 * Randomness"). The projection is kept as 8-bit integers. Until there is a fit, the
 * features hashed to signed dimensions.
 *
 * A model is immutable; any thread. A fit belongs to one thread.
 */
#ifndef RCPD_MODELS_CORPUS_H
#define RCPD_MODELS_CORPUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"
#include "util/strbuf.h"

#define CORPUS_DIMENSION 256
#define CORPUS_BUCKETS 65536
#define CORPUS_SAMPLE 20000 /* texts that a fit takes at most */

/* Names features and format: a blob of another is ST_INVALID. Part of the identity. */
#define CORPUS_REVISION "lsa-1"

struct corpus_model;

/* From the blob of a fit (copied); NONE: the model before any fit. ST_INVALID, ST_NOMEM. */
enum status corpus_model_open(struct bytes blob, struct corpus_model **ret, struct error *e);
void corpus_model_close(struct corpus_model *m); /* NULL is fine */
bool corpus_model_fitted(const struct corpus_model *m);
/* CORPUS_DIMENSION floats of unit length, or all zero. The same for the same text and
 * blob on every machine. Only the first CORPUS_MAX_TEXT bytes count. ST_NOMEM. */
#define CORPUS_MAX_TEXT (1u << 20)
enum status corpus_model_embed(const struct corpus_model *m, struct bytes text, float *out,
	struct error *e);

struct corpus_fit;

enum status corpus_fit_new(uint64_t seed, struct corpus_fit **ret, struct error *e);
/* Takes a text into account; the first CORPUS_SAMPLE ones. ST_NOMEM. */
enum status corpus_fit_add(struct corpus_fit *f, struct bytes text, struct error *e);
/* Whether so many texts are enough for a fit to be better than none. */
bool corpus_fit_enough(uint64_t texts);
/* Appends the blob. stop is asked often; ST_CANCELLED. The same texts in the same order
 * and seed give the same blob. progress(arg, 0..1). */
enum status corpus_fit_run(struct corpus_fit *f, bool (*stop)(void *arg),
	void (*progress)(void *arg, double done), void *arg, struct strbuf *blob, struct error *e);
void corpus_fit_free(struct corpus_fit *f); /* NULL is fine */

#endif
