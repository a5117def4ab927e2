/*
 * test_remote.c: what each shape sends, what it takes, and that an answer which is wrong
 * anywhere is refused as a whole.
 */
#include <signal.h>
#include <string.h>

#include "../unit.h"
#include "models/remote_private.h"
#include "scripted.h"
#include "util/mem.h"

static const struct bytes two[] = { { "one", 3 }, { "two", 3 } };

/* One call for two texts against one answer. */
static enum status embed_two(enum remote_shape shape, const char *answer, float *out, char *request,
	struct error *e)
{
	const struct step step = { 200, NULL, answer };
	const struct remote_options opt = scripted_options(shape);
	struct scripted s;
	enum status st;

	scripted_open(&s, &step, 1, &opt);
	st = remote_embed(s.remote, two, 2, false, NULL, out, e);
	if (request)
		memcpy(request, scripted_body(&s), sizeof(s.body));
	scripted_close(&s);
	return st;
}

static enum status rerank_two(enum remote_shape shape, const char *answer, double *out,
	char *request, struct error *e)
{
	const struct step step = { 200, NULL, answer };
	const struct remote_options opt = scripted_options(shape);
	struct scripted s;
	enum status st;

	scripted_open(&s, &step, 1, &opt);
	st = remote_rerank(s.remote, bytes_of("q"), two, 2, NULL, out, e);
	if (request)
		memcpy(request, scripted_body(&s), sizeof(s.body));
	scripted_close(&s);
	return st;
}

static void expect_json(const char *got, const char *want)
{
	json_t *a = json_loads(got, 0, NULL), *b = json_loads(want, 0, NULL);

	assert_non_null(b);
	if (!json_equal(a, b))
		print_error("%s\nis not\n%s\n", got, want);
	assert_true(json_equal(a, b));
	json_decref(a);
	json_decref(b);
}

static void test_shapes_have_names(void **state)
{
	static const struct {
		const char *name, *use;
		enum remote_shape shape;
	} rows[] = { { "openai", "embed", REMOTE_OPENAI_EMBED },
		{ "tei", "embed", REMOTE_TEI_EMBED }, { "ollama", "embed", REMOTE_OLLAMA_EMBED },
		{ "cohere", "embed", REMOTE_COHERE_EMBED }, { "tei", "sparse", REMOTE_TEI_SPARSE },
		{ "tei", "rerank", REMOTE_TEI_RERANK },
		{ "cohere", "rerank", REMOTE_COHERE_RERANK },
		{ "jina", "rerank", REMOTE_JINA_RERANK },
		{ "openai", "chat", REMOTE_OPENAI_CHAT } };
	enum remote_shape got;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(remote_shape_parse(rows[i].name, rows[i].use, &got));
		assert_int_equal(got, rows[i].shape);
	}
	assert_false(remote_shape_parse("openai", "rerank", &got));
	assert_false(remote_shape_parse("", "embed", &got));
}

static void test_embedding_shapes(void **state)
{
	static const struct {
		enum remote_shape shape;
		const char *answer, *request;
	} rows[] = {
		{ REMOTE_OPENAI_EMBED,
			"{\"data\":[{\"index\":1,\"embedding\":[3,-4.5]},"
			"{\"index\":0,\"embedding\":[1,2e0]}]}",
			"{\"model\":\"m\",\"input\":[\"one\",\"two\"],\"encoding_format\":\"float\"}" },
		{ REMOTE_OPENAI_EMBED,
			"{\"data\":[{\"index\":0,\"embedding\":\"AACAPwAAAEA=\"},"
			"{\"index\":1,\"embedding\":\"AABAQAAAkMA\"}]}",
			"{\"model\":\"m\",\"input\":[\"one\",\"two\"],\"encoding_format\":\"float\"}" },
		{ REMOTE_TEI_EMBED, "[[1,2],[3,-4.5]]",
			"{\"model\":\"m\",\"inputs\":[\"one\",\"two\"],\"normalize\":true,"
			"\"truncate\":true}" },
		{ REMOTE_OLLAMA_EMBED, "{\"model\":\"m\",\"embeddings\":[[1,2],[3,-4.5]]}",
			"{\"model\":\"m\",\"input\":[\"one\",\"two\"],\"truncate\":true}" },
		{ REMOTE_COHERE_EMBED, "{\"embeddings\":{\"float\":[[1,2],[3,-4.5]]}}",
			"{\"model\":\"m\",\"texts\":[\"one\",\"two\"],\"input_type\":\"search_document\","
			"\"embedding_types\":[\"float\"],\"truncate\":\"END\"}" },
	};
	static const float want[] = { 1, 2, 3, -4.5F };
	static char request[65536];
	float out[4];
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		e.detail[0] = '\0';
		enum status st = embed_two(rows[i].shape, rows[i].answer, out, request, &e);
		if (st)
			print_error("row %zu: %s %s\n", i, e.message, e.detail);
		assert_int_equal(st, ST_OK);
		assert_memory_equal(out, want, sizeof(want));
		expect_json(request, rows[i].request);
	}
}

/* REQ: X1: never a vector that is not one. */
static void test_wrong_embeddings(void **state)
{
	static const char *const tei[] = { "", "{}", "null", "[]", "[[1,2]]", "[[1,2],[3,4],[5,6]]",
		"[[1,2],[3]]", "[[1,2],[3,4,5]]", "[[1,2],[3,null]]", "[[1,2],[3,\"4\"]]",
		"[[1,2],[3,NaN]]", "[[1,2],[3,Infinity]]", "[[1,2],[3,1e999]]", "[[1,2],[3,1e300]]",
		"[[1,2],[0,0]]", "[[1,2],[0,-0.0]]", "[[1,2],null]", "[[1,2],{\"0\":3}]",
		"[[1,2],[3,4]", "[[1,2],[3,4]] x", "<html></html>",
		"[[1,2],[3,99999999999999999999]]", "[[1,2],\"AACAPw==\"]",
		"[[1,2],\"AACA?wAAAEA=\"]", "[[1,2],\"AACAfwAAAEA=\"]",
		"[[1,2],\"AAAAAAAAAAA=\"]" };
	static const char *const openai[] = { "{}", "{\"data\":{}}", "{\"data\":[]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":0,\"embedding\":[1,2]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":2,\"embedding\":[1,2]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":-1,\"embedding\":[1,2]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":1.0,\"embedding\":[1,2]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"embedding\":[1,2]}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},{\"index\":1}]}",
		"{\"data\":[{\"index\":0,\"embedding\":[1,2]},7]}", "{\"error\":\"x\"}",
		("{\"data\":[],\"data\":[{\"index\":0,\"embedding\":[1,2]},"
		 "{\"index\":1,\"embedding\":[1,2]}]}") };
	float out[4];
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(tei) / sizeof(tei[0]); i++) {
		enum status st = embed_two(REMOTE_TEI_EMBED, tei[i], out, NULL, &e);
		if (st != ST_UNAVAILABLE)
			print_error("%s\n", tei[i]);
		assert_int_equal(st, ST_UNAVAILABLE);
		assert_string_equal(e.message,
			"the embedding model gave an answer that is of no use");
		assert_true(e.detail[0]);
	}
	for (size_t i = 0; i < sizeof(openai) / sizeof(openai[0]); i++)
		assert_int_equal(embed_two(REMOTE_OPENAI_EMBED, openai[i], out, NULL, &e),
			ST_UNAVAILABLE);
	assert_int_equal(embed_two(REMOTE_OLLAMA_EMBED, "{\"embeddings\":[[1,2]]}", out, NULL, &e),
		ST_UNAVAILABLE);
	assert_int_equal(embed_two(REMOTE_COHERE_EMBED, "{\"embeddings\":[[1,2],[3,4]]}", out, NULL,
				 &e),
		ST_UNAVAILABLE);
}

static void test_deep_and_huge_answers(void **state)
{
	static char deep[5001], huge[80001];
	float out[4];
	struct error e;

	(void)state;
	memset(deep, '[', sizeof(deep) - 1);
	assert_int_equal(embed_two(REMOTE_TEI_EMBED, deep, out, NULL, &e), ST_UNAVAILABLE);
	assert_non_null(strstr(e.detail, "nested"));
	memset(huge, ' ', sizeof(huge) - 1);
	assert_int_equal(embed_two(REMOTE_TEI_EMBED, huge, out, NULL, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the embedding model gave an answer that is too large");
	/* Brackets in strings are no nesting. */
	assert_int_equal(embed_two(REMOTE_OLLAMA_EMBED,
				 "{\"x\":\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\","
				 "\"embeddings\":[[1,2],[3,4]]}",
				 out, NULL, &e),
		ST_OK);
}

static void test_sparse(void **state)
{
	const struct step steps[] = {
		{ 200, NULL,
			"[[{\"index\":7,\"value\":0.5},{\"index\":2,\"value\":1},"
			"{\"index\":3,\"value\":0}],[]]" },
		{ 200, NULL, "[[{\"index\":7,\"value\":0.5},{\"index\":7,\"value\":1}],[]]" },
		{ 200, NULL, "[[{\"index\":-1,\"value\":0.5}],[]]" },
		{ 200, NULL, "[[{\"index\":4294967296,\"value\":0.5}],[]]" },
		{ 200, NULL, "[[{\"index\":1,\"value\":1e39}],[]]" },
		{ 200, NULL, "[[{\"index\":1}],[]]" },
		{ 200, NULL, "[[]]" },
		{ 200, NULL, "[[],7]" },
	};
	struct remote_options opt = scripted_options(REMOTE_TEI_SPARSE);
	struct remote_sparse out[2];
	struct scripted s;
	struct arena a;
	struct error e;

	(void)state;
	opt.model = "";
	arena_init(&a, 0);
	scripted_open(&s, steps, sizeof(steps) / sizeof(steps[0]), &opt);
	s.remote->breaker.pause_ms = 0;
	assert_int_equal(remote_embed_sparse(s.remote, two, 2, NULL, &a, out, &e), ST_OK);
	expect_json(scripted_body(&s), "{\"inputs\":[\"one\",\"two\"],\"truncate\":true}");
	assert_int_equal(out[0].n, 2);
	assert_int_equal(out[0].indices[0], 2);
	assert_int_equal(out[0].indices[1], 7);
	assert_true(out[0].values[0] == 1.0F && out[0].values[1] == 0.5F);
	assert_int_equal(out[1].n, 0);
	for (size_t i = 1; i < sizeof(steps) / sizeof(steps[0]); i++)
		assert_int_equal(remote_embed_sparse(s.remote, two, 2, NULL, &a, out, &e),
			ST_UNAVAILABLE);
	scripted_close(&s);
	arena_release(&a);
}

static void test_rerank_shapes(void **state)
{
	static const struct {
		enum remote_shape shape;
		const char *answer, *request;
	} rows[] = {
		{ REMOTE_TEI_RERANK, "[{\"index\":1,\"score\":0.9},{\"index\":0,\"score\":-1}]",
			"{\"model\":\"m\",\"query\":\"q\",\"texts\":[\"one\",\"two\"],\"truncate\":true,"
			"\"raw_scores\":false,\"return_text\":false}" },
		{ REMOTE_COHERE_RERANK,
			"{\"results\":[{\"index\":1,\"relevance_score\":0.9},"
			"{\"index\":0,\"relevance_score\":-1}]}",
			"{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"one\",\"two\"],\"top_n\":2}" },
		{ REMOTE_JINA_RERANK,
			"{\"results\":[{\"index\":0,\"relevance_score\":-1},"
			"{\"index\":1,\"relevance_score\":0.9,\"document\":{\"text\":\"two\"}}]}",
			"{\"model\":\"m\",\"query\":\"q\",\"documents\":[\"one\",\"two\"],\"top_n\":2,"
			"\"return_documents\":false}" },
	};
	static char request[65536];
	double out[2];
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(rerank_two(rows[i].shape, rows[i].answer, out, request, &e),
			ST_OK);
		assert_true(out[0] == -1 && out[1] == 0.9);
		expect_json(request, rows[i].request);
	}
}

static void test_wrong_ranks(void **state)
{
	static const char *const tei[] = { "[]", "{}", "[{\"index\":0,\"score\":1}]",
		"[{\"index\":0,\"score\":1},{\"index\":0,\"score\":1}]",
		"[{\"index\":0,\"score\":1},{\"index\":2,\"score\":1}]",
		"[{\"index\":0,\"score\":1},{\"index\":1,\"score\":null}]",
		"[{\"index\":0,\"score\":1},{\"index\":1,\"score\":NaN}]",
		"[{\"index\":0,\"score\":1},{\"index\":1}]", "[{\"index\":0,\"score\":1},7]",
		"[{\"index\":0,\"score\":1},{\"index\":1,\"score\":1},{\"index\":2,\"score\":1}]" };
	double out[2];
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(tei) / sizeof(tei[0]); i++)
		assert_int_equal(rerank_two(REMOTE_TEI_RERANK, tei[i], out, NULL, &e),
			ST_UNAVAILABLE);
	assert_int_equal(rerank_two(REMOTE_JINA_RERANK, tei[0], out, NULL, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the reranker gave an answer that is of no use");
}

static void test_chat(void **state)
{
	static char request[65536];
	double out[2];
	struct error e;
	json_t *o, *data;
	const char *text;

	(void)state;
	assert_int_equal(
		rerank_two(REMOTE_OPENAI_CHAT,
			"{\"choices\":[{\"message\":{\"content\":\"```json\\n[10, 2.5]\\n```\"}}]}",
			out, request, &e),
		ST_OK);
	assert_true(out[0] == 1.0 && out[1] == 0.25);
	o = json_loads(request, 0, NULL);
	assert_int_equal(json_integer_value(json_object_get(o, "temperature")), 0);
	assert_true(json_is_integer(json_object_get(o, "temperature")));
	assert_int_equal(json_array_size(json_object_get(o, "messages")), 2);
	text = json_string_value(
		json_object_get(json_array_get(json_object_get(o, "messages"), 1), "content"));
	data = json_loads(text, 0, NULL);
	char *compact = json_dumps(data, JSON_COMPACT | JSON_SORT_KEYS);
	assert_string_equal(compact,
		"{\"passages\":[{\"number\":1,\"text\":\"one\"},{\"number\":2,\"text\":\"two\"}],"
		"\"query\":\"q\"}");
	mem_free(compact);
	json_decref(data);
	json_decref(o);
	static const char *const wrong[] = { "{}", "{\"choices\":[]}",
		"{\"choices\":[{\"message\":{\"content\":null}}]}",
		"{\"choices\":[{\"message\":{\"content\":\"I cannot\"}}]}",
		"{\"choices\":[{\"message\":{\"content\":\"[1]\"}}]}" };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		assert_int_equal(rerank_two(REMOTE_OPENAI_CHAT, wrong[i], out, NULL, &e),
			ST_UNAVAILABLE);
}

static void test_texts_are_cut(void **state)
{
	const struct step step = { 200, NULL, "[[1,2],[1,2],[1,2]]" };
	struct remote_options opt = scripted_options(REMOTE_TEI_EMBED);
	const struct bytes texts[] = { bytes_of("aaa\xc3\xa9zz"), bytes_of(""),
		bytes_of("say \"x\"") };
	float out[6];
	struct scripted s;
	struct error e;

	(void)state;
	opt.max_text = 4;
	opt.model = "";
	scripted_open(&s, &step, 1, &opt);
	assert_int_equal(remote_embed(s.remote, texts, 3, false, NULL, out, &e), ST_OK);
	expect_json(scripted_body(&s),
		"{\"inputs\":[\"aaa\",\" \",\"say \"],\"normalize\":true,\"truncate\":true}");
	const struct bytes broken = bytes_of("\xff");
	assert_int_equal(remote_embed(s.remote, &broken, 1, false, NULL, out, &e), ST_INVALID);
	scripted_close(&s);
}

static void test_batches(void **state)
{
	const struct step steps[] = { { 200, NULL, "[[1,1],[2,2],[3,3]]" },
		{ 200, NULL, "[[4,4],[5,5],[6,6]]" }, { 200, NULL, "[[7,7]]" } };
	const struct remote_options opt = scripted_options(REMOTE_TEI_EMBED);
	struct bytes texts[7];
	float out[14];
	struct scripted s;
	struct remote_stats stats;
	struct error e;

	(void)state;
	for (size_t i = 0; i < 7; i++)
		texts[i] = bytes_of("x");
	scripted_open(&s, steps, 3, &opt);
	assert_int_equal(remote_embed(s.remote, texts, 0, false, NULL, NULL, &e), ST_OK);
	assert_int_equal(peer_requests(s.peer), 0);
	assert_int_equal(remote_embed(s.remote, texts, 7, false, NULL, out, &e), ST_OK);
	for (size_t i = 0; i < 14; i++)
		assert_true(out[i] == (float)(i / 2 + 1));
	remote_stats(s.remote, &stats);
	assert_int_equal(stats.calls, 3);
	assert_int_equal(stats.failures, 0);
	scripted_close(&s);
}

static void test_cache(void **state)
{
	const struct step steps[] = { { 200, NULL, "[[1,1],[2,2]]" }, { 200, NULL, "[[3,3]]" },
		{ 200, NULL, "[[9,9],[9,9],[9,9]]" } };
	struct remote_options opt = scripted_options(REMOTE_TEI_EMBED);
	const struct bytes three[] = { bytes_of("one"), bytes_of("new"), bytes_of("two") };
	float out[6];
	struct scripted s;
	struct remote_stats stats;
	struct error e;

	(void)state;
	opt.cache = 10;
	scripted_open(&s, steps, 3, &opt);
	assert_int_equal(remote_embed(s.remote, two, 2, true, NULL, out, &e), ST_OK);
	assert_int_equal(remote_embed(s.remote, three, 3, true, NULL, out, &e), ST_OK);
	assert_true(out[0] == 1 && out[2] == 3 && out[4] == 2);
	assert_int_equal(remote_embed(s.remote, three, 3, true, NULL, out, &e), ST_OK);
	assert_true(out[0] == 1 && out[2] == 3 && out[4] == 2);
	assert_int_equal(peer_requests(s.peer), 2);
	/* Documents pass it by. */
	assert_int_equal(remote_embed(s.remote, three, 3, false, NULL, out, &e), ST_OK);
	assert_true(out[0] == 9);
	remote_stats(s.remote, &stats);
	assert_int_equal(stats.cache_hits, 5);
	assert_int_equal(stats.cache_misses, 3);
	scripted_close(&s);
}

static void test_options(void **state)
{
	static const struct {
		const char *field, *url, *model;
		size_t dimension, batch, max_text;
		unsigned timeout_ms;
	} rows[] = { { "url", "127.0.0.1", "m", 2, 1, 1, 1 },
		{ "url", "http://u:p@h/", "m", 2, 1, 1, 1 },
		{ "model", "http://h/", "", 2, 1, 1, 1 },
		{ "dimension", "http://h/", "m", 0, 1, 1, 1 },
		{ "dimension", "http://h/", "m", 65537, 1, 1, 1 },
		{ "batch", "http://h/", "m", 2, 0, 1, 1 },
		{ "max_text", "http://h/", "m", 2, 1, 0, 1 },
		{ "timeout", "http://h/", "m", 2, 1, 1, 0 } };
	const struct net_policy policy = { .plain_http = true };
	struct net *n;
	struct remote *r = NULL;
	struct error e;

	(void)state;
	assert_int_equal(net_new(&policy, &n, &e), ST_OK);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct remote_options o = { .shape = REMOTE_OPENAI_EMBED,
			.url = rows[i].url,
			.model = rows[i].model,
			.key_file = "",
			.dimension = rows[i].dimension,
			.batch = rows[i].batch,
			.max_text = rows[i].max_text,
			.timeout_ms = rows[i].timeout_ms };
		assert_int_equal(remote_open(n, &o, &r, &e), ST_INVALID);
		assert_string_equal(e.field, rows[i].field);
		assert_null(r);
	}
	struct remote_options o = scripted_options(REMOTE_OPENAI_EMBED);
	o.url = "https://Host.example:8443/v1/embeddings";
	assert_int_equal(remote_open(n, &o, &r, &e), ST_OK);
	assert_string_equal(remote_identity(r), "m@host.example:8443");
	remote_close(r);
	o.shape = REMOTE_TEI_EMBED;
	o.model = "";
	o.url = "https://host.example/embed";
	assert_int_equal(remote_open(n, &o, &r, &e), ST_OK);
	assert_string_equal(remote_identity(r), "tei@host.example");
	remote_close(r);
	net_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes_have_names),
		cmocka_unit_test(test_embedding_shapes),
		cmocka_unit_test(test_wrong_embeddings),
		cmocka_unit_test(test_deep_and_huge_answers),
		cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_rerank_shapes),
		cmocka_unit_test(test_wrong_ranks),
		cmocka_unit_test(test_chat),
		cmocka_unit_test(test_texts_are_cut),
		cmocka_unit_test(test_batches),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_options),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
