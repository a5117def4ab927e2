/*
 * test_docs.c: conf/rcpd.conf and the man page are in step with the key table:
 * every key is there, commented out, in its section and with its default, and
 * nothing else is. The folder of the sources comes in the environment.
 */
#include "helpers.h"

static char *source_path(const char *name)
{
	const char *root = getenv("SOURCE_ROOT");
	static char path[1024];

	if (!root)
		fail_msg("SOURCE_ROOT is not set; run this through meson test");
	snprintf(path, sizeof(path), "%s/%s", root, name);
	return path;
}

static const struct config_key *key_of(const char *section, const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (strcmp(config_keys[i].name, name) == 0 &&
			strcmp(config_keys[i].section, section) == 0)
			return &config_keys[i];
	return NULL;
}

/* "#name = value" is a key; "# text" a comment; other lines are sections or empty. */
static void check_line(const char *line, char *section, bool *seen)
{
	char name[64], value[256] = "";
	const struct config_key *key;

	if (sscanf(line, "[%31[a-z]]", section) == 1 || line[0] == '\n')
		return;
	assert_int_equal(line[0], '#');
	if (line[1] == ' ' || line[1] == '\n')
		return;
	if (sscanf(line, "#%63[a-z0-9_] = %255[^\n]", name, value) < 1)
		fail_msg("no key and no comment: %s", line);
	key = key_of(section, name);
	if (!key)
		fail_msg("conf/rcpd.conf has '%s' in [%s], the table has not", name, section);
	if (seen[key - config_keys])
		fail_msg("conf/rcpd.conf has '%s' twice", name);
	seen[key - config_keys] = true;
	if (key->def)
		assert_string_equal(value, key->def);
	else
		assert_string_not_equal(value, "");
}

static void test_conf_in_step(void **state)
{
	FILE *f = fopen(source_path("conf/rcpd.conf"), "r");
	bool *seen = calloc(config_key_count, sizeof(*seen));
	char line[512], section[32] = "";

	(void)state;
	assert_non_null(f);
	assert_non_null(seen);
	while (fgets(line, sizeof(line), f))
		check_line(line, section, seen);
	for (size_t i = 0; i < config_key_count; i++)
		if (!seen[i])
			fail_msg("conf/rcpd.conf lacks '%s'", config_keys[i].name);
	fclose(f);
	free(seen);
}

/* As shipped it changes nothing. */
static void test_conf_is_defaults(void **state)
{
	struct config *c = NULL;
	struct error e = { 0 };

	(void)state;
	if (config_load(source_path("conf/rcpd.conf"), NULL, 0, &c, &e) != ST_OK)
		fail_msg("%s", e.message);
	config_free(c);
}

/* With every '#' before a key gone it is valid too, and still the defaults. */
static void test_conf_uncommented(void **state)
{
	FILE *f = fopen(source_path("conf/rcpd.conf"), "r");
	struct config *c = NULL;
	struct error e = { 0 };
	char line[512], text[32768];
	size_t len = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		bool key = line[0] == '#' && line[1] >= 'a' && line[1] <= 'z';

		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s", line + (key ? 1 : 0));
		assert_true(len < sizeof(text));
	}
	fclose(f);
	if (text_load(text, &c, &e) != ST_OK)
		fail_msg("%s", e.message);
	assert_string_equal(c->data, "/var/lib/rcpd");
	config_free(c);
}

/* ".It Ic NAME Ns = Ns Ar ..." for each key, and no other. */
static void test_man_in_step(void **state)
{
	FILE *f = fopen(source_path("docs/man/rcpd.conf.5"), "r");
	char line[512], name[64];
	size_t found = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, ".It Ic %63s", name) != 1)
			continue;
		found++;
		if (found > config_key_count || strcmp(name, config_keys[found - 1].name) != 0)
			fail_msg("rcpd.conf.5 has '%s' where the table has another key", name);
	}
	fclose(f);
	assert_int_equal(found, config_key_count);
}

static void test_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];

		assert_non_null(key->help);
		assert_true(strlen(key->help) > 8);
		assert_ptr_equal(key_of(key->section, key->name), key);
		assert_int_equal(key->kind == CONFIG_CHOICE, key->choices != NULL);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(config_keys[k].name, key->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_conf_in_step, env_clear),
		cmocka_unit_test_setup(test_conf_is_defaults, env_clear),
		cmocka_unit_test_setup(test_conf_uncommented, env_clear),
		cmocka_unit_test_setup(test_man_in_step, env_clear),
		cmocka_unit_test_setup(test_table_is_whole, env_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
