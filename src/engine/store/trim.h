/* engine/store/trim.h: keeps the write-ahead log short while readers overlap. */
#ifndef RCPD_ENGINE_STORE_TRIM_H
#define RCPD_ENGINE_STORE_TRIM_H

#include "engine/store/private.h"

/* The log may grow to this and one commit more, as long as no reader lasts longer than
 * writers can be made to wait. db.c has the same number as journal_size_limit. */
#define TRIM_LOG_BYTES (32ULL * 1024 * 1024)

/*
 * After a commit, by the thread that has the writing connection: empties the log if
 * it is too long. Readers are never held back; this thread, and writers behind it, for
 * less than a second. Failure is none of the commit's: a later one tries again.
 */
void trim_log(struct store *s, const struct engine_stop *stop);
/* Around a reader's snapshot, so that trim_log knows which are open. */
void trim_reader_begins(struct store_reader *r);
void trim_reader_ends(struct store_reader *r);

#endif
