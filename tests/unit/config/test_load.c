/*
 * test_load.c: where settings come from and who wins; every mistake in a file is
 * told with its line.
 */
#include "helpers.h"

#include <sys/stat.h>

#include "util/mem.h"

static void test_defaults(void **state)
{
	struct config *c = NULL;

	(void)state;
	assert_int_equal(config_load(NULL, NULL, 0, &c, NULL), ST_OK);
	assert_string_equal(c->listen, "127.0.0.1:8077");
	assert_string_equal(c->base_path, "/rcp");
	assert_string_equal(c->sessions, "stateless");
	assert_false(c->read_only);
	assert_int_equal(c->io_threads, 2);
	assert_int_equal(c->workers, 4);
	assert_int_equal(c->queue, 256);
	assert_int_equal(c->connection_memory, 16384);
	assert_int_equal(c->max_body, 16 << 20);
	assert_int_equal(c->deadline_ms, 25000);
	assert_string_equal(c->log_level, "info");
	config_free(c);
}

/* Defaults, the file, the environment, flags: the last wins. */
static void test_precedence(void **state)
{
	struct config_override flag = { "queue", "4" };
	char path[] = P_tmpdir "/rcpd-config-XXXXXX";
	int fd = mkstemp(path);
	struct config *c = NULL;

	(void)state;
	assert_true(fd >= 0);
	dprintf(fd, "[threads]\nqueue = 2\nworkers = 7\nio_threads = 3\n");
	close(fd);
	assert_int_equal(config_load(path, NULL, 0, &c, NULL), ST_OK);
	assert_int_equal(c->queue, 2);
	config_free(c);
	setenv("RCPD_QUEUE", "3", 1);
	setenv("RCPD_WORKERS", "8", 1);
	assert_int_equal(config_load(path, NULL, 0, &c, NULL), ST_OK);
	assert_int_equal(c->queue, 3);
	config_free(c);
	assert_int_equal(config_load(path, &flag, 1, &c, NULL), ST_OK);
	assert_int_equal(c->queue, 4);
	assert_int_equal(c->workers, 8);
	assert_int_equal(c->io_threads, 3);
	config_free(c);
	unlink(path);
}

static void assert_data(const char *want)
{
	struct config *c = NULL;

	assert_int_equal(config_load(NULL, NULL, 0, &c, NULL), ST_OK);
	assert_string_equal(c->data, want);
	config_free(c);
}

static void test_data_default(void **state)
{
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_data("/home/someone/.local/state/rcpd");
	setenv("XDG_STATE_HOME", "relative", 1);
	assert_data("/home/someone/.local/state/rcpd");
	setenv("XDG_STATE_HOME", "/x/state", 1);
	assert_data("/x/state/rcpd");
	setenv("STATE_DIRECTORY", "/var/lib/rcpd:/var/lib/other", 1);
	assert_data("/var/lib/rcpd");
	setenv("RCPD_DATA", "/data", 1);
	assert_data("/data");
	env_clear(NULL);
	unsetenv("HOME");
	assert_int_equal(config_load(NULL, NULL, 0, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "--data"));
}

static void test_file_forms(void **state)
{
	struct config *c = NULL;

	(void)state;
	assert_int_equal(text_load("\xef\xbb\xbf# a comment\r\n; another\r\n\r\n  [server]\r\n"
				   "\tlisten=127.0.0.1:0 ; free\r\n  read_only :  YES  \r\n"
				   "hosts = a.example b.example\n[limits]\nmax_body = 2M",
				 &c, NULL),
		ST_OK);
	assert_string_equal(c->listen, "127.0.0.1:0");
	assert_true(c->read_only);
	assert_string_equal(c->hosts, "a.example b.example");
	assert_int_equal(c->max_body, 2 << 20);
	config_free(c);
	assert_int_equal(text_load("", &c, NULL), ST_OK);
	config_free(c);
}

static void test_file_errors(void **state)
{
	(void)state;
	assert_refused("[server]\n\nlissten = x\n", ":3: no key is called 'lissten'");
	assert_refused("[sever]\nlisten = x\n", ":2: no section is called 'sever'");
	assert_refused("[sever]\nx = x\n", ":2: no section is called 'sever'; there are server");
	assert_refused("listen = 127.0.0.1:1\n", ":1: listen stands before any section");
	assert_refused("[limits]\nqueue = 5\n",
		":2: queue does not belong into [limits] but into "
		"[threads]");
	assert_refused("[threads]\nqueue = 5\n#\nqueue = 5\n",
		":4: queue was set already in line 2");
	assert_refused("[threads]\nqueue = 5\n  queue = 5\n",
		":3: queue was set already in line 2");
	assert_refused("[threads]\nqueue = 5\nworkers\n", ":3: the line is neither");
	assert_refused("[threads]\nworkers\nqueue = no\n", ":2: the line is neither");
	assert_refused("[threads]\nqueue = no\nworkers\n", ":2: queue cannot be 'no'");
	assert_refused("[threads\nqueue = 1\n", ":1: the line is neither");
	assert_refused("[threads]\nqueue = 1 # few\n", ":2: queue cannot be '1 # few'");
	assert_refused("[threads]\nqueue = 1 # few\n",
		"; a comment after a value begins with ' ;'");
	assert_refused("[log]\nlog_level = 'info'\n", "; values stand without quotes");
	assert_refused("[threads]\nworkers\n", "such as 'workers = 4'");
	assert_refused("[server]\nlisten = 0.0.0.0:80\n[log]\n",
		":2: listen cannot be '0.0.0.0:80'");
	assert_refused("[server]\nhosts = \xff\n", ":2: hosts cannot be");
}

static void test_file_bounds(void **state)
{
	char *big = mem_zero(2 << 20);
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_non_null(big);
	assert_int_equal(bytes_load("[log]\n\0\n", 8, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, ":2: the line holds a NUL byte"));
	memset(big, '#', 2 << 20);
	assert_int_equal(bytes_load(big, 5000, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, ":1: the line is too long"));
	for (size_t i = 0; i < 2 << 20; i += 100)
		big[i] = '\n';
	assert_int_equal(bytes_load(big, 1000000, &c, &e), ST_OK);
	config_free(c);
	assert_int_equal(bytes_load(big, 2 << 20, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "larger than 1 MiB"));
	mem_free(big);
}

static void test_file_missing(void **state)
{
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_int_equal(config_load("/nonexistent/rcpd.conf", NULL, 0, &c, &e), ST_IO);
	assert_non_null(strstr(e.message, "'/nonexistent/rcpd.conf': No such file"));
	assert_int_equal(config_load("/", NULL, 0, &c, &e), ST_IO);
}

/* REQ: OPS-01: what is no file is told and never waited for: a pipe, a folder, a device. */
static void test_file_not_regular(void **state)
{
	char dir[] = P_tmpdir "/rcpd-config-XXXXXX", fifo[sizeof(dir) + 8];
	const char *paths[] = { fifo, dir, "/dev/null" };
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	alarm(10); /* where this blocks, the test ends */
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		assert_int_equal(config_load(paths[i], NULL, 0, &c, &e), ST_IO);
		assert_non_null(strstr(e.message, paths[i]));
		assert_non_null(strstr(e.message, "not a regular file"));
	}
	alarm(0);
	unlink(fifo);
	rmdir(dir);
}

/* A path of any length leaves room for line, key and reason. */
static void test_long_path(void **state)
{
	char path[400], *end = path;
	struct config *c = NULL;
	struct error e;
	FILE *f;

	(void)state;
	end += snprintf(path, sizeof(path), P_tmpdir "/rcpd-%ld-", (long)getpid());
	memset(end, 'x', 200);
	end[200] = '\0';
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("[threads]\nqueue = x\n", f);
	fclose(f);
	assert_int_equal(config_load(path, NULL, 0, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "xxx:2: queue cannot be 'x'; it must be a whole number"));
	unlink(path);
}

static void test_environment_and_flag_errors(void **state)
{
	struct config *c = NULL;
	struct error e;

	(void)state;
	assert_int_equal(flag_load("log_level", "loud", &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "--log-level: log_level cannot be 'loud'"));
	assert_int_equal(flag_load("nothing", "x", &c, &e), ST_INVALID);
	setenv("RCPD_MAX_BODY", "12q", 1);
	assert_int_equal(config_load(NULL, NULL, 0, &c, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "environment RCPD_MAX_BODY: max_body cannot be '12q'"));
}

static void note_name(const char *name, void *arg)
{
	char *names = arg;
	size_t len = strlen(names);

	snprintf(names + len, 256 - len, "%s ", name);
}

/* A slip in a variable's name is told; what tests and tools use is none. */
static void test_environment_unknown(void **state)
{
	static const char *const known[] = { "RCPD_MAX_BODY", "RCPD_DATA", "RCPD_FAULTS",
		"RCPD_TEST_SCALE" };
	char names[256] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		setenv(known[i], "1", 1);
	setenv("RCPD_LISTEM", "127.0.0.1:0", 1);
	config_environment_unknown(note_name, names);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		unsetenv(known[i]);
	unsetenv("RCPD_LISTEM");
	assert_string_equal(names, "RCPD_LISTEM ");
}

static void test_set_or_default(void **state)
{
	struct config *c = NULL;

	(void)state;
	assert_int_equal(config_load(NULL, NULL, 0, &c, NULL), ST_OK);
	assert_false(c->max_connections_set);
	config_free(c);
	/* The default's own number counts as set, when somebody wrote it. */
	assert_int_equal(flag_load("max_connections", "20000", &c, NULL), ST_OK);
	assert_true(c->max_connections_set);
	config_free(c);
}

/* Every allocation fails in turn: an error each time, nothing leaks. */
static void test_out_of_memory(void **state)
{
	struct config *c = NULL;
	long n = 0;

	(void)state;
	for (;; n++) {
		enum status st;

		mem_fail_after(n);
		st = text_load("[server]\nlisten = localhost:0\ndata = /d\n", &c, NULL);
		mem_fail_after(-1);
		if (st == ST_OK)
			break;
		assert_int_equal(st, ST_NOMEM);
		assert_true(n < 1000);
	}
	assert_true(n > 5);
	assert_string_equal(c->listen, "localhost:0");
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_defaults, env_clear),
		cmocka_unit_test_setup(test_precedence, env_clear),
		cmocka_unit_test_setup(test_data_default, env_clear),
		cmocka_unit_test_setup(test_file_forms, env_clear),
		cmocka_unit_test_setup(test_file_errors, env_clear),
		cmocka_unit_test_setup(test_file_bounds, env_clear),
		cmocka_unit_test_setup(test_file_missing, env_clear),
		cmocka_unit_test_setup(test_file_not_regular, env_clear),
		cmocka_unit_test_setup(test_long_path, env_clear),
		cmocka_unit_test_setup(test_environment_and_flag_errors, env_clear),
		cmocka_unit_test_setup(test_environment_unknown, env_clear),
		cmocka_unit_test_setup(test_set_or_default, env_clear),
		cmocka_unit_test_setup(test_out_of_memory, env_clear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
