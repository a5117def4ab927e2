/* test_analyzer.c: the analyzer as an object: memory, threads, its version; and the
 * stop lists, which must be in the form that folding gives. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"
#include "text/private.h"
#include "util/mem.h"

static const char text[] =
	"Running l'avion 東京タワー ประเทศไทย 👍🏽 foo.bar@example.org книгами";

/* Fails every allocation of ours in turn: an error, no leak, and it works after. */
static void test_out_of_memory(void **state)
{
	struct text_analyzer *a = NULL;
	struct strbuf want = STRBUF_INIT, got = STRBUF_INIT;
	enum status st = ST_NOMEM;
	long n;

	(void)state;
	assert_int_equal(terms_line(analyzer_shared(), bytes_of(text), TEXT_LANG_FR, &want), ST_OK);
	strbuf_grow(&got, want.len + 1); /* the line itself should not fail */
	for (n = 0; st == ST_NOMEM && n < 20; n++) {
		a = NULL;
		mem_fail_after(n);
		st = text_analyzer_new(&a);
		if (st == ST_OK) {
			strbuf_reset(&got);
			st = terms_line(a, bytes_of(text), TEXT_LANG_FR, &got);
			mem_fail_after(-1);
			if (st == ST_NOMEM) {
				strbuf_reset(&got);
				assert_int_equal(terms_line(a, bytes_of(text), TEXT_LANG_FR, &got),
					ST_OK);
				assert_string_equal(got.data, want.data);
			}
		}
		mem_fail_after(-1);
		text_analyzer_free(a);
	}
	assert_int_equal(st, ST_OK);
	assert_in_range(n, 4, 10);
	assert_string_equal(got.data, want.data);
	strbuf_release(&want);
	strbuf_release(&got);
}

struct worker {
	struct strbuf line;
	enum text_lang lang;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct text_analyzer *a;

	assert_int_equal(text_analyzer_new(&a), ST_OK);
	for (unsigned i = 0; i < 50; i++) {
		strbuf_reset(&w->line);
		assert_int_equal(terms_line(a, bytes_of(text), w->lang, &w->line), ST_OK);
		assert_int_equal(text_lang_detect(bytes_of("это не так")), TEXT_LANG_RU);
	}
	text_analyzer_free(a);
	return NULL;
}

/* Analyzers share tables that are made once; each thread has its own analyzer. */
static void test_threads(void **state)
{
	struct worker workers[4];
	pthread_t threads[4];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		workers[i] = (struct worker){ STRBUF_INIT, TEXT_LANG_EN };
		assert_int_equal(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	for (unsigned i = 1; i < 4; i++)
		assert_string_equal(workers[i].line.data, workers[0].line.data);
	for (unsigned i = 0; i < 4; i++)
		strbuf_release(&workers[i].line);
}

/* Languages alternate in one analyzer and do not disturb each other. */
static void test_languages_alternate(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		expect_terms("was running", TEXT_LANG_EN, "was! run");
		expect_terms("was running", TEXT_LANG_DE, "was! running");
		expect_terms("was running", TEXT_LANG_NONE, "was running");
	}
}

static void test_nothing_to_free(void **state)
{
	(void)state;
	text_analyzer_free(NULL);
	assert_int_equal(terms_line(analyzer_shared(), BYTES_NONE, TEXT_LANG_EN, NULL), ST_OK);
}

static void test_version(void **state)
{
	(void)state;
	assert_non_null(strstr(text_analyze_version(), "icu"));
}

/* Each word of each list folds to itself, or it would never be met. */
static void test_stop_lists(void **state)
{
	unsigned lists = 0;

	(void)state;
	for (unsigned lang = 1; lang < TEXT_LANG_COUNT; lang++) {
		const char *list = stop_list((enum text_lang)lang);
		unsigned words = 0;

		for (const char *end; list && *list; list = *end ? end + 1 : end) {
			struct fold cased, bare;
			size_t n = strcspn(list, " ");

			end = list + n;
			fold_case(list, n, false, &cased);
			fold_accents(cased.data, cased.len, &bare);
			if (n == 0 || bare.len != n || memcmp(bare.data, list, n) != 0)
				fail_msg("%s: '%.*s' should be '%.*s'",
					text_lang_tag((enum text_lang)lang), (int)n, list,
					(int)bare.len, bare.data);
			assert_true(stop_languages(list, n) & 1U << lang);
			words++;
		}
		if (words) {
			assert_in_range(words, 90, 260);
			lists++;
		}
	}
	assert_int_equal(lists, 19);
	assert_int_equal(stop_languages("", 0), 0);
	assert_int_equal(stop_languages("wombat", 6), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_languages_alternate),
		cmocka_unit_test(test_nothing_to_free),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_stop_lists),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	analyzer_done();
	return failed;
}
