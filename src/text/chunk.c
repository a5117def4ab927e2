/*
 * chunk.c: a text into chunks: the format's parser finds headings and blocks, the packer
 * makes chunks of them. One pass; nothing is kept but the chunk being made.
 */
#include "text/chunk_private.h"
#include "util/mem.h"

static enum status parse(struct packer *p)
{
	enum status st;

	switch (p->format) {
	case TEXT_MARKDOWN:
		st = chunk_markdown(p);
		break;
	case TEXT_HTML:
		st = chunk_html(p);
		break;
	case TEXT_CODE:
		st = chunk_code(p);
		break;
	default:
		st = chunk_paragraphs(p);
	}
	return st ? st : pack_finish(p);
}

/* A text within the target: the parser says only whether anything is visible, and what
 * stands above all of it. */
static void take_whole(struct packer *p)
{
	p->opt.target = p->small = SIZE_MAX;
	p->opt.max = 1;
}

enum status text_chunk(struct bytes text, enum text_format format,
	const struct text_chunk_options *opt, struct arena *arena, struct text_chunk **ret,
	size_t *ret_n)
{
	struct packer p = { .text = text,
		.format = format,
		.opt = *opt,
		.arena = arena,
		.small = opt->target / 2 };
	struct token_count count = { 0 };
	struct text_chunk *chunks;
	enum status st;
	bool whole = tokens_add(&count, text.data, text.len, opt->target);

	if (whole && opt->max > 0)
		take_whole(&p);
	st = parse(&p);
	if (st == ST_OK && whole && p.n == 1) {
		p.chunks[0].start = 0;
		p.chunks[0].end = text.len;
	}
	chunks = st ? NULL : arena_array(arena, p.n, sizeof(*chunks));
	if (st == ST_OK && !chunks)
		st = ST_NOMEM;
	if (st == ST_OK) {
		if (p.n)
			memcpy(chunks, p.chunks, p.n * sizeof(*chunks));
		*ret = chunks;
		*ret_n = p.n;
	}
	mem_free(p.chunks);
	sentences_free(p.sentences);
	return st;
}
