/*
 * rpc/writer.h: writes JSON text straight into a buffer.
 *
 * Why not Jansson trees for output: json_real(NAN) and json_string(invalid UTF-8)
 * return NULL and the member silently vanishes, and building a tree to dump it
 * costs twice. Here a non-finite number or unbalanced nesting fails the writer,
 * and invalid UTF-8 becomes U+FFFD, so what leaves is always valid JSON. Doubles
 * are written with the fewest digits that read back the same. A failed writer
 * stays failed; check json_writer_ok at the end.
 */
#ifndef RCPD_RPC_WRITER_H
#define RCPD_RPC_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/strbuf.h"

#define JSON_WRITER_MAX_DEPTH 128

struct json_writer {
	struct strbuf *out; /* borrowed */
	unsigned depth;
	bool need_comma;
	bool bad; /* non-finite number or unbalanced nesting: a bug of the caller */
	char closers[JSON_WRITER_MAX_DEPTH];
};

void json_writer_init(struct json_writer *w, struct strbuf *out);
bool json_writer_ok(const struct json_writer *w); /* all closed, nothing lost */

void jw_object(struct json_writer *w);
void jw_array(struct json_writer *w);
void jw_end(struct json_writer *w);
void jw_key(struct json_writer *w, const char *key);
void jw_key_bytes(struct json_writer *w, struct bytes key);
void jw_string(struct json_writer *w, const char *s); /* NULL writes null */
void jw_bytes(struct json_writer *w, struct bytes b);
void jw_int(struct json_writer *w, int64_t v);
void jw_real(struct json_writer *w, double v);
void jw_bool(struct json_writer *w, bool v);
void jw_null(struct json_writer *w);
void jw_raw(struct json_writer *w, const char *json, size_t len); /* trusted JSON text */
void jw_json(struct json_writer *w, const json_t *v);             /* any value; depth bounded */

/* key and value in one call; the _opt forms write nothing for absent values. */
void jw_kv_string(struct json_writer *w, const char *key, const char *s);
void jw_kv_bytes(struct json_writer *w, const char *key, struct bytes b);
void jw_kv_bytes_opt(struct json_writer *w, const char *key, struct bytes b);
void jw_kv_int(struct json_writer *w, const char *key, int64_t v);
void jw_kv_real(struct json_writer *w, const char *key, double v);
void jw_kv_bool(struct json_writer *w, const char *key, bool v);

/* Appends s as a quoted JSON string to a plain buffer. */
void json_quote(struct strbuf *out, const char *s, size_t len);

#endif
