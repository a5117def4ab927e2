"""Path, body and status over HTTP: D6-D15, D18, D21, RPC-05, RPC-07, RPC-08."""
import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from lib import MARKER
from lib.corpus import fill


def body_of(answer):
	return json.loads(answer[2])


@pytest.mark.parametrize("path,method", [("ping", "index/delete"), ("retrieve", "info"),
	("PING", "ping"), ("index/add", "index/delete"), ("nope", "ping"), ("index", "index/add")])
def test_D7_RPC_07_path_and_body_that_disagree_run_nothing(server, path, method):
	fill(server)
	params = {"ids": ["fox"]} if method == "index/delete" else {}
	answer = server.rpc(method, params, path=f"{server.base}/{path}")
	assert answer.status == 200
	assert answer.code == -32600
	assert server.result("retrieve", {"query": f"fox {MARKER}"})["hits"][0]["chunk"]["docId"] == "fox"


def test_D7_RPC_05_a_mismatched_notification_runs_nothing(server):
	fill(server)
	assert server.rpc("index/delete", {"ids": ["fox"]}, id=None, path=server.base + "/ping") is None
	assert server.result("retrieve", {"query": "fox"})["hits"][0]["chunk"]["docId"] == "fox"


def test_D7_D20_parse_errors_come_before_the_path(server):
	status, _, body = server.post(server.base + "/nope", "{broken")
	assert (status, json.loads(body)["error"]["code"]) == (400, -32700)


@pytest.mark.parametrize("tail", ["", "/"])
def test_D8_HTTP_07_the_base_takes_any_method_and_never_redirects(server, tail):
	for method in ("ping", "info", "nope"):
		answer = server.rpc(method, {}, path=server.base + tail)
		assert answer.status == 200
		assert answer.code == (-32004 if method == "nope" else None)


@pytest.mark.parametrize("tail", ["ping", "ping/", "ping?x=1", "ping/?a=b&c"])
def test_T1_a_query_or_one_trailing_slash_does_no_harm(server, tail):
	assert server.rpc("ping", {"nonce": 1}, path=f"{server.base}/{tail}").result == {"nonce": 1}


@pytest.mark.parametrize("path", ["index/add", "index%2Fadd", "index%2fadd"])
def test_T1_a_method_with_a_slash_comes_plain_or_escaped(server, path):
	answer = server.rpc("index/add", {"documents": 5}, path=f"{server.base}/{path}")
	assert (answer.code, answer.field) == (-32602, "documents")


@pytest.mark.parametrize("path", ["nope", "a/b/c", "retrieve/x", "%E2%82%AC", "notifications"])
def test_D10_RPC_08_a_path_under_the_base_that_names_no_method(server, path):
	import urllib.parse
	method = urllib.parse.unquote(path)
	answer = server.rpc(method, {}, path=f"{server.base}/{path}")
	assert (answer.status, answer.code) == (200, -32004)


@pytest.mark.parametrize("path", ["/", "/other", "/rcpx", "/rcpx/ping", "/rc"])
def test_D10_T2_outside_the_base_is_404_with_a_json_body(server, path):
	status, headers, body = server.post(path, {"jsonrpc": "2.0", "id": 1, "method": "ping"})
	assert status == (405 if path == "/" else 404)  # "/" itself takes GET
	assert headers["Content-Type"].startswith("application/json")
	assert isinstance(json.loads(body), dict)


@pytest.mark.parametrize("path", ["ping%00evil", "ping%0d%0aX:1", "%E0%A4%A", "ping%", "%zz", "%07",
	"ping%7f"])
def test_D11_HTTP_06_paths_with_nul_controls_or_broken_escapes_are_400(server, path):
	status, headers, body = server.post(f"{server.base}/{path}",
		{"jsonrpc": "2.0", "id": 1, "method": "ping"})
	assert status == 400
	assert "result" not in json.loads(body)
	assert headers.get("X") is None


def test_RPC_08_jsonrpc_errors_are_http_200(server):
	for method, params, code in (("does/not/exist", {}, -32004), ("graph", {}, -32003),
			("retrieve", {"query": "x", "k": -5}, -32602)):
		answer = server.rpc(method, params)
		assert (answer.status, answer.code) == (200, code)
		assert answer.headers["Content-Type"].startswith("application/json")


def test_D13_T9_on_loopback_everybody_is_let_in_for_now(server):
	answer = server.rpc("ping", {}, headers={"Authorization": "Bearer whatever"})
	assert answer.result == {}


def test_D14_T2_overload_is_503_with_retry_after(rcpd):
	server = rcpd(env={"RCPD_WORKERS": "1", "RCPD_QUEUE": "1",
		"RCPD_FAULTS": "retrieve.transform=stall:500"})
	message = {"jsonrpc": "2.0", "id": 1, "method": "retrieve", "params": {"query": "x"}}
	with ThreadPoolExecutor(8) as pool:
		answers = list(pool.map(lambda _: server.post(server.base, message), range(8)))
	refused = [a for a in answers if a[0] == 503]
	served = [a for a in answers if a[0] == 200]
	assert len(refused) + len(served) == 8 and refused and served
	for _, headers, body in refused:
		assert int(headers["Retry-After"]) >= 1
		error = json.loads(body)["error"]
		assert error["code"] == -32010
		assert error["data"]["retryable"] is True


@pytest.mark.parametrize("verb", ["GET", "PUT", "DELETE", "PATCH", "HEAD"])
def test_D15_T2_other_verbs_are_405_with_allow(server, verb):
	status, headers, body = server.request(verb, server.base + "/ping")
	assert status == 405
	assert "POST" in headers["Allow"]


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None, "",
	"application/jsonx", "text/json"])
def test_D15_T2_other_content_types_are_415_and_run_nothing(server, kind):
	fill(server)
	status, _, body = server.post(server.base + "/index/delete", {"jsonrpc": "2.0", "id": 1,
		"method": "index/delete", "params": {"ids": ["fox"]}}, {"Content-Type": kind})
	assert status == 415
	assert isinstance(json.loads(body), dict)
	assert server.result("retrieve", {"query": "fox"})["hits"][0]["chunk"]["docId"] == "fox"


@pytest.mark.parametrize("kind", ["application/json; charset=utf-8", "Application/JSON",
	"application/json;charset=UTF-8;x=y"])
def test_T1_D15_content_type_parameters_are_allowed(server, kind):
	status, _, body = server.post(server.base + "/ping",
		{"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"Content-Type": kind})
	assert (status, json.loads(body)["result"]) == (200, {})


def test_D21_HTTP_10_buffered_answers_have_a_length_and_host_needs_no_port(server):
	body = b'{"jsonrpc":"2.0","id":1,"method":"info"}'
	for host in (b"127.0.0.1", b"localhost", b"127.0.0.1:1"):
		s = server.raw()
		s.sendall(b"POST /rcp/info HTTP/1.1\r\nHost: " + host + b"\r\nContent-Type: application/json\r\n"
			b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
		status, headers, got = s.recv_response()
		assert status == 200
		assert int(headers["Content-Length"]) == len(got)
		assert headers["Transfer-Encoding"] is None
		assert s.recv(1) == b""  # the server closes after the body
		s.close()
