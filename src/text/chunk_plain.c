/*
 * chunk_plain.c: what a person reads of a stretch of HTML. Tags that separate blocks
 * become ends of lines, others nothing; character references are decoded.
 */
#include "text/chunk_private.h"
#include "util/utf8.h"

static bool ends_in_space(const struct strbuf *buf)
{
	return buf->len == 0 || chunk_is_space((unsigned char)buf->data[buf->len - 1]);
}

static void add_text(struct strbuf *buf, const char *p, size_t n)
{
	while (n > 0) {
		const char *amp = memchr(p, '&', n);
		size_t len = amp ? (size_t)(amp - p) : n, used;
		char utf8[4];
		uint32_t cp;

		strbuf_add(buf, p, len);
		p += len;
		n -= len;
		if (n == 0)
			break;
		used = html_entity(p, n, &cp);
		if (used)
			strbuf_add(buf, utf8, utf8_encode(cp, utf8));
		else
			strbuf_addc(buf, '&');
		used = used ? used : 1;
		p += used;
		n -= used;
	}
}

enum status text_plain(struct bytes text, enum text_format format, struct strbuf *buf,
	struct bytes *ret)
{
	struct html_lexer lx;
	struct html_token t;
	bool apart = false;

	*ret = text;
	if (format != TEXT_HTML || text.len == 0 ||
		(!memchr(text.data, '<', text.len) && !memchr(text.data, '&', text.len)))
		return ST_OK;
	strbuf_reset(buf);
	html_lexer_init(&lx, text, 0);
	while (html_next(&lx, &t)) {
		apart |= t.kind == HTML_BLOCK;
		if (t.kind != HTML_TEXT)
			continue;
		if (apart && !ends_in_space(buf))
			strbuf_addc(buf, '\n');
		apart = false;
		add_text(buf, text.data + t.start, t.end - t.start);
	}
	*ret = (struct bytes){ buf->data ? buf->data : "", buf->len };
	return strbuf_ok(buf) ? ST_OK : ST_NOMEM;
}
