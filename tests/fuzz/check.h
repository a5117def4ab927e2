/*
 * tests/fuzz/check.h: what must hold for every answer of RCP/1, whatever was asked.
 * Messages are read a second time with Jansson alone, so that the targets do not
 * believe the server's own parser.
 */
#ifndef RCPD_TESTS_FUZZ_CHECK_H
#define RCPD_TESTS_FUZZ_CHECK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * New reference; NULL where Jansson, with the server's rules (D41), refuses it.
 * *lossy (may be NULL): given true, integers are read as reals; set to true when
 * only that made the text readable (numbers beyond 64 bits).
 */
json_t *check_parse(const char *text, size_t len, bool *lossy);
/* Aborts unless v is one JSON-RPC response (M4, C2); returns its error code, or 0. */
int check_response(const json_t *v);
/* Aborts unless v is a notification that a server may send (M5, S5). */
void check_notification(const json_t *v);
enum check_due { CHECK_DUE_NO, CHECK_DUE_YES, CHECK_DUE_EITHER };
/* Whether a message, or a member of a batch, must be answered (M5, M14, D6, D18). */
enum check_due check_due(const json_t *message, bool compact);
/*
 * Aborts unless answer (NULL: none) suits message: answered or not as M5, M14, D6
 * and D18 say, and with the id that was sent (M3). compact: over HTTP (D18).
 */
void check_answer(const json_t *message, const json_t *answer, bool compact);

#endif
