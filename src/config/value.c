/*
 * config/value.c: one value: from text into struct config, and back. What may
 * stand in a value is what an INI file can hold (no control characters, no
 * comment mark after a blank, no blanks at the ends), so that config_print always
 * gives a file that reads back the same, wherever the value came from.
 */
#include "config/internal.h"

#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "util/mem.h"
#include "util/utf8.h"

static void *member_of(struct config *c, const struct config_key *key)
{
	return (char *)c + key->offset;
}

static const void *member_of_const(const struct config *c, const struct config_key *key)
{
	return (const char *)c + key->offset;
}

char *const *config_value_string(const struct config *c, const struct config_key *key)
{
	return member_of_const(c, key);
}

/* What is wrong with text as the content of an INI value, or NULL. */
static const char *text_fault(const char *text)
{
	size_t len = strlen(text);

	if (!utf8_valid(text, len))
		return "it is not valid UTF-8";
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			return "it holds a control character";
	if (len > 0 && (text[0] == ' ' || text[len - 1] == ' '))
		return "it begins or ends with a blank";
	if (text[0] == ';' || strstr(text, " ;"))
		return "it holds a ';' that would begin a comment";
	if (len > 3000)
		return "it is longer than 3000 bytes";
	return NULL;
}

const char *config_text_hint(const char *text)
{
	if (strchr(text, '#'))
		return "; a comment after a value begins with ' ;', or stands on its own line";
	if (text[0] == '"' || text[0] == '\'')
		return "; values stand without quotes";
	return "";
}

static enum status set_string(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	char **slot = member_of(c, key);
	const char *fault = text_fault(text);
	char *copy;

	if (fault)
		return error_set(e, ST_INVALID, "%s: %s cannot be '%.60s': %s", where, key->name,
			text, fault);
	copy = mem_strdup(text);
	if (!copy)
		return error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	mem_free(*slot);
	*slot = copy;
	return ST_OK;
}

static enum status set_choice(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	struct strbuf list = STRBUF_INIT;

	for (size_t i = 0; key->choices[i]; i++)
		if (strcmp(key->choices[i], text) == 0)
			return set_string(c, key, text, where, e);
	for (size_t i = 0; key->choices[i]; i++) {
		strbuf_adds(&list, i == 0 ? "" : ", ");
		strbuf_adds(&list, key->choices[i]);
	}
	error_set(e, ST_INVALID, "%s: %s cannot be '%.40s'; it must be one of %s%s", where,
		key->name, text, strbuf_ok(&list) ? list.data : "its choices",
		config_text_hint(text));
	strbuf_release(&list);
	return ST_INVALID;
}

static enum status set_bool(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	static const char *const yes[] = { "yes", "true", "on", "1" };
	static const char *const no[] = { "no", "false", "off", "0" };
	bool *slot = member_of(c, key);

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcasecmp(text, yes[i]) == 0) {
			*slot = true;
			return ST_OK;
		}
		if (strcasecmp(text, no[i]) == 0) {
			*slot = false;
			return ST_OK;
		}
	}
	return error_set(e, ST_INVALID, "%s: %s cannot be '%.40s'; it must be yes or no%s", where,
		key->name, text, config_text_hint(text));
}

/* The factor of a size's suffix: 1 for none, 0 for one that does not exist. */
static uint64_t suffix_factor(const char *suffix)
{
	if (suffix[0] == '\0')
		return 1;
	if (suffix[1] != '\0')
		return 0;
	switch (suffix[0]) {
	case 'k':
	case 'K':
		return 1024;
	case 'm':
	case 'M':
		return 1024ULL * 1024;
	case 'g':
	case 'G':
		return 1024ULL * 1024 * 1024;
	default:
		return 0;
	}
}

/* Digits, then a suffix if `sizes`. False if it is no such number or too large
 * for 64 bits. */
static bool number_parse(const char *text, bool sizes, uint64_t *ret)
{
	uint64_t v = 0, factor;
	const char *p = text;

	if (*p < '0' || *p > '9')
		return false;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return false;
	factor = sizes ? suffix_factor(p) : (*p == '\0');
	if (factor == 0 || __builtin_mul_overflow(v, factor, &v))
		return false;
	*ret = v;
	return true;
}

/* A size with the largest suffix that divides it. */
static void size_text(uint64_t v, struct strbuf *out)
{
	static const char units[] = "kmg";
	int unit = -1;

	while (v > 0 && v % 1024 == 0 && unit < 2) {
		v /= 1024;
		unit++;
	}
	strbuf_addu(out, v);
	if (unit >= 0)
		strbuf_addc(out, units[unit]);
}

static void number_text(const struct config_key *key, uint64_t v, struct strbuf *out)
{
	if (key->kind == CONFIG_SIZE)
		size_text(v, out);
	else
		strbuf_addu(out, v);
}

static enum status set_number(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	struct strbuf range = STRBUF_INIT;
	uint64_t *slot = member_of(c, key);
	bool sizes = key->kind == CONFIG_SIZE;
	uint64_t v;

	if (number_parse(text, sizes, &v) && v >= key->min && v <= key->max) {
		*slot = v;
		return ST_OK;
	}
	number_text(key, key->min, &range);
	strbuf_adds(&range, " to ");
	number_text(key, key->max, &range);
	error_set(e, ST_INVALID, "%s: %s cannot be '%.40s'; it must be %s from %s%s", where,
		key->name, text,
		sizes ? "a size (digits, then k, m, g or nothing)" : "a whole number",
		strbuf_ok(&range) ? range.data : "its range", config_text_hint(text));
	strbuf_release(&range);
	return ST_INVALID;
}

/* Digits and maybe a point and more digits: no sign, no exponent, no "inf". */
static bool real_parse(const char *text, double *ret)
{
	size_t whole = strspn(text, "0123456789"), rest = 0;

	if (whole && text[whole] == '.') {
		rest = strspn(text + whole + 1, "0123456789");
		rest = rest ? rest + 1 : 0;
	}
	if (!whole || text[whole + rest] != '\0' || whole + rest > 30)
		return false;
	*ret = strtod(text, NULL);
	return true;
}

/* The fewest digits that read back the same. */
static void real_text(double v, struct strbuf *out)
{
	char text[40];

	for (int digits = 1; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, v);
		if (!strchr(text, 'e') && strtod(text, NULL) >= v && strtod(text, NULL) <= v)
			break;
	}
	strbuf_adds(out, text);
}

static enum status set_real(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	double *slot = member_of(c, key);
	double v;

	if (real_parse(text, &v) && v >= key->least && v <= key->most) {
		*slot = v;
		return ST_OK;
	}
	return error_set(e, ST_INVALID,
		"%s: %s cannot be '%.40s'; it must be a number such as 0.5, from %g to %g%s", where,
		key->name, text, key->least, key->most, config_text_hint(text));
}

enum status config_value_set(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e)
{
	switch (key->kind) {
	case CONFIG_STRING:
		return set_string(c, key, text, where, e);
	case CONFIG_CHOICE:
		return set_choice(c, key, text, where, e);
	case CONFIG_BOOL:
		return set_bool(c, key, text, where, e);
	case CONFIG_SIZE:
	case CONFIG_COUNT:
		return set_number(c, key, text, where, e);
	case CONFIG_REAL:
		return set_real(c, key, text, where, e);
	}
	return error_set(e, ST_INTERNAL, "%s: %s has no kind", where, key->name);
}

void config_value_text(const struct config *c, const struct config_key *key, struct strbuf *out)
{
	const void *member = member_of_const(c, key);

	switch (key->kind) {
	case CONFIG_STRING:
	case CONFIG_CHOICE:
		strbuf_adds(out, *config_value_string(c, key));
		break;
	case CONFIG_BOOL:
		strbuf_adds(out, *(const bool *)member ? "yes" : "no");
		break;
	case CONFIG_SIZE:
	case CONFIG_COUNT:
		number_text(key, *(const uint64_t *)member, out);
		break;
	case CONFIG_REAL:
		real_text(*(const double *)member, out);
		break;
	}
}

bool config_value_equal(const struct config *a, const struct config *b,
	const struct config_key *key)
{
	const void *ma = member_of_const(a, key), *mb = member_of_const(b, key);

	switch (key->kind) {
	case CONFIG_STRING:
	case CONFIG_CHOICE:
		return strcmp(*config_value_string(a, key), *config_value_string(b, key)) == 0;
	case CONFIG_BOOL:
		return *(const bool *)ma == *(const bool *)mb;
	case CONFIG_SIZE:
	case CONFIG_COUNT:
		return *(const uint64_t *)ma == *(const uint64_t *)mb;
	case CONFIG_REAL: /* never a NaN */
		return memcmp(ma, mb, sizeof(double)) == 0;
	}
	return false;
}
