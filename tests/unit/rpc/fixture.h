/* fixture.h: a dispatcher over a small table of test methods, and one-call helpers. */
#ifndef RCPD_TESTS_RPC_FIXTURE_H
#define RCPD_TESTS_RPC_FIXTURE_H

#include "../unit.h"

#include "rpc/rpc.h"

/*
 * Methods: initialize, info, ping, shutdown; "echo" {text}; "write" (right write,
 * counts its runs); "wait" (streams; until stopped, 2 s at most); "nothing" (writes
 * no object: a bug); "nan" (writes a NaN: a bug); "unbuilt"; "hidden" (its
 * capability is not advertised).
 */
struct rpc *fixture_rpc(enum rpc_session_mode mode);
int fixture_writes(void); /* how often "write" ran since the last call */

struct fixture_call {
	enum rpc_transport transport; /* 0: HTTP */
	const char *path;             /* NULL: none */
	const char *session, *traceparent;
	const char *identity; /* NULL: "addr:127.0.0.1" */
	bool authenticated;
	unsigned rights; /* 0: all */
	bool progress;
};

/* Returns a new job, neither parsed nor run. text may hold NULs if len is given. */
struct rpc_job *fixture_job(struct rpc *rpc, const char *text, size_t len,
	const struct fixture_call *how);
/* Runs text to its end; returns the reply's body in a static buffer ("" if none). */
const char *fixture_run(struct rpc *rpc, const char *text, const struct fixture_call *how);
enum rpc_reply_kind fixture_kind(void); /* of the last fixture_run */
const char *fixture_session(void);      /* handed out by the last fixture_run, or NULL */
/* Frames that the last fixture_run sent, one a line. */
const char *fixture_frames(void);

#endif
