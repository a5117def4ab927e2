/*
 * filter.c: the writer's side: fields, and chunks that come and go. An addition first
 * gets all the memory that it needs; what follows cannot fail. Memory that was got in
 * vain stays where the next addition finds it.
 */
#include "engine/filter/private.h"
#include "engine/filter/types.h"
#include "util/hash.h"
#include "util/mem.h"

#define MOST_FIELDS 65535U

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "not enough memory for the filter columns");
}

enum status filter_new(const struct filter_options *opt, struct filter **ret, struct error *e)
{
	struct filter *f;
	size_t slots = 8;

	if (opt->max_fields > MOST_FIELDS)
		return error_set(e, ST_INVALID, "at most %u fields can be filtered by",
			MOST_FIELDS);
	f = mem_zero(sizeof(*f));
	if (!f)
		return no_memory(e);
	while (slots < opt->max_fields * 2)
		slots *= 2;
	f->max_fields = opt->max_fields;
	f->name_mask = slots - 1;
	f->names = mem_array(slots, sizeof(f->names[0]));
	f->fields = mem_array(opt->max_fields, sizeof(struct flt_field *));
	if (!f->names || !f->fields || !flt_cache_init(&f->cache, opt->cache_bytes)) {
		mem_free(f->names);
		mem_free(f->fields);
		mem_free(f);
		return no_memory(e);
	}
	*ret = f;
	return ST_OK;
}

void filter_free(struct filter *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->block_count; i++)
		flt_block_unref(f->blocks[i]);
	for (size_t i = 0; i < f->field_count; i++) {
		flt_dict_release(&f->fields[i]->dict);
		mem_free(f->fields[i]);
	}
	flt_block_unref(f->spare);
	flt_cache_release(&f->cache);
	mem_free(f->blocks);
	mem_free(f->orders);
	mem_free(f->names);
	mem_free(f->fields);
	mem_free(f);
}

/* The slot of a name, or the free one where it would go. */
static uint32_t *name_slot(const struct filter *f, struct bytes name)
{
	size_t i = hash_bytes(name.data, name.len) & f->name_mask;

	while (f->names[i] && !bytes_eq(f->fields[f->names[i] - 1]->name, name))
		i = (i + 1) & f->name_mask;
	return &f->names[i];
}

enum status filter_define(struct filter *f, struct bytes name, enum engine_type type, size_t *ret,
	struct error *e)
{
	struct flt_field *field;
	char *copy;

	if (f->field_count == f->max_fields)
		return error_set(e, ST_FULL, "no more than %zu fields can be filtered by",
			f->max_fields);
	field = mem_zero(sizeof(*field) + name.len);
	if (!field)
		return no_memory(e);
	copy = (char *)(field + 1);
	if (name.len)
		memcpy(copy, name.data, name.len);
	field->name = (struct bytes){ copy, name.len };
	field->type = type;
	f->fields[f->field_count] = field;
	*name_slot(f, name) = (uint32_t)f->field_count + 1;
	*ret = f->field_count++;
	atomic_fetch_add_explicit(&f->bytes, sizeof(*field) + name.len, memory_order_relaxed);
	return ST_OK;
}

bool filter_field(const struct filter *f, struct bytes name, size_t *ret,
	enum engine_type *ret_type)
{
	uint32_t slot = *name_slot(f, name);

	if (slot == 0)
		return false;
	*ret = slot - 1;
	*ret_type = f->fields[slot - 1]->type;
	return true;
}

static struct flt_block *open_block(const struct filter *f)
{
	struct flt_block *b = f->block_count > 0 ? f->blocks[f->block_count - 1] : NULL;

	return b && b->lists ? b : NULL;
}

/* The block for the key: the open one, or the spare one, which is to follow it. NULL
 * when out of memory. */
static struct flt_block *block_for(struct filter *f, int64_t key)
{
	struct flt_block *b = open_block(f);

	if (b && b->no == flt_block_no(key))
		return b;
	if (!f->spare)
		f->spare = flt_block_new(&f->bytes, key, f->max_fields);
	else
		flt_block_begin(f->spare, key);
	return f->spare;
}

/* Makes the spare block the open one, after the open one was sealed. False when out of
 * memory: then nothing changed. */
static bool turn_over(struct filter *f)
{
	struct flt_block *b = open_block(f), *full;

	if (f->block_count == f->block_room) {
		size_t room = f->block_room ? f->block_room * 2 : 16;
		struct flt_block **blocks;

		blocks = mem_resize(f->blocks, room * sizeof(struct flt_block *));
		if (!blocks)
			return false;
		f->blocks = blocks;
		f->block_room = room;
	}
	if (b) {
		full = flt_block_seal(b);
		if (!full)
			return false;
		flt_block_unref(b);
		f->blocks[f->block_count - 1] = full;
	}
	f->blocks[f->block_count++] = f->spare;
	f->spare = NULL;
	return true;
}

/* A string's number, or a value's. False when out of memory. */
static bool order_of(struct filter *f, const struct filter_value *v, uint64_t *ret)
{
	struct flt_field *field = f->fields[v->field];
	bool element = field->type == ENGINE_KEYWORD && v->v.element;
	size_t before = field->dict.bytes;
	uint32_t code;
	bool added;

	if (!flt_is_string(field->type))
		return true;
	added = flt_dict_add(&field->dict, v->v.s, &code);
	atomic_fetch_add_explicit(&f->bytes, field->dict.bytes - before, memory_order_relaxed);
	if (added)
		*ret = (uint64_t)code * 2 + element;
	return added;
}

static bool orders_reserve(struct filter *f, size_t n)
{
	uint64_t *orders = n > f->order_room ? mem_array(n, sizeof(orders[0])) : f->orders;

	if (n <= f->order_room)
		return true;
	if (!orders)
		return false;
	mem_free(f->orders);
	f->orders = orders;
	f->order_room = n;
	return true;
}

static bool is_usable(const struct filter *f, const struct filter_value *v, uint64_t *ret)
{
	return v->field < f->field_count && flt_value_order(f->fields[v->field]->type, &v->v, ret);
}

/* Gives back what was reserved for values that will not come now. */
static void unreserve(const struct filter *f, struct flt_block *b,
	const struct filter_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct flt_list *l = values[i].field < f->field_count
			? atomic_load_explicit(&b->lists[values[i].field], memory_order_relaxed)
			: NULL;
		if (l)
			l->pending = 0;
	}
}

/* Gets the memory for the values that suit; nothing can be seen of it yet. */
static bool reserve(struct filter *f, struct flt_block *b, const struct filter_value *values,
	size_t n)
{
	size_t bytes = 0;
	bool good = true;

	for (size_t i = 0; i < n && good; i++) {
		struct flt_list *l;

		if (!is_usable(f, &values[i], &f->orders[i]))
			continue;
		l = flt_block_list(b, values[i].field);
		good = l && order_of(f, &values[i], &f->orders[i]) && flt_list_reserve(l, &bytes);
	}
	flt_block_count(b, bytes);
	return good;
}

enum status filter_add(struct filter *f, int64_t key, const struct filter_value *values, size_t n,
	uint64_t *ret_contradictions, struct error *e)
{
	uint64_t left_out = 0, order;
	struct flt_block *b;

	if (f->has_key && key <= f->last_key)
		return error_set(e, ST_INTERNAL, "a chunk came out of order");
	b = block_for(f, key);
	if (!b || !orders_reserve(f, n))
		return no_memory(e);
	if (!flt_block_make_room(b, key) || !reserve(f, b, values, n) ||
		(b == f->spare && !turn_over(f))) {
		unreserve(f, b, values, n);
		return no_memory(e);
	}
	for (size_t i = 0; i < n; i++) {
		if (is_usable(f, &values[i], &order))
			flt_list_add(atomic_load_explicit(&b->lists[values[i].field],
					     memory_order_relaxed),
				(uint16_t)b->n, f->orders[i]);
		else
			left_out++;
	}
	flt_block_add(b, key);
	f->has_key = true;
	f->last_key = key;
	if (ret_contradictions)
		*ret_contradictions += left_out;
	return ST_OK;
}

/* The place of the block with that number. False if there is none. */
static bool find_block(const struct filter *f, int64_t no, size_t *ret)
{
	size_t low = 0, high = f->block_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->blocks[middle]->no < no)
			low = middle + 1;
		else
			high = middle;
	}
	*ret = low;
	return low < f->block_count && f->blocks[low]->no == no;
}

void filter_forget(struct filter *f, int64_t key)
{
	size_t i;

	if (find_block(f, flt_block_no(key), &i))
		(void)flt_block_forget(f->blocks[i], key);
}
