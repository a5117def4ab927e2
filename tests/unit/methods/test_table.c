/*
 * The method table (REQ: C1, C2): all of RCP/1 is known, each params row lies
 * within its struct, and what is advertised is what is built (D40).
 */
#include "../unit.h"

#include <jansson.h>
#include <string.h>

#include "methods/methods.h"

static const char *const rcp1[] = { "initialize", "info", "ping", "shutdown", "retrieve", "embed",
	"embed/sparse", "embed/multi", "rerank", "query/transform", "graph", "index/add",
	"index/delete", "catalog/list", "feedback", "memory/build", "memory/recall" };

static void test_every_method_is_known(void **state)
{
	size_t n;
	const struct rpc_method *table = methods_table(&n);

	(void)state;
	assert_true(n >= sizeof(rcp1) / sizeof(rcp1[0]));
	for (size_t i = 0; i < sizeof(rcp1) / sizeof(rcp1[0]); i++) {
		bool found = false;

		for (size_t j = 0; j < n; j++)
			found |= strcmp(rcp1[i], table[j].name) == 0;
		if (!found)
			fail_msg("%s is missing", rcp1[i]);
	}
}

/* REQ: C4: further methods are our own, and say so. */
static void test_C4_others_are_ours(void **state)
{
	size_t n, known = 0;
	const struct rpc_method *table = methods_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		bool found = false;

		for (size_t j = 0; j < sizeof(rcp1) / sizeof(rcp1[0]); j++)
			found |= strcmp(rcp1[j], table[i].name) == 0;
		known += found;
		if (!found && strncmp(table[i].name, "x-rcpd/", 7) != 0)
			fail_msg("%s is no method of RCP/1", table[i].name);
	}
	assert_int_equal(known, sizeof(rcp1) / sizeof(rcp1[0]));
}

static void test_rows_lie_within_their_structs(void **state)
{
	size_t n;
	const struct rpc_method *table = methods_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < table[i].param_count; j++) {
			const struct rpc_param *p = &table[i].params[j];

			assert_non_null(p->name);
			if (p->offset >= table[i].params_size)
				fail_msg("%s: %s lies outside", table[i].name, p->name);
		}
}

/* What wants a model, or a job, that there is none of here. */
static bool wants_more(const char *capability)
{
	static const char *const names[] = { "embed", "multiVector", "rerank", "x-rcpd" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(capability, names[i]) == 0)
			return true;
	return false;
}

/* A capability is advertised if and only if each method under it is built, and there is
 * what it works with. */
static void test_what_is_advertised_is_built(void **state)
{
	struct methods m = { .max_k = 10, .max_candidates = 100, .max_documents = 10 };
	struct strbuf text = STRBUF_INIT;
	json_t *caps;
	size_t n;
	const struct rpc_method *table = methods_table(&n);

	(void)state;
	methods_capabilities(&m, 0, &text);
	caps = json_loads(text.data, 0, NULL);
	assert_non_null(caps);
	for (size_t i = 0; i < n; i++) {
		char key[40] = "";

		if (!table[i].capability)
			continue;
		memcpy(key, table[i].capability, strcspn(table[i].capability, "."));
		if ((json_object_get(caps, key) != NULL) !=
			(table[i].run != NULL && !wants_more(key)))
			fail_msg("%s and its capability disagree", table[i].name);
	}
	assert_null(json_object_get(caps, "log"));
	json_decref(caps);
	strbuf_reset(&text);
	m.read_only = m.logs = true;
	methods_capabilities(&m, 0, &text);
	assert_non_null(strstr(text.data, "\"writable\":false"));
	assert_non_null(strstr(text.data, "\"log\":"));
	assert_string_equal(methods_conformance(&m), "L0");
	strbuf_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_method_is_known),
		cmocka_unit_test(test_C4_others_are_ours),
		cmocka_unit_test(test_rows_lie_within_their_structs),
		cmocka_unit_test(test_what_is_advertised_is_built),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
