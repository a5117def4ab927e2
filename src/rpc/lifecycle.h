/*
 * rpc/lifecycle.h: the methods that are the dispatcher's own (L1-L5). Their rows
 * stand in the method table like all others, with these handlers.
 */
#ifndef RCPD_RPC_LIFECYCLE_H
#define RCPD_RPC_LIFECYCLE_H

#include "rpc/table.h"

struct rpc_initialize_params {
	struct rpc_int protocol_version;
	const json_t *client, *capabilities;
};
struct rpc_ping_params {
	const json_t *nonce;
};

#define RPC_INITIALIZE_PARAMS 3
#define RPC_PING_PARAMS 1
extern const struct rpc_param rpc_initialize_table[RPC_INITIALIZE_PARAMS];
extern const struct rpc_param rpc_ping_table[RPC_PING_PARAMS];

rpc_handler rpc_initialize;
rpc_handler rpc_info;
rpc_handler rpc_ping;
rpc_handler rpc_shutdown;

#endif
