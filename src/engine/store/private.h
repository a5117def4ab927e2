/* engine/store/private.h: what the files of the SQLite store share. */
#ifndef RCPD_ENGINE_STORE_PRIVATE_H
#define RCPD_ENGINE_STORE_PRIVATE_H

#include <stdatomic.h>

#include "engine/store/db.h"
#include "engine/store/gate.h"
#include "engine/store/lock.h"
#include "engine/store/store.h"

#define STORE_ONCE_MS (24LL * 60 * 60 * 1000) /* how long an idempotency key is kept */
#define STORE_ONCE_PRUNE 64                   /* expired keys dropped by one write, at most */
#define STORE_SECRET_BYTES 32

/* What a transaction keeps in memory and writes when it commits. Undoing a savepoint
 * takes back the copy that was made with it. */
struct store_carried {
	struct store_totals totals; /* the version is still that of the last commit */
	int64_t next_document, next_chunk;
	bool changed; /* a put or a bury */
};

/* There is one, in the store; the write gate says who has it. */
struct store_write {
	struct store *store;
	struct db db;
	struct engine_stop stop;
	struct store_carried before, saved, now; /* at begin, at the savepoint */
	enum status lost; /* why the transaction cannot be committed any more */
};

struct store_reader {
	struct store *store;
	struct db db;
	uint64_t version; /* of the snapshot, if known */
	bool known;
	atomic_ullong since; /* the store's epoch when the snapshot began; 0: closed */
};

struct store {
	char corpus_id[17];
	unsigned char secret[STORE_SECRET_BYTES];
	struct folder_lock lock;
	struct store_write writer;
	struct store_reader *readers; /* one a reading connection */
	size_t reader_count;
	struct gate write_gate, read_gate;
	atomic_ullong epoch; /* from 1; trim.c counts it up */
	uint64_t trim_at;    /* size of the log; whoever has the writer may touch it */
};

/* Totals and next keys as this connection sees them now; two statements, so within a
 * transaction. */
enum status store_load_totals(struct db *db, struct store_carried *ret, struct error *e);
/* Writes what differs from before. */
enum status store_save_totals(struct db *db, const struct store_carried *before,
	const struct store_carried *now, struct error *e);

/* Before each change: the transaction must still be there, and nobody say stop. */
enum status store_write_check(struct store_write *w, struct error *e);
/* After each: SQLite may have undone the whole transaction with the statement that
 * failed; then this notes it. Returns st. */
enum status store_write_done(struct store_write *w, enum status st);
/* Fails as a disk does if a test wants that. */
enum status store_write_fault(struct store_write *w, const char *point, struct error *e);
/* Runs a statement whose one parameter is a number. */
enum status store_run_on(struct db *db, enum statement what, int64_t v, struct error *e);

/* Gives up the reader's snapshot, if it has one: its next statement sees the newest. */
enum status store_reader_begin(struct store_reader *r, struct error *e);

/* Where the vectors of a space begin: space times 2^43; chunk keys stay below that. */
#define STORE_SPACE_SHIFT 43
static inline int64_t store_place(uint64_t space, int64_t chunk)
{
	return (int64_t)(space << STORE_SPACE_SHIFT) + chunk;
}
/* Removes the vectors of chunks that are swept, in all spaces (spaces.c). */
enum status store_drop_vectors(struct db *db, int64_t first_chunk, uint64_t chunks,
	struct error *e);
/* Goes through the documents that a statement gives (walk.c); ends the call. */
enum status store_walk(struct db *db, struct db_call *call, uint64_t *ret_count, store_row_fn *fn,
	void *arg, struct error *e);

static inline bool store_stopped(const struct engine_stop *stop)
{
	return stop->fn && stop->fn(stop->arg);
}

#endif
