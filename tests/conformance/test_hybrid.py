"""Dense and hybrid retrieval, fusion, MMR, vectors and reranking, over the model that rcpd
brings along, over models on loopback and over vectors of the client: R1-R10, R12, T6, C1, C5,
D23, D33, D39, D40, D42, L6, L7 and the RET cases that speak of every mode."""
import json
import math
import time

import pytest

from lib import MARKER, SCALE, Rcpd
from lib.corpus import fill, numbered
from lib.model_server import HashEncoder, ModelServer, hang, overlap, slow, status

MODES = ("dense", "sparse", "hybrid")
TEXTS = {
	"cars": "The car has a petrol engine and four wheels, and the engine is loud.",
	"garage": "A mechanic repairs the engine of an old car in his garage.",
	"ships": "Large ships cross the ocean with containers and oil.",
	"bread": "Bread is baked from flour, water, salt and yeast.",
	"cake": "A cake is baked from flour, sugar, eggs and butter.",
	"garden": "Roses and tulips grow in the garden behind the house.",
	"moon": "The moon pulls at the water of the ocean and makes the tides.",
	"code": "grammar::fa v38.101, order BENCH-100821, don't panic",
}
DOCS = [{"id": name, "text": f"{text} {MARKER}",
	"meta": {"n": i, "topic": "food" if name in ("bread", "cake") else "other",
		"day": f"2024-01-{i + 1:02d}"}}
	for i, (name, text) in enumerate(TEXTS.items())]


@pytest.fixture(autouse=True, scope="module")
def _corpus(server, stdio_server):
	for one in (server, stdio_server):
		fill(one, DOCS)


def search(peer, query, **params):
	return peer.call("retrieve", {"query": query, **params}).result


def docs(result):
	return [h["chunk"]["docId"] for h in result["hits"]]


def pages(peer, query, **params):
	"""All hits, page by page."""
	hits, cursor = [], None
	for _ in range(200):
		result = search(peer, query, **params, **({"cursor": cursor} if cursor else {}))
		hits += result["hits"]
		cursor = result.get("nextCursor")
		if not cursor:
			return hits
		assert result["hits"]
	raise AssertionError("pages without an end")


def check_order(hits):
	scores = [h["score"] for h in hits]
	assert all(math.isfinite(s) for s in scores)
	assert scores == sorted(scores, reverse=True)
	assert len({h["id"] for h in hits}) == len(hits)


# ---- what is advertised ----

def test_R2_L4_D40_every_mode_is_advertised_and_works(peer):
	info = peer.call("info").result
	offered = info["capabilities"]["retrieve"]
	assert set(offered["modes"]) == set(MODES) and offered["defaultMode"] == "hybrid"
	assert set(offered["fusion"]) == {"rrf", "weighted", "convex"}
	assert offered["mmr"] is True
	assert "scoreScale" not in offered and "scoreFloor" not in offered  # D42: not one for all
	assert info["_meta"]["conformance"] == ("L2" if offered.get("rerankBuiltin") else "L1")
	for mode in offered["modes"]:
		for k in (1, 3, 100):
			hits = search(peer, "engine of a car", k=k, mode=mode)["hits"]
			assert 0 < len(hits) <= k
			check_order(hits)


def test_R2_hybrid_is_the_default(peer):
	assert search(peer, "engine of a car")["hits"] == search(peer, "engine of a car",
		mode="hybrid")["hits"]


def test_R2_hybrid_finds_by_words_what_only_words_find(peer):
	for query in ("BENCH-100821", "don't", "grammar::fa", "38.101"):  # RET-01
		assert docs(search(peer, query, mode="hybrid"))[0] == "code"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ["", " ", "!!!", "the of and", "\u200b"])
def test_D33_RET_03_a_query_without_words_finds_nothing_in_any_mode(peer, mode, query):
	result = search(peer, query, mode=mode)
	assert result["hits"] == [] and result["usage"]["notes"]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("query", ['"unbalanced', 'a"b', "(", "text:x", "-x", "x^2", "%", "\\",
	"AND", "NOT working", "NEAR(a b", "cats AND dogs", "*", "\U0001f600", "\u65e5\u672c"])
def test_RET_01_RET_02_no_query_is_syntax(peer, mode, query):
	check_order(search(peer, query, mode=mode)["hits"])


# ---- R12 and R4: what the scores are made of ----

def test_R12_each_stage_tells_its_score(peer):
	for mode, keys in (("dense", {"dense"}), ("sparse", {"sparse"}),
			("hybrid", {"dense", "sparse"})):
		for hit in search(peer, "engine of a car", mode=mode)["hits"]:
			assert set(hit["scores"]) <= keys
	best = search(peer, "engine of a car", mode="hybrid")["hits"][0]
	assert set(best["scores"]) == {"dense", "sparse"}
	dense = search(peer, "engine of a car", mode="dense")["hits"]
	assert all(h["score"] == max(0, h["scores"]["dense"]) for h in dense)


def sides(hit):
	return max(0, hit["scores"].get("dense", 0)), hit["scores"].get("sparse", 0)


@pytest.mark.parametrize("alpha", [0, 0.25, 0.5, 1, None])
def test_R4_convex_is_what_the_specification_says(peer, alpha):
	"""16.3: alpha weighs the dense side; half and half where it is not said."""
	fusion = {"method": "convex", **({} if alpha is None else {"alpha": alpha})}
	hits = search(peer, "engine of a car", k=100, mode="hybrid", fusion=fusion)["hits"]
	alpha = 0.5 if alpha is None else alpha
	dense, sparse = (max(sides(h)[i] for h in hits) for i in (0, 1))
	for hit in hits:
		d, s = sides(hit)
		assert hit["score"] == pytest.approx(alpha * d / dense + (1 - alpha) * s / sparse, abs=1e-9)


@pytest.mark.parametrize("rrf_k", [None, 0, 5])
def test_R4_rrf_is_what_the_specification_says(peer, rrf_k):
	fusion = {"method": "rrf", "weights": {"dense": 2}}
	if rrf_k is not None:
		fusion["rrfK"] = rrf_k
	want = {}
	for mode, weight in (("dense", 2), ("sparse", 1)):
		for rank, hit in enumerate(search(peer, "engine of a car", k=100, mode=mode)["hits"], 1):
			k = 60 if rrf_k is None else rrf_k
			want[hit["id"]] = want.get(hit["id"], 0) + weight / (k + rank)
	hits = search(peer, "engine of a car", k=100, mode="hybrid", fusion=fusion)["hits"]
	assert {h["id"]: pytest.approx(h["score"], abs=1e-12) for h in hits} == want


def test_R4_weighted_is_what_the_specification_says(peer):
	weights = {"dense": 0.5, "sparse": 2}
	hits = search(peer, "engine of a car", k=100, mode="hybrid",
		fusion={"method": "weighted", "weights": weights})["hits"]
	ranges = [(min(sides(h)[i] for h in hits), max(sides(h)[i] for h in hits)) for i in (0, 1)]
	for hit in hits:
		norm = [(v - low) / (high - low) for v, (low, high) in zip(sides(hit), ranges)]
		assert hit["score"] == pytest.approx(0.5 * norm[0] + 2 * norm[1], abs=1e-9)


def test_R4_fused_scores_do_not_depend_on_the_cut(peer):
	whole = {h["id"]: h["score"] for h in search(peer, "engine of a car", k=100)["hits"]}
	best = search(peer, "engine of a car", k=2, candidateK=2)["hits"]
	assert all(h["score"] == pytest.approx(whole[h["id"]], abs=1e-9) for h in best)


def test_R4_fusion_in_another_mode_changes_nothing(peer):
	for mode in ("dense", "sparse"):
		assert search(peer, "car", mode=mode, fusion={"method": "rrf"})["hits"] == search(peer, "car",
			mode=mode)["hits"]


@pytest.mark.parametrize("params,field", [({"fusion": {"alpha": 2}}, "fusion.alpha"),
	({"fusion": {"rrfK": -1}}, "fusion.rrfK"), ({"fusion": {"method": 5}}, "fusion.method"),
	({"fusion": {"weights": {"dense": -1}}}, "fusion.weights.dense"),
	({"fusion": {"weights": {"dense": 0, "sparse": 0}}}, "fusion.weights"),
	({"mmr": {"lambda": -0.1}}, "mmr.lambda"), ({"mmr": {"lambda": "x"}}, "mmr.lambda"),
	({"x-rcpd-vector": "x"}, "x-rcpd-vector"), ({"x-rcpd-vector": [1, 2]}, "x-rcpd-vector"),
	({"x-rcpd-vector": [0] * 8}, "x-rcpd-vector"), ({"x-rcpd-vector": [1, True]}, "x-rcpd-vector[1]")])
def test_C1_malformed_options_name_their_path(peer, params, field):
	for strict in ({}, {"strict": False}):
		answer = peer.call("retrieve", {"query": "car", **params, **strict})
		assert (answer.code, answer.field) == (-32602, field)


@pytest.mark.parametrize("params,option", [({"mode": "telepathy"}, "telepathy"),
	({"fusion": {"method": "borda"}}, "borda")])
def test_C1_an_option_that_is_not_advertised(peer, params, option):
	answer = peer.call("retrieve", {"query": "car", **params})
	assert (answer.code, answer.option) == (-32005, option)
	result = search(peer, "car", strict=False, **params)
	assert result["hits"] == search(peer, "car")["hits"] and result["usage"]["notes"]


# ---- filters, pages, order ----

def test_F4_RET_05_a_filter_gives_k_hits_in_every_mode(rcpd):
	server = rcpd(env={"RCPD_MAX_DOCUMENTS": "5000"})
	many = [{"id": f"common-{i:04d}", "text": f"the engine of a car number {i} {MARKER}",
		"meta": {"tag": "common"}} for i in range(2000)]
	rare = [{"id": f"rare-{i}", "text": f"bread flour butter {i} {MARKER}", "meta": {"tag": "rare"}}
		for i in range(10)]
	for at in range(0, len(many), 1000):
		server.result("index/add", {"documents": many[at:at + 1000]})
	server.result("index/add", {"documents": rare})
	for mode in MODES:
		for unit in ("chunk", "document"):
			result = server.result("retrieve", {"query": "engine of a car", "k": 10, "mode": mode,
				"unit": unit, "filter": {"field": "tag", "op": "eq", "value": "rare"}})
			assert len(result["hits"]) == 10, (mode, unit)
			check_order(result["hits"])


def test_R1_RET_06_equal_texts_come_in_one_order(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": numbered(200)})
	for mode in MODES:
		params = {"query": "sameword", "k": 7, "mode": mode}
		hits, cursor = [], None
		while True:
			result = server.result("retrieve", {**params, **({"cursor": cursor} if cursor else {})})
			hits += result["hits"]
			cursor = result.get("nextCursor")
			if not cursor:
				break
		assert [h["chunk"]["docId"] for h in hits] == [f"doc-{i:04d}" for i in range(200)], mode


@pytest.mark.parametrize("params", [{"mode": "dense"}, {"mode": "hybrid"},
	{"mode": "hybrid", "fusion": {"method": "rrf"}}, {"mmr": {"lambda": 0.3}},
	{"mode": "sparse", "mmr": {}}, {"unit": "document"}, {"minScore": 0.2},
	{"recency": {"field": "day", "halfLifeDays": 3}}])
def test_R10_R9_pages_are_one_list(peer, params):
	whole = search(peer, "engine of a car", k=20, **params)["hits"]
	for k in (1, 2, 3):
		assert pages(peer, "engine of a car", k=k, **params) == whole
	check_order(whole)


def test_R9_the_same_question_has_the_same_bytes(peer):
	params = {"mode": "hybrid", "mmr": {"lambda": 0.5}, "seed": 7, "includeVectors": True}
	first = search(peer, "engine of a car", **params)
	for _ in range(5):
		again = search(peer, "engine of a car", **params, indexVersion=first["indexVersion"])
		assert json.dumps(again["hits"]) == json.dumps(first["hits"])


def test_R10_pages_go_on_behind_the_candidates(peer):
	for mode in ("dense", "hybrid"):
		few = pages(peer, "engine of a car", k=1, candidateK=2, mode=mode)
		assert len(few) == len(search(peer, "engine of a car", k=20, mode=mode)["hits"])
		check_order(few)
	for params in ({"mmr": {}}, {"recency": {"field": "day", "halfLifeDays": 3}}):
		assert len(pages(peer, "engine of a car", k=2, candidateK=3, **params)) == 3


@pytest.mark.parametrize("change", [{"mode": "dense"}, {"fusion": {"method": "rrf"}},
	{"mmr": {"lambda": 0.7}}, {"includeVectors": True}, {"x-rcpd-vector": [1.0, 2.0]}])
def test_R10_D39_a_cursor_belongs_to_all_options(peer, change):
	base = {"k": 1, "mode": "hybrid", "fusion": {"method": "convex", "alpha": 0.3},
		"mmr": {"lambda": 0.5}}
	cursor = search(peer, "engine of a car", **base)["nextCursor"]
	assert search(peer, "engine of a car", **base, cursor=cursor)["hits"]
	answer = peer.call("retrieve", {"query": "engine of a car", **base, **change, "cursor": cursor})
	assert (answer.code, answer.field) in ((-32602, "cursor"), (-32602, "x-rcpd-vector"))


@pytest.mark.parametrize("mode", MODES)
def test_R6_min_score_and_recency_in_every_mode(peer, mode):
	hits = search(peer, "engine of a car", k=20, mode=mode)["hits"]
	floor = hits[1]["score"]
	some = search(peer, "engine of a car", k=20, mode=mode, minScore=floor)["hits"]
	assert some == [h for h in hits if h["score"] >= floor]
	aged = search(peer, "engine of a car", k=20, mode=mode,
		recency={"field": "day", "halfLifeDays": 0.5})["hits"]
	check_order(aged)
	assert {h["id"]: h["scores"] for h in aged} == {h["id"]: h["scores"] for h in hits}
	assert [h["id"] for h in aged] != [h["id"] for h in hits] or len(hits) < 3


def test_R7_a_document_counts_once_in_hybrid(rcpd):
	server = rcpd()
	long = "\n\n".join(f"# Part {i}\n\nThe engine of car {i} is loud. " + "More of it. " * 120
		for i in range(12))
	server.result("index/add", {"documents": [{"id": "long", "text": long + MARKER},
		{"id": "short", "text": f"An engine. {MARKER}"}], "chunk": True})
	for mode in MODES:
		hits = server.result("retrieve", {"query": "engine of a car", "unit": "document", "k": 2,
			"candidateK": 2, "mode": mode})["hits"]
		assert {h["id"] for h in hits} == {"long", "short"}, mode
		chunks = server.result("retrieve", {"query": "engine of a car", "k": 20, "mode": mode})["hits"]
		best = {}
		for hit in chunks:
			best.setdefault(hit["chunk"]["docId"], hit)
		for hit in hits:
			assert hit["chunk"]["index"] == best[hit["id"]]["chunk"]["index"]


def test_RET_04_a_document_without_words_is_never_first(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": [{"id": "dots", "text": "... !!! ???"}] + DOCS})
	for mode in MODES:
		hits = server.result("retrieve", {"query": "engine of a car", "k": 20, "mode": mode})["hits"]
		assert hits and hits[0]["chunk"]["docId"] != "dots"
		check_order(hits)
		for hit in hits:
			assert hit["chunk"]["docId"] != "dots" or hit["score"] <= hits[1]["score"]


# ---- vectors ----

def test_R8_vectors_come_when_asked_for(peer):
	hits = search(peer, "engine of a car", includeVectors=True, includeText=False)["hits"]
	lengths = {len(h["vector"]) for h in hits if "vector" in h}
	assert len(lengths) == 1
	for hit in hits:
		if "vector" in hit:
			assert math.hypot(*hit["vector"]) == pytest.approx(1, abs=1e-3)
		assert "text" not in hit
	assert all("vector" not in h for h in search(peer, "engine of a car")["hits"])
	best = search(peer, "engine of a car", unit="document", includeVectors=True)["hits"][0]
	assert len(best["vector"]) in lengths


def test_R2_a_query_may_bring_its_vector(peer):
	"""A chunk's own vector finds that chunk."""
	for hit in search(peer, "engine of a car", mode="dense", includeVectors=True, k=20)["hits"]:
		found = search(peer, "anything", mode="dense", k=1, **{"x-rcpd-vector": hit["vector"]})
		assert found["hits"][0]["id"] == hit["id"]
		assert found["hits"][0]["score"] == pytest.approx(1, abs=1e-3)
		twice = [2 * v for v in hit["vector"]]  # its length does not matter
		assert search(peer, "anything", mode="dense", k=1,
			**{"x-rcpd-vector": twice})["hits"][0]["id"] == hit["id"]
	dimension = len(hit["vector"])
	for wrong in ([1] * (dimension + 1), [0] * dimension):
		answer = peer.call("retrieve", {"query": "x", "x-rcpd-vector": wrong})
		assert (answer.code, answer.field) == (-32602, "x-rcpd-vector")


# ---- MMR ----

@pytest.fixture(scope="module")
def alike():
	"""A corpus in which the five best are nearly the same text."""
	with Rcpd() as server:
		fill(server, [{"id": f"same-{i}", "text": f"the engine of a car is loud {MARKER} {'x' * (i + 1)}"}
			for i in range(5)] + DOCS)
		yield server


def test_R5_mmr_spreads_what_is_alike(alike):
	def of_a_kind(**params):
		hits = alike.result("retrieve", {"query": "engine of a car", "k": 5, **params})["hits"]
		check_order(hits)
		return sum(h["chunk"]["docId"].startswith("same") for h in hits)
	plain = of_a_kind()
	assert of_a_kind(mmr={"lambda": 1}) == plain
	assert of_a_kind(mmr={"lambda": 0.2}) < plain
	assert of_a_kind(mmr={"lambda": 0}) <= of_a_kind(mmr={"lambda": 0.2})


def test_R5_mmr_takes_what_the_formula_takes(alike):
	"""Carbonell and Goldstein 1998, from the vectors and scores that rcpd tells."""
	query = {"query": "engine of a car", "k": 20, "includeVectors": True}
	pool = alike.result("retrieve", query)["hits"]
	best = pool[0]["score"]
	near = lambda a, b: max(0, sum(x * y for x, y in zip(a["vector"], b["vector"])))
	for weight in (0.3, 0.7):
		hits = alike.result("retrieve", {**query, "mmr": {"lambda": weight}})["hits"]
		left, taken = {h["id"]: h for h in pool}, []
		for hit in hits:
			worth = {i: weight * h["score"] / best + (1 - weight)
				* (1 - max([near(h, t) for t in taken], default=0)) for i, h in left.items()}
			assert worth[hit["id"]] == pytest.approx(max(worth.values()), abs=1e-4)
			assert hit["score"] == pytest.approx(worth[hit["id"]], abs=1e-4)
			taken.append(left.pop(hit["id"]))
		assert not left


# ---- models on loopback ----

@pytest.fixture(scope="module")
def models():
	with ModelServer("hash") as server:
		yield server


@pytest.fixture(autouse=True)
def _well_behaved(request):
	yield
	if "models" in request.fixturenames:
		request.getfixturevalue("models").always(None)


def judges(models, **more):
	return {"RCPD_RERANKER": "tei", "RCPD_RERANKER_URL": models.url("/rerank"), "RCPD_LLM": "openai",
		"RCPD_LLM_URL": models.url("/v1/chat/completions"), "RCPD_LLM_MODEL": "judge",
		"RCPD_MODEL_RETRIES": "0", **more}


@pytest.fixture(scope="module")
def judged(models):
	with Rcpd(env=judges(models)) as server:
		fill(server, DOCS)
		yield server


def test_R5_R12_rerank_orders_by_the_model(judged):
	query = "flour water salt"
	for method in ("cross-encoder", "llm"):
		result = judged.result("retrieve", {"query": query, "k": 3,
			"rerank": {"method": method, "topN": 5}})
		check_order(result["hits"])
		assert result["usage"]["reranked"] == 5
		assert result["hits"][0]["chunk"]["docId"] == "bread"
		for hit in result["hits"]:
			assert hit["scores"]["rerank"] == pytest.approx(overlap(query, hit["text"]), abs=0.02)
			assert hit["score"] == hit["scores"]["rerank"]
	offered = judged.result("info")["capabilities"]
	assert offered["retrieve"]["rerankBuiltin"] is True
	assert {"cross-encoder", "llm"} <= set(offered["rerank"]["methods"])


def test_R3_C5_D23_the_funnel(judged):
	def counts(**params):
		result = judged.result("retrieve", {"query": "the water of the ocean", **params})
		return len(result["hits"]), result["usage"]["reranked"]
	assert counts(rerank={"method": "cross-encoder"}) == (8, 8)
	assert counts(rerank={"method": "cross-encoder", "topN": 3}) == (3, 3)
	assert counts(k=2, candidateK=4, rerank={"method": "cross-encoder"}) == (2, 4)
	assert counts(k=1, rerank={"method": "cross-encoder", "topN": 10 ** 6}) == (1, 8)
	assert counts(rerank=False)[1] == 0
	for params in ({"k": 5, "rerank": {"topN": 4}}, {"candidateK": 3, "rerank": {"topN": 4}}):
		assert judged.rpc("retrieve", {"query": "x", **params}).code == -32602


def test_R10_pages_end_with_top_n(judged):
	hits, cursor = [], None
	while True:
		result = judged.result("retrieve", {"query": "water of the ocean", "k": 2,
			"rerank": {"method": "cross-encoder", "topN": 5}, **({"cursor": cursor} if cursor else {})})
		hits += result["hits"]
		cursor = result.get("nextCursor")
		if not cursor:
			break
	assert len(hits) == 5
	check_order(hits)


def test_C1_a_reranker_that_is_not_offered(judged):
	for rerank, option in (({"method": "oracle"}, "oracle"),
			({"method": "cross-encoder", "model": "another"}, "another")):
		answer = judged.rpc("retrieve", {"query": "car", "rerank": rerank})
		assert (answer.code, answer.option) == (-32005, option)
		result = judged.result("retrieve", {"query": "car", "rerank": rerank, "strict": False})
		assert result["hits"] and result["usage"]["notes"]


def test_C1_a_reranker_that_is_down(judged, models):
	models.always(status(500))
	answer = judged.rpc("retrieve", {"query": "car", "rerank": {"method": "cross-encoder"}})
	assert answer.code == -32010
	result = judged.result("retrieve", {"query": "car", "strict": False,
		"rerank": {"method": "cross-encoder"}})
	assert result["hits"] and result["usage"]["notes"] and result["usage"]["reranked"] == 0


def test_T6_candidates_are_seen_before_the_rerank(rcpd, models):
	server = rcpd(env=judges(models))
	fill(server, DOCS)
	models.always(slow(0.5))
	with server.sse("retrieve", {"query": "flour water salt", "k": 3,
			"rerank": {"method": "cross-encoder", "topN": 5}, "mmr": {"lambda": 0.5}},
			token="t") as stream:
		started, seen, last = time.monotonic(), [], -1.0
		while "result" not in (frame := stream.next()):
			progress = frame["params"]
			seen.append(progress["stage"])
			assert progress["progress"] >= last
			last = progress["progress"]
			if progress["stage"] == "rerank":
				assert len(progress["partial"]["hits"]) == 3
				assert time.monotonic() - started < 0.45 * SCALE  # the model has not answered yet
	assert seen == ["transform", "recall", "fuse", "rerank", "diversify", "pack"]


@pytest.mark.parametrize("how", ["model", "stall"])
def test_L6_a_cancel_in_mid_rerank_frees_the_worker(rcpd_stdio, models, how):
	"""Answered within 50 ms, and the only worker takes the next request."""
	env = judges(models, RCPD_WORKERS="1")
	if how == "stall":
		env["RCPD_FAULTS"] = "retrieve.rerank=stall:5000:1"
	else:
		models.always(hang())
	server = rcpd_stdio(initialize=True, env=env)
	server.rpc("index/add", {"documents": DOCS})
	for id in range(1000, 1003) if how == "model" else (1000,):
		server.send(server.message("retrieve", {"query": "flour water",
			"rerank": {"method": "cross-encoder"}}, id=id))
		time.sleep(0.2)
		started = time.monotonic()
		server.rpc("notifications/cancel", {"id": id}, id=None)
		assert server.recv_id(id).code == -32006
		assert time.monotonic() - started < 0.05 * SCALE
	models.always(None)
	started = time.monotonic()
	assert server.rpc("retrieve", {"query": "flour"}).result["hits"]
	assert time.monotonic() - started < 1.0 * SCALE


def test_L7_the_deadline_reaches_the_model(rcpd, models):
	server = rcpd(env=judges(models))
	fill(server, DOCS)
	models.always(hang())
	started = time.monotonic()
	answer = server.rpc("retrieve", {"query": "flour", "rerank": {"method": "cross-encoder"},
		"_meta": {"deadlineMs": 300}})
	assert answer.code == -32014
	assert time.monotonic() - started < 1.0 * SCALE


# ---- an embedder on loopback ----

def test_C1_an_embedder_that_goes_away(rcpd, models):
	"""-32010, not a vanished capability (L4); hybrid falls back with strict:false alone."""
	server = rcpd(env={"RCPD_EMBEDDER": "openai", "RCPD_EMBEDDER_URL": models.url("/v1/embeddings"),
		"RCPD_EMBEDDER_MODEL": "hash", "RCPD_EMBEDDER_DIMENSION": "32", "RCPD_MODEL_RETRIES": "0",
		"RCPD_MODEL_CACHE": "0"})
	fill(server, DOCS)
	before = server.result("info")["capabilities"]
	assert before["retrieve"]["defaultMode"] == "hybrid"
	for mode in MODES:
		assert server.result("retrieve", {"query": "engine of a car", "mode": mode})["hits"]
	models.always(status(503))
	for mode in ("dense", "hybrid", None):
		answer = server.rpc("retrieve", {"query": "engine of a car", "mode": mode})
		assert answer.code == -32010, mode
	assert server.result("info")["capabilities"] == before
	assert server.result("retrieve", {"query": "engine of a car", "mode": "sparse"})["hits"]
	result = server.result("retrieve", {"query": "engine of a car", "strict": False})
	assert result["hits"] and result["usage"]["notes"]
	assert all("dense" not in h["scores"] for h in result["hits"])


def test_L6_a_hanging_embedder_is_left_at_once(rcpd_stdio, models):
	server = rcpd_stdio(initialize=True, env={"RCPD_EMBEDDER": "tei",
		"RCPD_EMBEDDER_URL": models.url("/embed"), "RCPD_EMBEDDER_DIMENSION": "32"})
	server.rpc("index/add", {"documents": DOCS})
	models.always(hang())
	server.send(server.message("retrieve", {"query": "flour water"}, id=1000))
	time.sleep(0.2)
	started = time.monotonic()
	server.rpc("notifications/cancel", {"id": 1000}, id=None)
	assert server.recv_id(1000).code == -32006
	assert time.monotonic() - started < 0.05 * SCALE


# ---- vectors of the client ----

@pytest.fixture(scope="module")
def external():
	encoder = HashEncoder(16)
	with Rcpd(env={"RCPD_EMBEDDER": "external", "RCPD_EMBEDDER_DIMENSION": "16"}) as server:
		fill(server, [{**d, "x-rcpd-vector": encoder.encode([d["text"]])[0]} for d in DOCS])
		server.encoder = encoder
		yield server


def test_R2_vectors_of_the_client(external):
	vector = external.encoder.encode([DOCS[3]["text"]])[0]
	for mode in ("dense", "hybrid", None):
		hits = external.result("retrieve", {"query": "bread flour", "mode": mode,
			"x-rcpd-vector": vector})["hits"]
		assert hits[0]["chunk"]["docId"] == "bread" and "dense" in hits[0]["scores"]
	hits = external.result("retrieve", {"query": "bread flour"})["hits"]
	assert set(hits[0]["scores"]) == {"sparse"}
	assert external.result("info")["capabilities"]["retrieve"]["defaultMode"] == "sparse"
	result = external.result("retrieve", {"query": "bread flour", "mode": "hybrid"})
	assert result["hits"] and result["usage"]["notes"]
	answer = external.rpc("retrieve", {"query": "bread flour", "mode": "dense"})
	assert (answer.code, answer.field) == (-32602, "x-rcpd-vector")
	answer = external.rpc("retrieve", {"query": "bread", "x-rcpd-vector": [1.0] * 15})
	assert (answer.code, answer.field) == (-32602, "x-rcpd-vector")


# ---- no model at all ----

def test_D40_without_a_model_there_is_one_mode(rcpd):
	server = rcpd("--model", "none")
	fill(server, DOCS)
	info = server.result("info")
	assert info["_meta"]["conformance"] == "L0"
	offered = info["capabilities"]["retrieve"]
	assert offered["modes"] == ["sparse"] and offered["defaultMode"] == "sparse"
	assert (offered["scoreScale"], offered["scoreFloor"]) == ("bm25", 0)
	assert not {"fusion", "mmr", "rerankBuiltin"} & set(offered)
	assert set(server.result("retrieve", {"query": "car"})["hits"][0]["scores"]) == {"sparse"}
	for params, option in (({"mode": "dense"}, "dense"), ({"mode": "hybrid"}, "hybrid"),
			({"fusion": {"method": "rrf"}}, "fusion"), ({"rerank": {"topN": 30}}, "rerank"),
			({"mmr": {"lambda": 0.5}}, "mmr"), ({"includeVectors": True}, "includeVectors")):
		answer = server.rpc("retrieve", {"query": "car", **params})
		assert (answer.code, answer.option) == (-32005, option)
		result = server.result("retrieve", {"query": "car", "strict": False, **params})
		assert docs(result)[0] in ("cars", "garage") and result["usage"]["notes"]
