/*
 * config/environment.c: variables named RCPD_ and a key in capitals.
 */
#include "config/internal.h"

#include <string.h>
#include <unistd.h>

#define PREFIX "RCPD_"

/* What else may begin so: fault points, and the switches of our tests and tools. */
static const char *const other_names[] = { "RCPD_FAULTS", "RCPD_BUILD", "RCPD_SLOW",
	"RCPD_TEST_SCALE" };

static void variable_name(const struct config_key *key, char *buf, size_t size)
{
	size_t len = (size_t)snprintf(buf, size, PREFIX "%s", key->name);

	for (size_t i = 0; i < len; i++)
		if (buf[i] >= 'a' && buf[i] <= 'z')
			buf[i] = (char)(buf[i] - 'a' + 'A');
}

enum status config_environment_read(struct config *c, struct config_origin *origins,
	struct error *e)
{
	for (size_t i = 0; i < config_key_count; i++) {
		char name[64];
		const char *value;
		enum status st;

		variable_name(&config_keys[i], name, sizeof(name));
		value = getenv(name);
		if (!value)
			continue;
		snprintf(origins[i].where, sizeof(origins[i].where), "environment %s", name);
		st = config_value_set(c, &config_keys[i], value, origins[i].where, e);
		if (st != ST_OK)
			return st;
	}
	return ST_OK;
}

static bool name_known(const char *name)
{
	char key[64];

	for (size_t i = 0; i < config_key_count; i++) {
		variable_name(&config_keys[i], key, sizeof(key));
		if (strcmp(key, name) == 0)
			return true;
	}
	for (size_t i = 0; i < sizeof(other_names) / sizeof(other_names[0]); i++)
		if (strcmp(other_names[i], name) == 0)
			return true;
	return false;
}

void config_environment_unknown(void (*unknown)(const char *name, void *arg), void *arg)
{
	for (char **at = environ; at && *at; at++) {
		char name[64];
		size_t len = strcspn(*at, "=");

		if (strncmp(*at, PREFIX, strlen(PREFIX)) != 0)
			continue;
		/* Longer than any key: told by its beginning. */
		snprintf(name, sizeof(name), "%.*s", len < 63 ? (int)len : 63, *at);
		if (!name_known(name))
			unknown(name, arg);
	}
}
