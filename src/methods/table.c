/*
 * methods/table.c: the whole of RCP/1 on one page. A row without a handler is a
 * method that RCP/1 defines and this server does not offer: -32003, never -32004.
 */
#include "methods/admin.h"
#include "methods/embed.h"
#include "methods/rerank.h"
#include "rpc/lifecycle.h"

static const struct rpc_method rows[] = {
	/* clang-format off */
	/* lifecycle */
	{ .name = "initialize",
	  .summary = "Negotiate the protocol version and learn the capabilities.",
	  .run = rpc_initialize,
	  .params = rpc_initialize_table, .param_count = RPC_INITIALIZE_PARAMS,
	  .params_size = sizeof(struct rpc_initialize_params),
	  .flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "info",
	  .summary = "The same as initialize answers, without a session.",
	  .run = rpc_info,
	  .flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "ping",
	  .summary = "Answers at once and echoes the nonce.",
	  .run = rpc_ping,
	  .params = rpc_ping_table, .param_count = RPC_PING_PARAMS,
	  .params_size = sizeof(struct rpc_ping_params),
	  .flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "shutdown",
	  .summary = "Ends the session; over stdio, the process.",
	  .run = rpc_shutdown,
	  .flags = RPC_M_OPEN | RPC_M_INLINE },

	/* retrieval */
	{ .name = "retrieve",
	  .summary = "The best hits for a query.",
	  .capability = "retrieve", .right = RPC_READ, .flags = RPC_M_STREAMS | RPC_M_OWN_META,
	  .run = methods_retrieve, .check = methods_retrieve_check,
	  .params = methods_retrieve_table, .param_count = METHODS_RETRIEVE_PARAMS,
	  .params_size = sizeof(struct methods_retrieve_params) },

	/* the corpus */
	{ .name = "index/add",
	  .summary = "Adds or replaces documents, all or none.",
	  .capability = "index.writable", .right = RPC_WRITE,
	  .run = methods_index_add, .check = methods_index_add_check,
	  .params = methods_index_add_table, .param_count = METHODS_INDEX_ADD_PARAMS,
	  .params_size = sizeof(struct methods_index_add_params) },
	{ .name = "index/delete",
	  .summary = "Deletes documents by id or by filter.",
	  .capability = "index.writable", .right = RPC_WRITE,
	  .run = methods_index_delete, .check = methods_index_delete_check,
	  .params = methods_index_delete_table, .param_count = METHODS_INDEX_DELETE_PARAMS,
	  .params_size = sizeof(struct methods_index_delete_params) },

	/* models; each is offered where there is one for it */
	{ .name = "embed",
	  .summary = "Texts to dense vectors.",
	  .capability = "embed", .right = RPC_READ,
	  .run = methods_embed, .check = methods_embed_check,
	  .params = methods_embed_table, .param_count = METHODS_EMBED_PARAMS,
	  .params_size = sizeof(struct methods_embed_params) },
	{ .name = "embed/sparse",
	  .summary = "Texts to sparse vectors.",
	  .capability = "sparseEmbed", .right = RPC_READ,
	  .run = methods_embed_sparse, .check = methods_embed_check,
	  .params = methods_embed_sparse_table, .param_count = METHODS_EMBED_SPARSE_PARAMS,
	  .params_size = sizeof(struct methods_embed_params) },
	{ .name = "embed/multi",
	  .summary = "Texts to one vector a token.",
	  .capability = "multiVector", .right = RPC_READ,
	  .run = methods_embed_multi, .check = methods_embed_multi_check,
	  .params = methods_embed_table, .param_count = METHODS_EMBED_PARAMS,
	  .params_size = sizeof(struct methods_embed_params) },
	{ .name = "rerank",
	  .summary = "Scores passages against a query.",
	  .capability = "rerank", .right = RPC_READ, .flags = RPC_M_STREAMS,
	  .run = methods_rerank, .check = methods_rerank_check,
	  .params = methods_rerank_table, .param_count = METHODS_RERANK_PARAMS,
	  .params_size = sizeof(struct methods_rerank_call_params) },

	/* administration (D44) */
	{ .name = "x-rcpd/reembed",
	  .summary = "Moves the corpus to the model that the configuration names.",
	  .capability = "x-rcpd", .right = RPC_ADMIN, .flags = RPC_M_STREAMS,
	  .run = methods_reembed,
	  .params = methods_reembed_table, .param_count = METHODS_REEMBED_PARAMS,
	  .params_size = sizeof(struct methods_reembed_params) },

	/* defined by RCP/1, not offered here */
	{ .name = "query/transform", .capability = "transform", .right = RPC_READ },
	{ .name = "graph", .capability = "graph", .right = RPC_READ },
	{ .name = "catalog/list", .capability = "catalog", .right = RPC_READ },
	{ .name = "feedback", .capability = "feedback", .right = RPC_WRITE },
	{ .name = "memory/build", .capability = "memory", .right = RPC_WRITE },
	{ .name = "memory/recall", .capability = "memory", .right = RPC_READ },
	/* clang-format on */
};

const struct rpc_method *methods_table(size_t *ret_count)
{
	*ret_count = sizeof(rows) / sizeof(rows[0]);
	return rows;
}
