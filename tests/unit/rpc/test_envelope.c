/* Envelopes (REQ: M1, M2, M4, M5, M6, M12, D11, D18, D19). */
#include "fixture.h"

#include <string.h>

#include "rpc/envelope.h"

static struct envelope read_one(const char *text, bool compact)
{
	static json_t *kept;
	struct rpc_error err;
	struct envelope env;

	json_decref(kept);
	kept = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_non_null(kept);
	envelope_read(kept, bytes_of("RAW"), compact, &env, &err);
	return env;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *text;
		enum envelope_kind http, stdio;
		const char *id; /* over HTTP; NULL: null */
	} cases[] = {
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"m\"}", ENVELOPE_REQUEST,
			ENVELOPE_REQUEST, "RAW" },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"m\"}", ENVELOPE_NOTIFICATION,
			ENVELOPE_NOTIFICATION, NULL },
		{ "{\"method\":\"m\"}", ENVELOPE_REQUEST, ENVELOPE_INVALID, "0" },
		{ "{\"jsonrpc\":null,\"method\":\"m\",\"id\":\"x\"}", ENVELOPE_REQUEST,
			ENVELOPE_INVALID, "RAW" },
		{ "{\"method\":\"notifications/cancel\"}", ENVELOPE_NOTIFICATION, ENVELOPE_INVALID,
			NULL },
		{ "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\",\"id\":1}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, "RAW" },
		{ "{\"jsonrpc\":\"1.0\",\"method\":\"m\",\"id\":1}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, "RAW" },
		{ "{\"jsonrpc\":2.0,\"method\":\"m\",\"id\":1}", ENVELOPE_INVALID, ENVELOPE_INVALID,
			"RAW" },
		{ "{\"jsonrpc\":\"2.0\"}", ENVELOPE_INVALID, ENVELOPE_INVALID, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1}", ENVELOPE_INVALID, ENVELOPE_INVALID, "RAW" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", ENVELOPE_INVALID, ENVELOPE_INVALID,
			"RAW" },
		{ "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"m\"}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":true,\"method\":\"m\"}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":[1],\"method\":\"m\"}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, NULL },
		{ "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"m\"}", ENVELOPE_INVALID,
			ENVELOPE_INVALID, NULL },
		{ "{}", ENVELOPE_INVALID, ENVELOPE_INVALID, NULL },
		{ "[]", ENVELOPE_INVALID, ENVELOPE_INVALID, NULL },
		{ "5", ENVELOPE_INVALID, ENVELOPE_INVALID, NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct envelope http = read_one(cases[i].text, true);

		if (http.kind != cases[i].http ||
			read_one(cases[i].text, false).kind != cases[i].stdio)
			fail_msg("wrong kind: %s", cases[i].text);
		if (!bytes_eq(http.id, bytes_of(cases[i].id)))
			fail_msg("wrong id: %s", cases[i].text);
	}
	read_one("0", true); /* drops the last kept value's text */
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kinds) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
