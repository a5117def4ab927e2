/*
 * config/load.c: all sources in their order of precedence: built-in defaults, the
 * file, the environment, flags; then the rules over several keys. For each key
 * it is remembered where its value came from, so that a rule found broken at the
 * end still names the place to mend.
 */
#include "config/internal.h"

#include <string.h>

#include "util/mem.h"

static void free_strings(struct config *c)
{
	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];

		if (key->kind == CONFIG_STRING || key->kind == CONFIG_CHOICE)
			mem_free(*config_value_string(c, key));
	}
}

void config_free(struct config *c)
{
	if (!c)
		return;
	free_strings(c);
	mem_free(c);
}

/* The state folder of whoever runs us: the service manager's, else the user's. */
static bool data_default(struct strbuf *out)
{
	const char *state = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");

	if (state && state[0]) {
		strbuf_add(out, state, strcspn(state, ":"));
	} else if (xdg && xdg[0] == '/') { /* a relative one counts as unset, as XDG wants */
		strbuf_adds(out, xdg);
		strbuf_adds(out, "/rcpd");
	} else if (home && home[0]) {
		strbuf_adds(out, home);
		strbuf_adds(out, "/.local/state/rcpd");
	} else {
		return false;
	}
	return true;
}

static enum status load_data_default(struct config *c, const char *where, struct error *e)
{
	const struct config_key *key = config_key_find("data");
	struct strbuf path = STRBUF_INIT;
	enum status st;

	if (!data_default(&path))
		st = error_set(e, ST_INVALID,
			"no folder for the corpus: none of STATE_DIRECTORY, "
			"XDG_STATE_HOME and HOME is set; set data or give --data");
	else if (!strbuf_ok(&path))
		st = error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	else
		st = config_value_set(c, key, path.data ? path.data : "", where, e);
	strbuf_release(&path);
	return st;
}

static enum status load_defaults(struct config *c, struct config_origin *origins, struct error *e)
{
	for (size_t i = 0; i < config_key_count; i++) {
		enum status st;

		snprintf(origins[i].where, sizeof(origins[i].where), CONFIG_DEFAULT);
		if (!config_keys[i].def) /* computed, if nobody sets it */
			continue;
		st = config_value_set(c, &config_keys[i], config_keys[i].def, CONFIG_DEFAULT, e);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static enum status load_flags(struct config *c, const struct config_override *flags, size_t count,
	struct config_origin *origins, struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		const struct config_key *key = config_key_find(flags[i].name);
		struct config_origin *origin;
		enum status st;

		if (!key)
			return error_set(e, ST_INVALID, "no key is called '%.40s'", flags[i].name);
		origin = &origins[config_key_index(key)];
		snprintf(origin->where, sizeof(origin->where), "--%s", flags[i].name);
		for (char *p = origin->where; *p; p++)
			if (*p == '_')
				*p = '-';
		st = config_value_set(c, key, flags[i].value, origin->where, e);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static enum status load_all(struct config *c, const char *path, const struct config_override *flags,
	size_t flag_count, struct config_origin *origins, struct error *e)
{
	const char *connections =
		origins[config_key_index(config_key_find("max_connections"))].where;
	enum status st = load_defaults(c, origins, e);

	if (st == ST_OK && path)
		st = config_file_read(c, path, origins, e);
	if (st == ST_OK)
		st = config_environment_read(c, origins, e);
	if (st == ST_OK)
		st = load_flags(c, flags, flag_count, origins, e);
	if (st == ST_OK && !c->data)
		st = load_data_default(c, CONFIG_DEFAULT, e);
	if (st == ST_OK)
		st = config_check(c, origins, e);
	c->max_connections_set = strcmp(connections, CONFIG_DEFAULT) != 0;
	return st;
}

enum status config_load(const char *path, const struct config_override *flags, size_t flag_count,
	struct config **ret, struct error *e)
{
	struct config *c = mem_zero(sizeof(*c));
	struct config_origin *origins = mem_array(config_key_count, sizeof(*origins));
	enum status st;

	if (!c || !origins)
		st = error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	else
		st = load_all(c, path, flags, flag_count, origins, e);
	mem_free(origins);
	if (st != ST_OK) {
		config_free(c);
		return st;
	}
	*ret = c;
	return ST_OK;
}
