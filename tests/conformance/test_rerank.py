"""X4, D22, C1, C5: rerank; in process, and by models over HTTP."""
import math
import time

import pytest

from lib import MARKER, SCALE, wait_until
from lib.model_server import ModelServer, bare_nan, status

PASSAGES = [f"cooking pasta {MARKER}", "a red fox ran over the hill", "", "the fox is red",
	"stock markets fell"]


def check(result, n, top=None):
	"""scores of all, order and results of the best, in one order (D22)."""
	scores, order = result["scores"], result["order"]
	assert len(scores) == n and all(isinstance(s, float) and math.isfinite(s) for s in scores)
	assert order == sorted(range(n), key=lambda i: (-scores[i], i))[:n if top is None else top]
	assert result["results"] == [{"index": i, "score": scores[i]} for i in order]


def test_X4_D22_scores_by_index_and_the_order_of_the_best(peer):
	result = peer.call("rerank", {"query": "red fox", "passages": PASSAGES}).result
	check(result, len(PASSAGES))
	assert set(result["order"][:2]) == {1, 3}
	result = peer.call("rerank", {"query": ["red", "fox"], "documents": PASSAGES, "topN": 2,
		"method": "colbert"}).result
	check(result, len(PASSAGES), 2)
	blocks = [{"type": "text", "text": p} for p in PASSAGES]
	again = peer.call("rerank", {"query": {"type": "text", "text": "red fox"}, "passages": blocks,
		"documents": ["other"], "topN": 100}).result
	check(again, len(PASSAGES))
	check(peer.call("rerank", {"query": "red fox", "passages": []}).result, 0)


def test_X4_the_same_passages_have_the_same_scores_in_any_company(peer):
	all_at_once = peer.call("rerank", {"query": "red fox", "passages": PASSAGES}).result["scores"]
	backwards = peer.call("rerank", {"query": "red fox", "passages": PASSAGES[::-1]}).result["scores"]
	assert backwards == all_at_once[::-1]


@pytest.mark.parametrize("params, code, where", [
	({"passages": ["x"]}, -32602, "query"),
	({"query": "q"}, -32602, "passages"),
	({"query": "q", "passages": {}}, -32602, "passages"),
	({"query": "q", "documents": ["x", 3]}, -32602, "documents[1]"),
	({"query": "q", "passages": ["x"], "topN": 0}, -32602, "topN"),
	({"query": "q", "passages": ["x"], "topN": 1.5}, -32602, "topN"),
	({"query": "q", "passages": ["x"], "method": "llm"}, -32005, "llm"),
	({"query": "q", "passages": ["x"], "method": "magic"}, -32005, "magic"),
	({"query": "q", "passages": ["x"], "model": "other"}, -32005, "other"),
	({"query": "q", "passages": [{"type": "image", "mimeType": "image/png", "data": "AA=="}]},
		-32005, "image")])
def test_X4_C1_M13_what_is_wrong_is_named(peer, params, code, where):
	answer = peer.call("rerank", params)
	assert answer.code == code
	assert where in (answer.field, answer.option)


def test_X4_C1_another_method_is_taken_if_strict_is_false(peer):
	result = peer.call("rerank", {"query": "red fox", "passages": PASSAGES,
		"method": "cross-encoder", "strict": False}).result
	check(result, len(PASSAGES))
	assert result["usage"]["notes"]


def test_X4_C5_D12_more_passages_than_maxCandidates(peer):
	caps = peer.call("info", {}).result["capabilities"]["rerank"]
	assert len(caps["methods"]) == len(caps["models"]) and "colbert" in caps["methods"]
	n = caps["maxCandidates"]
	assert peer.call("rerank", {"query": "q", "passages": ["fox"] * (n + 1)}).code == -32013
	check(peer.call("rerank", {"query": "q", "passages": ["fox"] * n, "topN": 3}).result, n, 3)


# ---- long work ----

def test_T6_X4_progress_while_passages_are_scored(rcpd):
	server = rcpd(env={"RCPD_FAULTS": "rerank.passage=stall:10"})
	params = {"query": "red fox", "passages": PASSAGES * 20}
	with server.sse("rerank", params, token="t") as stream:
		frames = stream.rest()
	progress = [f["params"] for f in frames[:-1]]
	assert len(progress) >= 3 and {p["stage"] for p in progress} == {"rerank"}
	assert [p["progress"] for p in progress] == sorted(p["progress"] for p in progress)
	assert frames[0].at < frames[-1].at - 0.3, "the first frame waited for the end"
	check(frames[-1].result, 100)


def test_L6_X4_a_cancel_in_the_middle_is_answered_at_once(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "rerank.passage=stall:20"})
	server.send(server.message("rerank", {"query": "red fox", "passages": PASSAGES * 100}, id=1))
	time.sleep(0.2)
	started = time.monotonic()
	assert server.rpc("notifications/cancel", {"id": 1}, id=None) is None
	answer = server.recv_id(1)
	assert answer.code == -32006
	assert time.monotonic() - started < 0.05 * SCALE + 0.05
	wait_until(lambda: server.dump()["inflight"] == 0, what="the worker")


def test_L7_X4_the_deadline_holds(rcpd):
	server = rcpd(env={"RCPD_FAULTS": "rerank.passage=stall:20"})
	answer = server.rpc("rerank", {"query": "red fox", "passages": PASSAGES * 100,
		"_meta": {"deadlineMs": 150}})
	assert answer.code == -32014


# ---- over HTTP ----

def remote(models, **more):
	return {"RCPD_RERANKER": "tei", "RCPD_RERANKER_URL": models.url("/rerank"),
		"RCPD_LLM": "openai", "RCPD_LLM_URL": models.url("/v1/chat/completions"),
		"RCPD_LLM_MODEL": "big", "RCPD_MODEL_RETRIES": "0", **more}


def test_X4_a_cross_encoder_and_a_language_model(rcpd):
	with ModelServer(encoder="hash") as models:
		server = rcpd(env=remote(models))
		caps = server.result("info")["capabilities"]["rerank"]
		assert set(caps["methods"]) == {"colbert", "cross-encoder", "llm"}
		params = {"query": "red fox", "passages": [p for p in PASSAGES if p]}
		for method, path in ((None, "/rerank"), ("cross-encoder", "/rerank"),
				("llm", "/v1/chat/completions")):
			before = models.count(path)
			result = server.result("rerank", {**params, "method": method})
			check(result, 4)
			assert set(result["order"][:2]) == {1, 2}
			assert models.count(path) > before
		model = dict(zip(caps["methods"], caps["models"]))["llm"]
		before = models.count("/v1/chat/completions")
		check(server.result("rerank", {**params, "method": "llm", "model": model}), 4)
		assert models.count("/v1/chat/completions") > before


@pytest.mark.parametrize("act", [status(500), bare_nan()], ids=["500", "NaN"])
def test_X4_RET_04_a_model_that_fails_is_unavailable(rcpd, act):
	with ModelServer(encoder="hash") as models:
		server = rcpd(env=remote(models))
		models.always(act)
		for method in ("cross-encoder", "llm"):
			answer = server.rpc("rerank", {"query": "q", "passages": ["a", "b"], "method": method})
			assert answer.code == -32010
		check(server.result("rerank", {"query": "q", "passages": ["a"], "method": "colbert"}), 1)
