/*
 * rpc/params.h: parameters by table. One row a field: name, type, where it goes,
 * range, whether it must be there. The same rows serve parsing, documentation,
 * OpenAPI and the manifest, so they cannot drift apart.
 *
 * Rules for all (M8-M11, D29, D31): unknown members are ignored; null is absent;
 * integers may be written 5.0 or 1e1 and must lie within 53 bits; a bad value is
 * -32602 with error.data.field = its path. Named values (modes, units) are strings
 * here; the method's check knows which of them are offered.
 */
#ifndef RCPD_RPC_PARAMS_H
#define RCPD_RPC_PARAMS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/error.h"
#include "util/arena.h"
#include "util/bytes.h"

enum rpc_param_type {
	RPC_P_INT,    /* struct rpc_int */
	RPC_P_REAL,   /* struct rpc_real */
	RPC_P_BOOL,   /* enum rpc_tristate (unsigned char) */
	RPC_P_STRING, /* struct bytes */
	RPC_P_TEXT,   /* struct rpc_text: string, content block or array of blocks (M13) */
	RPC_P_OBJECT, /* the sub-table's struct, inline; its `present` is a bool at offset 0 */
	RPC_P_FALSE_OR_OBJECT, /* as OBJECT, or false: then present stays false */
	RPC_P_JSON,            /* const json_t *: any value, borrowed from the message */
	RPC_P_JSON_OBJECT,     /* const json_t *: an object */
	RPC_P_JSON_ARRAY,      /* const json_t *: an array */
	RPC_P_STRINGS,         /* struct rpc_strings: array of strings */
	RPC_P_SCALAR,          /* const json_t *: string or number */
};

enum rpc_tristate { RPC_UNSET = 0, RPC_FALSE = 1, RPC_TRUE = 2 };

struct rpc_int {
	bool set;
	int64_t v;
};
struct rpc_real {
	bool set;
	double v;
};
struct rpc_strings {
	size_t n;
	struct bytes *v; /* arena; contents borrowed from the message */
	bool set;
};
struct rpc_text {
	bool set;
	struct bytes text; /* blocks joined by a newline; borrowed or arena */
};

enum rpc_param_flags {
	RPC_P_REQUIRED = 1 << 0,
	RPC_P_NONEMPTY = 1 << 1, /* strings and arrays: not empty */
};

struct rpc_param {
	const char *name;
	enum rpc_param_type type;
	unsigned flags;
	size_t offset;               /* offsetof the destination */
	double min, max;             /* INT and REAL: inclusive range; STRING, STRINGS: length */
	const struct rpc_param *sub; /* OBJECT: its table */
	size_t sub_count;
	const char *summary; /* one line for docs and OpenAPI */
};

/*
 * Fills *ret (zeroed first by the caller, size as the table expects) from params
 * (an object, or NULL for {}). Nested paths are joined with dots, array members
 * as name[3]. Returns RPC_OK or fills err.
 */
enum rpc_code rpc_params_parse(const struct rpc_param *table, size_t count, const json_t *params,
	struct arena *arena, void *ret, struct rpc_error *err);

/*
 * One content value (M13) at `path`: a string, a block, or (if blocks) an array of
 * text blocks. Other modalities: RPC_OPTION with option = the type.
 */
enum rpc_code rpc_text_parse(const json_t *v, const char *path, bool blocks, struct arena *arena,
	struct bytes *ret, struct rpc_error *err);
/* An integer as D29 wants it: false for fractions, other types, beyond 53 bits. */
bool rpc_json_integer(const json_t *v, int64_t *ret);

#endif
