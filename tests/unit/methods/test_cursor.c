/* Cursors as text (REQ: R10, D39): they come back whole or not at all, and belong to
 * one request. */
#include "../unit.h"

#include <stdio.h>
#include <string.h>

#include "methods/common.h"
#include "util/mem.h"

static const unsigned char secret[CURSOR_SECRET_LEN] = "an example of a secret";
static const unsigned char other[CURSOR_SECRET_LEN] = "another one";
static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static struct cursor sample(uint64_t offset)
{
	struct cursor c = { .commit = UINT64_MAX - 5, .offset = offset };

	for (size_t i = 0; i < CURSOR_DIGEST_LEN; i++)
		c.digest[i] = (unsigned char)(0xf0 + i);
	return c;
}

static void test_R10_round_trip(void **state)
{
	static const uint64_t offsets[] = { 0, 1, 255, 256, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct cursor c = sample(offsets[i]), back;
		char text[CURSOR_LEN + 1];

		assert_int_equal(cursor_write(&c, secret, text), ST_OK);
		assert_int_equal(strlen(text), CURSOR_LEN);
		assert_int_equal(strspn(text, digits), CURSOR_LEN);
		assert_int_equal(cursor_read(bytes_of(text), secret, &back), ST_OK);
		assert_true(back.commit == c.commit && back.offset == c.offset);
		assert_memory_equal(back.digest, c.digest, CURSOR_DIGEST_LEN);
		assert_int_equal(cursor_read(bytes_of(text), other, &back), ST_INVALID);
	}
}

/* Every character in place of every other. */
static void test_D39_tampering_is_noticed(void **state)
{
	struct cursor c = sample(14), back;
	char text[CURSOR_LEN + 2] = "";

	(void)state;
	assert_int_equal(cursor_write(&c, secret, text), ST_OK);
	for (size_t i = 0; i < CURSOR_LEN; i++) {
		char was = text[i];

		for (int j = 0; j < 256; j++) {
			text[i] = (char)j;
			assert_int_equal(cursor_read((struct bytes){ text, CURSOR_LEN }, secret,
						 &back),
				text[i] == was ? ST_OK : ST_INVALID);
		}
		text[i] = was;
	}
	for (size_t n = 0; n < CURSOR_LEN; n++)
		assert_int_equal(cursor_read((struct bytes){ text, n }, secret, &back), ST_INVALID);
	text[CURSOR_LEN] = 'A';
	assert_int_equal(cursor_read(bytes_of(text), secret, &back), ST_INVALID);
}

/* ---- the digest of a request ---- */

static enum status digest(const char *params, unsigned char out[CURSOR_DIGEST_LEN])
{
	struct methods_retrieve_params p = { .note_count = 0 };
	json_t *root = json_loads(params, JSON_ALLOW_NUL, NULL);
	struct arena arena;
	struct rpc_error err;
	enum status st;

	assert_non_null(root);
	arena_init(&arena, 0);
	if (rpc_params_parse(methods_retrieve_table, METHODS_RETRIEVE_PARAMS, root, &arena, &p,
		    &err))
		fail_msg("%s: %s", params, err.message);
	st = cursor_digest(methods_retrieve_table, METHODS_RETRIEVE_PARAMS, &p, "cursor", out);
	arena_release(&arena);
	json_decref(root);
	return st;
}

static void test_D39_spelling_does_not_matter(void **state)
{
	static const char *const same[] = {
		"{\"query\":\"a b\",\"k\":5,\"filter\":{\"field\":\"f\",\"op\":\"eq\",\"value\":1}}",
		"{\"k\":5.0,\"filter\":{\"value\":1,\"op\":\"eq\",\"field\":\"f\"},\"query\":\"a b\"}",
		"{\"query\":\"a b\",\"k\":5,\"filter\":{\"field\":\"f\",\"op\":\"eq\",\"value\":1},"
		"\"cursor\":\"x\",\"_meta\":{\"progressToken\":1},\"mode\":null,\"x-y\":3}",
		"{\"query\":{\"type\":\"text\",\"text\":\"a b\"},\"k\":5,"
		"\"filter\":{\"field\":\"f\",\"op\":\"eq\",\"value\":1},\"rerank\":false}",
	};
	unsigned char first[CURSOR_DIGEST_LEN], d[CURSOR_DIGEST_LEN];

	(void)state;
	assert_int_equal(digest(same[0], first), ST_OK);
	for (size_t i = 1; i < sizeof(same) / sizeof(same[0]); i++) {
		assert_int_equal(digest(same[i], d), ST_OK);
		if (memcmp(d, first, sizeof(d)) != 0)
			fail_msg("another digest: %s", same[i]);
	}
}

static void test_D39_every_parameter_matters(void **state)
{
	static const char *const differ[] = { "", ",\"k\":5", ",\"k\":6", ",\"candidateK\":5",
		",\"mode\":\"sparse\"", ",\"modality\":\"text\"", ",\"minScore\":0",
		",\"minScore\":0.5", ",\"recency\":{\"field\":\"d\",\"halfLifeDays\":1}",
		",\"recency\":{\"field\":\"d\",\"halfLifeDays\":2}",
		",\"recency\":{\"field\":\"e\",\"halfLifeDays\":1}", ",\"unit\":\"chunk\"",
		",\"unit\":\"document\"", ",\"includeText\":true", ",\"includeText\":false",
		",\"includeVectors\":false", ",\"seed\":1", ",\"indexVersion\":\"v\"",
		",\"strict\":false", ",\"sessionId\":\"s\"", ",\"fusion\":{}",
		",\"fusion\":{\"method\":\"rrf\"}", ",\"fusion\":{\"alpha\":0.5}",
		",\"fusion\":{\"rrfK\":5}", ",\"fusion\":{\"weights\":{}}",
		",\"fusion\":{\"weights\":{\"dense\":1}}",
		",\"fusion\":{\"weights\":{\"sparse\":1}}", ",\"rerank\":{}",
		",\"rerank\":{\"topN\":1}", ",\"rerank\":{\"method\":\"llm\"}",
		",\"rerank\":{\"model\":\"m\"}", ",\"mmr\":{}", ",\"mmr\":{\"lambda\":0.5}",
		",\"x-rcpd-vector\":[1]", ",\"x-rcpd-vector\":[1,2]", ",\"rewrite\":\"hyde\"",
		",\"rewrite\":false", ",\"level\":1", ",\"tokenBudget\":1", ",\"filter\":{\"a\":1}",
		",\"filter\":{\"a\":\"1\"}", ",\"filter\":{\"a\":\"\\u0000\"}" };
	enum { N = sizeof(differ) / sizeof(differ[0]) };
	static unsigned char d[N][CURSOR_DIGEST_LEN];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		char params[200];

		snprintf(params, sizeof(params), "{\"query\":\"q\"%s}", differ[i]);
		assert_int_equal(digest(params, d[i]), ST_OK);
		for (size_t j = 0; j < i; j++)
			if (memcmp(d[i], d[j], CURSOR_DIGEST_LEN) == 0)
				fail_msg("%s has the digest of %s", differ[i], differ[j]);
	}
}

static void test_strings_of_a_table(void **state)
{
	struct rpc_strings v[] = { { 2, (struct bytes[]){ bytes_of("a"), bytes_of("b") }, true },
		{ 1, (struct bytes[]){ bytes_of("ab") }, true }, { .n = 0 } };
	static const struct rpc_param row = { .name = "ids", .type = RPC_P_STRINGS };
	unsigned char d[3][CURSOR_DIGEST_LEN];

	(void)state;
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(cursor_digest(&row, 1, &v[i], "", d[i]), ST_OK);
	assert_memory_not_equal(d[0], d[1], CURSOR_DIGEST_LEN);
	assert_memory_not_equal(d[1], d[2], CURSOR_DIGEST_LEN);
}

static void test_allocation_failures(void **state)
{
	json_t *filter = json_loads("{\"b\":[1,2],\"a\":\"x\"}", 0, NULL);
	struct methods_retrieve_params p = { .filter = filter };
	bool passed = false;

	(void)state;
	assert_non_null(filter);
	for (long n = 0; n < 100 && !passed; n++) {
		unsigned char d[CURSOR_DIGEST_LEN];
		enum status st;

		mem_fail_after(n);
		st = cursor_digest(methods_retrieve_table, METHODS_RETRIEVE_PARAMS, &p, "cursor",
			d);
		passed = mem_fail_after(-1) <= n;
		assert_int_equal(st, passed ? ST_OK : ST_NOMEM);
	}
	assert_true(passed);
	json_decref(filter);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_R10_round_trip),
		cmocka_unit_test(test_D39_tampering_is_noticed),
		cmocka_unit_test(test_D39_spelling_does_not_matter),
		cmocka_unit_test(test_D39_every_parameter_matters),
		cmocka_unit_test(test_strings_of_a_table),
		cmocka_unit_test(test_allocation_failures),
	};

	json_set_alloc_funcs(mem_alloc, mem_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
