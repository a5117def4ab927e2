/*
 * grapheme.c: extended grapheme clusters (UAX #29, Unicode 17). ICU's own iterator is of
 * another version with each ICU; here only its classes of characters are taken, and what
 * changed since the oldest ICU we build with is listed.
 */
#include <unicode/uchar.h>

#include "text/unicode.h"
#include "util/utf8.h"

enum class {
	OTHER,
	CR,
	LF,
	CONTROL,
	EXTEND, /* SpacingMark, too: neither is ever parted from what is before it */
	ZWJ,
	PREPEND,
	L,
	V,
	T,
	LV,
	LVT,
	FLAG,
	PICTURE,
};

struct range {
	uint32_t first, last;
};

static const struct range young_marks[] = { { 0x897, 0x897 }, { 0x1ACF, 0x1ADD },
	{ 0x1AE0, 0x1AEB }, { 0x10D69, 0x10D6D }, { 0x10EFA, 0x10EFC }, { 0x113B8, 0x113C0 },
	{ 0x113C2, 0x113C2 }, { 0x113C5, 0x113C5 }, { 0x113C7, 0x113CA }, { 0x113CC, 0x113D0 },
	{ 0x113D2, 0x113D2 }, { 0x113E1, 0x113E2 }, { 0x11B60, 0x11B67 }, { 0x11F5A, 0x11F5A },
	{ 0x1611E, 0x1612F }, { 0x1E5EE, 0x1E5EF }, { 0x1E6E3, 0x1E6E3 }, { 0x1E6E6, 0x1E6E6 },
	{ 0x1E6EE, 0x1E6EF }, { 0x1E6F5, 0x1E6F5 } };

/* Indic_Conjunct_Break of Unicode 17: ICU knows it from 74 on only. */
static const struct range consonants[] = { { 0x915, 0x939 }, { 0x958, 0x95F }, { 0x978, 0x97F },
	{ 0x995, 0x9A8 }, { 0x9AA, 0x9B0 }, { 0x9B2, 0x9B2 }, { 0x9B6, 0x9B9 }, { 0x9DC, 0x9DD },
	{ 0x9DF, 0x9DF }, { 0x9F0, 0x9F1 }, { 0xA95, 0xAA8 }, { 0xAAA, 0xAB0 }, { 0xAB2, 0xAB3 },
	{ 0xAB5, 0xAB9 }, { 0xAF9, 0xAF9 }, { 0xB15, 0xB28 }, { 0xB2A, 0xB30 }, { 0xB32, 0xB33 },
	{ 0xB35, 0xB39 }, { 0xB5C, 0xB5D }, { 0xB5F, 0xB5F }, { 0xB71, 0xB71 }, { 0xC15, 0xC28 },
	{ 0xC2A, 0xC39 }, { 0xC58, 0xC5A }, { 0xD15, 0xD3A }, { 0x1000, 0x102A },
	{ 0x103F, 0x103F }, { 0x1050, 0x1055 }, { 0x105A, 0x105D }, { 0x1061, 0x1061 },
	{ 0x1065, 0x1066 }, { 0x106E, 0x1070 }, { 0x1075, 0x1081 }, { 0x108E, 0x108E },
	{ 0x1780, 0x17B3 }, { 0x1A20, 0x1A54 }, { 0x1B0B, 0x1B0C }, { 0x1B13, 0x1B33 },
	{ 0x1B45, 0x1B4C }, { 0x1B83, 0x1BA0 }, { 0x1BAE, 0x1BAF }, { 0x1BBB, 0x1BBD },
	{ 0xA989, 0xA98B }, { 0xA98F, 0xA9B2 }, { 0xA9E0, 0xA9E4 }, { 0xA9E7, 0xA9EF },
	{ 0xA9FA, 0xA9FE }, { 0xAA60, 0xAA6F }, { 0xAA71, 0xAA73 }, { 0xAA7A, 0xAA7A },
	{ 0xAA7E, 0xAA7F }, { 0xAAE0, 0xAAEA }, { 0xABC0, 0xABDA }, { 0x10A00, 0x10A00 },
	{ 0x10A10, 0x10A13 }, { 0x10A15, 0x10A17 }, { 0x10A19, 0x10A35 }, { 0x11103, 0x11126 },
	{ 0x11144, 0x11144 }, { 0x11147, 0x11147 }, { 0x11380, 0x11389 }, { 0x1138B, 0x1138B },
	{ 0x1138E, 0x1138E }, { 0x11390, 0x113B5 }, { 0x11900, 0x11906 }, { 0x11909, 0x11909 },
	{ 0x1190C, 0x11913 }, { 0x11915, 0x11916 }, { 0x11918, 0x1192F }, { 0x11A00, 0x11A00 },
	{ 0x11A0B, 0x11A32 }, { 0x11A50, 0x11A50 }, { 0x11A5C, 0x11A83 }, { 0x11F04, 0x11F10 },
	{ 0x11F12, 0x11F33 } };

static const struct range linkers[] = { { 0x94D, 0x94D }, { 0x9CD, 0x9CD }, { 0xACD, 0xACD },
	{ 0xB4D, 0xB4D }, { 0xC4D, 0xC4D }, { 0xD4D, 0xD4D }, { 0x1039, 0x1039 },
	{ 0x17D2, 0x17D2 }, { 0x1A60, 0x1A60 }, { 0x1B44, 0x1B44 }, { 0x1BAB, 0x1BAB },
	{ 0xA9C0, 0xA9C0 }, { 0xAAF6, 0xAAF6 }, { 0x10A3F, 0x10A3F }, { 0x11133, 0x11133 },
	{ 0x113D0, 0x113D0 }, { 0x1193E, 0x1193E }, { 0x11A47, 0x11A47 }, { 0x11A99, 0x11A99 },
	{ 0x11F42, 0x11F42 } };

static bool within(uint32_t cp, const struct range *r, size_t n)
{
	for (size_t i = 0; i < n && cp >= r[i].first; i++)
		if (cp <= r[i].last)
			return true;
	return false;
}
#define WITHIN(cp, list) within(cp, list, sizeof(list) / sizeof *(list))

static enum class class_of(uint32_t cp)
{
	static const uint8_t classes[] = {
		[U_GCB_CONTROL] = CONTROL,
		[U_GCB_CR] = CR,
		[U_GCB_EXTEND] = EXTEND,
		[U_GCB_L] = L,
		[U_GCB_LF] = LF,
		[U_GCB_LV] = LV,
		[U_GCB_LVT] = LVT,
		[U_GCB_T] = T,
		[U_GCB_V] = V,
		[U_GCB_SPACING_MARK] = EXTEND,
		[U_GCB_PREPEND] = PREPEND,
		[U_GCB_REGIONAL_INDICATOR] = FLAG,
		[U_GCB_ZWJ] = ZWJ,
	};
	int32_t c;

	if (cp == 0x11A3A)
		return OTHER;
	if (cp == 0x113D1)
		return PREPEND;
	if (WITHIN(cp, young_marks))
		return EXTEND;
	c = u_getIntPropertyValue((UChar32)cp, UCHAR_GRAPHEME_CLUSTER_BREAK);
	if (c > 0 && c < (int32_t)sizeof classes && classes[c])
		return (enum class)classes[c];
	return u_hasBinaryProperty((UChar32)cp, UCHAR_EXTENDED_PICTOGRAPHIC) ? PICTURE : OTHER;
}

/* Rules GB6 to GB8: syllables. */
static bool syllable(enum class a, enum class b)
{
	switch (a) {
	case L:
		return b == L || b == V || b == LV || b == LVT;
	case LV:
	case V:
		return b == V || b == T;
	case LVT:
	case T:
		return b == T;
	default:
		return false;
	}
}

size_t unicode_grapheme(const char *p, size_t n)
{
	enum { NONE, CONSONANT, LINKED } conjunct = NONE; /* GB9c */
	bool picture = false, joined = false;             /* GB11 */
	size_t i = 0, len, flags = 0;
	enum class before = OTHER;

	for (; i < n; i += len) {
		uint32_t cp = utf8_decode(p + i, n - i, &len);
		enum class c = class_of(cp);
		bool consonant = cp >= 0x915 && WITHIN(cp, consonants);
		bool keep = i == 0;

		if (before == CR)
			keep = c == LF;
		else if (i && before != LF && before != CONTROL && c > CONTROL)
			keep = c == EXTEND || c == ZWJ || before == PREPEND ||
				syllable(before, c) || (consonant && conjunct == LINKED) ||
				(c == PICTURE && joined) ||
				(c == FLAG && before == FLAG && flags % 2);
		else if (i && before != LF && before != CONTROL && c == OTHER)
			keep = before == PREPEND || (consonant && conjunct == LINKED);
		if (!keep)
			break;
		if (consonant)
			conjunct = CONSONANT;
		else if (conjunct && WITHIN(cp, linkers))
			conjunct = LINKED;
		else if ((c != EXTEND && c != ZWJ) || cp == 0x200C)
			conjunct = NONE;
		joined = picture && c == ZWJ;
		picture = c == PICTURE || (picture && c == EXTEND);
		flags += c == FLAG;
		before = c;
	}
	return i;
}
