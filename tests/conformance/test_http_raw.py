"""HTTP on raw sockets: routes, statuses, framing, limits, and what is left behind.

The ids in the names are those of rcp1.md (T…), decisions.md (D…) and cases.md
(HTTP-…, SEC-…).
"""
import http.client
import itertools
import json
import socket
import threading
import time

import pytest

from lib import SCALE, wait_until
from lib.http import (Closed, Conn, chunked, eventually, get, http_request, once, post,
	process_state, request, rss_kib, settings)

PING = request("ping", {"nonce": "n"})
PONG = {"jsonrpc": "2.0", "id": 1, "result": {"nonce": "n"}}
ORIGIN = "https://app.example"


@pytest.fixture
def port(server):
	return server.port


@pytest.fixture(scope="module")
def small():
	"""A server with small limits and short times."""
	from lib import Rcpd
	env = settings(max_body=1 << 20, max_body_total=16 << 20, max_drain=8 << 20, max_batch=10,
		idle_timeout=2, body_timeout=4, max_connections=1000)
	with Rcpd(log_level="debug", env=env) as started:
		yield started


def memory_grown(server, before):
	"""KiB of resident memory more than before; none under a sanitizer, which keeps what
	was freed."""
	return rss_kib(server.pid) - before if SCALE == 1 else 0


def is_pong(response):
	return response.status == 200 and response.json() == PONG


def is_alive(port):
	return is_pong(post(port, PING))


def error_body(response, status, code):
	"""A JSON-RPC error body of an HTTP failure: id null, the code given."""
	assert response.status == status, response
	assert response.media_type == "application/json", response
	assert response.json()["id"] is None and response.error()["code"] == code, response


# ---- T1, D7-D10: paths ---------------------------------------------------------


@pytest.mark.parametrize("path", [
	"/rcp/ping", "/rcp/ping/", "/rcp/ping?x=1", "/rcp/ping/?x=1&y=%00", "/rcp/pin%67", "/rcp",
	"/rcp/", "/rcp?x", "/rcp/?x"])
def test_T1_D8_paths_that_reach_ping(port, path):
	assert is_pong(post(port, PING, path))


@pytest.mark.parametrize("path", [
	"/rcp/index/add", "/rcp/index%2Fadd", "/rcp/index%2fadd", "/rcp/index/add/",
	"/rcp/index/add?a=b"])
def test_T1_index_add_with_and_without_an_escaped_slash(port, path):
	doc = {"id": "t1", "text": "words of the first test"}
	r = post(port, request("index/add", {"documents": [doc]}), path)
	assert r.status == 200 and r.json()["result"]["ids"] == ["t1"]


@pytest.mark.parametrize("ctype", [
	"application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8",
	"application/json ; x=y"])
def test_T1_SEC01_content_type_parameters_are_allowed(port, ctype):
	assert is_pong(post(port, PING, "/rcp/ping", ctype=ctype))


def test_T1_base_path_is_configurable(rcpd):
	server = rcpd(env=settings(base_path="/search/v1"))
	assert server.base == "/search/v1"
	assert is_pong(post(server.port, PING, "/search/v1/ping"))
	assert is_pong(post(server.port, PING, "/search/v1"))
	assert post(server.port, PING, "/rcp/ping").status == 404


def test_D7_RPC07_mismatch_executes_nothing(port):
	doc = {"id": "d7", "text": "uniqued7word stays where it is"}
	assert "result" in post(port, request("index/add", {"documents": [doc]})).json()
	r = post(port, request("index/delete", {"ids": ["d7"]}, id="x-7"), "/rcp/ping")
	assert r.status == 200 and r.json()["id"] == "x-7" and r.error()["code"] == -32600
	gone = post(port, request("index/delete", {"ids": ["d7"]}, id=None), "/rcp/ping")
	assert gone.status == 204 and gone.body == b""
	for path, method in (("/rcp/retrieve", "info"), ("/rcp/PING", "ping"),
			("/rcp/index", "index/add"),
			("/rcp/index/add/more", "index/add")):
		r = post(port, request(method, {}, id=5), path)
		assert r.status == 200 and r.json()["id"] == 5 and r.error()["code"] == -32600, (path, r)
	hits = post(port, request("retrieve", {"query": "uniqued7word", "mode": "sparse"})).json()
	assert [h["chunk"]["docId"] for h in hits["result"]["hits"]] == ["d7"]


def test_D7_parse_errors_come_before_the_path(port):
	error_body(post(port, b'{"jsonrpc":"2.0","id":1,"method":"ret', "/rcp/ping"), 400, -32700)


def test_D9_batch_at_a_method_path(port):
	batch = [request("ping", id=1), request("info", id=2), request("ping", id=3),
		request("info", id=None)]
	r = post(port, batch, "/rcp/ping")
	assert r.status == 200
	got = {m["id"]: m for m in r.json()}
	assert set(got) == {1, 2, 3}
	assert "result" in got[1] and "result" in got[3] and got[2]["error"]["code"] == -32600


@pytest.mark.parametrize("path", ["/rcp", "/rcp/"])
def test_D8_D9_batch_at_the_base(port, path):
	batch = [request("initialize", {"protocolVersion": 1}, id="a"), request("ping", id="b")]
	r = post(port, batch, path)
	assert r.status == 200 and {m["id"] for m in r.json()} == {"a", "b"}
	assert all("result" in m for m in r.json())


def test_D10_RPC08_unknown_method_paths_are_200_below_the_base(port):
	for path, method, code in (("/rcp/nope", "nope", -32004), ("/rcp/nope", "ping", -32600),
			("/rcp/does/not/exist", "does/not/exist", -32004), ("/rcp/graph", "graph", -32003),
			("/rcp/x-vendor/y", "x-vendor/y", -32004)):
		r = post(port, request(method, {}, id=9), path)
		assert r.status == 200 and r.json()["id"] == 9 and r.error()["code"] == code, (path, r)


@pytest.mark.parametrize("path", ["/other", "/rcpx", "/rcpx/ping", "/RCP/ping", "/rc",
	"//rcp/ping"])
def test_D10_T2_404_outside_the_base(port, path):
	r = post(port, PING, path)
	assert r.status == 404 and r.media_type == "application/json" and r.json(), r


@pytest.mark.parametrize("path", ["/rcp", "/rcp/", "/rcp/ping/", "/rcp//ping", "/rcp/ping//",
	"/rcp/./ping",
	"/rcp/../rcp/ping"])
def test_HTTP07_never_a_redirect(port, path):
	r = post(port, PING, path)
	assert r.status in (200, 404) and r.header("Location") is None, r
	if path in ("/rcp", "/rcp/", "/rcp/ping/"):
		assert is_pong(r)
	else:
		assert b'"nonce"' not in r.body


@pytest.mark.parametrize("path", ["/rcp/ping%00evil", "/rcp/ping%00", "/rcp%00/ping",
	"/rcp/ping%0d%0aX:1",
	"/rcp/%E0%A4%A", "/rcp/%zz", "/rcp/ping%", "/rcp/ping%0", "/rcp/ping%7f", "/rcp/ping%01"])
def test_HTTP06_D11_escapes_that_lie(port, path):
	r = post(port, PING, path)
	assert r.status in (400, 404), r
	assert b'"nonce"' not in r.body and r.header("X") is None
	if path not in ("/rcp%00/ping",):
		assert r.status == 400, r
	assert r.media_type == "application/json" and r.json()["error"]["code"] == -32600


# ---- T2, D11, D15: statuses ----------------------------------------------------


@pytest.mark.parametrize("body", [b"", b"{", b'{"a":1}x', b"\xef\xbb\xbf{}", b'{"a":"\xff"}',
	b"nul",
	b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"info"}', b"[" * 100000])
def test_D11_T2_broken_json_is_400(port, body):
	error_body(post(port, body), 400, -32700)


@pytest.mark.parametrize("body", [b"5", b'"x"', b"null", b"true", b" 1.5 "])
def test_D11_json_that_is_no_object_or_array_is_400(port, body):
	error_body(post(port, body), 400, -32600)


@pytest.mark.parametrize("body,id", [
	("{}", None), ('{"jsonrpc":"2.0"}', None), ('{"jsonrpc":"2.0","id":4,"method":5}', 4),
	('{"jsonrpc":"1.0","id":"a","method":"ping"}', "a"),
	('{"jsonrpc":2,"id":7,"method":"ping"}', 7),
	('{"jsonrpc":"2.0","id":[1],"method":"ping"}', None),
	('{"jsonrpc":"2.0","id":null,"method":"ping"}', None),
	("[]", None)])
def test_D11_T2_any_object_is_200(port, body, id):
	r = post(port, body)
	assert r.status == 200 and r.media_type == "application/json"
	assert r.json()["id"] == id and r.error()["code"] == -32600


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "PATCH", "BREW", "post"])
@pytest.mark.parametrize("path", ["/rcp", "/rcp/ping"])
def test_D15_T2_other_verbs_are_405_with_allow(port, verb, path):
	r = get(port, path, verb)
	assert r.status == 405 and "POST" in (r.header("Allow") or ""), r
	assert r.media_type == "application/json" and r.json()
	assert is_alive(port)


def test_D15_T2_405_for_a_post_to_a_get_route(port):
	r = post(port, PING, "/healthz")
	assert r.status == 405 and "GET" in r.header("Allow")


@pytest.mark.parametrize("ctype", [None, "text/plain", "application/x-www-form-urlencoded",
	"application/jsonx", "multipart/form-data; boundary=x", "application/json-rpc", ""])
def test_SEC01_D15_other_content_types_are_415_and_run_nothing(port, ctype):
	add = request("index/add", {"documents": [{"id": "sec1", "text": "uniquesec1word"}]})
	r = post(port, add, "/rcp/index/add", ctype=ctype)
	assert r.status == 415 and r.media_type == "application/json" and r.json(), r
	found = post(port, request("retrieve", {"query": "uniquesec1word", "mode": "sparse"})).json()
	assert found["result"]["hits"] == []


@pytest.mark.parametrize("path", ["/healthz", "/readyz"])
def test_T11_get_and_head_routes(port, path):
	r = get(port, path)
	assert r.status == 200 and r.body
	h = get(port, path, "HEAD")
	assert h.status == 200 and h.header("Content-Length") == r.header("Content-Length")
	with Conn(port) as c:  # a HEAD leaves the connection usable and sends no body
		c.send(http_request(None, path, "HEAD"))
		assert c.response(verb="HEAD").status == 200
		assert is_pong(c.post(PING))


# ---- T3, D6, D18: notifications and the compact envelope -----------------------


@pytest.mark.parametrize("body", [
	request("ping", id=None), request("retrieve", {"k": -5}, id=None),
	request("does/not/exist", id=None),
	request("notifications/foo", {"a": 1}, id=None), request("notifications/cancel", {"id": 77},
	id=None),
	request("notifications/cancel", [], id=None), request("graph", {}, id=None),
	[request("ping", id=None), request("notifications/log", {}, id=None)],
	{"method": "notifications/cancel", "params": {"id": 1}}], ids=str)
def test_T3_D6_RPC05_notifications_are_204_and_empty(port, body):
	with Conn(port) as c:
		r = c.post(body)
		assert r.status == 204 and r.body == b"" and r.header("Transfer-Encoding") is None, r
		assert r.header("Content-Length") in (None, "0")
		assert is_pong(c.post(PING)), "the connection is out of step after a 204"


def test_T3_batch_answers_only_its_requests(port):
	r = post(port, [request("ping", id=None), request("ping", id=4)])
	assert r.status == 200 and [m["id"] for m in r.json()] == [4]


@pytest.mark.parametrize("body,id", [
	({"method": "ping", "params": {"nonce": 1}}, 0), ({"jsonrpc": None, "method": "ping",
	"params": {"nonce": 1}}, 0),
	({"id": "q", "method": "ping", "params": {"nonce": 1}}, "q")], ids=str)
def test_D18_compact_envelope_is_answered(port, body, id):
	r = post(port, body, "/rcp/ping")
	assert r.status == 200 and r.json() == {"jsonrpc": "2.0", "id": id, "result": {"nonce": 1}}


# ---- D21, HTTP-10: simple clients ----------------------------------------------


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:9", "127.0.0.1:1",
	"[::1]:8080"])
def test_D21_HTTP10_a_client_that_reads_to_eof(port, host):
	init = request("initialize", {"protocolVersion": 1, "client": {"name": "t", "version": "1"}})
	with Conn(port) as c:
		c.send(http_request(init, "/rcp/initialize", host=host, headers=[("Connection", "close")]))
		text = c.rest()
	head, _, body = text.partition(b"\r\n\r\n")
	lower = head.lower()
	assert head.startswith(b"HTTP/1.1 200") and b"transfer-encoding" not in lower
	assert b"content-length: %d" % len(body) in lower
	assert json.loads(body)["result"]["protocolVersion"] == 1


# ---- T8, D4: sessions ----------------------------------------------------------


def test_T8_stateless_needs_no_handshake_and_takes_many(port):
	assert "result" in post(port, request("retrieve", {"query": "x", "mode": "sparse"})).json()
	first = post(port, request("initialize", {"protocolVersion": 1})).json()["result"]
	second = post(port, request("initialize", {"protocolVersion": 1})).json()["result"]
	for result in (first, second):
		result.pop("_meta", None)
	assert first == second
	assert post(port, request("initialize", {"protocolVersion": 0})).error()["code"] == -32002
	assert "result" in post(port, PING, headers=[("RCP-Session", "never-issued")]).json()


def test_D4_shutdown_over_http_leaves_the_daemon(port):
	for _ in range(3):
		r = post(port, request("shutdown"), "/rcp/shutdown")
		assert r.status == 200 and r.json()["result"] == {}
		assert is_alive(port)


def initialize(port):
	r = post(port, request("initialize", {"protocolVersion": 1}))
	session = r.json()["result"]["_meta"]["session"]
	assert isinstance(session, str) and len(session) >= 16
	return session


def ask(port, session, method="retrieve", params=None):
	headers = [("RCP-Session", session)] if session else []
	r = post(port, request(method, params or {"query": "x", "mode": "sparse"}), headers=headers)
	assert r.status == 200
	return r.json().get("error", {}).get("code")


def test_T8_D4_token_sessions(rcpd):
	port = rcpd("--sessions", "token").port
	assert ask(port, None) == -32001
	assert ask(port, "0" * 32) in (-32001, -32015)
	assert is_alive(port) and "result" in post(port, request("info")).json()
	one, two = initialize(port), initialize(port)
	assert one != two
	assert ask(port, one) is None and ask(port, two) is None
	assert ask(port, one, "shutdown", {}) is None
	assert ask(port, one) in (-32001, -32015), "a session outlived its shutdown"
	assert ask(port, two) is None, "a shutdown ended another session"


def test_T8_token_session_expires(rcpd):
	port = rcpd("--sessions", "token", env=settings(session_ttl=1)).port
	session = initialize(port)
	assert ask(port, session) is None
	time.sleep(1.6)
	assert ask(port, session) == -32015
	assert ask(port, initialize(port)) is None


def test_T8_D4_strict_lifecycle_twice(rcpd):
	port = rcpd("--sessions", "strict").port
	for _ in range(2):
		assert ask(port, None) == -32001
		assert post(port, request("initialize", {"protocolVersion": 0})).error()["code"] == -32002
		assert ask(port, None) == -32001
		assert "result" in post(port, request("initialize", {"protocolVersion": 1})).json()
		assert post(port, request("initialize", {"protocolVersion": 1})).error()["code"] == -32600
		assert ask(port, None) is None
		assert ask(port, None, "shutdown", {}) is None


# ---- T9: the gate, as far as it is built ---------------------------------------


@pytest.mark.parametrize("value", ["Bearer x", "Basic dTpw", "junk", "", "Bearer " + "x" * 3000])
def test_T9_the_gate_lets_everybody_in(port, value):
	assert is_pong(post(port, PING, headers=[("Authorization", value)]))


# ---- T10, SEC-02, SEC-03: browsers ---------------------------------------------


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example",
	"localhost.evil.example", "2130706433x", "user@evil.example", ""])
def test_SEC02_D13_foreign_host_names_are_refused(port, host):
	r = post(port, PING, host=host)
	assert r.status in ((400, 403) if not host or "@" in host else (403,)), r
	assert r.media_type == "application/json" and b'"nonce"' not in r.body


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8080", "localhost:9", "[::1]:8080",
	"[::1]",
	"LOCALHOST.", "LocalHost", "127.0.0.1:"])
def test_SEC02_D21_loopback_host_names_pass(port, host):
	assert is_pong(post(port, PING, host=host))


def test_SEC02_configured_host_names_pass(rcpd):
	port = rcpd(env=settings(hosts="rcp.example.org other.example")).port
	for host in ("rcp.example.org", "RCP.example.org:443", "other.example.", "127.0.0.1"):
		assert is_pong(post(port, PING, host=host)), host
	assert post(port, PING, host="example.org").status == 403


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost.evil.example",
	"file://"])
@pytest.mark.parametrize("ctype", ["application/json", "text/plain", None])
def test_SEC01_SEC02_T10_cross_origin_calls_are_refused(port, origin, ctype):
	delete = request("index/delete", {"ids": ["x"]})
	r = post(port, delete, "/rcp/index/delete", ctype=ctype, headers=[("Origin", origin)])
	assert r.status in ((403,) if ctype == "application/json" else (403, 415)), r
	assert b'"deleted"' not in r.body and r.header("Access-Control-Allow-Origin") is None


def preflight(port, origin, path="/rcp/retrieve"):
	return get(port, path, "OPTIONS", [("Origin", origin),
		("Access-Control-Request-Method", "POST"),
		("Access-Control-Request-Headers", "authorization,content-type,rcp-session")])


def test_T10_no_origins_configured_no_preflight(port):
	r = preflight(port, ORIGIN)
	assert r.status in (403, 204) and r.header("Access-Control-Allow-Origin") is None


def words(text):
	return {w.strip().lower() for w in (text or "").split(",")}


def test_SEC03_T10_preflight_and_calls_from_an_allowed_origin(rcpd):
	port = rcpd(env=settings(origins=ORIGIN + " http://localhost:3000")).port
	for origin in (ORIGIN, "http://localhost:3000"):
		r = preflight(port, origin)
		assert r.status == 204 and r.body == b""
		assert r.header("Access-Control-Allow-Origin") == origin
		assert "origin" in words(r.header("Vary"))
		assert "post" in words(r.header("Access-Control-Allow-Methods"))
		assert {"authorization", "content-type", "rcp-session"} <= words(
				r.header("Access-Control-Allow-Headers"))
		assert int(r.header("Access-Control-Max-Age")) > 0
		call = post(port, PING, headers=[("Origin", origin)])
		assert is_pong(call) and call.header("Access-Control-Allow-Origin") == origin
		assert "origin" in words(call.header("Vary"))
		assert {"www-authenticate", "retry-after", "rcp-session"} <= \
			words(call.header("Access-Control-Expose-Headers"))
	# Errors too, or a browser cannot read why.
	for r in (post(port, b"{", headers=[("Origin", ORIGIN)]),
			post(port, PING, ctype="text/plain", headers=[("Origin", ORIGIN)]),
			post(port, PING, "/nowhere", headers=[("Origin", ORIGIN)]),
			get(port, "/rcp/ping", headers=[("Origin", ORIGIN)])):
		assert r.status >= 400 and r.header("Access-Control-Allow-Origin") == ORIGIN, r
	for origin in ("https://evil.example", "null", "https://app.example:444", "http://app.example",
			"https://app.example.evil", "https://app.exampl"):
		r = preflight(port, origin)
		assert r.header("Access-Control-Allow-Origin") is None
		r = post(port, PING, headers=[("Origin", origin)])
		assert r.status == 403 and r.header("Access-Control-Allow-Origin") is None, origin


# ---- T11: framing --------------------------------------------------------------


def test_T11_body_in_one_byte_writes(port):
	with Conn(port) as c:
		c.send_slowly(http_request(PING, "/rcp/ping"), 1, 0.0005)
		assert is_pong(c.response())


def test_T11_keep_alive(port):
	with Conn(port) as c:
		for i in range(50):
			r = c.post(request("ping", id=i))
			assert r.status == 200 and r.json()["id"] == i
			assert (r.header("Connection") or "").lower() != "close"


def test_T11_pipelined_requests_are_answered_in_order(port):
	ids = list(range(40))
	data = b"".join(http_request(request("retrieve" if i % 3 == 0 else "ping",
		{"query": "x", "mode": "sparse"} if i % 3 == 0 else {}, id=i)) for i in ids)
	with Conn(port) as c:
		c.send(data)
		assert [c.response().json()["id"] for _ in ids] == ids
		c.send_slowly(data, 7)
		assert [c.response().json()["id"] for _ in ids] == ids


def test_T11_pipelining_mixes_statuses(port):
	parts = [(http_request(PING), 200), (http_request(b"{"), 400),
		(http_request(request("ping", id=None)), 204),
		(http_request(PING, "/nowhere"), 404), (http_request(None, "/healthz", "GET"), 200),
		(http_request(PING, ctype="text/plain"), 415), (http_request(PING), 200)]
	with Conn(port) as c:
		c.send(b"".join(p for p, _ in parts))
		for _, status in parts:
			r = c.response()
			assert r.status == status
			if (r.header("Connection") or "").lower() == "close":
				return  # allowed after a refusal; what came until then was in order


def test_T11_http_1_0(port):
	with Conn(port) as c:
		c.send(http_request(PING, version="1.0"))
		r = c.response()
		assert is_pong(r) and r.header("Transfer-Encoding") is None
		assert r.header("Content-Length") is not None
		assert c.closed_within(2 * SCALE)
	with Conn(port) as c:  # HTTP/1.0 knows no Host
		c.send(http_request(PING, version="1.0", host=None))
		assert c.response().status in (200, 400)
	with Conn(port) as c:
		c.send(http_request(PING, version="1.0", headers=[("Connection", "keep-alive")]))
		assert is_pong(c.response())


def test_T11_connection_close_is_honoured(port):
	with Conn(port) as c:
		assert is_pong(c.post(PING, headers=[("Connection", "close")]))
		assert c.closed_within(2 * SCALE)


def test_T11_half_closed_clients_leave_nothing(rcpd):
	server = rcpd()
	for i in range(300):
		body = PING if i % 2 else request("retrieve", {"query": "x", "mode": "sparse"})
		with Conn(server.port) as c:
			c.send(http_request(body))
			c.sock.shutdown(socket.SHUT_WR)
			try:
				assert c.response().status == 200
			except Closed:
				pass  # taken for a hang-up: allowed, as long as nothing stays behind
	server.wait_idle()


@pytest.mark.parametrize("size", [1, 7, 100000])
def test_HTTP09_T11_chunked_bodies(port, size):
	data = http_request(PING, "/rcp/ping", length=False, headers=[("Transfer-Encoding", "chunked")])
	head = data[:data.index(b"\r\n\r\n") + 4]
	body = json.dumps(PING).encode()
	with Conn(port) as c:
		for _ in range(3):
			c.send(head + chunked(body, size))
			assert is_pong(c.response())


@pytest.mark.parametrize("bad", [b"zz\r\nabc\r\n0\r\n\r\n", b"-1\r\n\r\n",
	b"fffffffffffffffff\r\nabc\r\n",
	b"3\r\nabcdef\r\n0\r\n\r\n"])
def test_HTTP09_bad_chunk_sizes_close_the_connection(port, bad):
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Transfer-Encoding: chunked\r\n\r\n"
	with Conn(port) as c:
		c.send(head + bad)
		try:
			assert c.response().status in (400, 413)  # libmicrohttpd's own answer
		except Closed as e:
			assert e.data == b""  # libmicrohttpd cannot answer in mid-upload: closed in silence
		assert c.closed_within(3 * SCALE)
	assert is_alive(port)


def test_T11_gzip_bodies_are_read_or_415(port):
	import gzip
	body = gzip.compress(json.dumps(PING).encode())
	r = post(port, body, "/rcp/ping", headers=[("Content-Encoding", "gzip")])
	assert r.status == 415 and r.json() or is_pong(r)
	assert is_pong(post(port, PING, headers=[("Content-Encoding", "identity")]))
	assert post(port, PING, headers=[("Content-Encoding", "br")]).status == 415


@pytest.mark.parametrize("headers", [
	[("X-Long", "a" * 200000)], [("X-%d" % i, "b" * 100) for i in range(2000)]],
	ids=["long", "many"])
def test_T11_header_limits(port, headers):
	with Conn(port) as c:
		try:
			c.send(http_request(PING, headers=headers))
			assert 400 <= c.response().status < 500
		except (Closed, BrokenPipeError, ConnectionResetError):
			pass  # closed without a word is allowed: the head never became a request
	assert is_alive(port)


def test_T11_a_usual_amount_of_headers_fits(port):
	r = post(port, PING, headers=[("Cookie", "c" * 3000), ("User-Agent", "u" * 500),
		("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")])
	assert r.status == 200 and r.json()["result"]["nonce"] == "n"


def test_T11_garbage_on_the_line(port):
	for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200,
			b"\r\n\r\n\r\n", b"GET\r\n\r\n", b"\x00" * 500, b"POST /rcp/ping\r\n\r\n",
			b"POST /rcp/ping HTTP/9.9\r\nHost: localhost\r\n\r\n",
			b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"):
		with Conn(port) as c:
			c.send(data)
			c.sock.shutdown(socket.SHUT_WR)
			assert b'"nonce"' not in c.rest()
	assert is_alive(port)


# ---- HTTP-01: bodies in pieces -------------------------------------------------


def test_HTTP01_large_body_in_small_writes(port):
	text = " ".join("w%05d" % i for i in range(43000)) + " naïve lastwordofall"
	doc = {"id": "http01", "text": text}
	data = http_request(request("index/add", {"documents": [doc]}), "/rcp/index/add")
	assert len(data) > 300000
	with Conn(port) as c:
		c.send_slowly(data[:-1], 700, 0.001)
		assert c.quiet_for(0.1), "answered before the last byte"
		c.send(data[-1:])
		assert c.response().json()["result"]["ids"] == ["http01"]
		found = c.post(request("retrieve", {"query": "lastwordofall", "mode": "sparse"})).json()
		assert found["result"]["hits"][0]["chunk"]["docId"] == "http01"


def test_HTTP01_letter_split_across_writes(port):
	data = http_request(request("ping", {"nonce": "€😀é"}))
	for cut in range(len(data) - 20, len(data)):
		with Conn(port) as c:
			c.send(data[:cut])
			time.sleep(0.002)
			c.send(data[cut:])
			assert c.response().json()["result"]["nonce"] == "€😀é"


# ---- HTTP-02, HTTP-03, D12: too large ------------------------------------------


def test_HTTP02_D12_huge_declared_length(small):
	before = rss_kib(small.pid)
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Content-Length: 20000000000\r\n\r\n"
	with Conn(small.port) as c:
		start = time.monotonic()
		c.send(head)
		r = c.response()
		assert time.monotonic() - start < 1 * SCALE
		error_body(r, 413, -32013)
		assert r.header("Connection").lower() == "close"
		assert c.closed_within(5 * SCALE)
	assert memory_grown(small, before) < 9 * 1024 and is_alive(small.port)


@pytest.mark.parametrize("length", ["99999999999999999999999", "-1", "12abc", "0x10", "", "1 2"])
def test_HTTP02_lengths_that_are_none(small, length):
	with Conn(small.port) as c:
		c.send(b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
			b"Content-Length: " + length.encode() + b"\r\n\r\n{}")
		try:
			assert c.response().status in (400, 413)
		except Closed:
			pass
	assert is_alive(small.port)


def test_HTTP02_D12_chunked_body_over_the_cap(small):
	before = rss_kib(small.pid)
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Transfer-Encoding: chunked\r\n\r\n"
	with Conn(small.port) as c:
		c.send(head + chunked(b" " * (2 << 20), 65536))
		r = c.response()
		error_body(r, 413, -32013)
		assert r.header("Connection").lower() == "close"
	assert memory_grown(small, before) < 9 * 1024 and is_alive(small.port)


def test_HTTP02_D12_chunked_body_that_never_ends_is_cut(small):
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Transfer-Encoding: chunked\r\n\r\n"
	piece = b"10000\r\n" + b" " * 65536 + b"\r\n"
	sent = 0
	with Conn(small.port, timeout=20 * SCALE) as c:
		c.send(head)
		try:
			while sent < 256 << 20:
				c.send(piece)
				sent += 65536
		except (BrokenPipeError, ConnectionResetError):
			pass
	assert sent < 64 << 20, "took %d MiB of an endless body" % (sent >> 20)
	assert is_alive(small.port)


def test_HTTP02_bodies_in_memory_are_bounded_in_total(small):
	"""200 clients, each with a body just under the cap that does not end."""
	before = rss_kib(small.pid)
	size = (1 << 20) - 1
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Content-Length: %d\r\n\r\n" % size
	piece = b" " * (size - 1)
	clients = []
	try:
		for _ in range(200):
			c = Conn(small.port)
			clients.append(c)
			c.sock.setblocking(False)
			data = memoryview(head + piece)
			for _ in range(40):
				try:
					n = c.sock.send(data)
				except BlockingIOError:
					break
				except (BrokenPipeError, ConnectionResetError):
					break
				data = data[n:]
				if not data:
					break
		start = time.monotonic()
		assert get(small.port, "/healthz").status == 200
		r = post(small.port, PING)
		assert is_pong(r) or r.status == 503 and r.header("Retry-After"), r
		assert time.monotonic() - start < 1 * SCALE, "others wait for the stalled ones"
		gauges = small.dump()
		assert gauges.get("body_bytes", 0) <= 17 << 20, gauges
		grown = memory_grown(small, before)
		assert grown < 60 * 1024, "%d KiB for bodies whose total is bounded to 16 MiB" % grown
		wait_until(lambda: small.dump()["connections"] <= 2, 10, what="stalled bodies to be cut")
	finally:
		for c in clients:
			c.close()
	small.wait_idle(ignore=("connections",))
	assert is_alive(small.port)


def over_the_cap(port, size):
	"""A client that writes everything before it reads."""
	c = http.client.HTTPConnection("127.0.0.1", port, timeout=20 * SCALE)
	try:
		c.request("POST", "/rcp/ping", body=b" " * size,
			headers={"Content-Type": "application/json"})
		r = c.getresponse()
		return r.status, dict(r.headers), r.read()
	finally:
		c.close()


def test_HTTP03_D12_20_MB_with_the_default_cap(port):
	status, headers, body = over_the_cap(port, 20_000_000)
	assert status == 413 and json.loads(body)["error"]["code"] == -32013
	assert json.loads(body)["id"] is None and headers["Connection"].lower() == "close"
	assert is_alive(port)


@pytest.mark.parametrize("more", [1, 100_000, 4_000_000])
def test_HTTP03_D12_answer_is_readable_after_the_whole_body(small, more):
	status, _, body = over_the_cap(small.port, (1 << 20) + more)
	assert status == 413 and json.loads(body)["error"]["code"] == -32013


def test_HTTP02_a_body_of_the_cap_exactly_passes(small):
	body = json.dumps(PING).encode()
	body += b" " * ((1 << 20) - len(body))
	assert is_pong(post(small.port, body))
	assert post(small.port, body + b" ").status == 413


def test_D12_counts_over_a_cap_are_200(small):
	r = post(small.port, [request("ping", id=i) for i in range(11)])
	assert r.status == 200 and r.json()["id"] is None and r.error()["code"] == -32013
	assert len(post(small.port, [request("ping", id=i) for i in range(10)]).json()) == 10


# ---- HTTP-04: connections that do nothing --------------------------------------


def test_HTTP04_silent_connections_do_not_lock_others_out(rcpd):
	server = rcpd(env=settings(max_connections=40, idle_timeout=2))
	idle = []
	try:
		for i in range(50):
			try:
				c = Conn(server.port, 1)
				idle.append(c)
				if i % 3 == 1:
					c.send(b"POST /rcp/ping HTTP/1.1\r\nHost: local")
				elif i % 3 == 2:
					c.send(http_request(PING))
			except OSError:
				pass
		start = time.monotonic()

		def served():
			try:
				return is_pong(post(server.port, PING, timeout=1))
			except (OSError, Closed, TimeoutError):
				return False
		assert eventually(served, 6 * SCALE, 0.2), "locked out for longer than idle_timeout"
		assert time.monotonic() - start < 5 * SCALE
	finally:
		for c in idle:
			c.close()


@pytest.mark.parametrize("data", [b"", b"POST /rcp/ping HTTP/1.1\r\nHost: loc", http_request(PING),
	http_request(PING)[:-3]], ids=["silent", "half a head", "idle after an answer", "half a body"])
def test_HTTP04_T11_idle_timeout_closes(small, data):
	with Conn(small.port) as c:
		start = time.monotonic()
		if data:
			c.send(data)
		assert c.closed_within(8 * SCALE)
		assert 1 < time.monotonic() - start


def test_HTTP04_T11_body_timeout_ends_a_trickle(small):
	data = http_request(PING)
	with Conn(small.port) as c:
		start = time.monotonic()
		c.send(data[:-30])
		closed = False
		for byte in itertools.islice(itertools.cycle(b" "), 40):
			try:
				c.send(bytes([byte]) if not closed else b"")
			except OSError:
				closed = True
				break
			if c.closed_within(0.3):
				closed = True
				break
			if time.monotonic() - start > 10 * SCALE:
				break
		# 30 bytes at 3 a second would last 10 s and never be idle for 2.
		assert closed and time.monotonic() - start < 8 * SCALE


# ---- HTTP-05: framing that two servers read differently ------------------------

SMUGGLED = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
HEAD = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


@pytest.mark.parametrize("data", [
	HEAD + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n" + chunked(
	json.dumps(PING).encode(), 50),
	HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n" + chunked(
	json.dumps(PING).encode(), 50),
	HEAD + b"Content-Length: %d\r\nContent-Length: 5\r\n\r\n" % len(json.dumps(PING)) + json.dumps(
	PING).encode(),
	HEAD + b"Content-Length: 5\r\ncontent-length: %d\r\n\r\n" % len(json.dumps(PING)) + json.dumps(
	PING).encode(),
	HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n" + chunked(json.dumps(PING).encode(), 50),
	HEAD + b"Transfer-Encoding: xchunked\r\n\r\n" + json.dumps(PING).encode(),
	HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n"
		+ chunked(json.dumps(PING).encode(), 50),
], ids=["cl+te", "te+cl", "two cl", "two cl, small first", "gzip, chunked", "xchunked", "two te"])
def test_HTTP05_ambiguous_framing_gets_one_answer_and_the_end(port, data):
	with Conn(port) as c:
		c.send(data + SMUGGLED)
		text = c.rest(5 * SCALE)
	assert text.count(b"HTTP/1.1 ") == 1 and text.startswith(b"HTTP/1.1 400"), text
	assert b'"nonce"' not in text


BODY = json.dumps(PING).encode()
LENGTH = b"Content-Length: %d" % len(BODY)


@pytest.mark.parametrize("data", [
	HEAD + b"Content-Length : %d\r\n\r\n" % len(BODY) + BODY,
	HEAD + LENGTH + b"\r\nTransfer-Encoding : chunked\r\n\r\n" + BODY,
	HEAD + LENGTH + b"\r\n Transfer-Encoding: chunked\r\n\r\n" + BODY,
	HEAD + b"Transfer-Encoding:\x0bchunked\r\n\r\n" + chunked(BODY, 9),
	HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n" + chunked(BODY, 9),
	HEAD + b"Transfer-Encoding: \r\n" + LENGTH + b"\r\n\r\n" + BODY,
	HEAD.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n" + chunked(BODY, 9),
	HEAD + LENGTH + b"\r\n" + LENGTH + b"\r\n\r\n" + BODY,
	HEAD + b"Content-Len\0gth: 5\r\n" + LENGTH + b"\r\n\r\n" + BODY,
	HEAD + b"no colon\r\n" + LENGTH + b"\r\n\r\n" + BODY,
	HEAD + b"Transfer-Encoding: chunked\r\n\r\n0x%x\r\n" % len(BODY) + BODY + b"\r\n0\r\n\r\n",
	HEAD + b"Transfer-Encoding: chunked\r\n\r\n%x\r\n" % len(BODY) + BODY + b"XX0\r\n\r\n",
], ids=["space before colon", "te, space before colon", "line begins with a space", "vertical tab",
	"chunked twice", "empty te", "te in HTTP/1.0", "the same length twice", "NUL in a name",
	"no colon", "chunk size 0x", "no end of chunk"])
def test_HTTP05_headers_that_another_server_reads_differently(port, data):
	with Conn(port) as c:
		c.send(data + SMUGGLED)
		text = c.rest(5 * SCALE)
	assert text.count(b"HTTP/1.1 ") == 1 and text.split(b" ", 2)[1] == b"400", text
	assert b'"nonce"' not in text


@pytest.mark.parametrize("path", [b"/rcp/ping\0evil", b"/rcp/ping\x01", b"/rcp/p\xc3\xafng",
	b"/rcp/ping x"])
def test_HTTP06_raw_bytes_in_the_path(port, path):
	with Conn(port) as c:
		c.send(HEAD.replace(b"/rcp/ping", path) + LENGTH + b"\r\n\r\n" + BODY)
		r = c.response()
	assert r.status == 400 and b'"nonce"' not in r.body


@pytest.mark.parametrize("hosts", [[], ["localhost", "localhost"], ["localhost", "evil.example"]])
def test_HTTP05_no_host_or_two(port, hosts):
	data = b"POST /rcp/ping HTTP/1.1\r\n" + b"".join(b"Host: %s\r\n" % h.encode()
		for h in hosts) + \
		http_request(PING, host=None).split(b"\r\n", 1)[1]
	r = once(port, data)
	assert r.status == 400 and r.media_type == "application/json" and r.json()["error"][
			"code"] == -32600


@pytest.mark.parametrize("target", ["http://localhost/rcp/ping", "http://evil.example/rcp/ping",
	"https://localhost/rcp/ping", "*", "localhost:80", "rcp/ping"])
def test_HTTP05_targets_that_are_no_path(port, target):
	r = post(port, PING, target)
	assert r.status in (400, 404) and b'"nonce"' not in r.body, r


# ---- HTTP-08: Expect -----------------------------------------------------------


def expect(length, **kw):
	return HEAD + b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % length


def test_HTTP08_T11_100_continue_comes_at_once(port):
	doc = {"id": "http08", "text": "expectword " + "x" * 2_000_000}
	body = json.dumps(request("index/add", {"documents": [doc]})).encode()
	head = expect(len(body)).replace(b"/rcp/ping", b"/rcp/index/add")
	with Conn(port) as c:
		start = time.monotonic()
		c.send(head)
		assert c.take_until(b"\r\n\r\n", start + 5 * SCALE).startswith(b"HTTP/1.1 100")
		assert time.monotonic() - start < 0.5 * SCALE
		c.send(body)
		r = c.response()
		assert r.status == 200 and r.json()["result"]["ids"] == ["http08"]


def test_HTTP08_D12_declared_length_over_the_cap_gets_no_100(port):
	with Conn(port) as c:
		start = time.monotonic()
		c.send(expect(100_000_000))
		r = c.response()
		assert r.interim == [] and time.monotonic() - start < 0.5 * SCALE
		error_body(r, 413, -32013)


def test_HTTP08_no_100_for_what_is_refused(port):
	body = json.dumps(PING).encode()
	for data, status in ((expect(len(body)).replace(b"/rcp/ping", b"/nope"), 404),
			(expect(len(body)).replace(b"application/json", b"text/plain"), 415),
			(expect(len(body)).replace(b"localhost", b"evil.example"), 403)):
		with Conn(port) as c:
			c.send(data)
			r = c.response()
			assert r.status == status and r.interim == []


def test_HTTP08_body_without_waiting(port):
	body = json.dumps(PING).encode()
	with Conn(port) as c:
		c.send(expect(len(body)) + body)
		assert is_pong(c.response())
		assert is_pong(c.post(PING))


# ---- many clients; nothing is left ---------------------------------------------


@pytest.mark.parametrize("count", [127, 128, 129, 255, 256, 257])
def test_T11_no_stall_at_any_number_of_ready_connections(server, count):
	"""libmicrohttpd's own epoll thread stalls when exactly 128 connections are ready."""
	clients = [Conn(server.port) for _ in range(count)]
	try:
		start = time.monotonic()
		for _ in range(4):
			for c in clients:
				c.send(http_request(PING))
			assert all(is_pong(c.response()) for c in clients)
		assert time.monotonic() - start < 6 * SCALE
	finally:
		for c in clients:
			c.close()


def test_T11_nothing_is_left_after_all_kinds_of_ends(server):
	post(server.port, PING)
	server.wait_idle(ignore=("connections",))
	before = process_state(server.pid)
	gauges = server.dump()
	pieces = [b"", b"POST", http_request(PING)[:60], http_request(PING)[:-5], http_request(PING),
		http_request(PING) * 3, HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
		http_request(request("retrieve", {"query": "x", "mode": "sparse"}))]
	half_closed = []
	for i in range(160):
		c = Conn(server.port)
		if pieces[i % len(pieces)]:
			c.send(pieces[i % len(pieces)])
		if i % 3 == 0:
			c.abort()
		elif i % 3 == 1:
			c.close()
		else:
			c.sock.shutdown(socket.SHUT_WR)
			half_closed.append(c)

	def settled():
		now = server.dump()
		return all(now[k] <= gauges[k] for k in ("requests", "inflight", "connections",
			"exchanges"))
	wait_until(settled, 10, 0.05, "connections and requests to be freed")
	for c in half_closed:
		assert c.closed_within(1)
		c.close()
	after = process_state(server.pid)
	assert after["threads"] == before["threads"] and after["fds"] <= before["fds"], (before, after)


@pytest.mark.parametrize("accept,keys", [
	("text/event-stream", {"write_timeout": 2}), ("application/json", {"write_timeout": 2})])
def test_T4_T11_a_reader_that_stops_reading_is_cut(rcpd, accept, keys):
	server = rcpd(env=settings(**keys))
	text = " ".join("slowword filler%d" % i for i in range(60000))
	add = request("index/add", {"documents": [{"id": "big", "text": text}]})
	assert "result" in post(server.port, add).json()
	ask_all = http_request(request("retrieve", {"query": "slowword", "k": 500, "mode": "sparse"}),
		headers=[("Accept", accept)])
	assert len(once(server.port, ask_all).body) > 50_000
	with socket.socket() as s:
		s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
		s.settimeout(5 * SCALE)
		s.connect(("127.0.0.1", server.port))
		s.setblocking(False)
		for _ in range(100):
			try:
				s.send(ask_all)
			except (BlockingIOError, BrokenPipeError, ConnectionResetError):
				break
		wait_until(lambda: server.dump()["connections"] == 0, 15, 0.1, "the reader to be cut")
		assert is_alive(server.port)


@pytest.mark.parametrize("accept", ["text/event-stream", "application/json"])
def test_T4_T11_answers_of_workers_leave_at_once(port, accept):
	"""A lost wake-up of an I/O thread would show as half a second, its tick."""
	times = []
	with Conn(port) as c:
		for i in range(80):
			start = time.monotonic()
			r = c.post(request("retrieve", {"query": "x", "mode": "sparse"}, id=i),
				headers=[("Accept", accept)])
			assert r.status == 200
			times.append(time.monotonic() - start)
	times.sort()
	assert times[40] < 0.03 * SCALE and times[76] < 0.2 * SCALE, times[-10:]


HIDDEN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Hidden: 1\r\n\r\n"


@pytest.mark.parametrize("lines", [
	b"Content-Length: %d\r\n x\r\n" % len(HIDDEN), b"Transfer-Encoding:\r\n chunked\r\n",
	b"Transfer: chunked\r\n -Encoding\r\n", b"Content: 2\r\n -Length\r\n", b": x\r\n",
	b"Content-Length: 0\x009\r\n", b"X: a\rContent-Length: 9\r\n", b"X: a\n"])
def test_HTTP05_T11_misread_header_lines_end_the_connection(port, lines):
	with Conn(port) as c:
		c.send(b"POST /rcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
			+ lines + b"\r\n" + HIDDEN)
		r = c.response()
		error_body(r, 400, -32600)
		assert r.header("connection") == "close" and c.closed_within(2)


def test_HTTP05_nothing_follows_what_is_not_json(port):
	with Conn(port) as c:
		c.send(http_request(b"{]") + HIDDEN)
		error_body(c.response(), 400, -32700)
		assert c.closed_within(2)


def test_T7_T11_HTTP09_an_endless_chunk_size_line_is_let_go(server):
	server.wait_idle()
	with Conn(server.port) as c:
		c.send(HEAD + b"Transfer-Encoding: chunked\r\n\r\n28;a=" + b"x" * 30000)
		wait_until(lambda: server.dump()["exchanges"] == 1, 5, 0.02, "it to arrive")
		wait_until(lambda: server.dump()["exchanges"] == 0, 5, 0.1, "it to be let go")
		assert c.closed_within(2)


def test_K1_small_bodies_need_no_budget(small):
	stalled = []
	try:
		for _ in range(20):
			c = Conn(small.port)
			c.send(HEAD + b"Content-Length: 1048576\r\n\r\n" + b" " * 1048575)
			stalled.append(c)
		wait_until(lambda: small.dump()["body_bytes"] > 15 << 20, 5, 0.05, "the budget to be used")
		assert is_alive(small.port)
	finally:
		for c in stalled:
			c.close()


def test_T11_max_per_address_does_not_count_loopback(rcpd):
	server = rcpd(env=settings(max_per_address=5))
	clients = [Conn(server.port) for _ in range(20)]
	try:
		assert all(is_pong(c.post(PING)) for c in clients), "nginx needs more than that"
	finally:
		for c in clients:
			c.close()


def test_T11_many_threads_at_once(port):
	bad = []

	def work(n):
		try:
			with Conn(port) as c:
				for i in range(40):
					got = c.post(request("ping", {"nonce": n * 1000 + i}, id=i)).json()
					if got != {"jsonrpc": "2.0", "id": i, "result": {"nonce": n * 1000 + i}}:
						bad.append(got)
		except Exception as e:
			bad.append(e)
	threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
	for t in threads:
		t.start()
	for t in threads:
		t.join(60)
	assert not bad, bad[:3]
