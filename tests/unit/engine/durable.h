/*
 * durable.h: what a corpus must hold after its process was killed. Writers make calls
 * that are fixed by their number; a model knows what each call leaves behind; checking
 * compares the two, and the index with a fresh one over the same documents.
 *
 * The checks end the process (DURABLE_BAD) with a line on stderr, as they run in
 * children, where a failing cmocka assertion would go unseen.
 */
#ifndef RCPD_TESTS_ENGINE_DURABLE_H
#define RCPD_TESTS_ENGINE_DURABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"

#define DURABLE_BAD 99
#define DURABLE_PATH 300

#define WRITERS 3
#define SLOTS 12      /* documents a writer has at most, each under an id of its own */
#define DEAD 48       /* replaced and deleted documents that are looked for later */
#define LONG_CHUNKS 5 /* of a long document */
#define NO_CALL (-1)

#define require(condition, ...)                                                                    \
	do {                                                                                       \
		if (!(condition))                                                                  \
			durable_bad(__FILE__, __LINE__, #condition, __VA_ARGS__);                  \
	} while (0)
void durable_bad(const char *file, int line, const char *condition, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

struct writer {
	int next;        /* its first call that was not acknowledged */
	int slot[SLOTS]; /* the call that wrote what stands there, or NO_CALL */
	struct {
		int call, slot;
	} dead[DEAD]; /* a ring */
	unsigned died;
	int last_add;          /* its last acknowledged call that added, or NO_CALL */
	uint64_t last_version; /* 0: not known */
};

struct model {
	struct writer writer[WRITERS];
	uint64_t version; /* the newest that was acknowledged */
	int under_way;    /* the writer whose call was, if it is known; else -1 */
};

/* Whether the call that was under way at the end must be there. */
enum expected { EITHER, ABSENT, PRESENT };

/* ---- folders ---- */

/* A new folder, in memory where the system has such a place: a killed process loses
 * nothing that it wrote, synced or not. */
void durable_make_dir(char path[DURABLE_PATH]);
/* Removes a folder with all that is in it; nothing if it is not there. */
void durable_remove(const char *path);
/* Opens with small heads, so that seals, merges and sweeps run all the time. */
enum status durable_open(const char *dir, struct engine **ret, struct error *e);
/* The same; it must succeed, and take up the files of the index as they are: after a
 * kill they are whole, so that nothing is made anew. */
struct engine *durable_open_whole(const char *dir);
/* PRAGMA integrity_check and foreign keys, through a connection that leaves the
 * write-ahead log as it is. */
void durable_check_rows(const char *dir);

/* ---- calls ---- */

void model_init(struct model *m);
bool model_adds(int writer, int call);
/* Acknowledged, or found to have got through (version 0: not known). */
void model_apply(struct model *m, int writer, int call, uint64_t version);
/* Did not get through, and will not be made again. */
void model_skip(struct model *m, int writer, int call);
enum status durable_call(struct engine *en, int writer, int call, struct engine_commit *ret,
	struct error *e);

/* ---- checks ---- */

/* What some queries and lists give; equal bytes if equal. */
struct answers {
	unsigned n;
	struct answer {
		char id[24];
		uint32_t query, chunk;
		double score;
	} at[400];
};
void durable_answers(struct engine *en, struct answers *ret);

/*
 * Compares everything. What was under way is found out (and may be made again, as a
 * client would): each writer is told to `resolved` once, by the call or NO_CALL.
 */
typedef void durable_resolved_fn(void *arg, int writer, int call, bool applied, uint64_t version);
void durable_check(struct engine *en, struct model *m, enum expected expected,
	durable_resolved_fn *resolved, void *arg);
/* The index against one that is made of the same documents in one go, in this folder;
 * *ret is that corpus. */
void durable_check_index(struct engine *en, const struct model *m, const char *dir,
	struct engine **ret);

#endif
