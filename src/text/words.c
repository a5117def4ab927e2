/*
 * words.c: clusters: where words end.
 *
 * A segment is a run of letters and digits with the marks on them, as in UAX #29
 * (rules WB4, 5, 8 to 10). Between two segments these join: what UAX #29 joins (dots
 * and apostrophes between letters, dots and commas between digits, underscores) and
 * what identifiers and addresses are made of (@, ::, a hyphen beside a digit, a dot
 * between a letter and a digit). A web address is one cluster to its last character.
 * Colons and middle dots of other scripts separate.
 *
 * Cost: each character is looked at once, those behind a hyphen twice.
 */
#include "text/private.h"

struct reader {
	const char *text;
	uint32_t len;
	uint32_t first; /* of the cluster */
};

static bool ascii_alnum(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static enum char_class class_at(const struct reader *r, uint32_t at)
{
	return at < r->len ? chars_at(r->text + at, r->len - at).class : CHAR_OTHER;
}

static bool is_word(enum char_class class)
{
	return class == CHAR_LETTER || class == CHAR_DIGIT;
}

/* Reads the segment at `at`; its joint is left alone. */
static struct segment read_segment(const struct reader *r, uint32_t at)
{
	struct segment s = { .start = at, .end = at };
	unsigned seen = 0, inner = 0;

	while (s.end < r->len) {
		struct text_char c = chars_at(r->text + s.end, r->len - s.end);

		if (!is_word(c.class) && (c.class != CHAR_EXTEND || s.end == at))
			break;
		if (c.class == CHAR_LETTER) {
			unsigned letter_case = chars_case(c.cp);

			s.flags |= SEGMENT_LETTERS;
			inner |= s.end > at ? letter_case : 0;
			seen |= letter_case;
		} else if (c.class == CHAR_DIGIT) {
			s.flags |= SEGMENT_DIGITS;
		}
		s.end += c.len;
	}
	if ((inner & CHAR_UPPER) && (seen & CHAR_LOWER))
		s.flags |= SEGMENT_CAMEL;
	return s;
}

/* Signs beyond ASCII that join as an ASCII one does. */
static const struct {
	uint16_t cp;
	uint8_t joint;
} wide_joints[] = {
	{ 0xB7, JOINT_QUOTE },
	{ 0x387, JOINT_QUOTE },
	{ 0x5F3, JOINT_QUOTE },
	{ 0x5F4, JOINT_QUOTE },
	{ 0x2018, JOINT_QUOTE },
	{ 0x2019, JOINT_QUOTE },
	{ 0x2027, JOINT_QUOTE },
	{ 0xFF07, JOINT_QUOTE },
	{ 0x2010, JOINT_HYPHEN },
	{ 0x2011, JOINT_HYPHEN },
	{ 0x2024, JOINT_DOT },
	{ 0xFF0E, JOINT_DOT },
	{ 0x66C, JOINT_COMMA },
	{ 0xFF0C, JOINT_COMMA },
	{ 0x203F, JOINT_UNDER },
	{ 0x2040, JOINT_UNDER },
	{ 0xFF3F, JOINT_UNDER },
	{ 0xFF20, JOINT_AT },
};

static uint32_t wide_joint_length(const struct reader *r, uint32_t at, enum joint *ret)
{
	struct text_char c = chars_at(r->text + at, r->len - at);

	for (size_t i = 0; i < sizeof(wide_joints) / sizeof(wide_joints[0]); i++)
		if (wide_joints[i].cp == c.cp) {
			*ret = (enum joint)wide_joints[i].joint;
			return c.len;
		}
	return 0;
}

/* A run of underscores or a pair of colons counts as one; 0: nothing of the kind. */
static uint32_t joint_length(const struct reader *r, uint32_t at, enum joint *ret)
{
	static const char signs[] = ".,@-'";
	static const uint8_t joints[] = { JOINT_DOT, JOINT_COMMA, JOINT_AT, JOINT_HYPHEN,
		JOINT_QUOTE };
	const char *p = r->text + at;
	uint32_t n = r->len - at, i = 0;

	if ((unsigned char)p[0] >= 0x80)
		return wide_joint_length(r, at, ret);
	if (p[0] == ':') {
		*ret = JOINT_SCOPE;
		return n > 1 && p[1] == ':' ? 2 : 0;
	}
	while (i < n && p[i] == '_')
		i++;
	if (i > 0) {
		*ret = JOINT_UNDER;
		return i;
	}
	for (; i < sizeof(joints); i++)
		if (signs[i] == p[0]) {
			*ret = (enum joint)joints[i];
			return 1;
		}
	return 0;
}

/* Whether the joint holds s and the segment that starts at next together. */
static bool holds(const struct reader *r, const struct segment *s, enum joint joint, uint32_t next)
{
	enum char_class class = class_at(r, next);
	bool before_digit, digits_only = !(s->flags & SEGMENT_LETTERS);

	if (!is_word(class))
		return false;
	before_digit = class == CHAR_DIGIT;
	switch (joint) {
	case JOINT_HYPHEN:
		return (s->flags & SEGMENT_DIGITS) ||
			(read_segment(r, next).flags & SEGMENT_DIGITS);
	case JOINT_COMMA:
		return digits_only && before_digit;
	case JOINT_DOT:
		return !digits_only || before_digit;
	case JOINT_QUOTE:
		return digits_only == before_digit;
	default:
		return true;
	}
}

static void read_chain(const struct reader *r, struct cluster *c)
{
	uint32_t at = r->first;

	while (c->n < CLUSTER_SEGMENTS) {
		struct segment *s = &c->segments[c->n];
		enum joint joint;
		uint32_t len;

		*s = read_segment(r, at);
		/* The first may be of any length; a later one must not pass the limit. */
		if (c->n > 0 && s->end - r->first > CLUSTER_BYTES)
			break;
		c->n++;
		c->end = s->end;
		len = s->end < r->len ? joint_length(r, s->end, &joint) : 0;
		if (!len || !holds(r, s, joint, s->end + len))
			break;
		s->joint = (uint8_t)joint;
		at = s->end + len;
	}
}

/* Length of "scheme://" at the start, or of "www." (0: the address starts there). */
static bool is_url(const struct reader *r, uint32_t *ret_body)
{
	const char *p = r->text + r->first;
	uint32_t n = r->len - r->first, i = 0;

	if (n > 4 && (p[0] == 'w' || p[0] == 'W') && (p[1] | 0x20) == 'w' && (p[2] | 0x20) == 'w' &&
		p[3] == '.' && ascii_alnum(p[4])) {
		*ret_body = 0;
		return true;
	}
	while (i < n && i < 16 && ascii_alnum(p[i]))
		i++;
	*ret_body = i + 3;
	return i > 1 && n > i + 3 && memcmp(p + i, "://", 3) == 0 &&
		is_word(class_at(r, r->first + i + 3));
}

/* What an address may hold besides letters, digits and their marks. */
static bool is_url_char(char c)
{
	return c > ' ' && c < 0x7F && !strchr("\"<>\\^`{|}", c);
}

/* Where the address ends: the last word character or slash in a run of its characters. */
static uint32_t url_end(const struct reader *r, uint32_t at)
{
	uint32_t end = at;

	while (at < r->len && at - r->first <= CLUSTER_BYTES) {
		struct text_char c = chars_at(r->text + at, r->len - at);

		if (is_word(c.class) || c.class == CHAR_EXTEND)
			end = at + c.len;
		else if (c.len != 1 || !is_url_char(r->text[at]))
			break;
		at += c.len;
	}
	return end;
}

static enum joint url_joint(const struct reader *r, uint32_t start, uint32_t end)
{
	if (end - start != 1)
		return JOINT_URL;
	switch (r->text[start]) {
	case '.':
		return JOINT_DOT;
	case '_':
		return JOINT_UNDER;
	case '-':
		return JOINT_HYPHEN;
	case '@':
		return JOINT_AT;
	default:
		return JOINT_URL;
	}
}

/* False if it is too long or of too many pieces to be kept whole. */
static bool read_url(const struct reader *r, uint32_t body, struct cluster *c)
{
	uint32_t end = url_end(r, r->first + body), at = r->first;

	if (end - r->first > CLUSTER_BYTES)
		return false;
	c->url = true;
	while (at < end && c->n < CLUSTER_SEGMENTS) {
		uint32_t next;
		struct segment *s = &c->segments[c->n++];

		*s = read_segment(r, at);
		for (next = s->end; next < end && !is_word(class_at(r, next));)
			next += chars_at(r->text + next, end - next).len;
		s->joint = (uint8_t)url_joint(r, s->end, next);
		at = next;
	}
	c->end = end;
	return at >= end;
}

/* C++, C#, F#: a short word and its signs. */
static uint32_t read_tail(const struct reader *r, const struct segment *s)
{
	uint32_t at = s->end, n = 0;

	if (s->end - s->start > 2 || s->flags != SEGMENT_LETTERS)
		return 0;
	while (at + n < r->len && n < 2 && r->text[at + n] == '+')
		n++;
	if (n < 2)
		n = at < r->len && r->text[at] == '#' ? 1 : 0;
	if (!n || is_word(class_at(r, at + n)))
		return 0;
	if (at + n < r->len && (r->text[at + n] == '+' || r->text[at + n] == '#'))
		return 0;
	return at + n;
}

void cluster_read(const char *text, uint32_t len, uint32_t at, struct cluster *ret)
{
	struct reader r = { text, len, at };
	uint32_t body;

	ret->n = 0;
	ret->url = false;
	ret->tail = 0;
	if (is_url(&r, &body) && read_url(&r, body, ret))
		return;
	ret->n = 0;
	ret->url = false;
	read_chain(&r, ret);
	if (ret->n == 1)
		ret->tail = read_tail(&r, &ret->segments[0]);
	if (ret->tail)
		ret->end = ret->tail;
}
