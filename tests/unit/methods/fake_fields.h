/*
 * fake_fields.h: a fixed list of fields in place of an engine's, for programs that read
 * filters and need no corpus. The engine is a NULL pointer to them.
 */
#ifndef RCPD_TESTS_METHODS_FAKE_FIELDS_H
#define RCPD_TESTS_METHODS_FAKE_FIELDS_H

#include "engine/engine.h"

/* kw keyword, prose text, n int, x float, flag bool, day date, "a.b c" keyword, and
 * late int: FAKE_EPOCH fields come before that one. */
enum { FAKE_KW, FAKE_PROSE, FAKE_N, FAKE_X, FAKE_FLAG, FAKE_DAY, FAKE_PATH, FAKE_LATE };
#define FAKE_EPOCH 7
#define FAKE_FIELDS 8

#endif
