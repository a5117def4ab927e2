/*
 * tokenizer.c: a text through the stages: added tokens as they are, normal form, added
 * tokens of the normal form, pieces, ids.
 */
#include "models/tokenizer_private.h"
#include "util/mem.h"

bool encoder_push(struct encoder *en, uint32_t id)
{
	if (en->n == en->cap) {
		size_t cap = en->cap ? en->cap * 2 : 256;
		uint32_t *ids = mem_resize(en->ids, cap * sizeof *ids);

		if (!ids)
			return false;
		en->ids = ids;
		en->cap = cap;
	}
	en->ids[en->n++] = id;
	return true;
}

struct stage {
	struct encoder *en;
	struct bytes text;
	size_t first; /* leading bytes that are aligned with the beginning */
};

static bool normalized_part(void *arg, size_t start, size_t end, const struct added_token *token)
{
	struct stage *s = arg;

	if (token)
		return encoder_push(s->en, token->id);
	return split_run(s->en, 0, s->text.data + start, end - start,
		s->first > start ? s->first - start : 0);
}

static bool raw_part(void *arg, size_t start, size_t end, const struct added_token *token)
{
	struct stage *raw = arg, s = { .en = raw->en };

	if (token)
		return encoder_push(raw->en, token->id);
	/* Of the text itself only its first character is aligned with the beginning. */
	while (start == 0 && s.first < end &&
		(s.first == 0 || (raw->text.data[s.first] & 0xC0) == 0x80))
		s.first++;
	if (!normal_run(raw->en, (struct bytes){ raw->text.data + start, end - start }, &s.first))
		return false;
	s.text = (struct bytes){ raw->en->text.data, raw->en->text.len };
	return s.text.len == 0 || added_scan(raw->en->t, true, s.text, normalized_part, &s);
}

static void encoder_release(struct encoder *en)
{
	strbuf_release(&en->text);
	strbuf_release(&en->other);
	for (size_t i = 0; i < TOKENIZER_MAX_STEPS; i++)
		strbuf_release(&en->level[i]);
	mem_free(en->nodes);
	mem_free(en->ids);
}

enum status tokenizer_encode(const struct tokenizer *t, struct bytes text, struct arena *arena,
	uint32_t **ret, size_t *ret_n, struct error *e)
{
	struct encoder en = { .t = t };
	struct stage s = { .en = &en, .text = text };
	bool ok = text.len == 0 || added_scan(t, false, text, raw_part, &s);

	*ret = ok ? arena_array(arena, en.n ? en.n : 1, sizeof **ret) : NULL;
	*ret_n = en.n;
	if (*ret && en.n)
		memcpy(*ret, en.ids, en.n * sizeof **ret);
	encoder_release(&en);
	return *ret ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

void tokenizer_free(struct tokenizer *t)
{
	if (!t)
		return;
	trie_release(&t->trie);
	trie_release(&t->raw);
	trie_release(&t->normalized);
	mem_free(t->tokens);
	mem_free(t->scores);
	mem_free(t->added);
	arena_release(&t->arena);
	mem_free(t);
}

size_t tokenizer_vocabulary(const struct tokenizer *t)
{
	return t->ids;
}

struct bytes tokenizer_token(const struct tokenizer *t, uint32_t id)
{
	return id < t->ids ? t->tokens[id] : BYTES_NONE;
}

bool tokenizer_unknown(const struct tokenizer *t, uint32_t *ret)
{
	*ret = t->unknown;
	return t->has_unknown;
}
