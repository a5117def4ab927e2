/*
 * stdio/output.h: whole lines to one descriptor, from many threads.
 */
#ifndef RCPD_STDIO_OUTPUT_H
#define RCPD_STDIO_OUTPUT_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum output_state {
	OUTPUT_FINE,
	OUTPUT_GONE,   /* the reader has closed its end */
	OUTPUT_FAILED, /* the descriptor is broken, or its reader did not read in time */
};

struct output {
	pthread_mutex_t lock; /* held for one whole line: guards the order of bytes */
	int fd, stop_fd;      /* borrowed; stop_fd -1: none */
	unsigned stop_ms;     /* once stop_fd is readable: how long a blocked write may last */
	atomic_int state;     /* enum output_state; never goes back to OUTPUT_FINE */
	_Atomic uint64_t give_up_ns; /* monotonic; 0: a blocked write waits for ever */
};

/* Returns 0, or -1 when the system has no mutex to give. */
int output_init(struct output *o, int fd, int stop_fd, unsigned stop_ms);
void output_release(struct output *o);
/*
 * Writes json and a newline, waiting for a slow reader. Returns 0, or -1 once the
 * output is gone or broken, for this line and all later ones. Any thread.
 */
int output_line(struct output *o, const char *json, size_t len);
enum output_state output_state(struct output *o);
/* From now on a write may block that long at most; a shorter time given before
 * stays. Any thread. */
void output_give_up_in(struct output *o, unsigned ms);

#endif
