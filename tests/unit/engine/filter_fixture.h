/*
 * filter_fixture.h: for tests of the filter columns that are written out: chunks with one
 * field, and questions about them.
 */
#ifndef RCPD_TESTS_FILTER_FIXTURE_H
#define RCPD_TESTS_FILTER_FIXTURE_H

#include "filter_model.h"

/* Keys 1, 2, … with at most one field, number 0. */
struct fx {
	struct filter *f;
	struct filter_view *v;
	int64_t key;
};

/* A filter with one field of that type; a chunk with values of it; a view of all. */
void fx_start(struct fx *x, enum engine_type type);
void fx_stop(struct fx *x);
void fx_add(struct fx *x, const struct engine_value *values, size_t n);
void fx_publish(struct fx *x);

#define FX_STRING(text) ((struct engine_value){ .kind = ENGINE_V_STRING, .s = bytes_of(text) })
#define FX_ELEMENT(text)                                                                           \
	((struct engine_value){ .kind = ENGINE_V_STRING, .element = true, .s = bytes_of(text) })
#define FX_INT(n) ((struct engine_value){ .kind = ENGINE_V_INT, .i = (n) })
#define FX_REAL(x) ((struct engine_value){ .kind = ENGINE_V_REAL, .r = (x) })

/* The keys 1 to 64 that pass, as bits 0 to 63; nobody else may. */
uint64_t fx_passing(const struct filter_view *v, const struct engine_filter *tree);
/* The same for a leaf on the field. */
uint64_t fx_ask(const struct fx *x, enum engine_op op, struct engine_scalar s);
uint64_t fx_ask_string(const struct fx *x, enum engine_op op, const char *s);
uint64_t fx_ask_int(const struct fx *x, enum engine_op op, int64_t i);

#endif
