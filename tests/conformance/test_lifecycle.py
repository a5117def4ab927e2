"""L1-L5 and D1-D5: the same lifecycle over stdio and over HTTP with strict and token
sessions; then what is particular to each session mode."""
import json
import time

import pytest

from lib import MARKER, SCALE, Rcpd, RcpdStdio
from lib.corpus import fill
from lib.methods import METHODS, OPEN


class Kept:
	"""A peer that keeps a lifecycle; over `token` it sends the session it was given."""

	def __init__(self, kind):
		self.kind, self.session = kind, None
		self.server = RcpdStdio() if kind == "stdio" else Rcpd("--sessions", kind)

	def call(self, method, params=None, **kw):
		params = {} if params is None else params
		if self.kind == "stdio":
			return self.server.rpc(method, params, **kw)
		headers = {"RCP-Session": self.session} if self.session else {}
		answer = self.server.rpc(method, params, headers=headers, **kw)
		if method == "initialize" and answer is not None and "result" in answer:
			self.session = answer["result"].get("_meta", {}).get("session", self.session)
		return answer

	def initialize(self, version=1):
		return self.call("initialize", {"protocolVersion": version})


@pytest.fixture(params=["stdio", "strict", "token"])
def fresh(request):
	"""A server that nobody has initialized yet."""
	kept = Kept(request.param)
	with kept.server:
		yield kept


@pytest.fixture(scope="module")
def stateless():
	with Rcpd() as server:
		yield server


def test_L1_D2_D3_before_initialize_only_open_methods_are_served(fresh):
	for method in [m for m in METHODS if m not in OPEN] + ["nope", "x-acme/foo", ""]:
		assert fresh.call(method, {}).code == -32001, method
	assert fresh.call("retrieve", {"query": 5, "k": "x"}).code == -32001
	assert fresh.call("info").result["protocolVersion"] == 1
	assert fresh.call("ping", {"nonce": "n"}).result == {"nonce": "n"}
	for method in ("notifications/cancel", "retrieve", "nope", "notifications/foo"):
		assert fresh.call(method, {"id": 1}, id=None) is None
	assert fresh.initialize().code is None
	assert fresh.call("retrieve", {"query": "x"}).code is None
	assert fresh.call("nope").code == -32004


def test_L1_a_gated_notification_runs_nothing(fresh):
	fresh.call("index/add", {"documents": [{"id": "early", "text": "earlyword"}]}, id=None)
	fresh.initialize()
	time.sleep(0.1 * SCALE)
	assert fresh.call("retrieve", {"query": "earlyword"}).result["hits"] == []


@pytest.mark.parametrize("version", [0, -1, -2**40])
def test_L2_D5_a_version_below_one_is_refused_and_may_be_retried(fresh, version):
	answer = fresh.initialize(version)
	assert answer.code == -32002
	assert fresh.call("retrieve", {"query": "x"}).code == -32001
	assert fresh.initialize().result["protocolVersion"] == 1
	assert fresh.call("retrieve", {"query": "x"}).code is None


BAD_VERSIONS = [None, "1", "", True, False, 1.5, [], [1], {}, 2**60]


def test_L2_D5_a_version_of_another_type_is_a_params_error(fresh):
	for params in [{"protocolVersion": v} for v in BAD_VERSIONS] + [{}]:
		answer = fresh.call("initialize", params)
		assert (answer.code, answer.field) == (-32602, "protocolVersion"), params
	assert fresh.call("retrieve", {"query": "x"}).code == -32001
	assert fresh.initialize().code is None


@pytest.mark.parametrize("version", [1, 1.0, 2, 99, 2**53 - 1])
def test_L2_D5_the_negotiated_version_is_the_lower_one(fresh, version):
	assert fresh.initialize(version).result["protocolVersion"] == 1


def test_L2_D29_the_version_may_be_written_as_a_fraction(stateless):
	for text in ("1.0", "1e0", "10e-1"):
		status, _, body = stateless.post(stateless.base,
			'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":%s}}' % text)
		assert json.loads(body)["result"]["protocolVersion"] == 1


def test_L3_a_second_initialize_is_refused(fresh):
	first = fresh.initialize()
	assert first.code is None
	for version in (1, 2, 0):
		assert fresh.initialize(version).code in ((-32600,) if version else (-32600, -32002))
	assert fresh.call("retrieve", {"query": "x"}).code is None


def test_L4_D42_initialize_and_info_tell_the_same(fresh):
	first = fresh.initialize().result
	info = fresh.call("info").result
	for result in (first, info):
		assert result["protocolVersion"] == 1
		assert result["server"]["name"] == "rcpd"
		assert isinstance(result["server"]["version"], str) and result["server"]["version"]
		assert result["_meta"]["conformance"] in ("L1", "L2")  # which: test_hybrid.py
	assert first["capabilities"] == info["capabilities"]
	fresh.call("index/add", {"documents": [{"id": "d", "text": "t", "meta": {"new": 1}}]})
	assert fresh.call("info").result["capabilities"] == first["capabilities"]


def test_L4_C1_D38_D40_what_is_advertised(peer):
	"""Only what is built, and all of it. Log frames travel over stdio only (S5)."""
	capabilities = peer.call("info").result["capabilities"]
	expected = {"retrieve", "index", "filter", "pagination", "streaming", "citations", "embed",
		"sparseEmbed", "multiVector", "x-rcpd", "x-rcpd-vector"}
	expected |= {"rerank"} & set(capabilities)  # where the built-in reranker earns its place
	if peer.kind == "stdio":
		expected.add("log")
		assert set(capabilities["log"]["levels"]) == {"debug", "info", "notice", "warning", "error"}
	assert set(capabilities) - {"log"} == expected - {"log"} and expected <= set(capabilities)
	assert capabilities["index"] == {"writable": True, "chunking": True, "contextual": True}
	for empty in ("pagination", "streaming", "citations"):
		assert capabilities[empty] == {}
	assert set(capabilities["filter"]) == {"fields", "operators", "x-rcpd-dateEncodings"}
	retrieve = capabilities["retrieve"]
	assert isinstance(retrieve.pop("maxK"), int)
	assert retrieve.pop("rerankBuiltin", True) is True
	assert retrieve == {"modes": ["dense", "sparse", "hybrid"], "defaultMode": "hybrid",
		"fusion": ["convex", "rrf", "weighted"], "mmr": True, "modalities": ["text"],
		"units": ["chunk", "document"], "tokenBudget": True, "deterministic": True, "snapshots": True}


@pytest.mark.parametrize("nonce", ["7", "7.0", '"7"', "0", '""', "1e3", "-1.5", "9007199254740993",
	'"\\u00e9"', "1E+2"])
def test_L5_ping_echoes_the_nonce_as_it_came(peer, nonce):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":%s}}' % nonce)
	got, sent = answer.result["nonce"], json.loads(nonce)
	assert got == sent and type(got) is type(sent)


@pytest.mark.parametrize("nonce", ["true", "[]", "{}", "[1]"])
def test_L5_a_nonce_of_another_type_is_refused(peer, nonce):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":%s}}' % nonce)
	assert (answer.code, answer.field) == (-32602, "nonce")


@pytest.mark.parametrize("params", ["", ',"params":{}', ',"params":{"nonce":null}'])
def test_L5_a_ping_without_nonce_gives_none(peer, params):
	assert peer.raw('{"jsonrpc":"2.0","id":1,"method":"ping"%s}' % params).result == {}


def test_L5_D4_shutdown_over_strict_sessions_starts_anew(rcpd):
	server = rcpd("--sessions", "strict")
	for _ in range(3):
		assert server.rpc("retrieve", {"query": "x"}).code == -32001
		assert server.rpc("initialize", {"protocolVersion": 1}).code is None
		assert server.rpc("initialize", {"protocolVersion": 1}).code == -32600
		assert server.rpc("retrieve", {"query": "x"}).code is None
		assert server.result("shutdown") == {}
	assert server.rpc("retrieve", {"query": "x"}).code == -32001
	assert server.proc.poll() is None


def test_L5_D4_shutdown_ends_one_session_of_many(rcpd):
	server = rcpd("--sessions", "token")
	one, two = (server.result("initialize", {"protocolVersion": 1})["_meta"]["session"]
		for _ in range(2))
	assert one != two
	assert server.rpc("shutdown", headers={"RCP-Session": one}).result == {}
	assert server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": one}).code in (-32001, -32015)
	assert server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": two}).code is None


def test_L5_shutdown_before_initialize_is_answered(fresh):
	assert fresh.call("shutdown").result == {}


def test_T8_D1_RPC_01_stateless_sessions_keep_no_lifecycle(stateless):
	fill(stateless)
	for _ in range(3):
		assert stateless.rpc("retrieve", {"query": f"fox {MARKER}"}).result["hits"]
		assert stateless.rpc("initialize", {"protocolVersion": 1}).code is None
		assert stateless.rpc("initialize", {"protocolVersion": 0}).code == -32002
		assert stateless.result("shutdown") == {}
	assert stateless.rpc("nope").code == -32004  # D3
	assert stateless.rpc("ping", headers={"RCP-Session": "of another server"}).result == {}


def test_RPC_01_a_restart_needs_no_new_handshake(tmp_path, rcpd):
	data = tmp_path / "data"
	first = rcpd(data=data)
	first.result("initialize", {"protocolVersion": 1})
	fill(first)
	before = first.result("retrieve", {"query": "fox"})
	first.stop()
	second = rcpd(data=data)
	after = second.result("retrieve", {"query": "fox"})
	assert (after["hits"], after["indexVersion"]) == (before["hits"], before["indexVersion"])


def test_T8_token_sessions_need_the_header(rcpd):
	server = rcpd("--sessions", "token")
	answer = server.rpc("initialize", {"protocolVersion": 1})
	session = answer.result["_meta"]["session"]
	assert isinstance(session, str) and len(session) >= 16
	assert server.rpc("retrieve", {"query": "x"}).code == -32001
	assert server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": session}).code is None
	for odd in ("nonsense", session[:-1], session + "0", "\"", "x" * 2000):
		answer = server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": odd})
		assert answer.code in (-32001, -32015)


def test_T8_an_expired_session_is_told(rcpd):
	server = rcpd("--sessions", "token", env={"RCPD_SESSION_TTL": "1"})
	session = server.result("initialize", {"protocolVersion": 1})["_meta"]["session"]
	assert server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": session}).code is None
	time.sleep(2.2)
	assert server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": session}).code == -32015
	assert server.rpc("initialize", {"protocolVersion": 1}).code is None


def test_T8_K1_the_number_of_sessions_is_bounded(rcpd):
	"""In all, and to a quarter of that for each caller."""
	server = rcpd("--sessions", "token", env={"RCPD_MAX_SESSIONS": "16"})
	sessions = [server.result("initialize", {"protocolVersion": 1})["_meta"]["session"]
		for _ in range(10)]
	codes = [server.rpc("retrieve", {"query": "x"}, headers={"RCP-Session": s}).code for s in sessions]
	assert codes[-4:] == [None] * 4
	assert all(c in (-32001, -32015) for c in codes[:-4])


def test_L1_stdio_keeps_one_lifecycle_whatever_sessions_says(rcpd_stdio):
	server = rcpd_stdio(env={"RCPD_SESSIONS": "stateless"})
	assert server.rpc("retrieve", {"query": "x"}).code == -32001
	server.result("initialize", {"protocolVersion": 1})
	assert server.rpc("retrieve", {"query": "x"}).code is None
