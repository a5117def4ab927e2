/*
 * pipeline/encode.c: the local model as the engine's encoder, and who makes the vectors
 * of a view's space. A space is known by its identity alone: that of the local model
 * names table and features, not the fit, which is the space's own blob.
 */
#include <string.h>

#include "pipeline/models.h"

/* ---- the engine's encoder; arg is the struct models ---- */

static enum status encoder_open(void *arg, const struct engine_space_spec *spec, void **ret,
	struct error *e)
{
	const struct models *m = arg;
	struct local_model *model = NULL;
	struct bytes identity = BYTES_NONE;
	struct arena arena;
	enum status st;
	bool ours;

	if (!m->table || !spec->derived)
		return error_set(e, ST_INVALID, "no model here makes vectors of this space");
	arena_init(&arena, 0);
	st = local_model_identity(m->table, &arena, &identity);
	ours = !st && bytes_eq(identity, spec->identity) &&
		spec->dimension == local_model_dimension(m->table);
	arena_release(&arena);
	if (st)
		return error_set(e, st, "out of memory");
	if (!ours)
		return error_set(e, ST_INVALID, "the vectors are those of another model");
	st = local_model_open(m->table, spec->blob, &model, e);
	if (!st)
		*ret = model;
	return st;
}

static void encoder_close(void *model)
{
	local_model_close(model);
}

static enum status encoder_embed(void *model, struct bytes text, float *out, struct error *e)
{
	return local_model_embed(model, text, out, e);
}

/* The space that a corpus without one begins with: that of whom the configuration names. */
static bool first_space(const struct models *m, struct arena *arena, struct engine_space_spec *ret)
{
	*ret = (struct engine_space_spec){ .derived = false };
	if (m->external_dimension) {
		ret->identity = bytes_of(MODELS_EXTERNAL);
		ret->dimension = m->external_dimension;
		return true;
	}
	if (m->embedder) {
		ret->identity = bytes_of(remote_identity(m->embedder));
		ret->dimension = m->embedder_dimension;
		return true;
	}
	if (!m->table || local_model_identity(m->table, arena, &ret->identity))
		return false;
	ret->dimension = local_model_dimension(m->table);
	ret->derived = true;
	return true;
}

bool models_encoder(const struct models *m, struct arena *arena, struct engine_encoder *ret)
{
	union {
		const struct models *models;
		void *arg;
	} lent = { .models = m }; /* the engine hands it back and never looks inside */

	*ret = (struct engine_encoder){ .arg = lent.arg,
		.open = encoder_open,
		.close = encoder_close,
		.embed = encoder_embed };
	return first_space(m, arena, &ret->first);
}

/* ---- who speaks ---- */

static enum models_speaker speaker_of(const struct models *m, const struct engine_space *s)
{
	if (s->derived)
		return m->table && s->model ? MODELS_LOCAL : MODELS_NOBODY;
	if (bytes_eq(s->identity, bytes_of(MODELS_EXTERNAL)))
		return MODELS_CLIENT;
	if (m->embedder && s->dimension == m->embedder_dimension &&
		bytes_eq(s->identity, bytes_of(remote_identity(m->embedder))))
		return MODELS_REMOTE;
	return MODELS_NOBODY;
}

enum models_speaker models_space(const struct models *m, const struct engine_view *v,
	struct engine_space *ret, struct error *e)
{
	struct engine_space space;
	enum models_speaker who;

	if (!engine_view_space(v, &space)) {
		error_set(e, ST_UNAVAILABLE,
			"this corpus has no vectors; x-rcpd/reembed makes them, if a model is "
			"configured");
		return MODELS_NOBODY;
	}
	if (ret)
		*ret = space;
	who = speaker_of(m, &space);
	if (who == MODELS_NOBODY)
		error_set(e, ST_UNAVAILABLE,
			"the vectors of this corpus are those of %.*s, which is not configured "
			"here; x-rcpd/reembed makes new ones",
			space.identity.len > 100 ? 100 : (int)space.identity.len,
			space.identity.data);
	return who;
}

const struct rarity *models_rarity(const struct models *m, const struct engine_view *v)
{
	struct engine_space space;

	if (models_space(m, v, &space, NULL) != MODELS_LOCAL)
		return NULL;
	return local_model_rarity(space.model);
}

/* ---- queries ---- */

static bool all_zero(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] < 0 || v[i] > 0)
			return false;
	return true;
}

enum status models_embed_query(const struct models *m, const struct engine_view *v,
	struct bytes text, const struct remote_call *call, float *out, struct error *e)
{
	static const char nothing[] = "there is nothing in the query that the model knows";
	struct engine_space space;
	enum status st;

	switch (models_space(m, v, &space, e)) {
	case MODELS_LOCAL:
		st = local_model_embed(space.model, text, out, e);
		if (!st && all_zero(out, space.dimension))
			st = error_set(e, ST_INVALID, "%s", nothing);
		return st;
	case MODELS_REMOTE:
		if (models_blank(text))
			return error_set(e, ST_INVALID, "%s", nothing);
		return remote_embed(m->embedder, &text, 1, true, call, out, e);
	case MODELS_CLIENT:
		return error_field(e, ST_INVALID, "x-rcpd-vector",
			"x-rcpd-vector is required: the vectors of this corpus come from its "
			"clients");
	case MODELS_NOBODY:
		break;
	}
	return ST_UNAVAILABLE;
}
