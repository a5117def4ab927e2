/* part.c: one interface to segments and heads, with their deletes; see part.h. */
#include "engine/vector/part.h"

#include <string.h>

#include "util/mem.h"

#define FIRST_BLOCKS 16
#define FIRST_LOG 64

struct vec_part *vec_part_new_head(size_t dimension)
{
	struct vec_part *p = mem_zero(sizeof(*p));

	if (!p)
		return NULL;
	atomic_init(&p->refs, 1);
	p->dimension = dimension;
	return p;
}

struct vec_part *vec_part_new_segment(struct vec_segment *seg, uint64_t commit, int64_t last_key)
{
	struct vec_part *p = vec_part_new_head(seg->dimension);

	if (!p)
		return NULL;
	p->seg = seg;
	p->count = seg->rows;
	p->commit = commit;
	p->last_key = last_key;
	return p;
}

struct vec_part *vec_part_ref(struct vec_part *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

bool vec_part_alone(const struct vec_part *p)
{
	return atomic_load_explicit(&p->refs, memory_order_acquire) == 1;
}

void vec_part_unref(struct vec_part *p)
{
	struct vec_blocks *b;

	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return;
	b = atomic_load_explicit(&p->blocks, memory_order_relaxed);
	for (uint32_t i = 0; b && i < p->count; i += VEC_BLOCK)
		mem_free(b->at[i / VEC_BLOCK]);
	while (b) {
		struct vec_blocks *older = b->older;

		mem_free(b);
		b = older;
	}
	vec_segment_unref(p->seg);
	mem_free(p->gone);
	mem_free((void *)(uintptr_t)atomic_load_explicit(&p->marks, memory_order_relaxed));
	mem_free(p->log);
	mem_free(p);
}

static size_t block_bytes(size_t dimension)
{
	return sizeof(struct vec_block) + VEC_ALIGN +
		VEC_BLOCK * (vec_small_bytes(dimension) + vec_wide_bytes(dimension));
}

size_t vec_part_memory(const struct vec_part *p, uint32_t rows)
{
	size_t n = sizeof(*p);

	if (!p->seg)
		return n + (rows + VEC_BLOCK - 1) / VEC_BLOCK * block_bytes(p->dimension);
	if (p->gone)
		n += (size_t)rows / 8;
	if (atomic_load_explicit(&p->marks, memory_order_relaxed))
		n += rows * sizeof(uint64_t);
	return n;
}

struct vec_slice vec_part_now(struct vec_part *p)
{
	return (struct vec_slice){ p, p->count, p->gone_count + p->log_count };
}

uint32_t vec_part_dead(const struct vec_part *p, uint64_t seen)
{
	uint32_t n = p->gone_count;

	for (uint32_t i = 0; i < p->log_count; i++)
		n += vec_part_mark(p, p->log[i]) <= seen;
	return n;
}

/* ---- writing ---- */

static struct vec_block *block_new(size_t dimension)
{
	size_t small = vec_small_bytes(dimension);
	struct vec_block *b = mem_zero(block_bytes(dimension));
	uintptr_t end;

	if (!b)
		return NULL;
	end = ((uintptr_t)(b + 1) + VEC_ALIGN - 1) / VEC_ALIGN * VEC_ALIGN;
	b->small = (int8_t *)end;
	b->wide = (int16_t *)(end + VEC_BLOCK * small);
	return b;
}

/* Room for one more block. */
static struct vec_blocks *grow_blocks(struct vec_part *p)
{
	struct vec_blocks *old = atomic_load_explicit(&p->blocks, memory_order_relaxed), *b;
	size_t cap = old ? 2 * old->cap : FIRST_BLOCKS;

	if (old && p->count / VEC_BLOCK < old->cap)
		return old;
	b = mem_zero(sizeof(*b) + cap * sizeof(struct vec_block *));
	if (!b)
		return NULL;
	b->cap = cap;
	b->older = old;
	if (old)
		memcpy(b->at, old->at, old->cap * sizeof(struct vec_block *));
	atomic_store_explicit(&p->blocks, b, memory_order_release);
	return b;
}

bool vec_part_add(struct vec_part *p, int64_t key, const int16_t *wide)
{
	struct vec_blocks *blocks = grow_blocks(p);
	size_t in = p->count % VEC_BLOCK, wide_bytes = vec_wide_bytes(p->dimension);
	struct vec_block *b;

	if (!blocks)
		return false;
	if (in == 0) {
		b = block_new(p->dimension);
		if (!b)
			return false;
		blocks->at[p->count / VEC_BLOCK] = b;
	}
	b = blocks->at[p->count / VEC_BLOCK];
	b->keys[in] = key;
	memcpy(b->wide + in * wide_bytes / 2, wide, wide_bytes);
	vec_row_shrink(wide, p->dimension, b->small + in * vec_small_bytes(p->dimension),
		&b->scales[in]);
	p->count++;
	return true;
}

static _Atomic uint64_t *marks_of(struct vec_part *p, uint32_t row)
{
	_Atomic uint64_t *m;

	if (!p->seg)
		return &atomic_load_explicit(&p->blocks, memory_order_relaxed)
				->at[row / VEC_BLOCK]
				->marks[row % VEC_BLOCK];
	m = atomic_load_explicit(&p->marks, memory_order_relaxed);
	if (!m) {
		m = mem_array(p->count, sizeof(*m));
		if (!m)
			return NULL;
		atomic_store_explicit(&p->marks, m, memory_order_release);
	}
	return m + row;
}

bool vec_part_remove(struct vec_part *p, uint32_t row, uint64_t serial)
{
	_Atomic uint64_t *mark;

	if (p->log_count == p->log_cap) {
		uint32_t cap = p->log_cap ? 2 * p->log_cap : FIRST_LOG;
		uint32_t *log = mem_resize(p->log, cap * sizeof(*log));

		if (!log)
			return false;
		p->log = log;
		p->log_cap = cap;
	}
	mark = marks_of(p, row);
	if (!mark)
		return false;
	p->log[p->log_count++] = row;
	atomic_store_explicit(mark, serial, memory_order_relaxed);
	return true;
}

/* ---- reading ---- */

static const struct vec_block *block_of(const struct vec_part *p, uint32_t row)
{
	return atomic_load_explicit(&p->blocks, memory_order_acquire)->at[row / VEC_BLOCK];
}

uint64_t vec_part_mark(const struct vec_part *p, uint32_t row)
{
	const _Atomic uint64_t *m;

	if (!p->seg)
		return atomic_load_explicit(&block_of(p, row)->marks[row % VEC_BLOCK],
			memory_order_relaxed);
	m = atomic_load_explicit(&p->marks, memory_order_acquire);
	return m ? atomic_load_explicit(&m[row], memory_order_relaxed) : 0;
}

bool vec_row_is_dead(const struct vec_part *p, uint32_t row, uint64_t seen)
{
	uint64_t mark;

	if (p->gone && (p->gone[row / 64] >> row % 64 & 1))
		return true;
	mark = vec_part_mark(p, row);
	return mark != 0 && mark <= seen;
}

struct vec_run vec_part_run(const struct vec_part *p, uint32_t first, uint32_t rows)
{
	size_t small = vec_small_bytes(p->dimension), wide = vec_wide_bytes(p->dimension) / 2;
	uint32_t in = first % VEC_BLOCK, left = rows - first;
	const struct vec_block *b;

	if (p->seg)
		return (struct vec_run){ first, left, p->seg->keys + first, p->seg->scales + first,
			p->seg->small + first * small, p->seg->wide + first * wide };
	b = block_of(p, first);
	return (struct vec_run){ first, left < VEC_BLOCK - in ? left : VEC_BLOCK - in, b->keys + in,
		b->scales + in, b->small + in * small, b->wide + in * wide };
}

static int64_t sorted_key(const struct vec_part *p, uint32_t i)
{
	return p->seg ? p->seg->sorted[i] : block_of(p, i)->keys[i % VEC_BLOCK];
}

uint32_t vec_part_find(const struct vec_part *p, uint32_t rows, int64_t key, uint32_t *hint)
{
	uint32_t low = *hint, high = rows;
	uint64_t gap;

	if (low >= rows || sorted_key(p, low) > key)
		return UINT32_MAX;
	/* Keys grow: key stands at most as many places on as it is greater. */
	gap = (uint64_t)key - (uint64_t)sorted_key(p, low);
	if (gap < high - low)
		high = low + (uint32_t)gap + 1;
	if (sorted_key(p, high - 1) <= key)
		low = high - 1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (sorted_key(p, middle) <= key)
			low = middle;
		else
			high = middle;
	}
	*hint = low;
	if (sorted_key(p, low) != key)
		return UINT32_MAX;
	return p->seg ? vec_segment_place(p->seg, low) : low;
}
