/*
 * test_values.c: what each kind of value takes, the rules of single keys and of
 * pairs, config_diff and config_print.
 */
#include "helpers.h"

#include "util/mem.h"

static bool flag_good(const char *name, const char *value)
{
	struct config *c = NULL;
	bool good = flag_load(name, value, &c, NULL) == ST_OK;

	config_free(c);
	return good;
}

/* The number a key has in c. */
static uint64_t number_of(const struct config *c, const struct config_key *key)
{
	return *(const uint64_t *)(const void *)((const char *)c + key->offset);
}

/* Every number: its ends are taken, what lies outside is refused, by name. */
static void test_number_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < config_key_count; i++) {
		const struct config_key *key = &config_keys[i];
		char low[32], high[32], below[32], above[32];

		if (key->kind != CONFIG_SIZE && key->kind != CONFIG_COUNT)
			continue;
		snprintf(low, sizeof(low), "%llu", (unsigned long long)key->min);
		snprintf(high, sizeof(high), "%llu", (unsigned long long)key->max);
		snprintf(above, sizeof(above), "%llu", (unsigned long long)key->max + 1);
		snprintf(below, sizeof(below), "%lld", (long long)key->min - 1);
		/* The rules over pairs may refuse an end; the message then names the pair. */
		struct config_override flags[] = { { "max_body", "1k" }, { "max_k", "1" },
			{ "max_body_total", "64g" }, { "max_candidates", "1000000" },
			{ "chunk_overlap", "0" }, { key->name, low } };
		struct config *c = NULL;
		assert_int_equal(config_load(NULL, flags, 6, &c, NULL), ST_OK);
		assert_true(number_of(c, key) == key->min);
		config_free(c);
		flags[4] = (struct config_override){ "chunk_tokens", "100000" };
		flags[5].value = high;
		assert_int_equal(config_load(NULL, flags, 6, &c, NULL), ST_OK);
		assert_true(number_of(c, key) == key->max);
		config_free(c);
		assert_false(flag_good(key->name, above));
		assert_false(flag_good(key->name, below));
		assert_false(flag_good(key->name, ""));
		assert_false(flag_good(key->name, "99999999999999999999999"));
		assert_false(flag_good(key->name, "18446744073709551616"));
		assert_false(flag_good(key->name, "+5"));
		assert_false(flag_good(key->name, "5.0"));
		assert_false(flag_good(key->name, "0x10"));
	}
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t want;
	} good[] = { { "4096", 4096 }, { "8k", 8192 }, { "8K", 8192 }, { "3m", 3U << 20 },
		{ "1g", 1U << 30 } };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct config *c = NULL;

		assert_int_equal(flag_load("max_stream_queue", good[i].text, &c, NULL), ST_OK);
		assert_true(c->max_stream_queue == good[i].want);
		config_free(c);
	}
	assert_false(flag_good("max_stream_queue", "8kb"));
	assert_false(flag_good("max_stream_queue", "8 k"));
	assert_false(flag_good("max_stream_queue", "8t"));
	assert_false(flag_good("max_stream_queue", "99999999999999999g"));
	assert_false(flag_good("queue", "8k")); /* a count, no size */
}

static double real_of(const char *value)
{
	struct config *c = NULL;
	double v;

	assert_int_equal(flag_load("bm25_k1", value, &c, NULL), ST_OK);
	v = c->bm25_k1;
	config_free(c);
	return v;
}

static void test_reals(void **state)
{
	static const char *const bad[] = { "", ".5", "5.", "1,5", "-0.5", "+0.5", "1e0", "0x1",
		"nan", "inf", "0.5 ", "0.5f", "10.01", "0.009", "11",
		"1.0000000000000000000000000000001" };
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_true(real_of("0.01") > 0.009999 && real_of("0.01") < 0.010001);
	assert_true(real_of("10") >= 10 && real_of("10") <= 10);
	assert_true(real_of("1.25") >= 1.25 && real_of("1.25") <= 1.25);
	assert_true(flag_good("bm25_b", "0") && flag_good("bm25_b", "1"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (flag_good("bm25_k1", bad[i]))
			fail_msg("bm25_k1 took '%s'", bad[i]);
	assert_int_equal(flag_load("bm25_b", "2", &c, &e), ST_INVALID);
	assert_string_equal(e.message,
		"--bm25-b: bm25_b cannot be '2'; it must be a number such as 0.5, from 0 to 1");
	assert_int_equal(flag_load("bm25_b", "1 # much", &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "a comment after a value"));
}

static void test_range_message(void **state)
{
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_int_equal(flag_load("max_body", "2g", &c, &e), ST_INVALID);
	assert_string_equal(e.message,
		"--max-body: max_body cannot be '2g'; it must be a size "
		"(digits, then k, m, g or nothing) from 1k to 1g");
	assert_int_equal(flag_load("sessions", "Strict", &c, &e), ST_INVALID);
	assert_string_equal(e.message,
		"--sessions: sessions cannot be 'Strict'; it must be one of "
		"stateless, token, strict");
}

static void test_bool(void **state)
{
	static const char *const yes[] = { "yes", "true", "on", "1", "YES", "True" };
	static const char *const no[] = { "no", "false", "off", "0" };

	(void)state;
	for (size_t i = 0; i < 6; i++) {
		struct config *c = NULL;

		assert_int_equal(flag_load("read_only", yes[i], &c, NULL), ST_OK);
		assert_true(c->read_only);
		config_free(c);
	}
	for (size_t i = 0; i < 4; i++)
		assert_true(flag_good("read_only", no[i]));
	assert_false(flag_good("read_only", ""));
	assert_false(flag_good("read_only", "2"));
}

/* Each model over HTTP has what it needs besides its kind. */
static bool choice_good(const char *name, const char *value)
{
	struct config_override flags[] = { { "embedder_url", "http://127.0.0.1/e" },
		{ "embedder_model", "m" }, { "embedder_dimension", "3" },
		{ "sparse_url", "http://127.0.0.1/s" }, { "reranker_url", "https://r.example/r" },
		{ "reranker_model", "m" }, { "llm_url", "http://[::1]:80/v1" },
		{ "llm_model", "m" }, { name, value } };
	struct config *c = NULL;
	bool good = config_load(NULL, flags, 9, &c, NULL) == ST_OK;

	config_free(c);
	return good;
}

static void test_choices(void **state)
{
	(void)state;
	for (size_t i = 0; i < config_key_count; i++) {
		if (config_keys[i].kind != CONFIG_CHOICE)
			continue;
		for (size_t k = 0; config_keys[i].choices[k]; k++)
			assert_true(choice_good(config_keys[i].name, config_keys[i].choices[k]));
		assert_false(flag_good(config_keys[i].name, ""));
		assert_false(flag_good(config_keys[i].name, "nonsense"));
	}
}

/* What an INI file could not hold is refused from everywhere. */
static void test_strings(void **state)
{
	(void)state;
	assert_true(flag_good("data", "/srv/a b;c"));
	assert_true(flag_good("data", "/srv/\xc3\xa4"));
	assert_false(flag_good("data", ""));
	assert_false(flag_good("data", "/srv/a ;b"));
	assert_false(flag_good("data", ";b"));
	assert_false(flag_good("data", " /srv"));
	assert_false(flag_good("data", "/srv\n"));
	assert_false(flag_good("data", "/srv/\xff"));
	assert_refused("[server]\ndata = ~/corpus\n", ":2: data cannot be '~/corpus': only shells");
	assert_refused("[server]\ndata = \"/srv\"\n", "; values stand without quotes");
	assert_refused("[server]\ndata = /srv # mine\n",
		"; a comment after a value begins with ' ;'");
}

static void test_listen(void **state)
{
	static const char *const good[] = { "127.0.0.1:0", "127.0.0.1:65535", "127.9.8.7:1",
		"[::1]:80", "unix:/run/rcpd.sock", "unix:x", "localhost:8077" };
	static const char *const bad[] = { "", ":80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
		"127.0.0.1:-1", "127.0.0.1:8a", "::1:80", "[::1]", "[::1]80", "[127.0.0.1]:80",
		"unix:", "example.org:80", "localhost", "localhost:99999", "127.1:80", "*:80" };
	static const char *const open[] = { "0.0.0.0:80", "[::]:80", "192.168.1.1:80",
		"128.0.0.1:80", "[2001:db8::1]:80", "[::ffff:10.0.0.1]:80" };
	struct config *c = NULL;
	struct error e;
	char path[160] = "unix:/";

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(flag_good("listen", good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (flag_good("listen", bad[i]))
			fail_msg("listen took '%s'", bad[i]);
	for (size_t i = 0; i < sizeof(open) / sizeof(open[0]); i++) {
		assert_int_equal(flag_load("listen", open[i], &c, &e), ST_INVALID);
		assert_non_null(strstr(e.message,
			"only loopback or a unix socket: callers cannot be told apart yet; "
			"put a proxy in front"));
	}
	memset(path + 6, 'x', 106);
	assert_true(flag_good("listen", path));
	memset(path + 6, 'x', 107);
	assert_false(flag_good("listen", path));
}

static void test_base_path(void **state)
{
	static const char *const bad[] = { "", "/", "rcp", "/rcp/", "/a//b", "/a/../b", "/.",
		"/a b", "/a%2fb", "/a?b", "/\xc3\xa4", "/healthz", "/readyz" };

	(void)state;
	assert_true(flag_good("base_path", "/rcp"));
	assert_true(flag_good("base_path", "/v1/search-api"));
	assert_true(flag_good("base_path", "/healthz/rcp"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (flag_good("base_path", bad[i]))
			fail_msg("base_path took '%s'", bad[i]);
}

static void test_hosts_and_origins(void **state)
{
	(void)state;
	assert_true(flag_good("hosts", "a.example  b_c.example 10.0.0.1"));
	assert_false(flag_good("hosts", "a.example:80"));
	assert_false(flag_good("hosts", "https://a.example"));
	assert_true(flag_good("origins", "https://a.example http://localhost:3000"));
	assert_false(flag_good("origins", "*"));
	assert_false(flag_good("origins", "null"));
	assert_false(flag_good("origins", "https://"));
	assert_false(flag_good("origins", "https://a.example/"));
	assert_false(flag_good("origins", "https://a.example:"));
	assert_false(flag_good("origins", "https://a.example:123456"));
	assert_false(flag_good("origins", "https://a.example a.example"));
}

static void test_pairs(void **state)
{
	(void)state;
	assert_refused("[limits]\nmax_body = 2m\nmax_body_total = 1m\n",
		":3: max_body_total (1m) is smaller than max_body (2m); set max_body_total to 2m or "
		"more");
	/* What leads is a place to mend, never "default". */
	assert_refused("[limits]\n\nmax_body = 300m\n",
		":3: max_body_total (256m) is smaller than max_body (300m)");
	assert_refused("[limits]\nmax_k = 20000\n",
		":2: max_candidates (10000) is smaller than max_k (20000)");
}

static void test_overlap(void **state)
{
	(void)state;
	assert_refused("[index]\nchunk_tokens = 128\n",
		":2: chunk_overlap (64) must be less than half of chunk_tokens (128); set "
		"chunk_overlap to 63 or less");
	assert_refused("[index]\n\nchunk_overlap = 256\n", ":3: chunk_overlap (256)");
	assert_true(flag_good("chunk_tokens", "129"));
	assert_true(flag_good("chunk_overlap", "255"));
}

/* REQ: F2: declared fields. */
static void test_fields(void **state)
{
	static const char *const bad[] = { "x", "x:", ":int", "x:integer", "x:Int", "x:geo",
		"x:int:int", "a:int a:text", "a:int  %61:text", "%zz:int", "%2:int", "%:int",
		"%00:int", "%ff:int", "100%:int", "x=int" };
	struct config_field *fields;
	struct error e;
	char name[300];
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (flag_good("fields", bad[i]))
			fail_msg("fields took '%s'", bad[i]);
	assert_int_equal(config_fields_read("", &fields, &n, &e), ST_OK);
	assert_null(fields);
	assert_int_equal(n, 0);
	assert_int_equal(config_fields_read("\tyear:int  a%20b%3Ac%25:text \xc3\xa4:date b:bool",
				 &fields, &n, &e),
		ST_OK);
	assert_int_equal(n, 4);
	assert_string_equal(fields[0].name, "year");
	assert_string_equal(fields[0].type, "int");
	assert_string_equal(fields[1].name, "a b:c%");
	assert_string_equal(fields[1].type, "text");
	assert_string_equal(fields[2].name, "\xc3\xa4");
	assert_string_equal(fields[3].type, "bool");
	mem_free(fields);
	memset(name, 'x', 256);
	memcpy(name + 256, ":int", 5);
	assert_true(flag_good("fields", name));
	memset(name, 'x', 257);
	memcpy(name + 257, ":int", 5);
	assert_false(flag_good("fields", name));
	assert_refused("[index]\nfields = a:int b:number\n",
		":2: fields holds 'b:number'; a field is name:type with one of keyword, text, int, "
		"float, bool and date");
	assert_refused("[limits]\nmax_fields = 1\n[index]\nfields = a:int b:int\n",
		":4: fields names 2 fields, and max_fields (1) allows no more; set max_fields to 2");
	mem_fail_after(0);
	assert_int_equal(config_fields_read("a:int", &fields, &n, &e), ST_NOMEM);
	mem_fail_after(-1);
}

static void test_model(void **state)
{
	(void)state;
	assert_true(flag_good("model", "none"));
	assert_true(flag_good("model", "models/mine"));
	assert_false(flag_good("model", ""));
	assert_refused("[model]\nmodel = ~/m\n", ":2: model cannot be '~/m': only shells know '~'");
	assert_refused("[model]\nmodel = m # mine\n", "; a comment after a value");
	assert_refused("[model]\nmodel_ca_file = \"/ca\"\n", ":2: model_ca_file cannot be");
	assert_refused("[model]\nfit_growth = 1\n", ":2: fit_growth cannot be '1'");
}

/* What a model over HTTP needs, by the place that wants it. */
static void test_remote_models(void **state)
{
	static const char *const bad[] = { "127.0.0.1:80", "ftp://x/", "http://", "https:///x",
		"http://a b/", "HTTP://x/" };

	(void)state;
	assert_refused("[model]\nembedder = tei\n",
		":2: embedder is tei, and embedder_url does not say where that is");
	assert_refused("[model]\nembedder = tei\nembedder_url = http://x/\n",
		":2: embedder is tei, and embedder_dimension does not say");
	assert_refused("[model]\nembedder = external\n",
		":2: embedder is external, and embedder_dimension does not say");
	assert_refused(
		"[model]\nembedder = ollama\nembedder_url = http://x/\n"
		"embedder_dimension = 3\n",
		":2: embedder is ollama, which serves several models; embedder_model must name");
	assert_refused("[model]\nreranker = jina\n", ":2: reranker is jina, and reranker_url");
	assert_refused("[model]\nsparse = tei\n", ":2: sparse is tei, and sparse_url");
	assert_refused("[model]\nllm = openai\nllm_url = https://x/v1\n", "llm_model must name");
	assert_refused("[model]\nsparse = tei\nsparse_url = http://x/\nsparse_key_file = ~/k\n",
		":4: sparse_key_file cannot be '~/k'");
	assert_refused("[model]\nsparse = tei\nsparse_url = http://x/\nmodel_plain_http = no\n",
		":3: sparse_url cannot be 'http://x/', because model_plain_http is no");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct config_override flags[] = { { "sparse", "tei" }, { "sparse_url", bad[i] } };
		struct config *c = NULL;
		struct error e;

		assert_int_equal(config_load(NULL, flags, 2, &c, &e), ST_INVALID);
		assert_non_null(strstr(e.message, "it must be a whole address"));
	}
	/* What is switched off is not looked at. */
	assert_true(flag_good("embedder_url", "nonsense"));
	assert_true(flag_good("llm_key_file", "~/key"));
}

struct changes {
	char names[256];
	size_t reloadable;
};

static void note_change(const struct config_key *key, void *arg)
{
	struct changes *ch = arg;
	size_t len = strlen(ch->names);

	snprintf(ch->names + len, sizeof(ch->names) - len, "%s ", key->name);
	ch->reloadable += key->reloadable;
}

static void test_diff(void **state)
{
	struct config_override flags[] = { { "listen", "127.0.0.1:1" }, { "read_only", "yes" },
		{ "max_body", "1m" }, { "log_level", "debug" }, { "deadline_ms", "10" } };
	struct config *a = NULL, *b = NULL;
	struct changes ch = { 0 };

	(void)state;
	assert_int_equal(config_load(NULL, NULL, 0, &a, NULL), ST_OK);
	assert_int_equal(config_load(NULL, flags, 5, &b, NULL), ST_OK);
	config_diff(a, a, note_change, &ch);
	assert_string_equal(ch.names, "");
	config_diff(a, b, note_change, &ch);
	assert_string_equal(ch.names, "listen read_only max_body deadline_ms log_level ");
	assert_int_equal(ch.reloadable, 2);
	config_free(a);
	config_free(b);
}

/* What config_print writes reads back as the same config. */
static void test_print_round_trip(void **state)
{
	struct config_override flags[] = { { "data", "/srv/a b;c" }, { "hosts", "x.example y" },
		{ "max_body", "1000000" }, { "max_drain", "0" }, { "max_body_total", "1g" },
		{ "read_only", "yes" }, { "sessions", "strict" }, { "listen", "[::1]:0" },
		{ "bm25_k1", "0.1" }, { "bm25_b", "0.123456789012345678" },
		{ "fields", "a%20b:int c:date" } };
	char path[] = P_tmpdir "/rcpd-config-XXXXXX";
	int fd = mkstemp(path);
	struct config *a = NULL, *b = NULL;
	struct changes ch = { 0 };
	struct error e = { 0 };

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(config_load(NULL, flags, 11, &a, NULL), ST_OK);
	config_print(a, fd);
	close(fd);
	if (config_load(path, NULL, 0, &b, &e) != ST_OK)
		fail_msg("%s", e.message);
	config_diff(a, b, note_change, &ch);
	assert_string_equal(ch.names, "");
	config_free(a);
	config_free(b);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_number_bounds, env_clear),
		cmocka_unit_test_setup(test_sizes, env_clear),
		cmocka_unit_test_setup(test_reals, env_clear),
		cmocka_unit_test_setup(test_range_message, env_clear),
		cmocka_unit_test_setup(test_bool, env_clear),
		cmocka_unit_test_setup(test_choices, env_clear),
		cmocka_unit_test_setup(test_strings, env_clear),
		cmocka_unit_test_setup(test_listen, env_clear),
		cmocka_unit_test_setup(test_base_path, env_clear),
		cmocka_unit_test_setup(test_hosts_and_origins, env_clear),
		cmocka_unit_test_setup(test_pairs, env_clear),
		cmocka_unit_test_setup(test_overlap, env_clear),
		cmocka_unit_test_setup(test_fields, env_clear),
		cmocka_unit_test_setup(test_model, env_clear),
		cmocka_unit_test_setup(test_remote_models, env_clear),
		cmocka_unit_test_setup(test_diff, env_clear),
		cmocka_unit_test_setup(test_print_round_trip, env_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
