/*
 * models/static.h: a table of token vectors as an embedder, run in process (the layout
 * of Model2Vec: tokenizer.json, model.safetensors, config.json). A text's vector is the
 * mean of its tokens' rows, each with its weight, brought to unit length.
 *
 * A model is immutable after opening: any number of threads may use one.
 */
#ifndef RCPD_MODELS_STATIC_H
#define RCPD_MODELS_STATIC_H

#include <stddef.h>
#include <stdint.h>

#include "models/tokenizer.h"
#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct static_model;

/* The three files of a folder. ST_NOT_FOUND, ST_INVALID (with what is wrong in which
 * file), ST_TOO_LARGE, ST_NOMEM, ST_IO. */
enum status static_model_open(const char *dir, struct static_model **ret, struct error *e);
/* The same from memory; tensors is borrowed as long as the model lives. config may be
 * NONE. */
enum status static_model_read(struct bytes tokenizer, struct bytes tensors, struct bytes config,
	struct static_model **ret, struct error *e);
/* The table that is built into the program (src/models/table). */
enum status static_model_builtin(struct static_model **ret, struct error *e);
void static_model_close(struct static_model *m); /* NULL is fine */

/* The name in its config (or "static"), an '@' and 12 hex digits of the SHA-256 over its
 * files: models with other vectors never have the same one. */
const char *static_model_identity(const struct static_model *m);
size_t static_model_dimension(const struct static_model *m);
const struct tokenizer *static_model_tokenizer(const struct static_model *m);

/* dimension floats of unit length; all zero if the text has no token that counts. Texts
 * of any length; only the first STATIC_MAX_TEXT bytes count. ST_NOMEM. */
#define STATIC_MAX_TEXT (1u << 20)
enum status static_model_embed(const struct static_model *m, struct bytes text, float *out,
	struct error *e);

/* A token's vector, of unit length (a row that is all zero stays so), and its weight in
 * the mean (the length of its row in the table times its weight), >= 0. id < vocabulary. */
float static_model_token(const struct static_model *m, uint32_t id, float *out);
size_t static_model_vocabulary(const struct static_model *m);

#endif
