/*
 * test_remote_calls.c: attempts, waits, deadlines, the breaker, secrets, threads and
 * memory that runs out.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit.h"
#include "models/remote_private.h"
#include "scripted.h"
#include "util/clock.h"
#include "util/mem.h"

#define GOOD "[[1,2]]"

static const struct bytes text = { "one", 3 };

static struct remote_options options(unsigned retries)
{
	struct remote_options o = scripted_options(REMOTE_TEI_EMBED);

	o.retries = retries;
	return o;
}

static enum status embed(struct scripted *s, const struct remote_call *call, struct error *e)
{
	float out[2];

	e->detail[0] = '\0';
	return remote_embed(s->remote, &text, 1, false, call, out, e);
}

static void test_what_is_tried_again(void **state)
{
	static const struct {
		int status;
		bool again;
	} rows[] = { { 0, true }, { 429, true }, { 500, true }, { 502, true }, { 503, true },
		{ 504, true }, { 400, false }, { 401, false }, { 403, false }, { 404, false },
		{ 413, false }, { 422, false }, { 501, false }, { 307, false }, { 201, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct step steps[] = { { rows[i].status, NULL, "{}" }, { 200, NULL, GOOD } };
		const struct remote_options opt = options(1);
		struct scripted s;
		struct remote_stats stats;
		struct error e;
		scripted_open(&s, steps, 2, &opt);
		enum status st = embed(&s, NULL, &e);
		if (st != (rows[i].again ? ST_OK : ST_UNAVAILABLE))
			print_error("%d: %s\n", rows[i].status, status_name(st));
		assert_int_equal(st, rows[i].again ? ST_OK : ST_UNAVAILABLE);
		assert_int_equal(peer_requests(s.peer), rows[i].again ? 2 : 1);
		remote_stats(s.remote, &stats);
		assert_int_equal(stats.calls, 1);
		assert_int_equal(stats.retries, rows[i].again);
		assert_int_equal(stats.failures, !rows[i].again);
		scripted_close(&s);
	}
}

static void test_attempts_have_an_end(void **state)
{
	const struct step step = { 500, NULL, "secret address in an error page" };
	const struct remote_options opt = options(2);
	struct scripted s;
	struct error e;

	(void)state;
	scripted_open(&s, &step, 1, &opt);
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_int_equal(peer_requests(s.peer), 3);
	assert_string_equal(e.message, "the embedding model failed (HTTP status 500)");
	assert_non_null(strstr(e.detail, "m@127.0.0.1:"));
	scripted_close(&s);
}

static void test_retry_after(void **state)
{
	const struct step steps[] = { { 429, "Retry-After: 1\r\n", "" }, { 200, NULL, GOOD },
		{ 429, "Retry-After: 1\r\n", "" }, { 200, NULL, GOOD },
		{ 503, "Retry-After: 99999\r\n", "" }, { 200, NULL, GOOD } };
	const struct remote_options opt = options(3);
	struct remote_call call = { .deadline_ms = 0 };
	uint64_t start;
	struct scripted s;
	struct error e;

	(void)state;
	scripted_open(&s, steps, 6, &opt);
	start = clock_mono_ms();
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	assert_in_range(clock_mono_ms() - start, 999, 5000);
	/* It ends at once if there is no time to wait so long. */
	start = clock_mono_ms();
	call.deadline_ms = start + 500;
	assert_int_equal(embed(&s, &call, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the embedding model is too busy (HTTP status 429)");
	assert_in_range(clock_mono_ms() - start, 0, 400);
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	start = clock_mono_ms();
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_in_range(clock_mono_ms() - start, 0, 400);
	assert_int_equal(peer_requests(s.peer), 5);
	scripted_close(&s);
}

static bool stop_later(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

static void test_time(void **state)
{
	const struct step hang = { -1, NULL, "" };
	struct remote_options opt = options(1);
	struct scripted s;
	struct error e;
	uint64_t start = clock_mono_ms(), stop_at = start + 50;
	struct remote_call call = { .deadline_ms = start + 100 };

	(void)state;
	/* The caller's deadline; it says nothing about the server. */
	scripted_open(&s, &hang, 1, &opt);
	assert_int_equal(embed(&s, &call, &e), ST_TIMEOUT);
	assert_in_range(clock_mono_ms() - start, 99, 1000);
	assert_int_equal(s.remote->breaker.failures, 0);
	/* Called off. */
	call = (struct remote_call){ .stop = stop_later, .arg = &stop_at };
	assert_int_equal(embed(&s, &call, &e), ST_CANCELLED);
	assert_int_equal(s.remote->breaker.failures, 0);
	scripted_close(&s);
	/* The time of one attempt; two are made. */
	opt.timeout_ms = 60;
	scripted_open(&s, &hang, 1, &opt);
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the embedding model did not answer in time");
	assert_int_equal(peer_requests(s.peer), 2);
	assert_int_equal(s.remote->breaker.failures, 2);
	scripted_close(&s);
}

static void test_called_off_while_waiting(void **state)
{
	const struct step busy = { 429, "Retry-After: 5\r\n", "" };
	const struct remote_options opt = options(1);
	struct scripted s;
	struct error e;
	uint64_t stop_at;
	struct remote_call call = { .stop = stop_later, .arg = &stop_at };

	(void)state;
	scripted_open(&s, &busy, 1, &opt);
	stop_at = clock_mono_ms() + 100;
	assert_int_equal(embed(&s, &call, &e), ST_CANCELLED);
	assert_in_range(clock_mono_ms() - stop_at, 0, 500);
	scripted_close(&s);
}

static void test_breaker(void **state)
{
	const struct step steps[] = { { 500, NULL, "" }, { 500, NULL, "" }, { 500, NULL, "" },
		{ 500, NULL, "" }, { 200, NULL, "no JSON" }, { 500, NULL, "" },
		{ 200, NULL, GOOD } };
	const struct remote_options opt = options(0);
	struct scripted s;
	struct remote_stats stats;
	struct error e;

	(void)state;
	scripted_open(&s, steps, 7, &opt);
	s.remote->breaker.pause_ms = 150;
	for (int i = 0; i < REMOTE_BREAKER_FAILURES; i++)
		assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	remote_stats(s.remote, &stats);
	assert_true(stats.open);
	/* Now nobody asks. */
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the embedding model failed and is left alone for a while");
	assert_int_equal(peer_requests(s.peer), REMOTE_BREAKER_FAILURES);
	/* One asks, and it is not well yet. */
	clock_sleep_ms(160);
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_int_equal(peer_requests(s.peer), REMOTE_BREAKER_FAILURES + 1);
	clock_sleep_ms(160);
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	remote_stats(s.remote, &stats);
	assert_false(stats.open);
	scripted_close(&s);
}

static void test_a_server_that_comes_back(void **state)
{
	const struct step good = { 200, NULL, GOOD };
	const struct remote_options opt = options(0);
	struct scripted s;
	struct error e;

	(void)state;
	scripted_open(&s, &good, 1, &opt);
	s.remote->breaker.pause_ms = 50;
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	unsigned port = peer_port(s.peer);
	peer_stop(s.peer);
	for (int i = 0; i < 7; i++)
		assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_null(strstr(e.message, "127.0.0.1"));
	clock_sleep_ms(60);
	scripted_restart(&s, port);
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	scripted_close(&s);
}

static void test_wrong_requests_do_not_open_it(void **state)
{
	const struct step step = { 422, NULL, "" };
	const struct remote_options opt = options(0);
	struct scripted s;
	struct remote_stats stats;
	struct error e;

	(void)state;
	scripted_open(&s, &step, 1, &opt);
	for (int i = 0; i < 3 * REMOTE_BREAKER_FAILURES; i++)
		assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_int_equal(peer_requests(s.peer), 3 * REMOTE_BREAKER_FAILURES);
	remote_stats(s.remote, &stats);
	assert_false(stats.open);
	scripted_close(&s);
}

static void test_web_pages(void **state)
{
	const struct step step = { 200, "Content-Type: text/html; charset=utf-8\r\n", GOOD };
	const struct remote_options opt = options(0);
	struct scripted s;
	struct error e;

	(void)state;
	scripted_open(&s, &step, 1, &opt);
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_non_null(strstr(e.detail, "web page"));
	scripted_close(&s);
}

/* ---- secrets ---- */

static void key_write(const char *path, const char *content, mode_t mode)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(content, 1, strlen(content), f), strlen(content));
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_key_is_sent_and_never_told(void **state)
{
	const struct step steps[] = { { 200, NULL, GOOD }, { 401, NULL, "key sk-very-secret" } };
	char path[] = "/tmp/test_remote_keyXXXXXX";
	struct remote_options opt = options(0);
	struct scripted s;
	struct error e;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	key_write(path, "sk-very-secret\n", 0600);
	opt.key_file = path;
	scripted_open(&s, steps, 2, &opt);
	assert_int_equal(embed(&s, NULL, &e), ST_OK);
	assert_string_equal(s.authorization, "Bearer sk-very-secret");
	assert_int_equal(embed(&s, NULL, &e), ST_UNAVAILABLE);
	assert_string_equal(e.message, "the embedding model refused our key (HTTP status 401)");
	assert_null(strstr(e.detail, "secret"));
	assert_null(strstr(remote_identity(s.remote), "secret"));
	scripted_close(&s);
	(void)unlink(path);
}

static void test_key_files(void **state)
{
	static const struct {
		const char *content;
		mode_t mode;
	} refused[] = { { "k", 0604 }, { "k", 0660 }, { "k", 0620 }, { "k", 0610 }, { "", 0600 },
		{ "\n", 0600 }, { "two words", 0600 }, { "k\nk", 0600 }, { "k\x7f", 0600 },
		{ "k\xc3\xa9", 0600 } };
	static char long_key[8300];
	char path[] = "/tmp/test_remote_keyXXXXXX", *key = NULL;
	struct error e;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	(void)close(fd);
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		key_write(path, refused[i].content, refused[i].mode);
		assert_int_equal(remote_key_read(path, &key, &e), ST_INVALID);
		assert_string_equal(e.field, "key_file");
		assert_null(key);
	}
	memset(long_key, 'k', 8193);
	key_write(path, long_key, 0600);
	assert_int_equal(remote_key_read(path, &key, &e), ST_INVALID);
	long_key[8192] = '\0';
	key_write(path, long_key, 0400);
	assert_int_equal(remote_key_read(path, &key, &e), ST_OK);
	assert_int_equal(strlen(key), 7 + 8192);
	remote_key_free(key);
	key = NULL;
	/* A group may read what is root's. */
	key_write(path, "k \r\n", 0640);
	assert_int_equal(remote_key_read(path, &key, &e), getuid() == 0 ? ST_OK : ST_INVALID);
	remote_key_free(key);
	(void)unlink(path);
	assert_int_equal(remote_key_read(path, &key, &e), ST_NOT_FOUND);
	assert_int_equal(remote_key_read("/", &key, &e), ST_INVALID);
}

/* ---- many at once, and no memory ---- */

struct crowd {
	struct remote *r;
	int wrong;
};

static bool on_any(const struct peer_request *q, void *arg)
{
	(void)arg;
	/* One in five fails, now and then several in a row. */
	return peer_answer(q->fd, q->number % 5 == 4 ? 503 : 200, "", GOOD);
}

static void *crowd_member(void *arg)
{
	struct crowd *c = arg;
	struct error e;
	float out[2];

	for (int i = 0; i < 25; i++) {
		char t[20];
		(void)snprintf(t, sizeof(t), "text %d", i % 10);
		struct bytes one = bytes_of(t);
		if (remote_embed(c->r, &one, 1, true, NULL, out, &e) != ST_OK || out[1] != 2)
			__atomic_fetch_add(&c->wrong, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void test_threads(void **state)
{
	const struct net_policy policy = { .private_hosts = true, .plain_http = true };
	struct peer *p = peer_start(on_any, NULL);
	struct remote_options opt = options(6);
	struct crowd c = { NULL, 0 };
	pthread_t threads[8];
	struct net *n;
	struct error e;
	struct remote_stats stats;

	(void)state;
	opt.url = peer_url(p, "/");
	opt.cache = 7;
	assert_int_equal(net_new(&policy, &n, &e), ST_OK);
	assert_int_equal(remote_open(n, &opt, &c.r, &e), ST_OK);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &c), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(c.wrong, 0);
	remote_stats(c.r, &stats);
	assert_int_equal(stats.cache_hits + stats.cache_misses, 200);
	assert_int_equal(stats.failures, 0);
	remote_close(c.r);
	net_free(n);
	peer_stop(p);
}

static enum status every_call(struct net *n, const char *url, enum remote_shape shape,
	struct error *e)
{
	struct remote_options opt = options(0);
	struct remote *r = NULL;
	struct remote_sparse sparse;
	struct arena a;
	float vector[2];
	double score;
	enum status st;

	opt.shape = shape;
	opt.url = url;
	opt.cache = 4;
	arena_init(&a, 0);
	st = remote_open(n, &opt, &r, e);
	if (!st && shape <= REMOTE_COHERE_EMBED)
		st = remote_embed(r, &text, 1, true, NULL, vector, e);
	else if (!st && shape == REMOTE_TEI_SPARSE)
		st = remote_embed_sparse(r, &text, 1, NULL, &a, &sparse, e);
	else if (!st)
		st = remote_rerank(r, text, &text, 1, NULL, &score, e);
	remote_close(r);
	arena_release(&a);
	return st;
}

static void test_out_of_memory(void **state)
{
	static const char *const answers[] = {
		[REMOTE_OPENAI_EMBED] = "{\"data\":[{\"index\":0,\"embedding\":[1,2]}]}",
		[REMOTE_TEI_EMBED] = GOOD,
		[REMOTE_OLLAMA_EMBED] = "{\"embeddings\":[[1,2]]}",
		[REMOTE_COHERE_EMBED] = "{\"embeddings\":{\"float\":[[1,2]]}}",
		[REMOTE_TEI_SPARSE] = "[[{\"index\":1,\"value\":1}]]",
		[REMOTE_TEI_RERANK] = "[{\"index\":0,\"score\":1}]",
		[REMOTE_COHERE_RERANK] = "{\"results\":[{\"index\":0,\"relevance_score\":1}]}",
		[REMOTE_JINA_RERANK] = "{\"results\":[{\"index\":0,\"relevance_score\":1}]}",
		[REMOTE_OPENAI_CHAT] = "{\"choices\":[{\"message\":{\"content\":\"[1]\"}}]}",
	};

	(void)state;
	json_set_alloc_funcs(mem_alloc, mem_free);
	for (size_t shape = 0; shape < sizeof(answers) / sizeof(answers[0]); shape++) {
		const struct step step = { 200, NULL, answers[shape] };
		const struct remote_options opt = options(0);
		struct scripted s;
		struct error e;
		enum status st = ST_NOMEM;
		long i;
		scripted_open(&s, &step, 1, &opt);
		for (i = 0; i < 3000 && st != ST_OK; i++) {
			(void)mem_fail_after(i);
			st = every_call(s.net, peer_url(s.peer, "/"), (enum remote_shape)shape, &e);
			(void)mem_fail_after(-1);
			/* libcurl does not always say that it was memory. */
			assert_true(st == ST_OK || st == ST_NOMEM || st == ST_UNAVAILABLE ||
				st == ST_INVALID);
		}
		assert_int_equal(st, ST_OK);
		assert_true(i > 20);
		scripted_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_tried_again),
		cmocka_unit_test(test_attempts_have_an_end),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_called_off_while_waiting),
		cmocka_unit_test(test_breaker),
		cmocka_unit_test(test_a_server_that_comes_back),
		cmocka_unit_test(test_wrong_requests_do_not_open_it),
		cmocka_unit_test(test_web_pages),
		cmocka_unit_test(test_key_is_sent_and_never_told),
		cmocka_unit_test(test_key_files),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_out_of_memory),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
