/* server/options.h: the command line. */
#ifndef RCPD_SERVER_OPTIONS_H
#define RCPD_SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "util/status.h"

/* Exit codes of rcpd; the documentation promises them. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

#define OPTIONS_MAX_OVERRIDES 32

enum options_action { OPTIONS_SERVE, OPTIONS_CHECK, OPTIONS_PRINT, OPTIONS_VERSION, OPTIONS_HELP };

/* All strings are the caller's argv. */
struct options {
	enum options_action action;
	bool stdio;
	const char *config; /* NULL: no file */
	struct config_override overrides[OPTIONS_MAX_OVERRIDES];
	size_t override_count;
};

/* Fills *ret from the arguments; ST_INVALID with a message for people. */
enum status options_parse(int argc, char **argv, struct options *ret, struct error *e);
/* The text of --help. Static storage. */
const char *options_help(void);

#endif
