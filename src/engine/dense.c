/*
 * dense.c: a space of vectors with its index, and what stands for a chunk in it. A space
 * lives as long as somebody has it: the engine, states, calls that have made vectors for
 * it. Each has a folder of its own, DATA/vectors/NUMBER.
 */
#include "engine/private.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/utf8.h"

/* Part of an index's name: vectors of derived spaces depend on how texts are joined. */
#define JOIN_REVISION 1
#define HEAD_BYTES (32u << 20) /* of an index's part in memory, three a component */
#define HEAD_VECTORS 16384
#define TITLE_MOST 2048 /* bytes of a title that count, as in analyzer.c */

/* ---- texts ---- */

static void add_line(struct strbuf *out, struct bytes text)
{
	if (!text.data || !text.len)
		return;
	if (out->len)
		strbuf_addc(out, '\n');
	strbuf_add(out, text.data, text.len);
}

enum status engine_join_text(struct bytes title, struct bytes context, struct bytes text,
	enum text_format format, struct arena *arena, struct bytes *ret, struct error *e)
{
	struct strbuf plain = STRBUF_INIT, out = STRBUF_INIT;
	struct bytes body;
	enum status st = text_plain(text, format, &plain, &body);

	if (title.len > TITLE_MOST)
		title.len = utf8_floor(title.data, title.len, TITLE_MOST);
	if (!st) {
		add_line(&out, title);
		add_line(&out, context);
		add_line(&out, body);
		if (!strbuf_ok(&out) ||
			arena_dup_bytes(arena, (struct bytes){ out.data ? out.data : "", out.len },
				ret))
			st = ST_NOMEM;
	}
	strbuf_release(&plain);
	strbuf_release(&out);
	return st ? engine_no_memory(e) : ST_OK;
}

bool dense_is_zero(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] != 0)
			return false;
	return true;
}

enum status dense_embed(const struct dense *d, const struct store_row *row, struct arena *scratch,
	float *out, struct error *e)
{
	struct bytes context = row->contextual ? row->context : BYTES_NONE, text;
	enum status st =
		engine_join_text(row->title, context, row->text, row->format, scratch, &text, e);

	if (!st)
		st = d->encoder.embed(d->space.model, text, out, e);
	arena_release(scratch);
	return st;
}

/* ---- folders ---- */

static char *space_dir(const struct engine *en, uint64_t number)
{
	struct strbuf path = STRBUF_INIT;

	strbuf_addf(&path, "%s/vectors/%llu", en->dir, (unsigned long long)number);
	if (strbuf_ok(&path))
		return strbuf_detach(&path, NULL);
	strbuf_release(&path);
	return NULL;
}

/* Of files only: nothing of ours makes folders in it. */
static void remove_folder(const char *dir)
{
	DIR *d = opendir(dir);
	const struct dirent *entry;

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			(void)unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	(void)rmdir(dir);
}

void dense_sweep_folders(struct engine *en, uint64_t keep)
{
	struct strbuf path = STRBUF_INIT;
	const struct dirent *entry;
	DIR *d;

	strbuf_addf(&path, "%s/vectors", en->dir);
	d = strbuf_ok(&path) ? opendir(path.data) : NULL;
	while (d && (entry = readdir(d))) {
		uint64_t number = strtoull(entry->d_name, NULL, 10);
		char *dir = number && number != keep ? space_dir(en, number) : NULL;

		if (dir)
			remove_folder(dir);
		mem_free(dir);
	}
	if (d)
		closedir(d);
	strbuf_release(&path);
}

static enum status make_folder(const char *path, struct error *e)
{
	if (!mkdir(path, 0700) || errno == EEXIST)
		return ST_OK;
	error_set(e, errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO,
		"cannot make the folder 'vectors' in the data folder");
	if (e)
		error_detail(e, "errno %d", errno);
	return errno == ENOSPC || errno == EDQUOT ? ST_FULL : ST_IO;
}

static enum status make_folders(struct engine *en, const char *dir, struct error *e)
{
	struct strbuf path = STRBUF_INIT;
	enum status st;

	strbuf_addf(&path, "%s/vectors", en->dir);
	st = strbuf_ok(&path) ? make_folder(path.data, e) : engine_no_memory(e);
	strbuf_release(&path);
	return st ? st : make_folder(dir, e);
}

/* ---- spaces ---- */

static void dense_free(struct dense *d)
{
	vectors_close(d->index);
	if (d->space.model)
		d->encoder.close(d->space.model);
	if (d->dir && atomic_load(&d->doomed))
		remove_folder(d->dir);
	mem_free(d->dir);
	mem_free((char *)(uintptr_t)d->space.identity.data);
	mem_free(d);
}

struct dense *dense_ref(struct dense *d)
{
	if (d)
		atomic_fetch_add(&d->refs, 1);
	return d;
}

void dense_unref(struct dense *d)
{
	if (d && atomic_fetch_sub(&d->refs, 1) == 1)
		dense_free(d);
}

struct dense *dense_current(struct engine *en)
{
	struct engine_state *state = states_current(&en->states);
	struct dense *d = dense_ref(state->dense);

	states_unref(&en->states, state);
	return d;
}

uint64_t dense_persisted(struct engine *en)
{
	uint64_t least = lexical_persisted_commit(en->index);
	struct dense *d = dense_current(en);

	if (d && vectors_persisted_commit(d->index) < least)
		least = vectors_persisted_commit(d->index);
	dense_unref(d);
	return least;
}

static enum status open_model(struct engine *en, const struct store_space *space, struct dense *d,
	struct error *e)
{
	struct engine_space_spec spec = { space->identity, space->dimension, true, space->blob,
		space->fit, space->fitted };

	if (!space->derived)
		return ST_OK;
	if (!en->has_encoder || !en->encoder.open)
		return error_set(e, ST_INVALID, "nothing makes vectors");
	return en->encoder.open(en->encoder.arg, &spec, &d->space.model, e);
}

static enum status open_index(struct engine *en, struct dense *d, bool fresh, uint64_t *ret_commit,
	struct error *e)
{
	struct strbuf name = STRBUF_INIT;
	struct vectors_options opt = { .dir = d->dir,
		.dimension = d->space.dimension,
		.head_vectors = HEAD_BYTES / (3 * d->space.dimension) };
	enum status st = make_folders(en, d->dir, e);

	strbuf_addf(&name, "%s %llu %llu %d %d ", store_corpus_id(en->store),
		(unsigned long long)d->space.number, (unsigned long long)d->space.fit,
		d->space.derived, JOIN_REVISION);
	strbuf_add(&name, d->space.identity.data, d->space.identity.len);
	if (fresh)
		remove_folder(d->dir);
	if (!st && fresh)
		st = make_folders(en, d->dir, e);
	if (opt.head_vectors > HEAD_VECTORS)
		opt.head_vectors = HEAD_VECTORS;
	opt.identity = (struct bytes){ name.data, name.len };
	if (!st && !strbuf_ok(&name))
		st = engine_no_memory(e);
	if (!st)
		st = vectors_open(&opt, &d->index, ret_commit, e);
	strbuf_release(&name);
	return st;
}

enum status dense_open(struct engine *en, const struct store_space *space, bool fresh,
	struct dense **ret, uint64_t *ret_commit, struct error *e)
{
	struct dense *d = mem_zero(sizeof(*d));
	enum status st;

	if (!d)
		return engine_no_memory(e);
	atomic_store(&d->refs, 1);
	if (en->has_encoder)
		d->encoder = en->encoder;
	d->space = (struct engine_space){ .dimension = space->dimension,
		.derived = space->derived,
		.number = space->number,
		.fit = space->fit,
		.fitted = space->fitted };
	d->space.identity = (struct bytes){ mem_dup(space->identity.data, space->identity.len),
		space->identity.len };
	d->dir = space_dir(en, space->number);
	if (!d->space.identity.data || !d->dir)
		st = engine_no_memory(e);
	else
		st = open_model(en, space, d, e);
	if (!st)
		st = open_index(en, d, fresh, ret_commit, e);
	if (st)
		dense_free(d);
	else
		*ret = d;
	return st;
}
