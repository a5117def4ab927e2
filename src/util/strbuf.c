/* strbuf.c: see strbuf.h for the contract. Growth doubles, so n appends cost O(n). */
#include "util/strbuf.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

void strbuf_init(struct strbuf *sb)
{
	*sb = (struct strbuf)STRBUF_INIT;
}

void strbuf_release(struct strbuf *sb)
{
	mem_free(sb->data);
	strbuf_init(sb);
}

void strbuf_reset(struct strbuf *sb)
{
	sb->len = 0;
	sb->failed = false;
	if (sb->data)
		sb->data[0] = '\0';
}

bool strbuf_ok(const struct strbuf *sb)
{
	return !sb->failed;
}

bool strbuf_grow(struct strbuf *sb, size_t extra)
{
	size_t need;
	size_t cap = sb->cap ? sb->cap : 64;
	char *data;

	if (sb->failed)
		return false;
	if (__builtin_add_overflow(sb->len, extra, &need) || need == SIZE_MAX ||
		(sb->max && need > sb->max)) {
		sb->failed = true;
		return false;
	}
	need++; /* the NUL */
	if (need <= sb->cap)
		return true;
	while (cap < need)
		cap = cap > SIZE_MAX / 2 ? need : cap * 2;
	data = mem_resize(sb->data, cap);
	if (!data) {
		sb->failed = true;
		return false;
	}
	sb->data = data;
	sb->cap = cap;
	return true;
}

void strbuf_add(struct strbuf *sb, const void *p, size_t n)
{
	if (!strbuf_grow(sb, n))
		return;
	if (n)
		memcpy(sb->data + sb->len, p, n);
	sb->len += n;
	sb->data[sb->len] = '\0';
}

void strbuf_adds(struct strbuf *sb, const char *s)
{
	strbuf_add(sb, s, strlen(s));
}

void strbuf_addc(struct strbuf *sb, char c)
{
	strbuf_add(sb, &c, 1);
}

void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	if (n < 0)
		sb->failed = true;
	else if (strbuf_grow(sb, (size_t)n)) {
		vsnprintf(sb->data + sb->len, (size_t)n + 1, fmt, again);
		sb->len += (size_t)n;
	}
	va_end(again);
}

void strbuf_addf(struct strbuf *sb, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	strbuf_vaddf(sb, fmt, ap);
	va_end(ap);
}

void strbuf_addu(struct strbuf *sb, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	strbuf_add(sb, digits + at, sizeof(digits) - at);
}

char *strbuf_detach(struct strbuf *sb, size_t *ret_len)
{
	char *data = NULL;

	if (!sb->failed) {
		data = sb->data;
		if (ret_len)
			*ret_len = sb->len;
		sb->data = NULL;
	}
	strbuf_release(sb);
	return data;
}
