/* Documents on their way to the engine, which is a fake (REQ: X7, D37). */
#include "../unit.h"

#include <string.h>

#include "fake_engine.h"
#include "pipeline/ingest.h"
#include "util/mem.h"

static struct arena arena;
static char prose[6000];

static const struct ingest_options cutting = { .chunk = true,
	.size = { .target = 32, .overlap = 4, .max = 1000 } };

static bool yes(void *arg)
{
	return *(bool *)arg;
}

static enum status ingest(struct engine_document *docs, size_t n, const struct ingest_options *opt,
	bool stopped, struct error *e)
{
	const struct engine_stop stop = { yes, &stopped };
	struct engine_commit c;

	return ingest_run(NULL, docs, n, opt, NULL, &stop, &arena, &c, e);
}

/* Sentences of nine words. */
static int setup(void **state)
{
	static const char sentence[] = "Every retrieval server needs a few plain sentences here. ";

	(void)state;
	for (size_t at = 0; at + sizeof(sentence) <= sizeof(prose); at += sizeof(sentence) - 1)
		memcpy(prose + at, sentence, sizeof(sentence));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static void test_what_is_cut(void **state)
{
	struct engine_document docs[] = {
		{ .id = bytes_of("long"), .text = bytes_of(prose) },
		{ .id = bytes_of("short"), .text = bytes_of("Two words.") },
		{ .id = bytes_of("blank"), .text = bytes_of(" \n\t ") },
		{ .id = bytes_of("empty"), .text = bytes_of("") },
	};
	struct error e;

	(void)state;
	fake_reset(NULL, 0);
	assert_int_equal(ingest(docs, 4, &cutting, false, &e), ST_OK);
	assert_int_equal(fake.last_docs, 4);
	assert_true(docs[0].chunk_count > 10);
	assert_true(docs[1].chunk_count <= 1);
	assert_int_equal(docs[2].chunk_count + docs[3].chunk_count, 0);
	assert_int_equal(fake.first.byte_start, 0);
	for (size_t i = 0; i < docs[0].chunk_count; i++) {
		const struct engine_chunk *c = &docs[0].chunks[i];

		assert_true(c->byte_start < c->byte_end && c->byte_end <= strlen(prose));
		assert_true(!i || c->byte_start > c[-1].byte_start);
		assert_true(text_tokens((struct bytes){ prose + c->byte_start,
				    c->byte_end - c->byte_start }) <= cutting.size.target);
	}
	assert_false(fake.last_contextual);
}

static void test_headings_go_along(void **state)
{
	static char text[8000];
	struct engine_document doc = { .id = bytes_of("d"), .format = TEXT_MARKDOWN };
	struct ingest_options opt = cutting;
	struct error e;

	(void)state;
	memcpy(text, "# Top\n\n", 7);
	memcpy(text + 7, prose, sizeof(prose));
	doc.text = bytes_of(text);
	opt.contextual = true;
	fake_reset(NULL, 0);
	assert_int_equal(ingest(&doc, 1, &opt, false, &e), ST_OK);
	assert_true(fake.last_contextual);
	assert_true(doc.chunk_count > 1);
	assert_true(bytes_eq(doc.chunks[doc.chunk_count - 1].context, bytes_of("Top")));
}

static void test_nothing_is_cut_when_not_wanted(void **state)
{
	struct engine_chunk stale = { 1, 2, BYTES_NONE };
	struct engine_document doc = { .id = bytes_of("d"),
		.text = bytes_of(prose),
		.chunks = &stale,
		.chunk_count = 1 };
	struct ingest_options opt = cutting;
	struct error e;

	(void)state;
	opt.chunk = false;
	fake_reset(NULL, 0);
	assert_int_equal(ingest(&doc, 1, &opt, false, &e), ST_OK);
	assert_int_equal(fake.last_chunks, 0);
	assert_int_equal(ingest(NULL, 0, &opt, false, &e), ST_OK);
	assert_int_equal(fake.last_docs, 0);
}

static void test_X7_errors_write_nothing(void **state)
{
	struct engine_document docs[] = {
		{ .id = bytes_of("a"), .text = bytes_of("short") },
		{ .id = bytes_of("b"), .text = bytes_of(prose) },
	};
	struct ingest_options opt = cutting;
	struct error e;

	(void)state;
	opt.size.max = 3;
	fake_reset(NULL, 0);
	assert_int_equal(ingest(docs, 2, &opt, false, &e), ST_TOO_LARGE);
	assert_string_equal(e.field, "documents[1].text");
	assert_int_equal(ingest(docs, 2, &cutting, true, &e), ST_CANCELLED);
	assert_int_equal(fake.adds, 0);
	fake.fail = FAKE_ADD;
	assert_int_equal(ingest(docs, 2, &cutting, false, &e), ST_IO);
}

static void test_allocation_failures(void **state)
{
	struct engine_document docs[] = { { .id = bytes_of("a"), .text = bytes_of(prose) },
		{ .id = bytes_of("b"), .text = bytes_of(prose) } };
	bool passed = false;

	(void)state;
	for (long n = 0; n < 500 && !passed; n++) {
		struct error e;
		enum status st;

		fake_reset(NULL, 0);
		arena_release(&arena);
		mem_fail_after(n);
		st = ingest(docs, 2, &cutting, false, &e);
		passed = mem_fail_after(-1) <= n;
		assert_int_equal(st, passed ? ST_OK : ST_NOMEM);
		assert_int_equal(fake.adds, passed);
	}
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_cut),
		cmocka_unit_test(test_headings_go_along),
		cmocka_unit_test(test_nothing_is_cut_when_not_wanted),
		cmocka_unit_test(test_X7_errors_write_nothing),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
