"""C1-C5, D20, D40: codes, options, and the order of checks. C2 and C3 hold for
every message of every test: lib/messages.py."""
import pytest

from lib import MARKER
from lib.corpus import fill
from lib.methods import UNBUILT

QUERY = {"query": f"quick fox {MARKER}", "k": 3}


@pytest.mark.parametrize("method", UNBUILT)
@pytest.mark.parametrize("params", [{}, {"query": "x", "passages": ["a"]}, {"inputs": 5}])
def test_C1_RPC_08_RPC_09_a_method_that_is_not_advertised(peer, method, params):
	assert peer.call(method, params).code == -32003


@pytest.mark.parametrize("method", ["does/not/exist", "", "retrieve/x", "rpc.describe", "x-acme/foo",
	"x-rcpd/get", "index", "index/", "initialize\u0000", "\U0001f600", "r" * 5000])
def test_C1_C4_RPC_08_a_method_rcp_does_not_define(peer, method):
	import json
	answer = peer.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}}))
	assert answer.code == -32004


@pytest.mark.parametrize("params", ["[]", "[1]", "5", '"x"'])
def test_D20_RPC_09_the_method_is_checked_before_the_params(peer, params):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"nope","params":%s}' % params)
	assert answer.code == -32004
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"graph","params":%s}' % params)
	assert answer.code == -32003


def test_D20_D37_RPC_09_a_read_only_corpus_refuses_writes_before_params(rcpd, tmp_path):
	data = tmp_path / "data"
	first = rcpd(data=data)
	fill(first)
	first.stop()
	server = rcpd(data=data, env={"RCPD_READ_ONLY": "yes"})
	assert server.rpc("index/add", {"documents": 5}).code == -32003
	assert server.rpc("index/add", {"documents": [{"text": "x"}]}).code == -32003
	assert server.rpc("index/delete", {"ids": ["fox"]}).code == -32003
	assert server.rpc("index/delete", {}).code == -32003
	index = server.result("info")["capabilities"].get("index", {})
	assert index.get("writable", False) is False
	assert server.result("retrieve", QUERY)["hits"][0]["chunk"]["docId"] == "fox"


# Options of features that are not built: the option's name; for values from a list: the value.
# What a server without vectors or rerankers refuses: test_hybrid.py.
OPTIONS = [
	({"mode": "lexical"}, "lexical"), ({"fusion": {"method": "borda"}}, "borda"),
	({"rewrite": "hyde"}, "rewrite"), ({"rewrite": "multi-query"}, "rewrite"), ({"unit": "node"}, "node"),
	({"unit": "passage"}, "passage"), ({"level": 1}, "level"), ({"modality": "image"}, "image"),
	({"modality": "multimodal"}, "multimodal"),
]
# What narrows a result: a mistake in it stays one, whatever strict says.
NEVER_DROPPED = [
	({"filter": {"field": "never-heard-of", "op": "eq", "value": "en"}}, -32602, "filter.field"),
	({"filter": {"and": []}}, -32602, "filter.and"), ({"filter": {}}, -32602, "filter"),
	({"filter": {"field": "lang", "op": "like", "value": "en"}}, -32005, "filter.op"),
	({"cursor": "abc"}, -32602, "cursor"), ({"tokenBudget": 0}, -32602, "tokenBudget"),
	({"indexVersion": "abc"}, -32602, "indexVersion"), ({"minScore": "x"}, -32602, "minScore"),
]
IDS = [next(iter(o)) + "-" + v for o, v in OPTIONS]


@pytest.mark.parametrize("option,value", OPTIONS, ids=IDS)
def test_C1_D40_D38_an_option_that_is_not_advertised(peer, option, value):
	for strict in ({}, {"strict": True}, {"strict": None}):
		answer = peer.call("retrieve", {**QUERY, **option, **strict})
		assert (answer.code, answer.option) == (-32005, value)


@pytest.mark.parametrize("option,value", OPTIONS, ids=IDS)
def test_C1_D40_strict_false_drops_a_preference_and_says_so(peer, option, value):
	fill(peer.server)
	plain = peer.call("retrieve", QUERY).result
	result = peer.call("retrieve", {**QUERY, **option, "strict": False}).result
	assert result["hits"] == plain["hits"]
	notes = result["usage"]["notes"]
	assert notes and all(isinstance(n, str) for n in notes)
	assert any(next(iter(option)) in n or value in n for n in notes), notes
	assert not plain["usage"].get("notes")


@pytest.mark.parametrize("option,code,field", NEVER_DROPPED)
def test_C1_D40_strict_false_never_drops_what_narrows_a_result(peer, option, code, field):
	fill(peer.server)
	for strict in ({}, {"strict": False}):
		answer = peer.call("retrieve", {**QUERY, **option, **strict})
		assert (answer.code, answer.field) == (code, field)


@pytest.mark.parametrize("extra", [{"rerank": False}, {"rewrite": False}, {"includeVectors": False},
	{"mode": "sparse"}, {"unit": "chunk"}, {"modality": "text"}, {"sessionId": "s1"}, {"seed": 42},
	{"unit": "document"}, {"tokenBudget": 1000}, {"cursor": None}, {"filter": None},
	{"strict": True}, {"strict": False}, {"includeText": True}, {"minScore": 0}, {"candidateK": 50}])
def test_C1_what_is_offered_or_off_or_a_hint_is_accepted(peer, extra):
	fill(peer.server)
	assert peer.call("retrieve", {**QUERY, **extra}).result["hits"][0]["chunk"]["docId"] == "fox"
def test_C1_malformed_params_name_the_path(peer):
	cases = [({"query": "x", "k": "3"}, "k"), ({"query": 5}, "query"),
		({"query": "x", "recency": {"field": 5, "halfLifeDays": 1}}, "recency.field"),
		({"query": "x", "recency": {"field": "d", "halfLifeDays": "x"}}, "recency.halfLifeDays"),
		({"query": "x", "includeText": "yes"}, "includeText"), ({"query": "x", "strict": 1}, "strict"),
		({"query": "x", "seed": 1.5}, "seed"), ({"query": "x", "minScore": "1"}, "minScore"),
		({"query": "x", "mode": 5}, "mode"), ({"query": "x", "sessionId": 5}, "sessionId")]
	for params, field in cases:
		answer = peer.call("retrieve", params)
		assert (answer.code, answer.field) == (-32602, field), params


def test_C2_C3_a_message_is_for_people_and_leaks_nothing(peer):
	for method, params in (("nope", {}), ("retrieve", {"query": 1}), ("graph", {}),
			("index/add", {"documents": [{"text": 5}]})):
		error = peer.call(method, params).error
		assert len(error["message"]) < 400
		text = str(error)
		for secret in ("/src/", ".c:", "sqlite", "SELECT", "0x"):
			assert secret not in text


def test_C2_a_wrong_name_from_the_client_cannot_break_the_answer(peer):
	import json
	for method in ('a"b', "a\\b", "a\nb", "\u0000", "\u202e", "<script>", "%s%n"):
		answer = peer.raw(json.dumps({"jsonrpc": "2.0", "id": method, "method": method}))
		assert answer.code == -32004
		assert answer["id"] == method


def test_C5_max_k_is_advertised_and_clamps(rcpd):
	server = rcpd(env={"RCPD_MAX_K": "5", "RCPD_MAX_CANDIDATES": "7"})
	assert server.result("info")["capabilities"]["retrieve"]["maxK"] == 5
	server.result("index/add", {"documents": [
		{"id": f"d{i}", "text": f"clampword {MARKER}"} for i in range(20)]})
	for k in (6, 100, 1_000_000, 2**53 - 1):
		result = server.result("retrieve", {"query": "clampword", "k": k})
		assert len(result["hits"]) == 5
	result = server.result("retrieve", {"query": "clampword", "k": 3, "candidateK": 1_000_000})
	assert len(result["hits"]) == 3
	assert result["usage"]["candidates"] <= 7


def test_C5_D12_IDX_06_counts_over_a_cap(rcpd):
	server = rcpd(env={"RCPD_MAX_DOCUMENTS": "10"})
	documents = [{"id": f"d{i}", "text": f"capword {MARKER}"} for i in range(11)]
	answer = server.rpc("index/add", {"documents": documents})
	assert (answer.status, answer.code) == (200, -32013)
	assert server.result("retrieve", {"query": "capword"})["hits"] == []
	assert server.rpc("index/add", {"documents": documents[:10]}).code is None
	answer = server.rpc("index/delete", {"ids": [f"d{i}" for i in range(11)]})
	assert (answer.status, answer.code) == (200, -32013)
	assert len(server.result("retrieve", {"query": "capword", "k": 20})["hits"]) == 10
