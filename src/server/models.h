/*
 * server/models.h: the models that the configuration names, opened at the start and
 * closed after the engine.
 */
#ifndef RCPD_SERVER_MODELS_H
#define RCPD_SERVER_MODELS_H

#include "config/config.h"
#include "pipeline/models.h"

struct app_models;

/*
 * Opens the table (about 10 ms for the one built in), reads the files with keys, and
 * makes ready for HTTP if a model wants it; nothing is called yet. ST_INVALID,
 * ST_NOT_FOUND, ST_TOO_LARGE, ST_IO: a mistake in the configuration, with the key and
 * what is wrong; ST_NOMEM.
 */
enum status app_models_open(const struct config *c, struct app_models **ret, struct error *e);
/* The exit code for what app_models_open said: a mistake does not mend itself. */
int app_models_exit(const struct error *e);
void app_models_close(struct app_models *m); /* NULL is fine */
/* For methods and jobs; lives as long as m. */
const struct models *app_models_get(const struct app_models *m);
/* For the engine, which copies it; what it names lives as long as m. NULL: no vectors. */
const struct engine_encoder *app_models_encoder(const struct app_models *m);

#endif
