/*
 * chunk_check.c: the promises of chunk.h, put to the chunks of one text. What is visible
 * in HTML is taken from the lexer, over the whole text at once; in the other formats it
 * is all that is no white space.
 */
#include "chunk_check.h"

#include "text/chunk_private.h"
#include "util/utf8.h"

#define CHECK(what)                                                                                \
	do {                                                                                       \
		if (!(what))                                                                       \
			return #what;                                                              \
	} while (0)

struct chunks {
	struct bytes text;
	enum text_format format;
	struct text_chunk *v;
	size_t n;
};

static struct bytes part(const struct chunks *c, size_t start, size_t end)
{
	return (struct bytes){ c->text.data + start, end - start };
}

static bool is_boundary(const struct chunks *c, size_t at)
{
	return at == c->text.len || ((unsigned char)c->text.data[at] & 0xC0) != 0x80;
}

/* Each visible character is in a chunk. */
static const char *check_cover(const struct chunks *c)
{
	struct cursor cursor;
	struct visible v;
	size_t i = 0;

	cursor_init(&cursor, c->text, 0, c->text.len, c->format == TEXT_HTML);
	while (cursor_next(&cursor, &v)) {
		if (chunk_is_space(v.cp))
			continue;
		while (i < c->n && c->v[i].end < v.end)
			i++;
		CHECK(i < c->n && "visible characters are covered");
		CHECK(c->v[i].start <= v.start && "visible characters are covered");
	}
	return NULL;
}

static const char *check_one(const struct chunks *c, size_t i, const struct text_chunk_options *opt)
{
	const struct text_chunk *k = &c->v[i];
	struct strbuf buf = STRBUF_INIT;
	struct bytes plain;
	size_t len;

	CHECK(k->start < k->end && k->end <= c->text.len);
	CHECK(is_boundary(c, k->start) && is_boundary(c, k->end));
	CHECK(text_tokens(part(c, k->start, k->end)) <= opt->target);
	CHECK(k->context.len <= 1300 && utf8_valid(k->context.data, k->context.len));
	CHECK((k->context.data == NULL) == (k->context.len == 0));
	CHECK(text_plain(part(c, k->start, k->end), c->format, &buf, &plain) == ST_OK);
	CHECK(utf8_valid(plain.data, plain.len));
	strbuf_release(&buf);
	if (k->start > 0 || k->end < c->text.len)
		CHECK(!chunk_is_space(
			utf8_decode(c->text.data + k->start, k->end - k->start, &len)));
	if (i == 0)
		return NULL;
	CHECK(k->start > k[-1].start && k->end > k[-1].end);
	CHECK(k->start >= k[-1].end || text_tokens(part(c, k->start, k[-1].end)) <= opt->overlap);
	return NULL;
}

static const char *check_same(const struct chunks *c, const struct chunks *again)
{
	CHECK(c->n == again->n);
	for (size_t i = 0; i < c->n; i++) {
		CHECK(c->v[i].start == again->v[i].start && c->v[i].end == again->v[i].end);
		CHECK(bytes_eq(c->v[i].context, again->v[i].context));
	}
	return NULL;
}

static const char *check_all(const struct chunks *c, const struct text_chunk_options *opt)
{
	const char *wrong = check_cover(c);

	for (size_t i = 0; !wrong && i < c->n; i++)
		wrong = check_one(c, i, opt);
	if (!wrong && c->n > 0 && text_tokens(c->text) <= opt->target)
		CHECK(c->n == 1 && c->v[0].start == 0 && c->v[0].end == c->text.len);
	return wrong;
}

const char *chunk_check(struct bytes text, enum text_format format,
	const struct text_chunk_options *opt)
{
	struct chunks c = { .text = text, .format = format }, again = c;
	struct text_chunk_options less = *opt;
	const char *wrong = NULL;
	struct arena arena;

	arena_init(&arena, 0);
	if (text_chunk(text, format, opt, &arena, &c.v, &c.n) ||
		text_chunk(text, format, opt, &arena, &again.v, &again.n))
		wrong = "text_chunk failed";
	if (!wrong)
		wrong = check_same(&c, &again);
	if (!wrong)
		wrong = check_all(&c, opt);
	less.max = c.n - 1;
	if (!wrong && c.n > 0 &&
		text_chunk(text, format, &less, &arena, &again.v, &again.n) != ST_TOO_LARGE)
		wrong = "more chunks than allowed";
	arena_release(&arena);
	return wrong;
}
