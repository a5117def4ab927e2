/*
 * corpus_texts.h: texts for the tests of models/corpus.h, made of a counter: each is about
 * one of a few subjects, whose words come together.
 */
#ifndef RCPD_TESTS_MODELS_CORPUS_TEXTS_H
#define RCPD_TESTS_MODELS_CORPUS_TEXTS_H

#include "models/corpus.h"

#define SUBJECTS 6

/* Text i in buf (NUL-terminated), its subject is i % SUBJECTS. */
struct bytes corpus_text(size_t i, char *buf, size_t size);
/* The blob of a fit on texts 0..n. */
void corpus_texts_fit(size_t n, uint64_t seed, struct strbuf *blob);

#endif
