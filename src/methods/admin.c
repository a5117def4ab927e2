/*
 * methods/admin.c: x-rcpd/reembed: moves the corpus to the model that the configuration
 * names. The work is a background job (pipeline/jobs.h): it goes on when the caller is
 * gone, and asking again tells how far it is.
 */
#include "methods/admin.h"

#include "pipeline/jobs.h"
#include "util/clock.h"

#define LOOK_MS 50

const struct rpc_param methods_reembed_table[METHODS_REEMBED_PARAMS] = {
	{ .name = "start",
		.type = RPC_P_BOOL,
		.offset = offsetof(struct methods_reembed_params, start),
		.summary = "false: only tell how things are" },
	{ .name = "waitMs",
		.type = RPC_P_INT,
		.offset = offsetof(struct methods_reembed_params, wait_ms),
		.min = 0,
		.max = 3600000,
		.summary = "wait so long for the end, with progress frames; 0 if absent" },
};

static bool is_over(const struct jobs_status *s)
{
	return !s->wanted || s->failure[0] != '\0';
}

/* Until it is done, has failed, or the time is up. */
static enum rpc_code wait_for_end(struct rpc_call *call, int64_t wait_ms)
{
	const struct methods *m = rpc_call_methods_arg(call);
	uint64_t until = clock_mono_ms() + (uint64_t)wait_ms;
	struct jobs_status s;

	for (jobs_status(m->jobs, &s); !is_over(&s) && clock_mono_ms() < until;
		jobs_status(m->jobs, &s)) {
		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		rpc_call_progress(call, s.done, "reembed", NULL, NULL, 0);
		clock_sleep_ms(LOOK_MS);
	}
	return RPC_OK;
}

static enum rpc_code write_state(struct rpc_call *call, struct json_writer *out)
{
	static const char *const
		names[] = { [JOBS_IDLE] = "idle", [JOBS_FIT] = "fit", [JOBS_REEMBED] = "reembed" };
	const struct methods *m = rpc_call_methods_arg(call);
	struct engine_space space;
	struct engine_view *v;
	struct jobs_status s;
	struct error e;

	if (engine_view_open(m->engine, NULL, &v, &e))
		return methods_fail(call, &e);
	jobs_status(m->jobs, &s);
	jw_object(out);
	jw_kv_string(out, "state", !s.wanted ? "done" : s.failure[0] ? "failing" : "running");
	jw_kv_string(out, "job", names[s.running]);
	jw_kv_bool(out, "fitDue", s.fit_due);
	jw_kv_real(out, "done", s.running ? s.done : s.wanted ? 0 : 1);
	if (engine_view_space(v, &space)) {
		jw_key(out, "identity");
		jw_bytes(out, space.identity);
		jw_kv_int(out, "dimension", (int64_t)space.dimension);
		jw_kv_int(out, "modelFit", (int64_t)space.fit);
	}
	if (s.failure[0])
		jw_kv_string(out, "failure", s.failure);
	jw_end(out);
	engine_view_close(v);
	return RPC_OK;
}

enum rpc_code methods_reembed(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const struct methods_reembed_params *p = params;
	enum rpc_code rc = RPC_OK;
	struct error e;
	enum status st = ST_OK;

	if (p->start != RPC_FALSE)
		st = jobs_reembed(m->jobs, &e);
	if (st == ST_INVALID) {
		rc = rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "%s", e.message);
		rpc_call_error(call)->retryable = 0; /* not before the configuration changes */
		return rc;
	}
	if (st && st != ST_CONFLICT) /* CONFLICT: nothing is to be done */
		return methods_fail(call, &e);
	if (!st && p->wait_ms.set)
		rc = wait_for_end(call, p->wait_ms.v);
	return rc ? rc : write_state(call, out);
}
