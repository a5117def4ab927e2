/*
 * pipeline/jobs.c: the thread of the background jobs: when which is due, and what became
 * of it. The jobs themselves are in fit.c and reembed.c.
 */
#include "pipeline/jobs.h"

#include <sys/resource.h>
#include <unistd.h>

#include "pipeline/jobs_private.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"

#define LOOK_MS 1000
#define RETRY_MS 30000 /* after a failure; twice as long after the next one, up to */
#define RETRY_MOST_MS 3600000
#define NICENESS 10
#define GROWTH 2.0

/* ---- asked by the jobs ---- */

bool jobs_stopped(void *arg)
{
	const struct jobs *j = arg;

	return __atomic_load_n(&j->stop, __ATOMIC_RELAXED);
}

void jobs_report(void *arg, double done)
{
	struct jobs *j = arg;

	pthread_mutex_lock(&j->lock);
	if (done > j->status.done)
		j->status.done = done;
	pthread_mutex_unlock(&j->lock);
}

void jobs_hold(struct jobs *j, struct engine_build *b)
{
	pthread_mutex_lock(&j->lock);
	j->build = b;
	if (b && j->stop)
		engine_build_halt(b);
	pthread_mutex_unlock(&j->lock);
}

/* ---- when a fit is due ---- */

/* Growing corpora are fitted when they come to rest: a fit in the midst of a bulk load
 * would only be followed by the next one. */
static bool is_quiet(struct jobs *j, uint64_t version)
{
	uint64_t now = clock_mono_ms();

	if (version != j->seen_version) {
		j->seen_version = version;
		j->changed_ms = now;
	}
	if (!j->due_ms)
		j->due_ms = now;
	return now - j->changed_ms >= j->opt.quiet_ms || now - j->due_ms >= j->opt.patience_ms;
}

/* *ret_version: of the corpus that was looked at. */
static bool fit_pays(struct jobs *j, uint64_t *ret_version)
{
	double growth = j->opt.growth > 1 ? j->opt.growth : GROWTH;
	struct engine_space space = { .derived = false };
	struct engine_view *v = NULL;
	uint64_t chunks;
	bool pays;

	*ret_version = 0;
	if (!j->opt.fit || !j->opt.models->table || engine_view_open(j->opt.engine, NULL, &v, NULL))
		return false;
	chunks = engine_chunk_count(j->opt.engine);
	*ret_version = engine_view_version(v);
	pays = models_space(j->opt.models, v, &space, NULL) == MODELS_LOCAL &&
		corpus_fit_enough(chunks) &&
		(space.fit == 0 || (double)chunks >= growth * (double)space.fitted);
	engine_view_close(v);
	return pays;
}

static bool fit_is_due(struct jobs *j)
{
	uint64_t version;

	if (fit_pays(j, &version))
		return is_quiet(j, version);
	j->due_ms = 0;
	return false;
}

/* ---- the thread ---- */

static bool wait_for_work(struct jobs *j, unsigned ms)
{
	struct timespec until;
	bool stop;

	clock_in(ms, &until);
	pthread_mutex_lock(&j->lock);
	while (!j->stop && !j->poked)
		if (pthread_cond_timedwait(&j->wake, &j->lock, &until))
			break;
	j->poked = false;
	stop = j->stop;
	pthread_mutex_unlock(&j->lock);
	return !stop;
}

static enum jobs_kind choose(struct jobs *j)
{
	bool wanted;

	pthread_mutex_lock(&j->lock);
	wanted = j->status.wanted;
	pthread_mutex_unlock(&j->lock);
	if (wanted)
		return JOBS_REEMBED;
	return fit_is_due(j) ? JOBS_FIT : JOBS_IDLE;
}

static void begin(struct jobs *j, enum jobs_kind kind)
{
	pthread_mutex_lock(&j->lock);
	j->status.running = kind;
	j->status.done = 0;
	j->status.failure[0] = '\0';
	pthread_mutex_unlock(&j->lock);
}

/* A re-embedding that failed is tried again: whoever asked for it still wants it. */
static void end(struct jobs *j, enum jobs_kind kind, enum status st, const struct error *e)
{
	pthread_mutex_lock(&j->lock);
	j->status.running = JOBS_IDLE;
	j->status.failure[0] = '\0';
	if (!st) {
		j->status.fits += kind == JOBS_FIT;
		j->status.moves += kind == JOBS_REEMBED;
		if (kind == JOBS_REEMBED)
			j->status.wanted = false;
	} else if (st != ST_CANCELLED) {
		snprintf(j->status.failure, sizeof(j->status.failure), "%s", e->message);
	}
	j->due_ms = 0;
	pthread_mutex_unlock(&j->lock);
}

static enum status run(struct jobs *j, enum jobs_kind kind)
{
	const char *what = kind == JOBS_FIT ? "fitting the corpus's space of vectors"
					    : "moving the corpus to another model";
	struct error e = { .code = ST_OK };
	uint64_t start = clock_mono_ms();
	enum status st;

	begin(j, kind);
	log_event(LOG_INFO, what, LOG_U("chunks", engine_chunk_count(j->opt.engine)));
	st = kind == JOBS_FIT ? fit_run(j, &e) : reembed_run(j, &e);
	end(j, kind, st, &e);
	if (!st)
		log_event(LOG_INFO, what, LOG_S("state", "done"),
			LOG_U("ms", clock_mono_ms() - start));
	else if (st != ST_CANCELLED)
		log_event(LOG_WARNING, what, LOG_S("failure", e.message),
			LOG_S("detail", e.detail));
	return st;
}

static void *work(void *arg)
{
	struct jobs *j = arg;
	unsigned pause = j->opt.look_ms ? j->opt.look_ms : LOOK_MS;
	unsigned wait = pause, retry = RETRY_MS;

	/* Of this thread alone, on Linux; others lose nothing if it does not work. */
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), NICENESS);
	while (wait_for_work(j, wait)) {
		enum jobs_kind kind = choose(j);

		wait = pause;
		if (kind == JOBS_IDLE)
			continue;
		/* What fails again and again is tried less and less often. */
		retry = !run(j, kind)               ? RETRY_MS
			: retry < RETRY_MOST_MS / 2 ? 2 * retry
						    : RETRY_MOST_MS;
		if (retry > RETRY_MS)
			wait = retry / 2;
	}
	return NULL;
}

/* ---- from outside ---- */

enum status jobs_start(const struct jobs_options *opt, struct jobs **ret, struct error *e)
{
	struct jobs *j = mem_zero(sizeof(*j));
	pthread_condattr_t attr;

	if (!j)
		return error_set(e, ST_NOMEM, "out of memory");
	j->opt = *opt;
	if (pthread_condattr_init(&attr)) {
		mem_free(j);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&j->wake, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&j->lock, NULL);
	if (pthread_create(&j->thread, NULL, work, j)) {
		pthread_cond_destroy(&j->wake);
		pthread_mutex_destroy(&j->lock);
		mem_free(j);
		return error_set(e, ST_UNAVAILABLE, "cannot start a thread");
	}
	*ret = j;
	return ST_OK;
}

void jobs_stop(struct jobs *j)
{
	if (!j)
		return;
	pthread_mutex_lock(&j->lock);
	__atomic_store_n(&j->stop, true, __ATOMIC_RELAXED);
	if (j->build)
		engine_build_halt(j->build);
	pthread_cond_signal(&j->wake);
	pthread_mutex_unlock(&j->lock);
	pthread_join(j->thread, NULL);
	pthread_cond_destroy(&j->wake);
	pthread_mutex_destroy(&j->lock);
	mem_free(j);
}

void jobs_poke(struct jobs *j)
{
	pthread_mutex_lock(&j->lock);
	j->poked = true;
	pthread_cond_signal(&j->wake);
	pthread_mutex_unlock(&j->lock);
}

void jobs_status(struct jobs *j, struct jobs_status *ret)
{
	uint64_t version;
	bool due = fit_pays(j, &version);

	pthread_mutex_lock(&j->lock);
	*ret = j->status;
	pthread_mutex_unlock(&j->lock);
	ret->fit_due = due;
}

enum status jobs_reembed(struct jobs *j, struct error *e)
{
	struct engine_encoder encoder;
	struct engine_space space;
	struct engine_view *v;
	struct arena arena;
	bool known, same, lacks = false;
	enum status st;

	arena_init(&arena, 0);
	known = models_encoder(j->opt.models, &arena, &encoder);
	if (!known)
		st = error_set(e, ST_INVALID, "no model is configured");
	else if (j->opt.models->external_dimension)
		st = error_set(e, ST_INVALID,
			"vectors of clients cannot be made here: send the documents anew");
	else
		st = engine_view_open(j->opt.engine, NULL, &v, e);
	if (!st) {
		same = engine_view_space(v, &space) &&
			bytes_eq(space.identity, encoder.first.identity) &&
			space.dimension == encoder.first.dimension;
		if (same)
			st = engine_space_lacks(v, &lacks, e);
		engine_view_close(v);
		if (!st && same && !lacks)
			st = error_set(e, ST_CONFLICT, "the corpus has that model already");
	}
	arena_release(&arena);
	if (st)
		return st;
	pthread_mutex_lock(&j->lock);
	if (!j->status.wanted)
		j->status.failure[0] = '\0'; /* of another job */
	j->status.wanted = true;
	j->poked = true;
	pthread_cond_signal(&j->wake);
	pthread_mutex_unlock(&j->lock);
	return ST_OK;
}
