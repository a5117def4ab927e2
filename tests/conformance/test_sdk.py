"""The public Python SDK (rcp-protocol, pinned in tests/requirements.txt) as it comes.

It speaks plain HTTP with a connection a request, never sends RCP-Session and waits
30 seconds (D21). REQ: D1, D4, D21, RPC-01.
"""
import os
import threading

import pytest

from lib import rcpd_path, wait_until
from lib.model_server import ModelServer

try:
	import rcp
except ImportError:
	rcp = None

DOCS = [{"id": "fox", "text": "The quick brown fox jumps over the lazy dog."},
	{"id": "walrus", "text": "The walrus and the carpenter were walking close at hand."}]


@pytest.fixture(autouse=True)
def _sdk():
	if rcp is None:
		why = "rcp-protocol is not installed: pip install -r tests/requirements.txt"
		if os.environ.get("CI") == "true":
			pytest.fail(why)
		pytest.skip(why)


def a_life(client, name):
	"""What a client does between connect and shutdown."""
	assert client.protocol_version == 1 and client.server["name"] == "rcpd"
	assert client.supports(rcp.Capability.Retrieve) and client.supports(rcp.Capability.Index)
	docs = [{"id": "%s-%s" % (name, d["id"]), "text": "%s %s%s" % (d["text"], name, d["id"])}
		for d in DOCS]
	added = client.index_add({"documents": docs})
	assert added["ids"] == [d["id"] for d in docs]
	mode = client.capabilities["retrieve"].get("defaultMode")
	assert mode in client.capabilities["retrieve"]["modes"]
	hits = client.retrieve("walrus %swalrus" % name, k=3)
	assert hits[0]["chunk"]["docId"] == "%s-walrus" % name and hits[0]["score"] > 0
	assert "walrus" in hits[0]["text"]
	full = client.search("quick %sfox" % name, k=1)
	assert len(full["hits"]) == 1 and full["hits"][0]["chunk"]["docId"] == "%s-fox" % name
	assert client.ping(nonce=name) == {"nonce": name}
	assert client.info()["protocolVersion"] == 1
	with pytest.raises(rcp.RcpError) as e:
		client.call("nope")
	assert e.value.code == -32004
	with pytest.raises(rcp.RcpError) as e:
		client.call("graph", {"op": "local"})
	assert e.value.code == -32003
	with pytest.raises(rcp.RcpError) as e:
		client.call("retrieve", {"query": 5})
	assert e.value.code == -32602 and e.value.data["field"] == "query"
	assert client.index_delete({"ids": added["ids"]})["deleted"] == 2
	assert all(not h["id"].startswith(name + "-") for h in client.retrieve("%swalrus" % name,
		opts={"mode": "sparse"}))
	client.shutdown()


def test_sdk_D4_D21_RPC01_over_http_twice_in_a_row(server):
	for name in ("first", "second"):
		a_life(rcp.connect_http(server.url), name)
	a_life(rcp.connect_http(server.url + "/"), "third")


def test_sdk_D1_over_http_strict_sessions_twice_in_a_row(rcpd):
	server = rcpd("--sessions", "strict")
	for name in ("first", "second"):
		a_life(rcp.connect_http(server.url), name)


def test_sdk_RPC01_over_http_concurrently(server):
	bad = []

	def one(n):
		try:
			a_life(rcp.connect_http(server.url), "client%d" % n)
		except BaseException as e:
			bad.append(repr(e))
	threads = [threading.Thread(target=one, args=(n,)) for n in range(8)]
	for t in threads:
		t.start()
	for t in threads:
		t.join(60)
	assert not bad, bad


def test_sdk_RPC01_one_goes_on_after_another_shut_down(server):
	one, two = rcp.connect_http(server.url), rcp.connect_http(server.url)
	one.shutdown()
	assert two.ping(nonce=1) == {"nonce": 1}
	assert two.retrieve("anything", opts={"mode": "sparse"}) == []
	two.shutdown()


def test_sdk_RPC01_survives_a_restart_without_a_new_handshake(rcpd, tmp_path):
	first = rcpd(data=tmp_path)
	client = rcp.connect_http(first.url)
	client.index_add({"documents": DOCS})
	first.stop(check_idle=False)
	rcpd(data=tmp_path, listen="127.0.0.1:%d" % first.port)
	assert client.retrieve("walrus")[0]["chunk"]["docId"] == "walrus"
	client.shutdown()


@pytest.mark.parametrize("time", ["first", "second"])
def test_sdk_S1_over_stdio(tmp_path, time):
	for name in ("one", "two"):
		client = rcp.connect_stdio([rcpd_path(), "--stdio", "--data", str(tmp_path), "--log-level",
			"error"])
		process = client._transport._proc
		try:
			a_life(client, name)
			wait_until(lambda: process.poll() is not None, 5, what="rcpd to end")
		finally:
			if process.poll() is None:
				process.kill()
				process.wait(10)


ARTICLES = [{"id": f"arxiv-{i}", "text": text, "meta": {"lang": lang, "year": year}}
	for i, (text, lang, year) in enumerate([
		("Attention in a transformer has quadratic complexity in the length of the text.", "en", 2017),
		("Performers rethink attention with linear complexity for a transformer.", "en", 2020),
		("Attention complexity of the transformer, told again in the same words.", "en", 2021),
		("Transformer-Attention hat quadratische complexity.", "de", 2019),
		("The attention of a transformer before its time, with complexity.", "en", 2001),
		("Bread is baked from flour, water and salt.", "en", 2022)])]


def worked_session(client):
	"""Appendix D of the specification, with the best reranker that is there."""
	offered = client.capabilities["rerank"]["methods"]
	client.index_add({"documents": ARTICLES})
	full = client.search("transformer attention complexity", k=3, opts={"mode": "hybrid",
		"rerank": {"method": "colbert" if "colbert" in offered else offered[0], "topN": 100},
		"mmr": {"lambda": 0.5},
		"filter": {"and": [{"field": "lang", "op": "eq", "value": "en"},
			{"field": "year", "op": "gte", "value": 2017}]},
		"_meta": {"progressToken": "t2"}})
	hits = full["hits"]
	assert hits[0]["chunk"]["docId"] in ("arxiv-0", "arxiv-1", "arxiv-2")
	assert [h["score"] for h in hits] == sorted((h["score"] for h in hits), reverse=True)
	assert {h["chunk"]["docId"] for h in hits} <= {"arxiv-0", "arxiv-1", "arxiv-2", "arxiv-5"}
	assert full["usage"]["reranked"] == 4 and "rerank" in hits[0]["scores"]
	client.shutdown()


def test_sdk_R2_R5_T6_the_worked_session_over_http(rcpd):
	with ModelServer("hash") as models:
		server = rcpd(env={"RCPD_RERANKER": "tei", "RCPD_RERANKER_URL": models.url("/rerank")})
		server.result("index/add", {"documents": ARTICLES})  # fields that filters know (D42)
		worked_session(rcp.connect_http(server.url))


def test_sdk_R2_R5_T6_the_worked_session_over_stdio(rcpd, tmp_path):
	"""Its progress frames come between, and the client finds its answer behind them."""
	with ModelServer("hash") as models:
		config = tmp_path / "rcpd.conf"
		config.write_text("[model]\nreranker = tei\nreranker_url = %s\n" % models.url("/rerank"))
		first = rcpd(data=tmp_path / "data")
		first.result("index/add", {"documents": ARTICLES})
		first.stop()
		client = rcp.connect_stdio([rcpd_path(), "--config", str(config), "--stdio", "--data",
			str(tmp_path / "data"), "--log-level", "error"])
		process = client._transport._proc
		try:
			worked_session(client)
			wait_until(lambda: process.poll() is not None, 5, what="rcpd to end")
		finally:
			if process.poll() is None:
				process.kill()
				process.wait(10)
