"""L6, L7, D17: cancel, deadlines, one answer each; RPC-02 and RPC-03."""
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib import MARKER, SCALE, wait_until
from lib.corpus import fill

STALL = {"RCPD_FAULTS": "retrieve.recall=stall:5000"}


def cancel(server, id, reason="enough", **kw):
	assert server.rpc("notifications/cancel", {"id": id, "reason": reason}, id=None, **kw) is None


@pytest.mark.parametrize("id", [7, "seven", 7.5])
def test_L6_a_cancel_ends_a_request_soon_over_stdio(rcpd_stdio, id):
	server = rcpd_stdio(initialize=True, env=STALL)
	server.send(server.message("retrieve", {"query": f"x {MARKER}"}, id=id))
	time.sleep(0.1)
	started = time.monotonic()
	cancel(server, id)
	answer = server.recv_id(id)
	assert answer.code == -32006
	assert time.monotonic() - started < 1.0 * SCALE
	assert server.quiet()


def test_L6_a_cancel_tells_ids_of_two_types_apart(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "retrieve.recall=stall:600"})
	server.send(server.message("retrieve", {"query": "x"}, id=1))
	server.send(server.message("retrieve", {"query": "x"}, id="1"))
	time.sleep(0.1)
	cancel(server, "1")
	first, second = server.recv(), server.recv()
	assert (first["id"], first.code) == ("1", -32006)
	assert (second["id"], second.code) == (1, None)


def test_L6_unknown_and_answered_ids_do_nothing(peer):
	assert peer.call("ping", {}, id="done").result == {}
	for id in ("done", "never", 12345, 0, ""):
		peer.raw('{"jsonrpc":"2.0","method":"notifications/cancel","params":{"id":%s}}'
			% (id if isinstance(id, int) else f'"{id}"'))
	assert peer.call("ping", {}, id="done").result == {}


def test_L6_L7_a_cancel_repeated_gives_one_answer(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env=STALL)
	server.send(server.message("retrieve", {"query": "x"}, id=1))
	for _ in range(20):
		cancel(server, 1)
	assert server.recv().code == -32006
	assert server.quiet()


def test_L6_a_request_that_waits_for_a_worker_is_cancelled_too(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={**STALL, "RCPD_WORKERS": "1",
		"RCPD_FAULTS": "retrieve.recall=stall:2500"})
	for id in ("first", "second"):
		server.send(server.message("retrieve", {"query": "x"}, id=id))
	time.sleep(0.1)
	started = time.monotonic()
	cancel(server, "second")
	answer = server.recv()
	assert (answer["id"], answer.code) == ("second", -32006)
	assert time.monotonic() - started < 1.5 * SCALE
	cancel(server, "first")
	assert server.recv().code == -32006


def test_L6_cancel_against_answer_races_give_one_answer_each(rcpd_stdio):
	server = rcpd_stdio(initialize=True)
	fill(server)
	for i in range(200):
		server.send(server.message("retrieve", {"query": "fox"}, id=i))
		cancel(server, i)
	answers = [server.recv() for _ in range(200)]
	assert sorted(a["id"] for a in answers) == list(range(200))
	assert {a.code for a in answers} <= {None, -32006}
	assert server.quiet()


def start(server, **headers):
	"""A slow retrieve (id 7) in a thread; returns the thread and where its answer goes."""
	box = []
	thread = threading.Thread(target=lambda: box.append(
		server.rpc("retrieve", {"query": f"x {MARKER}"}, id=7, headers=headers)))
	thread.start()
	wait_until(lambda: server.dump()["inflight"] >= 1, what="the request")
	return thread, box


def test_L6_D17_RPC_03_over_http_a_cancel_reaches_its_own_session_only(rcpd):
	server = rcpd("--sessions", "token", env={"RCPD_FAULTS": "retrieve.recall=stall:2500"})
	a, b = (server.result("initialize", {"protocolVersion": 1})["_meta"]["session"] for _ in range(2))
	thread, box = start(server, **{"RCP-Session": a})
	cancel(server, 7, headers={"RCP-Session": b})
	cancel(server, 7)
	cancel(server, "7", headers={"RCP-Session": a})
	time.sleep(0.3)
	assert thread.is_alive(), box
	cancel(server, 7, headers={"RCP-Session": a})
	thread.join(1.5 * SCALE)
	assert not thread.is_alive()
	assert box[0].code == -32006


def test_L6_D17_without_a_session_a_cancel_over_http_does_nothing(rcpd):
	server = rcpd(env={"RCPD_FAULTS": "retrieve.recall=stall:600"})
	thread, box = start(server)
	cancel(server, 7)
	thread.join(10 * SCALE)
	assert box[0].code is None


def test_D17_T7_a_dropped_connection_cancels(rcpd):
	server = rcpd(env=STALL)
	body = b'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x"}}'
	for reset in (False, True):
		s = server.raw()
		s.sendall(b"POST /rcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
			b"Content-Length: %d\r\n\r\n" % len(body) + body)
		wait_until(lambda: server.dump()["inflight"] == 1, what="the request")
		if reset:
			import socket
			import struct
			s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		s.close()
		started = time.monotonic()
		wait_until(lambda: server.dump()["inflight"] == 0, timeout=3, what="the cancel")
		assert time.monotonic() - started < 2 * SCALE


def test_L7_a_deadline_gives_a_timeout(rcpd, rcpd_stdio):
	for server in (rcpd(env=STALL), rcpd_stdio(initialize=True, env=STALL)):
		started = time.monotonic()
		answer = server.rpc("retrieve", {"query": "x", "_meta": {"deadlineMs": 150}})
		assert answer.code == -32014
		assert 0.1 < time.monotonic() - started < 1.5 * SCALE


def test_L7_a_deadline_also_holds_while_waiting_for_a_worker(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_WORKERS": "1",
		"RCPD_FAULTS": "retrieve.recall=stall:2000"})
	server.send(server.message("retrieve", {"query": "x"}, id="first"))
	started = time.monotonic()
	server.send(server.message("retrieve", {"query": "x", "_meta": {"deadlineMs": 200}}, id="second"))
	answer = server.recv()
	assert (answer["id"], answer.code) == ("second", -32014)
	assert time.monotonic() - started < 1.5 * SCALE
	assert server.recv().code is None


def test_L7_D21_the_servers_own_deadline_cannot_be_raised(rcpd):
	server = rcpd(env={**STALL, "RCPD_DEADLINE_MS": "300"})
	for meta in ({}, {"deadlineMs": 60_000}, {"deadlineMs": None}):
		started = time.monotonic()
		assert server.rpc("retrieve", {"query": "x", "_meta": meta}).code == -32014
		assert time.monotonic() - started < 2 * SCALE


@pytest.mark.parametrize("value", [0, -1, "100", 1.5, [], True])
def test_L7_a_malformed_deadline_is_refused_or_ignored(peer, value):
	answer = peer.call("retrieve", {"query": "x", "_meta": {"deadlineMs": value}})
	assert answer.code in (None, -32602, -32014)
	if answer.code == -32602:
		assert answer.field == "_meta.deadlineMs"


@pytest.mark.parametrize("point", ["retrieve.transform", "retrieve.recall", "retrieve.pack"])
def test_L7_a_deadline_is_kept_at_every_stage(rcpd_stdio, point):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": f"{point}=stall:4000"})
	started = time.monotonic()
	answer = server.rpc("retrieve", {"query": "fox", "_meta": {"deadlineMs": 100}})
	assert answer.code == -32014
	assert time.monotonic() - started < 1.5 * SCALE


def test_L6_a_cancelled_write_leaves_all_or_nothing(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "index.add=stall:3000"})
	documents = [{"id": f"c{i}", "text": f"cancelledword {MARKER}"} for i in range(20)]
	server.send(server.message("index/add", {"documents": documents}, id="add"))
	time.sleep(0.1)
	cancel(server, "add")
	answer = server.recv_id("add")
	hits = server.result("retrieve", {"query": "cancelledword", "k": 50})["hits"]
	assert len(hits) == (0 if answer.code == -32006 else 20)


def test_RPC_02_fifty_clients_with_the_same_id_and_token(rcpd):
	server = rcpd()
	words = [f"rare{i:02d}q" for i in range(50)]
	server.result("index/add", {"documents": [{"id": w, "text": f"{w} {MARKER}"} for w in words]})

	def one(word):
		with server.sse("retrieve", {"query": word, "mode": "sparse"}, id=1, token="t") as stream:
			frames = stream.rest()
		assert all(f["params"]["progressToken"] == "t" for f in frames[:-1])
		for frame in frames[:-1]:
			for hit in frame["params"].get("partial", {}).get("hits", []):
				assert hit["id"] == f"{word}#0"
		return frames[-1]["id"], [h["chunk"]["docId"] for h in frames[-1].result["hits"]]

	with ThreadPoolExecutor(50) as pool:
		for word, (id, hits) in zip(words, pool.map(one, words)):
			assert (id, hits) == (1, [word])


def test_RPC_02_equal_ids_in_flight_over_stdio_are_each_answered(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "retrieve.recall=stall:100"})
	for _ in range(10):
		server.send(server.message("retrieve", {"query": "x"}, id=1))
	answers = [server.recv() for _ in range(10)]
	assert all(a["id"] == 1 for a in answers)
	assert server.quiet()
