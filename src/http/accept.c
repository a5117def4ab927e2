/*
 * accept.c: parses the Accept header as RFC 9110 12.5.1 writes it: a list of media
 * ranges with parameters, one of which may be a weight. Servers that look for a
 * substring, or for one exact spelling, are what SSE-04 of the failure cases is
 * about. Work is linear in the header, which libmicrohttpd's buffer bounds.
 */
#include "http/accept.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *skip_space(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

/* The end of the element or parameter that starts at p: the next of `stops`
 * outside a quoted string. */
static const char *skip_to(const char *p, const char *stops)
{
	bool quoted = false;

	for (; *p; p++) {
		if (quoted && *p == '\\' && p[1])
			p++;
		else if (*p == '"')
			quoted = !quoted;
		else if (!quoted && strchr(stops, *p))
			break;
	}
	return p;
}

static size_t trimmed_len(const char *p, const char *end)
{
	while (end > p && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (size_t)(end - p);
}

/* "0", "0.5", "1.000": thousandths; -1 when it is no weight. */
static int weight_parse(const char *p, size_t len)
{
	int value, scale = 100;
	size_t i;

	if (len == 0 || len > 5 || (p[0] != '0' && p[0] != '1'))
		return -1;
	value = (p[0] - '0') * 1000;
	if (len > 1 && p[1] != '.')
		return -1;
	for (i = 2; i < len; i++, scale /= 10) {
		if (p[i] < '0' || p[i] > '9')
			return -1;
		value += (p[i] - '0') * scale;
	}
	return value <= 1000 ? value : -1;
}

/* The weight among the parameters p..end of one range; 1000 without one. */
static int range_weight(const char *p, const char *end)
{
	while (p < end) {
		const char *stop = skip_to(p, ";,");
		const char *name = skip_space(p);

		if (stop > end)
			stop = end;
		if (stop - name >= 2 && (name[0] == 'q' || name[0] == 'Q') && name[1] == '=')
			return weight_parse(name + 2, trimmed_len(name + 2, stop));
		p = stop < end ? stop + 1 : end;
	}
	return 1000;
}

static bool range_is(const char *p, size_t len, const char *type)
{
	return len == strlen(type) && strncasecmp(p, type, len) == 0;
}

static void range_add(struct accept *a, const char *p, const char *end)
{
	const char *stop = skip_to(p, ";,");
	size_t len = trimmed_len(p, stop < end ? stop : end);
	int *slot = range_is(p, len, "text/event-stream") ? &a->sse
		: range_is(p, len, "application/json")    ? &a->json
							  : NULL;
	int weight;

	if (!slot)
		return;
	weight = stop < end ? range_weight(stop + 1, end) : 1000;
	/* Named twice, say with other parameters: the better weight counts. */
	if (weight > *slot)
		*slot = weight;
}

void accept_add(struct accept *a, const char *value)
{
	const char *p = value;

	while (*p) {
		const char *start = skip_space(p);
		const char *end = skip_to(start, ",");

		range_add(a, start, end);
		p = *end ? end + 1 : end;
	}
}

bool accept_wants_sse(const struct accept *a)
{
	return a->sse > 0 && a->sse >= a->json;
}
