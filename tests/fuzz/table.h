/*
 * tests/fuzz/table.h: a small method table for the targets that go through rpc/:
 * the real lifecycle methods and cheap ones of every other kind (inline, streaming,
 * writing, failing, not built, not advertised).
 */
#ifndef RCPD_TESTS_FUZZ_TABLE_H
#define RCPD_TESTS_FUZZ_TABLE_H

#include "rpc/rpc.h"

/* Returns new; aborts when it cannot. Limits are low, so that short inputs meet them. */
struct rpc *table_rpc(enum rpc_session_mode mode);

#endif
