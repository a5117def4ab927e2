/*
 * terms.c: reading a segment's dictionary. A block is varint place of its first list
 * in the postings, then for each term: how many bytes it shares with the term before
 * and how many are its own, in one byte (shared * 16 + own) or, if that is 0, two
 * varints after it; its own bytes; varint df; then for df = 1 the posting itself, else
 * varint size of its list, which begins where the one before ended.
 */
#include "engine/lexical/segment.h"

struct entry {
	uint32_t shared, own;
	const unsigned char *suffix;
	struct lex_postings postings;
};

static const unsigned char *read_single(const unsigned char *p, const unsigned char *end,
	struct lex_postings *ret)
{
	uint64_t ord;
	uint32_t tf;

	ret->data = p;
	p = lex_get_varint64(p, end, &ord);
	if (p && (ord & 1))
		p = lex_get_varint(p, end, &tf);
	if (p)
		ret->size = (size_t)(p - ret->data);
	return p;
}

static const unsigned char *read_lengths(const unsigned char *p, const unsigned char *end,
	struct entry *ret)
{
	if (p < end && *p != 0) {
		ret->shared = *p >> 4;
		ret->own = *p & 15;
		return p + 1;
	}
	p = p < end ? lex_get_varint(p + 1, end, &ret->shared) : NULL;
	return p ? lex_get_varint(p, end, &ret->own) : NULL;
}

/* The entry at p; *list_at moves past its list. NULL for damage. */
static const unsigned char *read_entry(const struct lex_segment *s, const unsigned char *p,
	const unsigned char *end, uint64_t *list_at, struct entry *ret)
{
	uint64_t size, room = s->section[LEX_POSTINGS].n;

	p = read_lengths(p, end, ret);
	if (!p || ret->own > (size_t)(end - p))
		return NULL;
	ret->suffix = p;
	p = lex_get_varint(p + ret->own, end, &ret->postings.df);
	if (!p || ret->postings.df == 0 || ret->postings.df > s->chunks)
		return NULL;
	if (ret->postings.df == 1)
		return read_single(p, end, &ret->postings);
	p = lex_get_varint64(p, end, &size);
	if (!p || *list_at > room || size > room - *list_at)
		return NULL;
	ret->postings.data = s->section[LEX_POSTINGS].p + *list_at;
	ret->postings.size = size;
	*list_at += size;
	return p;
}

/* Bounds of a block's bytes; false if they are impossible. */
static bool find_block(const struct lex_segment *s, uint32_t block, const unsigned char **ret_p,
	const unsigned char **ret_end, uint64_t *ret_list_at)
{
	const unsigned char *offsets = s->section[LEX_OFFSETS].p;
	uint64_t room = s->section[LEX_TERMS].n;
	uint64_t at = lex_get64(offsets + (size_t)block * 8), next = room;

	if ((size_t)(block + 1) * 8 < s->section[LEX_OFFSETS].n)
		next = lex_get64(offsets + (size_t)(block + 1) * 8);
	if (at > next || next > room)
		return false;
	*ret_end = s->section[LEX_TERMS].p + next;
	*ret_p = lex_get_varint64(s->section[LEX_TERMS].p + at, *ret_end, ret_list_at);
	return *ret_p != NULL;
}

uint64_t lex_term_prefix(struct bytes term)
{
	uint64_t v = 0;

	for (size_t i = 0; i < 8; i++)
		v = v << 8 | (i < term.len ? (unsigned char)term.data[i] : 0);
	return v;
}

/* Block i begins with a term that is not after `term`. Only asked where the
 * prefixes are equal. */
static bool begins_before(const struct lex_segment *s, uint32_t block, struct bytes term)
{
	const unsigned char *p, *end;
	uint64_t list_at;
	struct entry en;

	return find_block(s, block, &p, &end, &list_at) && read_entry(s, p, end, &list_at, &en) &&
		bytes_cmp((struct bytes){ (const char *)en.suffix, en.own }, term) <= 0;
}

/* The last block that begins with a term <= the one looked for; UINT32_MAX: none. */
static uint32_t seek_block(const struct lex_segment *s, struct bytes term)
{
	const unsigned char *prefixes = s->section[LEX_PREFIXES].p;
	uint32_t low = 0, high = (uint32_t)(s->section[LEX_PREFIXES].n / 8);
	uint64_t prefix = lex_term_prefix(term);

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint64_t found = lex_get64(prefixes + (size_t)middle * 8);

		if (found < prefix || (found == prefix && begins_before(s, middle, term)))
			low = middle + 1;
		else
			high = middle;
	}
	return low - 1;
}

/* Order of what is looked for (from byte `from` on) and an entry's own bytes;
 * *ret_equal: how many agree. */
static int compare_from(struct bytes term, size_t from, const struct entry *en, size_t *ret_equal)
{
	size_t left = term.len - from, n = left < en->own ? left : en->own, i = 0;

	while (i < n && (unsigned char)term.data[from + i] == en->suffix[i])
		i++;
	*ret_equal = i;
	if (i < n)
		return (unsigned char)term.data[from + i] < en->suffix[i] ? -1 : 1;
	return (left > en->own) - (left < en->own);
}

/*
 * Scans a block without putting terms together: `equal` is how many bytes the term
 * looked for shares with the entry before, which is smaller. An entry that shares
 * more with its predecessor is smaller too; one that shares less is larger.
 */
bool lex_segment_find(const struct lex_segment *s, struct bytes term, struct lex_postings *ret)
{
	uint32_t block = seek_block(s, term);
	const unsigned char *p, *end;
	uint64_t list_at;
	size_t equal = 0, more;
	struct entry en;
	int order;

	if (block == UINT32_MAX || !find_block(s, block, &p, &end, &list_at))
		return false;
	for (uint32_t i = 0; i < LEX_TERMS_BLOCK && p < end; i++) {
		p = read_entry(s, p, end, &list_at, &en);
		if (!p || en.shared < equal)
			return false;
		if (en.shared > equal)
			continue;
		order = compare_from(term, equal, &en, &more);
		if (order < 0)
			return false;
		if (order == 0) {
			*ret = en.postings;
			ret->term = block * LEX_TERMS_BLOCK + i;
			return true;
		}
		equal += more;
	}
	return false;
}

void lex_terms_init(struct lex_terms *t, const struct lex_segment *s)
{
	t->s = s;
	t->p = t->end = NULL;
	t->list_at = 0;
	t->next = 0;
	t->len = 0;
}

static bool read_next(struct lex_terms *t)
{
	struct entry en;

	if (t->next % LEX_TERMS_BLOCK == 0) {
		t->len = 0;
		if (!find_block(t->s, t->next / LEX_TERMS_BLOCK, &t->p, &t->end, &t->list_at))
			return false;
	}
	t->p = read_entry(t->s, t->p, t->end, &t->list_at, &en);
	if (!t->p || en.shared > t->len || en.own > sizeof(t->term) - en.shared)
		return false;
	memcpy(t->term + en.shared, en.suffix, en.own);
	t->len = en.shared + en.own;
	t->postings = en.postings;
	t->postings.term = t->next++;
	return true;
}

bool lex_terms_next(struct lex_terms *t, bool *ret_damaged)
{
	if (t->next == t->s->terms)
		return false;
	if (read_next(t))
		return true;
	*ret_damaged = true;
	return false;
}
