/*
 * config/config.h: every setting, in one const struct.
 *
 * Precedence, last wins: built-in defaults, the file, environment (RCPD_ and the
 * key in capitals, e.g. RCPD_LISTEN), flags. One table (config/keys.c) lists each
 * key with type, range, default, whether a reload can change it, and help; the
 * file reader, the environment, --check-config and the documentation test use it.
 */
#ifndef RCPD_CONFIG_CONFIG_H
#define RCPD_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

struct config {
	/* [server] */
	char *listen;    /* listen */
	char *data;      /* data: folder of the corpus */
	char *base_path; /* base_path */
	char *sessions;  /* sessions: stateless|token|strict */
	bool read_only;  /* read_only: index/add and index/delete answer -32003 */
	char *hosts;     /* hosts: space-separated Host names accepted besides loopback */
	char *origins;   /* origins: space-separated CORS origins */
	/* [threads] */
	uint64_t io_threads, workers, queue;
	/* [limits] */
	uint64_t max_connections, max_per_address, connection_memory;
	uint64_t max_body, max_body_total, max_drain, max_stream_queue;
	uint64_t max_batch, max_documents, max_depth, max_k, max_candidates;
	uint64_t embed_batch, max_rerank;
	uint64_t max_sessions, session_ttl;
	uint64_t max_snapshots, max_fields;
	/* [timeouts] */
	uint64_t deadline_ms, idle_timeout, body_timeout, write_timeout, heartbeat, shutdown_grace;
	uint64_t snapshot_ttl;
	/* [index] */
	char *language; /* language: tag of texts that tell none; "" for guessed */
	char *fields;   /* fields: "name:type …", read by config_fields_read */
	uint64_t chunk_tokens, chunk_overlap;
	double bm25_k1, bm25_b;
	/* [model] */
	char *model; /* model: "builtin", "none" or a folder */
	bool fit;
	double fit_growth; /* chunks now over chunks then, from which the fit is made anew */
	char *embedder;    /* embedder: none|openai|tei|ollama|cohere|external */
	char *embedder_url, *embedder_model, *embedder_key_file;
	uint64_t embedder_dimension, embedder_batch;
	char *sparse; /* sparse: none|tei */
	char *sparse_url, *sparse_model, *sparse_key_file;
	char *reranker; /* reranker: none|tei|cohere|jina */
	char *reranker_url, *reranker_model, *reranker_key_file;
	char *llm; /* llm: none|openai */
	char *llm_url, *llm_model, *llm_key_file;
	uint64_t model_timeout_ms, model_retries, model_cache, model_max_text, model_redirects;
	bool model_private_hosts, model_plain_http;
	char *model_ca_file; /* model_ca_file: "" for the system's */
	/* [log] */
	char *log_level, *log_format;

	/* No key: whether somebody set max_connections, or it is the default. */
	bool max_connections_set;
};

enum config_kind {
	CONFIG_STRING,
	CONFIG_SIZE,
	CONFIG_COUNT,
	CONFIG_REAL,
	CONFIG_BOOL,
	CONFIG_CHOICE,
};

struct config_key {
	const char *section, *name;
	enum config_kind kind;
	size_t offset;
	const char *def; /* default as text; NULL: none (computed) */
	uint64_t min, max;
	double least, most;         /* CONFIG_REAL */
	const char *const *choices; /* CONFIG_CHOICE, NULL-terminated */
	bool reloadable;
	const char *help;
};
extern const struct config_key config_keys[];
extern const size_t config_key_count;

/* name=value pairs from flags, e.g. { "listen", "127.0.0.1:0" }. */
struct config_override {
	const char *name, *value;
};

/*
 * Builds a new config; path may be NULL (no file). Errors name file, line, key and
 * what would be right. Checks across keys too (loopback only, D13's gate).
 */
enum status config_load(const char *path, const struct config_override *flags, size_t flag_count,
	struct config **ret, struct error *e);
void config_free(struct config *c);
/*
 * Compares two configs. Calls changed(key, arg) for every key that differs;
 * key->reloadable says whether it takes effect now.
 */
void config_diff(const struct config *a, const struct config *b,
	void (*changed)(const struct config_key *key, void *arg), void *arg);
/* Prints every key with its effective value as a config file; false: not all of it. */
bool config_print(const struct config *c, int fd);

#define CONFIG_MAX_FIELD_NAME 256 /* bytes */

struct config_field {
	const char *name; /* decoded, UTF-8, NUL-terminated */
	const char *type; /* one of keyword, text, int, float, bool and date */
};
/*
 * Reads the value of fields: "name:type" separated by blanks, names with "%20" for a
 * blank, "%3A" for a colon, "%25" for '%'. *ret is new, with its strings in the same
 * piece of memory: mem_free it (NULL if there are none). ST_INVALID says what is wrong.
 */
enum status config_fields_read(const char *text, struct config_field **ret, size_t *ret_n,
	struct error *e);
/* Calls unknown(name, arg) for each RCPD_ variable of the environment that stands for
 * no key and that none of our tools uses: most likely a key with a slip. */
void config_environment_unknown(void (*unknown)(const char *name, void *arg), void *arg);

#endif
