/*
 * static_read.c: the three files of a static table to a model. Every number that would
 * lead out of the table or make a vector that is not finite is refused here, so that
 * nothing has to be checked afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/load.h"
#include "models/static_private.h"
#include "util/crypto.h"
#include "util/mem.h"

#define MAX_FILE ((size_t)2 << 30)
#define MAX_CONFIG 65536

extern const char rcpd_table_tokenizer[], rcpd_table_tokenizer_end[];
extern const char rcpd_table_tensors[], rcpd_table_tensors_end[];
extern const char rcpd_table_config[], rcpd_table_config_end[];

static enum status nomem(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

/* A vector of floats, one for each of n; NULL and ST_OK if the tensor is missing. */
static enum status read_floats(const struct safetensors *s, const char *name, size_t n, float **ret,
	struct error *e)
{
	struct tensor t = { 0 };
	struct error none;
	enum status st = safetensors_get(s, name, &t, &none);

	if (st == ST_NOT_FOUND)
		return ST_OK;
	if (st != ST_OK)
		return error_set(e, st, "model.safetensors: %s", none.message);
	if (t.columns != 1 || t.rows < n || t.type == TENSOR_I64)
		return error_set(e, ST_INVALID, "model.safetensors: '%s' is not one number a row",
			name);
	*ret = mem_array(n + 1, sizeof **ret);
	if (!*ret)
		return nomem(e);
	for (size_t i = 0; i < n; i++) {
		(*ret)[i] = tensor_float(&t, i);
		if (!isfinite((*ret)[i]))
			return error_set(e, ST_INVALID, "model.safetensors: '%s' is not finite",
				name);
	}
	return ST_OK;
}

static enum status read_mapping(const struct safetensors *s, struct static_model *m,
	struct error *e)
{
	struct tensor t = { 0 };
	struct error none;
	enum status st = safetensors_get(s, "mapping", &t, &none);

	if (st == ST_NOT_FOUND)
		return m->table.rows >= m->vocabulary
			? ST_OK
			: error_set(e, ST_INVALID, "model.safetensors has %zu rows for %zu tokens",
				  m->table.rows, m->vocabulary);
	if (st != ST_OK)
		return error_set(e, st, "model.safetensors: %s", none.message);
	if (t.type != TENSOR_I64 || t.columns != 1 || t.rows < m->vocabulary)
		return error_set(e, ST_INVALID,
			"model.safetensors: 'mapping' is not one int64 a "
			"token");
	m->mapping = mem_array(m->vocabulary + 1, sizeof *m->mapping);
	if (!m->mapping)
		return nomem(e);
	for (size_t i = 0; i < m->vocabulary; i++) {
		int64_t row = tensor_integer(&t, i);

		if (row < 0 || (uint64_t)row >= m->table.rows || row > UINT32_MAX)
			return error_set(e, ST_INVALID,
				"model.safetensors: 'mapping' leads out of "
				"the table");
		m->mapping[i] = (uint32_t)row;
	}
	return ST_OK;
}

static enum status check_table(const struct static_model *m, struct error *e)
{
	const struct tensor *t = &m->table;

	if (t->type == TENSOR_I64 || t->columns == 0 || t->columns > STATIC_MAX_DIMENSION)
		return error_set(e, ST_INVALID,
			"model.safetensors: 'embeddings' is no table of up "
			"to %d dimensions",
			STATIC_MAX_DIMENSION);
	for (size_t i = 0; t->type != TENSOR_I8 && i < t->rows * t->columns; i++)
		if (!isfinite(tensor_float(t, i)))
			return error_set(e, ST_INVALID, "model.safetensors: row %zu is not finite",
				i / t->columns);
	return ST_OK;
}

static enum status read_tensors(struct static_model *m, struct bytes file, struct error *e)
{
	struct safetensors s;
	struct error inner = { 0 };
	enum status st = safetensors_open(file, &s, &inner);

	if (st == ST_OK) {
		st = safetensors_get(&s, "embeddings", &m->table, &inner);
		if (st == ST_NOT_FOUND)
			st = safetensors_get(&s, "embedding.weight", &m->table, &inner);
		if (st == ST_NOT_FOUND)
			st = error_set(&inner, ST_INVALID, "there is no tensor 'embeddings'");
	}
	if (st != ST_OK)
		(void)error_set(e, st, "model.safetensors: %s", inner.message);
	if (st == ST_OK)
		st = check_table(m, e);
	m->dimension = m->table.columns;
	m->padded = (m->dimension + STATIC_LANES - 1) / STATIC_LANES * STATIC_LANES;
	if (st == ST_OK && m->table.type == TENSOR_I8)
		st = read_floats(&s, "scales", m->table.rows, &m->scales, e);
	if (st == ST_OK)
		st = read_floats(&s, "weights", m->vocabulary, &m->weights, e);
	if (st == ST_OK)
		st = read_mapping(&s, m, e);
	safetensors_close(&s);
	return st;
}

static bool plain_name(const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)s[i] <= ' ' || (unsigned char)s[i] >= 127)
			return false;
	return n > 0 && n <= 64;
}

/* "NAME@DIGEST" */
static enum status identify(struct static_model *m, const char *name, const struct bytes files[3],
	struct error *e)
{
	unsigned char each[3][CRYPTO_SHA256_LEN], all[CRYPTO_SHA256_LEN];
	char hex[2 * CRYPTO_SHA256_LEN + 1];
	size_t size = strlen(name) + 14;

	for (size_t i = 0; i < 3; i++)
		if (crypto_sha256(files[i].len ? files[i].data : "", files[i].len, each[i]) !=
			ST_OK)
			return error_set(e, ST_INTERNAL, "no SHA-256");
	if (crypto_sha256(each, sizeof each, all) != ST_OK)
		return error_set(e, ST_INTERNAL, "no SHA-256");
	crypto_hex(all, 6, hex);
	m->identity = mem_alloc(size);
	if (!m->identity)
		return nomem(e);
	(void)snprintf(m->identity, size, "%s@%s", name, hex);
	return ST_OK;
}

static enum status read_config(struct static_model *m, const struct bytes files[3], struct error *e)
{
	struct bytes text = files[2];
	json_t *root;
	const json_t *name, *normalize;
	enum status st;

	if (!text.data)
		return identify(m, "static", files, e);
	st = load_json(text, "config.json", &root, e);
	if (st != ST_OK)
		return st;
	name = json_object_get(root, "name");
	normalize = json_object_get(root, "normalize");
	if (!json_is_object(root))
		st = error_set(e, ST_INVALID, "config.json is no JSON object");
	else if (normalize && !json_is_boolean(normalize))
		st = error_set(e, ST_INVALID, "config.json: 'normalize' is neither true nor false");
	else if (name && (!json_is_string(name) || !plain_name(json_string_value(name))))
		st = error_set(e, ST_INVALID, "config.json: 'name' is no name of up to 64 letters");
	else
		st = identify(m, name ? json_string_value(name) : "static", files, e);
	json_decref(root);
	return st;
}

static enum status read_files(struct static_model *m, const struct bytes files[3], struct error *e)
{
	struct error inner = { 0 };
	enum status st = tokenizer_read(files[0], &m->tokenizer, &inner);

	if (st != ST_OK)
		return error_set(e, st, "tokenizer.json: %s", inner.message);
	m->vocabulary = tokenizer_vocabulary(m->tokenizer);
	st = read_tensors(m, files[1], e);
	return st == ST_OK ? read_config(m, files, e) : st;
}

enum status static_model_read(struct bytes tokenizer, struct bytes tensors, struct bytes config,
	struct static_model **ret, struct error *e)
{
	const struct bytes files[3] = { tokenizer, tensors, config };
	struct static_model *m = mem_zero(sizeof *m);
	enum status st;

	*ret = NULL;
	if (!m)
		return nomem(e);
	st = read_files(m, files, e);
	if (st != ST_OK) {
		static_model_close(m);
		return st;
	}
	*ret = m;
	return ST_OK;
}

enum status static_model_builtin(struct static_model **ret, struct error *e)
{
#define BETWEEN(a, b) ((struct bytes){ a, (size_t)((b) - (a)) })
	return static_model_read(BETWEEN(rcpd_table_tokenizer, rcpd_table_tokenizer_end),
		BETWEEN(rcpd_table_tensors, rcpd_table_tensors_end),
		BETWEEN(rcpd_table_config, rcpd_table_config_end), ret, e);
}

static enum status read_whole(int fd, char *p, size_t n)
{
	while (n > 0) {
		ssize_t got = read(fd, p, n);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return ST_IO;
		p += got;
		n -= (size_t)got;
	}
	return ST_OK;
}

/* A file's bytes, new. */
static enum status load(const char *dir, const char *name, size_t max, struct bytes *ret,
	struct error *e)
{
	char path[PATH_MAX];
	struct stat info;
	enum status st = ST_OK;
	char *p = NULL;
	int fd;

	if (snprintf(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path)
		return error_set(e, ST_INVALID, "the folder's name is too long");
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_set(e, errno == ENOENT || errno == ENOTDIR ? ST_NOT_FOUND : ST_IO,
			"cannot open '%s': %s", path, strerrorname_np(errno));
	if (fstat(fd, &info) < 0 || !S_ISREG(info.st_mode))
		st = error_set(e, ST_IO, "'%s' is no file", path);
	else if ((uint64_t)info.st_size > max)
		st = error_set(e, ST_TOO_LARGE, "'%s' is too large", path);
	else if (!(p = mem_alloc((size_t)info.st_size + 1)))
		st = nomem(e);
	else if (read_whole(fd, p, (size_t)info.st_size) != ST_OK)
		st = error_set(e, ST_IO, "cannot read '%s'", path);
	(void)close(fd);
	if (st != ST_OK) {
		mem_free(p);
		return st;
	}
	*ret = (struct bytes){ p, (size_t)info.st_size };
	return ST_OK;
}

static void drop(struct bytes b)
{
	union { /* it is ours, and was not const */
		const char *from;
		char *to;
	} p = { b.data };

	mem_free(p.to);
}

enum status static_model_open(const char *dir, struct static_model **ret, struct error *e)
{
	static const char *const names[] = { "tokenizer.json", "model.safetensors", "config.json" };
	static const size_t most[] = { MAX_FILE, MAX_FILE, MAX_CONFIG };
	struct bytes files[3] = { BYTES_NONE, BYTES_NONE, BYTES_NONE };
	enum status st = ST_OK;

	*ret = NULL;
	for (size_t i = 0; i < 3 && st == ST_OK; i++) {
		st = load(dir, names[i], most[i], &files[i], e);
		if (i == 2 && st == ST_NOT_FOUND)
			st = ST_OK;
	}
	if (st == ST_OK)
		st = static_model_read(files[0], files[1], files[2], ret, e);
	drop(files[0]);
	drop(files[2]);
	if (st == ST_OK) {
		union {
			const char *from;
			char *to;
		} p = { files[1].data };
		(*ret)->owned = p.to;
	} else {
		drop(files[1]);
	}
	return st;
}
