/*
 * compound.c: the terms of a cluster.
 *
 * One segment is a word. Several are one whole at one position, with their pieces
 * as parts: first the whole, then, splitting at the weakest joint, what is smaller,
 * down to the segments and the words in aSegmentLikeThis. For user@mail.example.org
 * that is the whole, user, mail.example.org, mail, example, org.
 *
 * Apostrophes are languages' affair: elided articles are words of their own
 * (l'avion), possessive and contracted endings are dropped (dog's, we'll, Ankara'da),
 * other words are joined (don't: dont, O'Reilly: oreilly and reilly).
 */
#include "text/private.h"

#define PART_MAX_CAMEL 64 /* bytes of a segment that is split LikeThis */

/* Joint as it is written in wholes; 0: left out. */
static const char joint_sign[] = {
	[JOINT_URL] = 0, /* as in the text */
	[JOINT_AT] = '@',
	[JOINT_SCOPE] = ':',
	[JOINT_HYPHEN] = '-',
	[JOINT_COMMA] = ',',
	[JOINT_DOT] = '.',
	[JOINT_UNDER] = '_',
	[JOINT_QUOTE] = 0,
};

/* Segments [first, last] and what the analyzer needs to say about them. */
struct group {
	const struct cluster *c;
	size_t first, last;
};

static uint32_t group_start(const struct group *g)
{
	return g->c->segments[g->first].start;
}

static uint32_t group_end(const struct group *g)
{
	return g->c->segments[g->last].end;
}

static void add_folded(struct text_analyzer *a, struct fold *f, uint32_t start, uint32_t end)
{
	struct fold cased, bare;

	fold_case(a->text + start, end - start, a->lang == TEXT_LANG_TR, &cased);
	fold_accents(cased.data, cased.len, &bare);
	fold_add(f, bare.data, bare.len);
}

static void add_joint(const struct text_analyzer *a, struct fold *f, const struct segment *s)
{
	char sign = joint_sign[s->joint];

	if (s->joint == JOINT_URL)
		fold_add(f, a->text + s->end, s[1].start - s->end);
	else if (s->joint == JOINT_SCOPE)
		fold_add(f, "::", 2);
	else if (sign)
		fold_add(f, &sign, 1);
}

/* A whole with its joints: not stemmed. */
static enum status emit_whole(struct text_analyzer *a, const struct group *g, unsigned flags)
{
	struct fold f = { .len = 0 };

	for (size_t i = g->first; i <= g->last; i++) {
		const struct segment *s = &g->c->segments[i];

		add_folded(a, &f, s->start, s->end);
		if (i < g->last)
			add_joint(a, &f, s);
	}
	if (f.len == 0)
		return ST_OK;
	return analyze_emit(a, f.data, f.len, flags, group_start(g), group_end(g));
}

/* Letters and digits run together; a word like any other. */
static enum status emit_joined(struct text_analyzer *a, const struct group *g, unsigned flags)
{
	struct fold f = { .len = 0 }, part;
	const struct segment *s = g->c->segments;

	for (size_t i = g->first; i <= g->last; i++) {
		fold_case(a->text + s[i].start, s[i].end - s[i].start, a->lang == TEXT_LANG_TR,
			&part);
		fold_add(&f, part.data, part.len);
	}
	return analyze_folded(a, &f, flags, group_start(g), group_end(g), NULL);
}

/* Where the next word in aSegmentLikeThis starts, after at. */
static uint32_t next_hump(const struct text_analyzer *a, uint32_t at, uint32_t end)
{
	unsigned before = 0; /* case of the character before; 0 for digits too */
	bool digit = false;

	for (uint32_t i = at; i < end;) {
		struct text_char c = chars_at(a->text + i, end - i);
		uint32_t after = i + c.len;
		unsigned now = c.class == CHAR_LETTER ? chars_case(c.cp) : 0;

		if (c.class == CHAR_EXTEND) {
			i = after;
			continue;
		}
		if (i > at && (now & CHAR_UPPER)) {
			struct text_char next = { 0 };
			bool plural;

			if (after < end)
				next = chars_at(a->text + after, end - after);
			plural = next.cp == 's' && after + 1 == end;
			if ((before & CHAR_LOWER) ||
				(next.len && (chars_case(next.cp) & CHAR_LOWER) && !plural &&
					((before & CHAR_UPPER) || digit)))
				return i;
		}
		before = now;
		digit = c.class == CHAR_DIGIT;
		i = after;
	}
	return end;
}

static enum status emit_humps(struct text_analyzer *a, const struct segment *s)
{
	enum status st = ST_OK;
	uint32_t at = s->start;

	if (!(s->flags & SEGMENT_CAMEL) || s->end - s->start > PART_MAX_CAMEL)
		return ST_OK;
	while (st == ST_OK && at < s->end) {
		uint32_t next = next_hump(a, at, s->end);

		/* Not the segment itself, and no single letter: iPhone, mRNA. */
		if (next - at > 1 && next - at < s->end - s->start)
			st = analyze_word(a, at, next, TEXT_TERM_PART, NULL);
		at = next;
	}
	return st;
}

/* v38.101: where the number starts; 0: it is no version. */
static uint32_t version_number(const struct text_analyzer *a, const struct segment *s)
{
	const char *p = a->text + s->start;

	if (s->end - s->start < 2 || (p[0] | 0x20) != 'v')
		return 0;
	for (uint32_t i = 1; i < s->end - s->start; i++)
		if (p[i] < '0' || p[i] > '9')
			return 0;
	return s->start + 1;
}

static enum status emit_segment(struct text_analyzer *a, const struct segment *s, unsigned flags)
{
	enum status st = analyze_word(a, s->start, s->end, flags, NULL);

	return st ? st : emit_humps(a, s);
}

/* 38.101 and 38 of v38.101. */
static enum status emit_version(struct text_analyzer *a, const struct group *g)
{
	const struct segment *s = &g->c->segments[g->first];
	uint32_t start = version_number(a, s);
	struct cluster c;
	struct group number = { &c, 0, g->last - g->first };
	enum status st;

	if (!start || s->joint != JOINT_DOT ||
		chars_at(a->text + s[1].start, s[1].end - s[1].start).class != CHAR_DIGIT)
		return ST_OK;
	memcpy(c.segments, s, (g->last - g->first + 1) * sizeof(*s));
	c.segments[0].start = start;
	st = emit_whole(a, &number, TEXT_TERM_PART);
	return st ? st : analyze_word(a, start, s->end, TEXT_TERM_PART, NULL);
}

static enum joint weakest(const struct group *g)
{
	enum joint found = JOINT_QUOTE;

	for (size_t i = g->first; i < g->last; i++)
		if (g->c->segments[i].joint < found)
			found = (enum joint)g->c->segments[i].joint;
	return found;
}

static bool all_joints(const struct group *g, enum joint joint)
{
	for (size_t i = g->first; i < g->last; i++)
		if (g->c->segments[i].joint != joint)
			return false;
	return true;
}

/* 1,000,000 and 1'000: digits in groups of three. */
static bool is_grouped(const struct group *g)
{
	const struct segment *s = g->c->segments;

	if (!all_joints(g, JOINT_COMMA) && !all_joints(g, JOINT_QUOTE))
		return false;
	for (size_t i = g->first; i <= g->last; i++) {
		if (s[i].flags != SEGMENT_DIGITS)
			return false;
		if (i == g->first ? s[i].end - s[i].start > 3 : s[i].end - s[i].start != 3)
			return false;
	}
	return true;
}

/* U.S.A: single letters. */
static bool is_acronym(const struct group *g)
{
	if (!all_joints(g, JOINT_DOT))
		return false;
	for (size_t i = g->first; i <= g->last; i++) {
		const struct segment *s = &g->c->segments[i];

		if (s->flags != SEGMENT_LETTERS || s->end - s->start > 1)
			return false;
	}
	return true;
}

/* Whether the joint behind s would hold outside of an address (words.c). */
static bool holds_elsewhere(const struct text_analyzer *a, const struct segment *s)
{
	if (s->joint == JOINT_HYPHEN)
		return (s[0].flags | s[1].flags) & SEGMENT_DIGITS;
	return s->joint != JOINT_DOT || s->flags != SEGMENT_DIGITS ||
		chars_at(a->text + s[1].start, s[1].end - s[1].start).class == CHAR_DIGIT;
}

/* Whether a piece of several segments is a term itself: not what stands together only
 * because an address does, and no words with apostrophes. */
static bool is_worth(const struct text_analyzer *a, const struct group *g)
{
	if (weakest(g) == JOINT_QUOTE)
		return false;
	for (size_t i = g->first; i < g->last; i++)
		if (!holds_elsewhere(a, &g->c->segments[i]))
			return false;
	return true;
}

/* The parts of g, g itself done. Each level of recursion splits at a stronger joint,
 * so it is at most as deep as there are joints. */
static enum status emit_parts(struct text_analyzer *a, const struct group *g)
{
	enum joint joint = weakest(g);
	enum status st = emit_version(a, g);
	struct group piece = { g->c, g->first, g->first };

	for (size_t i = g->first; st == ST_OK && i <= g->last; i++) {
		if (i < g->last && g->c->segments[i].joint != joint)
			continue;
		piece.last = i;
		if (piece.first == i) {
			st = emit_segment(a, &g->c->segments[i], TEXT_TERM_PART);
		} else if (is_grouped(&piece) || is_acronym(&piece)) {
			st = emit_joined(a, &piece, TEXT_TERM_PART);
		} else {
			if (is_worth(a, &piece))
				st = emit_whole(a, &piece, TEXT_TERM_PART);
			if (st == ST_OK)
				st = emit_parts(a, &piece);
		}
		piece.first = i + 1;
	}
	return st;
}

/* True if the folded segment is one of the words in list, each with spaces around. */
static bool is_one_of(struct text_analyzer *a, const struct segment *s, const char *list)
{
	struct fold f = { .len = 1, .data = " " };
	char key[24];

	if (s->end - s->start > 12)
		return false;
	add_folded(a, &f, s->start, s->end);
	if (f.len + 2U > sizeof(key))
		return false;
	memcpy(key, f.data, f.len);
	key[f.len] = ' ';
	key[f.len + 1] = '\0';
	return strstr(list, key) != NULL;
}

/* Articles and the like that lose their vowel before another, folded. */
static bool is_elided(struct text_analyzer *a, const struct segment *s)
{
	switch (a->lang) {
	case TEXT_LANG_FR:
		return is_one_of(a, s, " l d j m t n s c qu jusqu lorsqu puisqu quoiqu quelqu ");
	case TEXT_LANG_IT:
		return is_one_of(a, s,
			" l d c n s m t v un all dall dell nell sull coll quell "
			"quest bell sant gl agl dagl degl negl sugl tutt anch "
			"com dov senz mezz ");
	default:
		return false;
	}
}

/* What an apostrophe leaves behind a word. */
static bool is_ending(struct text_analyzer *a, const struct segment *s)
{
	if (a->lang == TEXT_LANG_TR)
		return true;
	if (a->lang == TEXT_LANG_EN || a->lang == TEXT_LANG_NONE)
		return is_one_of(a, s, " s ll re m ve d ");
	return is_one_of(a, s, " s ");
}

static enum status emit_group(struct text_analyzer *a, const struct group *g);

/* Pieces with nothing but apostrophes between them. */
static enum status emit_quoted(struct text_analyzer *a, const struct group *g)
{
	const struct segment *s = g->c->segments;
	struct group rest = *g;
	enum status st;

	if (is_elided(a, &s[g->first])) {
		st = analyze_word(a, s[g->first].start, s[g->first].end, TEXT_TERM_STOP, NULL);
		a->position++;
		rest.first++;
		return st ? st : emit_group(a, &rest);
	}
	if (is_ending(a, &s[g->last])) {
		rest.last--;
		return emit_group(a, &rest);
	}
	st = emit_joined(a, g, 0);
	for (size_t i = g->first; st == ST_OK && i <= g->last; i++)
		if (s[i].end - s[i].start > 1 && !is_one_of(a, &s[g->last], " t "))
			st = emit_segment(a, &s[i], TEXT_TERM_PART);
	a->position++;
	return st;
}

static enum status emit_group(struct text_analyzer *a, const struct group *g)
{
	struct group rest = *g;
	enum status st;

	if (g->first == g->last) {
		st = emit_segment(a, &g->c->segments[g->first], 0);
	} else if (is_grouped(g) || is_acronym(g)) {
		st = emit_joined(a, g, 0);
	} else if (all_joints(g, JOINT_QUOTE)) {
		return emit_quoted(a, g);
	} else if (g->c->segments[g->last - 1].joint == JOINT_QUOTE &&
		is_ending(a, &g->c->segments[g->last])) {
		rest.last--;
		return emit_group(a, &rest);
	} else {
		st = emit_whole(a, g, 0);
		if (st == ST_OK)
			st = emit_parts(a, g);
	}
	a->position++;
	return st;
}

enum status compound_emit(struct text_analyzer *a, const struct cluster *c)
{
	struct group g = { c, 0, c->n - 1 };
	const struct segment *s = &c->segments[0];
	struct fold f = { .len = 0 };
	enum status st;

	if (!c->tail)
		return emit_group(a, &g);
	add_folded(a, &f, s->start, s->end);
	fold_add(&f, a->text + s->end, c->tail - s->end);
	st = analyze_emit(a, f.data, f.len, 0, s->start, c->tail);
	if (st == ST_OK)
		st = analyze_word(a, s->start, s->end, TEXT_TERM_PART, NULL);
	a->position++;
	return st;
}
