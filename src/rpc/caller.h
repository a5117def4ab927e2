/* rpc/caller.h: who asks, as the transport's gate found out (T9, D17). */
#ifndef RCPD_RPC_CALLER_H
#define RCPD_RPC_CALLER_H

#include <stdbool.h>

enum rpc_right { RPC_READ = 1, RPC_WRITE = 2, RPC_ADMIN = 4 };

struct rpc_caller {
	char identity[128]; /* "token:NAME", "uid:1000", "addr:127.0.0.1", "stdio" */
	bool authenticated; /* the identity was proved (token, unix peer), not only observed */
	unsigned rights;    /* of enum rpc_right */
};

#endif
