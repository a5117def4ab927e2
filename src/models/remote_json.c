/* remote_json.c: small steps in building requests and reading answers. */
#include <math.h>

#include "models/remote_private.h"
#include "util/utf8.h"

struct bytes remote_text(const struct remote *r, struct bytes text)
{
	if (text.len == 0)
		return bytes_of(" ");
	if (text.len > r->opt.max_text)
		text.len = utf8_floor(text.data, text.len, r->opt.max_text);
	return text;
}

enum status remote_check_texts(const struct bytes *texts, size_t n, struct error *e)
{
	for (size_t i = 0; i < n; i++)
		if (!utf8_valid(texts[i].data, texts[i].len))
			return error_set(e, ST_INVALID, "a text is not valid UTF-8");
	return ST_OK;
}

json_t *remote_texts(const struct remote *r, const struct bytes *texts, size_t n)
{
	json_t *list = json_array();

	for (size_t i = 0; list && i < n; i++) {
		struct bytes t = remote_text(r, texts[i]);
		if (json_array_append_new(list, json_stringn(t.data, t.len)) != 0) {
			json_decref(list);
			list = NULL;
		}
	}
	return list;
}

bool remote_member(json_t **o, const char *key, json_t *value)
{
	if (json_object_set_new(*o, key, value) == 0)
		return true;
	json_decref(*o);
	*o = NULL;
	return false;
}

json_t *remote_request(const struct remote *r)
{
	json_t *o = json_object();

	if (o && r->model[0])
		(void)remote_member(&o, "model", json_string(r->model));
	return o;
}

bool remote_number(const json_t *v, double *ret)
{
	if (!json_is_number(v))
		return false;
	*ret = json_number_value(v);
	return isfinite(*ret);
}

bool remote_index(const json_t *v, uint64_t max, uint64_t *ret)
{
	json_int_t i = json_integer_value(v);

	if (!json_is_integer(v) || i < 0 || (uint64_t)i >= max)
		return false;
	*ret = (uint64_t)i;
	return true;
}
