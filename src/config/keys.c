/*
 * config/keys.c: the table of all settings. One row says what a key is called,
 * where its value goes, what it may be and what it means; the file reader, the
 * environment, config_print and the tests of conf/rcpd.conf all read it here, so
 * that none of them can drift apart from the others.
 *
 * Adding a key: a member in struct config, a row here, a commented entry in
 * conf/rcpd.conf and one in docs/man/rcpd.conf.5 (tests compare all of them).
 */
#include "config/internal.h"

#include <string.h>

#define KIB 1024ULL
#define MIB (1024ULL * 1024)
#define GIB (1024ULL * 1024 * 1024)

static const char *const sessions_choices[] = { "stateless", "token", "strict", NULL };
static const char *const level_choices[] = { "debug", "info", "notice", "warning", "error", "off",
	NULL };
static const char *const embedder_choices[] = { "none", "openai", "tei", "ollama", "cohere",
	"external", NULL };
static const char *const sparse_choices[] = { "none", "tei", NULL };
static const char *const reranker_choices[] = { "none", "tei", "cohere", "jina", NULL };
static const char *const llm_choices[] = { "none", "openai", NULL };
static const char *const format_choices[] = { "auto", "text", "json", "journal", NULL };

#define AT(member) offsetof(struct config, member)
#define STR(s, n, d, h)                                                                            \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_STRING, .offset = AT(n), .def = d,        \
		.help = h                                                                          \
	}
#define BOOL(s, n, d, h)                                                                           \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_BOOL, .offset = AT(n), .def = d,          \
		.help = h                                                                          \
	}
#define CHOICE(s, n, d, list, r, h)                                                                \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_CHOICE, .offset = AT(n), .def = d,        \
		.choices = list, .reloadable = r, .help = h                                        \
	}
#define COUNT(s, n, d, lo, hi, r, h)                                                               \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_COUNT, .offset = AT(n), .def = d,         \
		.min = lo, .max = hi, .reloadable = r, .help = h                                   \
	}
#define SIZE(s, n, d, lo, hi, h)                                                                   \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_SIZE, .offset = AT(n), .def = d,          \
		.min = lo, .max = hi, .help = h                                                    \
	}

#define REAL(s, n, d, lo, hi, h)                                                                   \
	{                                                                                          \
		.section = s, .name = #n, .kind = CONFIG_REAL, .offset = AT(n), .def = d,          \
		.least = lo, .most = hi, .help = h                                                 \
	}

const struct config_key config_keys[] = {
	STR("server", listen, "127.0.0.1:8077",
		"where to listen: ADDR:PORT, [V6]:PORT or unix:PATH; on loopback only"),
	STR("server", data, NULL, "folder of the corpus, made if missing"),
	STR("server", base_path, "/rcp", "path under which RCP/1 is served"),
	CHOICE("server", sessions, "stateless", sessions_choices, false,
		"sessions over HTTP: stateless, token or strict"),
	BOOL("server", read_only, "no", "refuse index/add and index/delete"),
	STR("server", hosts, "", "Host names accepted besides loopback, separated by spaces"),
	STR("server", origins, "", "browser origins allowed to call, separated by spaces"),

	COUNT("threads", io_threads, "2", 1, 64, false, "threads that talk to connections"),
	COUNT("threads", workers, "4", 1, 256, false, "threads that run requests"),
	COUNT("threads", queue, "256", 1, 1000000, false, "requests that may wait for a worker"),

	COUNT("limits", max_connections, "20000", 4, 1000000, false, "open connections"),
	COUNT("limits", max_per_address, "0", 0, 1000000, false,
		"open connections from one address; 0: no limit"),
	SIZE("limits", connection_memory, "16k", 4 * KIB, 1 * MIB,
		"memory of a connection for headers and buffers"),
	SIZE("limits", max_body, "16m", 1 * KIB, 1 * GIB, "bytes of one message"),
	SIZE("limits", max_body_total, "256m", 1 * KIB, 64 * GIB,
		"bytes of all request bodies held at once"),
	SIZE("limits", max_drain, "64m", 0, 1 * GIB,
		"bytes of an oversized body that are read and dropped before the answer"),
	SIZE("limits", max_stream_queue, "1m", 4 * KIB, 1 * GIB,
		"bytes queued on one event stream before its slow reader is cut off"),
	COUNT("limits", max_batch, "100", 1, 100000, false, "members of a batch"),
	COUNT("limits", max_documents, "1000", 1, 100000, false, "documents or ids in one call"),
	COUNT("limits", max_depth, "64", 8, 100, false, "nesting of JSON in a message"),
	COUNT("limits", max_k, "1000", 1, 100000, false, "hits of one retrieve"),
	COUNT("limits", max_candidates, "10000", 1, 1000000, false, "candidates of one retrieve"),
	COUNT("limits", embed_batch, "256", 1, 10000, false, "inputs of one embed"),
	COUNT("limits", max_rerank, "1000", 1, 100000, false, "passages of one rerank"),
	COUNT("limits", max_sessions, "10000", 1, 1000000, false, "live sessions over HTTP"),
	COUNT("limits", session_ttl, "3600", 1, 2592000, false, "seconds a session lives unused"),
	COUNT("limits", max_snapshots, "1000", 1, 100000, false,
		"states of the corpus kept for pages and pinned versions"),
	COUNT("limits", max_fields, "256", 0, 1000, false,
		"fields that filters can name, declared ones included"),

	COUNT("timeouts", deadline_ms, "25000", 1, 3600000, true,
		"milliseconds that a request may take"),
	COUNT("timeouts", idle_timeout, "60", 1, 86400, false,
		"seconds after which a connection that does not move is closed"),
	COUNT("timeouts", body_timeout, "60", 1, 86400, false,
		"seconds from the first to the last byte of a request"),
	COUNT("timeouts", write_timeout, "30", 1, 86400, false,
		"seconds after which a client that stopped reading is cut off"),
	COUNT("timeouts", heartbeat, "15", 1, 3600, false,
		"seconds between comment lines on a silent event stream"),
	COUNT("timeouts", shutdown_grace, "10", 0, 3600, true,
		"seconds that running requests may take after SIGTERM"),

	COUNT("timeouts", snapshot_ttl, "300", 1, 86400, false,
		"seconds a state of the corpus is kept unused"),

	STR("index", language, "en",
		"language of texts that tell none and cannot be guessed; empty: none"),
	STR("index", fields, "", "types of fields that filters can name, as name:type name:type"),
	COUNT("index", chunk_tokens, "512", 32, 100000, false, "tokens of a chunk at most"),
	COUNT("index", chunk_overlap, "64", 0, 49999, false,
		"tokens that a chunk repeats of the one before"),
	REAL("index", bm25_k1, "1.2", 0.01, 10, "how much a word's repetition counts"),
	REAL("index", bm25_b, "0.75", 0, 1, "how much a text's length counts"),

	STR("model", model, "builtin",
		"the model in this process: builtin, none, or a folder in the layout of Model2Vec"),
	BOOL("model", fit, "yes", "fit a semantic space on the corpus, in the background"),
	REAL("model", fit_growth, "2", 1.1, 1000,
		"how many times larger than at its fit the corpus must be for the next one"),
	CHOICE("model", embedder, "none", embedder_choices, false,
		"who makes vectors instead: none, openai, tei, ollama, cohere or external"),
	STR("model", embedder_url, "", "whole address of the embedder's endpoint"),
	STR("model", embedder_model, "", "the embedder's name at its server"),
	STR("model", embedder_key_file, "", "file with the embedder's key"),
	COUNT("model", embedder_dimension, "0", 0, 4096, false, "numbers in one vector of it"),
	COUNT("model", embedder_batch, "32", 1, 2048, false, "texts in one call of it"),
	CHOICE("model", sparse, "none", sparse_choices, false,
		"who makes sparse vectors: none (the corpus's own weights) or tei"),
	STR("model", sparse_url, "", "whole address of the sparse embedder's endpoint"),
	STR("model", sparse_model, "", "the sparse embedder's name at its server"),
	STR("model", sparse_key_file, "", "file with the sparse embedder's key"),
	CHOICE("model", reranker, "none", reranker_choices, false,
		"who reranks as cross-encoder: none, tei, cohere or jina"),
	STR("model", reranker_url, "", "whole address of the reranker's endpoint"),
	STR("model", reranker_model, "", "the reranker's name at its server"),
	STR("model", reranker_key_file, "", "file with the reranker's key"),
	CHOICE("model", llm, "none", llm_choices, false, "a language model: none or openai"),
	STR("model", llm_url, "", "whole address of its chat completions"),
	STR("model", llm_model, "", "its name at its server"),
	STR("model", llm_key_file, "", "file with its key"),
	COUNT("model", model_timeout_ms, "10000", 1, 600000, false,
		"milliseconds that one call of a model over HTTP may take"),
	COUNT("model", model_retries, "2", 0, 10, false, "further tries of a call that failed"),
	COUNT("model", model_cache, "10000", 0, 10000000, false,
		"vectors of queries that are kept of an embedder over HTTP"),
	SIZE("model", model_max_text, "32k", 256, 16 * MIB,
		"bytes of one text that are sent to a model; the rest is cut off"),
	COUNT("model", model_redirects, "0", 0, 10, false, "redirects that are followed"),
	BOOL("model", model_private_hosts, "yes",
		"models may be on loopback and private addresses"),
	BOOL("model", model_plain_http, "yes", "models may be reached without TLS"),
	STR("model", model_ca_file, "", "certificates to trust; empty: those of the system"),

	CHOICE("log", log_level, "info", level_choices, true, "least level that is logged"),
	CHOICE("log", log_format, "auto", format_choices, false,
		"form of the log: auto, text, json or journal"),
};
const size_t config_key_count = sizeof(config_keys) / sizeof(config_keys[0]);

const struct config_key *config_key_find(const char *name)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (strcmp(config_keys[i].name, name) == 0)
			return &config_keys[i];
	return NULL;
}

size_t config_key_index(const struct config_key *key)
{
	return (size_t)(key - config_keys);
}
