"""R6, R7, F4, D36, D43, RET-05: what an answer holds: tokenBudget, unit document, minScore,
recency, and hits that only pass the filter."""
import re

import pytest

from lib.corpus import numbered

SENTENCE = "The packword lies in the middle of a sentence of a dozen words. "
# Long enough to be cut into several chunks (512 tokens each).
LONG = "# Top\n\n" + "".join(
	f"## Part {i}\n\n" + f"Paragraph {i} tells about lighthouses and nothing else. " * 40 + "\n\n"
	for i in range(12))


@pytest.fixture(autouse=True, scope="module")
def _corpus(server, stdio_server):
	documents = [{"id": f"pack-{i}", "text": SENTENCE * (i + 1), "meta": {"n": i}} for i in range(8)]
	documents += [
		{"id": "long", "text": LONG, "meta": {"uri": "https://example.org/long.md", "title": "Coasts"}},
		{"id": "one", "text": "A lighthouse, lighthouses, the lighthouse."},
		{"id": "two", "text": "Ships pass lighthouses on their way to the open sea and to far ports."}]
	for document in documents:
		document.setdefault("meta", {})["lang"] = "en"
	for server_ in (server, stdio_server):
		server_.rpc("index/add", {"documents": documents, "chunk": True}).result


def search(peer, query, **params):
	return peer.call("retrieve", {"mode": "sparse", "query": query, **params}).result


def docs(result):
	return [h["chunk"]["docId"] for h in result["hits"]]


# ---- R7: tokenBudget ----

def test_R7_hits_stay_within_the_budget(peer):
	everything = search(peer, "packword", k=8)["hits"]
	for budget in (1, 10, 14, 15, 16, 30, 45, 60, 100, 300, 100_000):
		result = search(peer, "packword", k=8, tokenBudget=budget)
		n = len(result["hits"])
		assert result["hits"] == everything[:n]  # whole hits, the best ones
		assert result["usage"]["tokens"] <= budget
		assert (result["usage"]["tokens"] > 0) == (n > 0)
		assert ("nextCursor" in result) == (n < 8)
	assert "tokens" not in search(peer, "packword")["usage"]
	assert len(search(peer, "packword", k=8, tokenBudget=100_000)["hits"]) == 8


def test_R7_the_budget_counts_texts_that_are_left_out(peer):
	for budget in (20, 50, 120):
		with_text = search(peer, "packword", k=8, tokenBudget=budget)
		without = search(peer, "packword", k=8, tokenBudget=budget, includeText=False)
		assert [h["id"] for h in without["hits"]] == [h["id"] for h in with_text["hits"]]
		assert without["usage"]["tokens"] == with_text["usage"]["tokens"]
		assert all("text" not in h for h in without["hits"])


def test_R7_R10_pages_under_a_budget_lose_no_hit(peer):
	tokens = search(peer, "packword", k=8, tokenBudget=100_000)["usage"]["tokens"]
	expected = [h["id"] for h in search(peer, "packword", k=8)["hits"]]
	params = {"k": 8, "tokenBudget": tokens * 2 // 5}
	result, found = search(peer, "packword", **params), []
	for _ in range(20):
		found += [h["id"] for h in result["hits"]]
		if "nextCursor" not in result:
			break
		result = search(peer, "packword", **params, cursor=result["nextCursor"])
	assert found == expected


def test_R7_a_hit_that_fits_on_no_page_is_passed_over(peer):
	expected = search(peer, "packword", k=8)["hits"]
	small = {h["id"] for h in expected if len(h["text"]) < len(SENTENCE) * 4}
	budget = search(peer, "packword", k=8, tokenBudget=100_000)["usage"]["tokens"] // 36 * 3 + 6
	params, found, empty = {"k": 8, "tokenBudget": budget}, [], 0
	result = search(peer, "packword", **params)
	for _ in range(20):
		found += [h["id"] for h in result["hits"]]
		if not result["hits"]:
			empty += 1
			assert any("tokenBudget" in note for note in result["usage"]["notes"])
		if "nextCursor" not in result:
			break
		result = search(peer, "packword", **params, cursor=result["nextCursor"])
	assert set(found) == small and len(found) == len(small)
	assert empty == 8 - len(small)


def test_R7_D43_tokens_are_an_estimate_near_the_words(peer):
	result = search(peer, "packword", k=1, tokenBudget=10_000)
	words = len(re.findall(r"\w+|[^\w\s]", result["hits"][0]["text"]))
	assert 0.7 * words <= result["usage"]["tokens"] <= 1.4 * words


@pytest.mark.parametrize("budget", [0, -1, 1.5, "5", True, [], 2 ** 60])
def test_R7_a_malformed_budget_is_refused(peer, budget):
	answer = peer.call("retrieve", {"mode": "sparse", "query": "packword", "tokenBudget": budget})
	assert (answer.code, answer.field) == (-32602, "tokenBudget")


# ---- R7, D36: units ----

def test_R7_D36_a_document_hit(peer):
	result = search(peer, "lighthouses", k=10, unit="document")
	assert sorted(docs(result)) == ["long", "one", "two"]
	for hit in result["hits"]:
		assert hit["unit"] == "document"
		assert hit["id"] == hit["chunk"]["docId"]
	hit = next(h for h in result["hits"] if h["id"] == "long")
	assert hit["text"] == LONG
	assert (hit["citation"]["start"], hit["citation"]["end"]) == (0, len(LONG))
	assert hit["citation"]["title"] == "Coasts"


def test_R7_a_document_is_as_good_as_its_best_chunk(peer):
	chunks = search(peer, "lighthouses", k=50)["hits"]
	assert len([h for h in chunks if h["chunk"]["docId"] == "long"]) > 3
	best = {}
	for hit in chunks:
		best.setdefault(hit["chunk"]["docId"], hit)
	documents = search(peer, "lighthouses", k=50, unit="document")["hits"]
	assert [h["id"] for h in documents] == list(best)
	for hit in documents:
		assert hit["score"] == best[hit["id"]]["score"]
		assert hit["chunk"]["index"] == best[hit["id"]]["chunk"]["index"]


def test_R7_many_chunks_of_one_document_hide_no_other(peer):
	"""The long document has more chunks than candidates are asked for."""
	for k in (1, 2, 3):
		result = search(peer, "lighthouses", k=k, candidateK=k, unit="document")
		assert len(result["hits"]) == k
		assert ("nextCursor" in result) == (k < 3)


def test_R7_R10_pages_of_documents(peer):
	everything = search(peer, "lighthouses", k=3, unit="document")["hits"]
	first = search(peer, "lighthouses", k=1, unit="document")
	second = search(peer, "lighthouses", k=1, unit="document", cursor=first["nextCursor"])
	third = search(peer, "lighthouses", k=1, unit="document", cursor=second["nextCursor"])
	assert first["hits"] + second["hits"] + third["hits"] == everything
	assert "nextCursor" not in third


def test_R7_the_budget_counts_whole_documents(peer):
	result = search(peer, "lighthouses", k=3, unit="document", tokenBudget=100_000)
	assert result["usage"]["tokens"] > 12 * 40 * 5
	small = search(peer, "lighthouses", k=3, unit="document", tokenBudget=100)
	assert all(h["id"] != "long" for h in small["hits"])


def test_D36_chunk_hits_of_a_long_document(peer):
	hits = [h for h in search(peer, "lighthouses", k=50)["hits"] if h["chunk"]["docId"] == "long"]
	assert len({h["id"] for h in hits}) == len(hits) > 3
	for hit in hits:
		assert hit["id"] == f"long#{hit['chunk']['index']}"
		assert LONG[hit["citation"]["start"]:hit["citation"]["end"]] == hit["text"]
	contexts = {h["chunk"]["context"] for h in hits if "context" in h["chunk"]}
	assert any(c.startswith("Top > Part ") for c in contexts)  # R12


def test_C1_units_that_are_not_offered(peer):
	answer = peer.call("retrieve", {"mode": "sparse", "query": "packword", "unit": "passage"})
	assert (answer.code, answer.option) == (-32005, "passage")
	result = search(peer, "packword", unit="passage", strict=False)
	assert result["hits"] == search(peer, "packword")["hits"]
	assert any("unit" in note for note in result["usage"]["notes"])


# ---- F4, RET-05 ----

def test_F4_RET_05_k_hits_whenever_k_documents_pass(rcpd):
	server = rcpd()
	documents = numbered(3000)
	for i, document in enumerate(documents):
		document["meta"] = {"tag": "rare" if i % 300 == 7 else "common"}
		if i % 300 == 7:
			document["text"] = "far from the question"
	for at in range(0, 3000, 1000):
		server.result("index/add", {"documents": documents[at:at + 1000]})
	rare = {"field": "tag", "op": "eq", "value": "rare"}
	for unit in ("chunk", "document"):
		result = server.result("retrieve", {"mode": "sparse", "query": "sameword", "k": 10, "filter": rare, "unit": unit})
		assert docs(result) == sorted(d["id"] for d in documents if d["meta"]["tag"] == "rare")
		assert all(h["score"] == 0 for h in result["hits"])
		assert any("filter" in note for note in result["usage"]["notes"])
		assert "nextCursor" not in result
		few = server.result("retrieve", {"mode": "sparse", "query": "sameword", "k": 4, "filter": rare, "unit": unit})
		assert few["hits"] == result["hits"][:4]
	assert server.result("retrieve", {"mode": "sparse", "query": "sameword", "filter": rare, "minScore": 0.01})["hits"] == []
	assert server.result("retrieve", {"mode": "sparse", "query": "the of", "filter": rare})["hits"] == []  # D33
	assert server.result("retrieve", {"mode": "sparse", "query": "wordthatisnowhere", "filter": rare})["hits"] == \
		server.result("retrieve", {"mode": "sparse", "query": "sameword", "filter": rare})["hits"]


def test_F4_hits_that_match_come_before_those_that_pass(server):
	server.result("index/add", {"documents": [{"id": "only", "text": "uniqueword", "meta": {"n": 3}}]})
	result = server.result("retrieve", {"mode": "sparse", "query": "uniqueword", "k": 6,
		"filter": {"field": "n", "op": "lte", "value": 5}})
	server.result("index/delete", {"ids": ["only"]})
	assert docs(result)[0] == "only" and result["hits"][0]["score"] > 0
	assert docs(result)[1:] == [f"pack-{i}" for i in range(5)]
	assert [h["score"] for h in result["hits"][1:]] == [0] * 5


# ---- R6 ----

def test_R6_R10_pages_end_at_min_score(peer):
	scores = [h["score"] for h in search(peer, "packword", k=8)["hits"]]
	for at in (2, 5):
		expected = [s for s in scores if s >= scores[at]]
		params = {"k": 2, "minScore": scores[at]}
		result, found = search(peer, "packword", **params), []
		while True:
			found += [h["score"] for h in result["hits"]]
			if "nextCursor" not in result:
				break
			assert len(result["hits"]) == 2
			result = search(peer, "packword", **params, cursor=result["nextCursor"])
		assert found == expected


def test_R6_R10_recency_sorts_the_candidates_once_for_all_pages(peer):
	peer.call("index/add", {"documents": [{"id": f"rec-{i:02d}", "text": "recpageword " * (i % 5 + 1),
		"meta": {"rp": f"2024-0{i % 9 + 1}-01"}} for i in range(20)]}).result
	params = {"candidateK": 12, "recency": {"field": "rp", "halfLifeDays": 60}}
	everything = search(peer, "recpageword", k=12, **params)["hits"]
	assert len(everything) == 12
	scores = [h["score"] for h in everything]
	assert scores == sorted(scores, reverse=True)
	assert {h["scores"]["sparse"] for h in everything} != set(scores)
	result, found = search(peer, "recpageword", k=5, **params), []
	while True:
		found += result["hits"]
		if "nextCursor" not in result:
			break
		result = search(peer, "recpageword", k=5, **params, cursor=result["nextCursor"])
	assert found == everything


@pytest.mark.parametrize("value", ["2024-01-01", 5, "a keyword"])
def test_R6_R10_a_field_that_is_found_while_pages_are_read_changes_none(peer, value):
	field = f"late-{type(value).__name__}{len(str(value))}"
	peer.call("index/add", {"documents": [{"id": f"{field}-{i:02d}", "text": f"{field}page"}
		for i in range(20)]}).result
	params = {"candidateK": 12, "k": 5, "recency": {"field": field, "halfLifeDays": 60}}
	result, found = search(peer, f"{field}page", **params), []
	peer.call("index/add", {"documents": [{"id": field, "text": "other", "meta": {field: value}}]}).result
	while True:
		found += [hit["id"] for hit in result["hits"]]
		if "nextCursor" not in result:
			break
		result = search(peer, f"{field}page", **params, cursor=result["nextCursor"])
	assert found == [f"{field}-{i:02d}#0" for i in range(12)]


def test_R6_R9_recency_does_not_depend_on_when_it_is_asked(peer):
	peer.call("index/add", {"documents": [{"id": f"t-{i}", "text": "timelessword",
		"meta": {"tl": f"202{i}-01-01"}} for i in range(3)]}).result
	params = {"recency": {"field": "tl", "halfLifeDays": 0.01}}
	first = search(peer, "timelessword", **params)
	params["indexVersion"] = first["indexVersion"]
	for _ in range(5):
		assert search(peer, "timelessword", **params)["hits"] == first["hits"]
