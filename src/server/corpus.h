/* server/corpus.h: from the configuration to the engine's options. */
#ifndef RCPD_SERVER_CORPUS_H
#define RCPD_SERVER_CORPUS_H

#include "config/config.h"
#include "engine/engine.h"
#include "server/models.h"

/*
 * What config/ cannot check, since it knows no languages and no engine. ST_INVALID with
 * what would be right.
 */
enum status corpus_check(const struct config *c, struct error *e);
/* Opens the corpus that c describes, and makes its folder. models outlive it. */
enum status corpus_open(const struct config *c, const struct app_models *models,
	struct engine **ret, struct error *e);

#endif
