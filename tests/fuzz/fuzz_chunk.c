/*
 * fuzz_chunk.c: any text in any format. The first byte chooses format, target and
 * overlap, the rest is the text as far as it is valid UTF-8. chunk_check.c says what
 * must hold; what a person reads of the whole text must be valid UTF-8 too.
 * REQ: R12 X7 D43.
 */
#include "fuzz.h"
#include "../unit/text/chunk_check.h"
#include "util/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct text_chunk_options opt = { .max = SIZE_MAX };
	struct strbuf buf = STRBUF_INIT;
	struct bytes text, plain;
	enum text_format format;
	const char *wrong;

	if (size == 0)
		return 0;
	format = (enum text_format)(data[0] & 3U);
	opt.target = 16U + (data[0] >> 2U & 7U) * 8U;
	opt.overlap = (data[0] >> 5U) * (opt.target / 16U);
	text.data = (const char *)data + 1;
	text.len = utf8_valid_prefix(text.data, size - 1);
	wrong = chunk_check(text, format, &opt);
	if (wrong)
		(void)fprintf(stderr, "%s\n", wrong);
	FUZZ_CHECK(!wrong);
	FUZZ_CHECK(text_plain(text, format, &buf, &plain) == ST_OK);
	FUZZ_CHECK(utf8_valid(plain.data, plain.len));
	strbuf_release(&buf);
	FUZZ_CHECK(text_format_of(BYTES_NONE, BYTES_NONE, text) <= TEXT_HTML);
	FUZZ_CHECK(text_format_of(text, text, BYTES_NONE) <= TEXT_CODE);
	return 0;
}
