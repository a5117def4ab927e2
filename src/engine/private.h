/*
 * engine/private.h: what the files of the engine share.
 *
 *   engine.c    options in, everything made and freed in order
 *   analyzer.c  texts to bags of terms      prepare.c  what of a write needs no lock,
 *                                           departure.c, and of what it will bury
 *   queue.c     who leads a group of writes group.c    the group's transaction
 *   publish.c   what was committed goes into index and columns, and becomes a state
 *   load.c      the same from the rows: at the start, and after memory was short
 *   states.c    which states are alive      keeper.c   background work
 *   fields.c    names and types of fields   values.c   values as bytes in a row
 *   dense.c     a space with its index      build.c    another one beside it
 *   load_dense.c  the vectors from the rows
 *   view.c, query.c, recall.c, near.c, weights.c       reading
 *
 * Locks: queue.lock and states.lock are held for a moment each, never both. Whoever
 * leads (queue.leading) is alone with the writing side: store_write, lexical_add,
 * filter_add, publishing, and the members below "the leader's".
 */
#ifndef RCPD_ENGINE_PRIVATE_H
#define RCPD_ENGINE_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/dense.h"
#include "engine/engine.h"
#include "engine/filter/filter.h"
#include "engine/lexical/lexical.h"
#include "engine/store/store.h"
#include "engine/vector/vector.h"
#include "util/strbuf.h"

#define ENGINE_K1 1.2
#define ENGINE_B 0.75
#define ENGINE_TITLE_WEIGHT 3 /* measured: docs/QUALITY.md */

static inline enum status engine_no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

static inline bool engine_stopped(const struct engine_stop *stop)
{
	return stop && stop->fn && stop->fn(stop->arg);
}

/* ---- analyzer.c ---- */

/* A chunk as the index takes it. */
struct bag {
	struct lexical_term *terms;
	size_t n;
	uint32_t length;
};

struct analyzer;
struct analyzers {
	pthread_mutex_t lock;
	struct analyzer *free; /* a list */
};

void analyzers_init(struct analyzers *pool);
void analyzers_release(struct analyzers *pool);
/* One of the pool's, or a new one. ST_NOMEM, ST_UNAVAILABLE (no ICU data). */
enum status analyzer_take(struct analyzers *pool, struct analyzer **ret, struct error *e);
void analyzer_put(struct analyzers *pool, struct analyzer *a); /* NULL is fine */
struct text_analyzer *analyzer_text(struct analyzer *a);
/* A bag of its own in an arena. ST_NOMEM. */
enum status bag_copy(const struct bag *from, struct arena *arena, struct bag *ret, struct error *e);
/* The terms of a chunk: its text, its title with its weight, its context if contextual.
 * *ret is the analyzer's until the next call. */
enum status analyzer_bag(struct analyzer *a, const struct store_row *row, struct bag *ret,
	struct error *e);
/* Names what decides about bags; an index made under another name is made anew. */
void analyzer_version(struct strbuf *out);

/* ---- values.c ---- */

#define VALUES_NO_FIELD SIZE_MAX

/* Appends one value; number is its field's. */
void values_add(struct strbuf *out, size_t number, const struct engine_value *v);
/* Decodes a row's values into *ret, which grows (mem_resize); strings are borrowed from
 * data. Strings that were too long to keep are counted in *ret_lost. ST_CORRUPT. */
struct values_list {
	struct filter_value *at;
	size_t n, cap;
};
enum status values_read(struct bytes data, struct values_list *ret, uint64_t *ret_lost,
	struct error *e);

/* ---- fields.c ---- */

/* What was seen under one name in one call. */
struct seen_field {
	struct bytes name;
	enum engine_type type; /* as far as seen; meaningful if number is VALUES_NO_FIELD */
	unsigned kinds;        /* bits, see fields.c */
	size_t number;
};

struct fields {
	struct engine_field *at; /* never moved; names are own */
	size_t max;              /* no new ones beyond; what is in the rows is taken */
	_Atomic size_t count;
};

enum status fields_init(struct fields *f, const struct engine_options *opt, struct error *e);
void fields_release(struct fields *f);
/* The type that a declaration asks for; false if the name is not declared. */
bool fields_declared(const struct fields *f, struct bytes name, enum engine_type *ret);
/* The leader: appends a field that the rows have; ST_NOMEM, ST_FULL. */
enum status fields_append(struct fields *f, struct bytes name, enum engine_type type,
	struct error *e);
bool fields_find(const struct fields *f, struct bytes name, size_t *ret);
/* Takes a value into account. */
void fields_see(struct seen_field *seen, const struct engine_value *v);
enum engine_type fields_infer(const struct seen_field *seen);

/* ---- dense.c ---- */

/* A space of vectors with its index. Shared by the engine, states and calls; immutable
 * but for the index, and for doomed. */
struct dense {
	_Atomic unsigned refs;
	struct engine_space space; /* identity is own */
	struct engine_encoder encoder;
	struct vectors *index;
	char *dir;
	_Atomic bool doomed; /* its files go with the last reference */
};

/* Opens the index in DATA/vectors/NUMBER, and a derived space's model. fresh: without what
 * files there are. *ret_commit as vectors_open. ST_INVALID: a derived space that the
 * encoder does not know. */
enum status dense_open(struct engine *en, const struct store_space *space, bool fresh,
	struct dense **ret, uint64_t *ret_commit, struct error *e);
struct dense *dense_ref(struct dense *d); /* NULL is fine, here and below */
void dense_unref(struct dense *d);
/* Up to which commit both indexes are in files. Any thread. */
uint64_t dense_persisted(struct engine *en);
/* The active one; new reference or NULL. Any thread. */
struct dense *dense_current(struct engine *en);
/* A chunk's vector, by the encoder; dimension floats, all zero if it has none. scratch is
 * emptied. */
enum status dense_embed(const struct dense *d, const struct store_row *row, struct arena *scratch,
	float *out, struct error *e);
/* Whether a vector is one. */
bool dense_is_zero(const float *v, size_t n);
/* Removes folders of spaces but for the one (0: of all). Failures are left for the next
 * start. */
void dense_sweep_folders(struct engine *en, uint64_t keep);

/* ---- states.c ---- */

/* One state of the corpus; immutable but for what states.lock guards. */
struct engine_state {
	struct lexical_view *index;
	struct filter_view *columns;
	struct dense *dense;       /* NULL: no vectors */
	struct vectors_view *near; /* the same */
	struct store_totals totals;
	/* Guarded by states.lock. */
	unsigned refs;
	struct engine_state *older, *newer; /* all that are alive, by version */
	unsigned kept;                      /* 0, or 1 + the class */
	uint64_t kept_until_ms;
	struct engine_state *less, *more; /* kept ones of a class by last use */
};

/* Kept because somebody read it, or because a writer was told its number. */
enum { KEPT_READ, KEPT_WRITTEN, KEPT_CLASSES };

struct states {
	pthread_mutex_t lock;
	struct engine_state *oldest, *newest; /* the newest is the current one */
	struct {
		struct engine_state *first, *last;
		size_t count, max;
	} kept[KEPT_CLASSES];
	uint64_t ttl_ms;
};

void states_init(struct states *s, size_t max, unsigned ttl_s);
/* Lets go of all; nobody else has one any more. */
void states_release(struct states *s);
/* Takes the views and the reference to dense in any case. NULL when out of memory. */
struct engine_state *state_new(struct lexical_view *index, struct filter_view *columns,
	struct dense *dense, struct vectors_view *near, const struct store_totals *totals);
/* Makes it the current one; takes the reference. */
void states_publish(struct states *s, struct engine_state *state);
/* Puts fresh in the place of old if that is still the current one; both show the same.
 * Takes the reference to fresh, not the one to old. */
void states_refresh(struct states *s, struct engine_state *old, struct engine_state *fresh);
struct engine_state *states_current(struct states *s); /* new reference */
/* The kept or current state of that version, or NULL. New reference. */
struct engine_state *states_find(struct states *s, uint64_t version);
void states_keep(struct states *s, struct engine_state *state, unsigned class);
void states_unref(struct states *s, struct engine_state *state);
/* Lets go of kept ones whose time is over; of the one unused for longest if any. */
void states_expire(struct states *s);
bool states_drop_one(struct states *s);
/* The version of the oldest state that is alive. */
uint64_t states_oldest(struct states *s);

/* ---- departure.c ---- */

/* The bags of a document that a call is about to bury, made before the call queues: the
 * leader would otherwise analyse its text while all writers wait. */
struct departure {
	int64_t document; /* whose they are; 0: nobody's */
	struct bag *bags; /* by chunk number */
	uint64_t n;
};

struct departures {
	struct engine *en;
	struct arena *arena;
	const struct engine_stop *stop;
	struct analyzer *analyzer; /* these two are taken when needed */
	struct store_reader *reader;
};

/* What lives under id now, into the arena; nothing (0) if that is nobody, or once the
 * arena is large. The leader checks that it is still so. */
enum status departure_make(struct departures *d, struct bytes id, struct departure *ret,
	struct error *e);
void departures_release(struct departures *d);

/* ---- prepare.c ---- */

struct prepared {
	struct store_document row; /* without values */
	struct bag *bags;          /* one a chunk */
	/* Its values; field is a place in the call's seen fields or VALUES_NO_FIELD. */
	struct filter_value *values;
	size_t value_count;
	float *vectors;              /* one row a chunk; NULL: none */
	struct departure leaving;    /* what it most likely replaces */
	struct store_keys keys, old; /* by the group: what it is now and was before */
};

struct additions {
	struct prepared *docs; /* superseded ones left out */
	size_t n;
	struct dense *dense; /* the space of its vectors; own reference or NULL */
	struct seen_field *seen;
	size_t seen_count;
	uint64_t unfielded;
};

void additions_release(struct additions *add);
/* Chunk c of a document as the walks over rows give it, but for the keys. */
struct store_row prepared_row(const struct store_document *doc, size_t c);

/* Checks, splits and analyses documents into the arena. */
enum status prepare(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_stop *stop, struct arena *arena, struct additions *ret,
	struct error *e);

/* The values alone: for documents that are there already. */
enum status prepare_values(struct engine *en, const struct engine_document *docs, size_t n,
	struct arena *arena, struct additions *ret, struct error *e);

/* ---- queue.c ---- */

enum op_kind { OP_ADD, OP_DELETE, OP_DELETE_WHERE, OP_SWEEP, OP_CALL };

struct group;
struct op;
/* What an OP_CALL does: within its transaction (it is alone in its group), and after the
 * commit, before the state is published; the latter cannot fail. */
struct op_call {
	enum status (*run)(struct group *g, void *arg, struct error *e);
	void (*committed)(struct engine *en, void *arg); /* may be NULL */
	void *arg;
};

struct op {
	enum op_kind kind;
	struct additions add;            /* ADD */
	const struct engine_once *once;  /* ADD; NULL: none */
	const struct bytes *ids;         /* DELETE */
	const struct departure *leaving; /* one an id */
	size_t id_count;
	const struct engine_filter *filter; /* DELETE_WHERE */
	struct op_call call;                /* CALL */
	const struct engine_stop *stop;
	struct arena *arena;
	/* Results. */
	enum status st;
	struct error error;
	struct engine_commit commit;
	bool more;      /* SWEEP: there is more to be swept */
	uint64_t swept; /* what died up to here is gone, unless there is more */
	/* The group's. */
	struct store_keys *buried; /* DELETE*: mem_resize */
	size_t buried_count, buried_cap;
	bool repeated;
	/* The queue's. */
	struct op *next;
	bool taken, done;
};

struct queue {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct op *first, *last;
	bool leading;
	bool ready;
};

enum status queue_init(struct queue *q, struct error *e);
void queue_release(struct queue *q);
/* Runs op in a group of its own or others'; returns op->st and fills e. */
enum status queue_run(struct engine *en, struct op *op, struct error *e);

/* ---- group.c, publish.c, load.c: the leader's ---- */

/* A field that a call of the group brought up. */
struct new_field {
	struct bytes name;
	enum engine_type type;
};

struct group {
	struct engine *en;
	struct op *ops;
	struct engine_stop stop; /* of all of them */
	struct store_write *w;
	struct new_field *fields; /* mem_resize */
	size_t field_count, field_cap;
	struct strbuf values;       /* of one document */
	struct store_totals totals; /* after the commit */
};

/* Gives what a call has seen its numbers, in the rows too; values lose those without. */
enum status group_number_fields(struct group *g, struct additions *add, struct error *e);
/* A document's values as bytes, in g->values until the next call. Once a document. */
enum status group_encode_values(struct group *g, struct additions *add, struct prepared *doc,
	struct bytes *ret, struct error *e);
/* Runs ops (a list) in one transaction and publishes it. */
void group_run(struct engine *en, struct op *ops);
/* What died up to this commit may go: no state shows it, no replay of the index needs
 * it. Any thread. */
uint64_t group_sweepable(struct engine *en);
/* Puts what a group did into index and columns and makes it the current state. If
 * memory is short en->behind is set. */
void publish_group(const struct group *g);
/* The fields that a committed group brought up are known from now on. */
enum status publish_fields(const struct group *g, struct error *e);
/* A chunk's vector (NULL: none) into the active space, unless it is there already. */
enum status publish_vector(struct engine *en, int64_t key, const float *v, struct error *e);
/* Makes the current state of what index and columns hold now. */
enum status publish_state(struct engine *en, const struct store_totals *totals, struct error *e);
/* A chunk into the index, unless it is there already. */
enum status publish_chunk(struct engine *en, int64_t key, struct bytes doc_id, uint32_t no,
	const struct bag *bag, struct error *e);
/* Index and columns up to the rows; after it, nothing is behind. */
enum status load_catch_up(struct engine *en, struct error *e);
/* Documents that are older than filters get their values (load_old.c). */
enum status load_old_values(struct engine *en, const struct engine_options *opt, struct error *e);
/* The active space, opened or made, and its index up to the rows. The first time. */
enum status load_dense_at_start(struct engine *en, struct store_totals *totals,
	struct store_reader *r, struct error *e);
/* Up to the rows, from what is there. */
enum status load_dense_catch_up(struct engine *en, struct store_reader *r, uint64_t since,
	struct error *e);
/* A turn (store_write_turn) that can be made by the leader or at the start. */
enum status load_turn(struct engine *en, struct store_totals *totals, struct error *e);
/* The first time: fields, values of old rows, index, columns. */
enum status load_all(struct engine *en, const struct engine_options *opt, struct error *e);

/* ---- keeper.c ---- */

struct keeper {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool started, ready;
	_Atomic bool awake; /* may be poked */
	uint64_t swept;     /* all that died up to this commit is gone; the thread's */
	uint64_t froze_ms;  /* the same; both of the keeper of rows alone */
	bool poked;         /* under the lock */
	bool stop;          /* set under the lock; lexical_maintain looks without */
};

/* ---- build.c ---- */

/* The other space is being filled. Its members are the builder's. */
struct engine_build {
	struct engine *en;
	uint64_t number; /* of the space; 0: it has no row */
	bool derived;
	struct bytes blob;   /* the caller's */
	struct dense *dense; /* NULL: it could not be opened */
	int64_t document;    /* greatest key whose chunks are in */
	uint64_t since;      /* commit up to which deaths are in */
	uint64_t born;       /* and births, of a stored one */
	int64_t whole;       /* of a stored one: no chunk up to this key lacks a vector */
	uint64_t added;      /* chunks, in this round */
	bool stop;           /* engine_build_halt */
};

/* Starts the thread. Stopping waits for it; both a stopped one and one that was never
 * started may be stopped and poked. */
enum status keeper_start(struct engine *en, struct error *e);
void keeper_stop(struct engine *en);
/* There may be work: look now. Any thread. */
void keeper_poke(struct engine *en);

/* ---- the whole ---- */

struct engine {
	struct store *store;
	struct lexical *index;
	struct filter *columns;
	struct analyzers analyzers;
	struct fields fields;
	struct states states;
	struct queue queue;
	struct keeper keeper, tender; /* of rows and words, of vectors */
	char *dir;                    /* of the data */
	struct engine_encoder encoder;
	bool has_encoder;
	enum text_lang language;
	double k1, b;
	size_t head_chunks, held_bytes;
	_Atomic uint64_t contradictions, unfielded;
	_Atomic uint64_t last_death;  /* commit up to which rows may have died */
	_Atomic bool building;        /* somebody has an engine_build */
	_Atomic uint64_t build_since; /* deaths after it are wanted; UINT64_MAX: none */
	_Atomic bool orphans;         /* there may be vectors of dropped spaces */

	/* The leader's. */
	_Atomic bool behind;   /* index and columns lack something of the rows */
	uint64_t published;    /* commit */
	int64_t last_indexed;  /* greatest chunk key in the index */
	int64_t last_columned; /* and in the columns */
	struct dense *dense;   /* the active space or NULL */
	int64_t last_vectored; /* greatest chunk key that its index has been given */
	struct values_list values;
};

struct engine_view {
	struct engine *en;
	struct engine_state *state;
	struct engine_stop stop;
	struct store_reader *reader; /* taken at the first fetch */
};

struct engine_pass {
	struct lexical_filter bits;
	uint64_t count;
};

/* The view's connection, taken when first asked for. */
enum status view_reader(struct engine_view *v, struct store_reader **ret, struct error *e);

#endif
