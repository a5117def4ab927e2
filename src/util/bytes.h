/* bytes.h: a borrowed run of bytes; may hold NULs, need not end with one. */
#ifndef RCPD_UTIL_BYTES_H
#define RCPD_UTIL_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct bytes {
	const char *data; /* NULL means absent, which differs from empty */
	size_t len;
};

#define BYTES_NONE ((struct bytes){ NULL, 0 })

static inline struct bytes bytes_of(const char *s)
{
	return (struct bytes){ s, s ? strlen(s) : 0 };
}

static inline bool bytes_eq(struct bytes a, struct bytes b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Order by bytes, shorter first where one is the other's start: the order of
 * document ids in ties. */
static inline int bytes_cmp(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len;
	int c = n ? memcmp(a.data, b.data, n) : 0;
	return c ? c : (a.len > b.len) - (a.len < b.len);
}

#endif
