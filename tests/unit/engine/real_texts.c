/* real_texts.c: see real_texts.h. A collection is a folder with docs.jsonl (id, title, text)
 * and queries.jsonl (id, text). */
#include "real_texts.h"

#include <glob.h>
#include <jansson.h>
#include <stdio.h>

#define MOST 400 /* lines of a file */

static void check(bool good)
{
	if (!good)
		abort();
}

/* Calls line with each object of a file of JSON lines. */
static void each_line(const char *folder, const char *name, struct model_real *real,
	void (*line)(struct model_real *real, const json_t *object))
{
	char path[600];
	json_t *object;
	FILE *f;

	check(snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path);
	f = fopen(path, "r");
	check(f != NULL);
	for (int i = 0; i < MOST && (object = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL)); i++) {
		line(real, object);
		json_decref(object);
	}
	fclose(f);
}

static char *copy(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));
	char *own = strdup(value ? value : "");

	check(own != NULL);
	return own;
}

static void add_document(struct model_real *real, const json_t *object)
{
	real->texts[real->count] = copy(object, "text");
	real->titles[real->count++] = copy(object, "title");
}

static void add_query(struct model_real *real, const json_t *object)
{
	real->queries[real->query_count++] = copy(object, "text");
}

bool real_texts_load(unsigned n, struct model_real *ret)
{
	glob_t found;
	bool there = glob(RCPD_SOURCE_ROOT "/../shared/collections/*/", 0, NULL, &found) == 0 &&
		n < found.gl_pathc;

	*ret = (struct model_real){ .count = 0 };
	if (there) {
		ret->texts = calloc(MOST, sizeof *ret->texts);
		ret->titles = calloc(MOST, sizeof *ret->titles);
		ret->queries = calloc(MOST, sizeof *ret->queries);
		check(ret->texts && ret->titles && ret->queries);
		each_line(found.gl_pathv[n], "docs.jsonl", ret, add_document);
		each_line(found.gl_pathv[n], "queries.jsonl", ret, add_query);
		check(ret->count > 0 && ret->query_count > 0);
	}
	globfree(&found);
	return there;
}

void real_texts_release(struct model_real *real)
{
	for (size_t i = 0; i < real->count; i++) {
		free(real->texts[i]);
		free(real->titles[i]);
	}
	for (size_t i = 0; i < real->query_count; i++)
		free(real->queries[i]);
	free(real->texts);
	free(real->titles);
	free(real->queries);
}
