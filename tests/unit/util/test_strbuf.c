/* Buffers: growth, limits, sticky failure, hand-over. */
#include "../unit.h"

#include <string.h>

#include "util/mem.h"
#include "util/strbuf.h"

static void test_append_forms(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_adds(&sb, "ab");
	strbuf_addc(&sb, '\0');
	strbuf_addf(&sb, "%d-%s", 7, "x");
	strbuf_addu(&sb, UINT64_MAX);
	strbuf_addu(&sb, 0);
	assert_int_equal(sb.len, 3 + 3 + 20 + 1);
	assert_memory_equal(sb.data,
		"ab\0007-x18446744073709551615"
		"0",
		sb.len + 1);
	strbuf_release(&sb);
	assert_null(sb.data);
}

static void test_limit_is_kept(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	sb.max = 4;
	strbuf_adds(&sb, "1234");
	assert_true(strbuf_ok(&sb));
	strbuf_addc(&sb, '5');
	assert_false(strbuf_ok(&sb));
	assert_int_equal(sb.len, 4);
	strbuf_reset(&sb);
	assert_true(strbuf_ok(&sb));
	strbuf_release(&sb);
}

static void test_failure_is_sticky(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_adds(&sb, "kept");
	mem_fail_after(0);
	for (int i = 0; i < 100; i++)
		strbuf_adds(&sb, "more than the first sixty-four bytes");
	mem_fail_after(-1);
	assert_false(strbuf_ok(&sb));
	strbuf_adds(&sb, "lost");
	assert_memory_equal(sb.data, "kept", 4);
	assert_null(strbuf_detach(&sb, NULL));
}

static void test_sizes_that_overflow_fail(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_addc(&sb, 'x');
	assert_false(strbuf_grow(&sb, SIZE_MAX));
	assert_false(strbuf_ok(&sb));
	strbuf_release(&sb);
}

static void test_detach_hands_over(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	size_t len = 0;
	char *data;

	(void)state;
	strbuf_adds(&sb, "mine");
	data = strbuf_detach(&sb, &len);
	assert_string_equal(data, "mine");
	assert_int_equal(len, 4);
	assert_null(sb.data);
	mem_free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_append_forms),
		cmocka_unit_test(test_limit_is_kept),
		cmocka_unit_test(test_failure_is_sticky),
		cmocka_unit_test(test_sizes_that_overflow_fail),
		cmocka_unit_test(test_detach_hands_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
