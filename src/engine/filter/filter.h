/*
 * engine/filter/filter.h: typed columns over chunk keys, and filter trees evaluated on
 * them. Knows no JSON, no SQLite and no documents: chunks come in order of their keys
 * with the values of their document's meta.
 *
 *   filter ─▶ blocks of 65,536 keys; the last one grows, the others are immutable
 *               └▶ a column a field: values by entry, further ones of arrays behind
 *   view   ─▶ the blocks as they were at a publish, and how long the last one was
 *
 * A key's values never change. So what a tree says about a full block is true for
 * ever: results are cached a block, and a new commit costs the last block only. Keys
 * that were forgotten leave gaps: a block that has more gaps than keys is rewritten
 * without them, one that has only gaps is freed.
 *
 * One writer at a time (define, add, forget, publish); any number of readers, which
 * take no lock but that of the result cache.
 */
#ifndef RCPD_ENGINE_FILTER_FILTER_H
#define RCPD_ENGINE_FILTER_FILTER_H

#include "engine/engine.h"
#include "engine/lexical/lexical.h"

struct filter;
struct filter_view;

struct filter_options {
	size_t max_fields;  /* at most 65535 */
	size_t cache_bytes; /* for results of earlier filters; least recently used go */
};

enum status filter_new(const struct filter_options *opt, struct filter **ret, struct error *e);
void filter_free(struct filter *f); /* all views released before; NULL is fine */

/* The next field number; known to views from the next publish. ST_FULL at max_fields,
 * ST_NOMEM. The name is copied. */
enum status filter_define(struct filter *f, struct bytes name, enum engine_type type, size_t *ret,
	struct error *e);
/* The number of a defined field, published or not. For the writer. */
bool filter_field(const struct filter *f, struct bytes name, size_t *ret,
	enum engine_type *ret_type);

/* A value of a known field, not yet in its type. */
struct filter_value {
	size_t field;
	struct engine_value v; /* its name is not looked at */
};

/*
 * The next chunk; key greater than every earlier one. A value that does not suit its
 * field's type is left out and counted (*ret_contradictions is added to, may be NULL):
 * INT wants an INT, or a REAL without fraction within 53 bits; FLOAT any number; DATE a
 * string that date_parse takes or an INT; KEYWORD and PROSE a string of at most
 * ENGINE_MAX_KEYWORD bytes; BOOL a BOOL. ST_NOMEM: nothing was changed.
 */
enum status filter_add(struct filter *f, int64_t key, const struct filter_value *values, size_t n,
	uint64_t *ret_contradictions, struct error *e);
/* Whether a value suits a type, by the rule above. */
bool filter_suits(enum engine_type type, const struct engine_value *v);
/* No view that is still to be asked has the key (any more). Unknown keys are nothing. */
void filter_forget(struct filter *f, int64_t key);
/* A view of all that was added; new reference. NULL when out of memory: nothing is
 * lost, try again later. */
struct filter_view *filter_publish(struct filter *f);

struct filter_view *filter_view_ref(struct filter_view *v);
void filter_view_unref(struct filter_view *v); /* NULL is fine */
size_t filter_view_fields(const struct filter_view *v);
/* Lives as long as the filter. */
struct bytes filter_view_name(const struct filter_view *v, size_t field);
enum engine_type filter_view_type(const struct filter_view *v, size_t field);

/*
 * Evaluates a tree. *ret is a bitmap over keys as lexical_search wants it, in the
 * arena; keys that are not in the view have no bit set. *ret_count: bits set. The tree
 * was checked by whoever made it (fields exist, operators suit, depth); a field that
 * the view does not have yet is missing everywhere. Cost at a million keys: about
 * half a millisecond a leaf the first time, some ten microseconds when cached.
 * ST_NOMEM, ST_CANCELLED.
 */
enum status filter_eval(const struct filter_view *v, const struct engine_filter *tree,
	const struct engine_stop *stop, struct arena *arena, struct lexical_filter *ret,
	uint64_t *ret_count, struct error *e);
/* The instant under a DATE or INT field of a key, the latest of several. */
bool filter_instant(const struct filter_view *v, size_t field, int64_t key, int64_t *ret_ms);

struct filter_stats {
	uint64_t keys, blocks, bytes, cache_bytes, cache_hits, cache_misses;
};
/* keys, blocks: of the view, without forgotten keys; the others of the whole filter:
 * memory of blocks and strings, memory of the cache, evaluations since the start that
 * found all in the cache or not. */
void filter_view_stats(const struct filter_view *v, struct filter_stats *ret);

#endif
