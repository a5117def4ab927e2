/* rpc/rpc.c: the dispatcher object: what rpc_new is given, checked and kept. */
#include <string.h>

#include "rpc/private.h"
#include "util/mem.h"

static enum status check_methods(const struct rpc_config *cfg, struct error *e)
{
	for (size_t i = 0; i < cfg->method_count; i++) {
		const struct rpc_method *m = &cfg->methods[i];

		if (!m->name || (m->param_count && (!m->params || !m->params_size)))
			return error_set(e, ST_INTERNAL, "method row %zu contradicts itself", i);
		for (size_t j = 0; j < i; j++)
			if (strcmp(m->name, cfg->methods[j].name) == 0)
				return error_set(e, ST_INTERNAL, "method %s stands twice", m->name);
	}
	return ST_OK;
}

void rpc_capabilities(const struct rpc *rpc, uint64_t epoch, struct strbuf *out)
{
	if (rpc->capabilities_json)
		strbuf_adds(out, rpc->capabilities_json);
	else
		rpc->write_capabilities(rpc->methods_arg, epoch, out);
}

/* Which members are advertised: for the gate. */
static enum status read_capabilities(struct rpc *rpc, struct error *e)
{
	struct strbuf text = STRBUF_INIT;
	json_error_t je = { .text = "" };
	enum status st = ST_OK;

	if (rpc->capabilities_json || rpc->write_capabilities)
		rpc_capabilities(rpc, 0, &text);
	if (text.data && strbuf_ok(&text))
		rpc->capabilities = json_loadb(text.data, text.len, JSON_REJECT_DUPLICATES, &je);
	if (!strbuf_ok(&text) || json_error_code(&je) == json_error_out_of_memory)
		st = error_set(e, ST_NOMEM, "out of memory");
	else if (!json_is_object(rpc->capabilities))
		st = error_set(e, ST_INTERNAL, "capabilities are no JSON object: %s", je.text);
	strbuf_release(&text);
	return st;
}

static enum status copy_names(struct rpc *rpc, const struct rpc_config *cfg, struct error *e)
{
	rpc->server_name = mem_strdup(cfg->server_name);
	rpc->server_version = mem_strdup(cfg->server_version);
	rpc->conformance = mem_strdup(cfg->conformance);
	if (cfg->capabilities_json)
		rpc->capabilities_json = mem_strdup(cfg->capabilities_json);
	if (!rpc->server_name || !rpc->server_version || !rpc->conformance ||
		(cfg->capabilities_json && !rpc->capabilities_json))
		return error_set(e, ST_NOMEM, "out of memory");
	return ST_OK;
}

enum status rpc_new(const struct rpc_config *cfg, struct rpc **ret, struct error *e)
{
	struct rpc *rpc = mem_zero(sizeof(*rpc));
	enum status st;
	uint32_t ttl = cfg->sessions == RPC_SESSIONS_PROCESS ? 0 : cfg->limits.session_ttl_s;

	if (!rpc)
		return error_set(e, ST_NOMEM, "out of memory");
	rpc->methods = cfg->methods;
	rpc->method_count = cfg->method_count;
	rpc->methods_arg = cfg->methods_arg;
	rpc->write_capabilities = cfg->capabilities;
	rpc->epoch = cfg->epoch;
	rpc->mode = cfg->sessions;
	rpc->limits = cfg->limits;
	atomic_init(&rpc->deadline_ms, cfg->limits.deadline_ms);
	st = check_methods(cfg, e);
	if (!st)
		st = copy_names(rpc, cfg, e);
	if (!st)
		st = read_capabilities(rpc, e);
	if (!st &&
		(sessions_new(cfg->limits.max_sessions, ttl, &rpc->sessions) ||
			inflight_new(&rpc->inflight)))
		st = error_set(e, ST_NOMEM, "out of memory");
	if (st) {
		rpc_free(rpc);
		return st;
	}
	*ret = rpc;
	return ST_OK;
}

void rpc_free(struct rpc *rpc)
{
	if (!rpc)
		return;
	sessions_free(rpc->sessions);
	inflight_free(rpc->inflight);
	json_decref(rpc->capabilities);
	mem_free(rpc->capabilities_json);
	mem_free(rpc->server_name);
	mem_free(rpc->server_version);
	mem_free(rpc->conformance);
	mem_free(rpc);
}

void rpc_set_deadline(struct rpc *rpc, uint32_t deadline_ms)
{
	atomic_store(&rpc->deadline_ms, deadline_ms);
}

void rpc_cancel_all(struct rpc *rpc)
{
	atomic_store(&rpc->stopping, true);
}
