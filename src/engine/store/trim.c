/*
 * trim.c: SQLite starts its log over when all of it is in the database file and no
 * reader reads from it. Where readers overlap that moment need never come, and the log
 * grows without end. So the writer makes it come, by holding back writes for a while
 * rather than readers:
 *
 *   last commit ─▶ wait for the readers begun before ─▶ checkpoint, now of everything
 *     ─▶ wait for the readers begun before that ─▶ cut the log to nothing
 *
 * The first ones hold the checkpoint back, because they must not see what is newer.
 * Those of the second wait read the log. Whoever comes after the checkpoint finds
 * everything in the file, reads that alone and is in nobody's way.
 *
 * A reader that outlasts the wait makes us give up until the log has grown by as much
 * again, so that one slow reader costs writers the wait once in many commits.
 */
#include "engine/store/trim.h"

#include "util/clock.h"

#define WAIT_MS 800 /* for readers, in all; leaves room for the checkpoint in a second */
#define PAUSE_MS 2  /* between looks at the readers */

/*
 * since holds the epoch a snapshot began in. A reader that has read the epoch but not yet
 * stored it is overlooked; its snapshot begins after the look, so it is a new one.
 */
void trim_reader_begins(struct store_reader *r)
{
	atomic_store(&r->since, atomic_load(&r->store->epoch));
}

void trim_reader_ends(struct store_reader *r)
{
	atomic_store(&r->since, 0);
}

static bool any_reader_until(struct store *s, uint64_t epoch)
{
	for (size_t i = 0; i < s->reader_count; i++) {
		uint64_t since = atomic_load(&s->readers[i].since);

		if (since && since <= epoch)
			return true;
	}
	return false;
}

/* Waits until all readers that are open now are closed. */
static bool outwait_readers(struct store *s, const struct engine_stop *stop, uint64_t until)
{
	uint64_t epoch = atomic_fetch_add(&s->epoch, 1);

	while (any_reader_until(s, epoch)) {
		if (clock_mono_ms() >= until || store_stopped(stop))
			return false;
		clock_sleep_ms(PAUSE_MS);
	}
	return true;
}

/* One fstat; 0 if the size cannot be told. */
static uint64_t log_size(struct db *db)
{
	sqlite3_file *log = NULL;
	sqlite3_int64 size = 0;

	if (sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) || !log ||
		!log->pMethods || log->pMethods->xFileSize(log, &size) || size < 0)
		return 0;
	return (uint64_t)size;
}

static bool checkpoint(struct db *db, int mode)
{
	int in_log = 0, in_file = 0;
	int rc = sqlite3_wal_checkpoint_v2(db->handle, "main", mode, &in_log, &in_file);

	return rc == SQLITE_OK && in_log == in_file;
}

static bool empty_log(struct store *s, const struct engine_stop *stop)
{
	uint64_t until = clock_mono_ms() + WAIT_MS;
	struct db *db = &s->writer.db;

	return outwait_readers(s, stop, until) && checkpoint(db, SQLITE_CHECKPOINT_PASSIVE) &&
		outwait_readers(s, stop, until) && checkpoint(db, SQLITE_CHECKPOINT_TRUNCATE);
}

void trim_log(struct store *s, const struct engine_stop *stop)
{
	struct db *db = &s->writer.db;
	uint64_t size = log_size(db);
	bool done;

	if (size <= TRIM_LOG_BYTES)
		s->trim_at = TRIM_LOG_BYTES;
	if (size <= s->trim_at)
		return;
	/* Only a tool at the file can be in the way now, and it may stay for long. */
	sqlite3_busy_timeout(db->handle, 0);
	done = empty_log(s, stop);
	sqlite3_busy_timeout(db->handle, DB_BUSY_TIMEOUT_MS);
	s->trim_at = done ? TRIM_LOG_BYTES : size + TRIM_LOG_BYTES;
}
