/*
 * unicode.c: properties of single characters in the versions of Unicode that the
 * reference tokenizers have. A character that is younger than a version is unassigned in
 * it; the few whose property changed since are listed here, as are the ones that are
 * younger than the oldest ICU we build with (Unicode 15). All lists were found by asking
 * the reference about every code point (tests/conformance/test_tokenizer.py does again).
 */
#include "text/unicode.h"

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/utf16.h>

#define CATEGORIES 8 /* major versions */
#define MARKS 9
#define NORMAL_FORMS 9
#define OLDEST_ICU 15

struct range {
	uint32_t first, last;
};

/* Word characters of Unicode 15.1 and 16. */
static const struct range young_words[] = { { 0x897, 0x897 }, { 0x1C89, 0x1C8A },
	{ 0xA7CB, 0xA7CD }, { 0xA7DA, 0xA7DC }, { 0x105C0, 0x105F3 }, { 0x10D40, 0x10D65 },
	{ 0x10D69, 0x10D6D }, { 0x10D6F, 0x10D85 }, { 0x10EC2, 0x10EC4 }, { 0x10EFC, 0x10EFC },
	{ 0x11380, 0x11389 }, { 0x1138B, 0x1138B }, { 0x1138E, 0x1138E }, { 0x11390, 0x113B5 },
	{ 0x113B7, 0x113C0 }, { 0x113C2, 0x113C2 }, { 0x113C5, 0x113C5 }, { 0x113C7, 0x113CA },
	{ 0x113CC, 0x113D3 }, { 0x113E1, 0x113E2 }, { 0x116D0, 0x116E3 }, { 0x11BC0, 0x11BE0 },
	{ 0x11BF0, 0x11BF9 }, { 0x11F5A, 0x11F5A }, { 0x13460, 0x143FA }, { 0x16100, 0x16139 },
	{ 0x16D40, 0x16D6C }, { 0x16D70, 0x16D79 }, { 0x18CFF, 0x18CFF }, { 0x1CCF0, 0x1CCF9 },
	{ 0x1E5D0, 0x1E5FA }, { 0x2EBF0, 0x2EE5D } };

/* Upper case letters of Unicode 16 and 17. step: every one, or every second one. */
static const struct {
	struct range upper;
	uint32_t lower, step;
} young_pairs[] = { { { 0x1C89, 0x1C89 }, 0x1C8A, 1 }, { { 0xA7CB, 0xA7CB }, 0x264, 1 },
	{ { 0xA7CC, 0xA7CE }, 0xA7CD, 2 }, { { 0xA7D2, 0xA7D4 }, 0xA7D3, 2 },
	{ { 0xA7DA, 0xA7DA }, 0xA7DB, 1 }, { { 0xA7DC, 0xA7DC }, 0x19B, 1 },
	{ { 0x10D50, 0x10D65 }, 0x10D70, 1 }, { { 0x16EA0, 0x16EB8 }, 0x16EBB, 1 } };

/* Major version in which a character was assigned; 0: not yet. */
static unsigned age(uint32_t cp)
{
	UVersionInfo v;

	u_charAge((UChar32)cp, v);
	return v[0];
}

static bool known(uint32_t cp, unsigned version)
{
	unsigned since = age(cp);

	/* 15.1 is younger than ICU 72, which has 15.0; its letters are in the list. */
	return since && since <= version && !(cp >= 0x2EBF0 && cp <= 0x2EE5D);
}

static bool within(uint32_t cp, const struct range *r, size_t n)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (cp > r[mid].last)
			low = mid + 1;
		else
			high = mid;
	}
	return low < n && cp >= r[low].first;
}

bool unicode_space(uint32_t cp)
{
	if (cp < 0x80)
		return cp == ' ' || (cp >= 9 && cp <= 13);
	return cp == 0x85 || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) ||
		cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

bool unicode_word(uint32_t cp)
{
	if (known(cp, OLDEST_ICU))
		return u_hasBinaryProperty((UChar32)cp, UCHAR_ALPHABETIC) ||
			(U_GET_GC_MASK((UChar32)cp) &
				(U_GC_M_MASK | U_GC_ND_MASK | U_GC_PC_MASK)) ||
			u_hasBinaryProperty((UChar32)cp, UCHAR_JOIN_CONTROL);
	return within(cp, young_words, sizeof young_words / sizeof *young_words);
}

bool unicode_control(uint32_t cp)
{
	return (U_GET_GC_MASK((UChar32)cp) & (U_GC_CC_MASK | U_GC_CF_MASK | U_GC_CO_MASK)) &&
		known(cp, CATEGORIES);
}

bool unicode_punctuation(uint32_t cp)
{
	if (cp < 0x80)
		return (cp >= 33 && cp <= 47) || (cp >= 58 && cp <= 64) || (cp >= 91 && cp <= 96) ||
			(cp >= 123 && cp <= 126);
	if (cp == 0x166D || cp == 0x111C9)
		return true;
	return (U_GET_GC_MASK((UChar32)cp) & U_GC_P_MASK) && known(cp, CATEGORIES);
}

bool unicode_nonspacing(uint32_t cp)
{
	if (cp < 0x300)
		return false;
	if (cp == 0x1734)
		return true;
	if (cp == 0x1885 || cp == 0x1886 || cp == 0xA9BD || cp == 0x111C9)
		return false;
	return u_charType((UChar32)cp) == U_NON_SPACING_MARK && known(cp, CATEGORIES);
}

bool unicode_mark(uint32_t cp)
{
	if (cp < 0x300)
		return false;
	if (cp == 0x1CF2 || cp == 0x1CF3)
		return true;
	return cp != 0x111C9 && (U_GET_GC_MASK((UChar32)cp) & U_GC_M_MASK) && known(cp, MARKS);
}

size_t unicode_lower(uint32_t cp, uint32_t ret[2])
{
	ret[0] = cp;
	if (cp < 0x80) {
		ret[0] = cp >= 'A' && cp <= 'Z' ? cp + 32 : cp;
		return 1;
	}
	if (cp == 0x130) { /* the only one that becomes two */
		ret[0] = 'i';
		ret[1] = 0x307;
		return 2;
	}
	if (known(cp, OLDEST_ICU)) {
		ret[0] = (uint32_t)u_tolower((UChar32)cp);
		return 1;
	}
	for (size_t i = 0; i < sizeof young_pairs / sizeof *young_pairs; i++) {
		const struct range *r = &young_pairs[i].upper;

		if (cp >= r->first && cp <= r->last && (cp - r->first) % young_pairs[i].step == 0)
			ret[0] = young_pairs[i].lower + (cp - r->first);
	}
	return 1;
}

uint8_t unicode_combining_class(uint32_t cp)
{
	return cp < 0x300 || !known(cp, NORMAL_FORMS) ? 0 : u_getCombiningClass((UChar32)cp);
}

size_t unicode_decompose(uint32_t cp, bool compat, uint32_t ret[UNICODE_DECOMPOSED])
{
	UErrorCode ec = U_ZERO_ERROR;
	const UNormalizer2 *n2;
	UChar units[2 * UNICODE_DECOMPOSED];
	int32_t len;
	size_t n = 0;

	ret[0] = cp;
	if (cp < 0xA0 || !known(cp, NORMAL_FORMS))
		return 1;
	n2 = compat ? unorm2_getNFKDInstance(&ec) : unorm2_getNFDInstance(&ec);
	if (U_FAILURE(ec))
		return 1;
	len = unorm2_getDecomposition(n2, (UChar32)cp, units, 2 * UNICODE_DECOMPOSED, &ec);
	if (U_FAILURE(ec) || len <= 0)
		return 1;
	for (int32_t i = 0; i < len && n < UNICODE_DECOMPOSED;) {
		UChar32 c;

		U16_NEXT(units, i, len, c);
		ret[n++] = (uint32_t)c;
	}
	return n;
}
