/*
 * config/print.c: a config as text, and the difference of two.
 */
#include "config/internal.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

void config_diff(const struct config *a, const struct config *b,
	void (*changed)(const struct config_key *key, void *arg), void *arg)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (!config_value_equal(a, b, &config_keys[i]))
			changed(&config_keys[i], arg);
}

static bool print_all(int fd, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		p += n;
		len -= (size_t)n;
	}
	return true;
}

bool config_print(const struct config *c, int fd)
{
	struct strbuf sb = STRBUF_INIT;
	const char *section = "";
	bool done;

	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];

		if (strcmp(section, key->section) != 0) {
			strbuf_addf(&sb, "%s[%s]\n", i == 0 ? "" : "\n", key->section);
			section = key->section;
		}
		strbuf_addf(&sb, "%s = ", key->name);
		config_value_text(c, key, &sb);
		strbuf_addc(&sb, '\n');
	}
	done = strbuf_ok(&sb) && print_all(fd, sb.data, sb.len);
	strbuf_release(&sb);
	return done;
}
