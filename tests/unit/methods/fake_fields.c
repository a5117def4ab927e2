/* fake_fields.c: see fake_fields.h. */
#include "fake_fields.h"

static const struct {
	const char *name;
	enum engine_type type;
} fields[FAKE_FIELDS] = {
	[FAKE_KW] = { "kw", ENGINE_KEYWORD },
	[FAKE_PROSE] = { "prose", ENGINE_PROSE },
	[FAKE_N] = { "n", ENGINE_INT },
	[FAKE_X] = { "x", ENGINE_FLOAT },
	[FAKE_FLAG] = { "flag", ENGINE_BOOL },
	[FAKE_DAY] = { "day", ENGINE_DATE },
	[FAKE_PATH] = { "a.b c", ENGINE_KEYWORD },
	[FAKE_LATE] = { "late", ENGINE_INT },
};

size_t engine_field_count(struct engine *en)
{
	(void)en;
	return FAKE_FIELDS;
}

void engine_field_at(struct engine *en, size_t i, struct engine_field *ret)
{
	(void)en;
	*ret = (struct engine_field){ bytes_of(fields[i].name), fields[i].type, false };
}

bool engine_field_find(struct engine *en, struct bytes name, size_t *ret)
{
	(void)en;
	for (size_t i = 0; i < FAKE_FIELDS; i++)
		if (bytes_eq(name, bytes_of(fields[i].name))) {
			*ret = i;
			return true;
		}
	return false;
}
