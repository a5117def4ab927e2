/*
 * fields.c: the fields that filters know: declared ones, and those whose type was told
 * from their first values and then fixed. The list only grows and never moves, so that
 * readers look without a lock: they see what was there when they read the count.
 */
#include "engine/private.h"

#include "util/date.h"
#include "util/mem.h"

/* Of the values that one call has under a name. */
#define SEEN_DATE 1U /* a string that is a date */
#define SEEN_WORD 2U /* another one, short */
#define SEEN_LONG 4U /* a long one */
#define SEEN_INT 8U
#define SEEN_REAL 16U
#define SEEN_BOOL 32U

#define STRINGS (SEEN_DATE | SEEN_WORD | SEEN_LONG)
#define NUMBERS (SEEN_INT | SEEN_REAL)
#define MOST_FIELDS 65535 /* numbers have 16 bits */
#define LONG_STRING 256   /* bytes: beyond, it is prose and not a keyword */

static unsigned kind_of(const struct engine_value *v)
{
	int64_t ms;

	switch (v->kind) {
	case ENGINE_V_INT:
		return SEEN_INT;
	case ENGINE_V_REAL:
		return SEEN_REAL;
	case ENGINE_V_BOOL:
		return SEEN_BOOL;
	case ENGINE_V_STRING:
		break;
	}
	if (v->s.len > LONG_STRING)
		return SEEN_LONG;
	return date_parse(v->s, &ms) ? SEEN_DATE : SEEN_WORD;
}

/* The type that suits all kinds; of a mixture there is none. */
static bool type_of(unsigned kinds, enum engine_type *ret)
{
	if (!(kinds & ~STRINGS))
		*ret = kinds & SEEN_LONG    ? ENGINE_PROSE
			: kinds & SEEN_WORD ? ENGINE_KEYWORD
					    : ENGINE_DATE;
	else if (!(kinds & ~NUMBERS))
		*ret = kinds & SEEN_REAL ? ENGINE_FLOAT : ENGINE_INT;
	else if (kinds == SEEN_BOOL)
		*ret = ENGINE_BOOL;
	else
		return false;
	return true;
}

void fields_see(struct seen_field *seen, const struct engine_value *v)
{
	unsigned kinds;

	if ((seen->kinds & STRINGS) == STRINGS) /* nothing more to learn, and dates cost */
		return;
	kinds = seen->kinds | kind_of(v);
	/* In a mixture the first ones decide. */
	if (type_of(kinds, &seen->type))
		seen->kinds = kinds;
}

enum engine_type fields_infer(const struct seen_field *seen)
{
	return seen->type;
}

enum status fields_init(struct fields *f, const struct engine_options *opt, struct error *e)
{
	f->max = opt->max_fields > opt->declared_count ? opt->max_fields : opt->declared_count;
	if (f->max > MOST_FIELDS)
		return error_set(e, ST_INVALID, "there can be at most %d fields", MOST_FIELDS);
	atomic_init(&f->count, 0);
	f->at = mem_array(MOST_FIELDS, sizeof(*f->at)); /* untouched pages cost nothing */
	return f->at ? ST_OK : engine_no_memory(e);
}

void fields_release(struct fields *f)
{
	for (size_t i = 0; f->at && i < atomic_load(&f->count); i++)
		mem_free((char *)(uintptr_t)f->at[i].name.data);
	mem_free(f->at);
	f->at = NULL;
}

bool fields_find(const struct fields *f, struct bytes name, size_t *ret)
{
	size_t n = atomic_load_explicit(&f->count, memory_order_acquire);

	for (size_t i = 0; i < n; i++) {
		if (bytes_eq(f->at[i].name, name)) {
			*ret = i;
			return true;
		}
	}
	return false;
}

bool fields_declared(const struct fields *f, struct bytes name, enum engine_type *ret)
{
	size_t i;

	if (!fields_find(f, name, &i) || !f->at[i].declared)
		return false;
	*ret = f->at[i].type;
	return true;
}

enum status fields_append(struct fields *f, struct bytes name, enum engine_type type,
	struct error *e)
{
	size_t n = atomic_load_explicit(&f->count, memory_order_relaxed);
	char *copy;

	if (n == MOST_FIELDS)
		return error_set(e, ST_FULL, "there are too many fields");
	copy = mem_dup(name.data, name.len);
	if (!copy)
		return engine_no_memory(e);
	f->at[n] = (struct engine_field){ .name = { copy, name.len }, .type = type };
	atomic_store_explicit(&f->count, n + 1, memory_order_release);
	return ST_OK;
}

size_t engine_field_count(struct engine *en)
{
	return atomic_load_explicit(&en->fields.count, memory_order_acquire);
}

void engine_field_at(struct engine *en, size_t i, struct engine_field *ret)
{
	*ret = en->fields.at[i];
}

bool engine_field_find(struct engine *en, struct bytes name, size_t *ret)
{
	return fields_find(&en->fields, name, ret);
}
