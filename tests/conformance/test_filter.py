"""F1-F5, D24-D28, D42, FIL-01 to FIL-06 and RET-05: filters, in retrieve and in
index/delete, over every transport.

A session keeps the fields that its initialize told (D42), so the peers here are started
on a corpus that is filled already.
"""
import pytest

from lib import MARKER, HttpPeer, Rcpd, RcpdStdio, StdioPeer

LONG = "a long note about nothing in particular, " * 8 + "with a needle in it"
# Instants around 2023-12-31T22:45:00Z, however they are written.
DOCUMENTS = [
	{"id": "en", "meta": {"lang": "en", "year": 2019, "price": 9.5, "open": True, "tags": ["red", "blue"],
		"day": "2024-01-01T00:30:00+02:00", "author": {"name": "Ann", "born": 1960}, "note": LONG}},
	{"id": "fr", "meta": {"lang": "fr", "year": 2020, "price": 10, "open": False, "tags": ["red"],
		"day": "2023-12-31T22:45:00Z", "author": {"name": "Bob"}, "note": "short"}},
	{"id": "null", "meta": {"lang": None, "year": None, "price": -1.5, "tags": [], "day": 1704062700000}},
	{"id": "absent", "meta": {"year": 2021, "tags": "red", "day": "2024-01-01"}},
	{"id": "none"},
	{"id": "leap", "meta": {"lang": "de", "year": 2020, "scores": [1, 5, 9], "tags": ["blue", "reddish"],
		"day": "2024-02-29T12:00:00.5Z", "author": "Ann"}},
]
for _document in DOCUMENTS:
	_document["text"] = f"Some words of a document {MARKER}"
ALL = {d["id"] for d in DOCUMENTS}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
	"""A filled corpus, in two copies: one process may use each."""
	folders = {}
	for kind in ("http", "stdio"):
		folders[kind] = tmp_path_factory.mktemp(kind) / "data"
		with Rcpd(data=folders[kind]) as server:
			server.result("index/add", {"documents": DOCUMENTS})
	return folders


@pytest.fixture(scope="module")
def server(data):
	with Rcpd(data=data["http"], log_level="debug") as server:
		yield server


@pytest.fixture(scope="module")
def stdio_server(data):
	with RcpdStdio(data=data["stdio"], log_level="debug", initialize=True) as server:
		yield server


@pytest.fixture(params=["http", "stdio"])
def peer(request):
	if request.param == "http":
		return HttpPeer(request.getfixturevalue("server"))
	return StdioPeer(request.getfixturevalue("stdio_server"))


def leaf(field, op, *value):
	return {"field": field, "op": op, **({"value": value[0]} if value else {})}


def ask(peer, filter, **params):
	return peer.call("retrieve", {"query": MARKER, "k": 100, "filter": filter, **params})


def matching(peer, filter, **params):
	"""The ids of the documents that pass."""
	return {h["chunk"]["docId"] for h in ask(peer, filter, **params).result["hits"]}


def assert_refused(peer, filter, field, code=-32602):
	answer = ask(peer, filter)
	assert (answer.code, answer.field) == (code, field), (filter, answer)
	assert not answer.data["retryable"]
	return answer


# ---- F2: what is advertised ----

FIELDS = {"lang": "keyword", "year": "int", "price": "float", "open": "bool", "tags": "keyword", "day": "date",
	"author.name": "keyword", "author.born": "int", "note": "text", "scores": "int", "author": "keyword"}
OPERATORS = ["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin", "contains", "exists"]


def test_F2_D28_fields_and_operators_are_advertised(peer):
	advertised = peer.call("info").result["capabilities"]["filter"]
	assert advertised["fields"] == FIELDS
	assert advertised["operators"] == OPERATORS
	assert advertised["x-rcpd-dateEncodings"] == ["rfc3339", "epoch-ms"]


def test_F2_an_empty_corpus_advertises_no_fields(rcpd):
	server = rcpd()
	assert server.result("info")["capabilities"]["filter"]["fields"] == {}
	assert_refused(HttpPeer(server), leaf("lang", "eq", "en"), "filter.field")


# ---- F1, F3, F4, D27: what passes ----

PASSING = [
	(leaf("lang", "eq", "en"), {"en"}), (leaf("lang", "eq", "EN"), set()), (leaf("lang", "eq", "e"), set()),
	(leaf("lang", "ne", "en"), ALL - {"en"}), (leaf("lang", "in", ["fr", "de"]), {"fr", "leap"}),
	(leaf("lang", "nin", ["fr", "de"]), ALL - {"fr", "leap"}), (leaf("lang", "in", ["fr", "fr"]), {"fr"}),
	(leaf("year", "eq", 2020), {"fr", "leap"}), (leaf("year", "eq", 2020.0), {"fr", "leap"}),
	(leaf("year", "gt", 2019), {"fr", "leap", "absent"}), (leaf("year", "gte", 2021), {"absent"}),
	(leaf("year", "lt", 2020), {"en"}), (leaf("year", "lte", 2020), {"en", "fr", "leap"}),
	(leaf("year", "ne", 2020), ALL - {"fr", "leap"}), (leaf("year", "in", [2019, 2021]), {"en", "absent"}),
	(leaf("price", "eq", 10), {"fr"}), (leaf("price", "gt", 9), {"en", "fr"}),
	(leaf("price", "lt", 0), {"null"}), (leaf("price", "gte", -1.5), {"en", "fr", "null"}),
	(leaf("open", "eq", True), {"en"}), (leaf("open", "eq", False), {"fr"}),
	(leaf("open", "ne", True), ALL - {"en"}), (leaf("open", "in", [True, False]), {"en", "fr"}),
	# An array matches if any element does; contains is an element as a whole, or a
	# substring of a string that is none.
	(leaf("tags", "eq", "red"), {"en", "fr", "absent"}), (leaf("tags", "ne", "red"), {"null", "none", "leap"}),
	(leaf("tags", "in", ["blue", "x"]), {"en", "leap"}), (leaf("tags", "contains", "blue"), {"en", "leap"}),
	(leaf("tags", "contains", "red"), {"en", "fr", "absent"}), (leaf("tags", "contains", "re"), {"absent"}),
	(leaf("scores", "gt", 8), {"leap"}), (leaf("scores", "eq", 5), {"leap"}), (leaf("scores", "lt", 1), set()),
	(leaf("note", "contains", "needle"), {"en"}), (leaf("note", "eq", "short"), {"fr"}),
	(leaf("note", "contains", "or"), {"fr"}), (leaf("lang", "contains", "r"), {"fr"}),
	(leaf("author.name", "eq", "Ann"), {"en"}), (leaf("author", "eq", "Ann"), {"leap"}),
	(leaf("author.born", "lte", 1960), {"en"}),
	(leaf("lang", "exists"), {"en", "fr", "leap"}), (leaf("lang", "exists", True), {"en", "fr", "leap"}),
	(leaf("lang", "exists", False), {"null", "absent", "none"}),
	(leaf("tags", "exists", False), {"null", "none"}), (leaf("author", "exists"), {"leap"}),
	({"and": [leaf("year", "eq", 2020), leaf("lang", "eq", "fr")]}, {"fr"}),
	({"or": [leaf("year", "eq", 2021), leaf("lang", "eq", "fr")]}, {"fr", "absent"}),
	({"not": leaf("year", "eq", 2020)}, ALL - {"fr", "leap"}),
	({"not": {"not": leaf("year", "eq", 2020)}}, {"fr", "leap"}),
	({"and": [{"or": [leaf("lang", "eq", "en"), leaf("lang", "eq", "fr")]}, {"not": leaf("open", "eq", True)}]},
		{"fr"}),
	({"and": [leaf("lang", "eq", "en"), leaf("lang", "eq", "fr")]}, set()),
	({"or": [leaf("lang", "exists"), leaf("lang", "exists", False)]}, ALL),
	(None, ALL),
]


@pytest.mark.parametrize("filter,passing", PASSING, ids=lambda v: None if isinstance(v, set) else str(v)[:60])
def test_F1_F3_F4_D27_what_passes(peer, filter, passing):
	assert matching(peer, filter) == passing


def test_FIL_01_D27_missing_and_null_are_told_the_same_way(peer):
	told, others = {"en", "fr", "leap"}, ALL - {"en"}
	for filter in (leaf("lang", "ne", "en"), {"not": leaf("lang", "eq", "en")}, leaf("lang", "nin", ["en"]),
			{"not": leaf("lang", "in", ["en"])}):
		assert matching(peer, filter) == others
	assert matching(peer, {"not": leaf("lang", "exists", True)}) == ALL - told
	assert matching(peer, {"not": leaf("lang", "exists", False)}) == told
	for op in ("gt", "gte", "lt", "lte"):
		found = matching(peer, leaf("year", op, 2020))
		assert not found & {"null", "none"}
		assert {"null", "none"} <= matching(peer, {"not": leaf("year", op, 2020)})


# ---- FIL-02, D28: dates ----

@pytest.mark.parametrize("value", ["2023-12-31T23:00:00Z", "2024-01-01T01:00:00+02:00", 1704063600000,
	"2023-12-31T23:00:00.000z", "2023-12-31T18:00:00-05:00"])
def test_FIL_02_D28_dates_are_compared_as_instants(peer, value):
	assert matching(peer, leaf("day", "lt", value)) == {"en", "fr", "null"}
	assert matching(peer, leaf("day", "gte", value)) == {"absent", "leap"}


@pytest.mark.parametrize("value,passing", [("2023-12-31T22:45:00Z", {"fr", "null"}),
	(1704062700000, {"fr", "null"}), ("2023-12-31T23:45:00+01:00", {"fr", "null"}),
	("2024-01-01", {"absent"}), ("2024-01-01T00:00:00Z", {"absent"}), (1704067200000, {"absent"}),
	("2023-12-31T22:30:00Z", {"en"}), ("2024-02-29T12:00:00.500Z", {"leap"}),
	("2024-02-29T12:00:00Z", set())])
def test_FIL_02_D28_equal_instants_are_equal(peer, value, passing):
	assert matching(peer, leaf("day", "eq", value)) == passing
	assert matching(peer, leaf("day", "in", [value])) == passing
	assert matching(peer, leaf("day", "ne", value)) == ALL - passing


@pytest.mark.parametrize("value", ["2023-02-30", "yesterday", "2024-01-01T00:00:00", "2023-02-29", "2024-1-1",
	"", "1704062700000", 1.5, True, None, [], {}, "2024-13-01", "2024-01-01T25:00:00Z"])
def test_FIL_02_D28_what_is_no_date_is_refused(peer, value):
	for op in ("eq", "ne", "gt", "gte", "lt", "lte"):
		assert_refused(peer, leaf("day", op, value), "filter.value")


# ---- FIL-03, F5: nothing is spliced ----

@pytest.mark.parametrize("field", ["lang' = 'x' OR 1=1 --", "$.lang", "meta.lang", "__proto__", "Lang", "lang ",
	"", "*", "%", "lang\0", "id", "text", "rowid", "author.", ".name"])
def test_FIL_03_F5_F2_an_unknown_field_is_refused(peer, field):
	assert_refused(peer, leaf(field, "eq", "en"), "filter.field")
	assert_refused(peer, {"or": [leaf("lang", "eq", "en"), leaf(field, "exists")]}, "filter.or[1].field")


@pytest.mark.parametrize("value", ["x' OR '1'='1", "%", "_n", "*", 'a"]||1', "e_", "\0", "en\0", "en' --", "^e.$",
	"en OR fr", "\\", "é" * 3000])
def test_FIL_03_F5_a_value_matches_itself_only(peer, value):
	assert matching(peer, leaf("lang", "eq", value)) == set()
	assert matching(peer, leaf("lang", "in", [value])) == set()
	assert matching(peer, leaf("tags", "contains", value)) == set()
	assert matching(peer, leaf("note", "contains", value)) == set()
	assert matching(peer, leaf("lang", "ne", value)) == ALL


def test_FIL_03_F5_odd_fields_and_values_match_literally(rcpd):
	server = rcpd()
	odd = ["x' OR '1'='1", "%", 'a"]||1', "\\", "\u0000", "*", "\U0001f600"]
	server.result("index/add", {"documents": [{"id": str(i), "text": MARKER, "meta": {"f' \"x": v}}
		for i, v in enumerate(odd)]})
	assert server.result("info")["capabilities"]["filter"]["fields"] == {"f' \"x": "keyword"}
	for i, value in enumerate(odd):
		assert matching(HttpPeer(server), leaf("f' \"x", "eq", value)) == {str(i)}
		assert matching(HttpPeer(server), leaf("f' \"x", "contains", value)) == {str(i)}


# ---- FIL-04, D24: operators ----

@pytest.mark.parametrize("op", ["regex", "EQ", "like", "==", "near", "eq ", "x-acme/op", "exists\0", "é" * 60])
def test_FIL_04_D24_an_operator_that_is_not_offered(peer, op):
	answer = assert_refused(peer, leaf("lang", op, "en"), "filter.op", code=-32005)
	assert answer.option and op.startswith(answer.option)
	answer = assert_refused(peer, {"not": {"and": [leaf("nope", op)]}}, "filter.not.and[0].op", code=-32005)
	assert answer.option
	# F1, D40: a filter is no preference that strict:false could drop.
	assert ask(peer, leaf("lang", op, "en"), strict=False).code == -32005


@pytest.mark.parametrize("filter", [leaf("lang", 5, "en"), {"field": "lang", "value": "en"},
	leaf("lang", None, "en"), leaf("lang", ["eq"], "en"), leaf("lang", "gt", "a"), leaf("lang", "lte", "a"),
	leaf("note", "gte", "a"), leaf("open", "lt", True), leaf("year", "contains", 2), leaf("day", "contains", "2024"),
	leaf("price", "contains", "9")], ids=str)
def test_FIL_04_D24_an_operator_that_is_none_or_does_not_suit(peer, filter):
	assert_refused(peer, filter, "filter.op")


@pytest.mark.parametrize("field,value", [("year", "2020"), ("year", 2020.5), ("year", 2**53), ("year", True),
	("price", "9.5"), ("price", True), ("open", "true"), ("open", 1), ("lang", 5), ("lang", True), ("note", 5),
	("author.born", "1960")])
def test_FIL_04_F2_D29_a_value_that_does_not_suit(peer, field, value):
	ops = ["eq", "ne"] + (["gt", "lte"] if field in ("year", "price", "author.born") else [])
	for op in ops:
		assert_refused(peer, leaf(field, op, value), "filter.value")
	assert_refused(peer, leaf(field, "in", [value]), "filter.value[0]")


# ---- FIL-05, D25: shapes ----

GOOD = leaf("lang", "eq", "en")
SHAPES = [({}, "filter"), ([], "filter"), ("x", "filter"), (5, "filter"), (True, "filter"), ([GOOD], "filter"),
	({"and": []}, "filter.and"), ({"or": []}, "filter.or"), ({"not": []}, "filter.not"),
	({"not": [GOOD]}, "filter.not"), ({"not": {}}, "filter.not"), ({"not": None}, "filter.not"),
	({"and": "x"}, "filter.and"), ({"and": GOOD}, "filter.and"), ({"or": {}}, "filter.or"),
	({"and": None}, "filter.and"), ({"and": [None]}, "filter.and[0]"), ({"or": [GOOD, None]}, "filter.or[1]"),
	({"and": [GOOD, {}]}, "filter.and[1]"), ({"and": [GOOD], **GOOD}, "filter"),
	({"and": [GOOD], "or": [GOOD]}, "filter"), ({"and": [GOOD], "not": GOOD}, "filter"),
	({"and": [GOOD], "field": "lang"}, "filter"), ({"AND": [GOOD]}, "filter"), ({"field": "lang"}, "filter.op"),
	({"op": "eq", "value": "en"}, "filter.field"), ({"value": "en"}, "filter.op"),
	({"lang": "en"}, "filter"), ({"and": [{"or": [GOOD, {"not": "x"}]}]}, "filter.and[0].or[1].not")]


@pytest.mark.parametrize("filter,field", SHAPES, ids=lambda v: str(v)[:60])
def test_FIL_05_D25_a_shape_that_says_nothing_is_refused(peer, filter, field):
	assert_refused(peer, filter, field)
	answer = peer.call("index/delete", {"filter": filter})
	assert (answer.code, answer.field) == (-32602, field)
	assert matching(peer, None) == ALL


def test_M8_M10_F1_unknown_and_null_members_of_a_node_do_not_count(peer):
	assert matching(peer, {**GOOD, "boost": 2, "and": None, "or": None, "not": None}) == {"en"}
	assert matching(peer, {"and": [GOOD], "x-acme": [], "field": None, "op": None}) == {"en"}


def nested(depth):
	"""A leaf under depth - 1 nots."""
	filter = GOOD
	for _ in range(depth - 1):
		filter = {"not": filter}
	return filter


def test_F1_nesting_is_bounded(peer):
	assert matching(peer, nested(31)) == {"en"}
	assert matching(peer, nested(32)) == ALL - {"en"}
	answer = ask(peer, nested(33))
	assert answer.code == -32602 and answer.field.startswith("filter.not.not")
	assert ask(peer, nested(55)).code == -32602


def test_F1_C5_leaves_and_values_are_bounded(peer):
	assert matching(peer, {"or": [leaf("year", "eq", i) for i in range(4096)]}) == {"en", "fr", "leap", "absent"}
	answer = ask(peer, {"or": [leaf("year", "eq", i) for i in range(4097)]})
	assert (answer.code, answer.field) == (-32013, "filter.or")
	assert matching(peer, leaf("year", "in", list(range(10_000)))) == {"en", "fr", "leap", "absent"}
	answer = ask(peer, {"not": leaf("year", "in", list(range(10_001)))})
	assert (answer.code, answer.field) == (-32013, "filter.not.value")


# ---- FIL-06, D26 ----

@pytest.mark.parametrize("value", ["false", "true", 0, 1, None, [], {}])
def test_FIL_06_D26_exists_takes_a_boolean_or_nothing(peer, value):
	assert_refused(peer, leaf("lang", "exists", value), "filter.value")


@pytest.mark.parametrize("value,field", [("a", "filter.value"), ([], "filter.value"), (None, "filter.value"),
	({}, "filter.value"), ([1, "a"], "filter.value[0]"), (["a", 1], "filter.value[1]"), ([["a"]], "filter.value[0]"),
	(["a", None], "filter.value[1]"), ([{}], "filter.value[0]")])
def test_FIL_06_D26_in_takes_an_array_of_scalars(peer, value, field):
	assert_refused(peer, leaf("lang", "in", value), field)
	assert_refused(peer, leaf("lang", "nin", value), field)


@pytest.mark.parametrize("value", [None, [], {}, ["en"], [["en"]]])
def test_FIL_06_D26_eq_takes_a_scalar(peer, value):
	for field in ("lang", "year", "open", "day", "price", "note"):
		assert_refused(peer, leaf(field, "eq", value), "filter.value")
		assert_refused(peer, {"field": field, "op": "ne"}, "filter.value")


# ---- F4, RET-05: the filter comes first ----

@pytest.fixture(scope="module")
def large():
	"""10,000 documents; ten of them are tagged rare and do not hold the words asked for."""
	with Rcpd() as server:
		for start in range(0, 10_000, 1000):
			server.result("index/add", {"documents": [
				{"id": f"d{i}", "text": f"apple pear plum number{i} {MARKER}", "meta": {"tag": "common", "n": i}}
				for i in range(start, start + 1000) if i % 1000 != 500]})
			server.result("index/add", {"documents": [{"id": f"rare{start}",
				"text": f"nothing alike, stones and sand {MARKER}", "meta": {"tag": "rare", "n": start + 500}}]})
		yield server


def test_RET_05_F4_k_hits_come_back_whenever_k_documents_match(large):
	rare = {f"rare{i}" for i in range(0, 10_000, 1000)}
	for params in ({}, {"mode": "sparse"}, {"candidateK": 10}, {"unit": "document"}):
		result = large.result("retrieve", {"query": "apple pear plum", "k": 10, "filter": leaf("tag", "eq", "rare"),
			**params})
		found = [h.get("chunk", {}).get("docId", h["id"]) for h in result["hits"]]
		assert len(found) == 10 and set(found) == rare, params
	for op, value, count in (("lt", 5, 5), ("lt", 10, 10), ("gte", 9995, 5), ("in", [1, 2, 500], 3)):
		hits = large.result("retrieve", {"query": "stones", "k": 10, "filter": leaf("n", op, value)})["hits"]
		assert len(hits) == count, (op, value)


def test_F4_ranking_within_the_filter_is_as_without(large):
	"""What passes keeps its score and its order."""
	whole = large.result("retrieve", {"query": "number77 number78 apple", "k": 3, "mode": "sparse"})["hits"]
	some = large.result("retrieve", {"query": "number77 number78 apple", "k": 1, "mode": "sparse", "filter": leaf("n", "eq", 78)})["hits"]
	assert [h["id"] for h in some] == ["d78#0"]
	assert [h["score"] for h in whole if h["id"] == "d78#0"] == [some[0]["score"]]


def test_F4_a_filter_that_nothing_passes_gives_no_hits(large):
	assert large.result("retrieve", {"query": "apple", "filter": leaf("n", "gt", 10_000)})["hits"] == []


def test_F4_T4_filters_in_streams(large):
	with large.sse("retrieve", {"query": "apple pear", "k": 3, "filter": leaf("tag", "eq", "rare")},
			token="t") as stream:
		frames = stream.rest()
	assert len(frames) > 1
	assert {h["chunk"]["docId"][:4] for h in frames[-1].result["hits"]} == {"rare"}
	for frame in frames[:-1]:
		for hit in frame["params"].get("partial", {}).get("hits", []):
			assert hit["chunk"]["docId"].startswith("rare")
	with large.sse("retrieve", {"query": "apple", "filter": leaf("nope", "eq", 1)}, token="t") as stream:
		frames = stream.rest()
	assert [(f.code, f.field) for f in frames] == [(-32602, "filter.field")]


# ---- index/delete by filter ----

def test_X8_D36_a_delete_by_filter(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	server.result("index/add", {"documents": DOCUMENTS})
	before = server.result("retrieve", {"query": MARKER})["indexVersion"]
	none = server.result("index/delete", {"filter": leaf("lang", "eq", "xx")})
	assert none == {"deleted": 0, "indexVersion": before}
	gone = server.result("index/delete", {"filter": {"or": [leaf("year", "eq", 2020), leaf("lang", "eq", "en")]}})
	assert gone["deleted"] == 3 and gone["indexVersion"] != before
	peer = HttpPeer(server)
	assert matching(peer, None) == ALL - {"en", "fr", "leap"}
	assert matching(peer, leaf("lang", "exists")) == set()
	server.kill()
	server = rcpd(data=data)
	peer = HttpPeer(server)
	assert matching(peer, None) == ALL - {"en", "fr", "leap"}
	assert server.result("index/delete", {"filter": leaf("lang", "exists", False)})["deleted"] == 3
	assert matching(peer, None) == set()


def test_X8_D36_a_delete_takes_every_chunk_of_its_documents(rcpd):
	server = rcpd(env={"RCPD_CHUNK_TOKENS": "32", "RCPD_CHUNK_OVERLAP": "8"})
	long = " ".join(f"Sentence number {i} tells something about chunks." for i in range(100))
	chunks = server.result("index/add", {"chunk": True, "documents": [
		{"id": f"d{i}", "text": long, "meta": {"n": i}} for i in range(3)]})["chunks"]
	assert chunks >= 30
	assert server.result("index/delete", {"filter": leaf("n", "gte", 1)})["deleted"] == 2
	hits = server.result("retrieve", {"query": "sentence number tells something about chunks", "k": 1000, "candidateK": 1000})["hits"]
	assert {h["chunk"]["docId"] for h in hits} == {"d0"} and len(hits) == chunks // 3


def test_X8_D25_D34_D36_what_a_delete_refuses(peer):
	for params, field in (({"ids": ["en"], "filter": GOOD}, "ids"), ({"ids": [], "filter": GOOD}, "ids"),
			({}, "ids"), ({"filter": None}, "ids"), ({"filter": leaf("nope", "eq", 1)}, "filter.field"),
			({"filter": leaf("lang", "eq", 5)}, "filter.value")):
		answer = peer.call("index/delete", params)
		assert (answer.code, answer.field) == (-32602, field)
	answer = peer.call("index/delete", {"filter": leaf("lang", "regex", "e.*")})
	assert (answer.code, answer.option, answer.field) == (-32005, "regex", "filter.op")
	assert matching(peer, None) == ALL


def test_D25_F1_a_null_filter_is_absent(peer):
	assert matching(peer, None) == ALL
	answer = peer.call("index/delete", {"ids": ["not there"], "filter": None})
	assert answer.result["deleted"] == 0


# ---- types: inferred, then fixed; declared ----

def test_F2_filters_survive_a_restart(rcpd, tmp_path):
	data = tmp_path / "data"
	first = rcpd(data=data)
	first.result("index/add", {"documents": DOCUMENTS[:3]})
	first.result("index/add", {"documents": DOCUMENTS[3:]})
	told = first.result("info")["capabilities"]["filter"]
	answers = [matching(HttpPeer(first), f) for f, _ in PASSING]
	assert answers == [passing for _, passing in PASSING]
	first.kill()
	second = rcpd(data=data)
	assert second.result("info")["capabilities"]["filter"] == told
	assert [matching(HttpPeer(second), f) for f, _ in PASSING] == answers


def test_F2_D37_an_inferred_type_stays(rcpd, tmp_path):
	"""A value that contradicts is stored and returned, and no filter sees it."""
	data = tmp_path / "data"
	server = rcpd(data=data)
	server.result("index/add", {"documents": [{"id": "a", "text": MARKER, "meta": {"n": 5}}]})
	odd = ["five", 5.5, True, [1, "x"], "2024-01-01"]
	server.result("index/add", {"documents": [{"id": f"b{i}", "text": MARKER, "meta": {"n": v}}
		for i, v in enumerate(odd)]})
	for _ in range(2):
		peer = HttpPeer(server)
		assert server.result("info")["capabilities"]["filter"]["fields"] == {"n": "int"}
		assert matching(peer, leaf("n", "exists")) == {"a", "b3"}
		assert matching(peer, leaf("n", "eq", 5)) == {"a"}
		assert matching(peer, leaf("n", "eq", 1)) == {"b3"}
		assert matching(peer, leaf("n", "ne", 5)) == {f"b{i}" for i in range(5)}
		assert_refused(peer, leaf("n", "eq", "five"), "filter.value")
		metas = {h["chunk"]["docId"]: h["meta"] for h in
			server.result("retrieve", {"query": MARKER})["hits"]}
		assert [metas[f"b{i}"]["n"] for i in range(5)] == odd
		# The first value's document may go; the type does not.
		server.result("index/delete", {"ids": ["a"]})
		server.result("index/add", {"documents": [{"id": "a", "text": MARKER, "meta": {"n": 5}}]})
		server.kill()
		server = rcpd(data=data)


DECLARED = """[index]
fields = year:int note:text a%20b:keyword day:date late%3Aon:bool
"""


def test_F2_D37_declared_fields_are_there_from_the_start(rcpd, tmp_path):
	server = rcpd(config=DECLARED)
	assert server.result("info")["capabilities"]["filter"]["fields"] == {"year": "int", "note": "text",
		"a b": "keyword", "day": "date", "late:on": "bool"}
	peer = HttpPeer(server)
	assert matching(peer, leaf("year", "eq", 1)) == set()
	server.result("index/add", {"documents": [{"id": "x", "text": MARKER,
		"meta": {"year": 2020, "note": "short", "a b": "v", "day": 0, "late:on": True, "new": 1}}]})
	for filter in (leaf("year", "gt", 2019), leaf("note", "contains", "hor"), leaf("a b", "eq", "v"),
			leaf("day", "eq", "1970-01-01"), leaf("late:on", "eq", True), leaf("new", "lt", 2)):
		assert matching(peer, filter) == {"x"}


@pytest.mark.parametrize("meta,field", [({"year": "2020"}, "year"), ({"year": 5.5}, "year"),
	({"year": [1, "x"]}, "year"), ({"day": "soon"}, "day"), ({"note": 5}, "note"), ({"late:on": 1}, "late:on"),
	({"a b": True}, "a b")])
def test_D37_F2_what_contradicts_a_declared_field_is_refused(rcpd, meta, field):
	server = rcpd(config=DECLARED)
	answer = server.rpc("index/add", {"documents": [{"id": "a", "text": MARKER, "meta": {"year": None}},
		{"id": "b", "text": MARKER, "meta": meta}, {"id": "c", "text": MARKER}]})
	assert answer.code == -32602
	assert answer.field.startswith(f"documents[1].meta.{field}")
	assert server.result("retrieve", {"query": MARKER})["hits"] == []


def test_F2_no_more_fields_than_max_fields(rcpd):
	server = rcpd(env={"RCPD_MAX_FIELDS": "2"})
	server.result("index/add", {"documents": [{"id": "a", "text": MARKER,
		"meta": {"one": 1, "two": 2, "three": 3, "x" * 300: 4}}]})
	fields = server.result("info")["capabilities"]["filter"]["fields"]
	assert fields == {"one": "int", "two": "int"}
	assert_refused(HttpPeer(server), leaf("three", "eq", 3), "filter.field")
	hit = server.result("retrieve", {"query": MARKER})["hits"][0]
	assert hit["meta"]["three"] == 3


def test_F2_replaced_values_are_forgotten(rcpd):
	server = rcpd()
	peer = HttpPeer(server)
	for value in ("old", "new"):
		server.result("index/add", {"documents": [{"id": "a", "text": MARKER, "meta": {"v": value}}]})
	assert matching(peer, leaf("v", "eq", "new")) == {"a"}
	assert matching(peer, leaf("v", "eq", "old")) == set()
	server.result("index/add", {"documents": [{"id": "a", "text": MARKER}]})
	assert matching(peer, leaf("v", "exists")) == set()
	assert matching(peer, leaf("v", "exists", False)) == {"a"}


# ---- D42: a session keeps its fields ----

NEW = {"documents": [{"id": "new", "text": MARKER, "meta": {"fresh": "v"}}]}
FRESH = {"query": MARKER, "filter": leaf("fresh", "eq", "v")}


def test_D42_L4_over_stdio_later_fields_show_in_the_next_process(rcpd_stdio, tmp_path):
	data = tmp_path / "data"
	first = rcpd_stdio(data=data)
	told = first.result("initialize", {"protocolVersion": 1})["capabilities"]
	first.result("index/add", NEW)
	assert first.result("info")["capabilities"] == told
	answer = first.rpc("retrieve", FRESH)
	assert (answer.code, answer.field) == (-32602, "filter.field")
	answer = first.rpc("index/delete", {"filter": FRESH["filter"]})
	assert (answer.code, answer.field) == (-32602, "filter.field")
	first.stop()
	second = rcpd_stdio(data=data, initialize=True)
	assert second.result("info")["capabilities"]["filter"]["fields"] == {"fresh": "keyword"}
	assert len(second.result("retrieve", FRESH)["hits"]) == 1


def test_D42_L4_a_strict_session_keeps_its_fields(rcpd):
	server = rcpd("--sessions", "strict")
	told = server.result("initialize", {"protocolVersion": 1})["capabilities"]
	server.result("index/add", NEW)
	assert server.result("info")["capabilities"] == told
	assert server.rpc("retrieve", FRESH).field == "filter.field"
	server.result("shutdown")
	fields = server.result("initialize", {"protocolVersion": 1})["capabilities"]["filter"]["fields"]
	assert fields == {"fresh": "keyword"}
	assert len(server.result("retrieve", FRESH)["hits"]) == 1


def test_D42_L4_each_token_session_has_fields_of_its_own(rcpd):
	server = rcpd("--sessions", "token")

	def begin():
		result = server.result("initialize", {"protocolVersion": 1})
		return {"RCP-Session": result["_meta"]["session"]}, result["capabilities"]["filter"]["fields"]
	old, fields = begin()
	assert fields == {}
	server.result("index/add", NEW, headers=old)
	new, fields = begin()
	assert fields == {"fresh": "keyword"}
	assert server.rpc("retrieve", FRESH, headers=old).field == "filter.field"
	assert len(server.result("retrieve", FRESH, headers=new)["hits"]) == 1
	assert server.result("info", headers=old)["capabilities"]["filter"]["fields"] == {}
	assert server.result("info", headers=new)["capabilities"]["filter"]["fields"] == fields


def test_D42_without_sessions_new_fields_are_there_at_once(rcpd):
	server = rcpd()
	server.result("index/add", NEW)
	assert server.result("info")["capabilities"]["filter"]["fields"] == {"fresh": "keyword"}
	assert len(server.result("retrieve", FRESH)["hits"]) == 1
	# In one batch, too.
	status, _, body = server.post(server.base, [server.message("index/add", {"documents": [
		{"id": "b", "text": MARKER, "meta": {"batch": 1}}]}), server.message("retrieve",
		{"query": MARKER, "filter": leaf("batch", "eq", 1)})])
	assert status == 200 and b'"b#0"' in body
