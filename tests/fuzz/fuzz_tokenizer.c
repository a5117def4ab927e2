/*
 * fuzz_tokenizer.c: any bytes as a text for tokenizers of every kind of step. Ids must lie
 * in the vocabulary, be in proportion to the text, and be the same when asked again.
 */
#include <string.h>

#include "fuzz.h"
#include "models/tokenizer.h"
#include "util/utf8.h"

#define VOCABULARY                                                                                 \
	"\"vocab\":{\"[UNK]\":0,\"the\":1,\"##a\":2,\"a\":3,\"##\":4,\"e\\u0301\":5,\"##b\":6,"    \
	"\"b\":7,\"\\u4e00\":8,\"!\":9,\"##\\u0301\":10}}}"
#define WORDPIECE                                                                                  \
	"\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"continuing_subword_prefix\":" \
	"\"##\",\"max_input_chars_per_word\":100," VOCABULARY
#define UNIGRAM                                                                                     \
	"\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":true,\"vocab\":[[\"<unk>\"" \
	",0],[\"a\",-1],[\"b\",-1],[\"ab\",-2],[\"\\u2581\",-1],[\"<0x61>\",-9]]}}"
#define ADDED                                                                                      \
	"\"added_tokens\":[{\"content\":\"[MASK]\",\"lstrip\":true,\"rstrip\":true},{\"content\":" \
	"\"the\",\"single_word\":true,\"normalized\":true},{\"content\":\" b\",\"lstrip\":true}],"

static const char *const files[] = {
	"{" ADDED
	"\"normalizer\":{\"type\":\"BertNormalizer\"},\"pre_tokenizer\":{\"type\":"
	"\"BertPreTokenizer\"}," WORDPIECE,
	"{" ADDED
	"\"normalizer\":{\"type\":\"NFC\"},\"pre_tokenizer\":{\"type\":\"Sequence\","
	"\"pretokenizers\":[{\"type\":\"Whitespace\"},{\"type\":\"Metaspace\",\"replacement\":"
	"\"\\u2581\",\"prepend_scheme\":\"first\"}]}," UNIGRAM,
	"{" ADDED
	"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKD\"},"
	"{\"type\":\"StripAccents\"},{\"type\":\"Lowercase\"},{\"type\":\"Nmt\"},{\"type\":"
	"\"Replace\",\"pattern\":{\"Regex\":\" {2,}\"},\"content\":\" \"},{\"type\":\"Prepend\","
	"\"prepend\":\"\\u2581\"},{\"type\":\"Strip\",\"strip_left\":true,\"strip_right\":true},"
	"{\"type\":\"NFKC\"}]},\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":"
	"\"MergedWithNext\"}," UNIGRAM,
	/* A map of one rule: 'a' becomes 'b'. */
	"{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":"
	"\"EAAAAAAAAQAAAAAAAAAAAAAAAABiAA==\"},"
	"\"pre_tokenizer\":{\"type\":\"WhitespaceSplit\"}," UNIGRAM,
};
#define FILES (sizeof files / sizeof *files)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct tokenizer *tokenizers[FILES];
	const struct tokenizer *t;
	struct arena arena;
	struct error e;
	struct bytes text = { (const char *)data + 1, size - 1 };
	uint32_t *ids, *again;
	size_t n, m;

	if (size == 0)
		return 0;
	for (size_t i = 0; i < FILES && !tokenizers[i]; i++)
		FUZZ_CHECK(tokenizer_read((struct bytes){ files[i], strlen(files[i]) },
				   &tokenizers[i], &e) == ST_OK);
	t = tokenizers[data[0] % FILES];
	text.len = utf8_valid_prefix(text.data, text.len);
	arena_init(&arena, 0);
	FUZZ_CHECK(tokenizer_encode(t, text, &arena, &ids, &n, &e) == ST_OK);
	FUZZ_CHECK(tokenizer_encode(t, text, &arena, &again, &m, &e) == ST_OK);
	FUZZ_CHECK(n == m && memcmp(ids, again, n * sizeof *ids) == 0);
	FUZZ_CHECK(n <= 40 * text.len + 1);
	for (size_t i = 0; i < n; i++)
		FUZZ_CHECK(ids[i] < tokenizer_vocabulary(t) &&
			tokenizer_token(t, ids[i]).data != NULL);
	arena_release(&arena);
	return 0;
}
