/*
 * pipeline/fit.c: the corpus's own space, fitted anew: a sample of its texts, the
 * decomposition, then all documents projected into a new index that takes the old one's
 * place in one commit.
 */
#include "pipeline/jobs_private.h"

#define FIT_SEED 1
/* How the work is split, for progress: measured on 34,000 documents. */
#define SAMPLED 0.1
#define FITTED 0.6

struct sample {
	struct local_fit *fit;
	struct jobs *j;
};

static enum status take_text(void *arg, int64_t key, struct bytes text, struct error *e)
{
	struct sample *s = arg;

	(void)key;
	if (jobs_stopped(s->j))
		return error_set(e, ST_CANCELLED, "cancelled");
	return local_fit_add(s->fit, text, e);
}

static void report_fit(void *arg, double done)
{
	jobs_report(arg, SAMPLED + done * (FITTED - SAMPLED));
}

static void report_build(void *arg, double done)
{
	jobs_report(arg, FITTED + done * (1 - FITTED));
}

/* *ret_n: chunks that the corpus had. */
static enum status make_blob(struct jobs *j, struct strbuf *blob, uint64_t *ret_n, struct error *e)
{
	struct engine_stop stop = { jobs_stopped, j };
	struct sample s = { .j = j };
	struct engine_view *v = NULL;
	struct engine_stats stats;
	enum status st = engine_view_open(j->opt.engine, &stop, &v, e);

	if (!st)
		st = local_fit_new(j->opt.models->table, FIT_SEED, &s.fit, e);
	if (!st)
		st = engine_view_stats(v, &stats, e);
	if (!st) {
		*ret_n = stats.chunks;
		st = engine_sample(v, CORPUS_SAMPLE, take_text, &s, e);
	}
	engine_view_close(v);
	jobs_report(j, SAMPLED);
	if (!st)
		st = local_fit_run(s.fit, jobs_stopped, report_fit, j, blob, e);
	local_fit_free(s.fit);
	return st;
}

static enum status build(struct jobs *j, const struct engine_space_spec *spec, struct error *e)
{
	struct engine_stop stop = { jobs_stopped, j };
	struct engine_progress progress = { report_build, j };
	struct engine_build *b;
	enum status st = engine_build_begin(j->opt.engine, spec, &b, e);

	if (st)
		return st;
	jobs_hold(j, b);
	st = engine_build_run(b, &stop, &progress, e);
	jobs_hold(j, NULL);
	if (!st)
		return engine_build_commit(b, &stop, e);
	engine_build_abandon(b);
	return st;
}

/* The numbers of fits of one corpus only grow. */
static uint64_t next_fit(struct jobs *j)
{
	struct engine_space space = { .fit = 0 };
	struct engine_view *v;

	if (engine_view_open(j->opt.engine, NULL, &v, NULL))
		return 1;
	(void)engine_view_space(v, &space);
	engine_view_close(v);
	return space.fit + 1;
}

enum status fit_run(struct jobs *j, struct error *e)
{
	struct engine_space_spec spec = { .derived = true, .fit = next_fit(j) };
	struct strbuf blob = STRBUF_INIT;
	struct arena arena;
	enum status st = make_blob(j, &blob, &spec.fitted, e);

	arena_init(&arena, 0);
	if (!st && local_model_identity(j->opt.models->table, &arena, &spec.identity))
		st = error_set(e, ST_NOMEM, "out of memory");
	spec.dimension = local_model_dimension(j->opt.models->table);
	spec.blob = (struct bytes){ blob.data, blob.len };
	if (!st)
		st = build(j, &spec, e);
	arena_release(&arena);
	strbuf_release(&blob);
	return st;
}
