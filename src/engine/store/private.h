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

/* The row of the table corpus. */
struct store_totals {
	uint64_t version, documents, chunks, text_bytes;
};

/* There is one, in the store; the write gate says who has it. */
struct store_write {
	struct store *store;
	struct db db;
	struct engine_stop stop;
	struct store_totals totals; /* as they will be */
	uint64_t documents, chunks; /* touched, written */
	bool changed;
};

struct store_view {
	struct store *store;
	struct db db;
	struct engine_stop stop;
	uint64_t version;
	atomic_ullong since; /* the store's epoch when it was opened; 0: closed */
};

struct store {
	char corpus_id[17];
	struct folder_lock lock;
	struct store_write writer;
	struct store_view *views; /* one a reading connection */
	size_t view_count;
	struct gate write_gate, view_gate;
	atomic_ullong epoch; /* from 1; trim.c counts it up */
	uint64_t trim_at;    /* size of the log; whoever has the writer may touch it */
};

/* The row as this connection sees it now. */
enum status store_read_totals(struct db *db, struct store_totals *ret, struct error *e);

static inline bool store_stopped(const struct engine_stop *stop)
{
	return stop->fn && stop->fn(stop->arg);
}

#endif
