/* store_rows.h: a store in a folder of its own, for tests of engine/store. */
#ifndef RCPD_TESTS_ENGINE_STORE_ROWS_H
#define RCPD_TESTS_ENGINE_STORE_ROWS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "engine/store/private.h"

struct rows {
	char dir[256];
	struct store *store;
	struct store_write *write; /* the open one */
	struct arena arena;        /* results live here until the end */
	struct error error;        /* of the last call */
};

#define BYTES(literal) ((struct bytes){ literal, sizeof(literal) - 1 })

/* Fails the test with the error's text unless the call gave ST_OK. */
#define OK(rows, call) rows_expect_ok(rows, call, #call)
void rows_expect_ok(const struct rows *r, enum status st, const char *what);

/* Makes a folder and opens a store in it; cmocka set-up and tear-down. The tear-down
 * closes, checks the rows and removes the folder. */
int rows_setup(void **state);
int rows_teardown(void **state);
void rows_make_dir(struct rows *r);
void rows_remove_dir(struct rows *r);
void rows_open(struct rows *r);
void rows_close(struct rows *r);
void rows_reopen(struct rows *r);
void rows_path(const struct rows *r, const char *file, char *buf, size_t size);

/* A document whose whole text is one chunk, analysed in English. */
struct store_document rows_document(const char *id, const char *text);
/* In the open write, or in one of its own if none is. */
struct store_keys rows_put(struct rows *r, const char *id, const char *text);
struct store_keys rows_put_document(struct rows *r, const struct store_document *doc);
struct store_keys rows_bury(struct rows *r, const char *id);
void rows_begin(struct rows *r);
struct store_totals rows_commit(struct rows *r);
/* A document's text after a commit; BYTES_NONE if it was not there. */
struct bytes rows_text(struct rows *r, const char *id, uint64_t version);
struct store_totals rows_totals(struct rows *r);

/* Runs SQL on a connection of its own and returns the first number that it gives, or -1. */
long long rows_ask(const struct rows *r, const char *sql);
/* Checks a closed corpus: rows against each other, totals against counts. */
void rows_check(const struct rows *r);

/* A stop function that says yes from the n-th time it is asked. */
struct countdown {
	long left;
};
bool countdown_stop(void *arg);

#endif
