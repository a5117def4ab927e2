/*
 * methods/retrieve_options.c: which stages a retrieve runs: what was asked for, measured
 * by what is offered (offer.c). With strict:false a preference that is not offered is
 * dropped and noted (D40).
 */
#include <stdio.h>

#include "methods/rerank.h"
#include "methods/retrieve.h"
#include "util/utf8.h"

void methods_retrieve_note(struct methods_retrieve_params *p, const char *text)
{
	if (p->note_count < sizeof(p->notes) / sizeof(p->notes[0]))
		p->notes[p->note_count++] = text;
}

enum rpc_code methods_retrieve_refuse(struct rpc_call *call, struct methods_retrieve_params *p,
	const char *option, const char *text)
{
	if (p->strict != RPC_FALSE)
		return rpc_error_option(rpc_call_error(call), option, "%s", text);
	methods_retrieve_note(p, text);
	return RPC_OK;
}

enum rpc_code methods_retrieve_refuse_value(struct rpc_call *call,
	struct methods_retrieve_params *p, struct bytes value, const char *text)
{
	char option[64];

	snprintf(option, sizeof(option), "%.*s",
		(int)utf8_floor(value.data, value.len, sizeof(option) - 1), value.data);
	if (!option[0]) /* it begins with U+0000: nothing that could be named */
		return rpc_error_set(rpc_call_error(call), RPC_INVALID_PARAMS, "%s", text);
	return methods_retrieve_refuse(call, p, option, text);
}

static bool is(struct bytes value, const char *name)
{
	return bytes_eq(value, bytes_of(name));
}

/* ---- mode and fusion ---- */

/* Whether a query can have a vector: ours, or the client's own. */
static bool can_dense(const struct methods_retrieve_params *p, const struct methods_offer *offer)
{
	return offer->speaker != MODELS_NOBODY || (p->choice.vector && offer->space);
}

static enum rpc_code choose_mode(struct rpc_call *call, struct methods_retrieve_params *p,
	const struct methods_offer *offer)
{
	struct methods_choice *c = &p->choice;

	c->mode = RETRIEVE_AUTO;
	if (!p->mode.data)
		return RPC_OK;
	if (is(p->mode, "sparse"))
		c->mode = RETRIEVE_SPARSE;
	else if (is(p->mode, "dense") && can_dense(p, offer))
		c->mode = RETRIEVE_DENSE;
	else if (is(p->mode, "hybrid") && can_dense(p, offer))
		c->mode = RETRIEVE_HYBRID;
	else
		return methods_retrieve_refuse_value(call, p, p->mode,
			can_dense(p, offer) ? "only the modes dense, sparse and hybrid are offered"
				: offer->space && offer->speaker == MODELS_NOBODY
				? "only mode sparse is offered: the corpus has vectors of a model "
				  "that is not configured; x-rcpd/reembed makes new ones"
				: "only mode sparse is offered");
	return RPC_OK;
}

/* Weights that were not sent are 1; two that are 0 would find nothing. */
static enum rpc_code read_weights(struct rpc_call *call, const struct methods_fusion_params *f,
	struct retrieve_fusion *ret)
{
	ret->dense = f->weights.dense.set ? f->weights.dense.v : 1;
	ret->sparse = f->weights.sparse.set ? f->weights.sparse.v : 1;
	if (ret->dense > 0 || ret->sparse > 0)
		return RPC_OK;
	return rpc_error_field(rpc_call_error(call), "fusion.weights",
		"fusion.weights must not both be 0");
}

static enum rpc_code choose_fusion(struct rpc_call *call, struct methods_retrieve_params *p,
	const struct methods_offer *offer)
{
	const struct methods_fusion_params *f = &p->fusion;
	struct retrieve_fusion *ret = &p->choice.fusion;
	enum rpc_code rc = read_weights(call, f, ret);

	if (rc)
		return rc;
	ret->method = RETRIEVE_CONVEX;
	ret->alpha = is(f->method, "convex") ? RETRIEVE_NAMED_ALPHA : RETRIEVE_ALPHA;
	ret->rrf_k = f->rrf_k.set ? (double)f->rrf_k.v : RETRIEVE_RRF_K;
	if (f->alpha.set)
		ret->alpha = f->alpha.v;
	if (!f->present)
		return RPC_OK;
	if (!can_dense(p, offer))
		return methods_retrieve_refuse(call, p, "fusion",
			"fusion is not offered: there is one mode");
	if (!f->method.data || is(f->method, "convex"))
		return RPC_OK;
	if (is(f->method, "rrf"))
		ret->method = RETRIEVE_RRF;
	else if (is(f->method, "weighted"))
		ret->method = RETRIEVE_WEIGHTED;
	else
		return methods_retrieve_refuse_value(call, p, f->method,
			"fusion.method is none of convex, rrf and weighted");
	return RPC_OK;
}

/* ---- rerank ---- */

static enum retrieve_reranker find_reranker(const struct models *models, struct bytes name)
{
	for (int i = 1; i < METHODS_RERANKERS; i++) {
		enum retrieve_reranker which = (enum retrieve_reranker)i;

		if (methods_can_rerank(models, which) && is(name, methods_reranker_name(which)))
			return which;
	}
	return RETRIEVE_NO_RERANKER;
}

static enum rpc_code choose_reranker(struct rpc_call *call, struct methods_retrieve_params *p)
{
	const struct models *models = ((const struct methods *)rpc_call_methods_arg(call))->models;
	const struct methods_rerank_params *want = &p->rerank;
	enum retrieve_reranker which = methods_best_reranker(models);
	enum rpc_code rc = RPC_OK;

	if (!want->present)
		return RPC_OK;
	if (!which)
		return methods_retrieve_refuse(call, p, "rerank", "rerank is not offered");
	if (want->method.data)
		which = find_reranker(models, want->method);
	if (!which)
		return methods_retrieve_refuse_value(call, p, want->method,
			"rerank.method is none of those offered: not reranked");
	if (want->model.data && !is(want->model, methods_reranker_model(models, which)))
		rc = methods_retrieve_refuse_value(call, p, want->model,
			"rerank.model is not the one that is offered, which was taken");
	p->choice.reranker = which;
	return rc;
}

/* ---- the rest ---- */

static enum rpc_code choose_rest(struct rpc_call *call, struct methods_retrieve_params *p,
	const struct methods_offer *offer)
{
	struct methods_choice *c = &p->choice;
	enum rpc_code rc = RPC_OK;

	c->mmr = p->mmr.present && offer->space;
	c->vectors = p->include_vectors == RPC_TRUE && offer->space;
	if (p->mmr.present && !c->mmr)
		rc = methods_retrieve_refuse(call, p, "mmr", "mmr is not offered");
	if (!rc && p->include_vectors == RPC_TRUE && !c->vectors)
		rc = methods_retrieve_refuse(call, p, "includeVectors",
			"includeVectors is not offered");
	return rc;
}

enum rpc_code methods_retrieve_choose(struct rpc_call *call, struct methods_retrieve_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	struct methods_offer offer;
	enum rpc_code rc = RPC_OK;
	struct error e;

	if (methods_offer(m, &offer, &e))
		return methods_fail(call, &e);
	if (m->models && p->vector)
		rc = methods_retrieve_read_vector(call, p->vector, &p->choice.vector,
			&p->choice.dimension);
	if (!rc && p->choice.vector && offer.space && p->choice.dimension != offer.dimension &&
		json_string_length(p->cursor) == 0 && !p->index_version.data)
		rc = rpc_error_field(rpc_call_error(call), "x-rcpd-vector",
			"x-rcpd-vector must have %zu numbers", offer.dimension);
	if (!rc)
		rc = choose_mode(call, p, &offer);
	if (!rc)
		rc = choose_fusion(call, p, &offer);
	if (!rc)
		rc = choose_reranker(call, p);
	return rc ? rc : choose_rest(call, p, &offer);
}
