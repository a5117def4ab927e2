/*
 * terms.c: how fast is the analysis? Reads text from standard input, analyses it
 * again and again for a second and prints MB/s and terms of one thread,
 * by processor time.
 *
 *   bench_terms LANG < text
 */
#include "text/analyze.h"
#include "util/strbuf.h"

static int count(void *arg, const struct text_term *term)
{
	uint64_t *sum = arg;

	sum[0]++;
	sum[1] += (uint64_t)(unsigned char)term->data[0] + term->len;
	return 0;
}

/* Processor time of this thread: other work on the machine does not count. */
static uint64_t thread_us(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	struct strbuf text = STRBUF_INIT;
	struct text_analyzer *a;
	uint64_t sum[2] = { 0, 0 };
	char block[65536];
	size_t n, rounds = 0;
	uint64_t start, took;

	if (argc != 2 || text_analyzer_new(&a) != ST_OK)
		return 2;
	while ((n = fread(block, 1, sizeof(block), stdin)) > 0)
		strbuf_add(&text, block, n);
	if (!strbuf_ok(&text) || text.len == 0)
		return 1;
	start = thread_us();
	do {
		if (text_analyze(a, (struct bytes){ text.data, text.len },
			    text_lang_parse(bytes_of(argv[1])), count, sum) != ST_OK)
			return 1;
		rounds++;
		took = thread_us() - start;
	} while (took < 1000000);
	(void)printf("%.1f MB/s, %.1f million terms/s, %llu terms a round (%llx)\n",
		(double)text.len * (double)rounds / (double)took, (double)sum[0] / (double)took,
		(unsigned long long)(sum[0] / rounds), (unsigned long long)sum[1]);
	strbuf_release(&text);
	text_analyzer_free(a);
	return 0;
}
