/*
 * tokenizer_read.c: tokenizer.json to a tokenizer: the whole, and the added tokens. What
 * would be done otherwise than the reference does it is refused, never left out; the
 * members that do not decide about ids of one text (truncation, padding, post-processor,
 * decoder) are.
 */
#include "models/load.h"
#include "models/tokenizer_private.h"
#include "util/mem.h"
#include "util/utf8.h"

bool read_type_is(const json_t *v, const char *type)
{
	const char *name = json_string_value(json_object_get(v, "type"));

	return name && strcmp(name, type) == 0;
}

enum status read_flag(const json_t *object, const char *name, bool missing, bool *ret,
	struct error *e)
{
	const json_t *v = json_object_get(object, name);

	*ret = v ? json_is_true(v) : missing;
	if (v && !json_is_boolean(v))
		return error_set(e, ST_INVALID, "'%s' is neither true nor false", name);
	return ST_OK;
}

enum status read_string(struct tokenizer *t, const json_t *v, struct bytes *ret, struct error *e)
{
	struct bytes b = { json_string_value(v), json_string_length(v) };

	if (b.len > TOKENIZER_MAX_TOKEN)
		return error_set(e, ST_TOO_LARGE, "a text of %zu bytes is too long", b.len);
	if (arena_dup_bytes(&t->arena, b, ret) < 0)
		return error_set(e, ST_NOMEM, "out of memory");
	return ST_OK;
}

/* The id of an added token: that of the same text, or the next one. */
static enum status place(struct tokenizer *t, struct added_token *a, uint32_t *next,
	struct error *e)
{
	struct bytes *tokens;
	uint32_t id = trie_find(&t->trie, a->content);
	size_t i;

	for (i = 0; i < t->added_n; i++)
		if (bytes_eq(t->added[i].content, a->content))
			break;
	if (i < t->added_n)
		id = t->added[i].id;
	else if (id == TRIE_NONE)
		id = (*next)++;
	a->id = id;
	t->added[i] = *a;
	t->added_n += i == t->added_n;
	if (id < t->ids) {
		t->tokens[id] = a->content;
		return ST_OK;
	}
	tokens = mem_resize(t->tokens, ((size_t)id + 1) * sizeof *tokens);
	if (!tokens)
		return error_set(e, ST_NOMEM, "out of memory");
	t->tokens = tokens;
	while (t->ids <= id)
		t->tokens[t->ids++] = BYTES_NONE;
	t->tokens[id] = a->content;
	return ST_OK;
}

static enum status one_added(struct tokenizer *t, const json_t *v, uint32_t *next, struct error *e)
{
	struct added_token a = { .id = 0 };
	enum status st;

	if (!json_is_string(json_object_get(v, "content")))
		return error_set(e, ST_INVALID, "added_tokens: one has no content");
	st = read_string(t, json_object_get(v, "content"), &a.content, e);
	if (st == ST_OK)
		st = read_flag(v, "single_word", false, &a.single_word, e);
	if (st == ST_OK)
		st = read_flag(v, "lstrip", false, &a.left, e);
	if (st == ST_OK)
		st = read_flag(v, "rstrip", false, &a.right, e);
	if (st == ST_OK)
		st = read_flag(v, "normalized", false, &a.normalized, e);
	if (st != ST_OK || a.content.len == 0)
		return st;
	return place(t, &a, next, e);
}

/* What an added token looks like in a normalised text. */
static enum status pattern_of(struct tokenizer *t, const struct added_token *a, struct bytes *ret,
	struct error *e)
{
	struct encoder en = { .t = t };
	size_t first = 0;
	bool ok = true;

	*ret = a->content;
	if (a->normalized) {
		ok = normal_run(&en, a->content, &first) &&
			arena_dup_bytes(&t->arena,
				(struct bytes){ en.text.data ? en.text.data : "", en.text.len },
				ret) == 0;
		strbuf_release(&en.text);
		strbuf_release(&en.other);
	}
	if (!ok)
		return error_set(e, ST_NOMEM, "out of memory");
	if (ret->len == 0)
		return error_set(e, ST_INVALID, "added_tokens: nothing is left of one normalised");
	return ST_OK;
}

static enum status build_added(struct tokenizer *t, bool normalized, struct trie *trie,
	struct error *e)
{
	struct trie_key *keys = mem_array(t->added_n + 1, sizeof *keys);
	enum status st = keys ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
	size_t n = 0;

	for (size_t i = 0; st == ST_OK && i < t->added_n; i++) {
		if (t->added[i].normalized != normalized)
			continue;
		keys[n].value = (uint32_t)i;
		st = pattern_of(t, &t->added[i], &keys[n++].token, e);
	}
	if (st == ST_OK)
		st = trie_build(trie, keys, n, e);
	/* Sorted, and of equals the last alone: a lost one leaves the count short. */
	for (size_t i = 0, found = 0; st == ST_OK && i < trie->n; i++) {
		found += trie->value[i] != TRIE_NONE;
		if (i + 1 == trie->n && found != n)
			st = error_set(e, ST_INVALID, "added_tokens: two are the same normalised");
	}
	mem_free(keys);
	return st;
}

enum status read_added(struct tokenizer *t, const json_t *v, struct error *e)
{
	uint32_t next = t->vocabulary;
	enum status st = ST_OK;

	if (v && !json_is_null(v) && !json_is_array(v))
		return error_set(e, ST_INVALID, "added_tokens is no list");
	if (json_array_size(v) > TOKENIZER_MAX_ADDED)
		return error_set(e, ST_TOO_LARGE, "added_tokens has more than %d",
			TOKENIZER_MAX_ADDED);
	t->added = mem_array(json_array_size(v) + 1, sizeof *t->added);
	if (!t->added)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; st == ST_OK && i < json_array_size(v); i++)
		st = one_added(t, json_array_get(v, i), &next, e);
	if (st == ST_OK)
		st = build_added(t, false, &t->raw, e);
	if (st == ST_OK)
		st = build_added(t, true, &t->normalized, e);
	return st;
}

static enum status read_all(struct tokenizer *t, const json_t *root, struct error *e)
{
	const json_t *version = json_object_get(root, "version");
	enum status st;

	if (!json_is_object(root))
		return error_set(e, ST_INVALID, "tokenizer.json is no object");
	if (version && (!json_is_string(version) || strcmp(json_string_value(version), "1.0") != 0))
		return error_set(e, ST_INVALID, "tokenizer.json is of a version that is not known");
	st = read_normalizer(t, json_object_get(root, "normalizer"), 0, e);
	if (st == ST_OK)
		st = read_splitter(t, json_object_get(root, "pre_tokenizer"), 0, e);
	if (st == ST_OK)
		st = read_model(t, json_object_get(root, "model"), e);
	if (st == ST_OK)
		st = read_added(t, json_object_get(root, "added_tokens"), e);
	return st;
}

enum status tokenizer_read(struct bytes json, struct tokenizer **ret, struct error *e)
{
	struct tokenizer *t;
	json_t *root;
	enum status st;

	*ret = NULL;
	if (json.len > TOKENIZER_MAX_JSON)
		return error_set(e, ST_TOO_LARGE, "tokenizer.json has more than 64 MiB");
	t = mem_zero(sizeof *t);
	if (!t)
		return error_set(e, ST_NOMEM, "out of memory");
	arena_init(&t->arena, 0);
	st = load_json(json, "tokenizer.json", &root, e);
	if (st == ST_OK)
		st = read_all(t, root, e);
	json_decref(root);
	if (st != ST_OK) {
		tokenizer_free(t);
		return st;
	}
	*ret = t;
	return ST_OK;
}
