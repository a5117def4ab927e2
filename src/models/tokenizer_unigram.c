/*
 * tokenizer_unigram.c: the most probable cut of a piece into tokens (Kudo 2018, "Subword
 * Regularization"), by Viterbi over the ends of tokens, as the reference does it: the
 * first found of equal cuts stays, a character that is no token costs the lowest score
 * less ten, and a run of unknown ones is one unknown.
 */
#include "models/tokenizer_private.h"
#include "util/mem.h"
#include "util/utf8.h"

#define NOWHERE UINT32_MAX

static void offer(struct unigram_node *to, double score, uint32_t id, size_t start)
{
	if (to->start == NOWHERE || score > to->score)
		*to = (struct unigram_node){ score, id, (uint32_t)start };
}

static void forward(const struct tokenizer *t, struct unigram_node *nodes, const char *p, size_t n)
{
	size_t len;

	for (size_t i = 0; i < n; i += len) {
		double score = nodes[i].score;
		bool single = false;
		uint32_t node = 0;

		(void)utf8_decode(p + i, n - i, &len);
		for (size_t j = i; j < n; j++) {
			uint32_t id;

			node = trie_next(&t->trie, node, (unsigned char)p[j]);
			if (!node)
				break;
			id = t->trie.value[node];
			if (id == TRIE_NONE)
				continue;
			offer(&nodes[j + 1], t->scores[id] + score, id, i);
			single = single || j + 1 - i == len;
		}
		if (!single)
			offer(&nodes[i + len], t->unknown_score + score, t->unknown, i);
	}
}

/* A token of the cut, or a run of unknown ones, which may happen to be a token as a whole. */
static bool put(struct encoder *en, struct bytes piece)
{
	const struct tokenizer *t = en->t;
	uint32_t id = trie_find(&t->trie, piece);
	bool all = t->byte_fallback && id == TRIE_NONE;

	for (size_t i = 0; all && i < piece.len; i++)
		all = t->bytes[(unsigned char)piece.data[i]] != TRIE_NONE;
	if (!all)
		return encoder_push(en, id == TRIE_NONE ? t->unknown : id);
	for (size_t i = 0; i < piece.len; i++)
		if (!encoder_push(en, t->bytes[(unsigned char)piece.data[i]]))
			return false;
	return true;
}

bool unigram_encode(struct encoder *en, const char *p, size_t n)
{
	const struct tokenizer *t = en->t;
	struct unigram_node *nodes = en->nodes;
	size_t end = n, at = 0;

	if (en->nodes_cap < n + 1) {
		nodes = n >= UINT32_MAX / 32 ? NULL
					     : mem_resize(nodes, (n + 1) * 2 * sizeof *nodes);
		if (!nodes)
			return false;
		en->nodes = nodes;
		en->nodes_cap = (n + 1) * 2;
	}
	for (size_t i = 0; i <= n; i++)
		nodes[i] = (struct unigram_node){ 0, 0, NOWHERE };
	forward(t, nodes, p, n);
	/* Back from the end, leaving in each start where its token ends. Starts of unknown
	 * runs are moved to the run's beginning. */
	while (end > 0) {
		size_t start = nodes[end].start;

		if (nodes[end].id == t->unknown)
			while (start > 0 && nodes[start].id == t->unknown)
				start = nodes[start].start;
		/* score of start is not needed any more but for its own start. */
		nodes[start].score = (double)end;
		end = start;
	}
	for (; at < n; at = end) {
		end = (size_t)nodes[at].score;
		if (!put(en, (struct bytes){ p + at, end - at }))
			return false;
	}
	return true;
}
