/*
 * keeper.c: the engine's one background thread. It seals and merges the index, lets
 * kept states go when their time is over, sweeps dead rows, and makes up for a
 * publication that failed. Whatever fails is tried again later; the first failure of a
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

	if (index == old->index || lexical_view_commit(index) != old->totals.version)
		lexical_view_unref(index);
	else
		fresh = state_new(index, filter_view_ref(old->columns), &old->totals);
	if (fresh)
		states_refresh(&en->states, old, fresh);
	states_unref(&en->states, old);
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

	if (lexical_persisted_commit(en->index) >= last_death || now - k->froze_ms < IDLE_HEAD_MS)
		return;
	k->froze_ms = now;
	lexical_freeze(en->index);
}

/* One small step; the group that takes it pokes us for the next one, so that writers come
 * in between. */
static bool sweep(struct engine *en, struct error *e)
{
	struct keeper *k = &en->keeper;
	struct engine_stop stop = { keeper_should_stop, k };
	struct op op = { .kind = OP_SWEEP, .stop = &stop };
	uint64_t last_death = atomic_load(&en->last_death);

	if (k->swept >= last_death && !en->behind)
		return true;
	write_idle_head(en, last_death);
	if (group_sweepable(en) <= k->swept && !en->behind)
		return true;
	if (queue_run(en, &op, e))
		return op.st == ST_CANCELLED;
	if (!op.more)
		k->swept = op.swept;
	return true;
}

static void *keep(void *arg)
{
	struct engine *en = arg;
	bool failing = false;
	unsigned pause = PERIOD_MS;

	while (wait_for_work(&en->keeper, pause)) {
		struct error e = { .code = ST_OK };
		bool ok;

		states_expire(&en->states);
		ok = maintain(en, &e);
		ok = sweep(en, &e) && ok; /* whatever became of the index */
		if (!ok && !failing)
			log_event(LOG_WARNING,
				"background work on the corpus failed: will try again",
				LOG_S("reason", e.message), LOG_S("detail", e.detail));
		failing = !ok;
		pause = ok ? PERIOD_MS : RETRY_MS;
	}
	return NULL;
}

enum status keeper_start(struct engine *en, struct error *e)
{
	struct keeper *k = &en->keeper;
	pthread_condattr_t attr;

	if (pthread_condattr_init(&attr))
		return engine_no_memory(e);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	k->ready = pthread_cond_init(&k->wake, &attr) == 0;
	pthread_condattr_destroy(&attr);
	if (!k->ready)
		return engine_no_memory(e);
	pthread_mutex_init(&k->lock, NULL);
	pthread_mutex_lock(&k->lock); /* the thread looks at started too */
	k->started = pthread_create(&k->thread, NULL, keep, en) == 0;
	pthread_mutex_unlock(&k->lock);
	return k->started ? ST_OK : error_set(e, ST_UNAVAILABLE, "cannot start a thread");
}

void keeper_poke(struct engine *en)
{
	struct keeper *k = &en->keeper;

	if (!k->started)
		return;
	pthread_mutex_lock(&k->lock);
	k->poked = true;
	pthread_cond_signal(&k->wake);
	pthread_mutex_unlock(&k->lock);
}

void keeper_stop(struct engine *en)
{
	struct keeper *k = &en->keeper;

	if (k->started) {
		pthread_mutex_lock(&k->lock);
		__atomic_store_n(&k->stop, true, __ATOMIC_RELAXED);
		pthread_cond_signal(&k->wake);
		pthread_mutex_unlock(&k->lock);
		pthread_join(k->thread, NULL);
		k->started = false;
	}
	if (k->ready) {
		pthread_cond_destroy(&k->wake);
		pthread_mutex_destroy(&k->lock);
		k->ready = false;
	}
}
