/*
 * pipeline/models.h: which models this daemon has, and which of them speaks for the
 * vectors of a view. Filled by server/ at the start; everything in it is borrowed, lives
 * as long as the daemon and may be used by any thread.
 *
 *   space of the view            who embeds a query
 *   derived                      the view's own model (table and corpus space)
 *   stored, of `embedder`        embedder, over HTTP
 *   stored, "x-rcpd-external"    nobody: the client sends vectors (x-rcpd-vector)
 *   stored, of somebody else     nobody: models_space says which command helps
 */
#ifndef RCPD_PIPELINE_MODELS_H
#define RCPD_PIPELINE_MODELS_H

#include "engine/dense.h"
#include "models/local.h"
#include "models/maxsim.h"
#include "models/remote.h"

#define MODELS_EXTERNAL "x-rcpd-external" /* identity of vectors that clients bring */

struct models {
	const struct static_model *table; /* NULL: no local model (--model none) */
	bool colbert;                     /* rerank with maxsim over the table is offered */
	struct remote *embedder;          /* NULL: none, as with all of these */
	size_t embedder_dimension;
	struct remote *sparse;        /* SPLADE and its like, for embed/sparse */
	struct remote *cross_encoder; /* rerank.method cross-encoder */
	struct remote *llm;           /* rerank.method llm */
	size_t external_dimension;    /* > 0: documents and queries bring vectors */
};

/* The table and corpus space as the engine's encoder; m outlives the engine. The first
 * space it names borrows from the arena, which does too. With `embedder` or
 * `external_dimension` that is a stored one: a corpus that is made under them never has
 * other vectors. False: the corpus gets no vectors. */
bool models_encoder(const struct models *m, struct arena *arena, struct engine_encoder *ret);

/* Whether a text is empty or of blanks alone: models over HTTP refuse such an input, or
 * make something up, so it is not sent. */
static inline bool models_blank(struct bytes text)
{
	for (size_t i = 0; i < text.len; i++)
		if ((unsigned char)text.data[i] > ' ')
			return false;
	return true;
}

enum models_speaker { MODELS_NOBODY, MODELS_LOCAL, MODELS_REMOTE, MODELS_CLIENT };

/* Who makes query vectors for the view's space (copied to *ret if not NULL). NOBODY:
 * there is no space, or it is a foreign one; then e (may be NULL) is ST_UNAVAILABLE with
 * a message that names x-rcpd/reembed. */
enum models_speaker models_space(const struct models *m, const struct engine_view *v,
	struct engine_space *ret, struct error *e);

/* How rare the table's tokens are in the corpus, as the fit of the view's space knows it;
 * lives as long as the view. NULL: it does not. */
const struct rarity *models_rarity(const struct models *m, const struct engine_view *v);

/*
 * A query's vector in the space of the view; space->dimension floats. ST_INVALID: the
 * text has no vector (nothing in it that the model knows); ST_UNAVAILABLE, ST_TIMEOUT,
 * ST_CANCELLED, ST_NOMEM.
 */
enum status models_embed_query(const struct models *m, const struct engine_view *v,
	struct bytes text, const struct remote_call *call, float *out, struct error *e);

#endif
