/*
 * fold.c: a word to the form in which words are compared.
 *
 * Two steps, because stemmers want to see the accents that matching ignores:
 * fold_case gives NFKC_Casefold (Unicode, chapter 5.18) without what is neither
 * letter, mark nor digit; fold_accents then removes the marks of Latin, Greek,
 * Arabic and Hebrew, and writes letters such as o-slash as their base. Marks that
 * make another letter (Cyrillic short i, kana voicing, Indic vowel signs) stay.
 *
 * Words of table characters (chars.c) take one look-up a character; others go
 * through ICU. Input and output are bounded, nothing is allocated.
 */
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#include "text/private.h"
#include "util/utf8.h"

#define INPUT_MAX 512 /* bytes looked at: many times what a term can hold */
#define UNITS_MAX 2048

void fold_add(struct fold *f, const char *p, size_t n)
{
	size_t room = sizeof(f->data) - f->len;
	size_t take = f->cut ? 0 : n <= room ? n : utf8_floor(p, n, room);

	memcpy(f->data + f->len, p, take);
	f->len = (uint16_t)(f->len + take);
	f->cut = f->cut || take < n;
}

static void add_char(struct fold *f, uint32_t cp)
{
	char utf8[4];

	fold_add(f, utf8, utf8_encode(cp, utf8));
}

/* Letters, marks and numbers stay in words; what else folding brings is dropped. */
static bool is_word_char(UChar32 cp)
{
	return (U_GET_GC_MASK(cp) & (U_GC_L_MASK | U_GC_M_MASK | U_GC_N_MASK)) != 0;
}

/* UTF-8 to UTF-16; invalid bytes are left out. Turkish capital I's are replaced. */
static int32_t to_units(const char *p, size_t n, bool turkish, UChar *units)
{
	int32_t count = 0;

	for (size_t at = 0, len; at < n; at += len) {
		uint32_t cp = utf8_decode(p + at, n - at, &len);

		if (cp == 0xFFFD)
			continue;
		if (turkish)
			cp = cp == 'I' ? 0x131 : cp == 0x130 ? 'i' : cp;
		U16_APPEND_UNSAFE(units, count, cp);
	}
	return count;
}

/* A result that does not fit is that of half the input: so much
 * more than a term holds that nobody sees the difference. */
void fold_case_icu(const char *p, size_t n, bool turkish, struct fold *ret)
{
	UErrorCode err = U_ZERO_ERROR;
	const UNormalizer2 *folder = unorm2_getNFKCCasefoldInstance(&err);
	UChar in[INPUT_MAX], out[UNITS_MAX];
	int32_t count = 0, len = to_units(p, n, turkish, in);

	*ret = (struct fold){ .len = 0 };
	while (len > 0) {
		err = U_ZERO_ERROR;
		count = unorm2_normalize(folder, in, len, out, UNITS_MAX, &err);
		if (err != U_BUFFER_OVERFLOW_ERROR)
			break;
		len /= 2;
	}
	if (U_FAILURE(err))
		return;
	for (int32_t i = 0; i < count && !ret->cut;) {
		UChar32 cp;

		U16_NEXT(out, i, count, cp);
		if (!U_IS_SURROGATE(cp) && is_word_char(cp))
			add_char(ret, (uint32_t)cp);
	}
}

/* True if the table knew every character. */
static bool fold_by_table(const char *p, size_t n, struct fold *ret)
{
	const struct char_info *table = chars_table();

	if (!table)
		return false;
	for (size_t at = 0, len; at < n; at += len) {
		unsigned char c = (unsigned char)p[at];
		uint32_t cp = c;

		len = 1;
		if (c >= 0x80)
			cp = utf8_decode(p + at, n - at, &len);
		if (cp >= CHAR_TABLE || !(table[cp].flags & CHAR_SIMPLE))
			return false;
		fold_add(ret, table[cp].cased, table[cp].case_len);
	}
	return true;
}

void fold_case(const char *p, size_t n, bool turkish, struct fold *ret)
{
	*ret = (struct fold){ .len = 0 };
	if (n > INPUT_MAX)
		n = utf8_floor(p, n, INPUT_MAX);
	if (turkish || !fold_by_table(p, n, ret))
		fold_case_icu(p, n, turkish, ret);
}

/* Marks that matching ignores, by block, and the letters that are apostrophes. */
static bool is_accent(uint32_t cp)
{
	return cp == 0x2BB || cp == 0x2BC || (cp >= 0x300 && cp <= 0x36F) ||
		(cp >= 0x591 && cp <= 0x5C7) || (cp >= 0x610 && cp <= 0x61A) || cp == 0x640 ||
		(cp >= 0x64B && cp <= 0x65F) || cp == 0x670 || (cp >= 0x6D6 && cp <= 0x6ED) ||
		cp == 0x93C || cp == 0x9BC || cp == 0xA3C || (cp >= 0x1AB0 && cp <= 0x1AFF) ||
		(cp >= 0x1DC0 && cp <= 0x1DFF) || (cp >= 0x20D0 && cp <= 0x20FF) ||
		(cp >= 0xFE20 && cp <= 0xFE2F);
}

/* Base letters of those that Unicode does not decompose. */
static const char *plain_letter(uint32_t cp)
{
	static const struct {
		uint16_t cp;
		const char *plain;
	} letters[] = {
		{ 0xE6, "ae" },
		{ 0xF0, "d" },
		{ 0xF8, "o" },
		{ 0xFE, "th" },
		{ 0x111, "d" },
		{ 0x127, "h" },
		{ 0x131, "i" },
		{ 0x138, "k" },
		{ 0x142, "l" },
		{ 0x14B, "n" },
		{ 0x153, "oe" },
		{ 0x167, "t" },
		{ 0x180, "b" },
		{ 0x19A, "l" },
		{ 0x1DD, "e" },
		{ 0x257, "d" },
		{ 0x268, "i" },
		/* Cyrillic: io and e with grave, i with grave. */
		{ 0x451, "\xD0\xB5" },
		{ 0x450, "\xD0\xB5" },
		{ 0x45D, "\xD0\xB8" },
	};

	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (letters[i].cp == cp)
			return letters[i].plain;
	return NULL;
}

/* Scripts whose marks are accents: Latin, Greek, Hebrew, Arabic. A Cyrillic letter
 * with a mark is a letter of its own, and so is a kana with a voicing mark. */
static bool marks_are_accents(uint32_t cp)
{
	return cp < 0x400 || (cp >= 0x530 && cp <= 0x6FF) || (cp >= 0x1E00 && cp <= 0x1FFF);
}

static void add_bare(struct fold *f, uint32_t cp, const UNormalizer2 *nfc)
{
	UErrorCode err = U_ZERO_ERROR;
	const char *plain = plain_letter(cp);
	UChar parts[8];
	int32_t n;

	if (plain) {
		fold_add(f, plain, strlen(plain));
		return;
	}
	if (is_accent(cp))
		return;
	n = -1;
	if (marks_are_accents(cp))
		n = unorm2_getDecomposition(nfc, (UChar32)cp, parts, 8, &err);
	if (n < 0 || U_FAILURE(err)) {
		add_char(f, cp);
		return;
	}
	for (int32_t i = 0; i < n;) {
		UChar32 part;

		U16_NEXT(parts, i, n, part);
		if (!is_accent((uint32_t)part)) {
			plain = plain_letter((uint32_t)part);
			if (plain)
				fold_add(f, plain, strlen(plain));
			else
				add_char(f, (uint32_t)part);
		}
	}
}

void fold_accents(const char *in, size_t n, struct fold *ret)
{
	UErrorCode err = U_ZERO_ERROR;
	const UNormalizer2 *nfc = NULL;

	*ret = (struct fold){ .len = 0 };
	for (size_t at = 0, len; at < n; at += len) {
		uint32_t cp = utf8_decode(in + at, n - at, &len);

		if (cp < 0x80) {
			fold_add(ret, in + at, 1);
			continue;
		}
		if (!nfc)
			nfc = unorm2_getNFCInstance(&err);
		if (U_SUCCESS(err))
			add_bare(ret, cp, nfc);
	}
}
