"""X7, X8, D34, D36, D37, IDX-06: writes."""
import json
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib import MARKER
from lib.corpus import numbered
from lib.process import SCALE, clean_environment, rcpd_path


def add(peer, *documents, **params):
	return peer.call("index/add", {"documents": list(documents), **params})


def delete(peer, *ids):
	return peer.call("index/delete", {"ids": list(ids)}).result


def found(peer, query, k=50):
	return [h["chunk"]["docId"] for h in
		peer.call("retrieve", {"mode": "sparse", "query": query, "k": k}).result["hits"]]


# ---- X7 ----

def test_X7_ids_come_in_input_order_one_each(peer):
	documents = [{"id": f"order-{i}", "text": f"orderword {MARKER}"} for i in (3, 1, 2)]
	result = add(peer, *documents).result
	assert result["ids"] == ["order-3", "order-1", "order-2"]
	assert result["chunks"] == 3
	assert sorted(found(peer, "orderword")) == ["order-1", "order-2", "order-3"]


def test_X7_an_id_is_minted_where_none_is_given(peer):
	result = add(peer, {"text": f"mintword {MARKER}"}, {"text": f"mintword {MARKER}", "id": None},
		{"id": "given", "text": f"mintword {MARKER}"}).result
	assert len(result["ids"]) == 3 and result["ids"][2] == "given"
	assert len(set(result["ids"])) == 3 and all(result["ids"])
	assert sorted(found(peer, "mintword")) == sorted(result["ids"])


def test_X7_the_same_id_again_replaces(peer):
	add(peer, {"id": "twice", "text": f"alphaword {MARKER}", "meta": {"old": 1}}).result
	add(peer, {"id": "twice", "text": f"betaword {MARKER}"}).result
	assert found(peer, "alphaword") == []
	assert found(peer, "betaword") == ["twice"]
	hit = peer.call("retrieve", {"mode": "sparse", "query": "betaword"}).result["hits"][0]
	assert hit.get("meta", {}) == {}
	assert delete(peer, "twice")["deleted"] == 1
	assert found(peer, "betaword") == []


def test_X7_an_empty_list_adds_nothing(peer):
	before = peer.call("retrieve", {"mode": "sparse", "query": "x"}).result["indexVersion"]
	answer = peer.call("index/add", {"documents": []})
	assert answer.code in (None, -32602)
	if answer.code is None:
		assert answer.result["ids"] == []
	assert peer.call("retrieve", {"mode": "sparse", "query": "x"}).result["indexVersion"] == before


@pytest.mark.parametrize("text", ["", "   ", "\0", "!!!", "\U0001f600" * 1000])
def test_X7_a_text_without_words_is_stored_or_refused_whole(peer, text):
	answer = add(peer, {"id": "wordless", "text": text})
	assert answer.code in (None, -32602)
	if answer.code is None:
		assert delete(peer, "wordless")["deleted"] == 1
	else:
		assert answer.field == "documents[0].text"


def test_X7_a_large_document_is_stored(peer):
	text = f"start {MARKER} " + "filler text of some length " * 20_000 + " lastword"
	assert add(peer, {"id": "large", "text": text}).result["ids"] == ["large"]
	hit = peer.call("retrieve", {"mode": "sparse", "query": "lastword"}).result["hits"][0]
	assert hit["chunk"]["docId"] == "large"
	assert text[hit["citation"]["start"]:hit["citation"]["end"]] == hit["text"]
	assert delete(peer, "large")["deleted"] == 1


def test_X7_meta_comes_back_as_it_was_given(peer):
	meta = {"s": "\u00e9\0\U0001f600", "i": 9007199254740993, "f": 0.1, "n": None, "b": True,
		"a": [1, [2, {"x": []}]], "o": {"": {"k": 1}}, "title": "T", "big": 1e300}
	add(peer, {"id": "meta", "text": "metaword", "meta": meta}).result
	assert peer.call("retrieve", {"mode": "sparse", "query": "metaword"}).result["hits"][0]["meta"] == meta


def test_X7_what_was_answered_survives_kill_9(rcpd, tmp_path):
	data = tmp_path / "data"
	for round in range(4):
		server = rcpd(data=data)
		for earlier in range(round):
			ids = [h["chunk"]["docId"] for h in
				server.result("retrieve", {"mode": "sparse", "query": f"round{earlier}"})["hits"]]
			assert sorted(ids) == [f"keep-{earlier}-{i}" for i in range(3)]
			assert server.result("retrieve", {"mode": "sparse", "query": f"gone{earlier}"})["hits"] == []
		server.result("index/add", {"documents": [
			{"id": f"keep-{round}-{i}", "text": f"round{round} {MARKER}"} for i in range(3)]
			+ [{"id": "gone", "text": f"gone{round} {MARKER}"}]})
		assert server.result("index/delete", {"ids": ["gone"]})["deleted"] == 1
		server.kill()


def test_X7_all_of_a_call_lands_or_none_when_killed(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	with ThreadPoolExecutor(4) as pool:
		jobs = [pool.submit(_add_until_killed, server, n) for n in range(4)]
		import time
		time.sleep(0.3)
		server.kill()
		acknowledged = [n for job in jobs for n in job.result()]
	server = rcpd(data=data)
	for hits in (server.result("retrieve", {"mode": "sparse", "query": f"call{n}", "k": 50})["hits"]
			for n in acknowledged):
		assert len(hits) == 10
	total = server.result("retrieve", {"mode": "sparse", "query": "atomicword", "k": 1000})["hits"]
	assert len(total) % 10 == 0 or len(total) == 1000


def _add_until_killed(server, worker):
	import http.client
	done, n = [], worker * 1000
	try:
		while True:
			server.result("index/add", {"documents": [
				{"id": f"{n}-{i}", "text": f"atomicword call{n}"} for i in range(10)]})
			done.append(n)
			n += 1
	except (OSError, http.client.HTTPException):
		return done


def test_X7_concurrent_writers_all_land(rcpd):
	server = rcpd()

	def write(n):
		return server.result("index/add", {"documents": [
			{"id": f"w{n}", "text": f"writerword {MARKER}"}]})["indexVersion"]
	with ThreadPoolExecutor(8) as pool:
		versions = list(pool.map(write, range(80)))
	hits = server.result("retrieve", {"mode": "sparse", "query": "writerword", "k": 100})["hits"]
	assert len(hits) == 80
	assert max(versions, key=lambda v: int(v.split("-")[1])) == \
		server.result("retrieve", {"mode": "sparse", "query": "x"})["indexVersion"]


# ---- X7: chunks ----

SECTIONS = "\n\n".join(f"## Heading{i} topic{i}\n\n" + " ".join(
	f"Sentence {i} {k} speaks of things like thing{i} and other{k}." for k in range(60)) for i in range(3))


def chunks_of(peer, id, query="sentence"):
	hits = peer.call("retrieve", {"mode": "sparse", "query": query, "k": 1000, "candidateK": 1000}).result["hits"]
	return sorted((h for h in hits if h["chunk"]["docId"] == id), key=lambda h: h["chunk"]["index"])


def test_X7_long_texts_are_cut_where_chunk_asks_for_it(peer):
	document = {"id": "cut", "text": SECTIONS}
	result = add(peer, document, {"id": "small", "text": "one small text"}, chunk=True).result
	assert result["ids"] == ["cut", "small"] and result["chunks"] > 4
	hits = chunks_of(peer, "cut")
	assert len(hits) == result["chunks"] - 1
	assert [h["chunk"]["index"] for h in hits] == list(range(len(hits)))
	for hit in hits:
		assert SECTIONS[hit["citation"]["start"]:hit["citation"]["end"]] == hit["text"]
	for params in ({}, {"chunk": False}, {"chunk": None}):
		assert add(peer, document, **params).result["chunks"] == 1
		hits = chunks_of(peer, "cut")
		assert [h["id"] for h in hits] == ["cut#0"] and hits[0]["text"] == SECTIONS
	assert delete(peer, "cut", "small")["deleted"] == 2


def test_X7_contextual_chunks_are_found_by_the_headings_above_them(peer):
	document = {"id": "ctx", "text": SECTIONS, "meta": {"mimeType": "text/markdown"}}
	add(peer, document, chunk=True).result
	plain = chunks_of(peer, "ctx", "topic1")
	assert plain and all("topic1" in h["text"] for h in plain)
	add(peer, document, chunk=True, contextual=True).result
	found = chunks_of(peer, "ctx", "topic1")
	assert len(found) > len(plain)
	assert all("thing1" in h["text"] for h in found)
	assert delete(peer, "ctx")["deleted"] == 1


@pytest.mark.parametrize("document", [
	{"text": "<p class='hiddenword'>shownword &eacute;clair</p>", "meta": {"mimeType": "text/html; charset=utf-8"}},
	{"text": "<p class='hiddenword'>shownword &eacute;clair</p>", "meta": {"uri": "https://example.org/a.html"}},
	{"content": {"type": "text", "mimeType": "text/html", "text": "<p class='hiddenword'>shownword &eacute;clair</p>"}},
	{"content": [{"type": "text", "mimeType": "text/html", "text": "<p class='hiddenword'>shownword</p>"},
		"<b>&eacute;clair</b>"], "meta": {"mimeType": "text/plain"}}])
def test_X7_M13_markup_of_html_is_not_searched(peer, document):
	add(peer, {"id": "html", **document}).result
	assert found(peer, "shownword") == ["html"]
	assert found(peer, "\u00e9clair") == ["html"]
	assert found(peer, "hiddenword") == []
	add(peer, {"id": "html", "text": "<p class='hiddenword'>shownword</p>", "meta": {"mimeType": "text/plain"}}).result
	assert found(peer, "hiddenword") == ["html"]
	assert delete(peer, "html")["deleted"] == 1


def test_D45_the_configured_language_is_that_of_texts_that_tell_none(rcpd):
	document = {"id": "short", "text": "glorpungen"}
	server = rcpd(env={"RCPD_LANGUAGE": "de-AT"})
	server.result("index/add", {"documents": [document]})
	assert [h["id"] for h in server.result("retrieve", {"mode": "sparse", "query": "glorpung"})["hits"]] == ["short#0"]
	server = rcpd()
	server.result("index/add", {"documents": [document]})
	assert server.result("retrieve", {"mode": "sparse", "query": "glorpung"})["hits"] == []
	server.result("index/add", {"documents": [{**document, "meta": {"lang": "de"}}]})
	assert [h["id"] for h in server.result("retrieve", {"mode": "sparse", "query": "glorpung"})["hits"]] == ["short#0"]


@pytest.mark.parametrize("action", [["--check-config"], ["--print-config"], []])
def test_D45_an_unknown_language_is_told_at_the_start(tmp_path, action):
	done = subprocess.run([rcpd_path(), "--data", tmp_path, "--listen", "127.0.0.1:0", *action],
		env=clean_environment({"RCPD_LANGUAGE": "xx"}), capture_output=True, text=True, timeout=20 * SCALE)
	assert done.returncode == 2
	assert "language cannot be 'xx'; it must be empty or one of ar, da, de," in done.stderr


def test_bm25_can_be_configured(rcpd):
	"""b = 0: the length of a text does not count; k1: how much repetition does."""
	documents = [{"id": "short", "text": "lengthword"}, {"id": "long", "text": "lengthword " + "filler " * 50},
		{"id": "often", "text": "lengthword " * 20}]

	def scores(env):
		server = rcpd(env=env)
		server.result("index/add", {"documents": documents})
		return {h["chunk"]["docId"]: h["score"] for h in
			server.result("retrieve", {"mode": "sparse", "query": "lengthword"})["hits"]}
	plain, flat, steep = scores({}), scores({"RCPD_BM25_B": "0"}), scores({"RCPD_BM25_B": "0", "RCPD_BM25_K1": "10"})
	assert plain["short"] > plain["long"]
	assert flat["short"] == flat["long"] < flat["often"]
	assert steep["often"] / steep["long"] > flat["often"] / flat["long"]


@pytest.mark.parametrize("name", ["chunk", "contextual"])
def test_X7_M11_options_are_booleans(peer, name):
	for value in ("true", 1, [], {}):
		answer = add(peer, {"text": "optionword"}, **{name: value})
		assert (answer.code, answer.field) == (-32602, name)


def test_D37_an_idempotency_key_covers_the_options(peer):
	key = {"_meta": {"idempotencyKey": f"options-{peer.kind}"}}
	document = {"id": "keyed", "text": SECTIONS}
	first = add(peer, document, **key).result
	assert add(peer, document, chunk=False, contextual=False, **key).result == first
	assert add(peer, document, chunk=True, **key).code == -32016
	assert add(peer, document, contextual=True, **key).code == -32016
	assert delete(peer, "keyed")["deleted"] == 1


# ---- D37, IDX-06 ----

BAD = [
	({"text": 5}, "documents[1].text"), ({"id": "b"}, "documents[1].text"), ({}, "documents[1].text"),
	({"text": None}, "documents[1].text"), ({"text": []}, "documents[1].text"),
	({"text": {"type": "text"}}, "documents[1].text"), ({"id": 7, "text": "x"}, "documents[1].id"),
	({"id": "", "text": "x"}, "documents[1].id"), ({"id": "i" * 1025, "text": "x"}, "documents[1].id"),
	({"id": "\u00e9" * 513, "text": "x"}, "documents[1].id"), ({"id": [], "text": "x"}, "documents[1].id"),
	({"id": "b", "text": "x", "meta": 5}, "documents[1].meta"),
	({"id": "b", "text": "x", "meta": []}, "documents[1].meta"), (5, "documents[1]"),
	(None, "documents[1]"), ("x", "documents[1]"), ([], "documents[1]"),
]


@pytest.mark.parametrize("bad,field", BAD)
def test_X7_D37_D36_IDX_06_one_bad_document_refuses_all(peer, bad, field):
	good = {"id": "good1", "text": f"partword {MARKER}"}
	answer = add(peer, good, bad, {"id": "good2", "text": f"partword {MARKER}"})
	assert answer.code == -32602
	assert answer.field.startswith(field)
	assert found(peer, "partword") == []


@pytest.mark.parametrize("documents", [{}, None, "x", 5, True, {"0": {"text": "x"}}])
def test_X7_IDX_06_documents_must_be_an_array(peer, documents):
	answer = peer.call("index/add", {"documents": documents})
	assert (answer.code, answer.field) == (-32602, "documents")
	assert peer.call("index/add", {}).field == "documents"


def test_IDX_06_C5_more_documents_than_the_cap_are_refused(peer):
	answer = add(peer, *numbered(10_001, "overcapword"))
	assert answer.code == -32013
	assert found(peer, "overcapword") == []


def test_D36_an_id_of_one_kib_is_taken(peer):
	ids = ["i" * 1024, "\u00e9" * 512]
	assert add(peer, *[{"id": i, "text": "longidword"} for i in ids]).result["ids"] == ids
	assert sorted(found(peer, "longidword")) == sorted(ids)
	assert delete(peer, *ids)["deleted"] == 2


def test_D37_the_last_of_duplicate_ids_wins(peer):
	result = add(peer, {"id": "dup", "text": "dupone"}, {"id": "other", "text": "dupother"},
		{"id": "dup", "text": "duptwo"}).result
	assert result["ids"] == ["dup", "other", "dup"]
	assert found(peer, "dupone") == []
	assert found(peer, "duptwo") == ["dup"]
	assert delete(peer, "dup", "other")["deleted"] == 2


def test_X7_D37_an_idempotency_key_gives_the_first_result_again(peer):
	meta = {"_meta": {"idempotencyKey": f"key-{peer.kind}"}}
	document = {"text": f"onceword {MARKER}"}
	first = add(peer, document, **meta).result
	add(peer, {"id": "between", "text": "x"}).result
	again = add(peer, document, **meta).result
	assert again == first
	assert found(peer, "onceword") == first["ids"]
	answer = add(peer, {"text": "another body"}, **meta)
	assert answer.code == -32016
	assert found(peer, "onceword") == first["ids"]
	second = add(peer, document, _meta={"idempotencyKey": f"other-{peer.kind}"}).result
	assert second["ids"] != first["ids"]


def test_X7_D37_idempotency_survives_a_restart(rcpd, tmp_path):
	data = tmp_path / "data"
	params = {"documents": [{"text": f"restartword {MARKER}"}], "_meta": {"idempotencyKey": "k"}}
	server = rcpd(data=data)
	first = server.result("index/add", params)
	server.kill()
	server = rcpd(data=data)
	assert server.result("index/add", params) == first
	assert len(server.result("retrieve", {"mode": "sparse", "query": "restartword"})["hits"]) == 1


def test_X7_D37_one_key_used_by_many_at_once_writes_once(rcpd):
	server = rcpd()
	params = {"documents": [{"text": f"raceword {MARKER}"}], "_meta": {"idempotencyKey": "race"}}
	with ThreadPoolExecutor(8) as pool:
		results = list(pool.map(lambda _: server.result("index/add", params), range(16)))
	assert all(r == results[0] for r in results)
	assert len(server.result("retrieve", {"mode": "sparse", "query": "raceword"})["hits"]) == 1


@pytest.mark.parametrize("key", [5, True, [], {}, ""])
def test_D37_a_malformed_idempotency_key_is_refused(peer, key):
	answer = add(peer, {"text": "badkeyword"}, _meta={"idempotencyKey": key})
	assert answer.code == -32602
	assert answer.field == "_meta.idempotencyKey"
	assert found(peer, "badkeyword") == []


def test_D37_C1_a_read_only_corpus_refuses_over_stdio_too(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_READ_ONLY": "yes"})
	assert server.rpc("index/add", {"documents": [{"text": "x"}]}).code == -32003
	assert server.rpc("index/delete", {"ids": ["x"]}).code == -32003


# ---- X8, D34, D36 ----

def test_X8_D34_absent_ids_count_zero(peer):
	add(peer, {"id": "del1", "text": "deleteword"}, {"id": "del2", "text": "deleteword"}).result
	result = delete(peer, "del1", "not there", "del1")
	assert result["deleted"] == 1
	assert isinstance(result["indexVersion"], str)
	assert found(peer, "deleteword") == ["del2"]
	assert delete(peer, "del1")["deleted"] == 0
	assert delete(peer, "del2")["deleted"] == 1
	assert found(peer, "deleteword") == []


def test_D36_a_chunk_id_deletes_nothing(peer):
	add(peer, {"id": "whole", "text": "wholeword"}).result
	assert delete(peer, "whole#0")["deleted"] == 0
	assert found(peer, "wholeword") == ["whole"]
	assert delete(peer, "whole")["deleted"] == 1


@pytest.mark.parametrize("params", [{}, {"ids": None}, {"filter": None}, {"unknown": 1},
	{"ids": None, "filter": None}])
def test_X8_D34_without_ids_nothing_is_deleted(peer, params):
	add(peer, {"id": "stays", "text": "stayword"}).result
	answer = peer.call("index/delete", params)
	assert (answer.code, answer.field) == (-32602, "ids")
	assert found(peer, "stayword") == ["stays"]


@pytest.mark.parametrize("ids", ["stays", 5, {}, True, [5], [None], [[]], [""], ["ok", 5]])
def test_X8_malformed_ids_are_refused(peer, ids):
	add(peer, {"id": "stays", "text": "stayword"}, {"id": "ok", "text": "stayword"}).result
	answer = peer.call("index/delete", {"ids": ids})
	assert answer.code == -32602
	assert answer.field.startswith("ids")
	assert sorted(found(peer, "stayword")) == ["ok", "stays"]


def test_X8_an_empty_list_deletes_nothing(peer):
	add(peer, {"id": "stays", "text": "stayword"}).result
	answer = peer.call("index/delete", {"ids": []})
	assert answer.code in (None, -32602)
	assert "error" in answer or answer.result["deleted"] == 0
	assert "stays" in found(peer, "stayword")


def test_X8_deletes_survive_kill_9(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	server.result("index/add", {"documents": numbered(40, "backword")})
	gone = [f"doc-{i:04d}" for i in range(0, 40, 2)]
	assert server.result("index/delete", {"ids": gone})["deleted"] == 20
	server.kill()
	server = rcpd(data=data)
	ids = [h["chunk"]["docId"] for h in server.result("retrieve", {"mode": "sparse", "query": "backword", "k": 100})["hits"]]
	assert len(ids) == 20 and not set(ids) & set(gone)
	assert server.result("index/delete", {"ids": gone})["deleted"] == 0


@pytest.mark.parametrize("id", ["x' OR '1'='1", "'; DROP TABLE documents; --", "%", "_", "*", "\\"])
def test_X8_F5_an_id_is_never_query_text(peer, id):
	add(peer, {"id": "victim", "text": "victimword"}).result
	assert delete(peer, id)["deleted"] == 0
	assert found(peer, "victimword") == ["victim"]
	assert add(peer, {"id": id, "text": "oddidword"}).result["ids"] == [id]
	assert found(peer, "oddidword") == [id]
	assert delete(peer, id)["deleted"] == 1


def test_X7_writes_through_one_transport_are_seen_by_a_later_start(rcpd, rcpd_stdio, tmp_path):
	data = tmp_path / "data"
	first = rcpd_stdio(data=data, initialize=True)
	first.result("index/add", {"documents": [{"id": "s", "text": f"sharedword {MARKER}"}]})
	first.stop()
	second = rcpd(data=data)
	assert second.result("retrieve", {"mode": "sparse", "query": "sharedword"})["hits"][0]["id"] == "s#0"
	assert json.dumps(second.result("info"))
