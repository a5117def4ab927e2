"""D42, D44: the corpus's own space is fitted in the background, and a corpus moves to
another model while it is used: x-rcpd/reembed."""
import threading
import time

import pytest

from lib import SCALE, wait_until
from lib.model_server import ModelServer

WORDS = "river mountain engine pressure wing flow heat metal vector search index cell protein gene".split()
COUNT = 700
DIMENSION = 48


def text_of(i):
	return " ".join(WORDS[(i * k + i // 7) % len(WORDS)] + str(i * k % 31) for k in range(1, 9))


def fill(server, count=COUNT, start=0):
	for first in range(start, start + count, 100):
		server.result("index/add", {"documents": [
			{"id": f"d{i}", "text": text_of(i)} for i in range(first, first + 100)]})


def state(server):
	return server.result("x-rcpd/reembed", {"start": False})


def wait_for_fit(server, number=1):
	wait_until(lambda: state(server)["modelFit"] >= number and state(server)["job"] == "idle", 60)


def test_fit_in_the_background(rcpd, tmp_path):
	"""REQ: D42 R9: a fit comes by itself, gives a new version, changes neither identity nor
	dimension, survives a restart; a pinned version keeps the answers that it had."""
	server = rcpd(data=tmp_path)
	embed = server.result("info")["capabilities"]["embed"]
	fill(server)
	first = server.result("retrieve", {"query": text_of(5), "k": 5, "mode": "dense"})
	before = server.result("retrieve", {"query": text_of(5), "k": 5, "mode": "dense",
		"indexVersion": first["indexVersion"]})
	assert before["hits"] == first["hits"]
	wait_for_fit(server)
	after = server.result("retrieve", {"query": text_of(5), "k": 5, "mode": "dense"})
	assert after["_meta"]["modelFit"] == 1
	assert after["indexVersion"] != first["indexVersion"]
	assert after["hits"][0]["id"] == "d5#0"
	pinned = server.result("retrieve", {"query": text_of(5), "k": 5, "mode": "dense",
		"indexVersion": first["indexVersion"]})
	assert pinned["hits"] == first["hits"]
	assert "modelFit" not in pinned.get("_meta", {})
	assert server.result("info")["capabilities"]["embed"] == embed
	server.stop()
	server = rcpd(data=tmp_path)
	again = server.result("retrieve", {"query": text_of(5), "k": 5, "mode": "dense"})
	assert again["hits"] == after["hits"]
	assert again["indexVersion"] == after["indexVersion"]
	assert not state(server)["fitDue"]


def test_refit_when_it_has_doubled(rcpd, tmp_path):
	server = rcpd(data=tmp_path)
	fill(server)
	wait_for_fit(server)
	fill(server, COUNT - 100, COUNT)
	assert not state(server)["fitDue"]
	fill(server, 100, 2 * COUNT - 100)
	assert state(server)["fitDue"] or state(server)["modelFit"] == 2
	wait_for_fit(server, 2)
	hit = server.result("retrieve", {"query": text_of(1399), "k": 1, "mode": "dense"})["hits"][0]
	assert hit["id"] == "d1399#0"


def test_fit_survives_kill(rcpd, tmp_path):
	"""A fit that a kill interrupts is made anew; nothing that was written is missed."""
	server = rcpd(data=tmp_path)
	fill(server)
	wait_until(lambda: state(server)["job"] == "fit", 30)
	server.kill()
	server = rcpd(data=tmp_path)
	wait_for_fit(server)
	for i in (0, 350, 699):
		assert server.result("retrieve", {"query": text_of(i), "k": 1, "mode": "dense"})["hits"][0]["id"] == f"d{i}#0"


def test_without_fit(rcpd, tmp_path):
	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	fill(server)
	assert not state(server)["fitDue"]
	assert server.result("retrieve", {"query": text_of(9), "k": 1, "mode": "dense"})["hits"][0]["id"] == "d9#0"


@pytest.fixture
def models():
	with ModelServer(encoder="hash", dimension=DIMENSION) as server:
		yield server


def remote(models):
	return {"RCPD_EMBEDDER": "openai", "RCPD_EMBEDDER_URL": models.url("/v1/embeddings"),
		"RCPD_EMBEDDER_MODEL": "hash", "RCPD_EMBEDDER_DIMENSION": str(DIMENSION)}


def test_move_to_a_remote_model_and_back(rcpd, tmp_path, models):
	"""REQ: D44: the corpus has the local vectors, gets those of a model over HTTP while it is
	read and written, and goes back."""
	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	fill(server)
	local = state(server)["identity"]
	server.stop()

	server = rcpd(data=tmp_path, env=remote(models))
	assert state(server)["identity"] == local  # the old vectors answer until then
	assert server.result("retrieve", {"query": text_of(3), "k": 1, "mode": "dense"})["hits"][0]["id"] == "d3#0"
	stop = threading.Event()
	written = []

	def write():
		while not stop.is_set():
			i = COUNT + len(written)
			server.rpc("index/add", {"documents": [{"id": f"d{i}", "text": text_of(i)}]})
			server.rpc("index/delete", {"ids": [f"d{i - COUNT}"]})
			written.append(i)
			time.sleep(0.02)

	thread = threading.Thread(target=write)
	thread.start()
	try:
		moved = server.result("x-rcpd/reembed", {"waitMs": int(20000 * SCALE)})
	finally:
		stop.set()
		thread.join()
	assert moved["state"] == "done", moved
	assert moved["identity"] != local and moved["dimension"] == DIMENSION
	assert written
	for i in (written[0], written[-1], COUNT - 1):
		assert server.result("retrieve", {"query": text_of(i), "k": 1, "mode": "dense"})["hits"][0]["id"] == f"d{i}#0"
	# Nothing is left to do, and says so.
	asked = len(models.requests)
	assert server.result("x-rcpd/reembed", {"waitMs": 1000})["state"] == "done"
	assert len(models.requests) == asked
	server.stop()

	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	error = server.rpc("retrieve", {"query": text_of(650), "k": 1, "mode": "dense"}).error
	assert (error["code"], error["data"]["option"]) == (-32005, "dense")
	assert "x-rcpd/reembed" in error["message"]
	assert server.result("retrieve", {"query": text_of(650), "k": 1, "mode": "sparse"})["hits"]
	back = server.result("x-rcpd/reembed", {"waitMs": int(20000 * SCALE)})
	assert back["state"] == "done" and back["identity"] == local
	assert server.result("retrieve", {"query": text_of(650), "k": 1, "mode": "dense"})["hits"][0]["id"] == "d650#0"


def test_move_goes_on_after_kill(rcpd, tmp_path, models):
	"""REQ: D44: what was embedded before a kill is not embedded again."""
	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	fill(server)
	server.stop()
	server = rcpd(data=tmp_path, env=remote(models) | {"RCPD_EMBEDDER_BATCH": "16"})
	server.result("x-rcpd/reembed")
	wait_until(lambda: len(texts_sent(models)) > 100, 30)
	server.kill()
	first = len(texts_sent(models))
	assert first < COUNT
	server = rcpd(data=tmp_path, env=remote(models))
	moved = server.result("x-rcpd/reembed", {"waitMs": int(20000 * SCALE)})
	assert moved["state"] == "done"
	assert COUNT <= len(texts_sent(models)) <= COUNT + 128  # at most the batches that were under way


def texts_sent(models):
	found = []
	for request in list(models.requests):
		body = request.body
		found += body["input"] if isinstance(body, dict) and "input" in body else []
	return found


def test_documents_without_vectors_get_them(rcpd, tmp_path, models):
	"""A corpus without any vectors is opened with a model: its old documents lack them."""
	server = rcpd("--model", "none", data=tmp_path)
	fill(server, 100)
	server.stop()
	server = rcpd(data=tmp_path, env=remote(models))
	fill(server, 100, 100)
	dense = {"k": 1, "mode": "dense"}
	assert server.result("retrieve", {"query": text_of(150), **dense})["hits"][0]["id"] == "d150#0"
	assert server.result("retrieve", {"query": text_of(50), **dense})["hits"][0]["id"] != "d50#0"
	assert server.result("x-rcpd/reembed", {"waitMs": int(20000 * SCALE)})["state"] == "done"
	assert server.result("retrieve", {"query": text_of(50), **dense})["hits"][0]["id"] == "d50#0"


@pytest.mark.parametrize("config", [{"RCPD_EMBEDDER": "external", "RCPD_EMBEDDER_DIMENSION": "8"}, {"RCPD_MODEL": "none"}])
def test_nothing_to_move_to(rcpd, tmp_path, config):
	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	fill(server, 100)
	server.stop()
	server = rcpd(data=tmp_path, env=config)
	error = server.rpc("x-rcpd/reembed", {"waitMs": 5000}).error
	assert error["code"] == -32010 and error["data"]["retryable"] is False, error


def test_failing_models_are_told_to_the_operator(rcpd, tmp_path, models):
	server = rcpd(data=tmp_path, env=remote(models) | {"RCPD_MODEL_RETRIES": "0"})
	fill(server, 100)
	models.stop()
	for _ in range(3):
		assert server.rpc("retrieve", {"query": "river" + str(_), "k": 1}).error["code"] == -32010
	models.start()
	wait_until(lambda: "result" in server.rpc("retrieve", {"query": "mountain", "k": 1}), 30)
	said = [line for line in server.stderr.split("\n") if "a model over HTTP" in line]
	assert len(said) == 2 and "fails" in said[0] and "answers again" in said[1], said


def test_move_while_the_model_is_down(rcpd, tmp_path, models):
	server = rcpd(data=tmp_path, env={"RCPD_FIT": "no"})
	fill(server, 100)
	server.stop()
	models.stop()
	server = rcpd(data=tmp_path, env=remote(models) | {"RCPD_MODEL_RETRIES": "0"})
	failed = server.result("x-rcpd/reembed", {"waitMs": int(20000 * SCALE)})
	assert failed["state"] == "failing" and failed["failure"]
	assert server.result("retrieve", {"query": text_of(3), "k": 1, "mode": "dense"})["hits"][0]["id"] == "d3#0"
