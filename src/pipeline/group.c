/*
 * pipeline/group.c: which documents were seen. Chunks come best first, so that the
 * first chunk of a document is its best one and gives the document its score and place
 * (MaxP: Dai and Callan 2019, "Deeper Text Understanding for IR with Contextual Neural
 * Language Modeling").
 */
#include "pipeline/private.h"
#include "util/hash.h"

enum status retrieve_group_init(struct retrieve_group *g, size_t most, struct arena *arena)
{
	size_t cap = 16;

	while (cap / 2 < most) /* at most half full: probes stay short */
		if (__builtin_mul_overflow(cap, 2U, &cap))
			return ST_NOMEM;
	g->cap = cap;
	g->slots = arena_array(arena, cap, sizeof(*g->slots));
	return g->slots ? ST_OK : ST_NOMEM;
}

bool retrieve_group_add(struct retrieve_group *g, struct bytes doc_id)
{
	size_t at = (size_t)hash_bytes(doc_id.data, doc_id.len) & (g->cap - 1);

	while (g->slots[at].data) {
		if (bytes_eq(g->slots[at], doc_id))
			return false;
		at = (at + 1) & (g->cap - 1);
	}
	g->slots[at] = doc_id;
	return true;
}
