/*
 * stopwords.c: the English words that carry no meaning of their own in a query.
 *
 * Function words only: pronouns, articles, prepositions, conjunctions, auxiliaries
 * and a few adverbs. Left out on purpose: single letters (vitamin D, C), "us" (US),
 * and what an apostrophe leaves behind (see query.c). Dropped from queries alone,
 * never from the index, so that the list may change without indexing anew.
 */
#include "text/stopwords.h"

#include <string.h>

#define LONGEST 16 /* above the longest word below */

/* Sorted by bytes, for bsearch. */
/* clang-format off */
static const char *const stopwords[] = {
	"a", "about", "above", "across", "after", "again", "against", "all", "also", "although",
	"always", "am", "among", "an", "and", "another", "any", "are", "around", "as", "at", "be",
	"because", "been", "before", "behind", "being", "below", "between", "both", "but", "by",
	"can", "cannot", "could", "did", "do", "does", "doing", "down", "during", "each",
	"either", "else", "etc", "even", "ever", "every", "few", "for", "from", "further", "had",
	"has", "have", "having", "he", "hence", "her", "here", "hers", "herself", "him",
	"himself", "his", "how", "however", "i", "if", "in", "into", "is", "it", "its", "itself",
	"just", "may", "me", "might", "more", "most", "much", "must", "my", "myself", "neither",
	"nor", "not", "now", "of", "off", "on", "once", "only", "onto", "or", "other", "others",
	"ought", "our", "ours", "ourselves", "out", "over", "own", "per", "perhaps", "quite",
	"rather", "same", "shall", "she", "should", "since", "so", "some", "such", "than", "that",
	"the", "their", "theirs", "them", "themselves", "then", "there", "therefore", "these",
	"they", "this", "those", "though", "through", "thus", "to", "too", "toward", "towards",
	"under", "unless", "until", "up", "upon", "very", "via", "was", "we", "were", "what",
	"whatever", "when", "whenever", "where", "whereas", "wherever", "whether", "which",
	"while", "who", "whoever", "whom", "whose", "why", "will", "with", "within", "without",
	"would", "yet", "you", "your", "yours", "yourself", "yourselves",
};
/* clang-format on */

static int compare_word(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

bool text_is_stopword(struct bytes word)
{
	char folded[LONGEST];

	if (word.len == 0 || word.len >= sizeof folded)
		return false;
	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];
		folded[i] = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
	}
	folded[word.len] = '\0';
	return bsearch(folded, stopwords, sizeof stopwords / sizeof stopwords[0],
		       sizeof stopwords[0], compare_word) != NULL;
}
