/* utf8.c: decoding by the table of RFC 3629, section 4 ("well-formed" sequences). */
#include "util/utf8.h"

/* Length of the well-formed sequence at p, 0 if it is none. n >= 1. */
static size_t sequence(const unsigned char *p, size_t n)
{
	unsigned lo = 0x80, hi = 0xBF;
	size_t len;

	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		len = 2;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		len = 3;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		len = 4;
	else
		return 0;
	/* The second byte's range excludes overlongs, surrogates and > U+10FFFF. */
	if (p[0] == 0xE0)
		lo = 0xA0;
	else if (p[0] == 0xED)
		hi = 0x9F;
	else if (p[0] == 0xF0)
		lo = 0x90;
	else if (p[0] == 0xF4)
		hi = 0x8F;
	if (n < len || p[1] < lo || p[1] > hi)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((p[i] & 0xC0) != 0x80)
			return 0;
	return len;
}

size_t utf8_valid_prefix(const char *p, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t at = 0;

	while (at < n) {
		size_t len;

		if (u[at] < 0x80) {
			at++;
			continue;
		}
		len = sequence(u + at, n - at);
		if (!len)
			break;
		at += len;
	}
	return at;
}

size_t utf8_count(const char *p, size_t n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += ((unsigned char)p[i] & 0xC0) != 0x80;
	return count;
}

uint32_t utf8_decode(const char *p, size_t n, size_t *ret_len)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t len = sequence(u, n);

	*ret_len = len ? len : 1;
	switch (len) {
	case 1:
		return u[0];
	case 2:
		return (u[0] & 0x1FU) << 6 | (u[1] & 0x3FU);
	case 3:
		return (u[0] & 0x0FU) << 12 | (u[1] & 0x3FU) << 6 | (u[2] & 0x3FU);
	case 4:
		return (u[0] & 0x07U) << 18 | (u[1] & 0x3FU) << 12 | (u[2] & 0x3FU) << 6 |
			(u[3] & 0x3FU);
	default:
		return 0xFFFD;
	}
}

size_t utf8_encode(uint32_t cp, char buf[4])
{
	if (cp < 0x80) {
		buf[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		buf[0] = (char)(0xC0 | cp >> 6);
		buf[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		buf[0] = (char)(0xE0 | cp >> 12);
		buf[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		buf[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	buf[0] = (char)(0xF0 | cp >> 18);
	buf[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	buf[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	buf[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

size_t utf8_floor(const char *p, size_t len, size_t n)
{
	const unsigned char *u = (const unsigned char *)p;
	size_t start = n;

	if (n > len)
		return len;
	/* Back to the lead byte of the character that ends at or is cut by n. */
	while (start > 0 && n - start < 4) {
		size_t need;

		start--;
		if ((u[start] & 0xC0) == 0x80)
			continue;
		need = u[start] < 0x80 ? 1 : u[start] >= 0xF0 ? 4 : u[start] >= 0xE0 ? 3 : 2;
		return start + need <= n ? n : start;
	}
	return n;
}
