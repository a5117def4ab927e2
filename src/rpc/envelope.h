/* rpc/envelope.h: what one message says it is (M1-M5, D11, D18, D19). */
#ifndef RCPD_RPC_ENVELOPE_H
#define RCPD_RPC_ENVELOPE_H

#include <jansson.h>
#include <stdbool.h>

#include "rpc/error.h"
#include "util/bytes.h"

enum envelope_kind { ENVELOPE_REQUEST, ENVELOPE_NOTIFICATION, ENVELOPE_INVALID };

struct envelope {
	enum envelope_kind kind;
	struct bytes id;        /* raw JSON text; NONE stands for null */
	const json_t *id_value; /* NULL when the compact form had none */
	struct bytes method;    /* borrowed; NONE when invalid */
	const json_t *params;   /* borrowed; NULL, null or any type: checked later (D20) */
};

/*
 * Reads one parsed message; raw_id is where the text of its id stands. compact:
 * `jsonrpc` may be missing (over HTTP). Fills err when the kind is INVALID.
 */
void envelope_read(const json_t *message, struct bytes raw_id, bool compact, struct envelope *ret,
	struct rpc_error *err);

#endif
