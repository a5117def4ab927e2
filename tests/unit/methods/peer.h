/* peer.h: the methods over a real corpus in a folder of its own and models of a few
 * lines; a call is text in and JSON out. */
#ifndef RCPD_TESTS_PEER_H
#define RCPD_TESTS_PEER_H

#include <jansson.h>

#include "methods/methods.h"
#include "tiny_models.h"

extern struct methods peer_methods;

/* Opens an empty corpus over these models (copied) and advertises what they allow. */
void peer_open(const struct models *models);
void peer_close(void); /* and removes it */

/* The answer to method with these params (JSON text of an object); new. */
json_t *peer_call(const char *method, const char *params);
/* The same where allocations fail after so many; NULL: no answer could be made. */
json_t *peer_call_failing(const char *method, const char *params, long fail_after,
	bool *ret_failed);
/* The member result, of an answer that must have one; new. */
json_t *peer_result(const char *method, const char *params);
/* Checks that the answer is an error of this code with this field or option ("": none). */
void peer_refused(const char *method, const char *params, int code, const char *where);
/* Every allocation of the call fails once: whole answers or -32010, and nothing leaks. */
void peer_walk(const char *method, const char *params);

#endif
