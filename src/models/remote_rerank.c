/* remote_rerank.c: a score for each passage, from a cross-encoder or a language model. */
#include "models/remote_private.h"
#include "util/mem.h"

struct reading {
	const struct remote *r;
	double *out;
	size_t n;
};

/* [{"index": 1, "score": 0.5}, …], as a rule best first; the score's name differs. */
static const char *scores_read(const json_t *list, const char *name, const struct reading *in)
{
	bool *seen;
	const char *why = NULL;

	if (!json_is_array(list) || json_array_size(list) != in->n)
		return "there are more or fewer scores than passages";
	seen = mem_array(in->n, sizeof(*seen));
	if (!seen)
		return REMOTE_NOMEM;
	for (size_t i = 0; i < in->n && !why; i++) {
		const json_t *one = json_array_get(list, i);
		uint64_t at;
		if (!remote_index(json_object_get(one, "index"), in->n, &at) || seen[at])
			why = "an index is missing, doubled or out of range";
		else if (!remote_number(json_object_get(one, name), &in->out[at]))
			why = "a score is no finite number";
		else
			seen[at] = true;
	}
	mem_free(seen);
	return why;
}

static const char *grades_read(const json_t *answer, const struct reading *in)
{
	const json_t *choice = json_array_get(json_object_get(answer, "choices"), 0);
	const json_t *content = json_object_get(json_object_get(choice, "message"), "content");

	if (!json_is_string(content))
		return "there is no choices[0].message.content";
	if (!remote_grades_parse((struct bytes){ json_string_value(content),
					 json_string_length(content) },
		    in->n, in->out))
		return "the message is not one list with a grade of 0 to 10 for each passage";
	return NULL;
}

static const char *answer_read(const json_t *answer, void *arg)
{
	const struct reading *in = arg;

	switch (in->r->opt.shape) {
	case REMOTE_OPENAI_CHAT:
		return grades_read(answer, in);
	case REMOTE_TEI_RERANK:
		return scores_read(answer, "score", in);
	default:
		return scores_read(json_object_get(answer, "results"), "relevance_score", in);
	}
}

static json_t *request_make(const struct remote *r, struct bytes query,
	const struct bytes *passages, size_t n)
{
	json_t *o = remote_request(r);
	struct bytes q = remote_text(r, query);

	if (!o || !remote_member(&o, "query", json_stringn(q.data, q.len)))
		return NULL;
	if (r->opt.shape == REMOTE_TEI_RERANK) {
		(void)(remote_member(&o, "texts", remote_texts(r, passages, n)) &&
			remote_member(&o, "truncate", json_true()) &&
			remote_member(&o, "raw_scores", json_false()) &&
			remote_member(&o, "return_text", json_false()));
		return o;
	}
	/* All of them, in the order of their scores. */
	(void)(remote_member(&o, "documents", remote_texts(r, passages, n)) &&
		remote_member(&o, "top_n", json_integer((json_int_t)n)));
	if (o && r->opt.shape == REMOTE_JINA_RERANK)
		(void)remote_member(&o, "return_documents", json_false());
	return o;
}

/* Servers may send the passages back, escaped to six times their length at worst. */
static size_t answer_max(const struct remote *r, const struct bytes *passages, size_t n)
{
	size_t max = 262144 + n * 256;

	for (size_t i = 0; i < n; i++)
		max += 6 * remote_text(r, passages[i]).len;
	return max;
}

enum status remote_rerank(struct remote *r, struct bytes query, const struct bytes *passages,
	size_t n, const struct remote_call *call, double *out, struct error *e)
{
	enum status st = remote_check_texts(&query, 1, e);

	if (!st)
		st = remote_check_texts(passages, n, e);
	for (size_t at = 0; at < n && !st; at += r->opt.batch) {
		struct reading in = { r, out + at, n - at < r->opt.batch ? n - at : r->opt.batch };
		json_t *o = r->opt.shape == REMOTE_OPENAI_CHAT
			? remote_chat_request(r, query, passages + at, in.n)
			: request_make(r, query, passages + at, in.n);
		st = remote_exchange(r, o, answer_max(r, passages + at, in.n), call, answer_read,
			&in, e);
	}
	return st;
}
