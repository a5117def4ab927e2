/*
 * path.c: libmicrohttpd decodes the target itself and cuts it at %00, so that
 * /rcp/ping%00evil would arrive as /rcp/ping. We keep the raw target from its log
 * callback and decode it here, once. Nothing of it is ever copied into a header
 * or a log line.
 */
#include "http/path.h"

#include <string.h>

#include "util/utf8.h"

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool is_control(unsigned char c)
{
	return c < 0x20 || c == 0x7f;
}

/* C1 controls, U+0080 to U+009F, are C2 80 to C2 9F in UTF-8. */
static bool has_c1(const char *p, size_t len)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t i;

	for (i = 0; i + 1 < len; i++)
		if (s[i] == 0xc2 && s[i + 1] < 0xa0)
			return true;
	return false;
}

const char *path_decode(char *target)
{
	const char *in = target;
	char *out = target;

	if (*in != '/')
		return "the request target must be an absolute path";
	for (; *in && *in != '?'; in++) {
		unsigned char c = (unsigned char)*in;

		if (c <= 0x20 || c >= 0x7f || c == '#')
			return "the path holds a character that must be percent-encoded";
		if (c == '%') {
			int hi = hex_value(in[1]);
			int lo = hi < 0 ? -1 : hex_value(in[2]);

			if (lo < 0)
				return "the path holds a broken percent escape";
			c = (unsigned char)(hi << 4 | lo);
			in += 2;
			if (is_control(c))
				return "the path holds a control character";
		}
		*out++ = (char)c;
	}
	for (; *in; in++)
		if ((unsigned char)*in <= 0x20 || *in == 0x7f)
			return "the query holds a control character or a space";
	*out = '\0';
	if (!utf8_valid(target, (size_t)(out - target)))
		return "the path is not UTF-8";
	if (has_c1(target, (size_t)(out - target)))
		return "the path holds a control character";
	return NULL;
}

bool path_split(char *path, const char *base, size_t base_len, const char **ret_method)
{
	char *rest;
	size_t len;

	if (strncmp(path, base, base_len) != 0)
		return false;
	rest = path + base_len;
	if (*rest != '\0' && *rest != '/')
		return false;
	if (*rest == '/')
		rest++;
	if (*rest == '\0') {
		*ret_method = NULL;
		return true;
	}
	len = strlen(rest);
	if (rest[len - 1] == '/')
		rest[len - 1] = '\0';
	*ret_method = rest;
	return true;
}
