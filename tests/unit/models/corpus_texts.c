/* corpus_texts.c: see corpus_texts.h. */
#include "corpus_texts.h"

#include <stdio.h>

#include "../unit.h"

static const char *const words[SUBJECTS][8] = {
	{ "sailing", "harbour", "captain", "anchor", "rigging", "tide", "vessel", "lighthouse" },
	{ "violin", "orchestra", "concerto", "melody", "conductor", "rehearsal", "cello", "opera" },
	{ "glacier", "moraine", "crevasse", "snowfall", "avalanche", "summit", "iceberg", "ridge" },
	{ "compiler", "pointer", "register", "linker", "assembler", "debugger", "macro", "syntax" },
	{ "bakery", "sourdough", "flour", "yeast", "oven", "crust", "kneading", "pastry" },
	{ "Fußball", "Torwart", "Stürmer", "Elfmeter", "Stadion", "Abseits", "Trainer", "Tor" },
};
static const char *const common[8] = { "the", "of", "and", "with", "for", "their", "about", "in" };

struct bytes corpus_text(size_t i, char *buf, size_t size)
{
	uint32_t r = (uint32_t)i * 2654435761U + 12345;
	size_t at = 0;

	for (size_t k = 0; k < 24; k++) {
		const char *word;

		r = r * 1664525U + 1013904223U;
		word = k % 2 ? common[r >> 29] : words[i % SUBJECTS][r >> 29];
		at += (size_t)snprintf(buf + at, size - at, "%s ", word);
		assert_true(at < size);
	}
	at += (size_t)snprintf(buf + at, size - at, "number%zu", i);
	assert_true(at < size);
	return (struct bytes){ buf, at };
}

void corpus_texts_fit(size_t n, uint64_t seed, struct strbuf *blob)
{
	struct corpus_fit *f;
	struct error e;
	char buf[1024];

	assert_int_equal(corpus_fit_new(seed, &f, &e), ST_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(corpus_fit_add(f, corpus_text(i, buf, sizeof(buf)), &e), ST_OK);
	assert_int_equal(corpus_fit_run(f, NULL, NULL, NULL, blob, &e), ST_OK);
	corpus_fit_free(f);
}
