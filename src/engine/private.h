/* engine/private.h: what the files of the engine share. */
#ifndef RCPD_ENGINE_PRIVATE_H
#define RCPD_ENGINE_PRIVATE_H

#include "engine/engine.h"
#include "engine/store/store.h"

struct engine {
	struct store *store;
};

struct engine_view {
	struct store_view *rows;
};

#endif
