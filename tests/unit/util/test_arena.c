/* Arenas: alignment, limits, failing allocations. */
#include "../unit.h"

#include <stdalign.h>
#include <string.h>

#include "util/arena.h"
#include "util/mem.h"

static void test_alignment_and_content(void **state)
{
	struct arena a;
	char *texts[200];

	(void)state;
	arena_init(&a, 0);
	for (size_t i = 0; i < 200; i++) {
		texts[i] = arena_dup(&a, "0123456789abcdef", i % 17);
		assert_non_null(texts[i]);
		assert_int_equal((uintptr_t)texts[i] % alignof(max_align_t), 0);
	}
	for (size_t i = 0; i < 200; i++)
		assert_int_equal(strlen(texts[i]), i % 17);
	arena_release(&a);
	assert_int_equal(a.total, 0);
}

static void test_zeroed_and_overflow(void **state)
{
	struct arena a;
	unsigned char *p;

	(void)state;
	arena_init(&a, 0);
	p = arena_array(&a, 1000, 3);
	for (size_t i = 0; i < 3000; i++)
		assert_int_equal(p[i], 0);
	assert_null(arena_array(&a, SIZE_MAX / 2, 3));
	assert_null(arena_alloc(&a, SIZE_MAX));
	arena_release(&a);
}

static void test_limit_and_failure(void **state)
{
	struct arena a;
	struct bytes b;

	(void)state;
	arena_init(&a, 4096);
	assert_non_null(arena_alloc(&a, 1000));
	assert_null(arena_alloc(&a, 4096));
	mem_fail_after(0);
	assert_null(arena_alloc(&a, 2000));
	assert_int_equal(arena_dup_bytes(&a, (struct bytes){ "x", 1 }, &b), 0); /* fits */
	mem_fail_after(-1);
	assert_int_equal(arena_dup_bytes(&a, BYTES_NONE, &b), 0);
	assert_null(b.data);
	arena_release(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alignment_and_content),
		cmocka_unit_test(test_zeroed_and_overflow),
		cmocka_unit_test(test_limit_and_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
