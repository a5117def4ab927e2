/*
 * engine/dense.h: vectors of chunks: which space they are of, how they come in, search.
 * Part of the engine's interface (engine.h has the rest). The engine knows no model; it
 * knows spaces, and there are two kinds:
 *
 *   derived  an encoder (functions given at the start) makes each chunk's vector out of
 *            its text, quickly, and the same one whenever it is asked. Nothing of it is
 *            stored in rows: lost files are made again from the texts. Writes call it
 *            before they queue.
 *   stored   vectors come with the documents (from a remote model or the client) and
 *            are rows, as nobody here could make them again.
 *
 * One space is active: a view holds vectors of it only. Another can be built beside it
 * (a new fit, another model), and takes over in one commit with every document in it.
 * Pinned versions go on with the space that they had. Vectors have unit length inside:
 * near means cosine.
 */
#ifndef RCPD_ENGINE_DENSE_H
#define RCPD_ENGINE_DENSE_H

#include "engine/engine.h"

#define ENGINE_MAX_DIMENSION 4096
#define ENGINE_MAX_IDENTITY 200 /* bytes of a space's name */

struct engine_space {
	struct bytes identity; /* of the model; a fit is not part of it */
	size_t dimension;
	bool derived;
	uint64_t number; /* of the space in this corpus, 1… in the order they were begun */
	uint64_t fit;    /* which fit on the corpus made it; 0: none */
	uint64_t fitted; /* chunks that the corpus had then */
	void *model;     /* derived: what encoder->open made */
};

/* What a space is made of. */
struct engine_space_spec {
	struct bytes identity; /* 1..ENGINE_MAX_IDENTITY bytes, UTF-8 */
	size_t dimension;      /* 1..ENGINE_MAX_DIMENSION */
	bool derived;
	struct bytes blob; /* derived: what encoder->open needs (a fit); kept in a row */
	uint64_t fit, fitted;
};

/* Makes vectors in process. Everything in it may be called from any thread. */
struct engine_encoder {
	void *arg;
	/* A model out of a space's blob (not kept). ST_INVALID: not one of this encoder's:
	 * the corpus then starts anew with `first`. */
	enum status (*open)(void *arg, const struct engine_space_spec *spec, void **ret,
		struct error *e);
	void (*close)(void *model);
	/* Fills dimension floats; all zero: the text has no vector. The text is title, path
	 * of headings if contextual, and the chunk as plain text, with line ends between. */
	enum status (*embed)(void *model, struct bytes text, float *out, struct error *e);
	struct engine_space_spec first; /* the space of a corpus that has none */
};

/* The text that stands for a chunk: title, context (NONE if not to be used) and the chunk
 * as a person reads it, one line each. In the arena. ST_NOMEM. */
enum status engine_join_text(struct bytes title, struct bytes context, struct bytes text,
	enum text_format format, struct arena *arena, struct bytes *ret, struct error *e);

/* ---- reading ---- */

/* The space of a view; its members live as long as the view. False: it has none. */
bool engine_view_space(const struct engine_view *v, struct engine_space *ret);

/* Whether the view's space is a stored one that some living chunk has no vector in, as
 * when it came to a corpus that had documents. Reads rows; for administration. */
enum status engine_space_lacks(struct engine_view *v, bool *ret, struct error *e);

/* The vectors that scores are made of: unit length. False: the chunk has none. */
bool engine_vector(struct engine_view *v, int64_t key, float *ret);

/*
 * The k chunks that pass (pass NULL: of all) nearest to the query (dimension floats):
 * cosine descending, then doc_id, then chunk. Approximate for large corpora, exact
 * otherwise and where `exact` is set. Chunks without vectors are never found. The array
 * is in the arena. ST_INVALID: a query that is zero or not finite.
 */
enum status engine_near(struct engine_view *v, const float *query, size_t k,
	const struct engine_pass *pass, bool exact, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e);
/* The cosines of n candidates with the query; NAN for those without a vector. */
enum status engine_cosines(struct engine_view *v, const float *query,
	const struct engine_candidate *c, size_t n, double *ret, struct error *e);
/* The BM25 scores of n candidates, as engine_recall gives them; 0: no word in common. */
enum status engine_bm25(struct engine_view *v, const struct engine_query *q,
	const struct engine_candidate *c, size_t n, struct arena *arena, double *ret,
	struct error *e);

/*
 * Texts as an encoder gets them, of about `most` living chunks spread evenly over the
 * corpus (all if it has no more), always the same ones for one view. fn returning
 * anything but ST_OK ends it. Reads rows; takes seconds for many.
 */
typedef enum status engine_text_fn(void *arg, int64_t key, struct bytes text, struct error *e);
enum status engine_sample(struct engine_view *v, size_t most, engine_text_fn *fn, void *arg,
	struct error *e);
/* Chunks among all. */
uint64_t engine_chunk_count(struct engine *en);

/*
 * Terms of a text with their weights in this view, for sparse vectors. document: what
 * BM25 makes of each term's frequency and the text's length; else (a query) idf times
 * the frequency. Their dot product is the BM25 score.
 */
struct engine_weight {
	struct bytes term;
	double weight;
};
enum status engine_weights(struct engine_view *v, struct bytes text, bool document,
	struct arena *arena, struct engine_weight **ret, size_t *ret_n, struct error *e);

/* ---- changing the space (one caller at a time; others get ST_LOCKED) ---- */

struct engine_build;

/* Asked between batches, with the share that is done, 0..1. */
struct engine_progress {
	void (*fn)(void *arg, double done);
	void *arg;
};

/*
 * Begins a space beside the active one. A stored one that was begun before under the
 * same identity and dimension, and not finished, goes on with the vectors it has. A
 * derived one is opened with the encoder, and filled by engine_build_run alone; its blob
 * must live until the build ends.
 */
enum status engine_build_begin(struct engine *en, const struct engine_space_spec *spec,
	struct engine_build **ret, struct error *e);
/* Stored: up to max living chunks that have no vector in it yet, with their texts (as
 * an encoder gets them), in order of keys, after the key `after`. */
enum status engine_build_missing(struct engine_build *b, int64_t after, size_t max,
	engine_text_fn *fn, void *arg, struct error *e);
/* Stored: their vectors, n times dimension floats, on disk when it returns. A chunk that
 * died meanwhile is passed over. */
enum status engine_build_put(struct engine_build *b, const int64_t *keys, const float *values,
	size_t n, const struct engine_stop *stop, struct error *e);
/* Puts every living chunk into the new space's index, those that are written meanwhile
 * too, in rounds until few are left. Derived: that makes their vectors. */
enum status engine_build_run(struct engine_build *b, const struct engine_stop *stop,
	const struct engine_progress *progress, struct error *e);
/* Does the rest with writers waiting (a moment), and makes it the active space in one
 * commit. Ends the build whatever comes, but for ST_CONFLICT: a stored one still misses
 * vectors; go on. */
enum status engine_build_commit(struct engine_build *b, const struct engine_stop *stop,
	struct error *e);
/* From any thread: what runs of it ends soon with ST_CANCELLED. */
void engine_build_halt(struct engine_build *b);
/* Drops it; vectors that were put stay for the next time. NULL is fine. */
void engine_build_abandon(struct engine_build *b);

#endif
