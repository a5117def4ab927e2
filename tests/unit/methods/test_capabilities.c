/*
 * What is advertised (REQ: L4, F2, D28, D38, D40, D42, C1), over a fixed list of fields,
 * a fake engine and fake models.
 */
#include "../unit.h"

#include <jansson.h>
#include <string.h>

#include "../pipeline/fake_engine.h"
#include "../pipeline/fake_models.h"
#include "fake_fields.h"
#include "methods/common.h"

/* Written by a file of its own, which has its own tests. */
void methods_write_model_capabilities(const struct methods *m, struct json_writer *w)
{
	(void)m;
	jw_kv_int(w, "models", 1);
}

static json_t *capabilities(struct methods *m, uint64_t epoch)
{
	struct strbuf text = STRBUF_INIT;
	json_t *v;

	methods_capabilities(m, epoch, &text);
	assert_true(strbuf_ok(&text));
	v = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, NULL);
	strbuf_release(&text);
	assert_non_null(v);
	return v;
}

static const char *type_of(const json_t *caps, const char *field)
{
	return json_string_value(
		json_object_get(json_object_get(json_object_get(caps, "filter"), "fields"), field));
}

static void test_fields_of_an_epoch(void **state)
{
	struct methods m = { .max_k = 10 };
	json_t *caps = capabilities(&m, FAKE_EPOCH);

	(void)state;
	assert_string_equal(type_of(caps, "kw"), "keyword");
	assert_string_equal(type_of(caps, "prose"), "text");
	assert_string_equal(type_of(caps, "n"), "int");
	assert_string_equal(type_of(caps, "x"), "float");
	assert_string_equal(type_of(caps, "flag"), "bool");
	assert_string_equal(type_of(caps, "day"), "date");
	assert_string_equal(type_of(caps, "a.b c"), "keyword");
	assert_null(type_of(caps, "late"));
	json_decref(caps);
	caps = capabilities(&m, methods_epoch(&m));
	assert_string_equal(type_of(caps, "late"), "int");
	json_decref(caps);
}

/* An empty corpus: everything is there but the fields. */
static void test_the_whole(void **state)
{
	struct methods m = { .max_k = 7, .logs = true };
	json_t *caps = capabilities(&m, 0);
	json_t *want = json_loads(
		"{\"retrieve\":{\"maxK\":7,\"modes\":[\"sparse\"],\"defaultMode\":\"sparse\","
		"\"modalities\":[\"text\"],\"units\":[\"chunk\",\"document\"],\"tokenBudget\":true,"
		"\"deterministic\":true,\"snapshots\":true,\"scoreScale\":\"bm25\",\"scoreFloor\":0},"
		"\"index\":{\"writable\":true,\"chunking\":true,\"contextual\":true},"
		"\"filter\":{\"fields\":{},\"operators\":[\"eq\",\"ne\",\"gt\",\"gte\",\"lt\",\"lte\","
		"\"in\",\"nin\",\"contains\",\"exists\"],"
		"\"x-rcpd-dateEncodings\":[\"rfc3339\",\"epoch-ms\"]},"
		"\"models\":1,\"pagination\":{},\"streaming\":{},\"citations\":{},"
		"\"log\":{\"levels\":[\"debug\",\"info\",\"notice\",\"warning\",\"error\"]}}",
		0, NULL);

	(void)state;
	assert_non_null(want);
	if (!json_equal(caps, want))
		fail_msg("%s", json_dumps(caps, 0));
	json_decref(caps);
	m.logs = false;
	m.read_only = true;
	caps = capabilities(&m, 0);
	assert_null(json_object_get(caps, "log"));
	assert_true(json_is_false(json_object_get(json_object_get(caps, "index"), "writable")));
	json_decref(caps);
	json_decref(want);
}

static void expect(struct methods *m, const char *retrieve)
{
	json_t *caps = capabilities(m, 0), *want = json_loads(retrieve, 0, NULL);

	assert_non_null(want);
	if (!json_equal(json_object_get(caps, "retrieve"), want))
		fail_msg("%s", json_dumps(caps, 0));
	json_decref(want);
	json_decref(caps);
}

#define COMMON                                                                                          \
	"\"maxK\":7,\"modalities\":[\"text\"],\"units\":[\"chunk\",\"document\"],\"tokenBudget\":true," \
	"\"deterministic\":true,\"snapshots\":true,"
#define ALL                                                                                        \
	"\"modes\":[\"dense\",\"sparse\",\"hybrid\"],\"fusion\":[\"convex\",\"rrf\",\"weighted\"],"
#define SPACE "\"mmr\":true,"

/* D42: no scale and no floor where modes differ in them. */
static void test_L4_what_vectors_and_models_offer(void **state)
{
	struct methods m = { .max_k = 7 };
	struct models models = *fake_models_reset();

	(void)state;
	fake_reset(NULL, 0);
	m.models = &models;
	fake.space = true;
	expect(&m, "{" COMMON ALL SPACE "\"defaultMode\":\"hybrid\",\"rerankBuiltin\":true}");
	assert_string_equal(methods_conformance(&m), "L2");
	models.colbert = false;
	models.cross_encoder = models.llm = NULL;
	fake_models.speaker = MODELS_REMOTE;
	expect(&m, "{" COMMON ALL SPACE "\"defaultMode\":\"hybrid\"}");
	assert_string_equal(methods_conformance(&m), "L1");
	fake_models.speaker = MODELS_CLIENT;
	expect(&m, "{" COMMON ALL SPACE "\"defaultMode\":\"sparse\"}");
	assert_string_equal(methods_conformance(&m), "L0");
	fake_models.speaker = MODELS_NOBODY;
	expect(&m, "{" COMMON SPACE "\"modes\":[\"sparse\"],\"defaultMode\":\"sparse\"}");
	fake.space = false;
	expect(&m,
		"{" COMMON
		"\"modes\":[\"sparse\"],\"defaultMode\":\"sparse\","
		"\"scoreScale\":\"bm25\",\"scoreFloor\":0}");
	assert_int_equal(fake.opened, fake.closed);
}

/* What cannot be told fails as a whole: half a list would be untrue. */
static void test_a_view_that_cannot_be_opened(void **state)
{
	struct methods m = { .max_k = 7, .models = fake_models_reset() };
	struct strbuf text = STRBUF_INIT;

	(void)state;
	fake_reset(NULL, 0);
	fake.fail = FAKE_OPEN;
	methods_capabilities(&m, 0, &text);
	assert_false(strbuf_ok(&text));
	strbuf_release(&text);
	assert_string_equal(methods_conformance(&m), "L0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_of_an_epoch),
		cmocka_unit_test(test_the_whole),
		cmocka_unit_test(test_L4_what_vectors_and_models_offer),
		cmocka_unit_test(test_a_view_that_cannot_be_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
