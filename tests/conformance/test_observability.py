"""O1, O2: log frames, trace ids, usage; nothing of queries or documents in logs."""
import json

import pytest

from lib import MARKER
from lib.corpus import DOCUMENTS, fill

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def initialize(server, capabilities=None, meta=None):
	params = {"protocolVersion": 1}
	if capabilities is not None:
		params["capabilities"] = capabilities
	if meta is not None:
		params["_meta"] = meta
	return server.result("initialize", params)


def log_frames(server, level=None):
	meta = {} if level is None else {"_meta": {"logLevel": level}}
	server.send(server.message("retrieve", {"query": f"fox {MARKER}", **meta}, id="q"))
	frames = []
	while True:
		got = server.recv()
		if got.get("id") == "q":
			return frames
		assert got["method"] == "notifications/log"
		frames.append(got["params"])


def test_O1_S5_no_log_frames_for_a_peer_that_did_not_ask(rcpd_stdio):
	server = rcpd_stdio()
	initialize(server)
	fill(server)
	assert log_frames(server) == []


def test_O1_S5_log_frames_for_a_peer_that_asked(rcpd_stdio):
	server = rcpd_stdio()
	initialize(server, {"log": {}}, {"logLevel": "debug"})
	fill_frames = []
	server.send(server.message("index/add", {"documents": DOCUMENTS}, id="fill"))
	while (got := server.recv()).get("id") != "fill":
		fill_frames.append(got["params"])
	frames = fill_frames + log_frames(server, "debug")
	assert frames
	for frame in frames:
		assert frame["level"] in ("debug", "info", "notice", "warning", "error")
		assert MARKER not in json.dumps(frame)


def test_O1_the_level_is_a_threshold(rcpd_stdio):
	server = rcpd_stdio()
	initialize(server, {"log": {}}, {"logLevel": "error"})
	fill(server)
	assert log_frames(server, "error") == []


def test_O1_no_log_frames_over_http(rcpd):
	server = rcpd()
	server.result("initialize", {"protocolVersion": 1, "capabilities": {"log": {}},
		"_meta": {"logLevel": "debug"}})
	fill(server)
	with server.sse("retrieve", {"query": "fox", "_meta": {"logLevel": "debug"}}, token=1) as stream:
		assert all(f.get("method") in (None, "notifications/progress") for f in stream.rest())


@pytest.mark.parametrize("level", ["debug", "info"])
def test_O2_no_query_or_document_text_in_logs(rcpd, rcpd_stdio, level):
	"""The library looks for the marker in every server's log; here it is provoked."""
	for server in (rcpd(log_level=level), rcpd_stdio(log_level=level, initialize=True)):
		fill(server)
		for query in (MARKER, f'"{MARKER}', f"{MARKER} AND", {"type": "text", "text": MARKER},
				[{"type": "text", "text": MARKER}]):
			assert server.rpc("retrieve", {"query": query, "k": 3}).code is None
		for params in ({"query": MARKER, "k": -1}, {"query": {"type": MARKER}},
				{"query": MARKER, "mode": "lexical"}, {"query": "x", "mode": MARKER},
				{"query": MARKER, "recency": {"field": MARKER}}, {"query": MARKER, "cursor": MARKER}):
			assert server.rpc("retrieve", params).code is not None
		assert server.rpc("index/add", {"documents": [{"text": MARKER, "meta": MARKER}]}).code == -32602
		assert server.rpc("index/add", {"documents": [{"text": MARKER, "id": 5}]}).code == -32602
		server.rpc("index/delete", {"ids": ["fox"]})
		server.stop()
		assert MARKER not in server.stderr


def test_O2_a_broken_message_is_not_logged(rcpd):
	server = rcpd(log_level="debug")
	for body in ('{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"%s"' % MARKER,
			'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"%s\xff"}}' % MARKER,
			MARKER):
		assert server.post(server.base, body.encode("latin-1"))[0] == 400


def test_O2_usage_says_what_was_done(peer):
	fill(peer.server)
	usage = peer.call("retrieve", {"query": "fox"}).result["usage"]
	assert isinstance(usage["candidates"], int) and usage["candidates"] >= 1
	assert isinstance(usage["latencyMs"], (int, float)) and usage["latencyMs"] >= 0


def test_O2_the_trace_id_comes_from_traceparent(server):
	header = {"traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
	answer = server.rpc("retrieve", {"query": "fox"}, headers=header)
	assert answer.result["_meta"]["traceId"] == TRACE


@pytest.mark.parametrize("value", ["", "00", "00-" + "0" * 32 + "-00f067aa0ba902b7-01",
	f"ff-{TRACE}-00f067aa0ba902b7-01", f"00-{TRACE.upper()}-00f067aa0ba902b7-01", "x" * 500,
	f"00-{TRACE}-0000000000000000-01", f"00-{TRACE[:-1]}-00f067aa0ba902b7-01"])
def test_O2_a_broken_traceparent_is_ignored(server, value):
	answer = server.rpc("retrieve", {"query": "nothing"}, headers={"traceparent": value})
	trace = answer.result.get("_meta", {}).get("traceId")
	assert trace is None or (trace != TRACE and len(trace) == 32)
