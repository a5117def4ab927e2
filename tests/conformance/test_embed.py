"""X1, X2, X3, D32, D42: embed, embed/sparse and embed/multi; models over HTTP."""
import base64
import math
import random
import struct
import subprocess

import pytest

from lib import MARKER, SCALE
from lib.corpus import fill
from lib.model_server import ModelServer, status
from lib.process import clean_environment, rcpd_path

TEXTS = ["a red fox ran", "the quick brown fox jumps", "vector search", "Suchmaschine f\u00fcr Texte"]


def capabilities(peer):
	return peer.call("info", {}).result["capabilities"]


def decode(text):
	raw = base64.b64decode(text, validate=True)
	return struct.unpack(f"<{len(raw) // 4}f", raw)


def norm(vector):
	return math.sqrt(sum(x * x for x in vector))


# ---- X1 ----

def test_X1_one_vector_an_input_in_order(peer):
	result = peer.call("embed", {"inputs": TEXTS}).result
	caps = capabilities(peer)["embed"]
	assert caps["normalized"] is True and caps["modalities"] == ["text"] and caps["identity"]
	assert result["dimension"] == caps["dimension"]
	assert [len(v) for v in result["vectors"]] == [caps["dimension"]] * len(TEXTS)
	assert all(abs(norm(v) - 1) < 1e-5 for v in result["vectors"])
	for text, vector in zip(TEXTS, result["vectors"]):
		alone = peer.call("embed", {"inputs": [{"type": "text", "text": text}], "kind": "query"})
		assert alone.result["vectors"] == [vector]


def test_X1_base64_is_the_same_numbers(peer):
	numbers = peer.call("embed", {"inputs": TEXTS}).result["vectors"]
	result = peer.call("embed", {"inputs": TEXTS, "encoding": "f32-base64"}).result
	assert result["encoding"] == "f32-base64"
	assert result["dimension"] == len(numbers[0])
	for text, vector in zip(result["vectors"], numbers):
		assert decode(text) == struct.unpack(f"<{len(vector)}f", struct.pack(f"<{len(vector)}f", *vector))


def test_X1_D32_inputs_win_over_texts(peer):
	want = peer.call("embed", {"inputs": ["red fox"]}).result
	assert peer.call("embed", {"texts": ["red fox"]}).result == want
	assert peer.call("embed", {"inputs": ["red fox"], "texts": ["blue", "bird"]}).result == want
	assert peer.call("embed", {"inputs": None, "texts": ["red fox"], "kind": None}).result == want
	assert peer.call("embed", {"inputs": []}).result["vectors"] == []


@pytest.mark.parametrize("params, code, where", [
	({}, -32602, "inputs"),
	({"inputs": "x"}, -32602, "inputs"),
	({"texts": ["x", 5]}, -32602, "texts[1]"),
	({"inputs": ["x", None]}, -32602, "inputs[1]"),
	({"inputs": ["x"], "kind": "both"}, -32602, "kind"),
	({"inputs": ["x"], "encoding": "f16"}, -32005, "f16"),
	({"inputs": [{"type": "image", "mimeType": "image/png", "data": "AA=="}]}, -32005, "image")])
@pytest.mark.parametrize("method", ["embed", "embed/multi"])
def test_X1_X3_M13_what_is_wrong_is_named(peer, method, params, code, where):
	answer = peer.call(method, params)
	assert answer.code == code
	assert where in (answer.field, answer.option)


def test_X1_an_encoding_that_is_not_offered_is_dropped_if_strict_is_false(peer):
	result = peer.call("embed", {"inputs": ["fox"], "encoding": "f16", "strict": False}).result
	assert "encoding" not in result and abs(norm(result["vectors"][0]) - 1) < 1e-5


@pytest.mark.parametrize("method", ["embed", "embed/sparse", "embed/multi"])
def test_C5_D12_more_inputs_than_batchLimit(peer, method):
	limit = capabilities(peer)["embed"]["batchLimit"]
	assert peer.call(method, {"inputs": ["fox"] * (limit + 1)}).code == -32013
	assert "result" in peer.call(method, {"inputs": ["fox"] * limit})


@pytest.mark.parametrize("text", ["", "  \n", "\0", "\ufeff"])
def test_RET_04_a_text_with_nothing_in_it_has_no_vector(peer, text):
	answer = peer.call("embed", {"inputs": ["fox", text]})
	assert (answer.code, answer.field) == (-32602, "inputs[1]")


def test_RET_04_any_text_has_a_good_vector_or_none(peer):
	draw = random.Random(5)
	ranges = [(0x20, 0x7f), (0xa0, 0x250), (0x400, 0x500), (0x4e00, 0x4f00), (0x1f600, 0x1f640)]
	for _ in range(100):
		low, high = draw.choice(ranges)
		text = "".join(chr(draw.randrange(low, high)) for _ in range(draw.randrange(1, 40)))
		answer = peer.call("embed", {"inputs": [text]})
		if answer.code is None:
			assert abs(norm(answer.result["vectors"][0]) - 1) < 1e-5, text
		else:
			assert (answer.code, answer.field) == (-32602, "inputs[0]"), text


def test_X1_long_texts_are_taken(peer):
	text = f"fox {MARKER} " * 100_000
	assert abs(norm(peer.call("embed", {"inputs": [text]}).result["vectors"][0]) - 1) < 1e-5


def test_D42_identity_and_dimension_stay_as_the_corpus_grows(rcpd, tmp_path):
	server = rcpd(data=tmp_path / "data")
	before = server.result("info")["capabilities"]["embed"]
	vector = server.result("embed", {"inputs": ["red fox"]})
	fill(server)
	assert server.result("info")["capabilities"]["embed"] == before
	assert server.result("embed", {"inputs": ["red fox"]}) == vector
	server.stop()
	server = rcpd(data=tmp_path / "data")
	assert server.result("info")["capabilities"]["embed"] == before
	assert server.result("embed", {"inputs": ["red fox"]}) == vector


def test_L6_L7_a_deadline_ends_a_long_embed(rcpd):
	server = rcpd(env={"RCPD_FAULTS": "embed.input=stall:5000"})
	answer = server.rpc("embed", {"inputs": ["fox"], "_meta": {"deadlineMs": 100}})
	assert answer.code == -32014


# ---- X2 ----

def test_X2_weights_of_the_corpus_make_the_score_of_retrieve(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": [{"text": t} for t in TEXTS]})  # no titles
	assert server.result("info")["capabilities"]["sparseEmbed"]["identity"] == "x-rcpd-bm25"
	hit = server.result("retrieve", {"query": "quick fox", "mode": "sparse", "k": 1})
	document = hit["hits"][0]["text"]
	query = server.result("embed/sparse", {"texts": ["quick fox"], "kind": "query"})
	assert query["indexVersion"] == hit["indexVersion"]
	weights = server.result("embed/sparse", {"inputs": [document], "kind": "document"})["sparse"][0]
	for vector in (query["sparse"][0], weights):
		assert vector["indices"] == sorted(set(vector["indices"]))
		assert len(vector["indices"]) == len(vector["values"])
		assert all(0 <= i < 2 ** 31 for i in vector["indices"])
		assert all(v > 0 for v in vector["values"])
	of = dict(zip(weights["indices"], weights["values"]))
	q = query["sparse"][0]
	assert sum(v * of.get(i, 0) for i, v in zip(q["indices"], q["values"])) == \
		pytest.approx(hit["hits"][0]["score"], rel=1e-4)


def test_X2_a_term_has_the_same_index_everywhere(rcpd):
	one, two = rcpd(), rcpd()
	fill(one)
	a = one.result("embed/sparse", {"texts": ["fox"], "kind": "document"})["sparse"][0]
	b = two.result("embed/sparse", {"texts": ["fox", ""], "kind": "document"})["sparse"]
	assert len(a["indices"]) == 1
	assert b[1] == {"indices": [], "values": []}
	assert b[0]["indices"] in (a["indices"], [])


# ---- X3 ----

def test_X3_a_matrix_of_unit_rows(peer):
	caps = capabilities(peer)["multiVector"]
	result = peer.call("embed/multi", {"inputs": [TEXTS[1], "fox", ""]}).result
	assert caps["similarity"] == "cosine" and result["dimension"] == caps["dimension"]
	one, two, three = result["matrices"]
	assert len(one) >= 5 and len(two) >= 1 and three == []
	assert all(len(row) == caps["dimension"] and abs(norm(row) - 1) < 1e-5 for row in one + two)
	answer = peer.call("embed/multi", {"texts": ["fox"], "encoding": "f32-base64"})
	assert (answer.code, answer.option) == (-32005, "f32-base64")  # the schema has numbers alone


def test_X3_D12_too_many_numbers_for_one_answer(peer):
	limit = capabilities(peer)["embed"]["batchLimit"]
	text = " ".join(f"word{i}" for i in range(4000))
	assert peer.call("embed/multi", {"inputs": [text] * limit}).code == -32013


# ---- models over HTTP ----

def remote(models, **more):
	return {"RCPD_EMBEDDER": "openai", "RCPD_EMBEDDER_URL": models.url("/v1/embeddings"),
		"RCPD_EMBEDDER_MODEL": "m", "RCPD_EMBEDDER_DIMENSION": str(models.dimension),
		"RCPD_MODEL_RETRIES": "0", **more}


def test_X1_X7_an_embedder_over_http_serves_documents_queries_and_embed(rcpd):
	with ModelServer(encoder="hash") as models:
		server = rcpd(env=remote(models))
		caps = server.result("info")["capabilities"]["embed"]
		assert caps["dimension"] == models.dimension and caps["identity"].startswith("m")
		fill(server)
		vector = server.result("embed", {"inputs": ["red fox"]})["vectors"][0]
		assert abs(norm(vector) - 1) < 1e-5
		hits = server.result("retrieve", {"query": "fox", "mode": "dense", "k": 3})["hits"]
		assert hits and all(math.isfinite(h["score"]) for h in hits)
		texts = [t for r in models.requests for t in r.body["input"]]
		assert len(texts) > 3


def test_X7_nothing_is_written_while_the_embedder_is_down(rcpd):
	with ModelServer(encoder="hash") as models:
		server = rcpd(env=remote(models))
		models.always(status(500))
		answer = server.rpc("index/add", {"documents": [{"id": "a", "text": "lostword"}]})
		assert answer.code == -32010
		assert server.rpc("embed", {"inputs": ["fox"]}).code == -32010
		assert server.result("retrieve", {"query": "lostword", "mode": "sparse"})["hits"] == []


def test_X2_sparse_vectors_over_http(rcpd):
	with ModelServer(encoder="hash") as models:
		server = rcpd(env={"RCPD_SPARSE": "tei", "RCPD_SPARSE_URL": models.url("/embed_sparse")})
		result = server.result("embed/sparse", {"texts": ["fox fox hen", " "]})["sparse"]
		assert len(result) == 2 and result[1] == {"indices": [], "values": []}
		assert result[0]["indices"] == sorted(set(result[0]["indices"])) and result[0]["indices"]


# ---- which model ----

def test_C1_without_a_model_there_is_no_embed(rcpd):
	server = rcpd("--model", "none")
	caps = server.result("info")["capabilities"]
	assert "embed" not in caps and "multiVector" not in caps and "rerank" not in caps
	for method in ("embed", "embed/multi"):
		assert server.rpc(method, {"inputs": ["fox"]}).code == -32003
	assert server.rpc("rerank", {"query": "fox", "passages": ["fox"]}).code == -32003
	fill(server)
	assert server.result("retrieve", {"query": "fox"})["hits"]
	assert server.result("embed/sparse", {"texts": ["fox"]})["sparse"][0]["indices"]


def run(*args, env=None):
	return subprocess.run([rcpd_path(), *map(str, args)], env=clean_environment(env), text=True,
		capture_output=True, timeout=20 * SCALE, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("file", [None, "tokenizer.json", "model.safetensors"])
def test_daemon_a_broken_model_stops_the_start(tmp_path, file):
	folder = tmp_path / "model"
	if file:
		folder.mkdir()
		(folder / file).write_text("{}")
	for extra in ([], ["--check-config"]):
		done = run("--data", tmp_path / "data", "--listen", "127.0.0.1:0", "--model", folder, *extra)
		assert done.returncode == 2, done
		assert done.stderr.startswith("rcpd: model: "), done.stderr


def test_daemon_a_missing_key_file_stops_the_start(tmp_path):
	env = {"RCPD_RERANKER": "tei", "RCPD_RERANKER_URL": "http://127.0.0.1:1/rerank",
		"RCPD_RERANKER_KEY_FILE": str(tmp_path / "nothing")}
	done = run("--data", tmp_path / "data", "--listen", "127.0.0.1:0", env=env)
	assert done.returncode == 2 and done.stderr.startswith("rcpd: reranker: "), done


# ---- x-rcpd-vector ----

def test_X7_vectors_that_clients_bring(rcpd):
	server = rcpd(env={"RCPD_EMBEDDER": "external", "RCPD_EMBEDDER_DIMENSION": "3"})
	caps = server.result("info")["capabilities"]
	assert caps["x-rcpd-vector"] == {"dimension": 3, "identity": "x-rcpd-external", "documents": True}
	assert "embed" not in caps
	server.result("index/add", {"documents": [
		{"id": "x", "text": "one", "x-rcpd-vector": [1, 0, 0]},
		{"id": "y", "text": "two", "x-rcpd-vector": [0, 2.5, 0]},
		{"id": "none", "text": "three"}]})
	hits = server.result("retrieve", {"query": "q", "mode": "dense",
		"x-rcpd-vector": [0.1, 1, 0]})["hits"]
	assert [h["chunk"]["docId"] for h in hits] == ["y", "x"]


@pytest.mark.parametrize("vector, path", [([1, 2], ""), ([0, 0, 0], ""), ("AAAA", ""),
	([1, 2, "3"], "[2]"), ([1e39, 1, 1], "[0]"), ([1, 2, None], "[2]")])
def test_X7_RET_04_bad_vectors_are_refused(rcpd, vector, path):
	server = rcpd(env={"RCPD_EMBEDDER": "external", "RCPD_EMBEDDER_DIMENSION": "3"})
	answer = server.rpc("index/add", {"documents": [{"text": "ok"},
		{"text": "bad", "x-rcpd-vector": vector}]})
	assert (answer.code, answer.field) == (-32602, "documents[1].x-rcpd-vector" + path)
	assert server.result("retrieve", {"query": "ok", "mode": "sparse"})["hits"] == []


def test_X7_a_vector_where_the_server_makes_them(peer):
	answer = peer.call("index/add", {"documents": [{"text": "x", "x-rcpd-vector": [1, 2, 3]}]})
	assert (answer.code, answer.option) == (-32005, "x-rcpd-vector")
