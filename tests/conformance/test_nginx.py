"""rcpd behind nginx: the shipped configuration, and a stock one.

nginx is Debian's binary, started by the test in a folder of its own. The shipped
files are used as they are but for the two things that must differ on a machine
where port 80 is not ours: the address to listen on and the daemon's port. Where a
test shortens a time limit too, it says so.
"""
import http.client
import json
import pathlib
import ssl
import subprocess
import time

import pytest

from lib import SCALE, wait_until
from lib.http import (Conn, Nginx, Relay, Sse, chunked, free_port, http_request, need, post,
	request,
	search, settings, stall)

CONF = pathlib.Path(__file__).resolve().parents[2] / "conf" / "nginx"
PING = request("ping", {"nonce": "n"})
PONG = {"jsonrpc": "2.0", "id": 1, "result": {"nonce": "n"}}
SLOW_STAGES = {"RCPD_FAULTS": ",".join(
	"retrieve.%s=stall:250" % stage for stage in ("transform", "recall", "pack"))}


def swap(text, old, new):
	"""Replaces exactly one occurrence, or the shipped file is not what the test thinks."""
	assert text.count(old) == 1, "%r stands %d times in the shipped file" % (old, text.count(old))
	return text.replace(old, new)


def shipped(folder, upstream, listen="listen 127.0.0.1:PORT;", changes=()):
	"""The shipped configuration in front of the daemon on port `upstream`."""
	main = (CONF / "rcpd.conf").read_text()
	proxy = (CONF / "rcpd-proxy.conf").read_text()
	main = swap(main, "listen 80;", listen)
	if upstream:
		main = swap(main, "server 127.0.0.1:8077;", "server 127.0.0.1:%d;" % upstream)
	for old, new in changes:
		if old in main:
			main = swap(main, old, new)
		else:
			proxy = swap(proxy, old, new)
	return Nginx(folder, "include conf.d/*.conf;",
		{"conf.d/rcpd.conf": main, "snippets/rcpd-proxy.conf": proxy})


@pytest.fixture(scope="module")
def front(server, tmp_path_factory):
	"""The shipped nginx in front of the module's server."""
	with shipped(tmp_path_factory.mktemp("nginx"), server.port) as nginx:
		yield nginx


def is_pong(r):
	return r.status == 200 and r.json() == PONG


def json_error(r, status, code):
	assert r.status == status and r.media_type == "application/json", r
	body = r.json()
	assert body["jsonrpc"] == "2.0" and body["id"] is None and body["error"]["code"] == code, r
	assert b"<html" not in r.body
	return body["error"]


def fill(port):
	docs = [{"id": "doc-%d" % i, "text": "common text of number %d" % i} for i in range(5)]
	assert "result" in post(port, request("index/add", {"documents": docs})).json()


# ---- the shipped file ----------------------------------------------------------


def test_OPS01_shipped_files_pass_nginx_t_untouched(tmp_path):
	files = {"conf.d/rcpd.conf": (CONF / "rcpd.conf").read_text(),
		"snippets/rcpd-proxy.conf": (CONF / "rcpd-proxy.conf").read_text()}
	for name, text in files.items():
		assert "PORT" not in text, name
	Nginx(tmp_path, "include conf.d/*.conf;", {**files, "conf.d/rcpd.conf":
		swap(files["conf.d/rcpd.conf"], "listen 80;", "listen 127.0.0.1:PORT;")}).check()


def test_OPS01_buffered_calls(front):
	with Conn(front.port) as c:
		for i in range(20):
			r = c.post(request("ping", {"nonce": i}, id=i), "/rcp/ping")
			assert r.status == 200 and r.json() == {"jsonrpc": "2.0", "id": i,
					"result": {"nonce": i}}
	doc = {"id": "big", "text": "nginxword " + "x" * 2_000_000}
	r = post(front.port, request("index/add", {"documents": [doc]}), "/rcp/index/add")
	assert r.status == 200 and r.json()["result"]["ids"] == ["big"]
	r = post(front.port, search("nginxword", includeText=False), "/rcp/retrieve")
	assert r.json()["result"]["hits"][0]["chunk"]["docId"] == "big"
	assert post(front.port, request("ping", id=None)).status == 204
	json_error(post(front.port, b"{"), 400, -32700)
	assert post(front.port, PING, ctype="text/plain").status == 415


@pytest.mark.parametrize("path", ["/rcp", "/rcp/", "/rcp/ping", "/rcp/ping/", "/rcp/ping?x=1"])
def test_HTTP07_paths_through_nginx(front, path):
	r = post(front.port, PING, path)
	assert is_pong(r) and r.header("Location") is None


@pytest.mark.parametrize("path", ["/rcp//ping", "/rcp/./ping", "/rcp/x/../ping", "/rcpx", "/",
	"/healthz"])
def test_HTTP07_other_paths_through_nginx(front, path):
	r = post(front.port, PING, path)
	assert r.status in (200, 400, 404, 405) and r.header("Location") is None
	assert r.media_type == "application/json" and b'"nonce"' not in r.body


def test_HTTP07_T1_escaped_slash_arrives_as_written(front):
	r = post(front.port, request("index/delete", {"ids": ["none"]}), "/rcp/index%2Fdelete")
	assert r.status == 200 and r.json()["result"]["deleted"] == 0


def test_HTTP07_tls(server, tmp_path):
	openssl = need("openssl")
	key, cert = tmp_path / "key.pem", tmp_path / "cert.pem"
	subprocess.run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
		"ec_paramgen_curve:prime256v1", "-nodes",
		"-subj", "/CN=localhost", "-days", "2", "-keyout", key, "-out", cert], check=True,
		capture_output=True)
	listen = "listen 127.0.0.1:PORT ssl;\n\tssl_certificate %s;\n\tssl_certificate_key %s;" % (cert,
		key)
	context = ssl.create_default_context(cafile=str(cert))
	context.check_hostname = False
	with shipped(tmp_path, server.port, listen) as nginx:
		for path in ("/rcp", "/rcp/", "/rcp/ping/", "/rcp//ping"):
			c = http.client.HTTPSConnection("127.0.0.1", nginx.port, context=context,
				timeout=10 * SCALE)
			c.request("POST", path, json.dumps(PING), {"Content-Type": "application/json"})
			r = c.getresponse()
			body = json.loads(r.read())
			c.close()
			assert r.status == 200 and r.getheader("Location") is None
			assert body == PONG if path != "/rcp//ping" else body["error"]["code"] in (-32600,
					-32004)


def test_SEC02_host_is_passed_on(rcpd, tmp_path):
	server = rcpd(env=settings(hosts="rcp.example.org"))
	with Relay(server.port) as relay, shipped(tmp_path, relay.port) as nginx:
		assert is_pong(post(nginx.port, PING, host="rcp.example.org"))
		assert post(nginx.port, PING, host="evil.example").status == 403
		text = b"".join(relay.up).lower()
		assert b"host: rcp.example.org\r\n" in text and b"host: evil.example\r\n" in text
		assert b"connection: close" not in text and b" http/1.1\r\n" in text
		assert b"x-forwarded-for: 127.0.0.1\r\n" in text


def test_OPS01_connections_to_rcpd_are_reused(server, tmp_path):
	with Relay(server.port) as relay, shipped(tmp_path, relay.port) as nginx:
		for i in range(40):
			assert is_pong(post(nginx.port, PING))
		with Sse(nginx.port, search("x")) as s:
			s.frames()
		assert is_pong(post(nginx.port, PING))
		assert relay.connections <= 2, "%d connections for 42 requests" % relay.connections


def test_OPS01_unix_socket_upstream(rcpd, tmp_path):
	server = rcpd(listen="unix:%s" % (tmp_path / "s"))
	changes = [("server 127.0.0.1:8077;", "# server 127.0.0.1:8077;"),
		("# server unix:/run/rcpd/rcpd.sock;", "server unix:%s;" % server.unix)]
	with shipped(tmp_path, None, changes=changes) as nginx:
		assert is_pong(post(nginx.port, PING))
		with Sse(nginx.port, search("x")) as s:
			assert "result" in s.frames()[-1].json


# ---- SSE through nginx ---------------------------------------------------------


def frames_through(nginx, relay, headers=()):
	"""Reads a slow stream; returns frames and how long each took from rcpd to here."""
	with Sse(nginx.port, search("common"), "/rcp/retrieve",
			headers=[("Accept", "text/event-stream"), *headers]) as s:
		frames = s.frames()
		assert s.response.header("Content-Encoding") is None
		assert "no-cache" in s.response.header("Cache-Control")
	assert len(frames) >= 3 and "result" in frames[-1].json
	return frames, [f.at - relay.sent_at(f.data.encode()) for f in frames]


def test_SSE01_T4_frames_through_the_shipped_nginx_within_50_ms(rcpd, tmp_path):
	server = rcpd(env=SLOW_STAGES)
	fill(server.port)
	with Relay(server.port) as relay, shipped(tmp_path, relay.port) as nginx:
		frames, delays = frames_through(nginx, relay)
		assert max(delays) < 0.05 * SCALE, delays
		assert frames[-1].at - frames[0].at > 0.5, "the frames came together"


def test_SSE01_stock_nginx_passes_frames_too(rcpd, tmp_path):
	"""No proxy_buffering, no proxy_http_version; gzip on as Debian ships it."""
	server = rcpd(env=SLOW_STAGES)
	fill(server.port)
	with Relay(server.port) as relay:
		conf = ("gzip on; server { listen 127.0.0.1:PORT;"
			" location /rcp { proxy_pass http://127.0.0.1:%d; } }")
		with Nginx(tmp_path, conf % relay.port) as nginx:
			# Its Host is the upstream's address, a loopback one.
			frames, delays = frames_through(nginx, relay, [("Accept-Encoding", "gzip")])
			assert max(delays) < 0.2 * SCALE, delays
			assert frames[-1].at - frames[0].at > 0.5, "the frames came together"


def test_SSE05_heartbeats_outlive_the_read_timeout(rcpd, tmp_path):
	"""proxy_read_timeout lowered to 2 s, below the stage's 4.5 s of silence."""
	server = rcpd(env={**settings(heartbeat=1), **stall("recall", 4500)})
	fill(server.port)
	short = [("proxy_read_timeout 60s;", "proxy_read_timeout 2s;")]
	with shipped(tmp_path, server.port, changes=short) as nginx:
		with Sse(nginx.port, search("common")) as s:
			frames = s.frames()
			assert "result" in frames[-1].json and len(s.comments) >= 3


def test_SSE05_deadline_comes_before_the_read_timeout(rcpd, tmp_path):
	"""Both shortened in the shipped proportion: 25 s and 60 s become 1 s and 2.4 s."""
	server = rcpd(env={**settings(deadline_ms=1000), **stall("recall", 30000)})
	fill(server.port)
	short = [("proxy_read_timeout 60s;", "proxy_read_timeout 2400ms;")]
	with shipped(tmp_path, server.port, changes=short) as nginx:
		r = post(nginx.port, search("common"))
		assert r.status == 200 and r.error()["code"] == -32014 and r.json()["id"] == 1


def test_SSE02_T7_hang_up_reaches_rcpd_through_nginx(rcpd, tmp_path):
	server = rcpd(env={**settings(workers=4), **stall("recall", 20000)})
	fill(server.port)
	with shipped(tmp_path, server.port) as nginx:
		streams = [Sse(nginx.port, search("common", id=i)) for i in range(20)]
		wait_until(lambda: server.dump()["streams"] == 20)
		buffered = Conn(nginx.port)
		buffered.send(http_request(search("common")))
		wait_until(lambda: server.dump()["inflight"] == 21)
		for i, s in enumerate(streams):
			if i % 2:
				s.conn.abort()
			else:
				s.close()
		buffered.close()
		wait_until(lambda: server.dump()["inflight"] == 0, 3, what="hang-ups to reach rcpd")


# ---- limits and failures: JSON-RPC bodies --------------------------------------


def write_all_then_read(port, size, path="/rcp/index/add"):
	c = http.client.HTTPConnection("127.0.0.1", port, timeout=30 * SCALE)
	piece = b" " * (1 << 20)
	c.putrequest("POST", path)
	c.putheader("Content-Type", "application/json")
	c.putheader("Content-Length", str(size))
	c.endheaders()
	left = size
	while left:
		c.send(piece[:left])
		left -= min(left, len(piece))
	r = c.getresponse()
	body = r.read()
	c.close()
	return r, json.loads(body)


@pytest.mark.parametrize("size", [100_000_000, 20_000_000, (16 << 20) + 1])
def test_HTTP03_OPS01_too_large_is_refused_in_json(front, size):
	r, body = write_all_then_read(front.port, size)
	assert r.status == 413 and r.getheader("Content-Type") == "application/json"
	assert body["id"] is None and body["error"]["code"] == -32013 and body["jsonrpc"] == "2.0"
	assert is_pong(post(front.port, PING))


def test_HTTP02_chunked_over_the_cap_through_nginx(front):
	head = b"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" \
		b"Transfer-Encoding: chunked\r\n\r\n"
	with Conn(front.port) as c:
		try:
			c.send(head + chunked(b" " * (17 << 20), 1 << 20))
		except (BrokenPipeError, ConnectionResetError):
			pass
		json_error(c.response(), 413, -32013)


def test_OPS01_a_body_at_the_cap_passes(front):
	body = json.dumps(PING).encode()
	assert is_pong(post(front.port, body + b" " * ((16 << 20) - len(body))))


def test_OPS01_bad_requests_are_json(front):
	json_error(post(front.port, PING, headers=[("X-Long", "a" * 50000)]), 400, -32600)


def raw_request(line, *fields):
	head = [line, b"Host: localhost", b"Content-Type: application/json", *fields]
	body = json.dumps(PING).encode()
	return b"\r\n".join(head + [b"Content-Length: %d" % len(body), b"", body])


@pytest.mark.parametrize("data,status", [
	(raw_request(b"POST /rcp/%zz HTTP/1.1"), 400),
	(raw_request(b"POST /rcp/ping%00x HTTP/1.1"), 400),
	(raw_request(b"POST /rcp/\x01 HTTP/1.1"), 400),
	(raw_request(b"POST /../rcp HTTP/1.1"), 400),
	(raw_request(b"POST rcp HTTP/1.1"), 400),
	(b"POST /rcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 400),
	(raw_request(b"POST /rcp HTTP/1.1", b"X-Long: " + b"a" * 9000), 400),
	(raw_request(b"POST /rcp HTTP/1.1", b"Content-Length: 1"), 400),
	(b"GET foo\r\n\r\n", 400),
	(b"\x16\x03\x01\x02\x00\x01\r\n\r\n", 400),
	(raw_request(b"TRACE /rcp HTTP/1.1"), 405),
	(raw_request(b"POST /rcp/" + b"a" * 9000 + b" HTTP/1.1"), 414),
	(raw_request(b"POST /rcp HTTP/1.1", b"Transfer-Encoding: gzip"), 501),
	(raw_request(b"POST /rcp HTTP/9.9"), 505),
	(raw_request(b"POST /rcpd-error/bad-request HTTP/1.1"), 404),
], ids=["escape", "nul", "control", "dotdot", "no-slash", "no-host", "long-field", "two-lengths",
	"no-version", "tls", "trace", "long-uri", "coding", "version", "internal"])
def test_OPS01_what_nginx_cannot_parse_is_answered_in_json(server, tmp_path, data, status):
	"""Named locations need a path; for these nginx had none and sent HTML 500 or 505."""
	with shipped(tmp_path, server.port) as nginx:
		with Conn(nginx.port) as c:
			c.send(data)
			json_error(c.response(), status, -32600)
		assert is_pong(post(nginx.port, PING))
		assert "empty URI" not in nginx.log()


def test_D14_OPS01_bursts_get_429_with_retry_after(server, tmp_path):
	with shipped(tmp_path, server.port) as nginx, Conn(nginx.port) as c:
		codes = {}
		for batch in range(10):
			c.send(http_request(PING, "/rcp/ping") * 50)
			for _ in range(50):
				r = c.response()
				codes[r.status] = codes.get(r.status, 0) + 1
				if r.status == 429:
					error = json_error(r, 429, -32011)
					assert int(r.header("Retry-After")) >= 1
					assert error["data"]["retryable"] is True and error["data"][
							"retryAfterMs"] >= 1000
		assert set(codes) == {200, 429} and codes[200] >= 200, codes
		wait_until(lambda: post(nginx.port, PING).status == 200, 3, 0.2, "the burst to be forgiven")


def test_D14_too_many_connections_get_429(rcpd, tmp_path):
	server = rcpd(env={**settings(workers=80), **stall("recall", 1500)})
	fill(server.port)
	with shipped(tmp_path, server.port) as nginx:
		streams = [Sse(nginx.port, search("common", id=i)) for i in range(70)]
		refused = 0
		for s in streams:
			if s.open().status == 429:
				refused += 1
				assert s.response.media_type == "application/json"
				assert s.response.header("Retry-After")
			else:
				assert "result" in s.frames()[-1].json
			s.close()
		assert refused == 6


def test_OPS01_502_when_rcpd_is_down(tmp_path):
	with shipped(tmp_path, free_port()) as nginx:
		for _ in range(3):
			r = post(nginx.port, PING)
			error = json_error(r, 502, -32010)
			assert error["data"]["retryable"] is True and r.header("Retry-After")


def test_OPS01_502_then_back(rcpd, tmp_path):
	server = rcpd()
	with shipped(tmp_path, server.port) as nginx:
		assert is_pong(post(nginx.port, PING))
		server.stop(check_idle=False)
		json_error(post(nginx.port, PING), 502, -32010)
		rcpd(listen="127.0.0.1:%d" % server.port)
		wait_until(lambda: is_pong(post(nginx.port, PING)), 5, 0.1, "nginx to find rcpd again")


def test_OPS01_504_when_rcpd_is_stuck(rcpd, tmp_path):
	"""proxy_read_timeout lowered below the deadline, as only a broken set-up would have it."""
	server = rcpd(env=stall("recall", 3000))
	fill(server.port)
	short = [("proxy_read_timeout 60s;", "proxy_read_timeout 500ms;")]
	with shipped(tmp_path, server.port, changes=short) as nginx:
		json_error(post(nginx.port, search("common")), 504, -32014)
		wait_until(lambda: server.dump()["inflight"] == 0, 3, what="the given-up request to end")


def test_OPS01_503_of_nginx_itself(server, tmp_path):
	closed = [("location = /rcp {", "location = /rcp/closed { return 503; }\n\tlocation = /rcp {")]
	with shipped(tmp_path, server.port, changes=closed) as nginx:
		r = post(nginx.port, PING, "/rcp/closed")
		json_error(r, 503, -32010)
		assert r.header("Retry-After")


def test_D14_OPS01_503_of_rcpd_passes_untouched(rcpd, tmp_path):
	server = rcpd(env={**settings(workers=1, queue=1), **stall("recall", 1500)})
	fill(server.port)
	with shipped(tmp_path, server.port) as nginx:
		with Conn(server.port) as a, Conn(server.port) as b:
			a.send(http_request(search("common")))
			wait_until(lambda: server.dump()["inflight"] == 1)
			time.sleep(0.05)
			b.send(http_request(search("common")))
			wait_until(lambda: server.dump()["inflight"] == 2)
			r = post(nginx.port, search("common", id=77))
			assert r.status == 503 and r.header("Retry-After")
			assert r.error()["code"] == -32010 and r.json()["id"] in (77, None)
			assert "result" in a.response().json() and "result" in b.response().json()
