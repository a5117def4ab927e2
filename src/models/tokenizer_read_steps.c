/*
 * tokenizer_read_steps.c: normaliser and pre-tokeniser of a tokenizer.json, sequences
 * flattened into lists of steps.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

#define MAX_DEPTH 8 /* sequences within sequences */

static enum status not_known(const json_t *v, const char *what, struct error *e)
{
	const char *name = json_string_value(json_object_get(v, "type"));

	return error_set(e, ST_INVALID, "%s '%.40s' is not supported", what, name ? name : "");
}

static enum status bert(const json_t *v, struct normal_step *s, struct error *e)
{
	const json_t *accents = json_object_get(v, "strip_accents");
	enum status st = read_flag(v, "clean_text", true, &s->clean, e);

	s->kind = NORMAL_BERT;
	if (st == ST_OK)
		st = read_flag(v, "handle_chinese_chars", true, &s->chinese, e);
	if (st == ST_OK)
		st = read_flag(v, "lowercase", true, &s->lowercase, e);
	s->accents = s->lowercase;
	if (st == ST_OK && accents && !json_is_null(accents))
		st = read_flag(v, "strip_accents", false, &s->accents, e);
	return st;
}

static enum status replace(struct tokenizer *t, const json_t *v, struct normal_step *s,
	struct error *e)
{
	const json_t *pattern = json_object_get(v, "pattern");
	const json_t *text = json_object_get(pattern, "String");
	const char *regex = json_string_value(json_object_get(pattern, "Regex"));
	enum status st;

	s->kind = NORMAL_REPLACE;
	s->spaces = regex && strcmp(regex, " {2,}") == 0;
	if (!s->spaces && json_string_length(text) == 0)
		return error_set(e, ST_INVALID,
			"normalizer 'Replace' with this pattern is not "
			"supported");
	if (!json_is_string(json_object_get(v, "content")))
		return error_set(e, ST_INVALID, "normalizer 'Replace' has no content");
	st = read_string(t, json_object_get(v, "content"), &s->content, e);
	if (st == ST_OK && !s->spaces)
		st = read_string(t, text, &s->pattern, e);
	return st;
}

static int base64_digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

static enum status charsmap(struct tokenizer *t, const json_t *v, struct normal_step *s,
	struct error *e)
{
	const json_t *text = json_object_get(v, "precompiled_charsmap");
	const char *p = json_string_value(text);
	size_t n = json_string_length(text), len = 0;
	char *out;
	uint32_t bits = 0;

	s->kind = NORMAL_CHARSMAP;
	while (n > 0 && n % 4 != 1 && p[n - 1] == '=')
		n--;
	out = arena_alloc(&t->arena, n / 4 * 3 + 4);
	if (!out)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		int digit = base64_digit(p[i]);

		if (digit < 0)
			return error_set(e, ST_INVALID, "precompiled_charsmap is no base64");
		bits = bits << 6 | (uint32_t)digit;
		if (i % 4 != 0)
			out[len++] = (char)(bits >> (6 - i % 4 * 2) & 0xFF);
	}
	return charsmap_read((struct bytes){ out, len }, &s->map, e);
}

static enum status sequence(struct tokenizer *t, const json_t *list, unsigned depth,
	enum status (*each)(struct tokenizer *, const json_t *, unsigned, struct error *),
	struct error *e)
{
	enum status st = ST_OK;

	if (!json_is_array(list) || depth >= MAX_DEPTH)
		return error_set(e, ST_INVALID,
			"a 'Sequence' has no list, or too many in each other");
	for (size_t i = 0; st == ST_OK && i < json_array_size(list); i++)
		st = each(t, json_array_get(list, i), depth + 1, e);
	return st;
}

static enum status normal_step(struct tokenizer *t, const json_t *v, struct normal_step *s,
	struct error *e)
{
	static const char *const forms[] = { "NFD", "NFKD", "NFC", "NFKC" };
	enum status st;

	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
		if (read_type_is(v, forms[i])) {
			s->kind = NORMAL_FORM;
			s->form = (int)UNICODE_NFD + (int)i;
			return ST_OK;
		}
	if (read_type_is(v, "BertNormalizer"))
		return bert(v, s, e);
	if (read_type_is(v, "Lowercase"))
		s->kind = NORMAL_LOWER;
	else if (read_type_is(v, "StripAccents"))
		s->kind = NORMAL_MARKS;
	else if (read_type_is(v, "Nmt"))
		s->kind = NORMAL_NMT;
	else if (read_type_is(v, "Replace"))
		return replace(t, v, s, e);
	else if (read_type_is(v, "Precompiled"))
		return charsmap(t, v, s, e);
	else if (read_type_is(v, "Prepend") && json_is_string(json_object_get(v, "prepend"))) {
		s->kind = NORMAL_PREPEND;
		return read_string(t, json_object_get(v, "prepend"), &s->content, e);
	} else if (read_type_is(v, "Strip")) {
		s->kind = NORMAL_STRIP;
		st = read_flag(v, "strip_left", false, &s->left, e);
		return st == ST_OK ? read_flag(v, "strip_right", false, &s->right, e) : st;
	} else
		return not_known(v, "normalizer", e);
	return ST_OK;
}

enum status read_normalizer(struct tokenizer *t, const json_t *v, unsigned depth, struct error *e)
{
	if (!v || (json_is_null(v) && depth == 0))
		return ST_OK;
	if (read_type_is(v, "Sequence"))
		return sequence(t, json_object_get(v, "normalizers"), depth, read_normalizer, e);
	if (t->normal_n == TOKENIZER_MAX_STEPS)
		return error_set(e, ST_TOO_LARGE, "the normalizer has too many steps");
	return normal_step(t, v, &t->normal[t->normal_n++], e);
}

static enum status metaspace(struct tokenizer *t, const json_t *v, struct split_step *s,
	struct error *e)
{
	static const char *const schemes[] = { "always", "first", "never" };
	const json_t *prefix = json_object_get(v, "add_prefix_space");
	const char *scheme = json_string_value(json_object_get(v, "prepend_scheme"));
	enum status st = read_string(t, json_object_get(v, "replacement"), &s->replacement, e);
	size_t i = 0;

	s->kind = SPLIT_METASPACE;
	if (st != ST_OK)
		return st;
	if (utf8_count(s->replacement.data, s->replacement.len) != 1)
		return error_set(e, ST_INVALID,
			"the replacement of 'Metaspace' is no one character");
	while (scheme && i < 3 && strcmp(scheme, schemes[i]) != 0)
		i++;
	if (i == 3 || (json_is_false(prefix) && i != 2))
		return error_set(e, ST_INVALID, "the prepend_scheme of 'Metaspace' is not known");
	s->prepend = (enum split_prepend)i;
	if (json_is_null(json_object_get(v, "split"))) {
		s->split = true;
		return ST_OK;
	}
	return read_flag(v, "split", true, &s->split, e);
}

static enum status punctuation(const json_t *v, struct split_step *s, struct error *e)
{
	static const char *const names[] = { "Removed", "Isolated", "MergedWithPrevious",
		"MergedWithNext", "Contiguous" };
	const json_t *behavior = json_object_get(v, "behavior");

	s->kind = SPLIT_PUNCTUATION;
	s->behavior = BEHAVIOR_ISOLATED;
	if (!behavior)
		return ST_OK;
	for (size_t i = 0; json_is_string(behavior) && i < sizeof names / sizeof *names; i++)
		if (strcmp(json_string_value(behavior), names[i]) == 0) {
			s->behavior = (enum split_behavior)i;
			return ST_OK;
		}
	return error_set(e, ST_INVALID, "the behavior of 'Punctuation' is not known");
}

enum status read_splitter(struct tokenizer *t, const json_t *v, unsigned depth, struct error *e)
{
	struct split_step *s;

	if (!v || (json_is_null(v) && depth == 0))
		return ST_OK;
	if (read_type_is(v, "Sequence"))
		return sequence(t, json_object_get(v, "pretokenizers"), depth, read_splitter, e);
	if (t->split_n == TOKENIZER_MAX_STEPS)
		return error_set(e, ST_TOO_LARGE, "the pre_tokenizer has too many steps");
	s = &t->split[t->split_n++];
	if (read_type_is(v, "BertPreTokenizer"))
		s->kind = SPLIT_BERT;
	else if (read_type_is(v, "Whitespace"))
		s->kind = SPLIT_WORDS;
	else if (read_type_is(v, "WhitespaceSplit"))
		s->kind = SPLIT_SPACES;
	else if (read_type_is(v, "Metaspace"))
		return metaspace(t, v, s, e);
	else if (read_type_is(v, "Punctuation"))
		return punctuation(v, s, e);
	else
		return not_known(v, "pre_tokenizer", e);
	return ST_OK;
}
