/*
 * methods/cursor.h: where a list of hits goes on, as opaque text for the client (R10).
 *
 *   1 byte   format
 *   8 bytes  commit of the view that the pages are of, big-endian as all numbers
 *   8 bytes  hits on the pages before
 *   16 bytes digest of the request's parameters
 *   18 bytes HMAC-SHA256 over all of this, cut
 *
 * 51 bytes are 68 characters of base64url without padding and without spare bits: one
 * spelling a cursor, and every changed character changes a byte. Nothing in it tells
 * the time, so that the same question gives the same answer, cursor included (T5).
 */
#ifndef RCPD_METHODS_CURSOR_H
#define RCPD_METHODS_CURSOR_H

#include <stdint.h>

#include "rpc/params.h"
#include "util/bytes.h"
#include "util/status.h"

#define CURSOR_DIGEST_LEN 16
#define CURSOR_SECRET_LEN 32
#define CURSOR_LEN 68 /* characters of its text */

struct cursor {
	uint64_t commit, offset;
	unsigned char digest[CURSOR_DIGEST_LEN];
};

/* Writes its text and a NUL. ST_INTERNAL if there is no HMAC. */
enum status cursor_write(const struct cursor *c, const unsigned char secret[CURSOR_SECRET_LEN],
	char out[CURSOR_LEN + 1]) RCPD_MUST_CHECK;
/* ST_INVALID for text that cursor_write did not make with this secret. */
enum status cursor_read(struct bytes text, const unsigned char secret[CURSOR_SECRET_LEN],
	struct cursor *ret) RCPD_MUST_CHECK;
/*
 * Digest of the parameters that decide about hits: all that the table knows, but for
 * the row named `but`. Absent and null, 5 and 5.0 and the order of members do not
 * matter; fields that the table does not know neither. ST_NOMEM, ST_INTERNAL.
 */
enum status cursor_digest(const struct rpc_param *table, size_t count, const void *params,
	const char *but, unsigned char out[CURSOR_DIGEST_LEN]) RCPD_MUST_CHECK;

#endif
