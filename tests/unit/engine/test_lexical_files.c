/*
 * test_lexical_files.c: files that are torn, gone, foreign, damaged or hostile, and
 * writes that fail: opening always succeeds and says what it has, replaying the rest
 * makes the index whole again, and nothing is read out of bounds.
 *
 * REQ: issue "a torn or deleted segment file"; fault points lexical.*
 */
#include "lexical_model.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/header.h"
#include "engine/lexical/segment.h"
#include "util/fault.h"
#include "util/log.h"

#define HOSTILE_ROUNDS 800
#define LIST_ENTRY 48 /* where the first entry of segments.list begins */

struct blob {
	unsigned char *p;
	size_t n;
};

static struct blob read_blob(const char *dir, const char *name)
{
	char path[600];
	struct stat sb;
	struct blob b;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &sb), 0);
	b.n = (size_t)sb.st_size;
	b.p = malloc(b.n + 1);
	assert_non_null(b.p);
	assert_int_equal(fread(b.p, 1, b.n, f), b.n);
	fclose(f);
	return b;
}

static void write_blob(const char *dir, const char *name, const unsigned char *p, size_t n)
{
	char path[600];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

#define MAX_FILES 16

/* Names of the segment files, in order. */
static size_t list_segments(const char *dir, char names[MAX_FILES][32])
{
	struct dirent **found;
	int n = scandir(dir, &found, NULL, alphasort);
	size_t count = 0;

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		if (strstr(found[i]->d_name, ".seg") && count < MAX_FILES)
			snprintf(names[count++], 32, "%.31s", found[i]->d_name);
		free(found[i]);
	}
	free(found);
	return count;
}

/* Some segments with deletes in them; all on disk. */
static void make_index(struct model *m, uint64_t seed, unsigned segments)
{
	model_init(m, seed, 100000, 100);
	for (unsigned i = 0; i < segments; i++) {
		for (int j = 0; j < 150; j++)
			model_add(m);
		for (int j = 0; j < 20; j++)
			model_remove_some(m);
		model_publish(m);
		lexical_freeze(m->lx);
		model_maintain(m);
	}
	assert_int_equal(lexical_persisted_commit(m->lx), m->commit);
}

/* Opens what is there now, replays, compares. Returns the commit reported. */
static uint64_t recover(struct model *m)
{
	uint64_t commit;

	model_open(m, &commit);
	assert_true(commit <= m->commit);
	model_replay(m, commit);
	model_check(m, 3);
	return commit;
}

/* Back to the files as they were. */
static void restore(struct model *m, char names[MAX_FILES][32], const struct blob *files, size_t n,
	const struct blob *list)
{
	lexical_close(m->lx);
	for (size_t i = 0; i < n; i++)
		write_blob(m->dir, names[i], files[i].p, files[i].n);
	write_blob(m->dir, "segments.list", list->p, list->n);
}

/* Cuts segment i to `size` bytes (SIZE_MAX: removes it). */
static void damage(struct model *m, const char *name, const struct blob *b, size_t size)
{
	char path[600];

	if (size != SIZE_MAX) {
		write_blob(m->dir, name, b->p, size);
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	assert_int_equal(unlink(path), 0);
}

static void test_torn_segments(void **state)
{
	struct model m;
	char names[MAX_FILES][32];
	struct blob files[MAX_FILES] = { 0 }, list;
	size_t n;

	(void)state;
	make_index(&m, 21, 3);
	n = list_segments(m.dir, names);
	assert_int_equal(n, 3);
	list = read_blob(m.dir, "segments.list");
	for (size_t i = 0; i < n; i++)
		files[i] = read_blob(m.dir, names[i]);
	for (size_t i = 0; i < n; i++) {
		for (size_t cut = 0; cut <= files[i].n; cut += 1024) {
			uint64_t commit;

			restore(&m, names, files, n, &list);
			damage(&m, names[i], &files[i], cut == 0 ? SIZE_MAX : cut - 1);
			commit = recover(&m);
			assert_int_equal(commit, i); /* what is before it is whole */
		}
	}
	restore(&m, names, files, n, &list);
	assert_int_equal(recover(&m), m.commit);
	for (size_t i = 0; i < n; i++)
		free(files[i].p);
	free(list.p);
	model_release(&m);
}

static void test_torn_list(void **state)
{
	struct model m;
	char names[MAX_FILES][32];
	struct blob files[MAX_FILES] = { 0 }, list;
	size_t n;

	(void)state;
	make_index(&m, 22, 2);
	n = list_segments(m.dir, names);
	list = read_blob(m.dir, "segments.list");
	for (size_t i = 0; i < n; i++)
		files[i] = read_blob(m.dir, names[i]);
	for (size_t cut = 0; cut < list.n; cut += 7) {
		restore(&m, names, files, n, &list);
		write_blob(m.dir, "segments.list", list.p, cut);
		assert_int_equal(recover(&m), 0);
	}
	for (size_t at = 0; at < list.n; at += 11) {
		restore(&m, names, files, n, &list);
		list.p[at] ^= 0x10;
		write_blob(m.dir, "segments.list", list.p, list.n);
		list.p[at] ^= 0x10;
		assert_int_equal(recover(&m), 0);
	}
	for (size_t i = 0; i < n; i++)
		free(files[i].p);
	free(list.p);
	model_release(&m);
}

/* Flipped bytes anywhere are noticed by a checksum. */
static void test_flipped_bytes(void **state)
{
	struct model m;
	char names[MAX_FILES][32];
	struct blob file, list;

	(void)state;
	make_index(&m, 23, 1);
	assert_int_equal(list_segments(m.dir, names), 1);
	file = read_blob(m.dir, names[0]);
	list = read_blob(m.dir, "segments.list");
	for (size_t at = 0; at < file.n; at += 1 + file.n / 400) {
		struct lex_segment *seg;
		struct error e;

		file.p[at] ^= 1;
		write_blob(m.dir, names[0], file.p, file.n);
		file.p[at] ^= 1;
		/* Padding between sections is not covered, and not read either. */
		if (lex_segment_open(m.dir, 1, &seg, &e) == ST_OK)
			lex_segment_unref(seg);
		else
			assert_true(e.code == ST_CORRUPT || e.code == ST_FUTURE);
	}
	write_blob(m.dir, names[0], file.p, file.n);
	free(file.p);
	free(list.p);
	model_release(&m);
}

static void test_foreign_files(void **state)
{
	struct model a, b;
	struct blob list;
	struct lexical_options opt = { .k1 = 1.2, .b = 0.75, .identity = bytes_of("another") };
	uint64_t commit;

	(void)state;
	make_index(&a, 24, 2);
	make_index(&b, 25, 2);
	/* Another index's segment under the right name. */
	lexical_close(a.lx);
	list = read_blob(b.dir, "lex-0000000000000002.seg");
	write_blob(a.dir, "lex-0000000000000002.seg", list.p, list.n);
	free(list.p);
	assert_int_equal(recover(&a), 1);
	/* The same folder, but of another corpus. */
	lexical_close(b.lx);
	opt.dir = b.dir;
	assert_int_equal(lexical_open(&opt, &b.lx, &commit, NULL), ST_OK);
	assert_int_equal(commit, 0);
	lexical_close(b.lx);
	assert_int_equal(recover(&b), 0); /* and its files were dropped */
	model_release(&a);
	model_release(&b);
}

static void test_left_over_files_go(void **state)
{
	struct model m;
	char names[MAX_FILES][32];

	(void)state;
	make_index(&m, 26, 2);
	write_blob(m.dir, "lex-00000000000000ff.seg", (const unsigned char *)"x", 1);
	write_blob(m.dir, "lex-0000000000000003.seg.tmp", (const unsigned char *)"x", 1);
	write_blob(m.dir, "notes.txt", (const unsigned char *)"x", 1);
	model_reopen(&m);
	assert_int_equal(list_segments(m.dir, names), 2);
	free(read_blob(m.dir, "notes.txt").p); /* not ours: stays */
	model_check(&m, 3);
	model_release(&m);
}

static void put_pipe(const struct model *m, const char *name)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", m->dir, name);
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
}

/* Nobody writes into them: waiting for that would be for ever. */
static void test_pipes_are_not_read(void **state)
{
	struct model m;

	(void)state;
	make_index(&m, 27, 2);
	lexical_close(m.lx);
	put_pipe(&m, "lex-0000000000000002.seg");
	put_pipe(&m, "lex-0000000000000003.seg.tmp");
	assert_int_equal(recover(&m), 1);
	lexical_close(m.lx);
	put_pipe(&m, "segments.list");
	put_pipe(&m, "segments.list.tmp");
	assert_int_equal(recover(&m), 0);
	lexical_freeze(m.lx);
	model_maintain(&m);
	assert_int_equal(model_reopen(&m), m.commit);
	model_release(&m);
}

static void test_links_are_not_written_through(void **state)
{
	struct model m;
	struct blob b;
	char path[600];

	(void)state;
	make_index(&m, 28, 1);
	write_blob(m.dir, "notes.txt", (const unsigned char *)"kept", 4);
	snprintf(path, sizeof(path), "%s/lex-0000000000000002.seg.tmp", m.dir);
	assert_int_equal(symlink("notes.txt", path), 0);
	snprintf(path, sizeof(path), "%s/segments.list.tmp", m.dir);
	assert_int_equal(symlink("notes.txt", path), 0);
	model_add(&m);
	model_publish(&m);
	lexical_freeze(m.lx);
	model_maintain(&m);
	assert_int_equal(model_reopen(&m), m.commit);
	b = read_blob(m.dir, "notes.txt");
	assert_int_equal(b.n, 4);
	assert_memory_equal(b.p, "kept", 4);
	free(b.p);
	model_release(&m);
}

/* REQ: M15: a head is bounded by what its terms take, not by its chunks alone. */
static void test_long_chunks_fill_a_head(void **state)
{
	struct lexical_term *terms = calloc(100000, sizeof(*terms));
	char(*words)[24] = calloc(100000, sizeof(*words));
	struct lexical_chunk c = { .doc_id = bytes_of("a"), .length = 100000, .terms = terms };
	struct model m;

	(void)state;
	assert_true(terms && words);
	model_init(&m, 29, 100000, 4);
	c.term_count = 100000;
	for (c.key = 1; c.key < 100 && !lexical_heavy(m.lx); c.key++) {
		for (int i = 0; i < 100000; i++) {
			snprintf(words[i], sizeof(words[i]), "%d-%d", (int)c.key, i);
			terms[i] = (struct lexical_term){ bytes_of(words[i]), 1 };
		}
		assert_int_equal(lexical_add(m.lx, &c, NULL), ST_OK);
	}
	assert_in_range(c.key, 3, 20);
	lexical_publish(m.lx, 1);
	assert_false(lexical_heavy(m.lx));
	model_maintain(&m);
	assert_int_equal(lexical_persisted_commit(m.lx), 1);
	free(terms);
	free(words);
	model_release(&m);
}

/* Files of merged segments stay for views that use them, then go. */
static void test_merged_files_go_with_their_views(void **state)
{
	struct model m;
	struct model_state old;
	char names[MAX_FILES][32];

	(void)state;
	make_index(&m, 27, 3);
	model_state_take(&m, &old);
	m.merge_factor = 2;
	lexical_close(m.lx); /* closing does not end views' parts: they count references */
	model_state_release(&old);
	model_open(&m, &(uint64_t){ 0 });
	model_state_take(&m, &old);
	model_maintain(&m);
	assert_int_equal(list_segments(m.dir, names), 4);
	model_state_check(&m, &old, 5);
	model_state_release(&old);
	/* The index itself lets go of replaced views at its next step. */
	model_maintain(&m);
	assert_int_equal(list_segments(m.dir, names), 1);
	model_check(&m, 5);
	model_release(&m);
}

/* ---- hostile files: anything, with right checksums ---- */

static void seal_blob(struct blob *b, struct blob *list)
{
	uint64_t h;

	for (size_t i = 0; i < LEX_SECTIONS; i++) {
		unsigned char *s = b->p + LEX_H_SECTIONS + i * LEX_H_SECTION_BYTES;
		uint64_t at = lex_get64(s), n = lex_get64(s + 8);

		h = i;
		if (at > b->n || n > b->n - at)
			continue;
		for (uint64_t done = 0; done < n; done += LEX_PIECE)
			h = lex_checksum(b->p + at + done,
				n - done < LEX_PIECE ? n - done : LEX_PIECE, h);
		lex_put64(s + 16, h);
	}
	h = lex_checksum(b->p, LEX_H_CHECKSUM, LEX_FORMAT);
	lex_put64(b->p + LEX_H_CHECKSUM, h);
	lex_put64(list->p + LIST_ENTRY + 8, h);
	lex_put64(list->p + list->n - 8, lex_checksum(list->p, list->n - 8, LEX_FORMAT));
}

/* Everything is called; any answer will do, as long as nothing is read out of bounds.
 * Returns whether the file was taken. */
static bool use_everything(struct model *m)
{
	struct lexical_view *v;
	struct error e = { 0 };
	uint64_t commit;
	uint64_t bits[8] = { 0x5555555555555555, 1, 0, ~UINT64_C(0) };
	struct lexical_filter f = { bits, -5, 512 };

	model_open(m, &commit);
	v = lexical_view_get(m->lx);
	for (int i = 0; i < 30; i++) {
		struct bytes terms[4];
		char bufs[4][16];
		struct lexical_query q = { terms, 4, 10, i % 3 ? NULL : &f, i % 2, NULL, NULL };
		struct lexical_hit *hits;
		struct arena arena;
		size_t n;

		for (uint32_t j = 0; j < 4; j++)
			terms[j] = model_word(rng_below(&m->rng, 60), bufs[j]);
		arena_init(&arena, 0);
		lexical_search(v, &q, &arena, &hits, &n, &e);
		arena_release(&arena);
		lexical_document_frequency(v, terms[0]);
	}
	lexical_view_unref(v);
	for (int64_t key = -5; key < 200; key += 3)
		assert_int_equal(lexical_remove(m->lx, key, NULL, 0, &e), ST_OK);
	lexical_publish(m->lx, 1000);
	lexical_freeze(m->lx);
	for (int i = 0; i < 5 && lexical_maintain(m->lx, NULL, &e); i++)
		;
	lexical_close(m->lx);
	return commit > 0;
}

static void test_hostile_files(void **state)
{
	struct model m;
	char names[MAX_FILES][32];
	struct blob file, list;
	int taken = 0;

	(void)state;
	make_index(&m, 28, 1);
	assert_int_equal(list_segments(m.dir, names), 1);
	file = read_blob(m.dir, names[0]);
	list = read_blob(m.dir, "segments.list");
	lexical_close(m.lx);
	for (int round = 0; round < HOSTILE_ROUNDS; round++) {
		struct blob bad = { malloc(file.n), file.n };
		uint32_t changes = 1 + rng_below(&m.rng, 8);

		assert_non_null(bad.p);
		memcpy(bad.p, file.p, file.n);
		for (uint32_t i = 0; i < changes; i++) {
			/* Half of them in the header, whose fields matter most. */
			size_t at = rng_below(&m.rng, 2) ? rng_below(&m.rng, (uint32_t)bad.n)
							 : 12 + rng_below(&m.rng, 240);

			bad.p[at] = rng_below(&m.rng, 3) ? (unsigned char)rng_next(&m.rng) : 0xff;
		}
		seal_blob(&bad, &list);
		write_blob(m.dir, names[0], bad.p, bad.n);
		write_blob(m.dir, "segments.list", list.p, list.n);
		taken += use_everything(&m);
		free(bad.p);
	}
	free(file.p);
	free(list.p);
	assert_true(taken > HOSTILE_ROUNDS / 4); /* or it was the checks at opening alone */
	model_open(&m, &(uint64_t){ 0 });
	model_release(&m);
}

/* ---- writes that fail ---- */

static void set_faults(const char *what)
{
	assert_int_equal(setenv("RCPD_FAULTS", what, 1), 0);
	assert_true(fault_setup());
}

#ifdef RCPD_FAULT_POINTS
static void test_failing_writes(void **state)
{
	static const char *const faults[] = { "lexical.segment.write=fail::1",
		"lexical.segment.rename=fail::1", "lexical.list.replace=fail::1",
		"lexical.merge=fail::1" };

	(void)state;
	for (size_t i = 0; i < (size_t)4 * 50; i++) {
		struct model m;
		struct error e = { 0 };
		bool failed = false;

		model_init(&m, 1000 + i, 40, 2);
		for (int round = 0; round < 4; round++) {
			for (int j = 0; j < 50; j++)
				model_add(&m);
			model_remove_some(&m);
			model_publish(&m);
			set_faults(faults[i % 4]);
			for (int j = 0; j < 6; j++) {
				memset(&e, 0, sizeof(e));
				lexical_maintain(m.lx, NULL, &e);
				failed |= e.code == ST_IO;
			}
			model_check(&m, 1);
		}
		assert_true(failed);
		set_faults("");
		model_maintain(&m);
		model_check(&m, 2);
		model_reopen(&m);
		model_check(&m, 2);
		model_release(&m);
	}
}
#endif

/* A full disk: files cannot grow. Searches and adds go on. */
static void test_folder_gone(void **state)
{
	struct model m;
	struct error e = { 0 };
	char moved[80];

	(void)state;
	model_init(&m, 31, 40, 2);
	for (int j = 0; j < 100; j++)
		model_add(&m);
	model_publish(&m);
	snprintf(moved, sizeof(moved), "%s-away", m.dir);
	assert_int_equal(rename(m.dir, moved), 0);
	assert_false(lexical_maintain(m.lx, NULL, &e));
	assert_int_equal(e.code, ST_IO);
	model_check(&m, 3);
	assert_int_equal(rename(moved, m.dir), 0);
	model_maintain(&m);
	assert_int_equal(model_reopen(&m), m.commit);
	model_check(&m, 3);
	model_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torn_segments),
		cmocka_unit_test(test_torn_list),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_left_over_files_go),
		cmocka_unit_test(test_pipes_are_not_read),
		cmocka_unit_test(test_links_are_not_written_through),
		cmocka_unit_test(test_long_chunks_fill_a_head),
		cmocka_unit_test(test_merged_files_go_with_their_views),
		cmocka_unit_test(test_hostile_files),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_failing_writes),
#endif
		cmocka_unit_test(test_folder_gone),
	};

	log_set_level(LOG_OFF); /* that fault points are on is no news here */
	set_faults("");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
