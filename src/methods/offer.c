/*
 * methods/offer.c: what of retrieve's options is offered: by the models that there are
 * and the space that the newest state of the corpus has. Cheap: a view is opened.
 */
#include "methods/common.h"

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void look_at(const struct models *models, const struct engine_view *v,
	struct methods_offer *ret)
{
	struct engine_space space;

	if (!engine_view_space(v, &space))
		return;
	ret->space = true;
	ret->dimension = space.dimension;
	ret->speaker = models_space(models, v, NULL, NULL);
}

enum status methods_offer(const struct methods *m, struct methods_offer *ret, struct error *e)
{
	const struct models *models = m->models;
	const struct engine_stop stop = { never, NULL };
	struct engine_view *v = NULL;
	enum status st;

	*ret = (struct methods_offer){ .speaker = MODELS_NOBODY };
	if (!models)
		return ST_OK;
	st = engine_view_open(m->engine, &stop, &v, e);
	if (!st)
		look_at(models, v, ret);
	engine_view_close(v);
	return st;
}

const char *methods_reranker_name(enum retrieve_reranker which)
{
	static const char *const names[METHODS_RERANKERS] = {
		[RETRIEVE_NO_RERANKER] = "",
		[RETRIEVE_COLBERT] = "colbert",
		[RETRIEVE_CROSS_ENCODER] = "cross-encoder",
		[RETRIEVE_LLM] = "llm",
	};

	return names[which];
}

const char *methods_reranker_model(const struct models *models, enum retrieve_reranker which)
{
	switch (which) {
	case RETRIEVE_COLBERT:
		return static_model_identity(models->table);
	case RETRIEVE_CROSS_ENCODER:
		return remote_identity(models->cross_encoder);
	case RETRIEVE_LLM:
		return remote_identity(models->llm);
	case RETRIEVE_NO_RERANKER:
		break;
	}
	return "";
}
