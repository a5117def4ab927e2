/*
 * tokenizer_read_model.c: the model of a tokenizer.json: its vocabulary, and what
 * WordPiece or Unigram want besides.
 */
#include <inttypes.h>
#include <math.h>

#include "models/tokenizer_private.h"
#include "util/mem.h"

static enum status invalid(const char *what, struct error *e)
{
	return error_set(e, ST_INVALID, "model: %s", what);
}

static enum status nomem(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

/* Copies into tokens[id], and into a key for the trie. */
static enum status take_token(struct tokenizer *t, struct bytes token, uint32_t id,
	struct trie_key *key, struct error *e)
{
	if (token.len > TOKENIZER_MAX_TOKEN)
		return error_set(e, ST_TOO_LARGE, "model: a token has %zu bytes", token.len);
	if (arena_dup_bytes(&t->arena, token, &key->token) < 0)
		return nomem(e);
	key->value = id;
	t->tokens[id] = key->token;
	return ST_OK;
}

static enum status build(struct tokenizer *t, struct trie_key *keys, size_t n, enum status st,
	struct error *e)
{
	if (st == ST_OK)
		st = trie_build(&t->trie, keys, n, e);
	mem_free(keys);
	t->vocabulary = (uint32_t)n;
	return st;
}

static enum status wordpiece_vocabulary(struct tokenizer *t, json_t *vocab, struct error *e)
{
	size_t n = json_object_size(vocab), i = 0;
	struct trie_key *keys;
	enum status st = ST_OK;
	const char *name;
	json_t *id;
	json_int_t most = -1;

	json_object_foreach(vocab, name, id)
	{
		if (!json_is_integer(id) || json_integer_value(id) < 0)
			return invalid("an id in the vocabulary is no whole number", e);
		most = json_integer_value(id) > most ? json_integer_value(id) : most;
	}
	if (n >= TOKENIZER_MAX_IDS || most >= (json_int_t)TOKENIZER_MAX_IDS)
		return error_set(e, ST_TOO_LARGE, "model: the vocabulary is too large");
	t->ids = (size_t)(most + 1);
	t->tokens = mem_array(t->ids + 1, sizeof *t->tokens);
	keys = mem_array(n + 1, sizeof *keys);
	if (!keys || !t->tokens)
		st = nomem(e);
	json_object_foreach(vocab, name, id)
	{
		if (st != ST_OK)
			break;
		st = take_token(t, bytes_of(name), (uint32_t)json_integer_value(id), &keys[i++], e);
	}
	return build(t, keys, n, st, e);
}

static enum status read_wordpiece(struct tokenizer *t, const json_t *v, struct error *e)
{
	json_t *vocab = json_object_get(v, "vocab");
	const json_t *unknown = json_object_get(v, "unk_token");
	const json_t *prefix = json_object_get(v, "continuing_subword_prefix");
	const json_t *most = json_object_get(v, "max_input_chars_per_word");
	uint32_t node = 0;
	enum status st;

	if (!json_is_object(vocab))
		return invalid("WordPiece has no vocabulary", e);
	if (!json_is_string(unknown) || !json_is_string(prefix))
		return invalid("WordPiece has no unk_token or no continuing_subword_prefix", e);
	if (!json_is_integer(most) || json_integer_value(most) < 0 ||
		json_integer_value(most) > 1000000)
		return invalid("max_input_chars_per_word is missing or out of range", e);
	t->max_chars = (size_t)json_integer_value(most);
	st = wordpiece_vocabulary(t, vocab, e);
	if (st != ST_OK)
		return st;
	t->unknown = trie_find(&t->trie,
		(struct bytes){ json_string_value(unknown), json_string_length(unknown) });
	t->has_unknown = t->unknown != TRIE_NONE;
	for (size_t i = 0; node != TRIE_NONE && i < json_string_length(prefix); i++) {
		node = trie_next(&t->trie, node, (unsigned char)json_string_value(prefix)[i]);
		if (!node)
			node = TRIE_NONE;
	}
	t->continuing = node;
	return ST_OK;
}

/*
 * The reference reads decimal numbers by way of a whole number and a power of ten, and so
 * now and then misses the nearest double by one bit. As scores are compared for equality,
 * the same is done here, from the shortest digits that give the double, which are what
 * such files hold.
 */
static double as_reference(double v)
{
	char digits[40], power[16], *at, *end;
	uint64_t whole = 0;
	long exponent;
	double factor, result;
	int n = 0;

	for (int p = 0; p < 18; p++) {
		n = snprintf(digits, sizeof digits, "%.*e", p, fabs(v));
		if (strtod(digits, NULL) == fabs(v))
			break;
	}
	at = memchr(digits, 'e', (size_t)n);
	if (!at)
		return v;
	exponent = strtol(at + 1, &end, 10);
	for (const char *p = digits; p < at; p++)
		if (*p >= '0' && *p <= '9') {
			whole = whole * 10 + (uint64_t)(*p - '0');
			exponent -= p > digits;
		}
	if (labs(exponent) > 300)
		return v;
	(void)snprintf(power, sizeof power, "1e%ld", labs(exponent));
	factor = strtod(power, NULL);
	result = exponent < 0 ? (double)whole / factor : (double)whole * factor;
	return v < 0 ? -result : result;
}

static enum status unigram_token(struct tokenizer *t, const json_t *pair, size_t i,
	struct trie_key *key, struct error *e)
{
	const json_t *token = json_array_get(pair, 0), *score = json_array_get(pair, 1);

	if (json_array_size(pair) != 2 || !json_is_string(token) || !json_is_number(score))
		return invalid("an entry of the vocabulary is no pair of text and number", e);
	t->scores[i] = json_is_integer(score) ? (double)json_integer_value(score)
					      : as_reference(json_real_value(score));
	return take_token(t, (struct bytes){ json_string_value(token), json_string_length(token) },
		(uint32_t)i, key, e);
}

static enum status unigram_vocabulary(struct tokenizer *t, const json_t *vocab, struct error *e)
{
	size_t n = json_array_size(vocab);
	struct trie_key *keys;
	enum status st = ST_OK;

	if (n >= TOKENIZER_MAX_IDS)
		return error_set(e, ST_TOO_LARGE, "model: the vocabulary is too large");
	t->ids = n;
	t->tokens = mem_array(n + 1, sizeof *t->tokens);
	t->scores = mem_array(n + 1, sizeof *t->scores);
	keys = mem_array(n + 1, sizeof *keys);
	if (!keys || !t->tokens || !t->scores)
		st = nomem(e);
	for (size_t i = 0; st == ST_OK && i < n; i++) {
		st = unigram_token(t, json_array_get(vocab, i), i, &keys[i], e);
		if (i == 0 || t->scores[i] < t->unknown_score)
			t->unknown_score = t->scores[i];
	}
	t->unknown_score -= 10.0;
	return build(t, keys, n, st, e);
}

static enum status read_unigram(struct tokenizer *t, const json_t *v, struct error *e)
{
	const json_t *vocab = json_object_get(v, "vocab"), *unknown = json_object_get(v, "unk_id");
	enum status st;

	t->unigram = t->has_unknown = true;
	if (!json_is_array(vocab))
		return invalid("Unigram has no vocabulary", e);
	if (!json_is_integer(unknown) || json_integer_value(unknown) < 0 ||
		(size_t)json_integer_value(unknown) >= json_array_size(vocab))
		return invalid("Unigram needs an unk_id within its vocabulary", e);
	t->unknown = (uint32_t)json_integer_value(unknown);
	st = read_flag(v, "byte_fallback", false, &t->byte_fallback, e);
	if (st == ST_OK)
		st = unigram_vocabulary(t, vocab, e);
	for (unsigned i = 0; st == ST_OK && i < 256; i++) {
		char name[8];

		(void)snprintf(name, sizeof name, "<0x%02X>", i);
		t->bytes[i] = trie_find(&t->trie, bytes_of(name));
	}
	return st;
}

enum status read_model(struct tokenizer *t, const json_t *v, struct error *e)
{
	const char *name = json_string_value(json_object_get(v, "type"));

	if (read_type_is(v, "WordPiece"))
		return read_wordpiece(t, v, e);
	if (read_type_is(v, "Unigram"))
		return read_unigram(t, v, e);
	return error_set(e, ST_INVALID, "model '%.40s' is not supported", name ? name : "");
}
