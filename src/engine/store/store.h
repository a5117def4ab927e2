/*
 * engine/store/store.h: the rows behind the engine. It speaks of documents,
 * chunks, commits and snapshots, not of SQLite, so that another store of record
 * can stand here.
 *
 * Threads: as engine.h. A write is open in one thread at a time, the others wait
 * in store_write_begin; views read beside it.
 */
#ifndef RCPD_ENGINE_STORE_STORE_H
#define RCPD_ENGINE_STORE_STORE_H

#include "engine/engine.h"

struct store;
struct store_write;
struct store_view;

/* As engine_open and engine_close. */
enum status store_open(const char *dir, unsigned readers, struct store **ret, struct error *e);
void store_close(struct store *s);
const char *store_corpus_id(const struct store *s); /* 16 hex digits; lives as long as s */

/* ---- writing: begin, any number of changes, then commit or abort ---- */

/* Where a chunk lies in its document's text; its number is its place in the array. */
struct store_chunk {
	uint64_t byte_start, byte_end;
	uint64_t cp_start, cp_end;
};

/* Waits for the writer before it; asks stop meanwhile and during the write. */
enum status store_write_begin(struct store *s, const struct engine_stop *stop,
	struct store_write **ret, struct error *e);
/* Looks once->key up. Found: *ret_found, and *ret is what its first call returned
 * (result in the arena). Another hash under the same key: ST_CONFLICT. */
enum status store_write_find_once(struct store_write *w, const struct engine_once *once,
	struct arena *arena, bool *ret_found, struct engine_commit *ret, struct error *e);
/* Adds a document, or replaces the one that has its id. */
enum status store_write_put(struct store_write *w, const struct engine_document *doc,
	const struct store_chunk *chunks, size_t n, struct error *e);
/* Deletes a document with its chunks; an absent one is nothing. */
enum status store_write_remove(struct store_write *w, struct bytes id, struct error *e);
/* Commits (only if something changed, or once has a key to keep) and ends w,
 * whatever comes of it: on failure nothing of the write remains. */
enum status store_write_commit(struct store_write *w, const struct engine_once *once,
	struct engine_commit *ret, struct error *e);
void store_write_abort(struct store_write *w);

/* ---- reading: a view is one snapshot ---- */

enum status store_view_open(struct store *s, const struct engine_stop *stop,
	struct store_view **ret, struct error *e);
void store_view_close(struct store_view *v);
uint64_t store_view_version(const struct store_view *v);
const struct engine_stop *store_view_stop(const struct store_view *v);
/* These four are as their namesakes in engine.h. */
enum status store_view_stats(struct store_view *v, struct engine_stats *ret, struct error *e);
enum status store_view_fetch(struct store_view *v, int64_t key, unsigned want, struct arena *arena,
	struct engine_record *ret, struct error *e);
enum status store_view_get(struct store_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e);
/* match is an expression in the store's full-text language, made by recall.c. */
enum status store_view_search(struct store_view *v, struct bytes match, size_t k,
	struct arena *arena, struct engine_candidate **ret, size_t *ret_n, struct error *e);

#endif
