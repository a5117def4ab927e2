/* helpers.h: a config from text, for the tests of src/config. */
#ifndef TEST_CONFIG_HELPERS_H
#define TEST_CONFIG_HELPERS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/config.h"

/* Loads a file of these bytes; the file is gone again afterwards. */
static inline enum status bytes_load(const void *text, size_t len, struct config **ret,
	struct error *e)
{
	char path[] = P_tmpdir "/rcpd-config-XXXXXX";
	int fd = mkstemp(path);
	enum status st;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
	st = config_load(path, NULL, 0, ret, e);
	unlink(path);
	return st;
}

static inline enum status text_load(const char *text, struct config **ret, struct error *e)
{
	return bytes_load(text, strlen(text), ret, e);
}

/* Loads text, which must fail with a message that holds `want`. */
static inline void assert_refused(const char *text, const char *want)
{
	struct config *c = NULL;
	struct error e = { 0 };

	assert_int_equal(text_load(text, &c, &e), ST_INVALID);
	assert_null(c);
	if (!strstr(e.message, want))
		fail_msg("message '%s' does not hold '%s'", e.message, want);
}

/* As the flag --name value. */
static inline enum status flag_load(const char *name, const char *value, struct config **ret,
	struct error *e)
{
	struct config_override o = { name, value };

	return config_load(NULL, &o, 1, ret, e);
}

/* Nothing of the surroundings may reach a test. */
static inline int env_clear(void **state)
{
	(void)state;
	for (size_t i = 0; i < config_key_count; i++) {
		char name[64];
		int len = snprintf(name, sizeof(name), "RCPD_%s", config_keys[i].name);

		for (int k = 0; k < len; k++)
			if (name[k] >= 'a' && name[k] <= 'z')
				name[k] = (char)(name[k] - 32);
		unsetenv(name);
	}
	unsetenv("STATE_DIRECTORY");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", "/home/someone", 1);
	return 0;
}

#endif
