/*
 * fuzz_config.c: the configuration file. Any bytes are either refused with a
 * message or taken; what is taken, printed and read again must be the same.
 */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config/config.h"
#include "fuzz.h"

static int memory_file(void)
{
	int fd = memfd_create("fuzz_config", MFD_CLOEXEC);

	FUZZ_CHECK(fd >= 0);
	return fd;
}

static enum status load_fd(int fd, struct config **ret, struct error *e)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return config_load(path, NULL, 0, ret, e);
}

static void on_change(const struct config_key *key, void *arg)
{
	(void)arg;
	(void)fprintf(stderr, "%s differs after printing\n", key->name);
	abort();
}

/* Printing and reading again changes nothing. */
static void check_printed(const struct config *c)
{
	struct config *again = NULL;
	struct error e = { .code = ST_OK };
	int fd = memory_file();

	config_print(c, fd);
	enum status st = load_fd(fd, &again, &e);
	/* A line that just fitted as "k=v" may be too long as "k = v". */
	if (st != ST_OK && !strstr(e.message, "too long"))
		(void)fprintf(stderr, "what was printed is refused: %s\n", e.message);
	FUZZ_CHECK(st == ST_OK || strstr(e.message, "too long"));
	if (st == ST_OK)
		config_diff(c, again, on_change, NULL);
	config_free(again);
	(void)close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct config *c = NULL;
	struct error e = { .code = ST_OK };
	int fd = memory_file();

	FUZZ_CHECK(write(fd, data, size) == (ssize_t)size);
	enum status st = load_fd(fd, &c, &e);
	(void)close(fd);
	if (st == ST_OK) {
		check_printed(c);
		config_free(c);
		return 0;
	}
	FUZZ_CHECK(!c);
	FUZZ_CHECK(e.code == st && e.message[0]);
	return 0;
}
