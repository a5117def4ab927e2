/*
 * server/signals.c: a thread that waits on a signalfd. It also feeds the service
 * manager's watchdog, since it is the thread that must stay awake for anybody to
 * end or inspect the process.
 */
#include "server/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "server/notify.h"
#include "util/log.h"
#include "util/mem.h"

struct signals {
	struct signals_hooks hooks;
	int signal_fd, stop_fd, quit_fd;
	bool stopping; /* the thread's own */
	pthread_t thread;
};

static void signals_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGHUP);
	sigaddset(set, SIGUSR1);
}

void signals_block(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	signals_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void fd_raise(int fd)
{
	uint64_t one = 1;
	ssize_t n = write(fd, &one, sizeof(one));

	(void)n; /* fails only when the counter is full: readable then as well */
}

static void signals_stop(struct signals *s)
{
	if (s->stopping) {
		log_event(LOG_WARNING, "second signal to stop: leaving at once",
			LOG_S("signal", "SIGTERM or SIGINT"));
		_exit(1);
	}
	s->stopping = true;
	s->hooks.on_stop(s->hooks.arg);
	fd_raise(s->stop_fd);
}

static void signals_take(struct signals *s)
{
	struct signalfd_siginfo info;

	while (read(s->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		switch (info.ssi_signo) {
		case SIGHUP:
			s->hooks.on_reload(s->hooks.arg);
			break;
		case SIGUSR1:
			s->hooks.on_dump(s->hooks.arg);
			break;
		default:
			signals_stop(s);
			break;
		}
	}
}

static void *signals_main(void *arg)
{
	struct signals *s = arg;
	struct pollfd fds[2] = { { .fd = s->signal_fd, .events = POLLIN },
		{ .fd = s->quit_fd, .events = POLLIN } };
	uint64_t every = notify_watchdog_ms();

	for (;;) {
		int n = poll(fds, 2, every == 0 ? -1 : (int)(every < 60000 ? every : 60000));

		if (n < 0 && errno != EINTR)
			return NULL;
		if (every)
			notify_watchdog();
		if (n > 0 && fds[0].revents)
			signals_take(s);
		if (n > 0 && fds[1].revents)
			return NULL;
	}
}

static void signals_close(struct signals *s)
{
	if (s->signal_fd >= 0)
		close(s->signal_fd);
	if (s->stop_fd >= 0)
		close(s->stop_fd);
	if (s->quit_fd >= 0)
		close(s->quit_fd);
	mem_free(s);
}

enum status signals_new(const struct signals_hooks *hooks, struct signals **ret, struct error *e)
{
	struct signals *s = mem_zero(sizeof(*s));
	sigset_t set;
	int why = 0;

	if (!s)
		return error_set(e, ST_NOMEM, "out of memory");
	s->hooks = *hooks;
	signals_set(&set);
	s->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	s->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->quit_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->signal_fd < 0 || s->stop_fd < 0 || s->quit_fd < 0)
		why = errno; /* of the last that failed */
	else
		why = pthread_create(&s->thread, NULL, signals_main, s);
	if (why) {
		signals_close(s);
		return error_set(e, ST_IO, "cannot take signals: %s", strerror(why));
	}
	*ret = s;
	return ST_OK;
}

int signals_stop_fd(const struct signals *s)
{
	return s->stop_fd;
}

void signals_free(struct signals *s)
{
	if (!s)
		return;
	fd_raise(s->quit_fd);
	pthread_join(s->thread, NULL);
	signals_close(s);
}
