/*
 * test_torn.c: whatever happens to the files of the index, opening the corpus gives the
 * hits and scores that it gave before: segments cut at every section and block, bytes
 * turned over in each section, the list cut and changed at every byte, files missing,
 * exchanged, older, or another corpus's. The rows are the truth. (REQ: issue "a torn or
 * deleted segment file", IDX-01, IDX-03)
 */
#include "durable.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"

#include "engine/lexical/header.h"
#include "engine/lexical/pack.h"
#include "engine/lexical/segment.h"
#include "util/clock.h"
#include "util/log.h"

#define LIST "index/segments.list"
#define BLOCK 4096
#define MAX_FILES 40
#define CALLS 150
#define MANY 400 /* further documents: several blocks of postings */

struct file {
	char name[120]; /* below the corpus's folder */
	unsigned char *data;
	size_t size;
};

/* A closed corpus: its files and what it answers. */
struct snapshot {
	struct file files[MAX_FILES];
	size_t count;
	struct answers answers;
	char dir[DURABLE_PATH]; /* where it is put */
	unsigned opened;
};

/* ---- files ---- */

static void read_file(const char *dir, const char *name, struct file *ret)
{
	char path[DURABLE_PATH + 130];
	struct stat sb;
	FILE *f;

	snprintf(ret->name, sizeof(ret->name), "%s", name);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &sb), 0);
	ret->size = (size_t)sb.st_size;
	ret->data = malloc(ret->size + 1);
	assert_non_null(ret->data);
	assert_int_equal(fread(ret->data, 1, ret->size, f), ret->size);
	fclose(f);
}

static void write_file(const char *dir, const char *name, const void *data, size_t size)
{
	char path[DURABLE_PATH + 130];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(data, 1, size, f), size);
	assert_int_equal(fclose(f), 0);
}

static void remove_file(const char *dir, const char *name)
{
	char path[DURABLE_PATH + 130];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(unlink(path), 0);
}

static void take_folder(struct snapshot *s, const char *below)
{
	char path[DURABLE_PATH + 130], name[120];
	struct dirent **found;
	int n;

	snprintf(path, sizeof(path), "%s/%s", s->dir, below);
	n = scandir(path, &found, NULL, alphasort);
	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "%s%.60s", below, found[i]->d_name);
		if (strstr(name, ".db") || strstr(name, ".seg") || strcmp(name, LIST) == 0) {
			assert_true(s->count < MAX_FILES);
			read_file(s->dir, name, &s->files[s->count++]);
		}
		free(found[i]);
	}
	free(found);
}

static void take_files(struct snapshot *s)
{
	take_folder(s, "");
	take_folder(s, "index/");
}

static void put_files(const struct snapshot *s)
{
	char path[DURABLE_PATH + 8];

	durable_remove(s->dir);
	assert_int_equal(mkdir(s->dir, 0700), 0);
	snprintf(path, sizeof(path), "%s/index", s->dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (size_t i = 0; i < s->count; i++)
		write_file(s->dir, s->files[i].name, s->files[i].data, s->files[i].size);
}

static const struct file *file_named(const struct snapshot *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->files[i].name, name) == 0)
			return &s->files[i];
	fail_msg("there is no %s", name);
	return NULL;
}

static bool is_segment(const struct file *f)
{
	return strstr(f->name, ".seg") != NULL;
}

static void release(struct snapshot *s)
{
	durable_remove(s->dir);
	for (size_t i = 0; i < s->count; i++)
		free(s->files[i].data);
	free(s);
}

/* ---- the corpus ---- */

static struct engine *open_corpus(const char *dir)
{
	struct engine *en;
	struct error e;

	if (durable_open(dir, &en, &e))
		fail_msg("%s (%s)", e.message, e.detail);
	return en;
}

static void call(struct engine *en, int writer, int number)
{
	struct engine_commit commit;
	struct error e;

	if (durable_call(en, writer, number, &commit, &e))
		fail_msg("%s (%s)", e.message, e.detail);
}

/* The same ids with another version replace what they had by as many chunks. */
static void add_many(struct engine *en, unsigned first, unsigned n, unsigned version)
{
	struct engine_document docs[MANY];
	char ids[MANY][32], texts[MANY][200];
	struct engine_commit commit;
	struct arena arena;
	struct error e;

	arena_init(&arena, 0);
	for (unsigned i = 0; i < n; i++) {
		unsigned x = (first + i + version * 10007) * 2654435761U;

		snprintf(ids[i], sizeof(ids[i]), "many%u", first + i);
		snprintf(texts[i], sizeof(texts[i]), "plain %s number%u %s word%u %s",
			x & 64 ? "river" : "stone", first + i, x & 256 ? "market winter" : "paper",
			x >> 20, x & 4096 ? "bridge" : "lantern lantern");
		docs[i] = (struct engine_document){ .id = bytes_of(ids[i]),
			.text = bytes_of(texts[i]),
			.lang = bytes_of("en") };
	}
	if (engine_add(en, docs, n, NULL, NULL, &arena, &commit, &e))
		fail_msg("%s (%s)", e.message, e.detail);
	arena_release(&arena);
}

/* Segments of several sizes, with deleted documents, swept or not, in most of them. */
static struct snapshot *make_corpus(int first_call)
{
	struct snapshot *s = calloc(1, sizeof(*s));
	struct engine *en;

	assert_non_null(s);
	log_setup(LOG_FORMAT_TEXT, LOG_OFF);
	durable_make_dir(s->dir);
	en = open_corpus(s->dir);
	add_many(en, 0, MANY, 0);
	for (int i = first_call; i < first_call + CALLS; i++) {
		call(en, i % WRITERS, i);
		if (i % 8 == 0)
			add_many(en, MANY + (unsigned)i, 3, 0);
	}
	engine_close(en);
	en = open_corpus(s->dir);
	durable_answers(en, &s->answers);
	assert_true(s->answers.n > 100);
	engine_close(en);
	take_files(s);
	return s;
}

static unsigned count_segments(const struct snapshot *s)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->count; i++)
		n += is_segment(&s->files[i]);
	return n;
}

/* Opens what is there now; now and then a second time, after it has been mended. */
static void expect_the_same(struct snapshot *s, const char *what, size_t at)
{
	unsigned times = s->opened++ % 8 == 0 ? 2 : 1;
	static struct answers now;

	for (unsigned i = 0; i < times; i++) {
		struct engine *en = open_corpus(s->dir);

		durable_answers(en, &now);
		engine_close(en);
		if (memcmp(&now, &s->answers, sizeof(now)) != 0)
			fail_msg("%s at %zu: other answers (%u, not %u)", what, at, now.n,
				s->answers.n);
	}
	if (times > 1)
		durable_check_rows(s->dir);
}

/* ---- segments ---- */

static void cut(struct snapshot *s, const struct file *f, size_t size)
{
	if (size >= f->size)
		return;
	put_files(s);
	write_file(s->dir, f->name, f->data, size);
	expect_the_same(s, f->name, size);
}

static void turn_over(struct snapshot *s, const struct file *f, size_t at)
{
	if (at >= f->size)
		return;
	put_files(s);
	f->data[at] ^= 0x40;
	write_file(s->dir, f->name, f->data, f->size);
	f->data[at] ^= 0x40;
	expect_the_same(s, f->name, at);
}

static size_t section_at(const struct file *f, unsigned section, size_t *ret_n)
{
	const unsigned char *h = f->data + LEX_H_SECTIONS + section * LEX_H_SECTION_BYTES;

	*ret_n = (size_t)lex_get64(h + 8);
	return (size_t)lex_get64(h);
}

static void test_cut_segments(void **state)
{
	struct snapshot *s = make_corpus(0);

	(void)state;
	srandom(5);
	assert_true(count_segments(s) >= 3);
	for (size_t i = 0; i < s->count; i++) {
		const struct file *f = &s->files[i];
		size_t n;

		if (!is_segment(f))
			continue;
		for (unsigned section = 0; section < LEX_SECTIONS; section++) {
			size_t at = section_at(f, section, &n);

			cut(s, f, at);
			cut(s, f, at + n / 2);
			cut(s, f, at + n);
		}
		for (size_t at = 0; at < f->size; at += BLOCK)
			cut(s, f, at);
		for (int j = 0; j < 6; j++)
			cut(s, f, (size_t)random() % f->size);
		cut(s, f, 1);
		cut(s, f, LEX_HEADER_BYTES - 1);
		cut(s, f, f->size - 1);
	}
	print_message("%u segments, opened %u times\n", count_segments(s), s->opened);
	release(s);
}

static void test_changed_segments(void **state)
{
	struct snapshot *s = make_corpus(1000);

	(void)state;
	for (size_t i = 0; i < s->count; i++) {
		const struct file *f = &s->files[i];
		size_t n;

		if (!is_segment(f))
			continue;
		for (unsigned section = 0; section < LEX_SECTIONS; section++) {
			size_t at = section_at(f, section, &n);

			if (n == 0)
				continue;
			turn_over(s, f, at);
			turn_over(s, f, at + n / 3);
			turn_over(s, f, at + n - 1);
		}
		for (size_t at = 0; at < LEX_HEADER_BYTES; at += 37)
			turn_over(s, f, at);
	}
	print_message("%u segments, opened %u times\n", count_segments(s), s->opened);
	release(s);
}

/* ---- the list ---- */

static void test_torn_list(void **state)
{
	struct snapshot *s = make_corpus(2000);
	const struct file *list = file_named(s, LIST);

	(void)state;
	for (size_t at = 0; at < list->size; at++)
		cut(s, list, at);
	for (size_t at = 0; at < list->size; at += 5)
		turn_over(s, list, at);
	print_message("%zu bytes, opened %u times\n", list->size, s->opened);
	release(s);
}

/* ---- files that are gone, or others ---- */

static void test_missing_files(void **state)
{
	struct snapshot *s = make_corpus(3000);

	(void)state;
	for (size_t i = 0; i < s->count; i++) {
		if (strncmp(s->files[i].name, "index/", 6) != 0)
			continue;
		put_files(s);
		remove_file(s->dir, s->files[i].name);
		expect_the_same(s, s->files[i].name, 0);
	}
	put_files(s);
	for (size_t i = 0; i < s->count; i++)
		if (is_segment(&s->files[i]))
			remove_file(s->dir, s->files[i].name);
	expect_the_same(s, "all segments missing", 0);
	release(s);
}

/* Each segment under the name of each other one. */
static void test_exchanged_segments(void **state)
{
	struct snapshot *s = make_corpus(4000);

	(void)state;
	for (size_t i = 0; i < s->count; i++) {
		for (size_t j = 0; j < s->count; j++) {
			if (i == j || !is_segment(&s->files[i]) || !is_segment(&s->files[j]))
				continue;
			put_files(s);
			write_file(s->dir, s->files[i].name, s->files[j].data, s->files[j].size);
			expect_the_same(s, s->files[i].name, j);
		}
	}
	release(s);
}

/* The index of another corpus, as a whole and file by file. */
static void test_foreign_files(void **state)
{
	struct snapshot *s = make_corpus(5000), *other = make_corpus(6000);

	(void)state;
	for (size_t i = 0; i < other->count; i++) {
		if (strncmp(other->files[i].name, "index/", 6) != 0)
			continue;
		put_files(s);
		write_file(s->dir, other->files[i].name, other->files[i].data,
			other->files[i].size);
		expect_the_same(s, other->files[i].name, 0);
	}
	put_files(s);
	for (size_t i = 0; i < other->count; i++)
		if (strncmp(other->files[i].name, "index/", 6) == 0)
			write_file(s->dir, other->files[i].name, other->files[i].data,
				other->files[i].size);
	expect_the_same(s, "another index", 0);
	release(s);
	release(other);
}

/* The index as it was before: a copy of the folder that was not made at one instant. What
 * has died since may have been swept, so that no row tells of it any more. */
static void test_older_index(void **state)
{
	struct snapshot *before = make_corpus(7000), *s;
	struct engine *en;

	(void)state;
	for (int round = 1; round <= 4; round++) {
		put_files(before);
		en = open_corpus(before->dir);
		for (int i = 0; i < round * 20; i++)
			call(en, i % WRITERS, 7000 + CALLS + i);
		clock_sleep_ms(50); /* for the keeper to sweep */
		engine_close(en);
		s = calloc(1, sizeof(*s));
		assert_non_null(s);
		memcpy(s->dir, before->dir, sizeof(s->dir));
		en = open_corpus(s->dir);
		durable_answers(en, &s->answers);
		engine_close(en);
		take_files(s);
		put_files(s);
		for (size_t i = 0; i < before->count; i++)
			if (strncmp(before->files[i].name, "index/", 6) == 0)
				write_file(s->dir, before->files[i].name, before->files[i].data,
					before->files[i].size);
		expect_the_same(s, "an older index", (size_t)round);
		/* Only the list is older: it names segments that are not there any more. */
		put_files(s);
		write_file(s->dir, LIST, file_named(before, LIST)->data,
			file_named(before, LIST)->size);
		expect_the_same(s, "an older list", (size_t)round);
		release(s);
	}
	release(before);
}

/* And as it was later, the rows having gone back to a backup: with other documents, and
 * with as many of them. */
static void test_newer_index(void **state)
{
	struct snapshot *s = make_corpus(8000), *later;
	struct engine *en;

	(void)state;
	for (int same_count = 0; same_count <= 1; same_count++) {
		put_files(s);
		en = open_corpus(s->dir);
		if (same_count)
			add_many(en, 10, 40, 1);
		for (int i = 0; !same_count && i < 40; i++)
			call(en, i % WRITERS, 8000 + CALLS + i);
		engine_close(en);
		later = calloc(1, sizeof(*later));
		assert_non_null(later);
		memcpy(later->dir, s->dir, sizeof(s->dir));
		take_files(later);
		put_files(s);
		for (size_t i = 0; i < later->count; i++)
			if (strncmp(later->files[i].name, "index/", 6) == 0)
				write_file(s->dir, later->files[i].name, later->files[i].data,
					later->files[i].size);
		expect_the_same(s, "a newer index", (size_t)same_count);
		release(later);
	}
	release(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut_segments),
		cmocka_unit_test(test_changed_segments),
		cmocka_unit_test(test_torn_list),
		cmocka_unit_test(test_missing_files),
		cmocka_unit_test(test_exchanged_segments),
		cmocka_unit_test(test_foreign_files),
		cmocka_unit_test(test_older_index),
		cmocka_unit_test(test_newer_index),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
