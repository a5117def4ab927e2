/* durable_private.h: what durable.c and durable_check.c share. */
#ifndef RCPD_TESTS_ENGINE_DURABLE_PRIVATE_H
#define RCPD_TESTS_ENGINE_DURABLE_PRIVATE_H

#include "durable.h"

#define PARTS 4      /* slots fall into so many parts, which filters name */
#define OLD_CALLS 12 /* a call may delete what is older than so many calls */

/* The slots (bits) that a call writes to; w: its writer's state before. */
unsigned call_slots(const struct writer *w, int writer, int call);
/* A word that is in the first chunk of this document and nowhere else. */
void unique_word(int writer, int call, int slot, char word[16]);
bool is_long(int writer, int call, int slot);
void slot_id(int writer, int slot, char id[24]);
void make_document(struct arena *arena, int writer, int call, int slot,
	struct engine_document *ret);
void make_leaf(struct engine *en, const char *field, enum engine_op op, struct engine_scalar *v,
	struct engine_filter *ret);

#endif
