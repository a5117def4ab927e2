/*
 * engine.c: opening and closing, and the calls that write: each prepares what needs no
 * lock and joins a group (queue.c).
 */
#include "engine/private.h"

#include <errno.h>
#include <sys/stat.h>

#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"

#define FILTER_CACHE (64u << 20) /* bytes of results of earlier filters, at most */
#define HELD_BYTES (160u << 20)
#define CLOSE_MS 5000   /* for writing the head at a clean end */
#define EXTRA_READERS 2 /* for the leader of a group and for loading */

static enum status make_index_folder(const char *dir, struct error *e)
{
	struct strbuf path = STRBUF_INIT;
	enum status st = ST_OK;

	strbuf_addf(&path, "%s/index", dir);
	if (!strbuf_ok(&path)) {
		st = engine_no_memory(e);
	} else if (mkdir(path.data, 0700) && errno != EEXIST) {
		st = error_set(e, errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO,
			"cannot make the folder 'index' in the data folder");
		if (e)
			error_detail(e, "errno %d", errno);
	}
	strbuf_release(&path);
	return st;
}

static enum status open_parts(struct engine *en, const struct engine_options *opt, struct error *e)
{
	struct filter_options columns = { .max_fields = UINT16_MAX, .cache_bytes = FILTER_CACHE };
	enum status st = fields_init(&en->fields, opt, e);

	en->dir = mem_dup(opt->dir, strlen(opt->dir));
	if (!st && !en->dir)
		st = engine_no_memory(e);
	if (!st)
		st = queue_init(&en->queue, e);
	if (!st)
		st = store_open(opt->dir, opt->readers + EXTRA_READERS, &en->store, e);
	if (!st)
		st = make_index_folder(opt->dir, e);
	if (!st)
		st = filter_new(&columns, &en->columns, e);
	if (!st)
		st = load_all(en, opt, e);
	return st ? st : keeper_start(en, e);
}

enum status engine_open(const struct engine_options *opt, struct engine **ret, struct error *e)
{
	struct engine *en = mem_zero(sizeof(*en));
	enum status st;

	if (!en)
		return engine_no_memory(e);
	analyzers_init(&en->analyzers);
	states_init(&en->states, opt->max_snapshots, opt->snapshot_ttl_s);
	en->language = opt->language;
	en->k1 = opt->k1 > 0 ? opt->k1 : ENGINE_K1;
	en->b = opt->k1 > 0 ? opt->b : ENGINE_B;
	en->head_chunks = opt->head_chunks;
	en->held_bytes = opt->held_bytes ? opt->held_bytes : HELD_BYTES;
	en->last_columned = en->last_vectored = INT64_MIN;
	atomic_store(&en->build_since, UINT64_MAX);
	if (opt->encoder)
		en->encoder = *opt->encoder;
	en->has_encoder = opt->encoder != NULL;
	st = open_parts(en, opt, e);
	if (st)
		engine_close(en);
	else
		*ret = en;
	return st;
}

/* So that the next start has nothing to make anew. Failure costs the next one time. */
static void write_head(struct engine *en)
{
	uint64_t until = clock_mono_ms() + CLOSE_MS;
	struct error e = { .code = ST_OK };

	lexical_freeze(en->index);
	while (lexical_persisted_commit(en->index) < en->published && !e.code &&
		clock_mono_ms() < until)
		if (!lexical_maintain(en->index, NULL, &e))
			break;
	if (en->dense && !e.code)
		vectors_freeze(en->dense->index);
	while (en->dense && vectors_persisted_commit(en->dense->index) < en->published && !e.code &&
		clock_mono_ms() < until)
		if (!vectors_maintain(en->dense->index, NULL, &e))
			break;
	if (e.code)
		log_event(LOG_WARNING, "the index could not be written: the next start makes it",
			LOG_S("reason", e.message), LOG_S("detail", e.detail));
}

void engine_close(struct engine *en)
{
	if (!en)
		return;
	keeper_stop(en);
	if (en->index && en->states.newest)
		write_head(en);
	states_release(&en->states);
	dense_unref(en->dense);
	lexical_close(en->index);
	filter_free(en->columns);
	store_close(en->store);
	queue_release(&en->queue);
	fields_release(&en->fields);
	analyzers_release(&en->analyzers);
	mem_free(en->values.at);
	mem_free(en->dir);
	mem_free(en);
}

const char *engine_corpus_id(const struct engine *en)
{
	return store_corpus_id(en->store);
}

const unsigned char *engine_secret(const struct engine *en)
{
	return store_secret(en->store);
}

enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *arena,
	struct engine_commit *ret, struct error *e)
{
	struct op op = { .kind = OP_ADD, .stop = stop, .arena = arena };
	enum status st = prepare(en, docs, n, stop, arena, &op.add, e);

	if (once && once->key.data)
		op.once = once;
	if (!st)
		st = queue_run(en, &op, e);
	additions_release(&op.add);
	if (!st)
		*ret = op.commit;
	return st;
}

static enum status prepare_delete(struct engine *en, const struct bytes *ids, size_t n,
	const struct engine_stop *stop, struct arena *arena, const struct departure **ret,
	struct error *e)
{
	struct departures d = { .en = en, .arena = arena, .stop = stop };
	struct departure *leaving = arena_array(arena, n ? n : 1, sizeof(*leaving));
	enum status st = leaving ? ST_OK : engine_no_memory(e);

	for (size_t i = 0; !st && i < n; i++) {
		if (engine_stopped(stop))
			st = error_set(e, ST_CANCELLED, "cancelled");
		else if (ids[i].data)
			st = departure_make(&d, ids[i], &leaving[i], e);
	}
	departures_release(&d);
	*ret = leaving;
	return st;
}

enum status engine_delete(struct engine *en, const struct bytes *ids, size_t n,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e)
{
	struct op op = { .kind = OP_DELETE, .ids = ids, .id_count = n, .stop = stop };
	struct arena arena;
	enum status st;

	arena_init(&arena, 0);
	st = prepare_delete(en, ids, n, stop, &arena, &op.leaving, e);
	if (!st)
		st = queue_run(en, &op, e);
	arena_release(&arena);
	if (!st)
		*ret = op.commit;
	return st;
}

/* The filter's columns are read before the call queues: the leader then finds what it
 * says about full blocks in the cache. */
static enum status warm_filter(struct engine *en, const struct engine_filter *filter,
	const struct engine_stop *stop, struct arena *arena, struct error *e)
{
	struct engine_state *state = states_current(&en->states);
	struct lexical_filter pass;
	uint64_t count;
	enum status st = filter_eval(state->columns, filter, stop, arena, &pass, &count, e);

	states_unref(&en->states, state);
	return st;
}

enum status engine_delete_where(struct engine *en, const struct engine_filter *filter,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e)
{
	struct arena arena;
	struct op op = { .kind = OP_DELETE_WHERE, .filter = filter, .stop = stop, .arena = &arena };
	enum status st;

	arena_init(&arena, 0);
	st = warm_filter(en, filter, stop, &arena, e);
	if (!st)
		st = queue_run(en, &op, e);
	arena_release(&arena);
	if (!st)
		*ret = op.commit;
	return st;
}
