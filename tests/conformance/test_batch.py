"""M14 and the decisions on batches, over HTTP and stdio."""
import json

import pytest

from lib import MARKER
from lib.corpus import fill


def request(id, method="ping", **params):
	return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def send(peer, members):
	return peer.raw(json.dumps(members))


def test_M14_RPC_06_an_array_gives_one_answer_per_request(peer):
	members = [request(i, nonce=i) for i in range(10)]
	members.insert(3, {"jsonrpc": "2.0", "method": "ping"})
	members.append({"jsonrpc": "2.0", "method": "notifications/foo"})
	answers = send(peer, members)
	assert isinstance(answers, list)
	assert sorted(a["id"] for a in answers) == list(range(10))
	assert all(a["result"]["nonce"] == a["id"] for a in answers)


def test_M14_RPC_06_an_empty_array_gives_one_error_object(peer):
	answer = peer.raw("[]")
	assert isinstance(answer, dict)
	assert (answer.code, answer["id"]) == (-32600, None)


@pytest.mark.parametrize("bad", ["1", "null", '"x"', "true", "[]", "[[]]", "1.5"])
def test_M14_RPC_06_a_member_that_is_no_object_fails_alone(peer, bad):
	answers = peer.raw('[%s,{"jsonrpc":"2.0","id":1,"method":"ping"}]' % bad)
	assert len(answers) == 2
	by_id = {a["id"]: a for a in answers}
	assert by_id[None]["error"]["code"] == -32600
	assert by_id[1]["result"] == {}
	answers = peer.raw("[%s]" % bad)
	assert isinstance(answers, list) and len(answers) == 1
	assert answers[0]["error"]["code"] == -32600 and answers[0]["id"] is None


def test_M14_RPC_06_bad_members_do_not_fail_the_others(peer):
	fill(peer.server)
	answers = send(peer, [request(1, "nope"), request(2, "retrieve", k=-1, query="x"),
		request(3, "graph"), {"jsonrpc": "2.0", "id": 4}, {}, {"jsonrpc": "1.0", "id": 5,
		"method": "ping"}, request(6, "retrieve", query=f"fox {MARKER}"), request(7)])
	codes = {a["id"]: a.get("error", {}).get("code") for a in answers}
	assert codes == {1: -32004, 2: -32602, 3: -32003, 4: -32600, None: -32600, 5: -32600, 6: None,
		7: None}
	hits = [a for a in answers if a["id"] == 6][0]["result"]["hits"]
	assert hits[0]["chunk"]["docId"] == "fox"


def test_M14_RPC_06_only_notifications_give_no_body(peer):
	members = [{"jsonrpc": "2.0", "method": "notifications/cancel", "params": {"id": i}}
		for i in range(3)]
	assert send(peer, members) is None


def test_M14_equal_ids_in_a_batch_are_each_answered(peer):
	answers = send(peer, [request("same", nonce=1), request("same", nonce=2)])
	assert sorted(a["result"]["nonce"] for a in answers) == [1, 2]


def test_M14_D12_C5_RPC_06_an_oversized_batch_gives_one_error_object(peer):
	answer = send(peer, [request(i) for i in range(10_001)])
	assert isinstance(answer, dict)
	assert (answer.code, answer["id"]) == (-32013, None)
	if peer.kind == "http":
		assert answer.status == 200


def test_M14_D12_the_batch_limit_is_configured(rcpd):
	server = rcpd(env={"RCPD_MAX_BATCH": "3"})
	status, _, body = server.post(server.base, [request(i) for i in range(3)])
	assert status == 200 and len(json.loads(body)) == 3
	status, _, body = server.post(server.base, [request(i) for i in range(4)])
	assert status == 200
	assert (json.loads(body)["error"]["code"], json.loads(body)["id"]) == (-32013, None)


def test_M14_D8_a_batch_at_the_base_with_and_without_a_slash(server):
	for path in (server.base, server.base + "/"):
		status, _, body = server.post(path, [request(1), request(2, "info")])
		assert status == 200
		assert {a["id"] for a in json.loads(body)} == {1, 2}


def test_M14_D9_at_a_method_path_other_methods_are_refused_one_by_one(server):
	status, _, body = server.post(server.base + "/ping",
		[request(1), request(2, "info"), request(3), request(4, "index/delete", ids=["fox"])])
	assert status == 200
	codes = {a["id"]: a.get("error", {}).get("code") for a in json.loads(body)}
	assert codes == {1: None, 2: -32600, 3: None, 4: -32600}


def test_M14_D16_a_batch_over_sse_gets_json_or_one_final_frame(server):
	status, headers, body = server.post(server.base, [request(1), request(2)],
		{"Accept": "text/event-stream"})
	assert status == 200
	if headers["Content-Type"].startswith("text/event-stream"):
		frames = [line[5:] for line in body.split(b"\n") if line.startswith(b"data:")]
		assert len(frames) == 1
		body = frames[0]
	assert {a["id"] for a in json.loads(body)} == {1, 2}


def test_M14_D9_M7_members_run_in_order_where_one_is_initialize(rcpd_stdio):
	server = rcpd_stdio()
	server.send([request(1, "retrieve", query="x"), request(2, "initialize", protocolVersion=1),
		request(3, "retrieve", query="x")])
	codes = {a["id"]: a.get("error", {}).get("code") for a in server.recv()}
	assert codes == {1: -32001, 2: None, 3: None}


def test_M14_writes_and_reads_in_a_batch_are_each_whole(peer):
	documents = [{"id": f"batch-{i}", "text": f"batchword number{i} {MARKER}"} for i in range(5)]
	answers = send(peer, [request(i, "index/add", documents=[d]) for i, d in enumerate(documents)])
	assert sorted(a["result"]["ids"][0] for a in answers) == [d["id"] for d in documents]
	hits = peer.call("retrieve", {"mode": "sparse", "query": "batchword"}).result["hits"]
	assert len(hits) == 5
	peer.call("index/delete", {"ids": [d["id"] for d in documents]})
