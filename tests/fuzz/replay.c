/*
 * replay.c: runs a fuzz target over files instead of under libFuzzer, so that any
 * compiler can do it and every corpus is a regression test. Arguments are files or
 * folders (of files; not deeper). Exit status: 0 all ran; 1 a folder without files,
 * or nothing was given; a property that does not hold ends it by a signal, after
 * the name of the file was printed.
 */
#include <dirent.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define FILE_MAX (4U << 20)

/* Written by a signal handler, so it is plain bytes in a fixed place. */
static char current[1024];

static void on_crash(int sig)
{
	static const char said[] = "\nreplay: the input was ";

	(void)!write(STDERR_FILENO, said, sizeof(said) - 1);
	(void)!write(STDERR_FILENO, current, strlen(current));
	(void)!write(STDERR_FILENO, "\n", 1);
	(void)signal(sig, SIG_DFL);
	(void)raise(sig);
}

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = malloc(FILE_MAX);

	if (!f || !data) {
		(void)fprintf(stderr, "replay: cannot read %s\n", path);
		exit(1);
	}
	size_t n = fread(data, 1, FILE_MAX, f);
	(void)fclose(f);
	/* A copy of just that length, so that a sanitizer sees one byte too far. */
	uint8_t *exact = malloc(n ? n : 1);
	if (!exact)
		exit(1);
	memcpy(exact, data, n);
	free(data);
	(void)snprintf(current, sizeof(current), "%s", path);
	(void)LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	return 1;
}

static int run_path(const char *path)
{
	struct stat st;
	struct dirent *e;
	char file[1024];
	int count = 0;

	if (stat(path, &st) != 0 || !S_ISDIR(st.st_mode))
		return run_file(path);
	DIR *d = opendir(path);
	while (d && (e = readdir(d)) != NULL) {
		(void)snprintf(file, sizeof(file), "%s/%s", path, e->d_name);
		if (stat(file, &st) == 0 && S_ISREG(st.st_mode))
			count += run_file(file);
	}
	if (d)
		(void)closedir(d);
	return count;
}

int main(int argc, char **argv)
{
	int total = 0;

	(void)signal(SIGABRT, on_crash);
	(void)signal(SIGSEGV, on_crash);
	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 1; i < argc; i++) {
		int n = run_path(argv[i]);
		if (n == 0) {
			(void)fprintf(stderr, "replay: no files in %s\n", argv[i]);
			return 1;
		}
		total += n;
	}
	if (total == 0) {
		(void)fputs("replay: which files?\n", stderr);
		return 1;
	}
	printf("replay: %d inputs\n", total);
	return 0;
}
