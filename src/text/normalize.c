/*
 * normalize.c: normal forms (UAX #15), with what each code point stands for. Characters
 * younger than Unicode 9 neither decompose nor compose nor combine (unicode.c).
 */
#include <stdlib.h>

#include <unicode/unorm2.h>

#include "text/unicode.h"
#include "util/mem.h"
#include "util/utf8.h"

struct item {
	uint32_t cp;
	int change;
	uint32_t order; /* combining class, then place: a stable key */
};

struct items {
	struct item *v;
	size_t n, cap;
};

struct normalizer {
	unicode_emit *emit;
	void *arg;
	bool compat, compose;
	const UNormalizer2 *nfc;
	struct items pending; /* combining characters that still have to be sorted */
	struct item base;     /* the starter that takes in what follows */
	bool has_base;
	struct items kept; /* behind the base, not taken in */
	uint8_t last;      /* combining class of the last of them */
};

static bool push(struct items *s, uint32_t cp, int change, uint8_t class)
{
	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 32;
		struct item *v = cap > (1u << 23) ? NULL : mem_resize(s->v, cap * sizeof *v);

		if (!v)
			return false;
		s->v = v;
		s->cap = cap;
	}
	s->v[s->n] = (struct item){ cp, change, (uint32_t) class << 24 | (uint32_t)s->n };
	s->n++;
	return true;
}

static int by_order(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static bool flush_kept(struct normalizer *n)
{
	if (n->has_base && !n->emit(n->arg, n->base.cp, n->base.change))
		return false;
	n->has_base = false;
	for (size_t i = 0; i < n->kept.n; i++)
		if (!n->emit(n->arg, n->kept.v[i].cp, n->kept.v[i].change))
			return false;
	n->kept.n = 0;
	return true;
}

/* The composite of two, if Unicode 9 has it; 0: none. */
static uint32_t composite(const struct normalizer *n, uint32_t a, uint32_t b)
{
	UChar32 c = unorm2_composePair(n->nfc, (UChar32)a, (UChar32)b);
	uint32_t parts[UNICODE_DECOMPOSED];

	if (c < 0)
		return 0;
	return unicode_decompose((uint32_t)c, false, parts) > 1 ? (uint32_t)c : 0;
}

/* One character of the decomposed text, in canonical order. */
static bool compose(struct normalizer *n, uint32_t cp, int change, uint8_t class)
{
	uint32_t c;

	if (!n->compose)
		return n->emit(n->arg, cp, change);
	if (!n->has_base && class)
		return n->emit(n->arg, cp, change);
	/* Blocked by one of the same or a higher class in between. */
	if (n->has_base && (n->kept.n == 0 || n->last < class)) {
		c = composite(n, n->base.cp, cp);
		if (c) {
			n->base.cp = c;
			n->base.change += change - 1;
			return true;
		}
	}
	if (class) {
		n->last = class;
		return push(&n->kept, cp, change, 0);
	}
	if (!flush_kept(n))
		return false;
	n->base = (struct item){ cp, change, 0 };
	n->has_base = true;
	return true;
}

static bool flush_pending(struct normalizer *n)
{
	struct items *p = &n->pending;

	if (p->n > 1)
		qsort(p->v, p->n, sizeof *p->v, by_order);
	for (size_t i = 0; i < p->n; i++)
		if (!compose(n, p->v[i].cp, p->v[i].change, (uint8_t)(p->v[i].order >> 24)))
			return false;
	p->n = 0;
	return true;
}

static bool take(struct normalizer *n, uint32_t cp)
{
	uint32_t parts[UNICODE_DECOMPOSED];
	size_t count = unicode_decompose(cp, n->compat, parts);

	for (size_t i = 0; i < count; i++) {
		uint8_t class = unicode_combining_class(parts[i]);

		if (class == 0) {
			if (!flush_pending(n) || !compose(n, parts[i], i > 0, 0))
				return false;
		} else if (!push(&n->pending, parts[i], i > 0, class)) {
			return false;
		}
	}
	return true;
}

enum status unicode_normalize(struct bytes text, enum unicode_form form, unicode_emit *emit,
	void *arg)
{
	UErrorCode ec = U_ZERO_ERROR;
	struct normalizer n = { .emit = emit,
		.arg = arg,
		.compat = form == UNICODE_NFKD || form == UNICODE_NFKC,
		.compose = form == UNICODE_NFC || form == UNICODE_NFKC,
		.nfc = unorm2_getNFCInstance(&ec) };
	bool ok = true;

	if (U_FAILURE(ec))
		return ST_UNAVAILABLE;
	for (size_t i = 0, len; ok && i < text.len; i += len)
		ok = take(&n, utf8_decode(text.data + i, text.len - i, &len));
	ok = ok && flush_pending(&n) && flush_kept(&n);
	mem_free(n.pending.v);
	mem_free(n.kept.v);
	return ok ? ST_OK : ST_NOMEM;
}
