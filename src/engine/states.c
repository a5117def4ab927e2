/*
 * states.c: which states of the corpus are alive: the current one, those in somebody's
 * view, and those kept for a while because their number was given out. They stand in a
 * list by version; the oldest one says what may be swept.
 *
 * The lock is held for a few pointers only. What a state refers to is let go of after
 * it, since that may free much.
 */
#include "engine/private.h"

#include "util/clock.h"
#include "util/mem.h"

void states_init(struct states *s, size_t max, unsigned ttl_s)
{
	*s = (struct states){ .ttl_ms = (uint64_t)ttl_s * 1000 };
	pthread_mutex_init(&s->lock, NULL);
	s->kept[KEPT_READ].max = max;
	/* Writers are told numbers all the time, and few of them come back for one. */
	s->kept[KEPT_WRITTEN].max = max / 4;
}

/* The view of an index goes before the index. */
static void let_go(struct lexical_view *index, struct filter_view *columns, struct dense *dense,
	struct vectors_view *near)
{
	lexical_view_unref(index);
	filter_view_unref(columns);
	if (near)
		vectors_view_unref(near);
	dense_unref(dense);
}

struct engine_state *state_new(struct lexical_view *index, struct filter_view *columns,
	struct dense *dense, struct vectors_view *near, const struct store_totals *totals)
{
	struct engine_state *state = mem_zero(sizeof(*state));

	if (!state) {
		let_go(index, columns, dense, near);
		return NULL;
	}
	state->dense = dense;
	state->near = near;
	state->index = index;
	state->columns = columns;
	state->totals = *totals;
	state->refs = 1;
	return state;
}

static void state_free(struct engine_state *state)
{
	if (!state)
		return;
	let_go(state->index, state->columns, state->dense, state->near);
	mem_free(state);
}

/* ---- under the lock ---- */

/* Returns what is to be freed after the lock. */
static struct engine_state *put(struct states *s, struct engine_state *state)
{
	if (!state || --state->refs > 0)
		return NULL;
	if (state->older)
		state->older->newer = state->newer;
	else
		s->oldest = state->newer;
	if (state->newer)
		state->newer->older = state->older;
	else
		s->newest = state->older;
	return state;
}

static void unlink_kept(struct states *s, struct engine_state *state)
{
	unsigned class = state->kept - 1;

	if (state->less)
		state->less->more = state->more;
	else
		s->kept[class].first = state->more;
	if (state->more)
		state->more->less = state->less;
	else
		s->kept[class].last = state->less;
	state->less = state->more = NULL;
	state->kept = 0;
	s->kept[class].count--;
}

static void link_kept(struct states *s, struct engine_state *state, unsigned class)
{
	state->kept = 1 + class;
	state->less = s->kept[class].last;
	if (state->less)
		state->less->more = state;
	else
		s->kept[class].first = state;
	s->kept[class].last = state;
	s->kept[class].count++;
}

/* Stops keeping the one unused for longest. */
static struct engine_state *drop_first(struct states *s, unsigned class)
{
	struct engine_state *state = s->kept[class].first;

	unlink_kept(s, state);
	return put(s, state);
}

/* ---- the interface ---- */

void states_publish(struct states *s, struct engine_state *state)
{
	struct engine_state *old;

	pthread_mutex_lock(&s->lock);
	old = s->newest;
	state->older = old;
	if (old)
		old->newer = state;
	else
		s->oldest = state;
	s->newest = state;
	old = put(s, old);
	pthread_mutex_unlock(&s->lock);
	state_free(old);
}

/* fresh is kept in the place of old from now on. */
static void take_keep(struct states *s, struct engine_state *old, struct engine_state *fresh)
{
	unsigned class = old->kept - 1;

	fresh->kept = old->kept;
	fresh->kept_until_ms = old->kept_until_ms;
	fresh->less = old->less;
	fresh->more = old->more;
	*(fresh->less ? &fresh->less->more : &s->kept[class].first) = fresh;
	*(fresh->more ? &fresh->more->less : &s->kept[class].last) = fresh;
	old->less = old->more = NULL;
	old->kept = 0;
	fresh->refs++;
	old->refs--; /* the caller has one more */
}

void states_refresh(struct states *s, struct engine_state *old, struct engine_state *fresh)
{
	pthread_mutex_lock(&s->lock);
	if (s->newest == old) {
		fresh->older = old;
		old->newer = s->newest = fresh;
		if (old->kept)
			take_keep(s, old, fresh);
		old->refs--;
		fresh = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	state_free(fresh);
}

struct engine_state *states_current(struct states *s)
{
	struct engine_state *state;

	pthread_mutex_lock(&s->lock);
	state = s->newest;
	state->refs++;
	pthread_mutex_unlock(&s->lock);
	return state;
}

struct engine_state *states_find(struct states *s, uint64_t version)
{
	uint64_t now = clock_mono_ms();
	struct engine_state *state;

	pthread_mutex_lock(&s->lock);
	state = s->newest;
	/* One that is only in somebody's view would be gone the next time. There may be
	 * two of a version (states_refresh), of which either is kept. */
	while (state && state->totals.version >= version &&
		(state->totals.version > version ||
			(state != s->newest && (!state->kept || state->kept_until_ms <= now))))
		state = state->older;
	if (state && state->totals.version != version)
		state = NULL;
	if (state)
		state->refs++;
	pthread_mutex_unlock(&s->lock);
	return state;
}

void states_keep(struct states *s, struct engine_state *state, unsigned class)
{
	uint64_t now = clock_mono_ms();
	struct engine_state *drop = NULL;

	pthread_mutex_lock(&s->lock);
	if (state->totals.version == s->newest->totals.version)
		state = s->newest; /* refreshed meanwhile */
	if (state->kept == 1 + KEPT_READ)
		class = KEPT_READ;
	if (state->kept)
		unlink_kept(s, state);
	else
		state->refs++;
	link_kept(s, state, class);
	state->kept_until_ms = now + s->ttl_ms;
	if (s->kept[class].count > s->kept[class].max)
		drop = drop_first(s, class);
	pthread_mutex_unlock(&s->lock);
	state_free(drop);
}

void states_unref(struct states *s, struct engine_state *state)
{
	pthread_mutex_lock(&s->lock);
	state = put(s, state);
	pthread_mutex_unlock(&s->lock);
	state_free(state);
}

void states_expire(struct states *s)
{
	uint64_t now = clock_mono_ms();

	for (unsigned class = 0; class < KEPT_CLASSES; class ++) {
		struct engine_state *drop;
		bool more = true;

		while (more) {
			pthread_mutex_lock(&s->lock);
			drop = s->kept[class].first;
			more = drop && drop->kept_until_ms <= now;
			drop = more ? drop_first(s, class) : NULL;
			pthread_mutex_unlock(&s->lock);
			state_free(drop);
		}
	}
}

bool states_drop_one(struct states *s)
{
	struct engine_state *drop = NULL;
	bool any = false;

	pthread_mutex_lock(&s->lock);
	for (unsigned class = KEPT_CLASSES; class -- > 0 && !any;) {
		any = s->kept[class].first != NULL;
		if (any)
			drop = drop_first(s, class);
	}
	pthread_mutex_unlock(&s->lock);
	state_free(drop);
	return any;
}

uint64_t states_oldest(struct states *s)
{
	uint64_t version;

	pthread_mutex_lock(&s->lock);
	version = s->oldest->totals.version;
	pthread_mutex_unlock(&s->lock);
	return version;
}

void states_release(struct states *s)
{
	while (states_drop_one(s))
		;
	while (s->oldest)
		states_unref(s, s->oldest);
	pthread_mutex_destroy(&s->lock);
}
