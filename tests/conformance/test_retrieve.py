"""R1, R3, R6, R8, R9, R12, D23, D30, D33, D35, D36 and the RET cases for Latin text."""
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone

import pytest

from lib import MARKER
from lib.corpus import DOCUMENTS, fill, numbered

VERSION = re.compile(r"^[0-9a-f]{16}-\d+$")


@pytest.fixture(autouse=True, scope="module")
def _corpus(server, stdio_server):
	for one in (server, stdio_server):
		fill(one)


def docs(result):
	return [h["chunk"]["docId"] for h in result["hits"]]


def search(peer, query, **params):
	return peer.call("retrieve", {"query": query, "mode": "sparse", **params}).result


# ---- R1, D30, D33 ----

def test_R1_k_bounds_the_hits(peer):
	for k in (1, 2, 3, 5):
		assert len(search(peer, MARKER, k=k)["hits"]) == k
	assert len(search(peer, MARKER, k=100)["hits"]) == len(DOCUMENTS)


def test_R1_the_best_match_comes_first(peer):
	assert docs(search(peer, "brown fox"))[0] == "fox"
	assert docs(search(peer, f"walrus carpenter {MARKER}"))[0] == "space/and#hash%25"
	assert docs(search(peer, "nothingmatchesthis")) == []


def test_D30_k_absent_or_null_is_ten(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": numbered(15)})
	assert len(server.result("retrieve", {"query": "sameword"})["hits"]) == 10
	assert len(server.result("retrieve", {"query": "sameword", "k": None})["hits"]) == 10


@pytest.mark.parametrize("query", ["", "   ", "\n", "!!!", "the of and", "\u200b", ". , ; -", "\t\r\n",
	"\u00a0", "to be or not to be"])
def test_R1_D33_RET_03_a_query_without_words_gives_no_hits_and_a_note(peer, query):
	result = search(peer, query)
	assert result["hits"] == []
	assert result["usage"]["notes"]


@pytest.mark.parametrize("query", [None, 5, 0, 1.5, True, False, []])
def test_R1_D33_RET_03_a_query_of_another_type_is_refused(peer, query):
	answer = peer.call("retrieve", {"query": query})
	assert (answer.code, answer.field) == (-32602, "query")


def test_R1_D33_a_missing_query_is_refused(peer):
	answer = peer.call("retrieve", {"k": 3})
	assert (answer.code, answer.field) == (-32602, "query")


def test_R1_a_very_long_query_is_served(peer):
	result = search(peer, "fox " + "filler " * 8_000)
	assert docs(result)[0] == "fox"
	assert docs(search(peer, "x" * 50_000)) == []


def test_R1_C2_a_query_without_measure_is_refused_or_served(peer):
	for query in ("x" * 1_000_000, "filler " * 200_000):
		answer = peer.call("retrieve", {"query": query})
		assert answer.code == -32013 or answer.result["hits"] == []


# ---- R2 ----

def test_R2_sparse_scores_are_bm25s_alone(peer):
	for hit in search(peer, "fox")["hits"]:
		assert hit["scores"] == {"sparse": hit["score"]}


# ---- R3, D23 ----

@pytest.mark.parametrize("params", [{"k": 5, "candidateK": 4}, {"k": 2, "candidateK": 1},
	{"k": 20_000, "candidateK": 19_999}, {"k": 5, "rerank": {"topN": 4}, "strict": False},
	{"candidateK": 3, "rerank": {"topN": 4}, "strict": False},
	{"k": 2, "candidateK": 5, "rerank": {"topN": 6}, "strict": False}])
def test_R3_D23_a_funnel_that_widens_is_refused(peer, params):
	answer = peer.call("retrieve", {"query": "fox", **params})
	assert answer.code == -32602
	assert answer.field in ("k", "candidateK", "rerank.topN")


@pytest.mark.parametrize("params,most", [({"candidateK": 3}, 3), ({"k": 3, "candidateK": 3}, 3),
	({"k": 1, "candidateK": 1000}, 1), ({"k": 4, "candidateK": 5}, 4),
	({"rerank": {"topN": 2}, "strict": False}, 2), ({"k": 100_000, "candidateK": 100_000}, 1000)])
def test_R3_D23_a_funnel_that_narrows_is_served(peer, params, most):
	result = search(peer, MARKER, **params)
	assert 0 < len(result["hits"]) <= most
	assert result["usage"]["candidates"] >= len(result["hits"])


def test_R3_usage_counts_candidates(peer):
	usage = search(peer, MARKER, k=1, candidateK=3)["usage"]
	assert usage["candidates"] == 3


# ---- R6 without filters ----

def test_R6_min_score_cuts(peer):
	hits = search(peer, f"fox dog {MARKER}", k=10)["hits"]
	scores = [h["score"] for h in hits]
	assert len(set(scores)) > 2
	for at in range(len(scores)):
		kept = search(peer, f"fox dog {MARKER}", k=10, minScore=scores[at])["hits"]
		assert [h["id"] for h in kept] == [h["id"] for h in hits if h["score"] >= scores[at]]
	assert search(peer, MARKER, minScore=1e9)["hits"] == []
	assert len(search(peer, MARKER, minScore=-5, k=10)["hits"]) == len(DOCUMENTS)


def test_R6_recency_halves_scores_with_age(peer):
	now = datetime.now(timezone.utc)
	ages = [90, 0, 30, 60]
	documents = [{"id": f"age-{d}", "text": f"recencyword {MARKER}",
		"meta": {"published": (now - timedelta(days=d)).isoformat()}} for d in ages]
	peer.call("index/add", {"documents": documents}).result
	plain = search(peer, "recencyword")["hits"]
	assert len({h["score"] for h in plain}) == 1
	hits = search(peer, "recencyword", recency={"field": "published", "halfLifeDays": 30})["hits"]
	assert [h["chunk"]["docId"] for h in hits] == ["age-0", "age-30", "age-60", "age-90"]
	for hit, share in zip(hits, (1, 0.5, 0.25, 0.125)):
		assert hit["score"] == pytest.approx(plain[0]["score"] * share, rel=0.01)


def test_R6_recency_reads_dates_in_every_form(peer):
	now = datetime.now(timezone.utc)
	old = now - timedelta(days=365)
	# The first value of a field tells its type (F2): here a date.
	documents = [{"id": "offset", "text": "dateformword", "meta": {"d": (now - timedelta(days=10)).astimezone(
			timezone(timedelta(hours=5))).isoformat()}},
		{"id": "epoch", "text": "dateformword", "meta": {"d": int(now.timestamp() * 1000)}},
		{"id": "day", "text": "dateformword", "meta": {"d": old.strftime("%Y-%m-%d")}}]
	peer.call("index/add", {"documents": documents}).result
	hits = search(peer, "dateformword", recency={"field": "d", "halfLifeDays": 10})["hits"]
	assert [h["chunk"]["docId"] for h in hits] == ["epoch", "offset", "day"]


def test_R6_recency_over_a_field_of_milliseconds(peer):
	now = int(time.time() * 1000)
	documents = [{"id": f"ms-{days}", "text": "millisecondword", "meta": {"ms": now - days * 86_400_000}}
		for days in (20, 0, 10)]
	peer.call("index/add", {"documents": documents}).result
	hits = search(peer, "millisecondword", recency={"field": "ms", "halfLifeDays": 10})["hits"]
	assert docs({"hits": hits}) == ["ms-0", "ms-10", "ms-20"]
	assert [h["scores"]["sparse"] for h in hits] == [pytest.approx(hits[0]["score"], rel=0.01)] * 3
	assert hits[2]["score"] == pytest.approx(hits[0]["score"] / 4, rel=0.01)


def test_R6_recency_where_the_field_is_missing_or_no_date(peer):
	peer.call("index/add", {"documents": [{"id": "dated", "text": "other", "meta": {"md": "2024-01-01"}}]})
	documents = [{"id": "nodate", "text": "missingdateword"},
		{"id": "odd", "text": "missingdateword", "meta": {"md": "yesterday"}},
		{"id": "odd2", "text": "missingdateword", "meta": {"md": {"x": 1}}},
		{"id": "future", "text": "missingdateword", "meta": {"md": "2999-01-01"}}]
	peer.call("index/add", {"documents": documents}).result
	hits = search(peer, "missingdateword", recency={"field": "md", "halfLifeDays": 10})["hits"]
	plain = search(peer, "missingdateword")["hits"]
	assert {h["chunk"]["docId"] for h in hits} == {"nodate", "odd", "odd2", "future"}
	assert hits == plain  # nothing is older than now


def test_R6_recency_by_a_field_that_nobody_has(peer):
	result = search(peer, "fox", recency={"field": "neverseen", "halfLifeDays": 10})
	assert result["hits"] == search(peer, "fox")["hits"]
	assert any("recency" in note for note in result["usage"]["notes"])


def test_R6_recency_by_a_field_of_another_type_is_refused(peer):
	peer.call("index/add", {"documents": [{"id": "types", "text": "types",
		"meta": {"kw": "word", "fl": 1.5, "yes": True}}]}).result
	for field in ("kw", "fl", "yes"):
		answer = peer.call("retrieve", {"query": "fox", "recency": {"field": field, "halfLifeDays": 1}})
		assert (answer.code, answer.field) == (-32602, "recency.field")


@pytest.mark.parametrize("recency,field", [({"field": "d", "halfLifeDays": 0}, "recency.halfLifeDays"),
	({"field": "d", "halfLifeDays": -1}, "recency.halfLifeDays"), (5, "recency"), ([], "recency"),
	({"halfLifeDays": 3}, "recency.field"), ({"field": "d"}, "recency.halfLifeDays"),
	({"field": "", "halfLifeDays": 3}, "recency.field"), ("d", "recency")])
def test_R6_a_malformed_recency_is_refused(peer, recency, field):
	answer = peer.call("retrieve", {"query": "fox", "recency": recency})
	assert (answer.code, answer.field) == (-32602, field)


# ---- R8 ----

def test_R8_text_is_left_out_when_not_wanted(peer):
	with_text = search(peer, "fox")["hits"]
	without = search(peer, "fox", includeText=False)["hits"]
	assert with_text[0]["text"].startswith("The quick brown fox")
	assert all("text" not in h for h in without)
	assert [h["id"] for h in without] == [h["id"] for h in with_text]
	assert "vector" not in with_text[0]


# ---- R9, D35 ----

def hits_text(answer):
	"""The bytes of the hits in an answer."""
	raw = answer.raw.decode()
	start = raw.index('"hits":[')
	return raw[start:start + len(json.dumps(answer["result"]["hits"], ensure_ascii=False,
		separators=(",", ":")))]


def test_R9_the_same_question_gives_the_same_bytes(peer):
	params = {"query": f"quick fox cats {MARKER}", "k": 10, "seed": 7}
	first = peer.call("retrieve", params)
	for _ in range(20):
		again = peer.call("retrieve", params)
		assert hits_text(again) == hits_text(first)
		assert again.result["indexVersion"] == first.result["indexVersion"]


def test_R9_index_version_names_the_state(peer):
	before = search(peer, "fox")["indexVersion"]
	assert VERSION.match(before)
	added = peer.call("index/add", {"documents": [{"id": "v", "text": "versionword"}]}).result
	assert VERSION.match(added["indexVersion"]) and added["indexVersion"] != before
	assert search(peer, "versionword")["indexVersion"] == added["indexVersion"]
	assert before.split("-")[0] == added["indexVersion"].split("-")[0]
	assert int(before.split("-")[1]) < int(added["indexVersion"].split("-")[1])
	deleted = peer.call("index/delete", {"ids": ["v"]}).result
	assert search(peer, "fox")["indexVersion"] == deleted["indexVersion"] != added["indexVersion"]
	same = peer.call("index/delete", {"ids": ["v"]}).result
	assert same["indexVersion"] == deleted["indexVersion"]


def test_R9_D35_a_pinned_version_is_served_exactly_or_refused(peer):
	current = search(peer, "fox")
	pinned = search(peer, "fox", indexVersion=current["indexVersion"])
	assert pinned["hits"] == current["hits"]
	assert pinned["indexVersion"] == current["indexVersion"]
	peer.call("index/add", {"documents": [{"id": "pin", "text": "pinword fox"}]}).result
	again = search(peer, "fox", indexVersion=current["indexVersion"])
	assert again["hits"] == current["hits"]  # kept, though it is the newest no more
	assert again["indexVersion"] == current["indexVersion"]
	assert len(search(peer, "fox")["hits"]) == len(current["hits"]) + 1
	peer.call("index/delete", {"ids": ["pin"]}).result
	corpus, _, number = current["indexVersion"].partition("-")
	gone = [f"{corpus}-{int(number) + 1000}", "0123456789abcdef-1"]
	for version in gone:
		answer = peer.call("retrieve", {"query": "fox", "indexVersion": version})
		assert answer.code == -32010
		assert answer.data["retryable"] is False
	for version in gone:
		answer = peer.call("retrieve", {"query": "fox", "indexVersion": version, "strict": False})
		assert answer.code == -32010


@pytest.mark.parametrize("version", ["", "x", "latest", "123", "0123456789abcdef", "0123456789abcdef-",
	"0123456789abcdef-x", "0123456789ABCDEF-1", "-1", "0123456789abcdef--1", "0123456789abcdef-1 ",
	"0123456789abcde-1", "0123456789abcdef0-1", 5, True, [], {},
	"0123456789abcdef-99999999999999999999999"])
def test_D35_a_malformed_version_is_refused(peer, version):
	answer = peer.call("retrieve", {"query": "fox", "indexVersion": version})
	assert (answer.code, answer.field) == (-32602, "indexVersion")


# ---- R12, D36 ----

def test_R12_D36_what_a_hit_tells(peer):
	hit = search(peer, "brown fox", k=1)["hits"][0]
	document = DOCUMENTS[0]
	assert hit["id"] == "fox#0"
	assert hit["chunk"] == {"docId": "fox", "index": 0}
	assert hit["text"] == document["text"]
	assert hit["meta"] == document["meta"]
	assert hit["unit"] == "chunk"
	assert hit["trust"] == {"level": "untrusted"}  # K3
	assert hit["scores"] == {"sparse": hit["score"]}
	citation = hit["citation"]
	assert (citation["title"], citation["uri"], citation["source"]) == ("A fox",
		"https://example.org/fox", "fables")
	assert (citation["start"], citation["end"]) == (0, len(document["text"]))


def test_R12_D45_url_stands_in_for_uri(peer):
	peer.call("index/add", {"documents": [{"id": "url", "text": "urlword",
		"meta": {"url": "https://example.org/u"}}]}).result
	hit = search(peer, "urlword")["hits"][0]
	assert hit["citation"]["uri"] == "https://example.org/u"
	assert hit["meta"] == {"url": "https://example.org/u"}


def test_R12_absent_things_are_left_out(peer):
	hit = search(peer, "bench-100821", k=1)["hits"][0]
	assert hit["chunk"]["docId"] == "order"
	assert "meta" not in hit or hit["meta"] == {}
	assert not {"title", "uri", "source"} & set(hit["citation"])
	assert "context" not in hit["chunk"]


OFFSET_TEXTS = [
	"plain offsetword ascii",
	"\U0001f600 emoji before offsetword \U0001f469\u200d\U0001f680 after",
	"Cafe\u0301 re\u0301sume\u0301 offsetword n\u0303",
	"\u20ac offsetword \u00e9\u00e8\u00ea", "offsetword\0with nul", "\n\n  offsetword\r\n\tspaces  \n",
	"\ufeffoffsetword", "\U0010ffffoffsetword", "x" * 5000 + " offsetword " + "\u00df" * 5000,
]


def test_R12_citation_offsets_slice_the_stored_document(peer):
	documents = [{"id": f"off-{i}", "text": t} for i, t in enumerate(OFFSET_TEXTS)]
	peer.call("index/add", {"documents": documents}).result
	hits = search(peer, "offsetword", k=50)["hits"]
	assert {h["chunk"]["docId"] for h in hits} >= {f"off-{i}" for i in (0, 1, 2, 3, 5, 8)}
	for hit in hits:
		check_offsets(hit, OFFSET_TEXTS[int(hit["chunk"]["docId"].split("-")[1])])


def check_offsets(hit, text):
	citation = hit["citation"]
	assert text[citation["start"]:citation["end"]] == hit["text"]
	start, end = citation["x-rcpd-byteStart"], citation["x-rcpd-byteEnd"]
	assert text.encode()[start:end].decode() == hit["text"]


def test_R12_offsets_stay_when_text_is_left_out(peer):
	hit = search(peer, "telescope nebula", k=1, includeText=False)["hits"][0]
	text = next(d["text"] for d in DOCUMENTS if d["id"] == "accents")
	assert text[hit["citation"]["start"]:hit["citation"]["end"]] == text
	assert len(text.encode()) == hit["citation"]["x-rcpd-byteEnd"]


@pytest.mark.parametrize("id,escaped", [("a/b#c%25", "a/b%23c%2525#0"), ("a#0", "a%230#0"),
	("100%", "100%25#0"), ("%23", "%2523#0"), ("##", "%23%23#0"), (" ", " #0"),
	("\u00e9\U0001f600", "\u00e9\U0001f600#0"), ('"\\', '"\\#0'), ("/../", "/../#0"), ("\n", "\n#0")])
def test_D36_hit_ids_are_escaped_document_ids(peer, id, escaped):
	peer.call("index/add", {"documents": [{"id": id, "text": "escapeword"}]}).result
	hits = search(peer, "escapeword", k=50)["hits"]
	assert escaped in [h["id"] for h in hits]
	assert [h["chunk"]["docId"] for h in hits if h["id"] == escaped] == [id]
	assert peer.call("index/delete", {"ids": [id]}).result["deleted"] == 1


# ---- RET-01, RET-02 ----

SYNTAX = ["BENCH-100821", "don't", "grammar::fa", "38.101", '"unbalanced', 'a"b', "(", "text:x", "-x",
	"x^2", "%", "_", "\\", ")", "((", '""', '"', "'", "fox*", "{a}", "col:val", "^fox", "fox + dog",
	"-- drop", "; DROP TABLE chunks", "fox\"; --", "title:fox", "{title text}: fox", "fox NEAR/2 dog",
	"a\x00b", "\x1a", "[fox]", "fox|dog", "<b>", "$1", "?1", ":p", "@p", "%s%n", "\uffff", "a" * 3000]


@pytest.mark.parametrize("query", SYNTAX)
def test_RET_01_user_text_is_never_query_syntax(peer, query):
	result = search(peer, query)
	assert isinstance(result["hits"], list)


@pytest.mark.parametrize("query", ["BENCH-100821", "don't panic", "grammar::fa", "38.101", "v38.101",
	"bench-100821", "Don\u2019t panic"])
def test_RET_01_punctuation_in_words_still_finds(peer, query):
	assert docs(search(peer, query))[0] == "order"


@pytest.mark.parametrize("query", ["AND", "OR", "NOT", "NEAR", "NEAR(a b", "*", "**", "OR OR",
	"AND AND AND", "NEAR(fox, 5)", "fox AND", "NOT", "AND fox", "fox OR", "(fox", "fox)"])
def test_RET_02_operator_words_are_words(peer, query):
	result = search(peer, query)
	if "fox" in query:
		assert docs(result)[0] == "fox"


def test_RET_02_operators_do_not_change_the_meaning(peer):
	assert docs(search(peer, "cats AND dogs"))[0] == "cats"
	assert docs(search(peer, "NOT working"))[0] == "work"
	assert docs(search(peer, "fox NOT lazy"))[0] == "fox"
	assert set(docs(search(peer, "walrus OR screwdriver"))) == {"space/and#hash%25", "work"}
	assert search(peer, "fox", k=5)["hits"][0]["score"] == pytest.approx(
		search(peer, '"fox"', k=5)["hits"][0]["score"])


@pytest.mark.parametrize("query", ["FOX", "Fox", "fox.", "(fox)", "fox!", "\u201cfox\u201d", "the fox"])
def test_R1_case_and_punctuation_do_not_matter(peer, query):
	assert docs(search(peer, query))[:1] == ["fox"]


def test_R1_accents_composed_or_not_are_the_same_word(peer):
	peer.call("index/add", {"documents": [{"id": "acc", "text": "Zo\u00e9 na\u00efvet\u00e9"}]}).result
	for query in ("zo\u00e9", "zoe\u0301", "nai\u0308vete\u0301"):
		assert docs(search(peer, query)) == ["acc"], query


# ---- RET-07 ----

def test_RET_07_words_without_spaces_and_emoji(rcpd):
	server = rcpd()
	documents = {"zh": "\u4eca\u5929\u5929\u6c14\u5f88\u597d\u6211\u4eec\u53bb\u516c\u56ed\u6563\u6b65",
		"ja": "\u6771\u4eac\u90fd\u306e\u56f3\u66f8\u9928\u3067\u672c\u3092\u8aad\u3080",
		"ko": "\ub300\ud55c\ubbfc\uad6d\uc758 \uc218\ub3c4\ub294 \uc11c\uc6b8\uc785\ub2c8\ub2e4",
		"th": "\u0e01\u0e23\u0e38\u0e07\u0e40\u0e17\u0e1e\u0e40\u0e1b\u0e47\u0e19\u0e40\u0e21\u0e37\u0e2d\u0e07\u0e2b\u0e25\u0e27\u0e07",
		"emoji": "well done \U0001f680 and home", "plain": "nothing of the sort"}
	server.result("index/add", {"documents": [{"id": k, "text": v} for k, v in documents.items()]})
	for query, best in (("\u516c\u56ed", "zh"), ("\u56f3\u66f8", "ja"), ("\uc218\ub3c4", "ko"),
			("\u0e40\u0e21\u0e37\u0e2d\u0e07", "th"), ("\U0001f680", "emoji")):
		assert docs(server.result("retrieve", {"query": query}))[:1] == [best], best


# ---- RET-06 ----

def test_RET_06_R1_equal_scores_keep_one_order(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	documents = numbered(200)
	server.result("index/add", {"documents": documents[100:]})
	server.result("index/add", {"documents": documents[:100]})
	first = server.result("retrieve", {"query": "sameword", "k": 200})["hits"]
	assert [h["chunk"]["docId"] for h in first] == [d["id"] for d in documents]
	assert len({h["score"] for h in first}) == 1
	seven = server.result("retrieve", {"query": "sameword", "k": 7})["hits"]
	assert seven == first[:7]
	with ThreadPoolExecutor(8) as pool:
		for again in pool.map(lambda _: server.result("retrieve", {"query": "sameword", "k": 200}),
				range(20)):
			assert again["hits"] == first
	server.stop()
	server = rcpd(data=data)
	assert server.result("retrieve", {"query": "sameword", "k": 200})["hits"] == first


def test_R1_scores_do_not_depend_on_the_order_of_writes(rcpd):
	one, two = rcpd(), rcpd()
	fill(one)
	for document in reversed(DOCUMENTS):
		two.result("index/add", {"documents": [{"id": document["id"], "text": "oldtext"}]})
	for document in reversed(DOCUMENTS):
		two.result("index/add", {"documents": [document]})
	for query in ("fox", f"cats dogs {MARKER}", "the quick machine"):
		assert one.result("retrieve", {"query": query})["hits"] == \
			two.result("retrieve", {"query": query})["hits"]


def test_R1_reads_go_on_while_writes_run(rcpd):
	server = rcpd()
	fill(server)
	end = time.monotonic() + 1.0

	def write():
		n = 0
		while time.monotonic() < end:
			server.result("index/add", {"documents": numbered(20, f"churn{n} churnword")})
			n += 1
		return n

	def read():
		n = 0
		while time.monotonic() < end:
			hits = server.result("retrieve", {"query": "churnword", "k": 50, "mode": "sparse"})["hits"]
			assert len(hits) in (0, 20)
			assert len({h["text"] for h in hits}) <= 1  # one commit, whole
			n += 1
		return n

	with ThreadPoolExecutor(4) as pool:
		jobs = [pool.submit(write)] + [pool.submit(read) for _ in range(3)]
		assert all(job.result() > 0 for job in jobs)
