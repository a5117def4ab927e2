/*
 * remote_breaker.c: a circuit breaker (Nygard, "Release It!"): a server that is down
 * costs its callers nothing but the error, and gets one call to show it is back.
 */
#include "models/remote_private.h"

bool remote_breaker_enter(struct remote_breaker *b, uint64_t now_ms, bool *probe)
{
	*probe = false;
	if (!b->until_ms)
		return true;
	if (now_ms < b->until_ms || b->probing)
		return false;
	b->probing = true;
	*probe = true;
	return true;
}

void remote_breaker_leave(struct remote_breaker *b, bool probe, enum remote_outcome how,
	uint64_t now_ms)
{
	if (probe)
		b->probing = false;
	if (how == REMOTE_WORKED) {
		b->failures = 0;
		b->until_ms = 0;
	} else if (how == REMOTE_FAILED) {
		if (b->failures < REMOTE_BREAKER_FAILURES)
			b->failures++;
		/* Late failures of calls from before do not lengthen the pause. */
		if (b->failures >= REMOTE_BREAKER_FAILURES && (probe || !b->until_ms))
			b->until_ms = now_ms + b->pause_ms;
	}
}
