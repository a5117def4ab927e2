/*
 * load.c: index and columns from the rows: at the start, where the index's files say up
 * to which commit they are whole, and after a publication that failed. What is in there
 * already is passed over, so that it can be done again at any time.
 */
#include "engine/private.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"

#define REPORT_MS 5000   /* between lines about a long rebuild */
#define SEAL_EVERY 16384 /* chunks: then the head goes to disk */

struct loading {
	struct engine *en;
	struct analyzer *analyzer;
	uint64_t since;  /* commit that the index's files hold */
	uint64_t chunks; /* added by this loading */
	uint64_t total;  /* living chunks */
	uint64_t reported_ms;
	const char *dir; /* at the start: nobody reads yet, the head may be sealed on the way */
};

/* ---- the index ---- */

static void report(struct loading *l)
{
	uint64_t now = clock_mono_ms();

	if (now - l->reported_ms < REPORT_MS)
		return;
	l->reported_ms = now;
	log_event(LOG_NOTICE, "making the index", LOG_U("chunks", l->chunks),
		LOG_U("of", l->total));
}

/* The files stay whole up to the commit they had: what comes after is added again, or
 * rather passed over, if this is not finished. */
static enum status seal(struct loading *l, struct error *e)
{
	struct error failed = { .code = ST_OK };

	lexical_publish(l->en->index, l->since);
	while (lexical_maintain(l->en->index, NULL, &failed))
		;
	if (failed.code)
		*e = failed;
	return failed.code;
}

static enum status index_row(void *arg, const struct store_row *row, struct error *e)
{
	struct loading *l = arg;
	struct bag bag;
	enum status st;

	if (row->key <= l->en->last_indexed)
		return ST_OK;
	st = analyzer_bag(l->analyzer, row, &bag, e);
	if (!st)
		st = publish_chunk(l->en, row->key, row->doc_id, row->no, &bag, e);
	if (st)
		return st;
	l->chunks++;
	if (l->dir && (l->chunks % SEAL_EVERY == 0 || lexical_heavy(l->en->index))) {
		report(l);
		/* A full disk is no reason not to start: the head stays in memory. */
		(void)seal(l, e);
	}
	return ST_OK;
}

static enum status unindex_row(void *arg, const struct store_row *row, struct error *e)
{
	struct loading *l = arg;
	struct bag bag;
	enum status st = analyzer_bag(l->analyzer, row, &bag, e);

	return st ? st : lexical_remove(l->en->index, row->key, bag.terms, bag.n, e);
}

static enum status load_index(struct loading *l, struct store_reader *r, struct error *e)
{
	enum status st = analyzer_take(&l->en->analyzers, &l->analyzer, e);

	if (!st)
		st = store_each_born(r, l->since, index_row, l, e);
	if (!st)
		st = store_each_died(r, l->since, unindex_row, l, e);
	analyzer_put(&l->en->analyzers, l->analyzer);
	return st;
}

static enum status open_index(struct engine *en, const char *dir, bool foreign, uint64_t *ret,
	struct error *e)
{
	struct strbuf name = STRBUF_INIT;
	struct lexical_options opt = { .dir = dir,
		.k1 = en->k1,
		.b = en->b,
		.head_chunks = en->head_chunks };
	enum status st;

	strbuf_addf(&name, "%s ", foreign ? "none" : store_corpus_id(en->store));
	analyzer_version(&name);
	opt.identity = (struct bytes){ name.data, name.len };
	st = strbuf_ok(&name) ? lexical_open(&opt, &en->index, ret, e) : engine_no_memory(e);
	strbuf_release(&name);
	return st;
}

/* Opening the files under a foreign name drops them. */
static enum status open_new_index(struct engine *en, const char *dir, uint64_t *ret,
	struct error *e)
{
	enum status st;

	log_event(LOG_WARNING, "the index does not belong to the corpus: making it anew");
	lexical_close(en->index);
	en->index = NULL;
	st = open_index(en, dir, true, ret, e);
	if (st)
		return st;
	lexical_close(en->index);
	en->index = NULL;
	return open_index(en, dir, false, ret, e);
}

/* Files that know of later commits than the rows belong to a corpus that went another
 * way, for instance before a backup was restored. */
static enum status open_matching_index(struct engine *en, const char *dir, uint64_t version,
	uint64_t *ret, struct error *e)
{
	enum status st = open_index(en, dir, false, ret, e);

	if (st || *ret <= version)
		return st;
	return open_new_index(en, dir, ret, e);
}

/*
 * What died after the files were written is told by its rows, unless they have been
 * swept: with files that are older than the rows, from a copy of the folder that was
 * not made at one instant, the dead would be found again. Counting tells.
 */
static bool has_swept_chunks(struct loading *l, const struct store_totals *totals)
{
	struct lexical_view *v;
	struct lexical_stats stats;

	lexical_publish(l->en->index, totals->version);
	v = lexical_view_get(l->en->index);
	lexical_view_stats(v, &stats);
	lexical_view_unref(v);
	return stats.chunks != totals->chunks;
}

static enum status load_index_at_start(struct loading *l, struct store_reader *r,
	const struct store_totals *totals, struct error *e)
{
	enum status st = open_matching_index(l->en, l->dir, totals->version, &l->since, e);

	if (!st) {
		l->en->last_indexed = lexical_last_key(l->en->index);
		st = load_index(l, r, e);
	}
	if (st || !has_swept_chunks(l, totals))
		return st;
	st = open_new_index(l->en, l->dir, &l->since, e);
	if (st)
		return st;
	l->en->last_indexed = lexical_last_key(l->en->index);
	return load_index(l, r, e);
}

/* ---- the columns ---- */

static enum status load_values(void *arg, const struct store_keys *keys, struct bytes data,
	struct error *e)
{
	struct engine *en = arg;
	uint64_t contradictions = 0;
	enum status st = ST_OK;

	if (keys->first_chunk + (int64_t)keys->chunks - 1 <= en->last_columned)
		return ST_OK;
	en->values.n = 0;
	if (data.data)
		st = values_read(data, &en->values, &contradictions, e);
	for (uint64_t c = 0; !st && c < keys->chunks; c++) {
		int64_t key = keys->first_chunk + (int64_t)c;

		if (key <= en->last_columned)
			continue;
		st = filter_add(en->columns, key, en->values.at, en->values.n,
			c == 0 ? &contradictions : NULL, e);
		if (!st)
			en->last_columned = key;
	}
	atomic_fetch_add(&en->contradictions, contradictions);
	return st;
}

struct field_loading {
	struct engine *en;
	size_t n;
};

static enum status load_field(void *arg, struct bytes name, enum engine_type type, struct error *e)
{
	struct field_loading *l = arg;
	struct engine *en = l->en;
	enum engine_type known;
	enum status st = ST_OK;
	size_t number;

	if (!filter_field(en->columns, name, &number, &known))
		st = filter_define(en->columns, name, type, &number, e);
	if (!st && l->n >= engine_field_count(en))
		st = fields_append(&en->fields, name, type, e);
	l->n++;
	return st;
}

/* ---- both ---- */

static enum status load_fields(struct engine *en, struct store_reader *r, struct error *e)
{
	struct field_loading fields = { en, 0 };

	return store_each_field(r, load_field, &fields, e);
}

static enum status load(struct loading *l, struct error *e)
{
	struct engine *en = l->en;
	struct store_totals totals;
	struct store_reader *r;
	enum status st = store_reader_open(en->store, NULL, &r, e);

	if (st)
		return st;
	st = store_read_totals(r, &totals, e);
	l->total = totals.chunks;
	if (!st)
		st = load_fields(en, r, e);
	if (!st)
		st = l->dir ? load_index_at_start(l, r, &totals, e) : load_index(l, r, e);
	if (!st)
		st = store_each_values(r, load_values, en, e);
	if (!st)
		st = l->dir ? load_dense_at_start(en, &totals, r, e)
			    : load_dense_catch_up(en, r, l->since, e);
	store_reader_close(r);
	if (!st)
		st = publish_state(en, &totals, e);
	if (!st)
		en->behind = false;
	return st;
}

enum status load_catch_up(struct engine *en, struct error *e)
{
	struct loading l = { .en = en, .since = en->published };

	return load(&l, e);
}

/* ---- the first time ---- */

struct declaring {
	const struct engine_options *opt;
	struct store_write *w;
	bool *known; /* of the declared ones */
	size_t n;
};

static enum status check_declared(void *arg, struct bytes name, enum engine_type type,
	struct error *e)
{
	struct declaring *d = arg;
	size_t number = d->n++;

	for (size_t i = 0; i < d->opt->declared_count; i++) {
		const struct engine_declared *declared = &d->opt->declared[i];

		if (!bytes_eq(declared->name, name))
			continue;
		d->known[i] = true;
		return declared->type == type ? ST_OK
					      : store_write_retype(d->w, number, declared->type, e);
	}
	return ST_OK;
}

/* Declared fields have rows like the others; a changed type takes effect at once, as
 * values are kept untyped. */
static enum status declare(struct engine *en, const struct engine_options *opt, struct error *e)
{
	struct declaring d = { .opt = opt };
	struct store_reader *r = NULL;
	struct store_totals totals;
	enum status st;

	if (opt->declared_count == 0)
		return ST_OK;
	d.known = mem_array(opt->declared_count, sizeof(bool));
	if (!d.known)
		return engine_no_memory(e);
	st = store_write_begin(en->store, NULL, &d.w, e);
	if (st)
		goto out;
	st = store_reader_open(en->store, NULL, &r, e);
	if (!st)
		st = store_each_field(r, check_declared, &d, e);
	if (r)
		store_reader_close(r);
	for (size_t i = 0; !st && i < opt->declared_count; i++)
		if (!d.known[i])
			st = store_write_field(d.w, opt->declared[i].name, opt->declared[i].type,
				e);
	if (st)
		store_write_abort(d.w);
	else
		st = store_write_commit(d.w, &totals, e);
out:
	mem_free(d.known);
	return st;
}

static void mark_declared(struct engine *en, const struct engine_options *opt)
{
	size_t number;

	for (size_t i = 0; i < opt->declared_count; i++)
		if (fields_find(&en->fields, opt->declared[i].name, &number))
			en->fields.at[number].declared = true;
}

static enum status load_what_there_is(struct engine *en, uint64_t *ret_version, struct error *e)
{
	struct store_totals totals;
	struct store_reader *r;
	enum status st = store_reader_open(en->store, NULL, &r, e);

	if (st)
		return st;
	st = store_read_totals(r, &totals, e);
	if (!st)
		st = load_fields(en, r, e);
	store_reader_close(r);
	*ret_version = totals.version;
	return st;
}

enum status load_all(struct engine *en, const struct engine_options *opt, struct error *e)
{
	struct strbuf dir = STRBUF_INIT;
	struct loading l = { .en = en, .reported_ms = clock_mono_ms() };
	uint64_t version = 0;
	enum status st = declare(en, opt, e);

	strbuf_addf(&dir, "%s/index", opt->dir);
	if (!st && !strbuf_ok(&dir))
		st = engine_no_memory(e);
	if (!st)
		st = load_what_there_is(en, &version, e);
	if (!st)
		mark_declared(en, opt);
	if (!st)
		st = load_old_values(en, opt, e);
	if (!st) {
		en->last_columned = INT64_MIN;
		l.dir = dir.data;
		st = load(&l, e);
	}
	if (!st)
		atomic_store(&en->last_death, version);
	strbuf_release(&dir);
	return st;
}
