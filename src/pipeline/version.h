/*
 * pipeline/version.h: indexVersion, the name of a state of the corpus (R9): the
 * corpus's id and its commit counter, e.g. "9f86d081884c7d65-42".
 */
#ifndef RCPD_PIPELINE_VERSION_H
#define RCPD_PIPELINE_VERSION_H

#include <stdbool.h>
#include <stdint.h>

#include "util/bytes.h"

#define VERSION_ID_LEN 16
#define VERSION_MAX 40 /* bytes of its text with the NUL */

void version_format(const char *corpus_id, uint64_t commit, char out[VERSION_MAX]);
/* False if text is no version at all. corpus_id gets the 16 digits and a NUL. */
bool version_parse(struct bytes text, char corpus_id[VERSION_ID_LEN + 1], uint64_t *ret_commit);

#endif
