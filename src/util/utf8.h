/* utf8.h: UTF-8 as RFC 3629 defines it: no overlongs, no surrogates, at most
 * U+10FFFF. NUL bytes are ordinary characters. */
#ifndef RCPD_UTIL_UTF8_H
#define RCPD_UTIL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Length of the longest valid start of p[0..n); equals n if all is valid. */
size_t utf8_valid_prefix(const char *p, size_t n);
static inline bool utf8_valid(const char *p, size_t n)
{
	return utf8_valid_prefix(p, n) == n;
}
/* Code points in valid UTF-8. */
size_t utf8_count(const char *p, size_t n);
/* Decodes one code point of valid or invalid text; *ret_len >= 1 bytes were used
 * (n >= 1). An invalid byte gives 0xFFFD and length 1. */
uint32_t utf8_decode(const char *p, size_t n, size_t *ret_len);
/* Writes cp (a scalar value) to buf[4]; returns the length. */
size_t utf8_encode(uint32_t cp, char buf[4]);
/* The largest m <= n that does not cut a character of valid text. */
size_t utf8_floor(const char *p, size_t len, size_t n);

#endif
