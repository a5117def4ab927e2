"""JSON-02 to JSON-07: the sweep over every parameter, and JSON that breaks parsers."""
import json

import pytest

from lib import MARKER, SCALE
from lib.methods import METHODS, OPEN, PARAMS, UNBUILT

VALUES = [None, True, 0, -1, 3.5, "", "x", [], [1], {}, {"a": 1}]
BASE = {
	"initialize": {"protocolVersion": 1}, "retrieve": {"query": "sweepword", "k": 3},
	"index/add": {"documents": [{"id": "sweep", "text": f"sweepword {MARKER}"}]},
	"index/delete": {"ids": ["nothing-here"]}, "embed": {"inputs": ["x"]},
	"embed/sparse": {"inputs": ["x"]}, "embed/multi": {"inputs": ["x"]},
	"rerank": {"query": "x", "passages": ["x"]},
}
ALLOWED = {
	"initialize": {-32602, -32002, -32600}, "retrieve": {-32602, -32005, -32015, -32010},
	"index/add": {-32602, -32005, -32013}, "index/delete": {-32602, -32005, -32013},
	"embed": {-32602, -32005}, "embed/sparse": {-32602, -32005}, "embed/multi": {-32602, -32005},
	"rerank": {-32602, -32005, -32003},  # where the built-in reranker earns its place
}


def sweep(method):
	"""(name, value, params) with each parameter replaced by each value."""
	for name in PARAMS[method] + ["unknownParameter"]:
		for value in VALUES:
			yield name, value, {**BASE.get(method, {}), name: value}


def judge(method, name, value, answer):
	what = f"{method} {name}={value!r}: {answer}"
	if method in UNBUILT:
		assert answer.code == -32003, what
		return
	assert answer.code in {None} | ALLOWED.get(method, {-32602}), what
	if name == "unknownParameter" and method != "initialize":
		assert answer.code is None, what
	if answer.code == -32602:
		assert answer.field, what
		same = answer.field.replace("[", ".").split(".")[0] == name
		assert same or name in ("filter", "candidateK"), what
	if answer.code == -32005:
		assert answer.option or value == "", what


@pytest.mark.parametrize("method", METHODS)
def test_JSON_06_M9_C1_wrong_types_everywhere_over_http(server, method):
	for name, value, params in sweep(method):
		judge(method, name, value, server.rpc(method, params))


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("shutdown", "initialize")])
def test_JSON_06_M9_C1_wrong_types_everywhere_over_stdio(stdio_server, method):
	cases = list(sweep(method))
	for i, (_, _, params) in enumerate(cases):
		stdio_server.send(stdio_server.message(method, params, id=f"sweep-{i}"))
	answers = {}
	for _ in cases:
		answer = stdio_server.recv(timeout=30)
		assert answer["id"] not in answers
		answers[answer["id"]] = answer
	for i, (name, value, _) in enumerate(cases):
		judge(method, name, value, answers[f"sweep-{i}"])


NESTED = {
	"retrieve": [("rerank", "topN"), ("rerank", "method"), ("fusion", "method"), ("fusion", "rrfK"),
		("fusion", "weights"), ("mmr", "lambda"), ("recency", "field"), ("recency", "halfLifeDays"),
		("_meta", "progressToken"), ("_meta", "deadlineMs"), ("_meta", "traceparent"),
		("_meta", "logLevel")],
	"index/add": [("_meta", "idempotencyKey"), ("_meta", "deadlineMs")],
	"initialize": [("client", "name"), ("client", "version"), ("capabilities", "log"),
		("_meta", "logLevel")],
}


@pytest.mark.parametrize("method,outer,inner", [(m, o, i) for m, pairs in NESTED.items()
	for o, i in pairs])
def test_JSON_06_wrong_types_in_nested_members(server, method, outer, inner):
	for value in VALUES:
		answer = server.rpc(method, {**BASE[method], outer: {inner: value}})
		assert answer.code in {None, -32014} | ALLOWED[method], (value, answer)


@pytest.mark.parametrize("value", [None, True, 5, "x", [], ["x"]])
@pytest.mark.parametrize("name", ["id", "text", "content", "meta"])
def test_JSON_06_IDX_06_wrong_types_in_a_document(server, name, value):
	document = {"text": f"sweepword {MARKER}", name: value}
	answer = server.rpc("index/add", {"documents": [document]})
	assert answer.code in (None, -32602, -32005), answer
	if answer.code == -32602:
		assert answer.field.startswith("documents[0]"), answer


def test_JSON_02_a_nul_in_text_query_and_id(peer):
	documents = [{"id": "a\0b", "text": f"x\0tailword {MARKER}"}, {"id": "a", "text": f"plain {MARKER}"}]
	assert peer.call("index/add", {"documents": documents}).result["ids"] == ["a\0b", "a"]
	hits = peer.call("retrieve", {"query": "tailword", "mode": "sparse"}).result["hits"]
	assert [h["chunk"]["docId"] for h in hits] == ["a\0b"]
	assert hits[0]["text"] == f"x\0tailword {MARKER}"
	assert hits[0]["id"] == "a\0b#0"
	assert peer.call("retrieve", {"query": "ab\0cd"}).code is None
	hits = peer.call("retrieve", {"query": "ab\0tailword", "mode": "sparse"}).result["hits"]
	assert [h["chunk"]["docId"] for h in hits] == ["a\0b"]
	assert peer.call("index/delete", {"ids": ["a"]}).result["deleted"] == 1
	assert peer.call("retrieve", {"query": "tailword", "mode": "sparse"}).result["hits"]
	assert peer.call("index/delete", {"ids": ["a\0b"]}).result["deleted"] == 1


def test_JSON_03_an_integer_beyond_64_bits_keeps_the_id(peer):
	answer = peer.raw('{"jsonrpc":"2.0","id":5,"method":"retrieve","params":{"query":"x",'
		'"k":99999999999999999999}}')
	assert (answer.code, answer["id"]) in ((-32602, 5), (-32700, None))


def test_JSON_04_a_text_cut_at_any_place_stays_valid(peer):
	text = ("\U0001f600e\u0301\u20ac" * 400) + f" cutword {MARKER}"
	documents = [{"id": "emoji", "text": text, "meta": {"title": "\U0001f680" * 300}}]
	peer.call("index/add", {"documents": documents})
	hit = peer.call("retrieve", {"query": "cutword", "mode": "sparse"}).result["hits"][0]
	assert hit["text"] == text
	assert hit["citation"]["title"] == "\U0001f680" * 300


def test_JSON_01_every_score_is_a_finite_number(peer):
	documents = [{"id": "dots", "text": "!!! ... ???"}, {"id": "one", "text": "finiteword"},
		{"id": "many", "text": "finiteword " * 5000}]
	peer.call("index/add", {"documents": documents})
	hits = peer.call("retrieve", {"query": "finiteword", "k": 10, "mode": "sparse"}).result["hits"]
	assert {h["chunk"]["docId"] for h in hits} == {"one", "many"}
	assert all(h["score"] >= 0 for h in hits)  # finite and descending: the hook


@pytest.mark.parametrize("member", ['"query":"x","k":1e400', '"query":"x","minScore":-1e400',
	'"query":"x","seed":1e308', '"query":"x","minScore":5e-324', '"query":"x","minScore":1e308'])
def test_M9_JSON_03_numbers_at_the_edges(peer, member):
	answer = peer.raw('{"jsonrpc":"2.0","id":5,"method":"retrieve","params":{%s}}' % member)
	assert answer.code in (None, -32602, -32700)
	assert peer.call("ping", {}).code is None


def test_JSON_06_open_methods_survive_odd_params_in_a_row(server):
	for method in OPEN:
		for value in VALUES:
			answer = server.rpc(method, value)
			if value is None or isinstance(value, dict):
				expected = {-32602} if method == "initialize" else {None}
			else:
				expected = {-32602}
			assert answer.code in expected, (method, value, answer)
