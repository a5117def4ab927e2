"""Event streams: frames that leave at once, hang-ups, and streams by the thousand.

The ids in the names are those of rcp1.md (T…), decisions.md (D…) and cases.md
(SSE-…, RPC-…). A stage is made slow with the fault points of src/util/fault.h.
"""
import json
import socket
import threading
import time

import pytest

from lib import SCALE, wait_until
from lib.http import (Closed, Conn, Sse, eventually, http_request, post, process_state, request,
	search, settings, stall, tcp_states)

STAGES = ("transform", "recall", "pack")
ALL_STAGES = ("transform", "recall", "fuse", "rerank", "diversify", "pack")


def fill(port, n=30):
	"""Documents, each with a word of its own and one word in common."""
	docs = [{"id": "doc-%03d" % i, "text": "common rare%03d text of number %d" % (i, i)}
		for i in range(n)]
	assert "result" in post(port, request("index/add", {"documents": docs})).json()


@pytest.fixture(scope="module")
def filled(server):
	fill(server.port)
	return server


@pytest.fixture
def port(filled):
	return filled.port


def final(frames):
	"""The response frame; checks that it is the last, and the only one (T4)."""
	assert frames, "a stream without a frame"
	assert all("method" in f.json for f in frames[:-1]), frames
	assert "method" not in frames[-1].json
	return frames[-1].json


# ---- SSE is real ---------------------------------------------------------------


@pytest.mark.parametrize("stage", STAGES)
def test_T4_T6_D16_the_frame_of_a_stage_is_on_the_wire_while_the_stage_stalls(rcpd, stage):
	port = rcpd(env=stall(stage, 700)).port
	fill(port, 5)
	with Sse(port, search("common", token="tok")) as stream:
		seen = []
		while True:
			frame = stream.frame()
			seen.append(frame)
			if frame.progress is None or frame.progress["stage"] == stage:
				break
		assert frame.progress and frame.progress["stage"] == stage, seen
		assert frame.at - stream.sent_at < 0.35 * SCALE, "the frame waited for the stall"
		assert not stream.text and stream.conn.quiet_for(0.2), "nothing was stalling"
		rest = stream.frames()
		assert rest[0].at - frame.at > 0.4, "the frame came when the stall was over"
		assert "result" in final(rest)


def test_T6_partial_hits_come_before_the_last_stage(rcpd):
	port = rcpd(env=stall("pack", 700)).port
	fill(port, 5)
	with Sse(port, search("common", token=1, k=3)) as stream:
		partial = None
		while partial is None:
			frame = stream.frame()
			assert frame.progress, "no frame carried partial hits"
			partial = frame.progress.get("partial")
		assert frame.at - stream.sent_at < 0.35 * SCALE
		assert partial["hits"] and all({"id", "score"} <= set(h) for h in partial["hits"])
		result = final(stream.frames())["result"]
		assert {h["id"] for h in result["hits"]} <= {h["id"] for h in partial["hits"]}


def test_T4_headers_framing_and_end(port):
	with Sse(port, search("common"), headers=[("Accept", "text/event-stream"),
			("Accept-Encoding", "gzip, br")]) as s:
		head = s.open()
		assert head.status == 200 and head.media_type == "text/event-stream"
		assert "no-cache" in head.header("Cache-Control") and head.header(
				"X-Accel-Buffering") == "no"
		assert head.header("Content-Encoding") is None and head.header("Content-Length") is None
		frames = s.frames()
		final(frames)
		for f in frames:  # compact JSON
			compact = json.dumps(f.json, separators=(",", ":"), ensure_ascii=False)
			assert len(f.data.encode()) <= len(compact.encode()) + 16, f
		assert s.ended
		# The stream was chunked, so the connection goes on.
		s.conn.send(http_request(request("ping", id=2)))
		assert s.conn.response().json()["id"] == 2


def test_T4_an_http_1_0_client_reads_to_the_end(port):
	with Sse(port, search("common"), version="1.0") as s:
		assert s.open().header("Transfer-Encoding") is None
		assert "result" in final(s.frames())


@pytest.mark.parametrize("token", ["t", 0, 7, -1, "", "naïve 😀", "a\"b\\", 9007199254740991],
	ids=str)
def test_T6_token_is_echoed_and_progress_never_falls(port, token):
	with Sse(port, search("common", token=token)) as s:
		frames = s.frames()
	assert len(frames) >= 2, "no progress was told"
	last = 0.0
	for f in frames[:-1]:
		p = f.progress
		assert p["progressToken"] == token and type(p["progressToken"]) is type(token)
		assert last <= p["progress"] <= 1
		last = p["progress"]
		assert p["stage"] in ALL_STAGES
	order = [ALL_STAGES.index(f.progress["stage"]) for f in frames[:-1]]
	assert order == sorted(order)


def test_T6_D16_without_a_token_the_final_frame_comes_alone(port):
	with Sse(port, search("common", token=None)) as s:
		frames = s.frames()
	assert len(frames) == 1 and "result" in final(frames)


def plain(result):
	"""A result without what may differ between two calls."""
	result = dict(result)
	result.get("usage", {}).pop("latencyMs", None)
	result.pop("_meta", None)
	return result


def test_T5_buffered_answer_is_the_same(port):
	with Sse(port, search("common rare003")) as s:
		streamed = final(s.frames())
	buffered = post(port, search("common rare003"))
	assert buffered.media_type == "application/json" and buffered.header("Content-Length")
	assert plain(buffered.json()["result"]) == plain(streamed["result"]) and streamed["id"] == 1


# ---- D16, SSE-04: Accept -------------------------------------------------------

ACCEPTS = [
	([], False), (["*/*"], False), (["application/json"], False), (["text/event-stream"], True),
	(["application/json, text/event-stream"], True), (["text/event-stream, application/json"],
	True),
	(["text/event-stream;q=0"], False), (["text/event-stream; q=0.0, */*"], False),
	(["TEXT/EVENT-STREAM"], True), (["Text/Event-Stream ; Q=0.5"], True), (["text/*"], False),
	(["text/event-stream;q=0.5, application/json"], False),
	(["text/event-stream;q=0.9, application/json;q=0.8"], True),
	(["application/json;q=0.9,text/event-stream;q=0.9"], True),
	(["application/json", "text/event-stream"], True), (["text/event-streams"], False),
	(["x-text/event-stream"], False), (["text/event-stream;charset=utf-8"], True),
	(["text/html,application/xhtml+xml,*/*;q=0.8"], False), ([""], False), ([",,;q=1,"], False),
	(["text/event-stream;q=abc"], None), (["text/event-stream;q=1.5"], None),
]


@pytest.mark.parametrize("accept,sse", ACCEPTS, ids=lambda v: str(v))
@pytest.mark.parametrize("token", ["t", None])
def test_SSE04_D16_accept(port, accept, sse, token):
	with Conn(port) as c:
		r = c.post(search("common", token=token), headers=[("Accept", a) for a in accept])
		assert r.status == 200
		if sse is not None:
			assert r.media_type == ("text/event-stream" if sse else "application/json"), r
		if r.media_type == "application/json":
			assert "result" in r.json()
		else:
			assert r.body.startswith(b"data: {") and r.body.endswith(b"}\n\n")


def test_D16_batches_and_methods_that_do_not_stream(port):
	accept = [("Accept", "text/event-stream")]
	batch = post(port, [search("common", id=1), request("ping", id=2)], headers=accept)
	assert batch.status == 200
	if batch.media_type == "application/json":
		assert {m["id"] for m in batch.json()} == {1, 2}
	ping = post(port, request("ping", {"_meta": {"progressToken": 1}}), headers=accept)
	assert ping.status == 200
	if ping.media_type == "text/event-stream":
		assert ping.body.count(b"\n\n") == 1
	else:
		assert ping.json()["result"] == {}
	assert post(port, request("ping", id=None), headers=accept).status == 204


@pytest.mark.parametrize("body,status,code", [
	(b"{", 400, -32700), (b"5", 400, -32600), (search("x", k=-5), 200, -32602),
	(search(5), 200, -32602), (request("nope"), 200, -32004),
	(search("x", mode="telepathy"), 200, None),
	(search("x", candidateK=1, k=5), 200, -32602)], ids=str)
def test_T4_errors_before_the_stream_are_plain_answers(port, body, status, code):
	r = post(port, body, headers=[("Accept", "text/event-stream")])
	assert r.status == status and r.media_type == "application/json", r
	if code:
		assert r.error()["code"] == code
	else:
		assert r.error()["code"] in (-32005, -32602)


def test_T4_L7_errors_after_the_start_are_the_final_frame(rcpd):
	port = rcpd(env=stall("recall", 5000)).port
	fill(port, 3)
	with Sse(port, search("common", _meta={"deadlineMs": 300})) as s:
		frames = s.frames()
		assert final(frames)["error"]["code"] == -32014 and len(frames) >= 2
		assert 0.2 < frames[-1].at - s.sent_at < 1.5 * SCALE
	r = post(port, search("common", _meta={"deadlineMs": 200}))
	assert r.status == 200 and r.error()["code"] == -32014


# ---- SSE-05: heartbeats --------------------------------------------------------


def test_SSE05_T4_comments_keep_a_silent_stream_alive(rcpd):
	port = rcpd(env={**settings(heartbeat=1), **stall("recall", 3500)}).port
	fill(port, 3)
	with Sse(port, search("common")) as s:
		frames = s.frames()
	assert "result" in final(frames)
	assert 2 <= len(s.comments) <= 5, s.comments
	assert all(b <= 1.8 * SCALE for b in (b - a for a, b in zip(s.comments, s.comments[1:])))


# ---- T7, SSE-02: clients that leave --------------------------------------------


def leave(conn, how):
	if how == "reset":
		conn.abort()
	else:
		conn.close()


@pytest.mark.parametrize("how", ["fin", "reset"])
@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_T7_D17_a_client_that_hangs_up_cancels(rcpd, accept, how):
	server = rcpd(env={**settings(workers=1), **stall("recall", 8000, 1)})
	fill(server.port, 3)
	c = Conn(server.port)
	c.send(http_request(search("common"), headers=[("Accept", accept)]))
	wait_until(lambda: server.dump()["inflight"] == 1, what="the search to start")
	time.sleep(0.05)
	leave(c, how)
	left = time.monotonic()
	wait_until(lambda: server.dump()["inflight"] == 0, 3, what="the search to be cancelled")
	assert time.monotonic() - left < 1 * SCALE
	assert "result" in post(server.port, search("common"),
			timeout=2 * SCALE).json(), "its worker is free"


def test_T7_a_request_that_waits_in_the_queue_is_dropped_too(rcpd):
	server = rcpd(env={**settings(workers=1, queue=50), **stall("recall", 2500, 1)})
	fill(server.port, 3)
	first = Conn(server.port)
	first.send(http_request(search("common")))
	wait_until(lambda: server.dump()["inflight"] == 1)
	waiting = [Conn(server.port) for _ in range(20)]
	for c in waiting:
		c.send(http_request(search("common"), headers=[("Accept", "text/event-stream")]))
	wait_until(lambda: server.dump()["inflight"] == 21)
	for i, c in enumerate(waiting):
		leave(c, "reset" if i % 2 else "fin")
	wait_until(lambda: server.dump()["inflight"] == 1, 1.5, what="waiting requests to be dropped")
	assert "result" in first.response().json()
	first.close()


def test_SSE02_T7_200_clients_vanish_in_mid_stream(rcpd):
	server = rcpd(env={**settings(workers=8, queue=1000, heartbeat=1), **stall("recall", 20000)})
	fill(server.port, 3)
	server.wait_idle()
	before, gauges = process_state(server.pid), server.dump()
	streams = [Sse(server.port, search("common", id=i)) for i in range(200)]
	wait_until(lambda: server.dump()["streams"] == 200, what="all streams to be open")
	wait_until(lambda: server.dump()["pool_running"] == 8, what="all workers to be busy")
	for i, s in enumerate(streams):
		leave(s.conn, "reset" if i % 2 else "fin")
	left = time.monotonic()

	def gone():
		now = server.dump()
		return all(now[k] == 0 for k in ("requests", "inflight", "connections", "exchanges",
			"streams"))
	wait_until(gone, 6, what="200 vanished clients to be forgotten")
	assert time.monotonic() - left < 3 * SCALE
	assert tcp_states(server.port).get("CLOSE_WAIT", 0) == 0
	after = process_state(server.pid)
	assert after["fds"] <= before["fds"] and after["threads"] == before["threads"], (before, after)
	now = server.dump()
	now.pop("fds"), gauges.pop("fds")  # told above: the index may have let go of files
	assert now == gauges
	r = post(server.port, request("ping"))
	assert r.status == 200


def test_T4_1000_streams_at_once(rcpd):
	count = 1000
	server = rcpd(env={**settings(workers=4, queue=2000), **stall("recall", 2500, 4)})
	fill(server.port, 100)
	server.wait_idle()
	before = process_state(server.pid)
	streams = []
	try:
		for i in range(count):
			streams.append(Sse(server.port, search("rare%03d" % (i % 100), id=i, token=i),
				timeout=60 * SCALE))
		peak = wait_until(lambda: (g := server.dump())["streams"] == count and g, 10, 0.05,
			"1,000 streams to be open")
		assert peak["requests"] == count
		for i, s in enumerate(streams):
			frames = s.frames()
			assert all(f.progress["progressToken"] == i for f in frames[:-1])
			message = final(frames)
			assert message["id"] == i
			assert [h["chunk"]["docId"] for h in message["result"]["hits"]] == [
					"doc-%03d" % (i % 100)]
	finally:
		for s in streams:
			s.close()
	server.wait_idle()
	after = process_state(server.pid)
	assert after["fds"] <= before["fds"] and after["threads"] == before["threads"], (before, after)


# ---- SSE-03: fast streams, and the end of the daemon ---------------------------


def test_SSE03_many_streams_whose_worker_is_done_at_once(port):
	bad = []

	def work(n):
		try:
			with Conn(port) as c:
				for i in range(63):
					stream = Sse(port, search("common", id=i, token=n), conn=c)
					message = final(stream.frames())
					if message["id"] != i or "result" not in message:
						bad.append(message)
		except Exception as e:
			bad.append(e)
	threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
	for t in threads:
		t.start()
	for t in threads:
		t.join(60 * SCALE)
	assert not bad, bad[:3]


def test_SSE03_sigterm_with_50_suspended_streams(rcpd):
	server = rcpd(env={**settings(workers=4, queue=100, shutdown_grace=1),
		**stall("recall", 60000)})
	fill(server.port, 3)
	streams = [Sse(server.port, search("common", id=i)) for i in range(50)]
	wait_until(lambda: server.dump()["streams"] == 50)
	start = time.monotonic()
	server.proc.terminate()
	for i, s in enumerate(streams):
		try:
			frames = s.frames()
			if frames:
				message = final(frames)
				assert message["id"] == i and message["error"]["code"] in (-32006, -32010, -32014)
		except Closed:
			pass  # closed without a final frame: allowed at the end of the grace
		s.close()
	assert server.wait_exit(6) == 0
	assert time.monotonic() - start < 5 * SCALE


# ---- RPC-02, RPC-03, D17: ids and cancel ---------------------------------------


def test_RPC02_D17_50_clients_with_the_same_id_and_token(rcpd):
	port = rcpd(env={**settings(workers=8), **stall("recall", 20)}).port
	fill(port, 50)
	streams = [Sse(port, search("rare%03d" % i, id=1, token="t")) for i in range(50)]
	for i, s in enumerate(streams):
		frames = s.frames()
		assert [h["chunk"]["docId"] for h in final(frames)["result"]["hits"]] == ["doc-%03d" % i]
		for f in frames[:-1]:
			assert f.progress["progressToken"] == "t"
			for h in f.progress.get("partial", {}).get("hits", []):
				assert h["id"].startswith("doc-%03d" % i), "somebody else's frame"
		s.close()


def session_of(port):
	r = post(port, request("initialize", {"protocolVersion": 1}))
	return (r.json()["result"].get("_meta") or {}).get("session") or r.header("RCP-Session")


def cancel(port, id, session=None):
	headers = [("RCP-Session", session)] if session else []
	r = post(port, request("notifications/cancel", {"id": id}, id=None), headers=headers)
	assert r.status == 204 and r.body == b""


@pytest.mark.parametrize("mode", ["token", "stateless"])
def test_RPC03_D17_cancel_reaches_only_the_same_session(rcpd, mode):
	server = rcpd("--sessions", mode, env=stall("recall", 1200))
	port = server.port
	mine, other = session_of(port), session_of(port)
	assert mine and other, "initialize hands out a session (D17)"
	with Conn(port) as c:
		doc = {"documents": [{"id": "doc-000", "text": "common"}]}
		assert "result" in c.post(request("index/add", doc), headers=[("RCP-Session", mine)]).json()

	def slow():
		s = Sse(port, search("common", id=7), headers=[("RCP-Session", mine)])
		s.frame()
		return s
	with slow() as s:
		cancel(port, 7)          # no session
		cancel(port, 7, other)   # somebody else's
		cancel(port, "7", mine)  # another id
		cancel(port, 8, mine)
		assert "result" in final(s.frames()), "a stranger's cancel took effect"
	with slow() as s:
		start = time.monotonic()
		cancel(port, 7, mine)
		assert final(s.frames())["error"]["code"] == -32006
		assert time.monotonic() - start < 0.7 * SCALE
	cancel(port, 7, mine)  # long answered


def test_RPC03_cancel_of_a_buffered_call(rcpd):
	port = rcpd(env=stall("recall", 3000)).port
	session = session_of(port)
	with Conn(port) as c:
		c.send(http_request(search("x common", id="b"), headers=[("RCP-Session", session)]))
		time.sleep(0.15)
		cancel(port, "b", session)
		r = c.response(2 * SCALE)
		assert r.status == 200 and r.error()["code"] == -32006 and r.json()["id"] == "b"


def test_RPC03_without_a_session_the_only_way_to_cancel_is_to_leave(rcpd):
	port = rcpd(env=stall("recall", 600)).port
	fill(port, 3)
	with Sse(port, search("common", id=7)) as s:
		s.frame()
		cancel(port, 7)
		assert "result" in final(s.frames())


# ---- a stream behind others ----------------------------------------------------


def test_T4_frames_are_not_delayed_by_idle_streams(rcpd):
	"""Each resume scans the suspended connections; with 300 of them it still is quick."""
	server = rcpd(env={**settings(workers=64, queue=1000), **stall("recall", 1500, 40)})
	fill(server.port, 3)
	slow = [Sse(server.port, search("common", id=i)) for i in range(40)]
	wait_until(lambda: server.dump()["streams"] == 40)
	for s in slow:
		s.frame()
	times = []
	for i in range(20):
		with Sse(server.port, search("common", id=i)) as s:
			final(s.frames())
			times.append(time.monotonic() - s.sent_at)
	assert sorted(times)[10] < 0.1 * SCALE, times
	for s in slow:
		assert "result" in final(s.frames())
		s.close()


def test_T11_half_closed_stream_leaves_nothing(rcpd):
	"""A half-close may be taken for a hang-up; either way all is freed."""
	server = rcpd(env=stall("recall", 400))
	fill(server.port, 3)
	for _ in range(5):
		with Sse(server.port, search("common")) as s:
			s.frame()
			s.conn.sock.shutdown(socket.SHUT_WR)
			try:
				s.frames()
			except Closed:
				pass
	assert eventually(lambda: server.dump()["requests"] == 0, 3 * SCALE)
