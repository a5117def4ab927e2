/* cpu.c: asks the processor once. */
#include "util/cpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum cpu_level found;

static enum cpu_level detect(void)
{
#if defined(__x86_64__)
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vnni"))
		return CPU_AVX512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return CPU_AVX2;
	return CPU_PLAIN;
#elif defined(__aarch64__)
	return CPU_NEON;
#else
	return CPU_PLAIN;
#endif
}

static void choose(void)
{
	const char *most = getenv("RCPD_CPU");
	enum cpu_level level = detect();

	for (int i = CPU_PLAIN; most && i < (int)level; i++)
		if (strcmp(most, cpu_level_name((enum cpu_level)i)) == 0)
			level = (enum cpu_level)i;
	found = level;
}

enum cpu_level cpu_level(void)
{
	pthread_once(&once, choose);
	return found;
}

const char *cpu_level_name(enum cpu_level level)
{
	static const char *const names[] = { "plain", "neon", "avx2", "avx512" };

	return names[level];
}
