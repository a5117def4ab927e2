/*
 * fuzz_model.c: the files of a model as somebody else's. The first byte says which: a
 * tokenizer.json, the tensors beside a small tokenizer, or a config.json. What is opened
 * must then work: finite vectors of unit length or zero.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "models/maxsim.h"

static const char tokenizer[] =
	"{\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"},\"model\":{\"type\":\"WordPiece\","
	"\"unk_token\":\"u\",\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":9,"
	"\"vocab\":{\"u\":0,\"a\":1}}}";
static const char text[] = "a [MASK] u the\xCC\x81 \xE4\xB8\x80\xF0\x9F\x98\x80 ab ''  .";

static void use(const struct static_model *m)
{
	size_t n = static_model_dimension(m);
	float *out = calloc(n, sizeof *out);
	struct maxsim_query *q;
	struct arena arena;
	struct error e;
	double sum = 0, score;

	FUZZ_CHECK(out &&
		static_model_embed(m, (struct bytes){ text, sizeof text - 1 }, out, &e) == ST_OK);
	for (size_t i = 0; i < n; i++)
		sum += (double)out[i] * (double)out[i];
	FUZZ_CHECK(sum == 0 || fabs(sum - 1) < 1e-3);
	arena_init(&arena, 0);
	FUZZ_CHECK(maxsim_query_new(m, NULL, (struct bytes){ text, sizeof text - 1 }, &arena, &q,
			   &e) == ST_OK);
	FUZZ_CHECK(maxsim_add(q, (struct bytes){ "a u", 3 }, &e) == ST_OK);
	maxsim_scores(q, &score);
	FUZZ_CHECK(score >= 0 && score <= 1);
	arena_release(&arena);
	free(out);
}

static void encode(struct bytes json)
{
	struct tokenizer *t;
	struct arena arena;
	struct error e;
	uint32_t *ids;
	size_t n;

	if (tokenizer_read(json, &t, &e) != ST_OK)
		return;
	arena_init(&arena, 0);
	FUZZ_CHECK(tokenizer_encode(t, (struct bytes){ text, sizeof text - 1 }, &arena, &ids, &n,
			   &e) == ST_OK);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(ids[i] < tokenizer_vocabulary(t));
	arena_release(&arena);
	tokenizer_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char header[] =
		"\x48\0\0\0\0\0\0\0"
		"{\"embeddings\":{\"dtype\":\"I8\",\"shape\":[2,2],\"data_offsets\":[0,4]}}       "
		"\1\2\3\4";
	struct bytes file = { (const char *)data + 1, size - 1 };
	struct bytes words = { tokenizer, sizeof tokenizer - 1 };
	struct bytes tensors = { header, sizeof header - 1 };
	struct static_model *m = NULL;
	struct error e;

	if (size == 0)
		return 0;
	switch (data[0] % 3) {
	case 0:
		encode(file);
		break;
	case 1:
		if (static_model_read(words, file, BYTES_NONE, &m, &e) == ST_OK)
			use(m);
		break;
	default:
		if (static_model_read(words, tensors, file, &m, &e) == ST_OK)
			use(m);
	}
	static_model_close(m);
	return 0;
}
