/*
 * tokenizer_wordpiece.c: a word to the longest tokens from its left to its right
 * (Schuster and Nakajima 2012; Wu et al. 2016). A word that cannot be put together whole,
 * or is too long, is one unknown. The trie gives the longest token in one walk; tokens
 * within a word are below the node of the prefix ("##").
 */
#include "models/tokenizer_private.h"
#include "util/utf8.h"

/* Length of the longest token at p, *id; 0: none. */
static size_t longest(const struct trie *t, uint32_t node, const char *p, size_t n, uint32_t *id)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		node = trie_next(t, node, (unsigned char)p[i]);
		if (!node)
			break;
		if (t->value[node] != TRIE_NONE) {
			found = i + 1;
			*id = t->value[node];
		}
	}
	return found;
}

bool wordpiece_encode(struct encoder *en, const char *p, size_t n)
{
	const struct tokenizer *t = en->t;
	size_t start = en->n, len;
	bool bad = n > t->max_chars && utf8_count(p, n) > t->max_chars;

	for (size_t i = 0; !bad && i < n; i += len) {
		uint32_t id = 0, node = i ? t->continuing : 0;

		len = node == TRIE_NONE ? 0 : longest(&t->trie, node, p + i, n - i, &id);
		bad = len == 0;
		if (!bad && !encoder_push(en, id))
			return false;
	}
	if (!bad)
		return true;
	en->n = start;
	return !t->has_unknown || encoder_push(en, t->unknown);
}
