/*
 * cpu.h: what this processor can do, for choosing a kernel at run time.
 *
 * A file with kernels compiles one plain C version and one for each instruction set
 * (__attribute__((target(...)))), all with the same result to the bit, and picks by
 * cpu_level() once. RCPD_CPU=plain|avx2|avx512 in the environment lowers the level, so
 * that a test can run them all on one machine.
 */
#ifndef RCPD_UTIL_CPU_H
#define RCPD_UTIL_CPU_H

enum cpu_level {
	CPU_PLAIN,  /* plain C, on any processor */
	CPU_NEON,   /* 64-bit ARM; always there */
	CPU_AVX2,   /* AVX2, FMA and F16C */
	CPU_AVX512, /* AVX-512 F, BW, VL, DQ and VNNI */
};

/* The best that the processor, the system and RCPD_CPU allow; the same in every call.
 * Any thread. */
enum cpu_level cpu_level(void);
/* "plain", "neon", "avx2", "avx512". */
const char *cpu_level_name(enum cpu_level level);

#endif
