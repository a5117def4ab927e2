/* corpus.h: a corpus in a folder of its own, for tests of the engine. */
#ifndef RCPD_TESTS_ENGINE_CORPUS_H
#define RCPD_TESTS_ENGINE_CORPUS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/engine.h"

struct corpus {
	char dir[256];
	struct engine_options opt; /* of the next opening; corpus_make_dir has defaults */
	struct engine *engine;
	struct arena arena; /* results live here until corpus_clear */
	struct error error; /* of the last call */
};

#define BYTES(literal) ((struct bytes){ literal, sizeof(literal) - 1 })

/* Makes a folder and opens a corpus in it; cmocka set-up and tear-down. */
int corpus_setup(void **state);
int corpus_teardown(void **state);
void corpus_make_dir(struct corpus *c);
void corpus_remove_dir(struct corpus *c);
void corpus_open(struct corpus *c);
void corpus_close(struct corpus *c);
void corpus_reopen(struct corpus *c);
void corpus_clear(struct corpus *c); /* forgets results */
/* Commits do not wait for the disk until the next opening: for tests of many commits
 * in which the system stays up. */
void corpus_unsynced(struct corpus *c);
void corpus_path(const struct corpus *c, const char *file, char *buf, size_t size);
/* Removes the index of the closed corpus, or one of its files: the n-th from 0, by
 * name. False if there are not so many. */
void corpus_drop_index(const struct corpus *c);
void corpus_drop_vectors(const struct corpus *c); /* likewise */
bool corpus_index_file(const struct corpus *c, size_t n, char *buf, size_t size);

struct engine_document document(const char *id, const char *text);
/* Adds one document; fails the test if that fails. */
struct engine_commit corpus_add(struct corpus *c, const char *id, const char *text);
/* Adds n documents; fails the test if that fails. */
struct engine_commit corpus_add_all(struct corpus *c, const struct engine_document *docs, size_t n);
struct engine_commit corpus_delete(struct corpus *c, const char *id);
/* Runs a query; the ids found, best first, joined by spaces. Results are in the arena. */
const char *corpus_search(struct corpus *c, const char *query, size_t k);
/* The same with the candidates themselves. */
size_t corpus_recall(struct corpus *c, const char *query, size_t k, struct engine_candidate **ret);
/* A document's text by id; BYTES_NONE if it is not there. */
struct bytes corpus_text(struct corpus *c, const char *id);
struct engine_stats corpus_stats(struct corpus *c);
struct engine_view *corpus_view(struct corpus *c);
/* A query's words in a view; fails the test if that fails. */
struct engine_query corpus_analyze(struct corpus *c, struct engine_view *v, const char *query);
/* corpus_check.c: opens a second connection to the closed corpus and checks rows and
 * totals against each other, and its index against one made anew from the rows. */
void corpus_check(const struct corpus *c);

/* A stop function that says yes from the n-th time it is asked. */
struct countdown {
	long left;
};
bool countdown_stop(void *arg);

#endif
