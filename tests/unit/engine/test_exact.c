/*
 * test_exact.c: any history of writes, restarts, crashes and damaged index files gives
 * the answers that the living documents alone call for: the same chunks, in the same
 * order, with the same scores to the last bit, inside any filter. (DESIGN "Scores depend
 * on the corpus alone"; REQ: F1, F4, R1, IDX-04.)
 *
 * The reference is engine_model.h, and a fresh corpus that is given the final state.
 */
#include "corpus.h"
#include "engine_model.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/private.h"
#include "real_texts.h"

#define HEAD_CHUNKS 32
#define BATCH 6
#define LIST_SKIPS 20

struct history {
	struct corpus corpus;
	struct model model;
	unsigned calls;    /* that had an idempotency key */
	unsigned segments; /* of the index's files, at most */
};

/* ---- one write, to the model and, if there is one, to the engine ---- */

static struct engine_once once_of(unsigned n, char *key, size_t size)
{
	struct engine_once once = { .owner = BYTES("test"), .result = BYTES("answer") };

	snprintf(key, size, "call%u", n);
	once.key = bytes_of(key);
	return once;
}

/* False: the engine did not do as it should. In a child nothing may be asserted. */
static bool step_add(struct history *h, struct engine *en)
{
	struct engine_document docs[BATCH];
	struct model_doc drawn[BATCH];
	size_t numbers[BATCH], n = 1 + model_below(&h->model.rng, BATCH);
	bool keyed = model_below(&h->model.rng, 3) == 0, good = true;
	struct engine_commit commit;
	struct engine_once once;
	char key[32];

	for (size_t i = 0; i < n; i++) {
		numbers[i] = 1 + model_below(&h->model.rng, MODEL_DOCS - 1);
		model_draw(&h->model, numbers[i], &drawn[i]);
		docs[i] = drawn[i].doc;
		docs[i].id = bytes_of(drawn[i].id);
		docs[i].chunks = drawn[i].chunks;
		docs[i].values = drawn[i].values;
	}
	h->calls += keyed;
	once = once_of(h->calls, key, sizeof key);
	if (en)
		good = !engine_add(en, docs, n, keyed ? &once : NULL, NULL, &h->corpus.arena,
			       &commit, &h->corpus.error) &&
			!commit.repeated;
	for (size_t i = 0; i < n; i++) {
		/* What a drawn document points to lies where it was drawn. */
		drawn[i].doc.values = drawn[i].values;
		model_put(&h->model, numbers[i], &drawn[i]);
	}
	return good;
}

/* A key that was used before: nothing changes. */
static bool step_repeat(struct history *h, struct engine *en)
{
	struct engine_document doc = document("repeated", "river that must not be found");
	struct engine_commit commit;
	struct engine_once once;
	char key[32];

	if (h->calls == 0)
		return true;
	once = once_of(1 + model_below(&h->model.rng, h->calls), key, sizeof key);
	return !en ||
		(!engine_add(en, &doc, 1, &once, NULL, &h->corpus.arena, &commit,
			 &h->corpus.error) &&
			commit.repeated && bytes_eq(commit.result, BYTES("answer")));
}

static bool step_delete(struct history *h, struct engine *en)
{
	struct bytes ids[BATCH];
	char names[BATCH][16];
	size_t n = 1 + model_below(&h->model.rng, BATCH);
	struct engine_commit commit;
	uint64_t living = 0;

	for (size_t i = 0; i < n; i++) {
		size_t no = 1 + model_below(&h->model.rng, MODEL_DOCS - 1);

		snprintf(names[i], sizeof names[i], "%s%zu", no % 3 ? "d" : "Doc-", no);
		ids[i] = bytes_of(names[i]);
		living += h->model.docs[no].alive;
		model_kill(&h->model, no);
	}
	return !en ||
		(!engine_delete(en, ids, n, NULL, &commit, &h->corpus.error) &&
			commit.documents == living);
}

static bool step_delete_where(struct history *h, struct engine *en)
{
	struct engine_filter *f = model_draw_filter(&h->model, &h->corpus.arena, 2);
	struct engine_scalar yes = { .i = 1 };
	struct engine_filter parts[3] = { *f,
		{ .kind = ENGINE_LEAF,
			.field = FIELD_DATE,
			.op = ENGINE_EXISTS,
			.values = &yes,
			.value_count = 1 },
		{ .kind = ENGINE_NOT, .count = 1 } };
	struct engine_filter all = { .kind = ENGINE_AND, .children = parts, .count = 3 };
	struct engine_scalar prose = { .s = BYTES("lll") };
	struct engine_filter seed = { .kind = ENGINE_LEAF,
		.field = FIELD_PROSE,
		.op = ENGINE_CONTAINS,
		.values = &prose,
		.value_count = 1 };
	struct engine_commit commit;
	uint64_t living = 0;

	parts[2].children = &seed; /* document 0 stays: it tells the fields' types */
	for (size_t i = 0; i < MODEL_DOCS; i++) {
		if (h->model.docs[i].alive && model_passes(&h->model.docs[i], &all)) {
			living++;
			model_kill(&h->model, i);
		}
	}
	return !en ||
		(!engine_delete_where(en, &all, NULL, &commit, &h->corpus.error) &&
			commit.documents == living);
}

static bool step(struct history *h, struct engine *en)
{
	switch (model_below(&h->model.rng, 10)) {
	case 0:
	case 1:
		return step_delete(h, en);
	case 2:
		return model_below(&h->model.rng, 3) || step_delete_where(h, en);
	case 3:
		return step_repeat(h, en);
	default:
		return step_add(h, en);
	}
}

static void add_seed(struct model *m, struct corpus *c)
{
	struct model_doc d;

	if (!m->docs[0].alive) {
		model_draw(m, 0, &d);
		model_put(m, 0, &d);
	}
	corpus_add_all(c, &m->docs[0].doc, 1);
}

/* ---- comparing ---- */

static void compare_hits(const struct model_hit *want, size_t want_n,
	const struct engine_candidate *got, size_t got_n, const char *query)
{
	if (got_n != want_n)
		fail_msg("'%s': %zu hits, not %zu", query, got_n, want_n);
	for (size_t i = 0; i < got_n; i++)
		if (!bytes_eq(got[i].doc_id, want[i].doc->doc.id) ||
			got[i].chunk != want[i].chunk ||
			memcmp(&got[i].score, &want[i].score, sizeof want[i].score) != 0)
			fail_msg("'%s': hit %zu is %.*s/%u %.17g, not %s/%u %.17g", query, i,
				(int)got[i].doc_id.len, got[i].doc_id.data, got[i].chunk,
				got[i].score, want[i].doc->id, want[i].chunk, want[i].score);
}

/* The text of a hit is the text of its chunk. */
static void check_text(struct engine_view *v, const struct engine_candidate *got,
	const struct model_hit *want, struct arena *arena)
{
	const struct model_doc *d = want->doc;
	struct bytes text = d->doc.text;
	struct engine_record r;
	struct error e;

	if (d->doc.chunk_count) {
		text.data += d->chunks[want->chunk].byte_start;
		text.len = d->chunks[want->chunk].byte_end - d->chunks[want->chunk].byte_start;
	}
	if (engine_fetch(v, got, ENGINE_TEXT, arena, &r, &e))
		fail_msg("%s/%u: %s", d->id, want->chunk, e.message);
	assert_true(bytes_eq(r.text, text));
}

static void check_words(const struct engine_query *q, const struct model_term *terms, size_t n,
	const char *query)
{
	if (q->n != n)
		fail_msg("'%s': %zu words, not %zu", query, q->n, n);
	for (size_t i = 0; i < n; i++)
		if (!bytes_eq(q->terms[i], (struct bytes){ terms[i].word, terms[i].len }))
			fail_msg("'%s': word %zu is '%.*s', not '%.*s'", query, i,
				(int)q->terms[i].len, q->terms[i].data, (int)terms[i].len,
				terms[i].word);
}

static void check_recall(struct corpus *c, struct engine_view *v, const struct engine_query *q,
	const struct engine_pass *pass, const struct model_hit *want, size_t n, const char *query)
{
	static const size_t ks[] = { 1, 3, 10, 1000 };
	struct engine_candidate *got;
	size_t got_n;

	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(engine_recall(v, q, ks[i], pass, &c->arena, &got, &got_n,
					 &c->error),
			ST_OK);
		compare_hits(want, n < ks[i] ? n : ks[i], got, got_n, query);
	}
	assert_true(n == 0 || q->bound >= want[0].score);
	for (size_t i = 0; i < n && i < 5; i++)
		check_text(v, &got[i], &want[i], &c->arena);
}

/* What passes, without some of the hits. */
static void check_list(struct corpus *c, struct engine_view *v, const struct engine_pass *pass,
	struct model_hit *want, size_t n, struct model_rng *rng)
{
	static const size_t ks[] = { 1, 5, 1000 };
	struct engine_candidate *all, *got, skip[LIST_SKIPS];
	size_t all_n, got_n, skips = 0, kept = 0;

	assert_int_equal(engine_list(v, pass, 1000, NULL, 0, &c->arena, &all, &all_n, &c->error),
		ST_OK);
	compare_hits(want, n, all, all_n, "all that pass");
	for (size_t i = 0; i < n; i++) {
		if (skips < LIST_SKIPS && model_below(rng, 4) == 0)
			skip[skips++] = all[i];
		else
			want[kept++] = want[i];
	}
	for (size_t i = 0; i + 1 < skips; i++) { /* in any order */
		struct engine_candidate other = skip[i];
		size_t k = i + model_below(rng, (uint32_t)(skips - i));

		skip[i] = skip[k];
		skip[k] = other;
	}
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(engine_list(v, pass, ks[i], skip, skips, &c->arena, &got, &got_n,
					 &c->error),
			ST_OK);
		compare_hits(want, kept < ks[i] ? kept : ks[i], got, got_n, "without some");
	}
}

static void note_segments(struct history *h)
{
	struct engine_view *v = corpus_view(&h->corpus);
	struct lexical_stats stats;

	lexical_view_stats(v->state->index, &stats);
	engine_view_close(v);
	if (stats.segments > h->segments)
		h->segments = (unsigned)stats.segments;
}

/* Random queries and filters; the same ones for the same seed. */
static void check_answers(struct corpus *c, struct model *m, uint64_t seed, unsigned queries)
{
	static struct model_hit want[MODEL_MAX_HITS];
	struct model_rng saved = m->rng;
	struct engine_view *v = corpus_view(c);

	m->rng.state = seed;
	for (unsigned i = 0; i < queries; i++) {
		struct engine_filter *f = model_draw_filter(m, &c->arena, 3);
		struct model_term terms[ENGINE_MAX_TERMS];
		struct engine_pass *pass;
		struct engine_query q;
		char query[512];
		size_t n, hits;

		model_draw_query(m, query, sizeof query);
		n = model_analyze(m, query, terms, ENGINE_MAX_TERMS);
		q = corpus_analyze(c, v, query);
		check_words(&q, terms, n, query);
		hits = model_search(m, terms, n, NULL, NULL, want);
		check_recall(c, v, &q, NULL, want, hits, query);
		assert_int_equal(engine_filter_compile(v, f, &c->arena, &pass, &c->error), ST_OK);
		hits = model_search(m, terms, n, model_passes, f, want);
		check_recall(c, v, &q, pass, want, hits, query);
		hits = model_list(m, model_passes, f, want);
		check_list(c, v, pass, want, hits, &m->rng);
		corpus_clear(c);
	}
	engine_view_close(v);
	m->rng = saved;
}

static void check_totals(struct corpus *c, const struct model *m)
{
	struct engine_stats stats = corpus_stats(c);
	uint64_t documents = 0, chunks = 0, bytes = 0;

	for (size_t i = 0; i < MODEL_DOCS; i++) {
		documents += m->docs[i].alive;
		chunks += m->docs[i].bag_count;
		bytes += m->docs[i].doc.text.len;
	}
	assert_int_equal(stats.documents, documents);
	assert_int_equal(stats.chunks, chunks);
	assert_int_equal(stats.text_bytes, bytes);
}

/* ---- restarts ---- */

static void damage_file(const char *path, unsigned how)
{
	struct stat sb;
	char byte = 0;
	int fd;

	if (how == 0) {
		assert_int_equal(unlink(path), 0);
		return;
	}
	assert_int_equal(stat(path, &sb), 0);
	if (how == 1) {
		assert_int_equal(truncate(path, sb.st_size / 2), 0);
		return;
	}
	fd = open(path, O_RDWR);
	assert_true(fd >= 0);
	assert_int_equal(pread(fd, &byte, 1, sb.st_size / 3), 1);
	byte ^= 0x5A;
	assert_int_equal(pwrite(fd, &byte, 1, sb.st_size / 3), 1);
	close(fd);
}

static void damage_index(struct history *h)
{
	size_t n = 0;
	char path[600];

	while (corpus_index_file(&h->corpus, n, path, sizeof path))
		n++;
	if (n == 0)
		return;
	corpus_index_file(&h->corpus, model_below(&h->model.rng, (uint32_t)n), path, sizeof path);
	damage_file(path, model_below(&h->model.rng, 3));
}

/* Some steps in a child that is killed after them: all of them were answered. */
static void crash(struct history *h)
{
	unsigned steps = 1 + model_below(&h->model.rng, 12);
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		h->corpus.opt.dir = h->corpus.dir;
		if (engine_open(&h->corpus.opt, &h->corpus.engine, NULL))
			_exit(2);
		for (unsigned i = 0; i < steps; i++)
			if (!step(h, h->corpus.engine))
				_exit(3);
		raise(SIGKILL);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (unsigned i = 0; i < steps; i++)
		step(h, NULL);
}

static void restart(struct history *h)
{
	corpus_close(&h->corpus);
	switch (model_below(&h->model.rng, 6)) {
	case 0:
		corpus_drop_index(&h->corpus);
		break;
	case 1:
	case 2:
		damage_index(h);
		break;
	case 3:
	case 4:
		crash(h);
		break;
	default:
		break;
	}
	corpus_open(&h->corpus);
	corpus_unsynced(&h->corpus);
}

/* ---- the test ---- */

/* A new corpus that was only ever given what lives now. */
static void check_fresh(struct history *h, uint64_t seed, unsigned queries)
{
	struct corpus fresh;

	corpus_make_dir(&fresh);
	fresh.opt = h->corpus.opt;
	corpus_open(&fresh);
	corpus_unsynced(&fresh);
	add_seed(&h->model, &fresh);
	for (size_t i = 1; i < MODEL_DOCS; i++)
		if (h->model.docs[i].alive)
			corpus_add_all(&fresh, &h->model.docs[i].doc, 1);
	check_answers(&fresh, &h->model, seed, queries);
	check_totals(&fresh, &h->model);
	corpus_close(&fresh);
	corpus_remove_dir(&fresh);
}

static void run_history(uint64_t seed, const struct model_real *real, unsigned steps)
{
	static struct history h;

	memset(&h, 0, sizeof h);
	corpus_make_dir(&h.corpus);
	h.corpus.opt.head_chunks = HEAD_CHUNKS;
	h.corpus.opt.declared = model_declared;
	h.corpus.opt.declared_count = 1;
	corpus_open(&h.corpus);
	corpus_unsynced(&h.corpus);
	model_init(&h.model, seed);
	h.model.real = real;
	add_seed(&h.model, &h.corpus);
	for (unsigned i = 0; i < steps; i++) {
		if (!step(&h, h.corpus.engine))
			fail_msg("step %u: %s", i, h.corpus.error.message);
		if (i % 25 == 24)
			restart(&h);
		if (i % 5 == 0) {
			check_answers(&h.corpus, &h.model, seed + i, 3);
			check_totals(&h.corpus, &h.model);
			if (h.segments <= 2) /* a busy machine: the keeper has its turn */
				usleep(10000);
			note_segments(&h);
		}
		corpus_clear(&h.corpus);
	}
	assert_true(h.segments > 2); /* or the files were never looked at */
	check_answers(&h.corpus, &h.model, seed, 20);
	check_fresh(&h, seed, 20);
	for (size_t f = 0; f < MODEL_FIELDS; f++) {
		size_t number;

		assert_true(
			engine_field_find(h.corpus.engine, bytes_of(model_field_name(f)), &number));
		assert_int_equal(number, f);
	}
	corpus_close(&h.corpus);
	corpus_check(&h.corpus);
	corpus_remove_dir(&h.corpus);
	model_release(&h.model);
}

static void test_histories(void **state)
{
	const char *seed = getenv("RCPD_TEST_SEED");
	unsigned long long first = seed ? strtoull(seed, NULL, 10) : 1;
	unsigned rounds = getenv("RCPD_TEST_LONG") ? 100 : 4;

	(void)state;
	for (unsigned i = 0; i < rounds; i++) {
		print_message("seed %llu\n", first + i);
		run_history(first + i, NULL, 200);
	}
}

/* The same over texts and questions of the judged collections, in several languages. */
static void test_real_texts(void **state)
{
	struct model_real real;
	unsigned n = 0;

	(void)state;
	for (; real_texts_load(n, &real); n++) {
		run_history(n, &real, 60);
		real_texts_release(&real);
	}
	if (n > 0)
		return;
	print_message("LEFT OUT: the folder shared/collections is not beside the project\n");
	assert_null(getenv("CI"));
	skip();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories),
		cmocka_unit_test(test_real_texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
