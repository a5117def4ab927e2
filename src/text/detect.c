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
	SCRIPT_LATIN, SCRIPT_CYRILLIC, SCRIPT_ARABIC, SCRIPT_DEVANAGARI, SCRIPT_GREEK,
	SCRIPT_HAN, SCRIPT_KANA, SCRIPT_HANGUL, SCRIPT_THAI, SCRIPT_OTHER, SCRIPT_COUNT
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
		{ 0x36F, SCRIPT_LATIN }, { 0x3FF, SCRIPT_GREEK }, { 0x52F, SCRIPT_CYRILLIC },
		{ 0x5FF, SCRIPT_OTHER }, { 0x6FF, SCRIPT_ARABIC }, { 0x8FF, SCRIPT_OTHER },
		{ 0x97F, SCRIPT_DEVANAGARI }, { 0xDFF, SCRIPT_OTHER }, { 0xE7F, SCRIPT_THAI },
		{ 0x10FF, SCRIPT_OTHER }, { 0x11FF, SCRIPT_HANGUL }, { 0x1DFF, SCRIPT_OTHER },
		{ 0x1EFF, SCRIPT_LATIN }, { 0x1FFF, SCRIPT_GREEK }, { 0x303F, SCRIPT_HAN },
		{ 0x30FF, SCRIPT_KANA }, { 0x318F, SCRIPT_HANGUL }, { 0x9FFF, SCRIPT_HAN },
		{ 0xABFF, SCRIPT_OTHER }, { 0xD7FF, SCRIPT_HANGUL }, { 0xF8FF, SCRIPT_OTHER },
		{ 0xFAFF, SCRIPT_HAN }, { 0xFF65, SCRIPT_OTHER }, { 0xFF9F, SCRIPT_KANA },
		{ 0x1FFFF, SCRIPT_OTHER }, { 0x3FFFF, SCRIPT_HAN },
	};

	for (size_t i = 0; i < sizeof(ranges) / sizeof(ranges[0]); i++)
		if (cp <= ranges[i].last)
			return ranges[i].script;
	return SCRIPT_OTHER;
}

#define BIT(lang) (1U << TEXT_LANG_##lang)
#define FOREIGN (1U << TEXT_LANG_NONE)

/* Languages that a letter points to (lower case); FOREIGN: to none of ours; 0: to
 * nothing. */
static uint32_t languages_of_letter(uint32_t cp)
{
	switch (cp) {
	case 0xDF: return BIT(DE);
	case 0xE0: return BIT(FR) | BIT(IT) | BIT(PT) | BIT(VI);
	case 0xE1:
	case 0xED:
	case 0xF3:
	case 0xFA: return BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI);
	case 0xE2: return BIT(FR) | BIT(PT) | BIT(RO) | BIT(VI);
	case 0xE3:
	case 0xF5: return BIT(PT) | BIT(VI);
	case 0xE4: return BIT(DE) | BIT(SV) | BIT(FI);
	case 0xE5: return BIT(SV) | BIT(DA) | BIT(NO);
	case 0xE6:
	case 0xF8: return BIT(DA) | BIT(NO);
	case 0xE7: return BIT(FR) | BIT(PT) | BIT(TR);
	case 0xE8: return BIT(FR) | BIT(IT) | BIT(VI);
	case 0xE9: return BIT(FR) | BIT(ES) | BIT(PT) | BIT(HU) | BIT(VI);
	case 0xEA:
	case 0xF4: return BIT(FR) | BIT(PT) | BIT(VI);
	case 0xEE: return BIT(FR) | BIT(RO);
	case 0xF1: return BIT(ES);
	case 0xF2:
	case 0xF9: return BIT(IT) | BIT(VI);
	case 0xF6: return BIT(DE) | BIT(SV) | BIT(FI) | BIT(HU) | BIT(TR);
	case 0xFC: return BIT(DE) | BIT(HU) | BIT(TR);
	case 0x103: return BIT(RO) | BIT(VI);
	case 0x111:
	case 0x1A1:
	case 0x1B0: return BIT(VI);
	case 0x11F:
	case 0x131: return BIT(TR);
	case 0x151:
	case 0x171: return BIT(HU);
	case 0x15F: return BIT(RO) | BIT(TR);
	case 0x163:
	case 0x219:
	case 0x21B: return BIT(RO);
	case 0x44B:
	case 0x44D: return BIT(RU);
	case 0x454: /* Ukrainian, Belarusian, Serbian, Macedonian */
	case 0x456:
	case 0x457:
	case 0x491:
	case 0x45E:
	case 0x452:
	case 0x45B:
	case 0x458:
	case 0x459:
	case 0x45A:
	case 0x45F:
	case 0x453:
	case 0x45C:
	case 0x67E: /* Persian, Urdu */
	case 0x686:
	case 0x698:
	case 0x6A9:
	case 0x6AF:
	case 0x6CC:
	case 0x679:
	case 0x6BA:
	case 0x6D2: return FOREIGN;
	default: break;
	}
	if (cp >= 0x1EA0 && cp <= 0x1EF9)
		return BIT(VI);
	/* The rest of Latin Extended-A: Slavic and Baltic languages, Maltese, Welsh. */
	return cp >= 0x101 && cp <= 0x17E ? FOREIGN : 0;
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

static void count_text(struct counts *c, struct bytes text)
{
	char word[WORD_MAX];
	size_t n = 0;
	enum script script = SCRIPT_OTHER;

	for (size_t at = 0; at < text.len;) {
		struct text_char ch = chars_at(text.data + at, text.len - at);
		bool letter = ch.class == CHAR_LETTER || ch.class == CHAR_EXTEND;

		if (letter && n <= WORD_MAX) {
			n = add_folded(word, n, text.data + at, ch);
			script = script_of(ch.cp);
		} else if (!letter && n > 0) {
			count_word(c, word, n <= WORD_MAX ? n : 0, script);
			n = 0;
		}
		if (ch.class == CHAR_LETTER || ch.class == CHAR_CJK || ch.class == CHAR_DICT)
			count_letter(c, ch.cp < CHAR_TABLE && chars_case(ch.cp) & CHAR_UPPER &&
							chars_table()[ch.cp].case_len == 2 ?
						((uint32_t)chars_table()[ch.cp].cased[0] & 0x1F) << 6 |
							((uint32_t)chars_table()[ch.cp].cased[1] & 0x3F) :
						ch.cp);
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
	case SCRIPT_CYRILLIC: return BIT(RU);
	case SCRIPT_ARABIC: return BIT(AR);
	case SCRIPT_DEVANAGARI: return BIT(HI);
	case SCRIPT_LATIN: return ~(BIT(RU) | BIT(AR) | BIT(HI) | BIT(EL));
	default: return 0;
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
	case SCRIPT_HAN: return TEXT_LANG_ZH;
	case SCRIPT_KANA: return TEXT_LANG_JA;
	case SCRIPT_HANGUL: return TEXT_LANG_KO;
	case SCRIPT_THAI: return TEXT_LANG_TH;
	case SCRIPT_GREEK: return TEXT_LANG_EL;
	default: return best_of(&c, languages_of_script(script), c.words[script]);
	}
}
