/*
 * embed, embed/sparse and embed/multi (REQ: X1, X2, X3, D32, C5, D12) over a real corpus
 * and models of a few lines.
 */
#include "../unit.h"

#include <math.h>
#include <string.h>

#include "peer.h"

static struct models local_models(void)
{
	return (struct models){ .table = tiny_table(), .colbert = true };
}

static int open_local(void **state)
{
	struct models m = local_models();

	(void)state;
	peer_open(&m);
	return 0;
}

static int open_remote(void **state)
{
	struct models m = local_models();

	(void)state;
	m.embedder = tiny_remote("e@host");
	m.embedder_dimension = TINY_DIMENSION;
	m.sparse = tiny_remote("s@host");
	peer_open(&m);
	return 0;
}

static int close_peer(void **state)
{
	(void)state;
	peer_close();
	return 0;
}

/* That v is what the models make of text, as numbers. */
static void assert_vector(const json_t *v, const char *text)
{
	float want[TINY_DIMENSION];

	tiny_vector(bytes_of(text), want);
	assert_int_equal(json_array_size(v), TINY_DIMENSION);
	for (size_t i = 0; i < TINY_DIMENSION; i++) {
		float got = (float)json_real_value(json_array_get(v, i));

		assert_true(json_is_real(json_array_get(v, i)));
		if (fabsf(got - want[i]) > 1e-7f)
			fail_msg("%s: %g instead of %g", text, (double)got, (double)want[i]);
	}
}

static int digit(char c)
{
	static const char all[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = memchr(all, c, 64);

	return at ? (int)(at - all) : -1;
}

/* Little-endian floats of base64; their number. */
static size_t decode(const json_t *v, float *out, size_t max)
{
	const char *text = json_string_value(v);
	unsigned char raw[256];
	size_t n = 0;

	assert_non_null(text);
	assert_int_equal(json_string_length(v) % 4, 0);
	for (const char *p = text; *p; p += 4) {
		uint32_t bits = 0;
		int bytes = p[2] == '=' ? 1 : p[3] == '=' ? 2 : 3;

		for (int i = 0; i < 4; i++) {
			assert_true(i > bytes ? p[i] == '=' : digit(p[i]) >= 0);
			bits = bits << 6 | (uint32_t)(i > bytes ? 0 : digit(p[i]));
		}
		for (int i = 0; i < bytes; i++)
			raw[n++] = (unsigned char)(bits >> (16 - 8 * i));
	}
	assert_int_equal(n % 4, 0);
	for (size_t i = 0; i < n / 4 && i < max; i++) {
		uint32_t bits = raw[4 * i] | (uint32_t)raw[4 * i + 1] << 8 |
			(uint32_t)raw[4 * i + 2] << 16 | (uint32_t)raw[4 * i + 3] << 24;

		memcpy(&out[i], &bits, 4);
	}
	return n / 4;
}

static void test_X1_vectors_in_input_order(void **state)
{
	json_t *r = peer_result("embed",
		"{\"inputs\":[\"abc\",{\"type\":\"text\",\"text\":\"dd\"},\"a\"]}");
	json_t *v = json_object_get(r, "vectors");

	(void)state;
	assert_int_equal(json_array_size(v), 3);
	assert_vector(json_array_get(v, 0), "abc");
	assert_vector(json_array_get(v, 1), "dd");
	assert_vector(json_array_get(v, 2), "a");
	assert_int_equal(json_integer_value(json_object_get(r, "dimension")), TINY_DIMENSION);
	assert_null(json_object_get(r, "encoding"));
	json_decref(r);
	r = peer_result("embed", "{\"inputs\":[],\"texts\":[\"a\"]}");
	assert_int_equal(json_array_size(json_object_get(r, "vectors")), 0);
	json_decref(r);
}

static void test_X1_D32_texts_and_base64(void **state)
{
	json_t *r = peer_result("embed",
		"{\"texts\":[\"abcc\",\"d\"],\"encoding\":\"f32-base64\",\"kind\":\"query\"}");
	float got[8], want[TINY_DIMENSION];

	(void)state;
	assert_string_equal(json_string_value(json_object_get(r, "encoding")), "f32-base64");
	assert_int_equal(json_integer_value(json_object_get(r, "dimension")), TINY_DIMENSION);
	assert_int_equal(decode(json_array_get(json_object_get(r, "vectors"), 0), got, 8),
		TINY_DIMENSION);
	tiny_vector(bytes_of("abcc"), want);
	for (size_t i = 0; i < TINY_DIMENSION; i++)
		assert_true(fabsf(got[i] - want[i]) < 1e-7f);
	json_decref(r);
	r = peer_result("embed",
		"{\"inputs\":[\"a\"],\"encoding\":\"f16\",\"strict\":false,\"kind\":null}");
	assert_vector(json_array_get(json_object_get(r, "vectors"), 0), "a");
	json_decref(r);
}

static void test_X1_what_is_refused(void **state)
{
	(void)state;
	peer_refused("embed", "{}", -32602, "inputs");
	peer_refused("embed", "{\"inputs\":\"a\"}", -32602, "inputs");
	peer_refused("embed", "{\"inputs\":[\"a\",3]}", -32602, "inputs[1]");
	peer_refused("embed", "{\"texts\":[[\"a\"]]}", -32602, "texts[0]");
	peer_refused("embed", "{\"inputs\":[\"a\",null]}", -32602, "inputs[1]");
	peer_refused("embed",
		"{\"inputs\":[{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"AA==\"}]}",
		-32005, "image");
	peer_refused("embed", "{\"inputs\":[\"a\",\"a\",\"a\",\"a\",\"a\"]}", -32013, "");
	peer_refused("embed", "{\"inputs\":[\"a\"],\"kind\":\"passage\"}", -32602, "kind");
	peer_refused("embed", "{\"inputs\":[\"a\"],\"encoding\":\"f16\"}", -32005, "f16");
	peer_refused("embed", "{\"inputs\":[\"a\"],\"encoding\":\"\"}", -32602, "encoding");
	/* A zero vector would be near to everything (REQ: RET-04). */
	peer_refused("embed", "{\"inputs\":[\"a\",\"\"]}", -32602, "inputs[1]");
	peer_refused("embed", "{\"texts\":[\"?! 12\"]}", -32602, "texts[0]");
	tiny_models.fail = ST_INTERNAL;
	peer_refused("embed", "{\"inputs\":[\"a\"]}", -32603, "");
}

static void test_X1_over_http(void **state)
{
	json_t *r = peer_result("embed", "{\"inputs\":[\"abc\",\"dd\"],\"kind\":\"query\"}");

	(void)state;
	assert_vector(json_array_get(json_object_get(r, "vectors"), 0), "abc");
	assert_vector(json_array_get(json_object_get(r, "vectors"), 1), "dd");
	assert_true(tiny_models.query);
	assert_int_equal(tiny_models.calls, 1);
	json_decref(r);
	json_decref(peer_result("embed", "{\"inputs\":[\"abc\"]}"));
	assert_false(tiny_models.query);
	json_decref(peer_result("embed", "{\"inputs\":[]}"));
	assert_int_equal(tiny_models.calls, 2);
	peer_refused("embed", "{\"inputs\":[\"a\",\" \\n\"]}", -32602, "inputs[1]");
	assert_int_equal(tiny_models.calls, 2);
	tiny_models.fail = ST_UNAVAILABLE;
	peer_refused("embed", "{\"inputs\":[\"a\"]}", -32010, "");
	tiny_models.fail = ST_TIMEOUT; /* the model's, while the request has time */
	peer_refused("embed", "{\"inputs\":[\"a\"]}", -32010, "");
}

/* ---- sparse ---- */

static const json_t *member(const json_t *result, size_t i, const char *name)
{
	return json_object_get(json_array_get(json_object_get(result, "sparse"), i), name);
}

static double weight_at(const json_t *result, size_t i, json_int_t index)
{
	const json_t *at = member(result, i, "indices");

	for (size_t j = 0; j < json_array_size(at); j++)
		if (json_integer_value(json_array_get(at, j)) == index)
			return json_real_value(json_array_get(member(result, i, "values"), j));
	return 0;
}

static void assert_ascending(const json_t *result, size_t i)
{
	const json_t *at = member(result, i, "indices"), *v = member(result, i, "values");

	assert_int_equal(json_array_size(at), json_array_size(v));
	for (size_t j = 0; j < json_array_size(at); j++) {
		json_int_t index = json_integer_value(json_array_get(at, j));

		assert_true(index >= 0 && index <= 0x7fffffff);
		assert_true(!j || index > json_integer_value(json_array_get(at, j - 1)));
		assert_true(json_real_value(json_array_get(v, j)) > 0);
	}
}

/* Their product is the score that retrieve gives. */
static void test_X2_weights_of_the_corpus(void **state)
{
	json_t *query, *document, *hits;
	double score = 0;

	(void)state;
	json_decref(peer_result("index/add",
		"{\"documents\":[{\"id\":\"a\",\"text\":\"red fox red hen\"},"
		"{\"id\":\"b\",\"text\":\"grey goose under the moon\"}]}"));
	query = peer_result("embed/sparse", "{\"texts\":[\"red fox\",\"\"],\"kind\":\"query\"}");
	document = peer_result("embed/sparse", "{\"inputs\":[\"red fox red hen\"]}");
	hits = peer_result("retrieve", "{\"query\":\"red fox\",\"mode\":\"sparse\"}");
	assert_ascending(query, 0);
	assert_ascending(document, 0);
	assert_int_equal(json_array_size(member(query, 0, "indices")), 2);
	assert_int_equal(json_array_size(member(query, 1, "indices")), 0);
	assert_int_equal(json_array_size(member(document, 0, "indices")), 3);
	for (size_t j = 0; j < 2; j++)
		score += json_real_value(json_array_get(member(query, 0, "values"), j)) *
			weight_at(document, 0,
				json_integer_value(json_array_get(member(query, 0, "indices"), j)));
	assert_true(
		fabs(score -
			json_real_value(
				json_object_get(json_array_get(json_object_get(hits, "hits"), 0),
					"score"))) < 1e-5);
	assert_string_equal(json_string_value(json_object_get(query, "indexVersion")),
		json_string_value(json_object_get(hits, "indexVersion")));
	json_decref(query);
	json_decref(document);
	json_decref(hits);
}

static void test_X2_what_is_refused(void **state)
{
	(void)state;
	peer_refused("embed/sparse", "{}", -32602, "inputs");
	peer_refused("embed/sparse", "{\"texts\":[{}]}", -32602, "texts[0].type");
	peer_refused("embed/sparse", "{\"texts\":[\"a\"],\"kind\":\"x\"}", -32602, "kind");
	peer_refused("embed/sparse", "{\"texts\":[\"\",\"\",\"\",\"\",\"\"]}", -32013, "");
}

static void test_X2_over_http(void **state)
{
	json_t *r = peer_result("embed/sparse", "{\"texts\":[\"abc\",\" \",\"de\"]}");

	(void)state;
	assert_int_equal(tiny_models.texts, 2);
	assert_true(weight_at(r, 0, 7) > 2.9 && weight_at(r, 2, 7) < 2.1);
	assert_int_equal(json_array_size(member(r, 1, "indices")), 0);
	assert_ascending(r, 2);
	json_decref(r);
	tiny_models.fail = ST_UNAVAILABLE;
	peer_refused("embed/sparse", "{\"texts\":[\"abc\"]}", -32010, "");
	json_decref(peer_result("embed/sparse", "{\"texts\":[\"\"]}")); /* nobody is asked */
}

/* ---- multi ---- */

static void test_X3_a_matrix_for_each_input(void **state)
{
	json_t *r = peer_result("embed/multi", "{\"inputs\":[\"ab cd\",\"12\"]}");
	json_t *m = json_object_get(r, "matrices");

	(void)state;
	assert_int_equal(json_array_size(m), 2);
	assert_int_equal(json_array_size(json_array_get(m, 0)), 2);
	assert_vector(json_array_get(json_array_get(m, 0), 0), "ab");
	assert_vector(json_array_get(json_array_get(m, 0), 1), "cd");
	assert_int_equal(json_array_size(json_array_get(m, 1)), 0);
	assert_int_equal(json_integer_value(json_object_get(r, "dimension")), TINY_DIMENSION);
	json_decref(r);
	/* The schema has numbers alone in matrices. */
	peer_refused("embed/multi", "{\"texts\":[\"ab\"],\"encoding\":\"f32-base64\"}", -32005,
		"f32-base64");
	r = peer_result("embed/multi",
		"{\"texts\":[\"ab\"],\"encoding\":\"f32-base64\",\"strict\":false}");
	assert_vector(json_array_get(json_array_get(json_object_get(r, "matrices"), 0), 0), "ab");
	json_decref(r);
	peer_refused("embed/multi", "{\"inputs\":[1]}", -32602, "inputs[0]");
	peer_refused("embed/multi", "{\"inputs\":[\"\",\"\",\"\",\"\",\"\"]}", -32013, "");
}

/* ---- all of them ---- */

static void test_allocation_failures_here(void **state)
{
	(void)state;
	json_decref(
		peer_result("index/add", "{\"documents\":[{\"id\":\"a\",\"text\":\"red fox\"}]}"));
	peer_walk("embed", "{\"inputs\":[\"ab\",\"c\"]}");
	peer_walk("embed", "{\"inputs\":[\"ab\"],\"encoding\":\"f32-base64\"}");
	peer_walk("embed/sparse", "{\"inputs\":[\"red fox\"]}");
	peer_walk("embed/multi", "{\"inputs\":[\"red fox\"]}");
}

static void test_allocation_failures_over_http(void **state)
{
	(void)state;
	peer_walk("embed", "{\"inputs\":[\"ab\",\"c\"]}");
	peer_walk("embed/sparse", "{\"inputs\":[\"red fox\",\"\"]}");
}

/* REQ: C1: who has no model for it does not offer it. */
static void test_without_models(void **state)
{
	struct models none = { .table = NULL };
	struct models external = { .table = tiny_table(), .external_dimension = 3 };

	(void)state;
	peer_open(&none);
	peer_refused("embed", "{\"inputs\":[\"a\"]}", -32003, "");
	peer_refused("embed/multi", "{\"inputs\":[\"a\"]}", -32003, "");
	json_decref(peer_result("embed/sparse", "{\"inputs\":[\"a\"]}"));
	peer_close();
	peer_open(&external);
	peer_refused("embed", "{\"inputs\":[\"a\"]}", -32003, "");
	json_decref(peer_result("embed/multi", "{\"inputs\":[\"a\"]}"));
	peer_close();
}

#define LOCAL(test) cmocka_unit_test_setup_teardown(test, open_local, close_peer)
#define REMOTE(test) cmocka_unit_test_setup_teardown(test, open_remote, close_peer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		LOCAL(test_X1_vectors_in_input_order),
		LOCAL(test_X1_D32_texts_and_base64),
		LOCAL(test_X1_what_is_refused),
		REMOTE(test_X1_over_http),
		LOCAL(test_X2_weights_of_the_corpus),
		LOCAL(test_X2_what_is_refused),
		REMOTE(test_X2_over_http),
		LOCAL(test_X3_a_matrix_for_each_input),
		LOCAL(test_allocation_failures_here),
		REMOTE(test_allocation_failures_over_http),
		cmocka_unit_test(test_without_models),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
