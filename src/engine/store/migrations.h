/* engine/store/migrations.h: the way from one version of the tables to the next. */
#ifndef RCPD_ENGINE_STORE_MIGRATIONS_H
#define RCPD_ENGINE_STORE_MIGRATIONS_H

#include "engine/store/db.h"

#define MIGRATIONS_VERSION 3 /* the newest; a file's is 1 and up, an empty one's 0 */

/* Brings the tables from a version below the newest to the one after it, within the
 * caller's transaction. */
enum status migrations_run(struct db *db, int64_t from, struct error *e);

#endif
