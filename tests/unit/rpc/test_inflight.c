/* In-flight keys (REQ: D17, RPC-02, RPC-03): who, session and id all count. */
#include "fixture.h"

#include <string.h>

#include "rpc/inflight.h"

static struct arena arena;

static struct bytes key(const char *who, const char *session, const char *id)
{
	json_t *v = json_loads(id, JSON_DECODE_ANY, NULL);
	struct bytes k;

	assert_non_null(v);
	assert_int_equal(inflight_key(&arena, who, session, v, &k), ST_OK);
	json_decref(v);
	return k;
}

static void test_keys(void **state)
{
	(void)state;
	assert_true(bytes_eq(key("a", "", "7"), key("a", "", "7.0")));
	assert_true(bytes_eq(key("a", "", "1000"), key("a", "", "1e3")));
	assert_false(bytes_eq(key("a", "", "7"), key("a", "", "\"7\"")));
	assert_false(bytes_eq(key("a", "", "7"), key("b", "", "7")));
	assert_false(bytes_eq(key("a", "s", "7"), key("a", "", "7")));
	assert_false(bytes_eq(key("a", "b", "7"), key("ab", "", "7")));
	assert_false(bytes_eq(key("a", "", "9007199254740993"), key("a", "", "9007199254740992")));
	assert_false(bytes_eq(key("a", "", "1.5"), key("a", "", "1.25")));
}

static void test_cancel_reaches_only_its_own(void **state)
{
	struct inflight *t;
	struct inflight_entry a = { .key = key("a", "", "7") }, b = { .key = key("b", "", "7") };
	struct inflight_entry twin = { .key = key("a", "", "7") };

	(void)state;
	assert_int_equal(inflight_new(&t), ST_OK);
	inflight_add(t, &a);
	inflight_add(t, &b);
	inflight_add(t, &twin);
	assert_int_equal(inflight_cancel(t, key("a", "", "8")), 0);
	assert_int_equal(inflight_cancel(t, key("a", "", "7")), 2);
	assert_true(atomic_load(&a.cancelled) && atomic_load(&twin.cancelled));
	assert_false(atomic_load(&b.cancelled));
	inflight_remove(t, &a);
	inflight_remove(t, &a);
	assert_int_equal(inflight_cancel(t, key("a", "", "7")), 1);
	inflight_remove(t, &twin);
	inflight_remove(t, &b);
	assert_int_equal(inflight_cancel(t, key("b", "", "7")), 0);
	inflight_free(t);
}

static int cleanup(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_cancel_reaches_only_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, cleanup);
}
