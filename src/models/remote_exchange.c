/*
 * remote_exchange.c: one request to a model server, in as many attempts as it takes and
 * the deadline allows. What is worth another attempt: no connection, a cut one, one that
 * was too slow, and the statuses 429, 500, 502, 503 and 504. Other statuses mean that the
 * request is wrong, which it will be again.
 */
#include <string.h>
#include <strings.h>

#include "models/remote_private.h"
#include "util/clock.h"
#include "util/crypto.h"
#include "util/log.h"
#include "util/mem.h"

const char REMOTE_NOMEM[] = "out of memory";

enum next { NEXT_DONE, NEXT_RETRY };

/* ---- the answer ---- */

/* Jansson goes one call deeper at each bracket, so a limit is set before it starts.
 * Brackets in strings do not count. */
static bool depth_within(struct bytes b, unsigned limit)
{
	unsigned depth = 0;
	bool string = false;

	for (size_t i = 0; i < b.len; i++) {
		char c = b.data[i];
		if (string && c == '\\')
			i++;
		else if (c == '"')
			string = !string;
		else if (!string && (c == '[' || c == '{') && ++depth > limit)
			return false;
		else if (!string && (c == ']' || c == '}') && depth > 0)
			depth--;
	}
	return true;
}

static enum status nonsense(struct remote *r, struct error *e, const char *why)
{
	error_set(e, ST_UNAVAILABLE, "the %s gave an answer that is of no use", remote_noun(r));
	error_detail(e, "%s: %s", r->identity, why);
	return ST_UNAVAILABLE;
}

/* ---- one attempt ---- */

static bool worth_a_retry(int status)
{
	return status == 429 || status == 500 || (status >= 502 && status <= 504);
}

static enum status status_error(struct remote *r, int status, struct error *e)
{
	const char *why = status == 401 || status == 403 ? "refused our key"
		: status == 404                          ? "does not know the address or model"
		: status == 429                          ? "is too busy"
		: worth_a_retry(status)                  ? "failed"
							 : "refused the request";

	error_set(e, ST_UNAVAILABLE, "the %s %s (HTTP status %d)", remote_noun(r), why, status);
	error_detail(e, "%s", r->identity);
	return ST_UNAVAILABLE;
}

/* No answer at all, or none that can be read. What the client is told has no address. */
static enum status call_error(struct remote *r, enum status st, struct error *why, struct error *e)
{
	const char *what = st == ST_TIMEOUT ? "did not answer in time"
		: st == ST_TOO_LARGE        ? "gave an answer that is too large"
		: st == ST_INVALID ? "must not be reached: the network policy forbids its address"
				   : "cannot be reached";

	if (st == ST_CANCELLED || st == ST_NOMEM)
		return error_set(e, st, "%s", why->message);
	error_set(e, ST_UNAVAILABLE, "the %s %s", remote_noun(r), what);
	error_detail(e, "%s: %s", r->identity, why->detail[0] ? why->detail : why->message);
	return ST_UNAVAILABLE;
}

struct attempt {
	struct remote *r;
	const struct remote_call *call;
	struct bytes body;
	size_t max_answer;
	remote_reader *read;
	void *arg;
	uint64_t deadline_ms; /* of the call; UINT64_MAX: none */
	bool full;            /* it had the whole timeout, so slowness is the server's */
	struct net_response answer;
	enum remote_outcome outcome;
	unsigned wait_s; /* asked for by the server */
};

static enum status attempt_send(struct attempt *a, struct error *e)
{
	const struct remote *r = a->r;
	const struct net_header headers[] = { { "Content-Type", "application/json" },
		{ "Accept", "application/json" }, { "Authorization", r->authorization } };
	uint64_t now = clock_mono_ms();
	uint64_t until = now + r->opt.timeout_ms;
	struct net_request req = { .url = r->url,
		.headers = headers,
		.header_count = r->authorization ? 3 : 2,
		.body = a->body,
		.max_body = a->max_answer,
		.stop = a->call ? a->call->stop : NULL,
		.stop_arg = a->call ? a->call->arg : NULL };

	a->full = until <= a->deadline_ms;
	req.deadline_ms = a->full ? until : a->deadline_ms;
	return net_call(r->net, &req, &a->answer, e);
}

static enum status answer_read(const struct attempt *a, struct error *e)
{
	struct bytes b = { a->answer.body.data ? a->answer.body.data : "", a->answer.body.len };
	json_error_t error;
	json_t *answer;
	const char *why;

	if (strncasecmp(a->answer.content_type, "text/html", 9) == 0)
		return nonsense(a->r, e, "it is a web page");
	if (!depth_within(b, REMOTE_MAX_DEPTH))
		return nonsense(a->r, e, "its JSON is nested too deeply");
	answer = json_loadb(b.data, b.len, JSON_REJECT_DUPLICATES, &error);
	if (answer)
		why = a->read(answer, a->arg);
	else if (json_error_code(&error) == json_error_out_of_memory)
		why = REMOTE_NOMEM;
	else
		why = error.text;
	json_decref(answer);
	if (why == REMOTE_NOMEM)
		return error_set(e, ST_NOMEM, "out of memory");
	return why ? nonsense(a->r, e, why) : ST_OK;
}

/* What the attempt's end means for the breaker, and whether another one is worth it. */
static enum next attempt_judge(struct attempt *a, enum status sent, struct error *why,
	enum status *st, struct error *e)
{
	int status = a->answer.status;

	a->outcome = REMOTE_UNKNOWN;
	a->wait_s = 0;
	if (sent) {
		*st = call_error(a->r, sent, why, e);
		if (sent == ST_TIMEOUT && !a->full)
			*st = error_set(e, ST_TIMEOUT, "the %s did not answer in time",
				remote_noun(a->r));
		else if (sent != ST_CANCELLED && sent != ST_NOMEM && sent != ST_INVALID)
			a->outcome = REMOTE_FAILED;
		return sent == ST_UNAVAILABLE || (sent == ST_TIMEOUT && a->full) ? NEXT_RETRY
										 : NEXT_DONE;
	}
	if (status >= 200 && status < 300) {
		*st = answer_read(a, e);
		if (*st != ST_NOMEM)
			a->outcome = *st ? REMOTE_FAILED : REMOTE_WORKED;
		return NEXT_DONE;
	}
	*st = status_error(a->r, status, e);
	a->outcome = worth_a_retry(status) ? REMOTE_FAILED : REMOTE_WORKED;
	a->wait_s = a->answer.retry_after_s;
	return worth_a_retry(status) ? NEXT_RETRY : NEXT_DONE;
}

/* Those who run the server are told when a model begins to fail, now and then while it
 * does, and when it is back. Clients get no address; the log's detail may have it. */
static void tell(struct remote *r, enum status st, const struct error *e)
{
	bool failing = st == ST_UNAVAILABLE || st == ST_TIMEOUT, say;
	uint64_t now = clock_mono_ms();

	if (st && !failing)
		return;
	(void)pthread_mutex_lock(&r->lock);
	say = failing ? !r->failing || now - r->told_ms >= REMOTE_TELL_MS : r->failing;
	r->failing = failing;
	if (say)
		r->told_ms = now;
	(void)pthread_mutex_unlock(&r->lock);
	if (say && failing)
		log_event(LOG_WARNING, "a model over HTTP fails", LOG_S("model", remote_noun(r)),
			LOG_S("reason", e->message), LOG_S("detail", e->detail));
	else if (say)
		log_event(LOG_NOTICE, "a model over HTTP answers again",
			LOG_S("model", remote_noun(r)));
}

static enum next attempt_run(struct attempt *a, bool first, enum status *st, struct error *e)
{
	struct remote *r = a->r;
	struct error why = { .code = ST_OK };
	bool open, probe;
	enum next next;

	(void)pthread_mutex_lock(&r->lock);
	open = !remote_breaker_enter(&r->breaker, clock_mono_ms(), &probe);
	r->stats.retries += !first && !open;
	(void)pthread_mutex_unlock(&r->lock);
	if (open) {
		/* After a failed attempt its error says more. */
		if (first)
			*st = error_set(e, ST_UNAVAILABLE,
				"the %s failed and is left alone for a while", remote_noun(r));
		return NEXT_DONE;
	}
	a->answer = (struct net_response){ .status = 0 };
	next = attempt_judge(a, attempt_send(a, &why), &why, st, e);
	(void)pthread_mutex_lock(&r->lock);
	remote_breaker_leave(&r->breaker, probe, a->outcome, clock_mono_ms());
	(void)pthread_mutex_unlock(&r->lock);
	tell(r, *st, e);
	return next;
}

/* ---- between attempts ---- */

/* Anything up to a ceiling that doubles ("full jitter"): callers that failed together do
 * not come back together. */
static uint64_t backoff_ms(unsigned attempt)
{
	uint64_t ceiling = attempt < 6 ? (uint64_t)REMOTE_BACKOFF_MS << attempt
				       : REMOTE_BACKOFF_MAX;
	uint32_t dice = 0;

	if (ceiling > REMOTE_BACKOFF_MAX)
		ceiling = REMOTE_BACKOFF_MAX;
	if (crypto_random(&dice, sizeof(dice)) != ST_OK)
		dice = UINT32_MAX / 2;
	return 1 + ceiling * dice / UINT32_MAX;
}

/* False: there is no time to wait that long, or it is not wanted any more (*st). */
static bool pause_before(struct attempt *a, unsigned attempt, enum status *st, struct error *e)
{
	uint64_t wait = backoff_ms(attempt), asked = (uint64_t)a->wait_s * 1000;
	uint64_t now = clock_mono_ms(), until;

	if (wait < asked)
		wait = asked;
	if (wait > REMOTE_MAX_WAIT_MS || now >= a->deadline_ms || wait >= a->deadline_ms - now)
		return false;
	for (until = now + wait; now < until; now = clock_mono_ms()) {
		if (a->call && a->call->stop && a->call->stop(a->call->arg)) {
			*st = error_set(e, ST_CANCELLED, "the call was called off");
			return false;
		}
		clock_sleep_ms(until - now < 10 ? (unsigned)(until - now) : 10);
	}
	return true;
}

static enum status attempts_run(struct attempt *a, struct error *e)
{
	struct remote *r = a->r;
	enum status st = ST_UNAVAILABLE;

	for (unsigned i = 0;; i++) {
		if (attempt_run(a, i == 0, &st, e) == NEXT_DONE)
			break;
		if (i >= r->opt.retries || !pause_before(a, i, &st, e))
			break;
		net_response_release(&a->answer);
	}
	(void)pthread_mutex_lock(&r->lock);
	r->stats.calls++;
	r->stats.failures += st == ST_UNAVAILABLE || st == ST_TIMEOUT;
	(void)pthread_mutex_unlock(&r->lock);
	return st;
}

enum status remote_exchange(struct remote *r, json_t *request, size_t max_answer,
	const struct remote_call *call, remote_reader *read, void *arg, struct error *e)
{
	struct attempt a = { .r = r,
		.call = call,
		.max_answer = max_answer,
		.read = read,
		.arg = arg,
		.deadline_ms = call && call->deadline_ms ? call->deadline_ms : UINT64_MAX };
	char *text = request ? json_dumps(request, JSON_COMPACT) : NULL;
	enum status st;

	json_decref(request);
	if (!text)
		return error_set(e, ST_NOMEM, "out of memory");
	a.body = bytes_of(text);
	st = attempts_run(&a, e);
	net_response_release(&a.answer);
	mem_free(text);
	return st;
}
