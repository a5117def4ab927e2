/*
 * detect.c: the likely language of a text.
 *
 * Script first: kana mean Japanese, Hangul Korean, Thai letters Thai, Greek ones
 * Greek, Han without kana Chinese. Among languages that share a script, function
 * words are counted (stop.c), and letters that few languages use; letters of
 * languages that we do not know (Polish, Czech, Ukrainian, Persian) speak against
 * all of ours. A wrong guess costs more than none: the corpus has a default.
 *
 * Cost: one pass over at most 4 KiB, no allocation.
 */
#include "text/private.h"

#define LOOK_AT 4096 /* bytes */
#define WORD_MAX 36

enum script {
	SCRIPT_LATIN,
	SCRIPT_CYRILLIC,
	SCRIPT_ARABIC,
	SCRIPT_DEVANAGARI,
	SCRIPT_GREEK,
	SCRIPT_HAN,
	SCRIPT_KANA,
	SCRIPT_HANGUL,
	SCRIPT_THAI,
	SCRIPT_OTHER,
	SCRIPT_COUNT
};

struct counts {
	uint32_t letters[SCRIPT_COUNT];
	uint32_t words[SCRIPT_COUNT]; /* by the script of their last letter */
	uint32_t foreign;             /* letters of languages that are not ours */
	uint32_t score[TEXT_LANG_COUNT];
};

static enum script script_of(uint32_t cp)
{
	static const struct {
		uint32_t last;
		enum script script;
	} ranges[] = {
		{ 0x36F, SCRIPT_LATIN },
		{ 0x3FF, SCRIPT_GREEK },
		{ 0x52F, SCRIPT_CYRILLIC },
		{ 0x5FF, SCRIPT_OTHER },
		{ 0x6FF, SCRIPT_ARABIC },
		{ 0x8FF, SCRIPT_OTHER },
		{ 0x97F, SCRIPT_DEVANAGARI },
		{ 0xDFF, SCRIPT_OTHER },
		{ 0xE7F, SCRIPT_THAI },
		{ 0x10FF, SCRIPT_OTHER },
		{ 0x11FF, SCRIPT_HANGUL },
		{ 0x1DFF, SCRIPT_OTHER },
		{ 0x1EFF, SCRIPT_LATIN },
		{ 0x1FFF, SCRIPT_GREEK },
		{ 0x303F, SCRIPT_HAN },
		{ 0x30FF, SCRIPT_KANA },
		{ 0x318F, SCRIPT_HANGUL },
		{ 0x9FFF, SCRIPT_HAN },
		{ 0xABFF, SCRIPT_OTHER },
		{ 0xD7FF, SCRIPT_HANGUL },
		{ 0xF8FF, SCRIPT_OTHER },
		{ 0xFAFF, SCRIPT_HAN },
		{ 0xFF65, SCRIPT_OTHER },
		{ 0xFF9F, SCRIPT_KANA },
		{ 0x1FFFF, SCRIPT_OTHER },
		{ 0x3FFFF, SCRIPT_HAN },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (cp <= ranges[i].last)
			return ranges[i].script;
	return SCRIPT_OTHER;
}

#define BIT(lang) (1U << TEXT_LANG_##lang)
#define FOREIGN (1U << TEXT_LANG_NONE)

/* Languages that a letter points to (lower case); FOREIGN: to none of ours. */
struct letter {
	uint16_t first, last;
	uint32_t languages;
};

/* Sorted. */
static const struct letter letters[] = {
	{ 0xDF, 0xDF, BIT(DE) },
	{ 0xE0, 0xE0, BIT(FR) | BIT(IT) | BIT(PT) | BIT(VI) },
	{ 0xE1, 0xE1, BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI) },
	{ 0xE2, 0xE2, BIT(FR) | BIT(PT) | BIT(RO) | BIT(VI) },
	{ 0xE3, 0xE3, BIT(PT) | BIT(VI) },
	{ 0xE4, 0xE4, BIT(DE) | BIT(SV) | BIT(FI) },
	{ 0xE5, 0xE5, BIT(SV) | BIT(DA) | BIT(NO) },
	{ 0xE6, 0xE6, BIT(DA) | BIT(NO) },
	{ 0xE7, 0xE7, BIT(FR) | BIT(PT) | BIT(TR) },
	{ 0xE8, 0xE8, BIT(FR) | BIT(IT) | BIT(VI) },
	{ 0xE9, 0xE9, BIT(FR) | BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI) },
	{ 0xEA, 0xEA, BIT(FR) | BIT(PT) | BIT(VI) },
	{ 0xED, 0xED, BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI) },
	{ 0xEE, 0xEE, BIT(FR) | BIT(RO) },
	{ 0xF1, 0xF1, BIT(ES) },
	{ 0xF2, 0xF2, BIT(IT) | BIT(VI) },
	{ 0xF3, 0xF3, BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI) },
	{ 0xF4, 0xF4, BIT(FR) | BIT(PT) | BIT(VI) },
	{ 0xF5, 0xF5, BIT(PT) | BIT(VI) },
	{ 0xF6, 0xF6, BIT(DE) | BIT(SV) | BIT(FI) | BIT(HU) | BIT(TR) },
	{ 0xF8, 0xF8, BIT(DA) | BIT(NO) },
	{ 0xF9, 0xF9, BIT(IT) | BIT(VI) },
	{ 0xFA, 0xFA, BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI) },
	{ 0xFC, 0xFC, BIT(DE) | BIT(HU) | BIT(TR) },
	/* Latin Extended-A: Slavic and Baltic languages where nobody of ours is. */
	{ 0x101, 0x102, FOREIGN },
	{ 0x103, 0x103, BIT(RO) | BIT(VI) },
	{ 0x104, 0x110, FOREIGN },
	{ 0x111, 0x111, BIT(VI) },
	{ 0x112, 0x11E, FOREIGN },
	{ 0x11F, 0x11F, BIT(TR) },
	{ 0x120, 0x12F, FOREIGN },
	{ 0x130, 0x131, BIT(TR) },
	{ 0x132, 0x150, FOREIGN },
	{ 0x151, 0x151, BIT(HU) },
	{ 0x152, 0x153, BIT(FR) },
	{ 0x154, 0x15E, FOREIGN },
	{ 0x15F, 0x15F, BIT(RO) | BIT(TR) },
	{ 0x160, 0x162, FOREIGN },
	{ 0x163, 0x163, BIT(RO) },
	{ 0x164, 0x170, FOREIGN },
	{ 0x171, 0x171, BIT(HU) },
	{ 0x172, 0x17E, FOREIGN },
	{ 0x1A1, 0x1A1, BIT(VI) },
	{ 0x1B0, 0x1B0, BIT(VI) },
	{ 0x219, 0x21B, BIT(RO) },
	{ 0x44B, 0x44B, BIT(RU) },
	{ 0x44D, 0x44D, BIT(RU) },
	/* Ukrainian, Belarusian, Serbian, Macedonian. */
	{ 0x452, 0x45F, FOREIGN },
	{ 0x491, 0x491, FOREIGN },
	/* Persian, Urdu. */
	{ 0x679, 0x679, FOREIGN },
	{ 0x67E, 0x67E, FOREIGN },
	{ 0x686, 0x686, FOREIGN },
	{ 0x698, 0x698, FOREIGN },
	{ 0x6A9, 0x6A9, FOREIGN },
	{ 0x6AF, 0x6AF, FOREIGN },
	{ 0x6BA, 0x6BA, FOREIGN },
	{ 0x6CC, 0x6CC, FOREIGN },
	{ 0x6D2, 0x6D2, FOREIGN },
	{ 0x1EA0, 0x1EF9, BIT(VI) },
};

/* 0: to nothing. */
static uint32_t languages_of_letter(uint32_t cp)
{
	size_t low = 0, high = sizeof(letters) / sizeof(letters[0]);

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (cp > letters[mid].last)
			low = mid + 1;
		else if (cp < letters[mid].first)
			high = mid;
		else
			return letters[mid].languages;
	}
	return 0;
}

static void count_bits(struct counts *c, uint32_t languages, uint32_t weight)
{
	while (languages) {
		unsigned lang = (unsigned)__builtin_ctz(languages);

		c->score[lang] += weight;
		languages &= languages - 1;
	}
}

static void count_letter(struct counts *c, uint32_t cp)
{
	uint32_t languages = cp < 0x80 ? 0 : languages_of_letter(cp);

	c->letters[script_of(cp)]++;
	if (languages & FOREIGN)
		c->foreign++;
	else
		count_bits(c, languages, 2);
}

/* A word at its end: what of ours is it? A word of one language alone says most. */
static void count_word(struct counts *c, const char *word, size_t n, enum script script)
{
	/* Single letters are initials as often as articles. */
	uint32_t languages = n > 1 ? stop_languages(word, n) : 0;

	c->words[script]++;
	count_bits(c, languages, __builtin_popcount(languages) <= 2 ? 4 : 3);
}

/* Adds the folded character to the word; words of other scripts are only counted. */
static size_t add_folded(char *word, size_t n, const char *p, struct text_char c)
{
	const struct char_info *row = chars_table() + c.cp;
	const char *from = c.cp < CHAR_TABLE ? row->bare : p;
	size_t len = c.cp < CHAR_TABLE ? row->bare_len : c.len;

	if (c.class == CHAR_EXTEND && script_of(c.cp) != SCRIPT_DEVANAGARI)
		return n;
	if (n + len > WORD_MAX)
		return WORD_MAX + 1;
	memcpy(word + n, from, len);
	return n + len;
}

/* The lower-case form of a letter, where that is one letter of two bytes. */
static uint32_t lower(uint32_t cp)
{
	const struct char_info *row = &chars_table()[cp < CHAR_TABLE ? cp : 0];

	if (!(row->flags & CHAR_UPPER) || row->case_len != 2)
		return cp;
	return ((uint32_t)row->cased[0] & 0x1F) << 6 | ((uint32_t)row->cased[1] & 0x3F);
}

/* Adds the ASCII letters that start at `at` to the word of n bytes; returns how many
 * there are. */
static size_t add_ascii(struct counts *c, struct bytes text, size_t at, char *word, size_t *n)
{
	size_t from = at;

	for (; at < text.len; at++) {
		char letter = (char)(text.data[at] | 0x20);

		if (letter < 'a' || letter > 'z')
			break;
		if (*n < WORD_MAX)
			word[*n] = letter;
		*n += *n <= WORD_MAX;
	}
	c->letters[SCRIPT_LATIN] += (uint32_t)(at - from);
	return at - from;
}

static void count_text(struct counts *c, struct bytes text)
{
	char word[WORD_MAX];
	size_t n = 0, ascii;
	enum script script = SCRIPT_OTHER;

	for (size_t at = 0; at < text.len;) {
		struct text_char ch;
		bool letter;

		ascii = add_ascii(c, text, at, word, &n);
		at += ascii;
		if (ascii)
			script = SCRIPT_LATIN;
		if (at == text.len)
			break;
		ch = chars_at(text.data + at, text.len - at);
		letter = ch.class == CHAR_LETTER || ch.class == CHAR_EXTEND;
		if (letter && n <= WORD_MAX) {
			n = add_folded(word, n, text.data + at, ch);
			script = script_of(ch.cp);
		} else if (!letter && n > 0) {
			count_word(c, word, n <= WORD_MAX ? n : 0, script);
			n = 0;
		}
		if (ch.class == CHAR_LETTER || ch.class == CHAR_CJK || ch.class == CHAR_DICT)
			count_letter(c, lower(ch.cp));
		at += ch.len;
	}
	if (n > 0)
		count_word(c, word, n <= WORD_MAX ? n : 0, script);
}

/* The best of the languages in the mask, if it stands out. */
static enum text_lang best_of(const struct counts *c, uint32_t mask, uint32_t words)
{
	enum text_lang best = TEXT_LANG_NONE;
	uint32_t first = 0, second = 0;

	for (unsigned lang = 1; lang < TEXT_LANG_COUNT; lang++) {
		if (!(mask & 1U << lang))
			continue;
		if (c->score[lang] > first) {
			second = first;
			first = c->score[lang];
			best = (enum text_lang)lang;
		} else if (c->score[lang] > second) {
			second = c->score[lang];
		}
	}
	/* A word in eight at least, and a lead. Foreign letters count against. */
	if (first < 6 || first * 2 < words || first <= second || c->foreign * 6 > first)
		return TEXT_LANG_NONE;
	return best;
}

/* The languages of a script that have function words here. */
static uint32_t languages_of_script(enum script script)
{
	switch (script) {
	case SCRIPT_CYRILLIC:
		return BIT(RU);
	case SCRIPT_ARABIC:
		return BIT(AR);
	case SCRIPT_DEVANAGARI:
		return BIT(HI);
	case SCRIPT_LATIN:
		return ~(BIT(RU) | BIT(AR) | BIT(HI) | BIT(EL));
	default:
		return 0;
	}
}

enum text_lang text_lang_detect(struct bytes text)
{
	struct counts c = { .foreign = 0 };
	enum script script = SCRIPT_LATIN;

	if (!chars_table())
		return TEXT_LANG_NONE;
	if (text.len > LOOK_AT)
		text.len = LOOK_AT;
	count_text(&c, text);
	/* Han and kana letters say as much as several Latin ones. */
	for (unsigned i = SCRIPT_HAN; i <= SCRIPT_HANGUL; i++)
		c.letters[i] *= 3;
	if (c.letters[SCRIPT_KANA] * 10 >= c.letters[SCRIPT_HAN]) {
		c.letters[SCRIPT_KANA] += c.letters[SCRIPT_KANA] ? c.letters[SCRIPT_HAN] : 0;
		c.letters[SCRIPT_HAN] = c.letters[SCRIPT_KANA] ? 0 : c.letters[SCRIPT_HAN];
	}
	for (unsigned i = 0; i < SCRIPT_COUNT; i++)
		if (c.letters[i] > c.letters[script])
			script = (enum script)i;
	if (c.letters[script] < 2)
		return TEXT_LANG_NONE;
	switch (script) {
	case SCRIPT_HAN:
		return TEXT_LANG_ZH;
	case SCRIPT_KANA:
		return TEXT_LANG_JA;
	case SCRIPT_HANGUL:
		return TEXT_LANG_KO;
	case SCRIPT_THAI:
		return TEXT_LANG_TH;
	case SCRIPT_GREEK:
		return TEXT_LANG_EL;
	default:
		return best_of(&c, languages_of_script(script), c.words[script]);
	}
}
