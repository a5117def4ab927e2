/*
 * test_lexical_memory.c: each allocation fails in turn: a call says so or succeeds,
 * nothing is left half-done, and the next one works.
 */
#include "lexical_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"

static struct lexical_term terms[40];
static char words[40][16];

static struct lexical_chunk make_chunk(int64_t key)
{
	for (uint32_t i = 0; i < 40; i++)
		terms[i] = (struct lexical_term){
			model_word((uint32_t)key * 7 % 300 + i * (1 + (uint32_t)key % 3), words[i]),
			1 + i % 3
		};
	return (struct lexical_chunk){ .key = key,
		.doc_id = bytes_of("d"),
		.no = (uint32_t)key,
		.length = 70,
		.terms = terms,
		.term_count = 40 };
}

static uint64_t count_hits(struct lexical *lx, struct error *e, enum status *ret)
{
	struct lexical_view *v = lexical_view_get(lx);
	struct bytes query[2] = { bytes_of("w7"), bytes_of("w14") };
	struct lexical_query q = { .terms = query, .term_count = 2, .k = 1000 };
	struct lexical_hit *hits;
	struct arena arena;
	size_t n = 0;

	arena_init(&arena, 0);
	*ret = lexical_search(v, &q, &arena, &hits, &n, e);
	arena_release(&arena);
	lexical_view_unref(v);
	return n;
}

/* Runs one step of a history with failures from the n-th allocation on, until it
 * passes; a failed call must leave what a repeated one can build on. */
#define UNTIL_OK(call)                                                                             \
	for (long n_ = 0;; n_++) {                                                                 \
		enum status st_;                                                                   \
		mem_fail_after(n_);                                                                \
		st_ = (call);                                                                      \
		mem_fail_after(-1);                                                                \
		if (st_ == ST_OK)                                                                  \
			break;                                                                     \
		assert_int_equal(st_, ST_NOMEM);                                                   \
		assert_true(n_ < 100000);                                                          \
	}

static enum status maintain_all(struct lexical *lx)
{
	struct error e = { 0 };

	while (lexical_maintain(lx, NULL, &e))
		;
	return e.code;
}

static enum status search(struct lexical *lx)
{
	struct error e = { 0 };
	enum status st;

	count_hits(lx, &e, &st);
	return st;
}

static void build(struct lexical *lx, uint64_t *commit)
{
	struct error e = { 0 };

	for (int64_t key = 1; key <= 120; key++) {
		struct lexical_chunk c = make_chunk(key);

		UNTIL_OK(lexical_add(lx, &c, &e));
		if (key % 4 == 0) {
			c = make_chunk(key - 3);
			UNTIL_OK(lexical_remove(lx, key - 3, terms, 40, &e));
		}
		if (key % 10 == 0) {
			for (long n = 0; n < 6; n++) { /* cannot fail, may come later */
				mem_fail_after(n);
				lexical_publish(lx, ++*commit);
				mem_fail_after(-1);
			}
			UNTIL_OK(maintain_all(lx));
			UNTIL_OK(search(lx));
		}
	}
}

static void check(struct lexical *lx)
{
	struct lexical_view *v = lexical_view_get(lx);
	struct lexical_stats st;
	uint64_t df = 0;

	lexical_view_stats(v, &st);
	assert_int_equal(st.chunks, 90);
	assert_int_equal(st.total_length, 90 * 70);
	for (int64_t key = 1; key <= 120; key++) {
		struct lexical_chunk c = make_chunk(key);

		if ((key - 1) % 4 == 0)
			continue;
		for (size_t i = 0; i < c.term_count; i++)
			df += bytes_eq(c.terms[i].term, bytes_of("w14"));
	}
	assert_int_equal(lexical_document_frequency(v, bytes_of("w14")), df);
	lexical_view_unref(v);
}

static void test_every_allocation(void **state)
{
	char dir[] = "lexical-memory-XXXXXX", command[64];
	struct lexical_options opt = { .dir = dir,
		.k1 = 1.2,
		.b = 0.75,
		.head_chunks = 20,
		.merge_factor = 2 };
	struct lexical *lx;
	uint64_t commit = 0, reported;

	(void)state;
	assert_non_null(mkdtemp(dir));
	UNTIL_OK(lexical_open(&opt, &lx, &reported, NULL));
	build(lx, &commit);
	lexical_publish(lx, ++commit);
	check(lx);
	lexical_freeze(lx);
	UNTIL_OK(maintain_all(lx));
	assert_int_equal(lexical_persisted_commit(lx), commit);
	lexical_close(lx);
	UNTIL_OK(lexical_open(&opt, &lx, &reported, NULL));
	assert_int_equal(reported, commit);
	check(lx);
	lexical_close(lx);
	snprintf(command, sizeof(command), "%s/segments.list", dir);
	remove(command);
	opt.identity = bytes_of("other"); /* opening sweeps the rest away */
	assert_int_equal(lexical_open(&opt, &lx, &reported, NULL), ST_OK);
	lexical_close(lx);
	assert_int_equal(remove(dir), 0);
}

/* What callers may get wrong is refused; limits hold. */
static void test_refusals(void **state)
{
	struct model m;
	struct error e = { 0 };
	struct lexical_chunk c = make_chunk(10);
	char *long_word = calloc(1, LEXICAL_MAX_TERM + 1);
	struct bytes many[LEXICAL_MAX_QUERY + 1];
	struct lexical_query q = { .terms = many, .term_count = LEXICAL_MAX_QUERY + 1, .k = 1 };
	struct lexical_view *v;
	struct lexical_hit *hits = NULL;
	struct arena arena;
	size_t n = 7;

	(void)state;
	assert_non_null(long_word);
	model_init(&m, 1, 10, 2);
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_OK);
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_INVALID); /* the key again */
	c.key = 11;
	terms[3].tf = 0;
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_INVALID);
	terms[3].tf = 1;
	terms[3].term = (struct bytes){ long_word, LEXICAL_MAX_TERM + 1 };
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_INVALID);
	terms[3].term.len = LEXICAL_MAX_TERM;
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_OK);
	terms[4] = terms[3]; /* twice the same term: taken once */
	c.key = 12;
	assert_int_equal(lexical_add(m.lx, &c, &e), ST_OK);
	assert_int_equal(lexical_remove(m.lx, 99, terms, 40, &e), ST_OK);
	lexical_publish(m.lx, 1);
	lexical_freeze(m.lx);
	model_maintain(&m);
	v = lexical_view_get(m.lx);
	assert_int_equal(lexical_document_frequency(v, terms[3].term), 2);
	for (size_t i = 0; i <= LEXICAL_MAX_QUERY; i++)
		many[i] = terms[i % 40].term;
	arena_init(&arena, 0);
	assert_int_equal(lexical_search(v, &q, &arena, &hits, &n, &e), ST_TOO_LARGE);
	assert_true(hits == NULL && n == 7);
	q.term_count--;
	assert_int_equal(lexical_search(v, &q, &arena, &hits, &n, &e), ST_OK);
	assert_int_equal(n, 1);
	arena_release(&arena);
	lexical_view_unref(v);
	m.commit = 1;
	model_release(&m);
	free(long_word);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_allocation),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
