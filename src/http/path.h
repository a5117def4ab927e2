/* http/path.h: request targets, checked and decoded once (HTTP-06, D11). */
#ifndef RCPD_HTTP_PATH_H
#define RCPD_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Checks a raw request target and turns it into its decoded path, in place: the
 * query is cut off, %XX is decoded once. Returns NULL when it is fine, else why
 * it is refused (a constant text): not an absolute path, a control character or
 * NUL (also percent-encoded), a broken escape, a byte above 0x7E, text that is
 * not UTF-8 once decoded. The target is then half-decoded and of no use.
 */
const char *path_decode(char *target);

/*
 * Whether path is the base, or lies under it. *ret_method is then what follows
 * the base and its slash, with one trailing slash dropped, cut in place; NULL if
 * the path names no method (the base itself, with or without a slash). base_len
 * 0 (base "/") takes every path.
 */
bool path_split(char *path, const char *base, size_t base_len, const char **ret_method);

#endif
