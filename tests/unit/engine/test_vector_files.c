/*
 * test_vector_files.c: files that are torn, gone, foreign, damaged or hostile, and writes
 * that fail: opening always succeeds and says what it has, replaying the rest makes the
 * index whole again, and nothing is read out of bounds.
 *
 * REQ: issue "checksums"; a full disk; fault points vector.*
 */
#include "vector_model.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/pack.h"
#include "engine/vector/segment.h"
#include "util/fault.h"
#include "util/log.h"

#define LIST_ENTRY 48 /* where the first entry of vectors.list begins */

struct blob {
	unsigned char *p;
	size_t n;
};

static void path_of(const struct vmodel *m, const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", m->dir, name);
}

static struct blob read_blob(const struct vmodel *m, const char *name)
{
	char path[128];
	struct stat sb;
	struct blob b;
	FILE *f;

	path_of(m, name, path);
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

static void write_blob(const struct vmodel *m, const char *name, const unsigned char *p, size_t n)
{
	char path[128];
	FILE *f;

	path_of(m, name, path);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static void segment_name(uint64_t id, char name[32])
{
	snprintf(name, 32, "vec-%016llx.seg", (unsigned long long)id);
}

/* Flat files 1 to 3 with deletes, or lists in the last of some files. */
static void make_index(struct vmodel *m, uint64_t seed, bool lists)
{
	vmodel_init(m, seed, 10, 100000, lists ? 250 : 100000);
	for (int i = 0; i < 3; i++) {
		for (int j = 0; j < 150; j++)
			vmodel_add(m);
		for (int j = 0; j < 20; j++)
			vmodel_remove_some(m);
		vmodel_publish(m);
		vectors_freeze(m->vs);
		vmodel_maintain(m);
	}
	vmodel_write_all(m);
}

/* Opens what is there now, replays, compares. Returns the commit reported. */
static uint64_t recover(struct vmodel *m)
{
	uint64_t commit;

	vmodel_open(m, &commit);
	assert_true(commit <= m->commit);
	vmodel_replay(m, commit);
	vmodel_check(m, 1, NULL);
	return commit;
}

static void test_torn_segments(void **state)
{
	struct vmodel m;
	struct blob files[3], list;
	char names[3][32];

	(void)state;
	make_index(&m, 21, false);
	list = read_blob(&m, "vectors.list");
	for (size_t i = 0; i < 3; i++) {
		segment_name(i + 1, names[i]);
		files[i] = read_blob(&m, names[i]);
	}
	for (size_t i = 0; i < 3; i++) {
		for (size_t cut = 0; cut <= files[i].n; cut += 2500) {
			char path[128];

			vectors_close(m.vs);
			for (size_t j = 0; j < 3; j++)
				write_blob(&m, names[j], files[j].p, files[j].n);
			write_blob(&m, "vectors.list", list.p, list.n);
			path_of(&m, names[i], path);
			if (cut == 0)
				assert_int_equal(unlink(path), 0);
			else
				write_blob(&m, names[i], files[i].p, cut - 1);
			assert_int_equal(recover(&m), i); /* what is before it is whole */
		}
	}
	for (size_t i = 0; i < 3; i++)
		free(files[i].p);
	free(list.p);
	vmodel_release(&m);
}

static void test_torn_list(void **state)
{
	struct vmodel m;
	struct blob files[3], list;
	char names[3][32];

	(void)state;
	make_index(&m, 22, false);
	list = read_blob(&m, "vectors.list");
	for (size_t i = 0; i < 3; i++) {
		segment_name(i + 1, names[i]);
		files[i] = read_blob(&m, names[i]);
	}
	for (size_t at = 0; at < list.n; at += 3) {
		vectors_close(m.vs);
		for (size_t j = 0; j < 3; j++)
			write_blob(&m, names[j], files[j].p, files[j].n);
		if (at % 2) {
			write_blob(&m, "vectors.list", list.p, at);
		} else {
			list.p[at] ^= 0x10;
			write_blob(&m, "vectors.list", list.p, list.n);
			list.p[at] ^= 0x10;
		}
		assert_int_equal(recover(&m), 0);
	}
	for (size_t i = 0; i < 3; i++)
		free(files[i].p);
	free(list.p);
	vmodel_release(&m);
}

/* Flipped bytes anywhere are noticed by a checksum. */
static void test_flipped_bytes(void **state)
{
	struct vmodel m;
	struct vectors_view *v;
	struct vectors_stats stats;
	struct blob file;
	char name[32];
	uint64_t id = 1;

	(void)state;
	make_index(&m, 23, true);
	v = vectors_view_get(m.vs);
	vectors_view_stats(v, &stats);
	vectors_view_unref(v);
	assert_true(stats.lists > 0);
	segment_name(id, name);
	for (char path[128]; path_of(&m, name, path), access(path, R_OK) != 0; id++)
		segment_name(id + 1, name);
	file = read_blob(&m, name);
	for (size_t at = 0; at < file.n; at += 1 + file.n / 300) {
		struct vec_segment *seg;
		struct error e = { 0 };

		file.p[at] ^= 1;
		write_blob(&m, name, file.p, file.n);
		file.p[at] ^= 1;
		/* Padding between sections is not covered, and not read either. */
		if (vec_segment_open(m.dir, id, 10, &seg, &e) == ST_OK)
			vec_segment_unref(seg);
		else
			assert_true(e.code == ST_CORRUPT || e.code == ST_FUTURE);
	}
	write_blob(&m, name, file.p, file.n);
	free(file.p);
	vmodel_release(&m);
}

static void open_another(struct vmodel *m, const char *identity, size_t dimension)
{
	struct vectors_options opt = { .dir = m->dir,
		.identity = bytes_of(identity),
		.dimension = dimension };
	uint64_t commit = 1;
	struct vectors *vs;

	vectors_close(m->vs);
	assert_int_equal(vectors_open(&opt, &vs, &commit, NULL), ST_OK);
	assert_int_equal(commit, 0);
	assert_int_equal(vectors_last_key(vs), INT64_MIN);
	vectors_close(vs);
	assert_int_equal(recover(m), 0); /* and its files were dropped */
}

static void test_foreign_files(void **state)
{
	struct vmodel a, b;
	struct vectors_options opt = { .dir = ".", .dimension = VECTORS_MAX_DIMENSION + 1 };
	struct blob file;
	struct error e;

	(void)state;
	make_index(&a, 24, false);
	make_index(&b, 25, false);
	/* Another index's segment under the right name. */
	vectors_close(a.vs);
	file = read_blob(&b, "vec-0000000000000002.seg");
	write_blob(&a, "vec-0000000000000002.seg", file.p, file.n);
	free(file.p);
	assert_int_equal(recover(&a), 1);
	open_another(&b, "another", 10);
	vmodel_write_all(&b);
	open_another(&b, "model", 11);
	assert_int_equal(vectors_open(&opt, &a.vs, NULL, &e), ST_INVALID);
	vmodel_release(&a);
	vmodel_release(&b);
}

/* In the place of a file; nobody writes into it. */
static void put_pipe(struct vmodel *m, const char *name)
{
	char path[128];

	vectors_close(m->vs);
	path_of(m, name, path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(recover(m), 0);
}

static void test_left_over_and_odd_files(void **state)
{
	struct vmodel m;
	struct blob b;
	char path[128], name[32];

	(void)state;
	make_index(&m, 26, false);
	write_blob(&m, "vec-00000000000000ff.seg", (const unsigned char *)"x", 1);
	write_blob(&m, "vec-0000000000000009.seg.tmp", (const unsigned char *)"x", 1);
	write_blob(&m, "notes.txt", (const unsigned char *)"kept", 4);
	path_of(&m, "vectors.list.tmp", path);
	assert_int_equal(symlink("notes.txt", path), 0);
	vmodel_reopen(&m);
	path_of(&m, "vec-00000000000000ff.seg", path);
	assert_int_equal(access(path, F_OK), -1);
	path_of(&m, "vec-0000000000000009.seg.tmp", path);
	assert_int_equal(access(path, F_OK), -1);
	/* Links are not written through, pipes not waited for. */
	path_of(&m, "vec-0000000000000004.seg.tmp", path);
	assert_int_equal(symlink("notes.txt", path), 0);
	path_of(&m, "vectors.list.tmp", path);
	assert_int_equal(mkfifo(path, 0600), 0);
	vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_write_all(&m);
	assert_int_equal(vmodel_reopen(&m), m.commit);
	vmodel_check(&m, 1, NULL);
	b = read_blob(&m, "notes.txt");
	assert_int_equal(b.n, 4);
	free(b.p);
	b = read_blob(&m, "vectors.list");
	segment_name(lex_get64(b.p + LIST_ENTRY), name);
	free(b.p);
	put_pipe(&m, name);
	put_pipe(&m, "vectors.list");
	vmodel_release(&m);
}

/* ---- files that are wrong but for their checksums ---- */

static void seal_section(struct blob *b, size_t i)
{
	unsigned char *h = b->p + VEC_H_SECTIONS + i * VEC_H_SECTION_BYTES;
	uint64_t at = lex_get64(h), left = lex_get64(h + 8), sum = i;

	if (at > b->n || left > b->n - at)
		return;
	for (size_t n; left > 0; left -= n, at += n) {
		n = left < VEC_PIECE ? left : VEC_PIECE;
		sum = lex_checksum(b->p + at, n, sum);
	}
	lex_put64(h + 16, sum);
}

/* Makes all checksums right again, in the list too. */
static void seal_blob(struct blob *b, struct blob *list)
{
	uint64_t sum;

	for (size_t i = 0; i < VEC_SECTIONS; i++)
		seal_section(b, i);
	sum = lex_checksum(b->p, VEC_H_CHECKSUM, VEC_FORMAT);
	lex_put64(b->p + VEC_H_CHECKSUM, sum);
	lex_put64(list->p + LIST_ENTRY + 8, sum);
	lex_put64(list->p + list->n - 8, lex_checksum(list->p, list->n - 8, 1));
}

/* Results are wrong, perhaps; that is all. */
static bool use_everything(struct vmodel *m)
{
	float query[10] = { 1, -2, 3 }, values[10];
	struct vectors_query q = { .values = query, .k = 50 };
	struct vectors_view *v;
	struct vectors_hit *hits;
	struct arena arena;
	struct error e = { 0 };
	uint64_t commit;
	size_t n;

	vmodel_open(m, &commit);
	v = vectors_view_get(m->vs);
	arena_init(&arena, 0);
	for (int i = 0; i < 2; i++) {
		q.exact = i;
		assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, &e), ST_OK);
	}
	arena_release(&arena);
	vectors_get(v, 5, values);
	vectors_view_unref(v);
	for (int64_t key = -100; key < 400; key += 3)
		assert_int_equal(vectors_remove(m->vs, key, &e), ST_OK);
	vectors_publish(m->vs, 1000);
	vectors_freeze(m->vs);
	for (int i = 0; i < 5 && vectors_maintain(m->vs, NULL, &e); i++)
		;
	vectors_close(m->vs);
	return commit > 0;
}

static void test_hostile_files(void **state)
{
	struct vmodel m;
	char name[32];
	struct blob file, list;
	uint64_t id;
	int taken = 0;

	(void)state;
	make_index(&m, 28, true);
	list = read_blob(&m, "vectors.list");
	id = lex_get64(list.p + LIST_ENTRY);
	segment_name(id, name);
	file = read_blob(&m, name);
	assert_true(lex_get32(file.p + VEC_H_LISTS) > 0);
	vectors_close(m.vs);
	for (int round = 0; round < 200; round++) {
		struct blob bad = { malloc(file.n), file.n };
		uint32_t changes = 1 + vrng_below(&m.rng, 4);

		assert_non_null(bad.p);
		memcpy(bad.p, file.p, file.n);
		for (uint32_t i = 0; i < changes; i++) {
			/* Some in the header, whose fields matter most. */
			size_t at = vrng_below(&m.rng, 3) ? vrng_below(&m.rng, (uint32_t)bad.n)
							  : 12 + vrng_below(&m.rng, 270);

			bad.p[at] = vrng_below(&m.rng, 3) ? (unsigned char)vrng_next(&m.rng) : 0x80;
		}
		seal_blob(&bad, &list);
		write_blob(&m, name, bad.p, bad.n);
		write_blob(&m, "vectors.list", list.p, list.n);
		taken += use_everything(&m);
		free(bad.p);
	}
	free(file.p);
	free(list.p);
	assert_true(taken > 40); /* or it was the checks at opening alone */
	vmodel_open(&m, &(uint64_t){ 0 });
	vmodel_release(&m);
}

/* ---- writes that fail ---- */

#ifdef RCPD_FAULT_POINTS
static void set_faults(const char *what)
{
	assert_int_equal(setenv("RCPD_FAULTS", what, 1), 0);
	assert_true(fault_setup());
}

static void test_failing_writes(void **state)
{
	static const char *const faults[] = { "vector.segment.write=fail:3:1",
		"vector.segment.rename=fail::1", "vector.list.replace=fail::1",
		"vector.lists=fail::1", "vector.install=fail::1" };

	(void)state;
	for (size_t i = 0; i < 10; i++) {
		struct vmodel m;
		struct error e = { 0 };
		bool failed = false;

		vmodel_init(&m, 1000 + i, 6, 60, 100);
		for (int round = 0; round < 4; round++) {
			for (int j = 0; j < 70; j++)
				vmodel_add(&m);
			vmodel_remove_some(&m);
			vmodel_publish(&m);
			set_faults(faults[i % 5]);
			for (int j = 0; j < 4; j++) {
				memset(&e, 0, sizeof(e));
				vectors_maintain(m.vs, NULL, &e);
				failed |= e.code == ST_IO;
			}
			/* A list that cannot be written: the lists go on waiting. */
			if (i % 5 == 2 && vectors_pending(m.vs)) {
				set_faults(faults[2]);
				vmodel_publish(&m);
				assert_true(vectors_pending(m.vs));
				vmodel_publish(&m);
				assert_false(vectors_pending(m.vs));
			}
			vmodel_check(&m, 1, NULL);
		}
		assert_true(failed);
		set_faults("");
		vmodel_maintain(&m);
		vmodel_check(&m, 1, NULL);
		vmodel_reopen(&m);
		vmodel_check(&m, 1, NULL);
		vmodel_release(&m);
	}
}
#endif

/* A full disk, as files of no more than so many bytes. Searches and adds go on. */
static void test_full_disk(void **state)
{
	struct rlimit before, tight;
	struct vmodel m;
	struct error e = { 0 };

	(void)state;
	vmodel_init(&m, 31, 20, 100, 200);
	for (int j = 0; j < 500; j++) {
		vmodel_add(&m);
		if (j % 100 == 99)
			vmodel_publish(&m);
	}
	assert_true(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	tight = before;
	for (rlim_t most = 0; most < 60000; most += 9000) {
		tight.rlim_cur = most;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
		memset(&e, 0, sizeof(e));
		while (vectors_maintain(m.vs, NULL, &e))
			;
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
		assert_true(e.code == ST_FULL || vectors_pending(m.vs) || most > 50000);
		vmodel_add(&m);
		vmodel_remove_some(&m);
		vmodel_publish(&m);
		vmodel_check(&m, 2, NULL);
	}
	vmodel_write_all(&m);
	assert_int_equal(vmodel_reopen(&m), m.commit);
	vmodel_check(&m, 2, NULL);
	vmodel_release(&m);
}

static void test_folder_gone(void **state)
{
	struct vmodel m;
	struct error e = { 0 };
	char moved[80];

	(void)state;
	vmodel_init(&m, 32, 5, 40, 1000);
	for (int j = 0; j < 100; j++)
		vmodel_add(&m);
	vmodel_publish(&m);
	snprintf(moved, sizeof(moved), "%s-away", m.dir);
	assert_int_equal(rename(m.dir, moved), 0);
	assert_false(vectors_maintain(m.vs, NULL, &e));
	assert_int_equal(e.code, ST_IO);
	vmodel_check(&m, 2, NULL);
	assert_int_equal(rename(moved, m.dir), 0);
	vmodel_maintain(&m);
	assert_int_equal(vmodel_reopen(&m), m.commit);
	vmodel_check(&m, 2, NULL);
	vmodel_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_torn_segments),
		cmocka_unit_test(test_torn_list),
		cmocka_unit_test(test_flipped_bytes),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_left_over_and_odd_files),
		cmocka_unit_test(test_hostile_files),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_failing_writes),
#endif
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_folder_gone),
	};

	log_set_level(LOG_OFF); /* that fault points are on is no news here */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
