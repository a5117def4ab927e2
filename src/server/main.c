/*
 * server/main.c: reads the command line and the configuration, and hands over.
 */
#include <stdio.h>

#include <unistd.h>

#include "server/app.h"
#include "server/corpus.h"
#include "server/system.h"

static void tell_unknown_variable(const char *name, void *arg)
{
	(void)arg;
	fprintf(stderr, "rcpd: warning: %s in the environment names no setting\n", name);
}

static int print_done(struct config *config)
{
	bool done = config_print(config, STDOUT_FILENO);

	config_free(config);
	return done ? EXIT_DONE : EXIT_FAILED;
}

/* What can be seen of the configuration without its corpus. Takes config. */
static int check_done(const struct options *o, struct config *config)
{
	struct app_models *models = NULL;
	struct error e = { 0 };
	enum status st = app_models_open(config, &models, &e);

	app_models_close(models);
	config_free(config);
	config_environment_unknown(tell_unknown_variable, NULL);
	if (st != ST_OK) {
		app_complain(&e);
		return app_models_exit(&e);
	}
	if (o->config)
		printf("configuration %s is valid\n", o->config);
	else
		printf("configuration is valid\n");
	return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
}

/* Runs the daemon; takes config. closed: standard descriptors that were closed. */
static int serve(const struct options *o, struct config *config, int closed)
{
	if (o->stdio && (closed & (1 << STDIN_FILENO | 1 << STDOUT_FILENO)) != 0) {
		fprintf(stderr,
			"rcpd: --stdio needs standard input and output, and one is "
			"closed\n");
		config_free(config);
		return EXIT_FAILED;
	}
	return app_run(o, config);
}

int main(int argc, char **argv)
{
	struct options options;
	struct config *config = NULL;
	struct error e = { 0 };
	int closed = system_fill_descriptors();

	if (closed < 0)
		return EXIT_FAILED;

	if (options_parse(argc, argv, &options, &e) != ST_OK) {
		app_complain(&e);
		return EXIT_USAGE;
	}
	if (options.action == OPTIONS_HELP || options.action == OPTIONS_VERSION) {
		fputs(options.action == OPTIONS_HELP ? options_help() : "rcpd " RCPD_VERSION "\n",
			stdout);
		return fflush(stdout) == 0 ? EXIT_DONE : EXIT_FAILED;
	}
	if (config_load(options.config, options.overrides, options.override_count, &config, &e) !=
			ST_OK ||
		corpus_check(config, &e) != ST_OK) {
		config_free(config);
		app_complain(&e);
		return EXIT_USAGE;
	}
	if (options.action == OPTIONS_CHECK)
		return check_done(&options, config);
	if (options.action == OPTIONS_PRINT)
		return print_done(config);
	return serve(&options, config, closed);
}
