/*
 * server/corpus.c: opens the corpus as the configuration wants it.
 */
#include "server/corpus.h"

#include "methods/filter.h"
#include "server/system.h"
#include "util/mem.h"

static enum status folder_in_use(const char *path, struct error *e)
{
	long pid = system_lock_owner(path);

	if (pid > 0)
		return error_set(e, ST_LOCKED,
			"the data folder '%.120s' is in use by process %ld; stop that one, or "
			"give this one another folder with --data",
			path, pid);
	return error_set(e, ST_LOCKED,
		"the data folder '%.120s' is in use by another rcpd; give this one another "
		"folder with --data",
		path);
}

/* "ar, da, de…": what language may be. */
static void languages_list(char *out, size_t size)
{
	size_t n = 0;

	out[0] = '\0';
	for (int i = TEXT_LANG_NONE + 1; i < TEXT_LANG_COUNT && n < size; i++)
		n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "",
			text_lang_tag((enum text_lang)i));
}

enum status corpus_check(const struct config *c, struct error *e)
{
	char known[160];

	if (!c->language[0] || text_lang_parse(bytes_of(c->language)) != TEXT_LANG_NONE)
		return ST_OK;
	languages_list(known, sizeof(known));
	return error_set(e, ST_INVALID, "language cannot be '%.40s'; it must be empty or one of %s",
		c->language, known);
}

/* The declared fields; *ret is new, its names borrow from *ret_fields, which is too. */
static enum status read_declared(const struct config *c, struct config_field **ret_fields,
	struct engine_declared **ret, size_t *ret_n, struct error *e)
{
	enum status st = config_fields_read(c->fields, ret_fields, ret_n, e);

	if (st != ST_OK)
		return st;
	*ret = mem_array(*ret_n ? *ret_n : 1, sizeof(**ret));
	if (!*ret)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < *ret_n; i++) {
		(*ret)[i].name = bytes_of((*ret_fields)[i].name);
		if (!engine_type_parse(bytes_of((*ret_fields)[i].type), &(*ret)[i].type))
			return error_set(e, ST_INTERNAL, "fields of type %s are unknown",
				(*ret_fields)[i].type);
	}
	return ST_OK;
}

enum status corpus_open(const struct config *c, const struct app_models *models,
	struct engine **ret, struct error *e)
{
	struct config_field *fields = NULL;
	struct engine_declared *declared = NULL;
	struct engine_options opt = {
		.dir = c->data,
		.readers = (unsigned)c->workers,
		.language = text_lang_parse(bytes_of(c->language)),
		.k1 = c->bm25_k1,
		.b = c->bm25_b,
		.snapshot_ttl_s = (unsigned)c->snapshot_ttl,
		.max_snapshots = c->max_snapshots,
		.max_fields = c->max_fields,
		.values = methods_values_parse,
		.encoder = app_models_encoder(models),
	};
	enum status st = system_make_folder(c->data, e);

	if (st == ST_OK)
		st = read_declared(c, &fields, &declared, &opt.declared_count, e);
	if (st == ST_OK) {
		opt.declared = declared;
		st = engine_open(&opt, ret, e);
	}
	mem_free(declared);
	mem_free(fields);
	return st == ST_LOCKED ? folder_in_use(c->data, e) : st;
}
