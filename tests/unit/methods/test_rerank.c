/*
 * rerank (REQ: X4, D22, C1, C5, RET-04), what is advertised of models (REQ: L4, D42) and
 * vectors that documents bring, over a real corpus and models of a few lines.
 */
#include "../unit.h"

#include <math.h>
#include <string.h>

#include "peer.h"

static struct models colbert_alone(void)
{
	return (struct models){ .table = tiny_table(), .colbert = true };
}

static struct models everything(void)
{
	return (struct models){ .table = tiny_table(),
		.colbert = true,
		.embedder = tiny_remote("e@host"),
		.embedder_dimension = TINY_DIMENSION,
		.sparse = tiny_remote("s@host"),
		.cross_encoder = tiny_remote("c@host"),
		.llm = tiny_remote("l@host") };
}

static int open_colbert(void **state)
{
	struct models m = colbert_alone();

	(void)state;
	peer_open(&m);
	return 0;
}

static int open_everything(void **state)
{
	struct models m = everything();

	(void)state;
	peer_open(&m);
	return 0;
}

static int open_external(void **state)
{
	struct models m = { .external_dimension = 3 };

	(void)state;
	peer_open(&m);
	return 0;
}

static int close_peer(void **state)
{
	(void)state;
	peer_close();
	return 0;
}

static double score(const json_t *result, size_t i)
{
	const json_t *v = json_array_get(json_object_get(result, "scores"), i);

	assert_true(json_is_real(v));
	return json_real_value(v);
}

static json_int_t place(const json_t *result, size_t i)
{
	return json_integer_value(json_array_get(json_object_get(result, "order"), i));
}

/* That order and results say the same, best first, equal ones as they came. */
static void assert_ordered(const json_t *result, size_t n)
{
	const json_t *results = json_object_get(result, "results");

	assert_int_equal(json_array_size(json_object_get(result, "order")), n);
	assert_int_equal(json_array_size(results), n);
	for (size_t i = 0; i < n; i++) {
		const json_t *one = json_array_get(results, i);
		json_int_t at = json_integer_value(json_object_get(one, "index"));

		assert_int_equal(at, place(result, i));
		assert_true(fabs(json_real_value(json_object_get(one, "score")) -
				    score(result, (size_t)at)) < 1e-12);
		if (i)
			assert_true(score(result, (size_t)place(result, i - 1)) >
					score(result, (size_t)at) ||
				place(result, i - 1) < at);
	}
}

/* colbert: the share of a passage's bytes that are the query's first one. */
static void test_X4_scores_by_index_and_their_order(void **state)
{
	json_t *r = peer_result("rerank",
		"{\"query\":\"a\",\"passages\":[\"ab\",\"\",{\"type\":\"text\",\"text\":\"aaa\"},"
		"\"ba\",\"b\"]}");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(r, "scores")), 5);
	assert_true(score(r, 0) > 0.49 && score(r, 0) < 0.51 && score(r, 2) > 0.99);
	assert_ordered(r, 5);
	assert_int_equal(place(r, 0), 2);
	assert_int_equal(place(r, 1), 0);
	assert_int_equal(place(r, 2), 3);
	assert_null(json_object_get(r, "usage"));
	json_decref(r);
}

static void test_X4_D22_documents_and_topN(void **state)
{
	json_t *r = peer_result("rerank",
		"{\"query\":[\"a\"],\"documents\":[\"b\",\"a\",\"ab\"],\"topN\":2,"
		"\"method\":\"colbert\",\"model\":\"fake@1\"}");

	(void)state;
	assert_int_equal(json_array_size(json_object_get(r, "scores")), 3);
	assert_ordered(r, 2);
	assert_int_equal(place(r, 0), 1);
	json_decref(r);
	r = peer_result("rerank", "{\"query\":\"a\",\"passages\":[],\"topN\":9007199254740991}");
	assert_ordered(r, 0);
	json_decref(r);
	r = peer_result("rerank", "{\"query\":\"\",\"passages\":[\"a\",\"b\"],\"topN\":5.0}");
	assert_ordered(r, 2);
	json_decref(r);
}

static void test_X4_what_is_refused(void **state)
{
	(void)state;
	peer_refused("rerank", "{\"passages\":[\"a\"]}", -32602, "query");
	peer_refused("rerank", "{\"query\":\"a\"}", -32602, "passages");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":\"a\"}", -32602, "passages");
	peer_refused("rerank", "{\"query\":\"a\",\"documents\":[\"a\",{\"x\":1}]}", -32602,
		"documents[1].type");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\",null]}", -32602,
		"passages[1]");
	peer_refused("rerank",
		"{\"query\":\"a\",\"passages\":[{\"type\":\"audio\",\"mimeType\":\"audio/x\","
		"\"uri\":\"x:y\"}]}",
		-32005, "audio");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"\",\"\",\"\",\"\",\"\",\"\"]}",
		-32013, "");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"],\"topN\":0}", -32602, "topN");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"llm\"}", -32005,
		"llm");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"\"}", -32602,
		"method");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"],\"model\":\"big\"}", -32005,
		"big");
}

/* C1: with strict:false the best method does it, and says so. */
static void test_X4_C1_falling_back(void **state)
{
	json_t *r = peer_result("rerank",
		"{\"query\":\"a\",\"passages\":[\"b\",\"a\"],\"method\":\"cross-encoder\","
		"\"model\":\"big\",\"strict\":false}");

	(void)state;
	assert_int_equal(place(r, 0), 1);
	assert_int_equal(json_array_size(json_object_get(json_object_get(r, "usage"), "notes")), 2);
	json_decref(r);
}

/* The length of each passage, below 0 for even ones; the best method is the default. */
static void test_X4_over_http(void **state)
{
	json_t *r =
		peer_result("rerank", "{\"query\":\"why\",\"passages\":[\"a\",\"bb\",\"ccc\"]}");

	(void)state;
	assert_true(score(r, 1) < -1.9 && score(r, 2) > 2.9);
	assert_ordered(r, 3);
	assert_int_equal(tiny_models.calls, 1);
	assert_string_equal(tiny_models.last, "why");
	json_decref(r);
	json_decref(peer_result("rerank",
		"{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"colbert\"}"));
	assert_int_equal(tiny_models.calls, 1);
	json_decref(peer_result("rerank",
		"{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"llm\",\"model\":\"l@host\"}"));
	assert_int_equal(tiny_models.calls, 2);
	json_decref(peer_result("rerank", "{\"query\":\"a\",\"passages\":[]}"));
	assert_int_equal(tiny_models.calls, 2);
	peer_refused("rerank",
		"{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"llm\",\"model\":\"c@host\"}",
		-32005, "c@host");
	tiny_models.fail = ST_UNAVAILABLE;
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"]}", -32010, "");
	tiny_models.fail = ST_TIMEOUT;
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"]}", -32010, "");
}

static void test_RET_04_scores_are_numbers(void **state)
{
	(void)state;
	tiny_models.nan = true;
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"]}", -32010, "");
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"],\"method\":\"colbert\"}",
		-32010, "");
}

static void test_allocation_failures(void **state)
{
	(void)state;
	peer_walk("rerank", "{\"query\":\"a\",\"passages\":[\"b\",\"a\"],\"method\":\"colbert\"}");
	peer_walk("rerank", "{\"query\":\"a\",\"passages\":[\"b\",\"a\"]}");
}

/* ---- what is advertised ---- */

static void assert_advertised(const char *name, const char *want)
{
	json_t *info = peer_result("info", "{}");
	const json_t *got = json_object_get(json_object_get(info, "capabilities"), name);
	json_t *v = want ? json_loads(want, 0, NULL) : NULL;

	if (want ? !v || !got || !json_equal(got, v) : got != NULL)
		fail_msg("%s: %s", name, got ? json_dumps(got, 0) : "nothing");
	json_decref(v);
	json_decref(info);
}

static void test_L4_D42_what_is_advertised(void **state)
{
	(void)state;
	assert_advertised("embed",
		"{\"dimension\":4,\"identity\":\"fake@1\",\"batchLimit\":4,\"normalized\":true,"
		"\"modalities\":[\"text\"],\"encodings\":[\"json\",\"f32-base64\"]}");
	assert_advertised("sparseEmbed",
		"{\"identity\":\"x-rcpd-bm25\",\"vocabulary\":2147483648,\"batchLimit\":4}");
	assert_advertised("multiVector",
		"{\"dimension\":4,\"identity\":\"fake@1\",\"similarity\":\"cosine\","
		"\"batchLimit\":4,\"modalities\":[\"text\"],\"encodings\":[\"json\"]}");
	assert_advertised("rerank",
		"{\"methods\":[\"colbert\"],\"maxCandidates\":5,\"models\":[\"fake@1\"]}");
	assert_advertised("x-rcpd-vector",
		"{\"dimension\":6,\"identity\":\"fake@1+lsa-1\",\"documents\":false}");
}

static void test_L4_D42_what_is_advertised_of_everything(void **state)
{
	(void)state;
	assert_advertised("embed",
		"{\"dimension\":4,\"identity\":\"e@host\",\"batchLimit\":4,\"normalized\":true,"
		"\"modalities\":[\"text\"],\"encodings\":[\"json\",\"f32-base64\"]}");
	assert_advertised("sparseEmbed", "{\"identity\":\"s@host\",\"batchLimit\":4}");
	assert_advertised("rerank",
		"{\"methods\":[\"colbert\",\"cross-encoder\",\"llm\"],\"maxCandidates\":5,"
		"\"models\":[\"fake@1\",\"c@host\",\"l@host\"]}");
	assert_advertised("x-rcpd-vector",
		"{\"dimension\":4,\"identity\":\"e@host\",\"documents\":true}");
}

static void test_L4_nothing_of_what_is_not_there(void **state)
{
	(void)state;
	assert_advertised("embed", NULL);
	assert_advertised("multiVector", NULL);
	assert_advertised("rerank", NULL);
	peer_refused("rerank", "{\"query\":\"a\",\"passages\":[\"a\"]}", -32003, "");
	assert_advertised("x-rcpd-vector",
		"{\"dimension\":3,\"identity\":\"x-rcpd-external\",\"documents\":true}");
}

/* ---- x-rcpd-vector of documents ---- */

#define ADD(vector) "{\"documents\":[{\"id\":\"a\",\"text\":\"x\",\"x-rcpd-vector\":" vector "}]}"
#define AT "documents[0].x-rcpd-vector"

static void test_X7_vectors_with_documents(void **state)
{
	json_t *r;

	(void)state;
	peer_refused("index/add", ADD("[1,2]"), -32602, AT);
	peer_refused("index/add", ADD("[1,2,3,4]"), -32602, AT);
	peer_refused("index/add", ADD("\"AAAA\""), -32602, AT);
	peer_refused("index/add", ADD("[0,0.0,-0.0]"), -32602, AT);
	peer_refused("index/add", ADD("[1,\"2\",3]"), -32602, AT "[1]");
	peer_refused("index/add", ADD("[1,2,null]"), -32602, AT "[2]");
	peer_refused("index/add", ADD("[1e39,2,3]"), -32602, AT "[0]");
	peer_refused("index/add",
		"{\"documents\":[{\"text\":\"a b c d. e f g h. i j k l. m n o p. q r s t. u v w x."
		"\",\"x-rcpd-vector\":[1,2,3]}],\"chunk\":true}",
		-32602, AT);
	json_decref(peer_result("index/add",
		"{\"documents\":[{\"id\":\"a\",\"text\":\"x\",\"x-rcpd-vector\":[3e38,0,-3e38]},"
		"{\"id\":\"b\",\"text\":\"y\",\"x-rcpd-vector\":null},"
		"{\"id\":\"c\",\"text\":\"z\",\"x-rcpd-vector\":[1,1e-300,1]}],\"chunk\":true}"));
	r = peer_result("retrieve",
		"{\"query\":\"q\",\"mode\":\"dense\",\"x-rcpd-vector\":[1,0,0.5]}");
	assert_int_equal(json_array_size(json_object_get(r, "hits")), 2);
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(json_object_get(r, "hits"), 0),
					    "id")),
		"c#0");
	json_decref(r);
	peer_walk("index/add", ADD("[1,2,3]"));
}

static void test_X7_vectors_where_the_server_makes_them(void **state)
{
	(void)state;
	peer_refused("index/add", ADD("[1,2,3,4,5,6]"), -32005, "x-rcpd-vector");
	json_decref(peer_result("index/add", ADD("null")));
}

/* The embedder's vectors; nothing is written while it is down. */
static void test_X7_documents_over_http(void **state)
{
	json_t *r;

	(void)state;
	json_decref(peer_result("index/add",
		"{\"documents\":[{\"id\":\"one\",\"text\":\"aaa\"},{\"id\":\"two\",\"text\":\"bbb\"},"
		"{\"id\":\"own\",\"text\":\"ccc\",\"x-rcpd-vector\":[0,0,0,1]}]}"));
	assert_int_equal(tiny_models.texts, 2);
	r = peer_result("retrieve", "{\"query\":\"b\",\"mode\":\"dense\",\"k\":1}");
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(json_object_get(r, "hits"), 0),
					    "id")),
		"two#0");
	json_decref(r);
	r = peer_result("retrieve", "{\"query\":\"d\",\"mode\":\"dense\",\"k\":1}");
	assert_string_equal(json_string_value(
				    json_object_get(json_array_get(json_object_get(r, "hits"), 0),
					    "id")),
		"own#0");
	json_decref(r);
	tiny_models.fail = ST_UNAVAILABLE;
	peer_refused("index/add", "{\"documents\":[{\"id\":\"late\",\"text\":\"latelate\"}]}",
		-32010, "");
	tiny_models.fail = ST_OK;
	r = peer_result("retrieve", "{\"query\":\"latelate\",\"mode\":\"sparse\"}");
	assert_int_equal(json_array_size(json_object_get(r, "hits")), 0);
	json_decref(r);
	peer_walk("index/add", "{\"documents\":[{\"id\":\"one\",\"text\":\"aaa\"}]}");
}

#define COLBERT(test) cmocka_unit_test_setup_teardown(test, open_colbert, close_peer)
#define EVERYTHING(test) cmocka_unit_test_setup_teardown(test, open_everything, close_peer)
#define EXTERNAL(test) cmocka_unit_test_setup_teardown(test, open_external, close_peer)

int main(void)
{
	const struct CMUnitTest tests[] = {
		COLBERT(test_X4_scores_by_index_and_their_order),
		COLBERT(test_X4_D22_documents_and_topN),
		COLBERT(test_X4_what_is_refused),
		COLBERT(test_X4_C1_falling_back),
		EVERYTHING(test_X4_over_http),
		EVERYTHING(test_RET_04_scores_are_numbers),
		EVERYTHING(test_allocation_failures),
		COLBERT(test_L4_D42_what_is_advertised),
		EVERYTHING(test_L4_D42_what_is_advertised_of_everything),
		EXTERNAL(test_L4_nothing_of_what_is_not_there),
		EXTERNAL(test_X7_vectors_with_documents),
		COLBERT(test_X7_vectors_where_the_server_makes_them),
		EVERYTHING(test_X7_documents_over_http),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
