/*
 * tests/fuzz/fuzz.h: what the fuzz targets share. A target is one file with
 * LLVMFuzzerTestOneInput; libFuzzer drives it (clang, -Dfuzzers=true) or replay.c
 * does with the files of its corpus, as an ordinary test. A property that does not
 * hold aborts, in every build.
 */
#ifndef RCPD_TESTS_FUZZ_FUZZ_H
#define RCPD_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Looks at one input; returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_CHECK(what)                                                                           \
	do {                                                                                       \
		if (!(what)) {                                                                     \
			(void)fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,    \
				#what);                                                            \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
