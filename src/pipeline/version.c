/* pipeline/version.c: the text form of a corpus state. */
#include "pipeline/version.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void version_format(const char *corpus_id, uint64_t commit, char out[VERSION_MAX])
{
	snprintf(out, VERSION_MAX, "%.16s-%" PRIu64, corpus_id, commit);
}

bool version_parse(struct bytes text, char corpus_id[VERSION_ID_LEN + 1], uint64_t *ret_commit)
{
	static const char hex[] = "0123456789abcdef";
	uint64_t commit = 0;
	size_t at = VERSION_ID_LEN + 1;

	if (text.len < VERSION_ID_LEN + 2 || text.data[VERSION_ID_LEN] != '-')
		return false;
	for (size_t i = 0; i < VERSION_ID_LEN; i++)
		if (!text.data[i] || !strchr(hex, text.data[i]))
			return false;
	if (text.data[at] == '0' && text.len > at + 1)
		return false; /* one spelling a version */
	for (; at < text.len; at++) {
		if (text.data[at] < '0' || text.data[at] > '9' ||
			__builtin_mul_overflow(commit, 10U, &commit) ||
			__builtin_add_overflow(commit, (uint64_t)(text.data[at] - '0'), &commit))
			return false;
	}
	memcpy(corpus_id, text.data, VERSION_ID_LEN);
	corpus_id[VERSION_ID_LEN] = '\0';
	*ret_commit = commit;
	return true;
}
