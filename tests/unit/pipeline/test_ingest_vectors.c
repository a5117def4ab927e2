/*
 * Vectors of documents that are stored (REQ: X7): those that documents bring, those that
 * a model over HTTP makes, and what becomes of its failures. Over models of a few lines
 * and an engine that notes what it was given.
 */
#include "../unit.h"

#include <stdio.h>
#include <string.h>

#include "../methods/tiny_models.h"
#include "pipeline/ingest.h"
#include "util/mem.h"

#define DIM TINY_DIMENSION

static struct arena arena;
static struct engine_space space;
static bool has_space;

/* What engine_add was given. */
static struct {
	unsigned adds;
	size_t n;
	bool has_vectors[8];
	uint64_t space[8];
	float vectors[8][16 * DIM]; /* the first 16 rows of each document */
	size_t rows[8];
	bool closable; /* whether the gate could be closed meanwhile */
} got;
static struct ingest_gate *gate;

/* ---- the engine ---- */

bool engine_view_space(const struct engine_view *v, struct engine_space *ret)
{
	(void)v;
	if (has_space)
		*ret = space;
	return has_space;
}

enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	void *some = mem_alloc(1);

	(void)en, (void)stop;
	*ret = some;
	return some ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

void engine_view_close(struct engine_view *v)
{
	mem_free(v);
}

enum status engine_join_text(struct bytes title, struct bytes context, struct bytes text,
	enum text_format format, struct arena *a, struct bytes *ret, struct error *e)
{
	size_t size = title.len + context.len + text.len + 3;
	char *all = arena_alloc(a, size);

	(void)format;
	if (!all)
		return error_set(e, ST_NOMEM, "out of memory");
	snprintf(all, size, "%.*s|%.*s|%.*s", (int)title.len, title.data ? title.data : "",
		(int)context.len, context.data ? context.data : "", (int)text.len, text.data);
	*ret = bytes_of(all);
	if (!title.len && !context.len && !text.len)
		ret->len = 0;
	return ST_OK;
}

static bool yes(void *arg)
{
	(void)arg;
	return true;
}

static void note_document(size_t i, const struct engine_document *d)
{
	got.rows[i] = d->chunk_count ? d->chunk_count : 1;
	got.has_vectors[i] = d->vectors != NULL;
	got.space[i] = d->space;
	if (d->vectors)
		memcpy(got.vectors[i], d->vectors,
			(got.rows[i] < 16 ? got.rows[i] : 16) * DIM * sizeof(float));
}

enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *a,
	struct engine_commit *ret, struct error *e)
{
	const struct engine_stop at_once = { yes, NULL };

	(void)en, (void)once, (void)stop, (void)a, (void)e;
	got.adds++;
	got.n = n;
	for (size_t i = 0; i < n; i++)
		note_document(i, &docs[i]);
	got.closable = gate && !ingest_gate_close(gate, &at_once, NULL);
	if (got.closable)
		ingest_gate_open(gate);
	*ret = (struct engine_commit){ .version = 1 };
	return ST_OK;
}

/* ---- the tests ---- */

static struct models models;

static int reset(void **state)
{
	(void)state;
	memset(&got, 0, sizeof(got));
	memset(&tiny_models, 0, sizeof(tiny_models));
	models = (struct models){ .table = tiny_table(),
		.embedder = tiny_remote("m@host"),
		.embedder_dimension = DIM };
	has_space = true;
	space = (struct engine_space){ bytes_of("m@host"), DIM, false, 3, 0, 0, NULL };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static bool stop_now;

static bool maybe(void *arg)
{
	(void)arg;
	return stop_now;
}

static enum status ingest(struct engine_document *docs, size_t n, bool chunk, struct error *e)
{
	const struct ingest_options opt = { .chunk = chunk,
		.contextual = true,
		.size = { .target = 16, .overlap = 2, .max = 1000 },
		.models = &models,
		.gate = gate };
	const struct engine_stop stop = { maybe, NULL };
	struct engine_commit commit;

	return ingest_run(NULL, docs, n, &opt, NULL, &stop, &arena, &commit, e);
}

static void assert_row(size_t doc, size_t row, const char *text)
{
	float want[DIM];

	tiny_vector(bytes_of(text), want);
	for (size_t i = 0; i < DIM; i++)
		if (got.vectors[doc][row * DIM + i] < 1.999f * want[i] ||
			got.vectors[doc][row * DIM + i] > 2.001f * want[i])
			fail_msg("document %zu, row %zu is not that of '%s'", doc, row, text);
}

/* Rows that are all zero where there is nothing to embed, in the right places. */
static void test_every_chunk_gets_its_own(void **state)
{
	struct engine_document docs[] = {
		{ .text = bytes_of("") },
		{ .text = bytes_of("abba"), .title = bytes_of("dd") },
		{ .text = bytes_of(" \n"), .title = bytes_of("") },
		{ .text = bytes_of("ccc") },
	};
	struct error e;

	(void)state;
	assert_int_equal(ingest(docs, 4, false, &e), ST_OK);
	assert_int_equal(got.n, 4);
	assert_int_equal(tiny_models.calls, 1);
	assert_false(tiny_models.query);
	assert_row(0, 0, "");
	assert_row(1, 0, "dd abba");
	assert_row(3, 0, "ccc");
	for (size_t i = 0; i < 4; i++) {
		assert_true(got.has_vectors[i]);
		assert_int_equal(got.space[i], 3);
	}
}

static void test_chunks_with_their_headings(void **state)
{
	static const char text[] =
		"# Aaa\n\nbbb bbb bbb bbb bbb bbb bbb bbb bbb bbb bbb. ccc ccc ccc ccc ccc ccc ccc "
		"ccc ccc ccc ccc ccc. ddd ddd ddd ddd ddd ddd ddd ddd ddd ddd ddd ddd ddd ddd.";
	struct engine_document docs[] = {
		{ .text = bytes_of("a") },
		{ .text = bytes_of(text), .format = TEXT_MARKDOWN },
	};
	struct error e;

	(void)state;
	assert_int_equal(ingest(docs, 2, true, &e), ST_OK);
	assert_true(got.rows[1] > 1 && got.rows[1] < 16);
	assert_int_equal(tiny_models.texts, 1 + got.rows[1]);
	assert_row(0, 0, "a");
	for (size_t c = 0; c < got.rows[1]; c++) {
		const struct engine_chunk *chunk = &docs[1].chunks[c];
		char all[300];

		snprintf(all, sizeof(all), "%.*s|%.*s", (int)chunk->context.len,
			chunk->context.data ? chunk->context.data : "",
			(int)(chunk->byte_end - chunk->byte_start), text + chunk->byte_start);
		assert_row(1, c, all);
	}
}

static void test_vectors_that_documents_bring(void **state)
{
	static const float own[DIM] = { 0, 0, 0, 2 };
	struct engine_document docs[] = {
		{ .text = bytes_of("a"), .vectors = own, .space = 3 },
		{ .text = bytes_of("b") },
	};
	struct error e;

	(void)state;
	assert_int_equal(ingest(docs, 2, true, &e), ST_OK);
	assert_int_equal(tiny_models.texts, 1);
	assert_row(0, 0, "d");
	assert_row(1, 0, "b");
	/* Where clients bring them nobody makes the others'. */
	space.identity = bytes_of(MODELS_EXTERNAL);
	docs[1].vectors = NULL;
	tiny_models.calls = 0;
	assert_int_equal(ingest(docs, 2, true, &e), ST_OK);
	assert_int_equal(tiny_models.calls, 0);
	assert_true(got.has_vectors[0] && !got.has_vectors[1]);
	/* The space changed between the request's beginning and here. */
	docs[0].space = 2;
	assert_int_equal(ingest(docs, 2, true, &e), ST_UNAVAILABLE);
	assert_int_equal(got.adds, 2);
}

static void test_one_vector_for_several_chunks(void **state)
{
	static const float own[DIM] = { 0, 0, 0, 2 };
	char text[400];
	struct engine_document docs[] = { { .text = bytes_of("x") },
		{ .vectors = own, .space = 3 } };
	struct error e;

	(void)state;
	memset(text, 'a', sizeof(text));
	for (size_t i = 4; i < sizeof(text); i += 5)
		text[i] = i % 50 == 49 ? '.' : ' ';
	docs[1].text = (struct bytes){ text, sizeof(text) };
	assert_int_equal(ingest(docs, 2, true, &e), ST_INVALID);
	assert_string_equal(e.field, "documents[1].x-rcpd-vector");
	assert_int_equal(tiny_models.calls, 0);
	assert_int_equal(got.adds, 0);
	assert_int_equal(ingest(docs, 2, false, &e), ST_OK);
}

static void test_X7_nothing_is_written_when_the_model_fails(void **state)
{
	struct engine_document docs[] = { { .text = bytes_of("a") } };
	struct error e;

	(void)state;
	tiny_models.fail = ST_UNAVAILABLE;
	assert_int_equal(ingest(docs, 1, false, &e), ST_UNAVAILABLE);
	tiny_models.fail = ST_TIMEOUT; /* the model's time, not the request's */
	assert_int_equal(ingest(docs, 1, false, &e), ST_UNAVAILABLE);
	stop_now = true;
	assert_int_equal(ingest(docs, 1, false, &e), ST_CANCELLED);
	stop_now = false;
	assert_int_equal(got.adds, 0);
}

static void test_other_spaces_want_no_model(void **state)
{
	struct engine_document docs[] = { { .text = bytes_of("a") } };
	struct error e;

	(void)state;
	space.derived = true;
	space.model = &models;
	assert_int_equal(ingest(docs, 1, false, &e), ST_OK);
	space.derived = false;
	space.identity = bytes_of("other@host");
	assert_int_equal(ingest(docs, 1, false, &e), ST_OK);
	has_space = false;
	assert_int_equal(ingest(docs, 1, false, &e), ST_OK);
	assert_int_equal(got.adds, 3);
	assert_int_equal(tiny_models.calls, 0);
	assert_false(got.has_vectors[0]);
}

static void test_too_many_vectors(void **state)
{
	struct engine_document docs[] = { { .text = bytes_of("a") }, { .text = bytes_of("b") } };
	struct error e;

	(void)state;
	space.dimension = models.embedder_dimension = INGEST_MAX_VECTOR_BYTES / sizeof(float);
	assert_int_equal(ingest(docs, 2, false, &e), ST_TOO_LARGE);
	assert_non_null(strstr(e.message, "at most 1 chunks"));
	assert_int_equal(got.adds, 0);
}

/* In the gate from the look at the space until the commit, if there is one to look at. */
static void test_the_gate(void **state)
{
	const struct engine_stop at_once = { yes, NULL };
	struct engine_document docs[] = { { .text = bytes_of("a") } };
	struct error e;

	(void)state;
	assert_int_equal(ingest_gate_new(&gate, &e), ST_OK);
	assert_int_equal(ingest(docs, 1, false, &e), ST_OK);
	assert_false(got.closable);
	assert_int_equal(ingest_gate_close(gate, &at_once, &e), ST_OK); /* left again */
	ingest_gate_open(gate);
	docs[0].vectors = NULL;
	tiny_models.fail = ST_UNAVAILABLE;
	assert_int_equal(ingest(docs, 1, false, &e), ST_UNAVAILABLE);
	assert_int_equal(ingest_gate_close(gate, &at_once, &e), ST_OK);
	docs[0].vectors = NULL;
	stop_now = true; /* a writer that waits gives up */
	assert_int_equal(ingest(docs, 1, false, &e), ST_CANCELLED);
	stop_now = false;
	ingest_gate_open(gate);
	models.embedder = NULL;
	docs[0].vectors = NULL;
	assert_int_equal(ingest(docs, 1, false, &e), ST_OK);
	assert_true(got.closable);
	ingest_gate_free(gate);
	gate = NULL;
}

static void test_allocation_failures(void **state)
{
	bool passed = false;

	(void)state;
	for (long n = 0; n < 500 && !passed; n++) {
		struct engine_document docs[] = { { .text = bytes_of("a"), .title = bytes_of("t") },
			{ .text = bytes_of("") } };
		struct error e;
		enum status st;

		got.adds = 0;
		arena_release(&arena);
		mem_fail_after(n);
		st = ingest(docs, 2, true, &e);
		passed = mem_fail_after(-1) <= n;
		assert_int_equal(st, passed ? ST_OK : ST_NOMEM);
		assert_int_equal(got.adds, passed);
	}
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_every_chunk_gets_its_own, reset),
		cmocka_unit_test_setup(test_chunks_with_their_headings, reset),
		cmocka_unit_test_setup(test_vectors_that_documents_bring, reset),
		cmocka_unit_test_setup(test_one_vector_for_several_chunks, reset),
		cmocka_unit_test_setup(test_X7_nothing_is_written_when_the_model_fails, reset),
		cmocka_unit_test_setup(test_other_spaces_want_no_model, reset),
		cmocka_unit_test_setup(test_too_many_vectors, reset),
		cmocka_unit_test_setup(test_the_gate, reset),
		cmocka_unit_test_setup(test_allocation_failures, reset),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
