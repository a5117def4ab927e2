/* test_remote_parts.c: breaker, cache and the reading of grades, each alone. */
#include <stdio.h>
#include <string.h>

#include "../unit.h"
#include "models/remote_private.h"
#include "util/crypto.h"
#include "util/mem.h"

/* ---- the breaker, with a clock of our own ---- */

static void attempt_fails(struct remote_breaker *b, uint64_t now)
{
	bool probe;

	assert_true(remote_breaker_enter(b, now, &probe));
	remote_breaker_leave(b, probe, REMOTE_FAILED, now);
}

static void test_breaker_opens_and_closes(void **state)
{
	struct remote_breaker b = { .pause_ms = 100 };
	bool probe, other;

	(void)state;
	for (int i = 1; i < REMOTE_BREAKER_FAILURES; i++)
		attempt_fails(&b, 1000);
	/* A success starts the count anew. */
	assert_true(remote_breaker_enter(&b, 1000, &probe));
	assert_false(probe);
	remote_breaker_leave(&b, probe, REMOTE_WORKED, 1000);
	for (int i = 0; i < REMOTE_BREAKER_FAILURES; i++)
		attempt_fails(&b, 1000);
	assert_false(remote_breaker_enter(&b, 1000, &probe));
	assert_false(remote_breaker_enter(&b, 1099, &probe));
	/* One probe at a time. */
	assert_true(remote_breaker_enter(&b, 1100, &probe));
	assert_true(probe);
	assert_false(remote_breaker_enter(&b, 1100, &other));
	/* Called off: the next one may try. */
	remote_breaker_leave(&b, probe, REMOTE_UNKNOWN, 1101);
	assert_true(remote_breaker_enter(&b, 1101, &probe));
	remote_breaker_leave(&b, probe, REMOTE_FAILED, 1110);
	assert_false(remote_breaker_enter(&b, 1209, &probe));
	assert_true(remote_breaker_enter(&b, 1210, &probe));
	remote_breaker_leave(&b, probe, REMOTE_WORKED, 1210);
	assert_true(remote_breaker_enter(&b, 1210, &probe));
	assert_false(probe);
}

static void test_breaker_and_late_failures(void **state)
{
	struct remote_breaker b = { .pause_ms = 100 };
	bool early, probe;

	(void)state;
	assert_true(remote_breaker_enter(&b, 1000, &early));
	for (int i = 0; i < REMOTE_BREAKER_FAILURES; i++)
		attempt_fails(&b, 1000);
	/* Begun before it opened, failed after: the pause stays as it was. */
	remote_breaker_leave(&b, early, REMOTE_FAILED, 1090);
	assert_true(remote_breaker_enter(&b, 1100, &probe));
	assert_true(probe);
}

/* ---- the cache ---- */

#define KEYS 40
#define ENTRIES 10

static void key_of(unsigned i, unsigned char *key)
{
	assert_int_equal(crypto_sha256(&i, sizeof(i), key), ST_OK);
}

/* Against a plain list in order of use. */
static void test_cache_is_lru(void **state)
{
	struct remote_cache *c = NULL;
	unsigned order[ENTRIES], n = 0, seed = 1;
	struct error e;

	(void)state;
	assert_int_equal(remote_cache_new(ENTRIES, 3, &c, &e), ST_OK);
	for (int step = 0; step < 20000; step++) {
		unsigned char key[CRYPTO_SHA256_LEN];
		float v[3] = { 0 };
		unsigned at, i;
		seed = seed * 1664525 + 1013904223;
		i = (seed >> 16) % KEYS;
		key_of(i, key);
		for (at = 0; at < n && order[at] != i; at++)
			;
		bool found = remote_cache_get(c, key, v);
		assert_int_equal(found, at < n);
		if (found) {
			assert_true(v[0] == (float)i && v[2] == (float)i * 3);
		} else {
			const float fresh[3] = { (float)i, (float)i * 2, (float)i * 3 };
			remote_cache_put(c, key, fresh);
			remote_cache_put(c, key, fresh);
			n += n < ENTRIES;
			at = n - 1;
		}
		memmove(&order[1], &order[0], at * sizeof(order[0]));
		order[0] = i;
	}
	remote_cache_free(c);
	assert_int_equal(remote_cache_new((1U << 24) + 1, 3, &c, &e), ST_INVALID);
}

static void test_cache_without_memory(void **state)
{
	struct remote_cache *c = NULL;
	struct error e;
	unsigned char key[CRYPTO_SHA256_LEN];
	const float v[1] = { 1 };
	float got[1];

	(void)state;
	key_of(1, key);
	for (long i = 0; i < 3; i++) {
		(void)mem_fail_after(i);
		assert_int_equal(remote_cache_new(4, 1, &c, &e), ST_NOMEM);
		(void)mem_fail_after(-1);
	}
	assert_int_equal(remote_cache_new(4, 1, &c, &e), ST_OK);
	(void)mem_fail_after(0);
	remote_cache_put(c, key, v);
	(void)mem_fail_after(-1);
	assert_false(remote_cache_get(c, key, got));
	remote_cache_put(c, key, v);
	assert_true(remote_cache_get(c, key, got));
	remote_cache_free(c);
}

/* ---- grades ---- */

static void test_grades(void **state)
{
	static const struct {
		const char *text;
		bool good;
	} rows[] = { { "[1, 10, 0]", true }, { "Grades:\n[1, 10, 0].", true },
		{ "```json\n[1,10,0.0]\n```", true }, { "{\"grades\": [1,10,0]}", true },
		{ "As [1] says: [1,10,0]", true }, { "[ [1,10,0]", true }, { "", false },
		{ "[]", false }, { "[1,10]", false }, { "[1,10,0,0]", false },
		{ "[1,10,0] or [1,9,0]", false }, { "[1,10,-1]", false }, { "[1,10.5,0]", false },
		{ "[1,\"10\",0]", false }, { "[1,null,0]", false }, { "[1,[10],0]", false },
		{ "[1,10,0", false }, { "[1,NaN,0]", false }, { "1, 10, 0", false },
		{ "[1,10,1e999]", false } };
	static char many[70000];
	double out[3];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool good = remote_grades_parse(bytes_of(rows[i].text), 3, out);
		if (good != rows[i].good)
			print_error("%s\n", rows[i].text);
		assert_int_equal(good, rows[i].good);
		if (good)
			assert_true(out[0] == 0.1 && out[1] == 1 && out[2] == 0);
	}
	memset(many, '[', sizeof(many) - 1);
	assert_false(remote_grades_parse(bytes_of(many), 3, out));
	many[1000] = '\0';
	assert_false(remote_grades_parse(bytes_of(many), 3, out));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_breaker_opens_and_closes),
		cmocka_unit_test(test_breaker_and_late_failures),
		cmocka_unit_test(test_cache_is_lru),
		cmocka_unit_test(test_cache_without_memory),
		cmocka_unit_test(test_grades),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
