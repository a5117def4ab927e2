"""The methods of RCP/1 and the names of their parameters, as the sweeps use them."""

PARAMS = {
	"initialize": ["protocolVersion", "client", "capabilities", "_meta"],
	"info": ["_meta"],
	"ping": ["nonce", "_meta"],
	"shutdown": ["_meta"],
	"embed": ["inputs", "texts", "kind", "encoding"],
	"embed/sparse": ["inputs", "texts", "kind"],
	"embed/multi": ["inputs", "texts", "kind"],
	"rerank": ["query", "passages", "documents", "method", "model", "topN"],
	"retrieve": ["query", "k", "mode", "modality", "candidateK", "fusion", "rerank", "mmr",
		"rewrite", "filter", "minScore", "recency", "unit", "level", "tokenBudget", "sessionId",
		"includeText", "includeVectors", "seed", "indexVersion", "strict", "cursor", "_meta"],
	"query/transform": ["query", "method", "n"],
	"graph": ["op", "query", "k", "seedIds", "hops", "level", "sessionId"],
	"index/add": ["documents", "chunk", "contextual", "_meta"],
	"index/delete": ["ids", "filter", "_meta"],
	"catalog/list": ["_meta"],
	"feedback": ["signals", "query", "sessionId"],
	"memory/build": ["documents", "memoryId", "scope"],
	"memory/recall": ["query", "memoryId", "sessionId", "n"],
}
METHODS = tuple(PARAMS)
# What this server has built; the others answer -32003.
BUILT = ("initialize", "info", "ping", "shutdown", "embed", "embed/sparse", "embed/multi", "rerank",
	"retrieve", "index/add", "index/delete")
UNBUILT = tuple(m for m in METHODS if m not in BUILT)
OPEN = ("initialize", "info", "ping", "shutdown")  # REQ: D2
