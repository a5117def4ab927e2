/*
 * models/tokenizer.h: text to token ids, as the tokenizer.json of a model says:
 * normaliser, pre-tokeniser, WordPiece or Unigram model. The ids are those of the
 * reference implementation (Hugging Face tokenizers) on any Unicode text, without the
 * special tokens that a template adds. Immutable after opening; any thread.
 */
#ifndef RCPD_MODELS_TOKENIZER_H
#define RCPD_MODELS_TOKENIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct tokenizer;

/* From the text of a tokenizer.json. ST_INVALID names what is not known or wrong;
 * ST_TOO_LARGE, ST_NOMEM. */
enum status tokenizer_read(struct bytes json, struct tokenizer **ret, struct error *e);
void tokenizer_free(struct tokenizer *t);               /* NULL is fine */
size_t tokenizer_vocabulary(const struct tokenizer *t); /* greatest id + 1 */
/* The token of an id as the file spells it; NONE if there is none. Borrowed. */
struct bytes tokenizer_token(const struct tokenizer *t, uint32_t id);
/* The id that stands for unknown words; false: none. */
bool tokenizer_unknown(const struct tokenizer *t, uint32_t *ret);

/* text must be valid UTF-8. Ids in the arena. Linear in the length of the text but for
 * single words, which are cut off at a limit as the reference does. ST_NOMEM. */
enum status tokenizer_encode(const struct tokenizer *t, struct bytes text, struct arena *arena,
	uint32_t **ret, size_t *ret_n, struct error *e);

#endif
