/* methods/admin.h: administration over JSON-RPC (D44). For src/methods only. */
#ifndef RCPD_METHODS_ADMIN_H
#define RCPD_METHODS_ADMIN_H

#include "methods/common.h"

struct methods_reembed_params {
	struct rpc_int wait_ms;
	unsigned char start; /* enum rpc_tristate */
};

#define METHODS_REEMBED_PARAMS 2

extern const struct rpc_param methods_reembed_table[METHODS_REEMBED_PARAMS];

rpc_handler methods_reembed;

#endif
