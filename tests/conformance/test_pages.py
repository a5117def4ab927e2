"""R10, D39, RET-06: pages by nextCursor. Snapshots have a file of their own."""
import string
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib.corpus import numbered

ALPHABET = string.ascii_uppercase + string.ascii_lowercase + string.digits + "-_"


@pytest.fixture(autouse=True, scope="module")
def _corpus(server, stdio_server):
	for one in (server, stdio_server):
		one.rpc("index/add", {"documents": numbered(50)}).result


def pages(call, params, most=1000):
	"""All pages from the first; call(params) gives a result."""
	found, cursor = [], None
	for _ in range(most):
		result = call(params if cursor is None else {**params, "cursor": cursor})
		found.append(result["hits"])
		cursor = result.get("nextCursor")
		if cursor is None:
			return found
	raise AssertionError("pages without end")


def ids(found):
	return [hit["id"] for page in found for hit in page]


def first_cursor(peer, **params):
	return peer.call("retrieve", {"query": "sameword", "k": 7, **params}).result["nextCursor"]


# ---- RET-06 ----

def test_RET_06_R10_pages_hold_each_of_equal_hits_once(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	documents = numbered(200)
	server.result("index/add", {"documents": documents[100:]})
	server.result("index/add", {"documents": documents[:100]})
	params = {"query": "sameword", "k": 7}

	def walk(_=None):
		return pages(lambda p: server.result("retrieve", p), params)

	first = walk()
	assert [len(page) for page in first] == [7] * 28 + [4]
	assert ids(first) == [f"{d['id']}#0" for d in documents]
	with ThreadPoolExecutor(8) as pool:
		for again in pool.map(walk, range(20)):
			assert again == first
	cursor = server.result("retrieve", params)["nextCursor"]
	server.stop()
	server = rcpd(data=data)
	assert walk() == first
	# Nothing was written, so the state that the cursor names is there.
	assert server.result("retrieve", {**params, "cursor": cursor})["hits"] == first[1]


def test_R10_pages_over_every_transport(peer):
	for k in (1, 7, 25, 49, 50, 51):
		found = pages(lambda p: peer.call("retrieve", p).result, {"query": "sameword", "k": k})
		assert ids(found) == [f"{d['id']}#0" for d in numbered(50)]
		assert all(len(page) == k for page in found[:-1]) and found[-1]
	# What a page holds does not depend on how many there are.
	assert len(pages(lambda p: peer.call("retrieve", p).result, {"query": "nothinglikethis", "mode": "sparse"})) == 1


def test_R10_a_page_can_be_asked_for_again(peer):
	cursor = first_cursor(peer)
	params = {"query": "sameword", "k": 7, "cursor": cursor}
	once, twice = peer.call("retrieve", params).result, peer.call("retrieve", params).result
	for key in ("hits", "indexVersion", "nextCursor"):
		assert once[key] == twice[key]


def test_R10_C5_pages_end_at_max_candidates(rcpd):
	server = rcpd(config="[limits]\nmax_k = 10\nmax_candidates = 25\n")
	server.result("index/add", {"documents": numbered(60)})
	found = pages(lambda p: server.result("retrieve", p), {"query": "sameword", "k": 10})
	assert [len(page) for page in found] == [10, 10, 5]


@pytest.mark.parametrize("cursor", [None, ""])
def test_R10_no_cursor_is_the_first_page(peer, cursor):
	params = {"query": "sameword", "k": 7}
	assert peer.call("retrieve", {**params, "cursor": cursor}).result["hits"] == \
		peer.call("retrieve", params).result["hits"]


# ---- stable under writes ----

def test_R10_pages_do_not_move_while_others_write(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": numbered(60)})
	expected = [f"{d['id']}#0" for d in numbered(60)]
	done = threading.Event()

	def write():
		n = 0
		while not done.is_set():
			server.result("index/add", {"documents": [
				{"id": f"doc-{n % 60:04d}", "text": "replaced"},
				{"id": f"a-new-{n}", "text": "sameword sameword"}]})
			server.result("index/delete", {"ids": [f"doc-{(n + 30) % 60:04d}"]})
			n += 1
		return n

	with ThreadPoolExecutor(2) as pool:
		result = server.result("retrieve", {"query": "sameword", "k": 7})
		version, cursor, found = result["indexVersion"], result["nextCursor"], [result["hits"]]
		job = pool.submit(write)
		while cursor:
			time.sleep(0.05)
			result = server.result("retrieve", {"query": "sameword", "k": 7, "cursor": cursor})
			assert result["indexVersion"] == version
			found.append(result["hits"])
			cursor = result.get("nextCursor")
		done.set()
		assert job.result() > 2
	assert ids(found) == expected
	assert server.result("retrieve", {"query": "sameword"})["indexVersion"] != version


# ---- D39 ----

def test_D39_a_changed_byte_is_noticed(peer):
	cursor = first_cursor(peer)
	assert set(cursor) <= set(ALPHABET)
	params = {"query": "sameword", "k": 7}
	for at, was in enumerate(cursor):
		other = ALPHABET[(ALPHABET.index(was) + 1 + at % 63) % 64]
		if other == was:
			other = ALPHABET[(ALPHABET.index(was) + 1) % 64]
		answer = peer.call("retrieve", {**params, "cursor": cursor[:at] + other + cursor[at + 1:]})
		assert (answer.code, answer.field) == (-32602, "cursor"), at
	assert peer.call("retrieve", {**params, "cursor": cursor}).result["hits"]


@pytest.mark.parametrize("change", [lambda c: c[:-1], lambda c: c + "A", lambda c: c + "=",
	lambda c: c[4:], lambda c: " " + c, lambda c: c + "\n", lambda c: c.swapcase(),
	lambda c: c[::-1], lambda c: "A" * 68,
	lambda c: c * 1000, lambda c: "\0" + c[1:], lambda c: "x", lambda c: "\u00e9" * 34, lambda c: 5,
	lambda c: True, lambda c: [c], lambda c: {"cursor": c}])
def test_D39_a_malformed_cursor_is_refused(peer, change):
	params = {"query": "sameword", "k": 7, "cursor": change(first_cursor(peer))}
	for more in ({}, {"strict": False}):
		answer = peer.call("retrieve", {**params, **more})
		assert (answer.code, answer.field) == (-32602, "cursor")


@pytest.mark.parametrize("other", [{"k": 8}, {"query": "sameword "}, {"query": "otherword"},
	{"minScore": 0},
	{"unit": "document"}, {"candidateK": 100}, {"includeText": False}, {"tokenBudget": 1000},
	{"recency": {"field": "x", "halfLifeDays": 1}}, {"seed": 1}, {"strict": False}])
def test_D39_a_cursor_belongs_to_its_request(peer, other):
	cursor = first_cursor(peer)
	answer = peer.call("retrieve", {"query": "sameword", "k": 7, "cursor": cursor, **other})
	assert (answer.code, answer.field) == (-32602, "cursor")


def test_D39_M8_M10_what_does_not_decide_about_hits_may_change(peer):
	cursor = first_cursor(peer)
	for same in ({"_meta": {"traceparent": "x"}}, {"mode": None}, {"x-vendor": 5}, {"k": 7.0},
			{"query": {"type": "text", "text": "sameword"}}):
		answer = peer.call("retrieve", {"query": "sameword", "k": 7, **same, "cursor": cursor})
		assert len(answer.result["hits"]) == 7


def test_D39_a_filter_is_bound_whatever_the_order_of_its_members(server):
	server.result("index/add", {"documents": [{"id": f"f{i}", "text": "filterpage", "meta": {"fp": "a"}}
		for i in range(5)]})
	params = {"query": "filterpage", "k": 2, "filter": {"field": "fp", "op": "eq", "value": "a"}}
	params["cursor"] = server.result("retrieve", params)["nextCursor"]
	params["filter"] = {"value": "a", "op": "eq", "field": "fp"}
	assert len(server.result("retrieve", params)["hits"]) == 2
	params["filter"] = {"value": "b", "op": "eq", "field": "fp"}
	answer = server.rpc("retrieve", params)
	assert (answer.code, answer.field) == (-32602, "cursor")


def test_D39_another_corpus_does_not_know_the_cursor(rcpd):
	one, two = rcpd(), rcpd()
	for server in (one, two):
		server.result("index/add", {"documents": numbered(20)})
	params = {"query": "sameword", "k": 7}
	cursor = one.result("retrieve", params)["nextCursor"]
	answer = two.rpc("retrieve", {**params, "cursor": cursor})
	assert (answer.code, answer.field) == (-32602, "cursor")


# ---- over SSE ----

def test_R10_T4_pages_over_sse(server):
	params, seen = {"query": "sameword", "k": 20, "mode": "sparse"}, []
	while True:
		with server.sse("retrieve", params, token="t") as stream:
			frames = stream.rest()
		partial = [f["params"]["partial"]["hits"] for f in frames[:-1] if "partial" in f["params"]]
		result = frames[-1].result
		assert [h["id"] for h in partial[-1]] == [h["id"] for h in result["hits"]]
		seen.append(result["hits"])
		if "nextCursor" not in result:
			break
		params["cursor"] = result["nextCursor"]
	assert [len(page) for page in seen] == [20, 20, 10]
