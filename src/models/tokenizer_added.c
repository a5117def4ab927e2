/*
 * tokenizer_added.c: added tokens, matched in the text before it is normalised (or, those
 * that are marked so, after): the leftmost, and of these the longest; a match may take
 * the white space beside it along.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

/* The longest token at p; its length in *len. */
static const struct added_token *match(const struct tokenizer *t, const struct trie *trie,
	const char *p, size_t n, size_t *len)
{
	const struct added_token *found = NULL;
	uint32_t node = 0;

	for (size_t i = 0; i < n; i++) {
		node = trie_next(trie, node, (unsigned char)p[i]);
		if (!node)
			break;
		if (trie->value[node] != TRIE_NONE) {
			found = &t->added[trie->value[node]];
			*len = i + 1;
		}
	}
	return found;
}

/* The character that ends at i > 0; its start in *start. */
static uint32_t before(struct bytes text, size_t i, size_t *start)
{
	size_t len;

	*start = utf8_floor(text.data, text.len, i - 1);
	return utf8_decode(text.data + *start, text.len - *start, &len);
}

static bool single(struct bytes text, size_t start, size_t end)
{
	size_t at;

	if (start > 0 && unicode_word(before(text, start, &at)))
		return false;
	return end == text.len || !unicode_word(utf8_decode(text.data + end, text.len - end, &at));
}

static size_t spaces_before(struct bytes text, size_t i)
{
	size_t start;

	while (i > 0 && unicode_space(before(text, i, &start)))
		i = start;
	return i;
}

static size_t spaces_after(struct bytes text, size_t i)
{
	size_t len;

	while (i < text.len && unicode_space(utf8_decode(text.data + i, text.len - i, &len)))
		i += len;
	return i;
}

bool added_scan(const struct tokenizer *t, bool normalized, struct bytes text, added_fn *fn,
	void *arg)
{
	const struct trie *trie = normalized ? &t->normalized : &t->raw;
	size_t done = 0, len = 0;

	for (size_t i = 0; trie->n > 1 && i < text.len;) {
		const struct added_token *a = NULL;
		size_t start = i, end;

		if (trie->top[(unsigned char)text.data[i]])
			a = match(t, trie, text.data + i, text.len - i, &len);
		if (!a) {
			i++;
			continue;
		}
		end = i + len;
		i = end;
		if (a->single_word && !single(text, start, end))
			continue;
		if (a->left) {
			size_t left = spaces_before(text, start);

			start = left > done ? left : done;
		}
		if (a->right)
			end = spaces_after(text, end);
		if ((done < start && !fn(arg, done, start, NULL)) ||
			(start < end && !fn(arg, start, end, a)))
			return false;
		done = end;
	}
	return done >= text.len || fn(arg, done, text.len, NULL);
}
