/*
 * stop.c: which languages a word is a function word of.
 *
 * The lists are hashed together once for the process: a word has one row with a bit
 * for each language, so that the stop flag of a term and the counting of detect.c
 * cost one look-up. About 2,900 words in 8192 rows; the hash is fixed and the words
 * are ours, so nobody can make it slow.
 */
#include <pthread.h>

#include "text/private.h"

#define ROWS 8192U /* a power of two */
#define LONGEST 36 /* bytes */

struct row {
	const char *word; /* in its list; NULL: free */
	uint8_t len;
	uint32_t languages;
};

_Static_assert(TEXT_LANG_COUNT <= 32, "a language is a bit of a word");

static struct row rows[ROWS];
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

/* The row of the word, or the free one where it would stand. */
static struct row *find(const char *word, size_t n)
{
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < n; i++)
		h = (h ^ (unsigned char)word[i]) * 16777619U; /* FNV-1a */
	h ^= h >> 15;
	for (;; h++) {
		struct row *row = &rows[h & (ROWS - 1)];

		if (!row->word || (row->len == n && memcmp(row->word, word, n) == 0))
			return row;
	}
}

static void add_list(const char *list, uint32_t bit)
{
	for (const char *end; *list; list = *end ? end + 1 : end) {
		struct row *row;

		end = strchrnul(list, ' ');
		row = find(list, (size_t)(end - list));
		row->word = list;
		row->len = (uint8_t)(end - list);
		row->languages |= bit;
	}
}

static void rows_make(void)
{
	for (unsigned lang = 0; lang < TEXT_LANG_COUNT; lang++) {
		const char *list = stop_list((enum text_lang)lang);

		if (list)
			add_list(list, 1U << lang);
	}
}

uint32_t stop_languages(const char *word, size_t n)
{
	(void)pthread_once(&rows_once, rows_make);
	return n > 0 && n <= LONGEST ? find(word, n)->languages : 0;
}
