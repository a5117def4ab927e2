/* text/stopwords.h: words left out of queries. */
#ifndef RCPD_TEXT_STOPWORDS_H
#define RCPD_TEXT_STOPWORDS_H

#include <stdbool.h>

#include "util/bytes.h"

/* True for an English function word, in any mixture of ASCII cases. */
bool text_is_stopword(struct bytes word);

#endif
