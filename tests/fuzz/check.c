/*
 * check.c: see check.h. REQ: M3 M4 M5 M14 C2 D6 D18 D19.
 */
#include "check.h"

#include <string.h>

#include "fuzz.h"

static const int codes[] = { -32700, -32600, -32602, -32603, -32001, -32002, -32003, -32004, -32005,
	-32006, -32010, -32011, -32012, -32013, -32014, -32015, -32016 };

json_t *check_parse(const char *text, size_t len, bool *lossy)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
	json_t *v = lossy && *lossy ? NULL : json_loadb(text, len, flags, NULL);

	if (v || !lossy)
		return v;
	*lossy = true;
	return json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, NULL);
}

static bool is_version(const json_t *v)
{
	return json_string_length(v) == 3 && strcmp(json_string_value(v), "2.0") == 0;
}

static bool is_id(const json_t *v)
{
	return json_is_string(v) || json_is_number(v);
}

int check_response(const json_t *v)
{
	const json_t *error = json_object_get(v, "error");
	const json_t *id = json_object_get(v, "id");
	const json_t *code = json_object_get(error, "code");
	size_t known = 0;

	FUZZ_CHECK(json_is_object(v));
	FUZZ_CHECK(is_version(json_object_get(v, "jsonrpc")));
	FUZZ_CHECK(is_id(id) || json_is_null(id));
	FUZZ_CHECK(!json_object_get(v, "result") == (error != NULL));
	if (!error) {
		FUZZ_CHECK(is_id(id));
		return 0;
	}
	FUZZ_CHECK(json_is_number(code));
	FUZZ_CHECK(json_string_length(json_object_get(error, "message")) > 0);
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		known += codes[i] == (int)json_number_value(code);
	FUZZ_CHECK(known == 1);
	FUZZ_CHECK((int)json_number_value(code) != -32603);
	return (int)json_number_value(code);
}

void check_notification(const json_t *v)
{
	const char *method = json_string_value(json_object_get(v, "method"));

	FUZZ_CHECK(json_is_object(v));
	FUZZ_CHECK(is_version(json_object_get(v, "jsonrpc")));
	FUZZ_CHECK(!json_object_get(v, "id"));
	FUZZ_CHECK(method &&
		(strcmp(method, "notifications/progress") == 0 ||
			strcmp(method, "notifications/log") == 0));
	FUZZ_CHECK(json_is_object(json_object_get(v, "params")));
}

enum check_due check_due(const json_t *m, bool compact)
{
	const json_t *version = json_object_get(m, "jsonrpc");
	const json_t *method = json_object_get(m, "method");
	bool silent = json_is_string(method) &&
		strncmp(json_string_value(method), "notifications/", 14) == 0;

	if (!json_is_object(m) || !json_is_string(method))
		return CHECK_DUE_YES;
	if (is_version(version))
		return json_object_get(m, "id") ? CHECK_DUE_YES : CHECK_DUE_NO;
	if (silent && compact && (!version || json_is_null(version)))
		return json_object_get(m, "id") ? CHECK_DUE_EITHER : CHECK_DUE_NO;
	return CHECK_DUE_YES;
}

static void check_id(const json_t *m, const json_t *answer, int code)
{
	const json_t *sent = json_object_get(m, "id");
	const json_t *got = json_object_get(answer, "id");

	if (is_id(sent))
		FUZZ_CHECK(json_equal(sent, got));
	else if (code == 0) /* compact without an id: D18 */
		FUZZ_CHECK(json_is_number(got) &&
			!(json_number_value(got) < 0 || json_number_value(got) > 0));
}

static void check_single(const json_t *m, const json_t *answer, bool compact)
{
	enum check_due due = check_due(m, compact);
	int code = answer ? check_response(answer) : 0;

	/* Over a limit (M15) the message was not looked at. */
	if (code == -32700 || (code == -32013 && json_is_null(json_object_get(answer, "id"))))
		return;
	FUZZ_CHECK(due != CHECK_DUE_YES || answer);
	FUZZ_CHECK(due != CHECK_DUE_NO || !answer);
	if (answer)
		check_id(m, answer, code);
}

static void check_batch(const json_t *batch, const json_t *answer, bool compact)
{
	size_t least = 0, most = 0, i;
	json_t *m;

	json_array_foreach(batch, i, m)
	{
		enum check_due due = check_due(m, compact);
		least += due == CHECK_DUE_YES;
		most += due != CHECK_DUE_NO;
	}
	if (json_is_object(answer)) { /* refused as a whole */
		int code = check_response(answer);
		FUZZ_CHECK(code == -32600 || code == -32700 || code == -32013);
		FUZZ_CHECK(json_is_null(json_object_get(answer, "id")));
		return;
	}
	FUZZ_CHECK(json_array_size(batch) > 0);
	FUZZ_CHECK(!answer == (json_array_size(answer) == 0));
	FUZZ_CHECK(json_array_size(answer) >= least && json_array_size(answer) <= most);
	json_array_foreach(answer, i, m)(void) check_response(m);
}

void check_answer(const json_t *message, const json_t *answer, bool compact)
{
	if (json_is_array(message)) {
		check_batch(message, answer, compact);
	} else if (json_is_object(message)) {
		check_single(message, answer, compact);
	} else { /* no JSON, or neither object nor array */
		FUZZ_CHECK(answer && check_response(answer) != 0);
	}
}
