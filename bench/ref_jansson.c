/*
 * ref_jansson.c: the second reference: parses the JSON-RPC request with Jansson,
 * puts its id (and, for ping, its nonce) into an answer of the server's form and
 * dumps that. The answer given with --answer is one that the server itself sent.
 */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "ref.h"

static json_t *result_parse(const struct ref_answer *a)
{
	json_error_t why;
	json_t *whole = json_loadb(a->data, a->len, JSON_ALLOW_NUL, &why);
	json_t *result = json_incref(json_object_get(whole, "result"));

	json_decref(whole);
	return result;
}

static int prepare(struct ref_answer *a)
{
	json_t *result = result_parse(a);

	if (!result)
		(void)fprintf(stderr, "%s: no JSON-RPC result in it\n", a->path);
	json_decref(result);
	json_object_seed(0);
	return result ? 0 : -1;
}

/* The stored result, a tree of each thread's own: no lock guards the counts in it. */
static json_t *result_stored(const struct ref_answer *a)
{
	static _Thread_local json_t *own[REF_ANSWERS];

	if (!own[a->number])
		own[a->number] = result_parse(a);
	return json_incref(own[a->number]);
}

/* The result to send: the stored one, or a new one around the request's nonce. */
static json_t *result_of(const struct ref_answer *a, json_t *request)
{
	json_t *nonce = json_object_get(json_object_get(request, "params"), "nonce");

	return nonce ? json_pack("{sO}", "nonce", nonce) : result_stored(a);
}

static char *reply(struct ref_answer *a, const char *body, size_t len, size_t *ret_len,
	int *ret_owned)
{
	json_error_t why;
	json_t *request = json_loadb(body, len, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &why);
	json_t *id = json_object_get(request, "id");
	const char *version = json_string_value(json_object_get(request, "jsonrpc"));
	char *text = NULL;

	if (id && version && strcmp(version, "2.0") == 0 &&
		json_is_string(json_object_get(request, "method"))) {
		json_t *answer = json_pack("{sssOso}", "jsonrpc", "2.0", "id", id, "result",
			result_of(a, request));
		text = json_dumps(answer, JSON_COMPACT);
		json_decref(answer);
	}
	json_decref(request);
	*ret_len = text ? strlen(text) : 0;
	*ret_owned = 1;
	return text;
}

int main(int argc, char **argv)
{
	return ref_main(argc, argv, prepare, reply);
}
