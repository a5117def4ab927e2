/*
 * pipeline/dense.c: who makes the query's vector, and which mode that allows.
 *
 *   vector of     derived or remote space      space of clients       none, or foreign
 *   the client    hybrid                       hybrid                 sparse
 *   our model     hybrid                       sparse                 sparse
 *                                              (dense is refused)
 */
#include "pipeline/private.h"

/* Without the dense side where the request can live with that, else *why. what: fit for
 * notes. */
static enum status do_without(struct retrieve_run *r, const char *what, const struct error *why)
{
	if (r->req->lenient && r->mode == RETRIEVE_HYBRID) {
		retrieve_note(r, what);
		return ST_OK;
	}
	*r->e = *why;
	return why->code;
}

static enum status take_clients(struct retrieve_run *r)
{
	if (r->req->dimension != r->space.dimension)
		return error_field(r->e, ST_INVALID, "x-rcpd-vector",
			"x-rcpd-vector must have %zu numbers, not %zu", r->space.dimension,
			r->req->dimension);
	r->vector = r->req->vector;
	return ST_OK;
}

static enum status embed(struct retrieve_run *r)
{
	const struct remote_call call = { 0, r->hooks->stop, r->hooks->arg };
	float *vector = arena_array(r->arena, r->space.dimension, sizeof(*vector));
	struct error why = { .code = ST_OK };
	enum status st;

	if (!vector)
		return retrieve_nomem(r);
	st = models_embed_query(r->req->models, r->view, r->req->query, &call, vector, &why);
	if (st == ST_INVALID) {
		retrieve_note(r, "the model of the vectors knows nothing of the query");
		return ST_OK;
	}
	if (!st) {
		r->vector = vector;
		return ST_OK;
	}
	retrieve_remote_failed(r, &why);
	if (why.code == ST_UNAVAILABLE)
		return do_without(r, "the embedding model is not available: sparse alone", &why);
	*r->e = why;
	return why.code;
}

/* Nobody can make a vector: what does the request say to that? */
static enum status nobody(struct retrieve_run *r, enum models_speaker speaker,
	const struct error *why)
{
	if (speaker != MODELS_CLIENT)
		return do_without(r,
			"this state of the corpus has no vectors for queries: sparse alone", why);
	if (r->mode == RETRIEVE_DENSE)
		return error_field(r->e, ST_INVALID, "x-rcpd-vector",
			"the vectors of this corpus come from its clients: mode dense needs "
			"x-rcpd-vector");
	retrieve_note(r, "without x-rcpd-vector hybrid is sparse alone");
	return ST_OK;
}

static enum models_speaker look(struct retrieve_run *r, struct error *why)
{
	const struct models *models = r->req->models;

	error_set(why, ST_UNAVAILABLE, "this server has no model for vectors");
	if (!models)
		return MODELS_NOBODY;
	r->has_space = engine_view_space(r->view, &r->space);
	if (r->has_space) {
		r->out->dimension = r->space.dimension;
		r->out->model_fit = r->space.fit;
	}
	return models_space(models, r->view, NULL, why);
}

enum status retrieve_vector(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct error why;
	enum models_speaker speaker = look(r, &why);
	bool speaks = req->vector ? r->has_space
				  : speaker == MODELS_LOCAL || speaker == MODELS_REMOTE;

	if (req->vector && !r->has_space)
		retrieve_note(r, "x-rcpd-vector was not used: the corpus has no vectors");
	r->mode = req->mode;
	if (r->mode == RETRIEVE_AUTO)
		r->mode = speaks ? RETRIEVE_HYBRID : RETRIEVE_SPARSE;
	if (r->mode == RETRIEVE_SPARSE)
		return ST_OK;
	if (!speaks)
		return nobody(r, speaker, &why);
	if (req->vector)
		return take_clients(r);
	return r->query.n ? embed(r) : ST_OK; /* D33 */
}
