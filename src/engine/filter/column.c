/* column.c: packing values of a full block, and getting them back (column.h). */
#include "engine/filter/column.h"

#include "util/mem.h"

bool flt_pairs_reserve(struct flt_pairs *p, size_t n)
{
	uint64_t *values;
	uint16_t *entries;

	if (n <= p->room)
		return true;
	values = mem_array(n, sizeof(*values));
	entries = mem_array(n, sizeof(*entries));
	if (!values || !entries) {
		mem_free(values);
		mem_free(entries);
		return false;
	}
	/* What they held is not wanted any more. */
	flt_pairs_release(p);
	*p = (struct flt_pairs){ values, entries, 0, n };
	return true;
}

void flt_pairs_release(struct flt_pairs *p)
{
	mem_free(p->values);
	mem_free(p->entries);
	*p = (struct flt_pairs){ NULL, NULL, 0, 0 };
}

/* Where the parts of a column go, in bytes from its start. */
struct layout {
	unsigned width;
	bool listed; /* all in `more` */
	size_t more_count, present, values, more, entries, size;
};

static size_t aligned(size_t size)
{
	return (size + 7) / 8 * 8;
}

static void layout_of(struct layout *l, uint64_t range, size_t n, size_t total, size_t distinct)
{
	size_t dense, bits = distinct < n ? (n + 63) / 64 * 8 : 0;

	l->width = range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
	dense = n * l->width + bits + (total - distinct) * (l->width + sizeof(uint16_t));
	l->listed = dense > total * (l->width + sizeof(uint16_t));
	l->more_count = l->listed ? total : total - distinct;
	l->present = aligned(sizeof(struct flt_column));
	l->values = l->present + (l->listed ? 0 : bits);
	l->more = l->values + (l->listed ? 0 : aligned(n * l->width));
	l->entries = l->more + aligned(l->more_count * l->width);
	l->size = l->entries + l->more_count * sizeof(uint16_t);
}

static void store(void *values, unsigned width, size_t i, uint64_t v)
{
	switch (width) {
	case 1:
		((uint8_t *)values)[i] = (uint8_t)v;
		break;
	case 2:
		((uint16_t *)values)[i] = (uint16_t)v;
		break;
	case 4:
		((uint32_t *)values)[i] = (uint32_t)v;
		break;
	default:
		((uint64_t *)values)[i] = v;
	}
}

static void fill(unsigned char *mem, const struct layout *l, const struct flt_pairs *p,
	uint64_t base)
{
	uint64_t *present = (uint64_t *)(void *)(mem + l->present);
	uint16_t *entries = (uint16_t *)(void *)(mem + l->entries);
	size_t more = 0;

	for (size_t i = 0; i < p->n; i++) {
		size_t entry = p->entries[i];
		bool first = i == 0 || p->entries[i - 1] != entry;

		if (first && !l->listed) {
			store(mem + l->values, l->width, entry, p->values[i] - base);
			if (l->values > l->present)
				flt_bit_set(present, entry);
			continue;
		}
		store(mem + l->more, l->width, more, p->values[i] - base);
		entries[more++] = (uint16_t)entry;
	}
}

struct flt_column *flt_column_new(size_t field, const struct flt_pairs *p, uint32_t n)
{
	uint64_t base = p->values[0], max = p->values[0];
	struct flt_column *c;
	unsigned char *mem;
	size_t distinct = 0;
	struct layout l;

	for (size_t i = 0; i < p->n; i++) {
		base = p->values[i] < base ? p->values[i] : base;
		max = p->values[i] > max ? p->values[i] : max;
		distinct += i == 0 || p->entries[i - 1] != p->entries[i];
	}
	layout_of(&l, max - base, n, p->n, distinct);
	mem = mem_zero(l.size);
	if (!mem)
		return NULL;
	fill(mem, &l, p, base);
	c = (struct flt_column *)(void *)mem;
	c->field = field;
	c->base = base;
	c->max = max;
	c->width = l.width;
	c->values = l.listed ? NULL : mem + l.values;
	c->present = l.values > l.present ? (const uint64_t *)(void *)(mem + l.present) : NULL;
	c->more = mem + l.more;
	c->more_entries = (const uint16_t *)(void *)(mem + l.entries);
	c->more_count = (uint32_t)l.more_count;
	c->bytes = l.size;
	return c;
}

void flt_column_free(struct flt_column *c)
{
	mem_free(c);
}

size_t flt_column_count(const struct flt_column *c, uint32_t n)
{
	return (c->values ? n : 0) + (size_t)c->more_count;
}

static void pair_add(struct flt_pairs *p, uint32_t entry, uint64_t value)
{
	p->values[p->n] = value;
	p->entries[p->n++] = (uint16_t)entry;
}

void flt_column_pairs(const struct flt_column *c, uint32_t n, const uint64_t *keep,
	struct flt_pairs *p)
{
	uint32_t more = 0, to = 0;

	for (uint32_t entry = 0; entry < n; entry++) {
		bool kept = flt_bit(keep, entry);

		if (kept && c->values && (!c->present || flt_bit(c->present, entry)))
			pair_add(p, to, c->base + flt_load(c->values, c->width, entry));
		for (; more < c->more_count && c->more_entries[more] == entry; more++)
			if (kept)
				pair_add(p, to, c->base + flt_load(c->more, c->width, more));
		to += kept;
	}
}

bool flt_column_latest(const struct flt_column *c, uint32_t entry, uint64_t *ret)
{
	uint32_t low = 0, high = c->more_count;
	bool found = c->values && (!c->present || flt_bit(c->present, entry));
	uint64_t best = found ? c->base + flt_load(c->values, c->width, entry) : 0;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (c->more_entries[middle] < entry)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < c->more_count && c->more_entries[low] == entry; low++) {
		uint64_t v = c->base + flt_load(c->more, c->width, low);

		best = !found || v > best ? v : best;
		found = true;
	}
	if (found)
		*ret = best;
	return found;
}
