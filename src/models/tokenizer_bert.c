/*
 * tokenizer_bert.c: the normaliser of BERT (Devlin et al. 2019): control characters out,
 * white space to blanks, blanks around Chinese characters, accents off, lower case. The
 * reference makes a pass for each; here one pass does all, as each works on single
 * characters, but for the order of combining characters that stay.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

static bool chinese(uint32_t cp)
{
	return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3400 && cp <= 0x4DBF) ||
		(cp >= 0x20000 && cp <= 0x2A6DF) || (cp >= 0x2A700 && cp <= 0x2B81F) ||
		(cp >= 0x2B920 && cp <= 0x2CEAF) || (cp >= 0xF900 && cp <= 0xFAFF) ||
		(cp >= 0x2F800 && cp <= 0x2FA1F);
}

/* Characters with a combining class that are no nonspacing marks: only these can still
 * be out of order when the marks are gone. As class, place and character in one number. */
struct held {
	struct strbuf keys;
	size_t n;
};

static void put(struct strbuf *out, uint32_t cp)
{
	char buf[4];

	strbuf_add(out, buf, utf8_encode(cp, buf));
}

static void put_lower(const struct normal_step *s, struct strbuf *out, uint32_t cp)
{
	uint32_t lower[2];
	size_t n;

	if (!s->lowercase) {
		put(out, cp);
		return;
	}
	n = unicode_lower(cp, lower);
	for (size_t i = 0; i < n; i++)
		put(out, lower[i]);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void release(const struct normal_step *s, struct strbuf *out, struct held *h)
{
	uint64_t key;

	if (h->n == 0)
		return;
	if (strbuf_ok(&h->keys))
		qsort(h->keys.data, h->n, sizeof key, by_number);
	for (size_t i = 0; i < h->n && strbuf_ok(&h->keys); i++) {
		memcpy(&key, h->keys.data + i * sizeof key, sizeof key);
		put_lower(s, out, (uint32_t)(key & 0x1FFFFF));
	}
	out->failed = out->failed || !strbuf_ok(&h->keys);
	strbuf_reset(&h->keys);
	h->n = 0;
}

static void hold(struct held *h, uint32_t cp, uint8_t class)
{
	uint64_t key = (uint64_t) class << 56 | (uint64_t)h->n++ << 21 | cp;

	strbuf_add(&h->keys, &key, sizeof key);
}

static void take(const struct normal_step *s, struct strbuf *out, struct held *h, uint32_t cp)
{
	uint32_t parts[UNICODE_DECOMPOSED];
	size_t n;

	if (!s->accents) {
		put_lower(s, out, cp);
		return;
	}
	n = unicode_decompose(cp, false, parts);
	for (size_t i = 0; i < n; i++) {
		uint8_t class;

		if (unicode_nonspacing(parts[i])) {
			/* A starter all the same ends the run before it. */
			if (h->n && unicode_combining_class(parts[i]) == 0)
				release(s, out, h);
			continue;
		}
		class = unicode_combining_class(parts[i]);
		if (class) {
			hold(h, parts[i], class);
			continue;
		}
		release(s, out, h);
		put_lower(s, out, parts[i]);
	}
}

static void wide(const struct normal_step *s, struct strbuf *out, struct held *h, uint32_t cp)
{
	if (s->clean) {
		if (cp == 0xFFFD || (!chinese(cp) && unicode_control(cp)))
			return;
		if (unicode_space(cp))
			cp = ' ';
	}
	if (s->chinese && chinese(cp)) {
		release(s, out, h);
		put(out, ' ');
		take(s, out, h, cp);
		release(s, out, h);
		put(out, ' ');
	} else {
		take(s, out, h, cp);
	}
}

/* ASCII to itself, lower case, a blank, or NUL for nothing. */
static void narrow(const struct normal_step *s, char map[128])
{
	for (unsigned c = 0; c < 128; c++) {
		map[c] = (char)c;
		if (s->clean && (c < 32 || c == 127))
			map[c] = c >= 9 && c <= 13 && c != 11 && c != 12 ? ' ' : '\0';
		else if (s->lowercase && c >= 'A' && c <= 'Z')
			map[c] = (char)(c + 32);
	}
}

bool normal_bert(const struct normal_step *s, struct rewrite *r)
{
	struct held h = { STRBUF_INIT, 0 };
	struct strbuf *out = r->out;
	char map[128];
	size_t len;

	narrow(s, map);
	for (size_t i = 0; i < r->in.len; i += len) {
		unsigned char c = (unsigned char)r->in.data[i];

		if (out->cap - out->len < 8 && !strbuf_grow(out, r->in.len - i + 64))
			break;
		len = 1;
		if (c < 0x80) {
			if (map[c] || (!s->clean && c == 0)) {
				release(s, out, &h);
				out->data[out->len++] = map[c];
			}
		} else {
			wide(s, out, &h, utf8_decode(r->in.data + i, r->in.len - i, &len));
		}
		if (i < r->in_first)
			r->first = out->len;
	}
	release(s, out, &h);
	strbuf_release(&h.keys);
	return strbuf_ok(out);
}
