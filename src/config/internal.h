/*
 * config/internal.h: what the files of this folder share.
 *
 *   keys.c    the table           file.c    the INI file
 *   value.c   one value, to text  check.c   rules over several keys
 *   check_model.c   rules of the section [model]
 *   load.c    all sources, in their order
 *   print.c   diff and print
 *   environment.c   RCPD_ variables
 *   fields.c  the value of one key, a list of fields
 */
#ifndef RCPD_CONFIG_INTERNAL_H
#define RCPD_CONFIG_INTERNAL_H

#include "config/config.h"
#include "util/strbuf.h"

/* Returns the key of that name, or NULL. Names are unique over all sections. */
const struct config_key *config_key_find(const char *name);
/* Index into config_keys of a key that config_key_find returned. */
size_t config_key_index(const struct config_key *key);

/*
 * Sets key in c from text; *c keeps its old value on failure. where tells in
 * messages who wanted it: "FILE:LINE", "environment RCPD_X", "--x" or "default".
 */
enum status config_value_set(struct config *c, const struct config_key *key, const char *text,
	const char *where, struct error *e);
/* Appends the value in c as it would stand in a file. */
void config_value_text(const struct config *c, const struct config_key *key, struct strbuf *out);
bool config_value_equal(const struct config *a, const struct config *b,
	const struct config_key *key);
/* What may have gone wrong in a refused text, as the end of a message: quotes, or a
 * comment that is none; "" if neither. Static storage. */
const char *config_text_hint(const char *text);
/* The string a CONFIG_STRING or CONFIG_CHOICE key has in c. */
char *const *config_value_string(const struct config *c, const struct config_key *key);

#define CONFIG_DEFAULT "default" /* the origin of what nobody set */

/* Where each key was set last, for the messages of config_check. */
struct config_origin {
	char where[160];
};

/* The place that set the key of that name. */
static inline const char *config_where(const struct config_origin *origins, const char *name)
{
	return origins[config_key_index(config_key_find(name))].where;
}

/* Sets what RCPD_ variables say. */
enum status config_environment_read(struct config *c, struct config_origin *origins,
	struct error *e);
/* Reads the file into c, noting origins (config_key_count of them). */
enum status config_file_read(struct config *c, const char *path, struct config_origin *origins,
	struct error *e);
/* Those of [model]. */
enum status config_check_model(const struct config *c, const struct config_origin *origins,
	struct error *e);
/* Rules for single strings and over several keys; rewrites "localhost" in listen. */
enum status config_check(struct config *c, const struct config_origin *origins, struct error *e);

#endif
