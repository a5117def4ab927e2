/*
 * tokenizer_normal.c: the normaliser's steps over a text, each from one buffer into the
 * other.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

bool rewrite_emit(void *arg, uint32_t cp, int change)
{
	struct rewrite *r = arg;
	char buf[4];
	/* An addition stands where the byte before it stands. */
	bool first = change > 0 ? r->at == 0 || r->at - 1 < r->in_first : r->at < r->in_first;

	strbuf_add(r->out, buf, utf8_encode(cp, buf));
	for (int i = change; i <= 0 && r->at < r->in.len; i++) {
		size_t len;

		(void)utf8_decode(r->in.data + r->at, r->in.len - r->at, &len);
		r->at += len;
	}
	if (first)
		r->first = r->out->len;
	return strbuf_ok(r->out);
}

/* Bytes as they are, up to `end` of the text. */
static void copy(struct rewrite *r, size_t end)
{
	size_t from = r->at;

	if (from < r->in_first)
		r->first = r->out->len + (end < r->in_first ? end : r->in_first) - from;
	strbuf_add(r->out, r->in.data + from, end - from);
	r->at = end;
}

/* content instead of what is up to `end`. */
static void substitute(struct rewrite *r, size_t end, struct bytes content)
{
	r->at = end;
	strbuf_add(r->out, content.data, content.len);
	if (content.len && (end == 0 || end - 1 < r->in_first))
		r->first = r->out->len;
}

/* Characters of Nmt that go, and those that become blanks. */
static bool nmt_drops(uint32_t cp)
{
	return (cp >= 1 && cp <= 8) || cp == 0xB || (cp >= 0xE && cp <= 0x1F) || cp == 0x7F ||
		cp == 0x8F || cp == 0x9F;
}

static bool nmt_blanks(uint32_t cp)
{
	return cp == 9 || cp == 0xA || cp == 0xC || cp == 0xD || cp == 0x1680 ||
		(cp >= 0x200B && cp <= 0x200F) || cp == 0x2028 || cp == 0x2029 || cp == 0x2581 ||
		cp == 0xFEFF || cp == 0xFFFD;
}

static void one_by_one(const struct normal_step *s, struct rewrite *r)
{
	size_t len;

	for (size_t i = 0; i < r->in.len; i += len) {
		uint32_t cp = utf8_decode(r->in.data + i, r->in.len - i, &len), lower[2];
		size_t n = 1;

		lower[0] = cp;
		if (s->kind == NORMAL_LOWER)
			n = unicode_lower(cp, lower);
		else if (s->kind == NORMAL_MARKS)
			n = !unicode_mark(cp);
		else if (nmt_drops(cp))
			n = 0;
		else if (nmt_blanks(cp))
			lower[0] = ' ';
		if (n == 1 && lower[0] == cp) {
			copy(r, i + len);
		} else if (n == 0) {
			r->at = i + len;
		} else {
			(void)rewrite_emit(r, lower[0], 0);
			if (n == 2)
				(void)rewrite_emit(r, lower[1], 1);
		}
	}
}

static void strip(const struct normal_step *s, struct rewrite *r)
{
	size_t start = 0, end = r->in.len, len;

	while (s->left && start < end &&
		unicode_space(utf8_decode(r->in.data + start, end - start, &len)))
		start += len;
	while (s->right && end > start) {
		size_t last = utf8_floor(r->in.data, r->in.len, end - 1);

		if (!unicode_space(utf8_decode(r->in.data + last, end - last, &len)))
			break;
		end = last;
	}
	r->at = start;
	copy(r, end);
}

/* Length of a match at p; 0: none. */
static size_t matches(const struct normal_step *s, const char *p, size_t n)
{
	size_t len = 0;

	if (!s->spaces)
		return n >= s->pattern.len && memcmp(p, s->pattern.data, s->pattern.len) == 0
			? s->pattern.len
			: 0;
	while (len < n && p[len] == ' ')
		len++;
	return len >= 2 ? len : 0;
}

static void replace(const struct normal_step *s, struct rewrite *r)
{
	char first = s->spaces ? ' ' : s->pattern.data[0];

	for (size_t i = 0; i < r->in.len;) {
		const char *hit = memchr(r->in.data + i, first, r->in.len - i);
		size_t len;

		if (!hit)
			break;
		i = (size_t)(hit - r->in.data);
		len = matches(s, hit, r->in.len - i);
		if (len) {
			copy(r, i);
			i += len;
			substitute(r, i, s->content);
		} else {
			i++;
		}
	}
	copy(r, r->in.len);
}

static void prepend(const struct normal_step *s, struct rewrite *r)
{
	if (r->in.len == 0)
		return;
	strbuf_add(r->out, s->content.data, s->content.len);
	if (r->in_first)
		r->first = r->out->len;
	copy(r, r->in.len);
}

static bool run_step(const struct normal_step *s, struct rewrite *r)
{
	switch (s->kind) {
	case NORMAL_BERT:
		return normal_bert(s, r);
	case NORMAL_FORM:
		return unicode_normalize(r->in, (enum unicode_form)s->form, rewrite_emit, r) ==
			ST_OK;
	case NORMAL_LOWER:
	case NORMAL_MARKS:
	case NORMAL_NMT:
		one_by_one(s, r);
		break;
	case NORMAL_STRIP:
		strip(s, r);
		break;
	case NORMAL_REPLACE:
		replace(s, r);
		break;
	case NORMAL_PREPEND:
		prepend(s, r);
		break;
	case NORMAL_CHARSMAP:
		return normal_charsmap(&s->map, r);
	}
	return strbuf_ok(r->out);
}

bool normal_run(struct encoder *en, struct bytes text, size_t *first)
{
	struct rewrite r = { .in = text, .in_first = *first };

	strbuf_reset(&en->text);
	if (en->t->normal_n == 0) {
		strbuf_add(&en->text, text.data, text.len);
		return strbuf_ok(&en->text);
	}
	for (size_t i = 0; i < en->t->normal_n; i++) {
		struct strbuf done;

		strbuf_reset(&en->other);
		r.out = &en->other;
		r.at = r.first = 0;
		if (!run_step(&en->t->normal[i], &r))
			return false;
		done = en->other;
		en->other = en->text;
		en->text = done;
		r.in = (struct bytes){ done.data, done.len };
		r.in_first = r.first;
	}
	*first = r.first;
	return true;
}
