/*
 * test_static.c: safetensors files, static tables and MaxSim: what is refused, and small
 * cases that can be reckoned by hand. Against numpy: tests/conformance/test_tokenizer.py.
 */
#include "../unit.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/maxsim.h"
#include "models/safetensors.h"
#include "util/mem.h"
#include "util/strbuf.h"

static const char tokenizer[] =
	"{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{\"type\":\"WordPiece\","
	"\"unk_token\":\"u\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":9,"
	"\"vocab\":{\"u\":0,\"a\":1,\"b\":2,\"c\":3}}}";

/* A file of a header and data. */
static struct bytes file_of(struct strbuf *sb, const char *header, const void *data, size_t n)
{
	uint64_t len = strlen(header);

	strbuf_reset(sb);
	strbuf_add(sb, &len, 8);
	strbuf_adds(sb, header);
	strbuf_add(sb, data, n);
	assert_true(strbuf_ok(sb));
	return (struct bytes){ sb->data, sb->len };
}

#define F32(name, shape, end)                                                                      \
	"\"" name "\":{\"dtype\":\"F32\",\"shape\":[" shape "],\"data_offsets\":[0," end "]}"
static const char table_header[] = "{" F32("embeddings", "4,2", "32") "}";
static const float rows[4][2] = { { 9, 9 }, { 3, 4 }, { 0, -2 }, { 0, 0 } };

static struct static_model *model_of(struct strbuf *sb, const char *header, const void *data,
	size_t n)
{
	struct static_model *m = NULL;
	struct error e = { 0 };

	if (static_model_read(bytes_of(tokenizer), file_of(sb, header, data, n), BYTES_NONE, &m,
		    &e) != ST_OK)
		fail_msg("%s", e.message);
	return m;
}

static void expect(const struct static_model *m, const char *text, float x, float y)
{
	struct error e;
	float out[2];

	assert_int_equal(static_model_embed(m, bytes_of(text), out, &e), ST_OK);
	assert_true(fabsf(out[0] - x) < 1e-6f && fabsf(out[1] - y) < 1e-6f);
}

static void test_mean(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct static_model *m = model_of(&sb, table_header, rows, sizeof rows);
	float v[2];

	(void)state;
	expect(m, "a", 0.6f, 0.8f);
	expect(m, "a b", 0.832050f, 0.554700f); /* (3, 2) */
	expect(m, "b zz b", 0, -1);             /* unknown words are left out */
	expect(m, "zz", 0, 0);
	expect(m, "", 0, 0);
	expect(m, "c", 0, 0);
	assert_int_equal(static_model_dimension(m), 2);
	assert_int_equal(static_model_vocabulary(m), 4);
	assert_true(static_model_token(m, 1, v) == 5 && fabsf(v[0] - 0.6f) < 1e-6f);
	assert_true(static_model_token(m, 3, v) == 0 && v[0] == 0 && v[1] == 0);
	assert_memory_equal(static_model_identity(m), "static@", 7);
	assert_int_equal(strlen(static_model_identity(m)), 19);
	assert_non_null(static_model_tokenizer(m));
	static_model_close(m);
	static_model_close(NULL);
	strbuf_release(&sb);
}

/* int8 with scales, weights by token, rows by a mapping. */
static void test_layout(void **state)
{
	static const char header[] =
		"{\"__metadata__\":{\"x\":\"y\"},"
		"\"embedding.weight\":{\"dtype\":\"I8\",\"shape\":[2,2],\"data_offsets\":[0,4]},"
		"\"scales\":{\"dtype\":\"F16\",\"shape\":[2],\"data_offsets\":[4,8]},"
		"\"weights\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[8,24]},"
		"\"mapping\":{\"dtype\":\"I64\",\"shape\":[4],\"data_offsets\":[24,56]}}";
	const signed char q[4] = { 3, 4, 0, -127 };
	const uint16_t scales[2] = { 0x3C00, 0x3800 }; /* 1, 0.5 */
	const float weights[4] = { 1, 2, 1, 0 };
	const int64_t mapping[4] = { 0, 0, 1, 1 };
	struct strbuf data = STRBUF_INIT, sb = STRBUF_INIT;
	struct static_model *m;
	float v[2];

	(void)state;
	strbuf_add(&data, q, 4);
	strbuf_add(&data, scales, 4);
	strbuf_add(&data, weights, 16);
	strbuf_add(&data, mapping, 32);
	m = model_of(&sb, header, data.data, data.len);
	assert_true(static_model_token(m, 1, v) == 10);
	assert_true(static_model_token(m, 2, v) == 63.5f && v[1] == -1);
	assert_true(static_model_token(m, 3, v) == 0); /* its weight */
	expect(m, "c", 0, 0);
	expect(m, "a b", 0.107482f, -0.994207f); /* (6, 8 - 63.5) */
	static_model_close(m);
	strbuf_release(&data);
	strbuf_release(&sb);
}

#define AT(type, shape, offsets)                                                                   \
	"{\"embeddings\":{\"dtype\":\"" type "\",\"shape\":[" shape "],\"data_offsets\":[" offsets \
	"]}}"

static const struct {
	const char *header, *message;
} refused[] = {
	{ "[]", "no JSON object" },
	{ "{", "no JSON" },
	{ "{}", "no tensor 'embeddings'" },
	{ "{\"embeddings\":7}", "type" },
	{ AT("BF16", "4,2", "0,32"), "type" },
	{ AT("F32", "4,2,1", "0,32"), "shape" },
	{ AT("F32", "", "0,32"), "shape" },
	{ AT("F32", "-4,2", "0,32"), "shape" },
	{ AT("F32", "4,99999999999", "0,32"), "shape" },
	{ AT("F32", "4.0,2", "0,32"), "shape" },
	{ AT("F32", "4,2", "0,64"), "does not fit" },
	{ AT("F32", "4,2", "32,0"), "does not fit" },
	{ AT("F32", "4,2", "0,31"), "does not fit" },
	{ AT("F32", "4,2", "0,32,0"), "does not fit" },
	{ AT("F32", "4,2", "8,32"), "does not fit" },
	{ AT("F32", "3,2", "0,24"), "3 rows for 4 tokens" },
	{ AT("F32", "4,0", "0,0"), "dimensions" },
	{ AT("I64", "2,2", "0,32"), "dimensions" },
	{ "{" F32("embeddings", "4,2", "32") ",\"weights\":{}}", "'weights' is of a type" },
	{ "{" F32("embeddings", "4,2", "32") "," F32("weights", "3", "12") "}",
		"one number a row" },
	{ "{" F32("embeddings", "4,2", "32") "," F32("mapping", "4", "16") "}", "one int64" },
	{ "{" F32("embeddings", "4,2", "32") ",\"mapping\":{\"dtype\":\"I64\",\"shape\":[4],"
					     "\"data_offsets\":[0,32]}}",
		"out of the table" },
	{ "{" F32("embeddings", "4,2", "32") ",\"mapping\":[]}", "'mapping' is of a type" },
};

static void test_refused(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct static_model *m = NULL;
	struct error e = { 0 };
	float bad[4][2] = { { 1, 2 }, { 3, NAN }, { 1, 1 }, { 1, 1 } };

	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct bytes file = file_of(&sb, refused[i].header, rows, sizeof rows);

		assert_int_equal(static_model_read(bytes_of(tokenizer), file, BYTES_NONE, &m, &e),
			ST_INVALID);
		assert_null(m);
		if (!strstr(e.message, refused[i].message))
			fail_msg("%s: '%s' has no '%s'", refused[i].header, e.message,
				refused[i].message);
	}
	assert_int_equal(static_model_read(bytes_of(tokenizer),
				 file_of(&sb, table_header, bad, sizeof bad), BYTES_NONE, &m, &e),
		ST_INVALID);
	assert_non_null(strstr(e.message, "row 1 is not finite"));
	bad[1][1] = 1;
	assert_int_equal(static_model_read(bytes_of("{}"),
				 file_of(&sb, table_header, bad, sizeof bad), BYTES_NONE, &m, &e),
		ST_INVALID);
	assert_non_null(strstr(e.message, "tokenizer.json: model"));
	/* Cut off anywhere in the header. */
	for (size_t n = 0; n < 8 + sizeof table_header - 1; n++)
		assert_int_equal(static_model_read(bytes_of(tokenizer),
					 (struct bytes){ sb.data, n }, BYTES_NONE, &m, &e),
			ST_INVALID);
	strbuf_release(&sb);
}

static void test_config(void **state)
{
	static const struct {
		const char *config, *message;
	} bad[] = { { "", "no JSON" }, { "[]", "no JSON object" },
		{ "{\"normalize\":1}", "'normalize'" }, { "{\"name\":1}", "'name'" },
		{ "{\"name\":\"\"}", "'name'" }, { "{\"name\":\"a b\"}", "'name'" } };
	struct strbuf sb = STRBUF_INIT;
	struct bytes file = file_of(&sb, table_header, rows, sizeof rows);
	struct static_model *m = NULL;
	struct error e;
	char first[64];

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		assert_int_equal(static_model_read(bytes_of(tokenizer), file,
					 bytes_of(bad[i].config), &m, &e),
			ST_INVALID);
		assert_non_null(strstr(e.message, bad[i].message));
	}
	assert_int_equal(static_model_read(bytes_of(tokenizer), file,
				 bytes_of("{\"name\":\"mine\",\"normalize\":true}"), &m, &e),
		ST_OK);
	assert_memory_equal(static_model_identity(m), "mine@", 5);
	(void)snprintf(first, sizeof first, "%s", static_model_identity(m));
	static_model_close(m);
	/* Other numbers, another name. */
	sb.data[sb.len - 1] ^= 1;
	assert_int_equal(static_model_read(bytes_of(tokenizer), file,
				 bytes_of("{\"name\":\"mine\",\"normalize\":true}"), &m, &e),
		ST_OK);
	assert_string_not_equal(static_model_identity(m), first);
	static_model_close(m);
	strbuf_release(&sb);
}

static void write_file(const char *dir, const char *name, struct bytes b)
{
	char path[300];
	FILE *f;

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.data, 1, b.len, f), b.len);
	assert_int_equal(fclose(f), 0);
}

static void remove_file(const char *dir, const char *name)
{
	char path[300];

	(void)snprintf(path, sizeof path, "%s/%s", dir, name);
	(void)remove(path);
}

static void test_folder(void **state)
{
	char dir[] = "/tmp/static.XXXXXX", path[300];
	struct strbuf sb = STRBUF_INIT;
	struct static_model *m = NULL;
	struct error e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(static_model_open(dir, &m, &e), ST_NOT_FOUND);
	write_file(dir, "tokenizer.json", bytes_of(tokenizer));
	assert_int_equal(static_model_open(dir, &m, &e), ST_NOT_FOUND);
	assert_non_null(strstr(e.message, "model.safetensors"));
	write_file(dir, "model.safetensors", file_of(&sb, table_header, rows, sizeof rows));
	assert_int_equal(static_model_open(dir, &m, &e), ST_OK);
	expect(m, "a b", 0.832050f, 0.554700f);
	static_model_close(m);
	write_file(dir, "config.json", bytes_of("{}"));
	assert_int_equal(static_model_open(dir, &m, &e), ST_OK);
	static_model_close(m);
	write_file(dir, "config.json", bytes_of("7"));
	assert_int_equal(static_model_open(dir, &m, &e), ST_INVALID);
	remove_file(dir, "config.json");
	(void)snprintf(path, sizeof path, "%s/config.json", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(static_model_open(dir, &m, &e), ST_IO);
	assert_null(m);
	assert_int_equal(rmdir(path), 0);
	remove_file(dir, "tokenizer.json");
	remove_file(dir, "model.safetensors");
	assert_int_equal(rmdir(dir), 0);
	strbuf_release(&sb);
}

static double score(const struct static_model *m, const char *query, const char *passage)
{
	struct maxsim_query *q;
	struct arena arena;
	struct error e;
	double s = -1;

	arena_init(&arena, 0);
	assert_int_equal(maxsim_query_new(m, NULL, bytes_of(query), &arena, &q, &e), ST_OK);
	assert_int_equal(maxsim_add(q, bytes_of(passage), &e), ST_OK);
	maxsim_scores(q, &s);
	arena_release(&arena);
	return s;
}

static void test_maxsim(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct static_model *m = model_of(&sb, table_header, rows, sizeof rows);
	struct maxsim_tokens t;
	struct arena arena;
	struct error e;
	double s;

	(void)state;
	assert_true(score(m, "a", "b a zz") > 0.999999);
	assert_true(score(m, "a", "b") == 0); /* they point away from each other */
	assert_true(score(m, "a", "") == 0 && score(m, "zz", "a") == 0 && score(m, "c", "c") == 0);
	/* a weighs 5 and finds itself, b weighs 2 and finds nothing near; a is in the only
	 * passage, b in none: their idf. */
	s = score(m, "a b", "a a a");
	assert_true(fabs(s - 5 * log(4.0 / 3) / (5 * log(4.0 / 3) + 2 * log(4))) < 1e-6);
	assert_true(score(m, "a a a a a a a a a a a a a a a a a a b", "b") > 0);
	arena_init(&arena, 0);
	assert_int_equal(maxsim_tokens(m, bytes_of("b zz c a b"), &arena, &t, &e), ST_OK);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.dimension, 2);
	assert_true(t.ids[0] == 2 && t.ids[1] == 1 && t.ids[2] == 2);
	assert_true(t.vectors[1] == -1 && t.weights[0] == 2 && t.weights[1] == 5);
	arena_release(&arena);
	static_model_close(m);
	strbuf_release(&sb);
}

/* Passages are judged together: what all of them have counts little. */
static void test_maxsim_together(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct static_model *m = model_of(&sb, table_header, rows, sizeof rows);
	struct maxsim_query *q;
	struct arena arena;
	struct error e;
	double s[3], wa = 5 * log(1 + 1.5 / 2.5), wb = 2 * log(1 + 2.5 / 1.5);

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(maxsim_query_new(m, NULL, bytes_of("a b"), &arena, &q, &e), ST_OK);
	assert_int_equal(maxsim_add(q, bytes_of("a"), &e), ST_OK);
	assert_int_equal(maxsim_add(q, bytes_of("b"), &e), ST_OK);
	assert_int_equal(maxsim_add(q, bytes_of("a a"), &e), ST_OK);
	maxsim_scores(q, s);
	assert_true(fabs(s[0] - wa / (wa + wb)) < 1e-6);
	assert_true(fabs(s[1] - wb / (wa + wb)) < 1e-6);
	assert_true(s[2] == s[0]);
	arena_release(&arena);
	static_model_close(m);
	strbuf_release(&sb);
}

static void test_token_limit(void **state)
{
	struct strbuf sb = STRBUF_INIT, text = STRBUF_INIT;
	struct static_model *m = model_of(&sb, table_header, rows, sizeof rows);
	struct maxsim_tokens t;
	struct arena arena;
	struct error e;
	float out[2];

	(void)state;
	for (size_t i = 0; i < STATIC_MAX_TEXT / 2 + 5; i++)
		strbuf_adds(&text, "a ");
	strbuf_adds(&text, "b b b b b b b b b b");
	arena_init(&arena, 0);
	assert_int_equal(maxsim_tokens(m, (struct bytes){ text.data, text.len }, &arena, &t, &e),
		ST_OK);
	assert_int_equal(t.n, MAXSIM_MAX_TOKENS);
	assert_int_equal(static_model_embed(m, (struct bytes){ text.data, text.len }, out, &e),
		ST_OK);
	assert_true(fabsf(out[0] - 0.6f) < 1e-6f); /* what is too much does not count */
	arena_release(&arena);
	static_model_close(m);
	strbuf_release(&text);
	strbuf_release(&sb);
}

static enum status all_of_it(struct bytes file, double *s)
{
	struct static_model *m = NULL;
	struct maxsim_query *q;
	struct arena arena;
	struct error e;
	float out[2];
	enum status st = static_model_read(bytes_of(tokenizer), file, bytes_of("{}"), &m, &e);

	arena_init(&arena, 0);
	if (st == ST_OK)
		st = static_model_embed(m, bytes_of("a b"), out, &e);
	if (st == ST_OK)
		st = maxsim_query_new(m, NULL, bytes_of("a b"), &arena, &q, &e);
	if (st == ST_OK)
		st = maxsim_add(q, bytes_of("a"), &e);
	if (st == ST_OK)
		maxsim_scores(q, s);
	arena_release(&arena);
	static_model_close(m);
	return st;
}

static void test_out_of_memory(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct bytes file = file_of(&sb,
		"{" F32("embeddings", "4,2", "32") "," F32("weights", "4", "16") "}", rows,
		sizeof rows);
	enum status st = ST_NOMEM;
	double s = 0;
	long i;

	(void)state;
	json_set_alloc_funcs(mem_alloc, mem_free);
	for (i = 0; st != ST_OK && i < 1000; i++) {
		mem_fail_after(i);
		st = all_of_it(file, &s);
		mem_fail_after(-1);
		assert_true(st == ST_OK || st == ST_NOMEM || st == ST_INVALID);
	}
	json_set_alloc_funcs(malloc, free);
	assert_int_equal(st, ST_OK);
	assert_true(i > 40 && s > 0);
	strbuf_release(&sb);
}

/* The one that is in the program. REQ: X1 */
static void test_builtin(void **state)
{
	struct static_model *m;
	struct error e;
	float *v;
	double same, other;
	size_t n;

	(void)state;
	assert_int_equal(static_model_builtin(&m, &e), ST_OK);
	n = static_model_dimension(m);
	v = calloc(n, sizeof *v);
	assert_non_null(v);
	assert_int_equal(static_model_embed(m, bytes_of("a small house"), v, &e), ST_OK);
	same = 0;
	for (size_t i = 0; i < n; i++)
		same += (double)v[i] * (double)v[i];
	assert_true(fabs(same - 1) < 1e-5);
	free(v);
	same = score(m, "restore a snapshot", "to restore the snapshot of a table");
	other = score(m, "restore a snapshot", "cats eat fish");
	assert_true(same > other);
	static_model_close(m);
}

static void test_numbers(void **state)
{
	const uint16_t halves[] = { 0, 0x8000, 1, 0x3FF, 0x400, 0x3C00, 0xC000, 0x7BFF, 0x7C00,
		0x7E00 };
	const float floats[] = { 0, 0, 0x1p-24f, 0x1.ff8p-15f, 0x1p-14f, 1, -2, 65504, INFINITY };
	const double d = 0.5;
	const int64_t whole = -7;
	struct tensor t = { TENSOR_F16, 10, 1, (const char *)halves };

	(void)state;
	for (size_t i = 0; i < 9; i++)
		assert_true(tensor_float(&t, i) == floats[i]);
	assert_true(isnan(tensor_float(&t, 9)));
	t = (struct tensor){ TENSOR_F64, 1, 1, (const char *)&d };
	assert_true(tensor_float(&t, 0) == 0.5f);
	t = (struct tensor){ TENSOR_I64, 1, 1, (const char *)&whole };
	assert_true(tensor_float(&t, 0) == -7 && tensor_integer(&t, 0) == -7);
	t = (struct tensor){ TENSOR_I8, 1, 1, "\xFF" };
	assert_true(tensor_float(&t, 0) == -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_maxsim),
		cmocka_unit_test(test_maxsim_together),
		cmocka_unit_test(test_token_limit),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_builtin),
		cmocka_unit_test(test_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
