/*
 * What is advertised (REQ: L4, F2, D28, D38, D42), over a fixed list of fields.
 */
#include "../unit.h"

#include <jansson.h>
#include <string.h>

#include "fake_fields.h"
#include "methods/methods.h"

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
		"\"pagination\":{},\"streaming\":{},\"citations\":{},"
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields_of_an_epoch),
		cmocka_unit_test(test_the_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
