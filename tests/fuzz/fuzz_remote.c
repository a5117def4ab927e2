/*
 * fuzz_remote.c: any bytes as the answer of a model server. The first byte says in which
 * shape it should be, the second for how many texts. What is taken must be whole: every
 * number finite, no vector zero, indices ascending. The network is left out: this file
 * has its own net_call, which answers with the input.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "models/remote.h"

#define TEXTS_MAX 4U
#define DIMENSION 2U

static struct bytes answer;

enum status net_call(struct net *n, const struct net_request *req, struct net_response *ret,
	struct error *e)
{
	(void)n, (void)e;
	FUZZ_CHECK(req->body.len > 0 && req->body.data[0] == '{');
	*ret = (struct net_response){ .status = 200, .content_type = "application/json" };
	strbuf_add(&ret->body, answer.data, answer.len);
	return ST_OK;
}

static void check_vectors(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool zero = true;
		for (size_t j = 0; j < DIMENSION; j++) {
			FUZZ_CHECK(isfinite(v[i * DIMENSION + j]));
			zero = zero && v[i * DIMENSION + j] == 0;
		}
		FUZZ_CHECK(!zero);
	}
}

static void check_sparse(const struct remote_sparse *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < v[i].n; j++) {
			FUZZ_CHECK(isfinite(v[i].values[j]) && v[i].values[j] != 0);
			FUZZ_CHECK(j == 0 || v[i].indices[j - 1] < v[i].indices[j]);
		}
}

static enum status ask(struct remote *r, enum remote_shape shape, size_t n, struct error *e)
{
	static const struct bytes texts[TEXTS_MAX] = { { "a", 1 }, { "b", 1 }, { "c", 1 },
		{ "d", 1 } };
	float vectors[TEXTS_MAX * DIMENSION];
	double scores[TEXTS_MAX];
	struct remote_sparse sparse[TEXTS_MAX];
	struct arena arena;
	enum status st;

	arena_init(&arena, 0);
	if (shape <= REMOTE_COHERE_EMBED) {
		st = remote_embed(r, texts, n, false, NULL, vectors, e);
		if (!st)
			check_vectors(vectors, n);
	} else if (shape == REMOTE_TEI_SPARSE) {
		st = remote_embed_sparse(r, texts, n, NULL, &arena, sparse, e);
		if (!st)
			check_sparse(sparse, n);
	} else {
		st = remote_rerank(r, texts[0], texts, n, NULL, scores, e);
		for (size_t i = 0; !st && i < n; i++)
			FUZZ_CHECK(isfinite(scores[i]) &&
				(shape != REMOTE_OPENAI_CHAT ||
					(scores[i] >= 0 && scores[i] <= 1)));
	}
	arena_release(&arena);
	return st;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct net_policy policy = { .plain_http = true };
	static struct net *net;
	struct remote_options opt = { .url = "http://h/",
		.model = "m",
		.key_file = "",
		.dimension = DIMENSION,
		.batch = TEXTS_MAX,
		.max_text = 100,
		.timeout_ms = 1000 };
	struct remote *r = NULL;
	struct error e = { .code = ST_OK };
	enum status st;

	if (size < 2)
		return 0;
	FUZZ_CHECK(net || net_new(&policy, &net, &e) == ST_OK);
	opt.shape = (enum remote_shape)(data[0] % (REMOTE_OPENAI_CHAT + 1));
	answer = (struct bytes){ (const char *)data + 2, size - 2 };
	FUZZ_CHECK(remote_open(net, &opt, &r, &e) == ST_OK);
	st = ask(r, opt.shape, 1 + data[1] % TEXTS_MAX, &e);
	FUZZ_CHECK(st == ST_OK || (st == ST_UNAVAILABLE && e.message[0] && e.detail[0]));
	remote_close(r);
	return 0;
}
