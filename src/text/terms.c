/*
 * terms.c: a folded word to its term: stop flag, stem, accents.
 *
 * Text repeats its words, and a Snowball stemmer takes some hundred nanoseconds, so
 * a table of 16384 slots remembers what became of words; a word whose slot is taken
 * by another replaces it. The table changes speed only, never a result.
 *
 * A word is stemmed by the language of the text if it is in that language's script;
 * Latin words in other scripts' texts by English. Words with digits are not stemmed.
 * Vietnamese keeps its accents, which are tones and vowels there.
 */
#include <libstemmer.h>

#include "text/private.h"
#include "util/mem.h"
#include "util/utf8.h"

#define SLOTS 16384U /* a power of two; a cache line each */
#define LINE 64U
#define KEY_MAX 28
#define TERM_MAX 32

/* The first n bytes of a number in memory, 0 < n < 8. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define FIRST_BYTES(n) (~(uint64_t)0 >> (64 - 8 * (n)))
#else
#define FIRST_BYTES(n) (~(uint64_t)0 << (64 - 8 * (n)))
#endif

struct slot {
	uint8_t key_len; /* 0: empty */
	uint8_t term_len;
	uint8_t lang;
	uint8_t flags;
	char key[KEY_MAX];
	char term[TERM_MAX];
};

_Static_assert(sizeof(struct slot) == LINE, "a look-up should cost one cache line");

struct terms {
	struct sb_stemmer *stemmers[TEXT_LANG_COUNT]; /* made when first needed */
	struct fold folded;                           /* the last term that is in no slot */
	struct slot *slots; /* within memory, at the start of a cache line */
	char *memory;
};

enum script {
	SCRIPT_LATIN,
	SCRIPT_GREEK,
	SCRIPT_CYRILLIC,
	SCRIPT_ARABIC,
	SCRIPT_INDIC,
	SCRIPT_OTHER
};

static const struct {
	const char *stemmer; /* Snowball's name; NULL: none */
	enum script script;
	bool bare; /* stem without accents: better where people leave them out */
} languages[TEXT_LANG_COUNT] = {
	[TEXT_LANG_NONE] = { NULL, SCRIPT_OTHER },
	[TEXT_LANG_AR] = { "arabic", SCRIPT_ARABIC },
	[TEXT_LANG_DA] = { "danish", SCRIPT_LATIN },
	[TEXT_LANG_DE] = { "german", SCRIPT_LATIN },
	[TEXT_LANG_EL] = { "greek", SCRIPT_GREEK, true },
	[TEXT_LANG_EN] = { "english", SCRIPT_LATIN, true },
	[TEXT_LANG_ES] = { "spanish", SCRIPT_LATIN },
	[TEXT_LANG_FI] = { "finnish", SCRIPT_LATIN },
	[TEXT_LANG_FR] = { "french", SCRIPT_LATIN, true },
	[TEXT_LANG_HI] = { "hindi", SCRIPT_INDIC },
	[TEXT_LANG_HU] = { "hungarian", SCRIPT_LATIN },
	[TEXT_LANG_ID] = { "indonesian", SCRIPT_LATIN },
	[TEXT_LANG_IT] = { "italian", SCRIPT_LATIN, true },
	[TEXT_LANG_JA] = { NULL, SCRIPT_OTHER },
	[TEXT_LANG_KO] = { NULL, SCRIPT_OTHER },
	[TEXT_LANG_NL] = { "dutch", SCRIPT_LATIN },
	[TEXT_LANG_NO] = { "norwegian", SCRIPT_LATIN },
	[TEXT_LANG_PT] = { "portuguese", SCRIPT_LATIN },
	[TEXT_LANG_RO] = { "romanian", SCRIPT_LATIN, true },
	[TEXT_LANG_RU] = { "russian", SCRIPT_CYRILLIC },
	[TEXT_LANG_SV] = { "swedish", SCRIPT_LATIN },
	[TEXT_LANG_TH] = { NULL, SCRIPT_OTHER },
	[TEXT_LANG_TR] = { "turkish", SCRIPT_LATIN },
	[TEXT_LANG_VI] = { NULL, SCRIPT_LATIN },
	[TEXT_LANG_ZH] = { NULL, SCRIPT_OTHER },
};

enum status terms_new(struct terms **ret)
{
	struct terms *t = mem_zero(sizeof(*t));

	if (!t)
		return ST_NOMEM;
	t->memory = mem_zero(SLOTS * sizeof(struct slot) + LINE);
	if (!t->memory) {
		mem_free(t);
		return ST_NOMEM;
	}
	t->slots = (struct slot *)(void *)(t->memory + LINE - (uintptr_t)t->memory % LINE);
	*ret = t;
	return ST_OK;
}

void terms_free(struct terms *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < TEXT_LANG_COUNT; i++)
		if (t->stemmers[i])
			sb_stemmer_delete(t->stemmers[i]);
	mem_free(t->memory);
	mem_free(t);
}

/* By the first letter; good enough, since words of two scripts are rare. */
static enum script script_of(const char *word, size_t n)
{
	size_t len;
	uint32_t cp = utf8_decode(word, n, &len);

	if (cp < 0x370 || (cp >= 0x1E00 && cp < 0x1F00))
		return SCRIPT_LATIN;
	if (cp < 0x400 || (cp >= 0x1F00 && cp < 0x2000))
		return SCRIPT_GREEK;
	if (cp < 0x530)
		return SCRIPT_CYRILLIC;
	if (cp >= 0x600 && cp < 0x700)
		return SCRIPT_ARABIC;
	return cp >= 0x900 && cp < 0x980 ? SCRIPT_INDIC : SCRIPT_OTHER;
}

/* The language whose words these are, in a text of lang; NONE: leave it alone. */
static enum text_lang language_of(const char *word, size_t n, enum text_lang lang)
{
	enum script script = script_of(word, n);

	if (lang == TEXT_LANG_NONE || script == languages[lang].script)
		return lang;
	if (script == SCRIPT_LATIN && languages[lang].script != SCRIPT_LATIN)
		return TEXT_LANG_EN;
	return TEXT_LANG_NONE;
}

static bool has_digit(const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (word[i] >= '0' && word[i] <= '9')
			return true;
	return false;
}

/* *ret borrows from the stemmer, or from word where there is nothing to stem. */
static enum status stem(struct terms *t, struct bytes word, enum text_lang lang, struct bytes *ret)
{
	const sb_symbol *stemmed;

	*ret = word;
	if (!languages[lang].stemmer)
		return ST_OK;
	if (!t->stemmers[lang]) {
		t->stemmers[lang] = sb_stemmer_new(languages[lang].stemmer, "UTF_8");
		if (!t->stemmers[lang])
			return ST_NOMEM;
	}
	stemmed = sb_stemmer_stem(t->stemmers[lang], (const sb_symbol *)word.data, (int)word.len);
	if (!stemmed)
		return ST_NOMEM;
	if (sb_stemmer_length(t->stemmers[lang]) > 0)
		*ret = (struct bytes){ (const char *)stemmed,
			(size_t)sb_stemmer_length(t->stemmers[lang]) };
	return ST_OK;
}

/* The work itself, into t->folded. */
static enum status make(struct terms *t, struct bytes word, bool cut, enum text_lang lang,
	uint8_t *ret_flags)
{
	enum text_lang own = language_of(word.data, word.len, lang);
	struct bytes stemmed = word;
	enum status st = ST_OK;

	fold_accents(word.data, word.len, &t->folded);
	*ret_flags = stop_languages(t->folded.data, t->folded.len) & 1U << own ? TEXT_TERM_STOP : 0;
	if (own == TEXT_LANG_VI) {
		t->folded = (struct fold){ .len = 0 };
		fold_add(&t->folded, word.data, word.len);
	}
	if (own == TEXT_LANG_NONE || cut || has_digit(word.data, word.len))
		return ST_OK;
	if (languages[own].bare)
		word = (struct bytes){ t->folded.data, t->folded.len };
	st = stem(t, word, own, &stemmed);
	if (st == ST_OK && stemmed.data != word.data)
		fold_accents(stemmed.data, stemmed.len, &t->folded);
	return st;
}

/* A word as four numbers, padded with zeros; the caller's array is as long as a term
 * may be, so that reading behind the word is harmless. */
static void read_key(const char *word, size_t n, uint64_t key[4])
{
	memcpy(key, word, KEY_MAX + 4);
	for (size_t i = 0; i < 4; i++) {
		size_t have = n > 8 * i ? n - 8 * i : 0;

		if (have == 0)
			key[i] = 0;
		else if (have < 8)
			key[i] &= FIRST_BYTES(have);
	}
}

static uint32_t hash_key(const uint64_t key[4], uint64_t seed)
{
	uint64_t h = (key[0] ^ seed) * 0x9E3779B97F4A7C15U;

	h ^= h >> 32;
	h = (h ^ key[1]) * 0xFF51AFD7ED558CCDU;
	h ^= (key[2] + key[3]) * 0xC4CEB9FE1A85EC53U;
	return (uint32_t)(h >> 40) & (SLOTS - 1);
}

/* The slot that holds the word, or the one to put it into; NULL: too long for any. */
static struct slot *find(struct terms *t, const char *word, size_t n, enum text_lang lang,
	bool *ret_hit)
{
	uint64_t key[4], held[4] = { 0 };
	struct slot *slot;

	*ret_hit = false;
	if (n > KEY_MAX)
		return NULL;
	read_key(word, n, key);
	slot = &t->slots[hash_key(key, n * TEXT_LANG_COUNT + (uint64_t)lang)];
	memcpy(held, slot->key, KEY_MAX);
	*ret_hit = slot->key_len == n && slot->lang == lang && key[0] == held[0] &&
		key[1] == held[1] && key[2] == held[2] && key[3] == held[3];
	return slot;
}

enum status terms_get(struct terms *t, const char *word, size_t n, bool cut, enum text_lang lang,
	struct term *ret)
{
	bool hit;
	struct slot *slot = find(t, word, n, lang, &hit);
	uint8_t flags;
	enum status st;

	if (!hit) {
		st = make(t, (struct bytes){ word, n }, cut, lang, &flags);
		if (st)
			return st;
		if (!slot || cut || t->folded.len > TERM_MAX) {
			*ret = (struct term){ t->folded.data, t->folded.len, flags };
			return ST_OK;
		}
		*slot = (struct slot){ (uint8_t)n, (uint8_t)t->folded.len, (uint8_t)lang, flags,
			{ 0 }, { 0 } };
		memcpy(slot->key, word, n);
		memcpy(slot->term, t->folded.data, t->folded.len);
	}
	*ret = (struct term){ slot->term, slot->term_len, slot->flags };
	return ST_OK;
}
