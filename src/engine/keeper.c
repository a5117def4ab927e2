/*
 * keeper.c: the engine's background threads. One seals and merges the index, lets kept
 * states go when their time is over, sweeps dead rows, and makes up for a publication
 * that failed; the other one does the same for the index of vectors, whose lists may take
 * a minute to make. Whatever fails is tried again later; the first failure of a
 * series is logged.
 */
#include "engine/private.h"

#include "util/clock.h"
#include "util/log.h"

#define PERIOD_MS 1000     /* between looks when nobody pokes */
#define RETRY_MS 5000      /* after a failure, a full disk for instance */
#define IDLE_HEAD_MS 60000 /* between heads that are written for want of anything else */

/* Waits; false: time to end. */
static bool wait_for_work(struct keeper *k, unsigned ms)
{
	struct timespec until;
	bool stop;

	clock_in(ms, &until);
	pthread_mutex_lock(&k->lock);
	while (!k->stop && !k->poked)
		if (pthread_cond_timedwait(&k->wake, &k->lock, &until))
			break;
	k->poked = false;
	stop = k->stop;
	pthread_mutex_unlock(&k->lock);
	return !stop;
}

static bool is_stopping(struct keeper *k)
{
	return __atomic_load_n(&k->stop, __ATOMIC_RELAXED);
}

/* What was sealed and merged is for readers too: the current state gets the index's
 * newest view if that shows the same commit. Without memory: another time. */
static void refresh_current(struct engine *en)
{
	struct engine_state *old = states_current(&en->states), *fresh = NULL;
	struct lexical_view *index = lexical_view_get(en->index);
	struct vectors_view *near = old->dense ? vectors_view_get(old->dense->index) : NULL;
	uint64_t version = old->totals.version;

	if ((index == old->index && near == old->near) || lexical_view_commit(index) != version ||
		(near && vectors_view_commit(near) != version)) {
		lexical_view_unref(index);
		if (near)
			vectors_view_unref(near);
	} else {
		fresh = state_new(index, filter_view_ref(old->columns), dense_ref(old->dense), near,
			&old->totals);
	}
	if (fresh)
		states_refresh(&en->states, old, fresh);
	states_unref(&en->states, old);
}

static enum status run_turn(struct group *g, void *arg, struct error *e)
{
	(void)arg;
	return store_write_turn(g->w, e);
}

/* New lists change answers: they come with a commit of their own; not those of a space
 * that was left meanwhile. */
static bool turn(struct engine *en, const struct dense *d, struct error *e)
{
	struct op op = { .kind = OP_CALL, .call = { .run = run_turn } };
	struct dense *now = dense_current(en);
	bool active = now == d;

	dense_unref(now);
	if (!active)
		return true;
	if (queue_run(en, &op, e))
		return false;
	if (!vectors_pending(d->index))
		return true;
	error_set(e, ST_IO, "new lists of vectors cannot be written");
	return false; /* later; not a commit each second */
}

/* The vectors of the active space; a failure is told in e. */
static bool maintain_vectors(struct engine *en, struct error *e)
{
	struct dense *d = dense_current(en);
	bool more = d != NULL, ok = true;

	while (more && !is_stopping(&en->tender)) {
		e->code = ST_OK;
		more = vectors_maintain(d->index, &en->tender.stop, e);
		refresh_current(en);
		if (e->code == ST_CANCELLED)
			e->code = ST_OK;
		if (e->code)
			more = ok = false;
	}
	while (d && vectors_held_bytes(d->index) > en->held_bytes && states_drop_one(&en->states))
		;
	if (ok && d && vectors_pending(d->index) && !is_stopping(&en->tender))
		ok = turn(en, d, e);
	dense_unref(d);
	return ok;
}

static bool maintain(struct engine *en, struct error *e)
{
	bool more = true;

	while (more && !is_stopping(&en->keeper)) {
		e->code = ST_OK;
		more = lexical_maintain(en->index, &en->keeper.stop, e);
		refresh_current(en);
		if (e->code == ST_CANCELLED)
			e->code = ST_OK;
		if (e->code)
			return false;
	}
	/* A kept state may hold a head that is on disk by now. */
	while (lexical_held_bytes(en->index) > en->held_bytes && states_drop_one(&en->states))
		;
	return true;
}

static bool keeper_should_stop(void *arg)
{
	return is_stopping(arg);
}

/* What died can be swept once it is in no head any more: a head that nobody fills is
 * written to disk after a while, so that deleted texts leave the disk. */
static void write_idle_head(struct engine *en, uint64_t last_death)
{
	struct keeper *k = &en->keeper;
	uint64_t now = clock_mono_ms();
	struct dense *d;

	if (dense_persisted(en) >= last_death || now - k->froze_ms < IDLE_HEAD_MS)
		return;
	k->froze_ms = now;
	lexical_freeze(en->index);
	d = dense_current(en);
	if (d)
		vectors_freeze(d->index);
	dense_unref(d);
}

/* One small step; the group that takes it pokes us for the next one, so that writers come
 * in between. */
static bool sweep(struct engine *en, struct error *e)
{
	struct keeper *k = &en->keeper;
	struct engine_stop stop = { keeper_should_stop, k };
	struct op op = { .kind = OP_SWEEP, .stop = &stop };
	uint64_t last_death = atomic_load(&en->last_death);

	bool orphans = atomic_load(&en->orphans);

	if (k->swept >= last_death && !en->behind && !orphans)
		return true;
	write_idle_head(en, last_death);
	if (group_sweepable(en) <= k->swept && !en->behind && !orphans)
		return true;
	if (queue_run(en, &op, e))
		return op.st == ST_CANCELLED;
	if (!op.more)
		k->swept = op.swept;
	return true;
}

static bool keep_rows(struct engine *en, struct error *e)
{
	bool ok;

	states_expire(&en->states);
	ok = maintain(en, e);
	return sweep(en, e) && ok; /* whatever became of the index */
}

/* work is tried again and again; the first failure of a series is logged. */
static void *keep_at(struct engine *en, struct keeper *k,
	bool (*work)(struct engine *en, struct error *e))
{
	bool failing = false;
	unsigned pause = PERIOD_MS;

	while (wait_for_work(k, pause)) {
		struct error e = { .code = ST_OK };
		bool ok = work(en, &e);

		if (!ok && !failing)
			log_event(LOG_WARNING,
				"background work on the corpus failed: will try again",
				LOG_S("reason", e.message), LOG_S("detail", e.detail));
		failing = !ok;
		pause = ok ? PERIOD_MS : RETRY_MS;
	}
	return NULL;
}

static void *keep(void *arg)
{
	struct engine *en = arg;

	return keep_at(en, &en->keeper, keep_rows);
}

static void *keep_vectors(void *arg)
{
	struct engine *en = arg;

	return keep_at(en, &en->tender, maintain_vectors);
}

static enum status start(struct engine *en, struct keeper *k, void *(*run)(void *), struct error *e)
{
	pthread_condattr_t attr;

	if (pthread_condattr_init(&attr))
		return engine_no_memory(e);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	k->ready = pthread_cond_init(&k->wake, &attr) == 0;
	pthread_condattr_destroy(&attr);
	if (!k->ready)
		return engine_no_memory(e);
	pthread_mutex_init(&k->lock, NULL);
	k->started = pthread_create(&k->thread, NULL, run, en) == 0;
	/* The two poke each other: from here on the other one may. */
	atomic_store(&k->awake, k->started);
	return k->started ? ST_OK : error_set(e, ST_UNAVAILABLE, "cannot start a thread");
}

enum status keeper_start(struct engine *en, struct error *e)
{
	enum status st = start(en, &en->keeper, keep, e);

	return st ? st : start(en, &en->tender, keep_vectors, e);
}

static void poke(struct keeper *k)
{
	if (!atomic_load(&k->awake))
		return;
	pthread_mutex_lock(&k->lock);
	k->poked = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

void keeper_poke(struct engine *en)
{
	poke(&en->keeper);
	poke(&en->tender);
}

static void halt(struct keeper *k)
{
	if (!k->started)
		return;
	pthread_mutex_lock(&k->lock);
	__atomic_store_n(&k->stop, true, __ATOMIC_RELAXED);
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

static void join(struct keeper *k)
{
	if (k->started)
		pthread_join(k->thread, NULL);
	k->started = false;
}

static void release(struct keeper *k)
{
	atomic_store(&k->awake, false);
	if (k->ready) {
		pthread_cond_destroy(&k->wake);
		pthread_mutex_destroy(&k->lock);
		k->ready = false;
	}
}

/* Both end before either's lock goes: they poke each other. */
void keeper_stop(struct engine *en)
{
	halt(&en->tender);
	halt(&en->keeper);
	join(&en->tender);
	join(&en->keeper);
	release(&en->tender);
	release(&en->keeper);
}
