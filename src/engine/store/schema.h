/* engine/store/schema.h: the file's tables and their versions. */
#ifndef RCPD_ENGINE_STORE_SCHEMA_H
#define RCPD_ENGINE_STORE_SCHEMA_H

#include "engine/store/db.h"

/* Looks at the file without changing it. ST_OK also where there is none yet;
 * ST_FUTURE, ST_CORRUPT (not ours, not a database), ST_IO. */
enum status schema_check(const char *path, struct error *e);
/* Brings db to the newest version, and to write-ahead logging. */
enum status schema_migrate(struct db *db, struct error *e);

#endif
