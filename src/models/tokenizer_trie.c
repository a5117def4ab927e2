/*
 * tokenizer_trie.c: a trie over bytes. Built once, from sorted keys, level by level, so
 * that a node's children lie side by side and one scan of a few bytes finds a child. Per
 * node 9 bytes; building costs a sort and one pass.
 */
#include "models/tokenizer_private.h"
#include "util/mem.h"

static int by_token(const void *a, const void *b)
{
	const struct trie_key *x = a, *y = b;
	int c = (x->head > y->head) - (x->head < y->head);

	if (c == 0)
		c = bytes_cmp(x->token, y->token);

	/* Values are numbered in the order of the file, so the last of equals comes last. */
	return c ? c : (x->value > y->value) - (x->value < y->value);
}

/* Drops empty keys and all but the last of equal ones. */
static size_t unique(struct trie_key *keys, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (keys[i].token.len == 0)
			continue;
		if (m && bytes_eq(keys[m - 1].token, keys[i].token))
			m--;
		keys[m++] = keys[i];
	}
	return m;
}

static size_t count_nodes(const struct trie_key *keys, size_t n)
{
	size_t total = 1;

	for (size_t i = 0; i < n; i++) {
		size_t same = 0;

		if (i)
			while (same < keys[i - 1].token.len && same < keys[i].token.len &&
				keys[i - 1].token.data[same] == keys[i].token.data[same])
				same++;
		total += keys[i].token.len - same;
	}
	return total;
}

struct span {
	uint32_t start, end; /* the keys below a node */
};

/* The children of one node: the runs of keys that have the same byte at depth. */
static uint32_t branch(struct trie *t, const struct trie_key *keys, struct span *spans,
	uint32_t node, size_t depth, uint32_t next)
{
	uint32_t i = spans[node].start, end = spans[node].end;

	t->first[node] = next;
	t->value[node] = TRIE_NONE;
	if (i < end && keys[i].token.len == depth)
		t->value[node] = keys[i++].value;
	while (i < end) {
		uint8_t byte = (uint8_t)keys[i].token.data[depth];
		uint32_t start = i;

		while (i < end && (uint8_t)keys[i].token.data[depth] == byte)
			i++;
		t->label[next] = byte;
		spans[next++] = (struct span){ start, i };
	}
	return next;
}

static enum status fill(struct trie *t, const struct trie_key *keys, size_t n)
{
	struct span *spans = mem_array(t->n, sizeof *spans);
	uint32_t next = 1, level_end = 1;
	size_t depth = 0;

	if (!spans)
		return ST_NOMEM;
	spans[0] = (struct span){ 0, (uint32_t)n };
	for (uint32_t node = 0; node < t->n; node++) {
		if (node == level_end) {
			depth++;
			level_end = next;
		}
		next = branch(t, keys, spans, node, depth, next);
	}
	t->first[t->n] = next;
	for (uint32_t c = t->first[0]; c < t->first[1]; c++)
		t->top[t->label[c]] = c;
	mem_free(spans);
	return ST_OK;
}

enum status trie_build(struct trie *t, struct trie_key *keys, size_t n, struct error *e)
{
	size_t nodes;

	*t = (struct trie){ 0 };
	for (size_t i = 0; i < n; i++) {
		keys[i].head = 0;
		for (size_t k = 0; k < 8; k++)
			keys[i].head = keys[i].head << 8 |
				(k < keys[i].token.len ? (unsigned char)keys[i].token.data[k] : 0);
	}
	if (n)
		qsort(keys, n, sizeof *keys, by_token);
	n = unique(keys, n);
	nodes = count_nodes(keys, n);
	if (nodes > UINT32_MAX / 16)
		return error_set(e, ST_TOO_LARGE, "the vocabulary is too large");
	t->n = (uint32_t)nodes;
	t->first = mem_array(nodes + 2, sizeof *t->first);
	t->value = mem_array(nodes, sizeof *t->value);
	t->label = mem_array(nodes, 1);
	if (!t->first || !t->value || !t->label || fill(t, keys, n) != ST_OK) {
		trie_release(t);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	return ST_OK;
}

void trie_release(struct trie *t)
{
	mem_free(t->first);
	mem_free(t->value);
	mem_free(t->label);
	*t = (struct trie){ 0 };
}

uint32_t trie_next(const struct trie *t, uint32_t node, unsigned char byte)
{
	uint32_t child, end;

	if (node == 0)
		return t->top[byte];
	child = t->first[node];
	end = t->first[node + 1];
	if (end - child > 8) {
		const uint8_t *hit = memchr(t->label + child, byte, end - child);

		return hit ? (uint32_t)(hit - t->label) : 0;
	}
	for (; child < end; child++)
		if (t->label[child] == byte)
			return child;
	return 0;
}

uint32_t trie_find(const struct trie *t, struct bytes token)
{
	uint32_t node = 0;

	if (t->n == 0)
		return TRIE_NONE;
	for (size_t i = 0; i < token.len; i++) {
		node = trie_next(t, node, (unsigned char)token.data[i]);
		if (!node)
			return TRIE_NONE;
	}
	return node ? t->value[node] : TRIE_NONE;
}
