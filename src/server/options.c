/*
 * server/options.c: the command line by table. Both "--name value" and
 * "--name=value" are taken, names in full only: an abbreviation that works today
 * would mean something else once another option begins the same way. Flags that
 * stand for a key of the configuration become overrides of it, so that their
 * values are checked where all values are.
 */
#include "server/options.h"

#include <string.h>

enum option_kind {
	OPT_OVERRIDE, /* sets the key */
	OPT_CONFIG,
	OPT_STDIO,
	OPT_ACTION,
};

static const struct option_row {
	const char *name;
	enum option_kind kind;
	const char *key;            /* OPT_OVERRIDE */
	enum options_action action; /* OPT_ACTION */
	bool http_only;             /* means nothing with --stdio */
} rows[] = {
	{ .name = "config", .kind = OPT_CONFIG },
	{ .name = "data", .kind = OPT_OVERRIDE, .key = "data" },
	{ .name = "model", .kind = OPT_OVERRIDE, .key = "model" },
	{ .name = "listen", .kind = OPT_OVERRIDE, .key = "listen", .http_only = true },
	{ .name = "stdio", .kind = OPT_STDIO },
	{ .name = "sessions", .kind = OPT_OVERRIDE, .key = "sessions", .http_only = true },
	{ .name = "log-level", .kind = OPT_OVERRIDE, .key = "log_level" },
	{ .name = "check-config", .kind = OPT_ACTION, .action = OPTIONS_CHECK },
	{ .name = "print-config", .kind = OPT_ACTION, .action = OPTIONS_PRINT },
	{ .name = "version", .kind = OPT_ACTION, .action = OPTIONS_VERSION },
	{ .name = "help", .kind = OPT_ACTION, .action = OPTIONS_HELP },
};

const char *options_help(void)
{
	return "Usage: rcpd [OPTION]...\n"
	       "Serve RCP/1, the Retrieval Context Protocol, from a corpus in one folder.\n"
	       "\n"
	       "  --config FILE          read settings from FILE (see rcpd.conf(5));\n"
	       "                         without it no file is read\n"
	       "  --data DIR             folder of the corpus, made if missing\n"
	       "                         [$STATE_DIRECTORY, $XDG_STATE_HOME/rcpd or\n"
	       "                         ~/.local/state/rcpd]\n"
	       "  --listen ADDR:PORT     serve HTTP there; port 0 picks a free one\n"
	       "                         [127.0.0.1:8077]\n"
	       "  --listen unix:PATH     serve HTTP on a unix socket\n"
	       "  --stdio                serve one host over stdin and stdout instead\n"
	       "  --sessions MODE        stateless, token or strict [stateless]\n"
	       "  --log-level LEVEL      debug, info, notice, warning, error or off [info]\n"
	       "  --model DIR            take vectors from the model in DIR (layout of\n"
	       "                         Model2Vec), builtin, or none [builtin]\n"
	       "  --check-config         check the settings and leave\n"
	       "  --print-config         print the settings as a file, all of them, and leave\n"
	       "  --version              print the version and leave\n"
	       "  --help                 print this and leave\n"
	       "\n"
	       "Settings come from defaults, the file, the environment (RCPD_ and the key in\n"
	       "capitals, such as RCPD_LISTEN) and options; the last wins. Exit status: 0 done,\n"
	       "1 failed while running, 2 wrong usage or configuration.\n";
}

static const struct option_row *row_find(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strlen(rows[i].name) == len && memcmp(rows[i].name, name, len) == 0)
			return &rows[i];
	return NULL;
}

static bool row_takes_value(const struct option_row *row)
{
	return row->kind == OPT_OVERRIDE || row->kind == OPT_CONFIG;
}

static enum status option_apply(const struct option_row *row, const char *value, struct options *o,
	struct error *e)
{
	switch (row->kind) {
	case OPT_OVERRIDE:
		if (o->override_count == OPTIONS_MAX_OVERRIDES)
			return error_set(e, ST_INVALID, "too many options");
		o->overrides[o->override_count++] = (struct config_override){ row->key, value };
		return ST_OK;
	case OPT_CONFIG:
		o->config = value;
		return ST_OK;
	case OPT_STDIO:
		o->stdio = true;
		return ST_OK;
	case OPT_ACTION:
		if (o->action == OPTIONS_SERVE || row->action > o->action)
			o->action =
				row->action; /* --help beats --version beats what needs settings */
		return ST_OK;
	}
	return error_set(e, ST_INTERNAL, "option --%s has no kind", row->name);
}

/* Reads the option at argv[*at] and its value, if it has one, and moves *at on. */
static enum status option_read(int argc, char **argv, int *at, struct options *o, struct error *e)
{
	const char *arg = argv[(*at)++];
	const char *name = arg + 2, *eq, *value = NULL;
	const struct option_row *row;

	if (strcmp(arg, "-h") == 0)
		arg = "--help", name = arg + 2;
	if (strncmp(arg, "--", 2) != 0 || arg[2] == '\0')
		return error_set(e, ST_INVALID, "'%.60s' is not an option; try --help", arg);
	eq = strchr(name, '=');
	row = row_find(name, eq ? (size_t)(eq - name) : strlen(name));
	if (!row)
		return error_set(e, ST_INVALID, "no option is called '%.60s'; try --help", arg);
	if (eq && !row_takes_value(row))
		return error_set(e, ST_INVALID, "--%s takes no value", row->name);
	if (row_takes_value(row)) {
		if (!eq && *at >= argc)
			return error_set(e, ST_INVALID, "--%s needs a value", row->name);
		value = eq ? eq + 1 : argv[(*at)++];
	}
	return option_apply(row, value, o, e);
}

/* What is given for HTTP would be ignored with --stdio; say so instead. */
static enum status options_check_stdio(const struct options *o, struct error *e)
{
	for (size_t i = 0; o->stdio && i < o->override_count; i++) {
		const struct option_row *row =
			row_find(o->overrides[i].name, strlen(o->overrides[i].name));

		if (row && row->http_only)
			return error_set(e, ST_INVALID, "--%s has no meaning with --stdio",
				row->name);
	}
	return ST_OK;
}

enum status options_parse(int argc, char **argv, struct options *ret, struct error *e)
{
	struct options o = { .action = OPTIONS_SERVE };
	enum status st = ST_OK;
	int at = 1;

	while (st == ST_OK && at < argc)
		st = option_read(argc, argv, &at, &o, e);
	if (st == ST_OK)
		st = options_check_stdio(&o, e);
	if (st == ST_OK)
		*ret = o;
	return st;
}
