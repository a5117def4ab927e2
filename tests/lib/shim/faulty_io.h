/*
 * faulty_io.h: the memory that faulty_io.c and a test share: rules, which the test may
 * change at any time, and counters, which the shim keeps. tests/lib/faulty.py has the
 * same layout. Fields of 8 bytes first, so that there are no gaps.
 *
 * A rule applies to a call if it is active, names the call and its path holds the
 * pattern. The first `after` such calls pass, then each fires with the probability
 * given, `times` in all. The first rule that fires decides; delays of all that do add up.
 */
#ifndef RCPD_TESTS_FAULTY_IO_H
#define RCPD_TESTS_FAULTY_IO_H

#include <stdint.h>

#define FAULTY_MAGIC UINT64_C(0x314f495954554146)
#define FAULTY_RULES 8
#define FAULTY_PATTERN 128

enum faulty_call {
	FAULTY_WRITE = 1,     /* write, pwrite, writev and their kin */
	FAULTY_FSYNC = 2,     /* fsync, fdatasync */
	FAULTY_TRUNCATE = 4,  /* ftruncate, fallocate */
	FAULTY_RENAME = 8,    /* rename */
	FAULTY_OPEN = 16,     /* open, to write or to create */
	FAULTY_OPEN_READ = 32 /* open, to read alone */
};

struct faulty_rule {
	uint64_t after;
	uint64_t times; /* 0: for ever */
	uint64_t seed;  /* of the probability; changes with each draw */
	uint64_t seen;  /* calls it applied to */
	uint64_t fired;
	uint32_t active; /* set last, cleared first */
	uint32_t calls;  /* bits of faulty_call */
	uint32_t error;  /* errno; 0: the call is made */
	uint32_t delay_ms;
	uint32_t shorten;             /* a write writes half of what it is to write */
	uint32_t per_million;         /* probability; 0: always */
	char pattern[FAULTY_PATTERN]; /* empty: any path */
};

struct faulty_io {
	uint64_t magic;
	uint64_t loaded; /* processes that have it */
	struct faulty_rule rules[FAULTY_RULES];
};

#endif
