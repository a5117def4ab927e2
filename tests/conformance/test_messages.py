"""M1-M13, M15 and what decisions.md says of the envelope, over HTTP and stdio."""
import json

import pytest

from lib import MARKER, SCALE, parse_strict, wait_until
from lib.corpus import fill
from lib.methods import METHODS, OPEN, UNBUILT

PING = '{"jsonrpc":"2.0","id":%s,"method":"ping"%s}'


# ---- M1, M2 ----

@pytest.mark.parametrize("version", ['"1.0"', '"2"', "2.0", "2", "true", "[]", "{}", '""'])
def test_M1_D18_another_jsonrpc_value_is_an_invalid_request(peer, version):
	answer = peer.raw('{"jsonrpc":%s,"id":3,"method":"ping"}' % version)
	assert answer.code == -32600
	assert answer["id"] == 3


@pytest.mark.parametrize("tail", ['"id":1,"method":"ping"', '"id":"a","method":"ping","jsonrpc":null'])
def test_M1_D18_stdio_knows_no_compact_envelope(stdio_server, tail):
	stdio_server.send("{%s}" % tail)
	answer = stdio_server.recv()
	assert answer.code == -32600
	assert answer["id"] in (1, "a")


@pytest.mark.parametrize("id", ["null", "true", "false", "[1]", "[]", "{}", '{"a":1}'])
def test_M2_D19_RPC_04_an_id_of_another_type_is_refused_with_id_null(peer, id):
	answer = peer.raw(PING % (id, ""))
	assert answer.code == -32600
	assert answer["id"] is None


@pytest.mark.parametrize("method", ["5", "null", "[]", "{}", "true"])
def test_M2_D11_a_method_that_is_no_string_is_refused(peer, method):
	answer = peer.raw('{"jsonrpc":"2.0","id":"m","method":%s}' % method)
	assert answer.code == -32600
	assert answer["id"] == "m"


@pytest.mark.parametrize("text,id", [
	("{}", None), ('{"jsonrpc":"2.0"}', None), ('{"jsonrpc":"2.0","id":9}', 9),
	('{"jsonrpc":"2.0","id":"x","params":{}}', "x"), ('{"jsonrpc":"2.0","method":7}', None),
	('{"id":[]}', None), ('{"foo":1}', None)])
def test_M2_M4_D11_an_object_that_is_no_request_is_refused(peer, text, id):
	answer = peer.raw(text)
	assert answer.code == -32600
	assert answer["id"] == id
	if peer.kind == "http":
		assert answer.status == 200


@pytest.mark.parametrize("params", ["[]", "[1,2]", "5", '"x"', "true", "false", "0"])
@pytest.mark.parametrize("method", ["ping", "info", "retrieve", "index/delete"])
def test_M2_D31_params_that_are_no_object_are_refused(peer, method, params):
	answer = peer.raw('{"jsonrpc":"2.0","id":4,"method":"%s","params":%s}' % (method, params))
	assert answer.code == -32602
	assert answer["id"] == 4


@pytest.mark.parametrize("params", ["", ',"params":null', ',"params":{}'])
def test_M2_D31_absent_and_null_params_are_an_empty_object(peer, params):
	assert peer.raw(PING % ("1", params)).result == {}
	answer = peer.raw('{"jsonrpc":"2.0","id":2,"method":"retrieve"%s}' % params)
	assert (answer.code, answer.field) == (-32602, "query")


# ---- M3, M4 ----

IDS = ["7", "7.0", '"7"', "9007199254740993", "1e3", "0", "-1", "1.5", '""', '"0"', "-0", "1E+2",
	"-9223372036854775808", "9223372036854775807", '"\\u00e9\\ud83d\\ude00"', '"a\\u0000b"', '"\\/"',
	'"' + "x" * 300 + '"', "0.1000"]


@pytest.mark.parametrize("id", IDS)
def test_M3_D19_RPC_04_id_is_echoed_as_sent(peer, id):
	answer = peer.raw(PING % (id, ""))
	assert answer.result == {}
	assert _raw_id(answer.raw) == id if id[0] != '"' else answer["id"] == json.loads(id)


@pytest.mark.parametrize("id", ["7", "7.0", '"7"', "9007199254740993", "1e3"])
@pytest.mark.parametrize("method", ["nope", "retrieve", "embed"])
def test_M3_id_is_echoed_as_sent_in_errors(peer, method, id):
	answer = peer.raw('{"jsonrpc":"2.0","method":"%s","id":%s}' % (method, id))
	assert answer.code in (-32004, -32602, -32003)
	assert _raw_id(answer.raw) == id


def _raw_id(raw):
	"""The id's text in an answer, whatever the order of members."""
	found = []

	def keep(text):
		found.append(text)
		return text
	value = json.loads(raw, parse_int=keep, parse_float=keep)
	return value["id"] if found and value["id"] in found else json.dumps(value["id"])


@pytest.mark.parametrize("id", ["18446744073709551615", "99999999999999999999999", "1e400",
	"123456789012345678901234567890.5"])
def test_M3_D19_JSON_03_a_huge_id_is_echoed_exactly_or_refused(peer, id):
	answer = peer.raw(PING % (id, ""))
	if answer.code is None:
		assert ('"id":' + id) in answer.raw.decode()
	else:
		assert answer.code in (-32700, -32600)
		assert answer["id"] is None


def test_M3_M4_the_id_stands_anywhere_in_the_object(peer):
	answer = peer.raw('{"params":{"nonce":{},"id":99},"method":"ping","id":5,"jsonrpc":"2.0"}')
	assert answer["id"] == 5


@pytest.mark.parametrize("text", ["{", "nonsense", '{"jsonrpc":"2.0","id":1,"method":"ping"',
	'{"jsonrpc":"2.0","id":1,"method":"ping"}x', "{'a':1}", '{"a":1,}', "\x00", "[1,", "nul"])
def test_M4_D11_RPC_08_what_cannot_be_parsed_is_answered_with_id_null(peer, text):
	answer = peer.raw(text)
	assert answer.code == -32700
	assert answer["id"] is None
	if peer.kind == "http":
		assert answer.status == 400


@pytest.mark.parametrize("text", ["5", '"x"', "null", "true", "1.5"])
def test_D11_json_that_is_neither_object_nor_array_is_refused(peer, text):
	answer = peer.raw(text)
	assert answer.code in (-32700, -32600)
	assert answer["id"] is None
	if peer.kind == "http":
		assert answer.status == 400


@pytest.mark.parametrize("text", ["", "   ", "\n\n"])
def test_D11_an_empty_body_is_a_parse_error_over_http(server, text):
	status, _, body = server.post(server.base, text)
	assert status == 400
	assert json.loads(body)["error"]["code"] == -32700


# ---- M5, M6 ----

SILENT = [
	'"method":"retrieve","params":{"query":"fox"}', '"method":"info"', '"method":"ping"',
	'"method":"does/not/exist"', '"method":"retrieve","params":{"k":-5}',
	'"method":"retrieve","params":[1]', '"method":"ping","params":5', '"method":"embed"',
	'"method":"initialize","params":{"protocolVersion":0}', '"method":""',
	'"method":"notifications/foo"', '"method":"notifications/cancel"',
	'"method":"notifications/cancel","params":{"id":[1]}',
	'"method":"notifications/cancel","params":{"id":424242,"reason":"none"}',
	'"method":"notifications/cancel","params":[]',
	'"method":"notifications/progress","params":{"progressToken":{}}',
	'"method":"notifications/log","params":{"level":"shout"}', '"method":"notifications/"',
	'"method":"notifications/x","params":null', '"method":"x-acme/notify"']


@pytest.mark.parametrize("rest", SILENT)
def test_M5_M6_D6_RPC_05_a_notification_is_never_answered(peer, rest):
	assert peer.raw('{"jsonrpc":"2.0",%s}' % rest) is None


def test_M5_RPC_05_index_add_as_a_notification_is_applied(peer):
	peer.raw(json.dumps({"jsonrpc": "2.0", "method": "index/add", "params": {"documents": [
		{"id": "quiet", "text": f"silentlyadded {MARKER}"}]}}))
	wait_until(lambda: peer.call("retrieve", {"query": "silentlyadded", "mode": "sparse"}).result["hits"],
		what="the added document")
	peer.call("index/delete", {"ids": ["quiet"]})


@pytest.mark.parametrize("method", ["notifications/cancel", "notifications/progress",
	"notifications/log", "notifications/foo", "notifications/"])
def test_M6_a_notification_method_with_an_id_is_refused(peer, method):
	answer = peer.raw('{"jsonrpc":"2.0","id":8,"method":"%s","params":{"id":1}}' % method)
	assert answer.code == -32600
	assert answer["id"] == 8


# ---- M7 ----

def test_M7_a_slow_retrieve_does_not_block_a_ping_over_stdio(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "retrieve.recall=stall:400"})
	server.send(server.message("retrieve", {"query": f"slow {MARKER}"}, id="slow"))
	server.send(server.message("ping", {}, id="quick"))
	first, second = server.recv(), server.recv()
	assert (first["id"], second["id"]) == ("quick", "slow")
	assert second.at - first.at > 0.2
	assert second.result["hits"] == []


def test_M7_nothing_overtakes_initialize(rcpd_stdio):
	server = rcpd_stdio()
	lines = [server.message("initialize", {"protocolVersion": 1}, id="i")]
	lines += [server.message("retrieve", {"query": "x"}, id=n) for n in range(5)]
	server.send_bytes(b"".join(json.dumps(m).encode() + b"\n" for m in lines))
	answers = [server.recv() for _ in lines]
	assert answers[0]["id"] == "i"
	assert all(a.code is None for a in answers)
	assert sorted(a["id"] for a in answers[1:]) == list(range(5))


def test_M7_L7_many_requests_in_flight_are_each_answered_once(peer):
	if peer.kind == "stdio":
		server = peer.server
		messages = [server.message("ping" if i % 3 else "retrieve",
			{"nonce": i, "query": "fox"}, id=f"many-{i}") for i in range(300)]
		server.send_bytes(b"".join(json.dumps(m).encode() + b"\n" for m in messages))
		answers = [server.recv(timeout=30) for _ in messages]
		assert server.quiet()
	else:
		answers = _in_threads(peer, 300)
	assert sorted(a["id"] for a in answers) == sorted(f"many-{i}" for i in range(300))
	for answer in answers:
		number = int(answer["id"].split("-")[1])
		assert ("hits" in answer.result) if number % 3 == 0 else answer.result["nonce"] == number


def _in_threads(peer, count):
	from concurrent.futures import ThreadPoolExecutor
	with ThreadPoolExecutor(8) as pool:
		return list(pool.map(lambda i: peer.call("ping" if i % 3 else "retrieve",
			{"nonce": i, "query": "fox"}, id=f"many-{i}"), range(count)))


# ---- M8, M9, M10, M11 ----

def test_M8_C4_unknown_fields_and_meta_are_ignored(peer):
	answer = peer.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", "extra": [1],
		"x-acme": {"a": 1}, "params": {"nonce": 3, "foo": None, "x-acme-opt": True,
			"_meta": {"unknown": {"deep": [1, 2]}, "x-acme": 1}}}))
	assert answer.result["nonce"] == 3
	answer = peer.call("retrieve", {"query": "fox", "x-acme-boost": 3, "colour": "red",
		"_meta": {"anything": None}})
	assert isinstance(answer.result["hits"], list)


@pytest.mark.parametrize("k", ["5.0", "1e1", "10.0e0", "500e-2", "1"])
def test_M9_D29_JSON_05_integers_may_have_a_zero_fraction(peer, k):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x","k":%s}}' % k)
	assert answer.code is None, answer


@pytest.mark.parametrize("k", ["5.5", '"5"', "1152921504606846976", "-1", "0", "-0", "true", "[]",
	"{}", '"3"', "3.5", "1e-1", "9007199254740992", "1e17"])
def test_M9_D29_JSON_05_what_is_no_integer_is_refused(peer, k):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x","k":%s}}' % k)
	assert (answer.code, answer.field) == (-32602, "k")


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "nan", "+1", "01", ".5", "1.",
	"0x10"])
def test_M9_text_that_spells_no_json_number_never_enters(peer, text):
	answer = peer.raw(
		'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x","minScore":%s}}' % text)
	assert answer.code == -32700


def test_M9_a_number_beyond_a_double_is_refused(peer):
	answer = peer.raw(
		'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x","minScore":1e999}}')
	assert answer.code in (-32700, -32602)


def test_M10_D30_null_means_absent(peer):
	names = ["k", "mode", "modality", "candidateK", "fusion", "rerank", "mmr", "rewrite", "filter",
		"minScore", "recency", "unit", "level", "tokenBudget", "sessionId", "includeText",
		"includeVectors", "seed", "indexVersion", "strict", "cursor", "_meta"]
	answer = peer.call("retrieve", {"query": "fox", **{name: None for name in names}})
	assert answer.code is None, answer


@pytest.mark.parametrize("mode", ["Sparse", "SPARSE", "sparse ", "", "lexical"])
def test_M11_enums_are_compared_case_sensitively(peer, mode):
	answer = peer.call("retrieve", {"query": "fox", "mode": mode})
	assert answer.code in (-32602, -32005)
	if answer.code == -32602:
		assert answer.field == "mode"
	else:
		assert answer.option == (mode or None)


@pytest.mark.parametrize("method", ["PING", "Ping", "ping ", " ping", "ping/", "/ping", "pin"])
def test_M11_RPC_07_method_names_are_case_sensitive(peer, method):
	assert peer.raw(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method})).code == -32004


@pytest.mark.parametrize("nonce", ["\u0000", "a\u0000b", "\ufeff", "\ufffe", "\u2028", "\U0001f600",
	"e\u0301", "\U0010ffff", "\x7f\x1f", "\\", '"'])
def test_M11_JSON_02_strings_are_the_whole_of_unicode(peer, nonce):
	assert peer.call("ping", {"nonce": nonce}).result["nonce"] == nonce
	text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":%s}}'
	assert peer.raw(text % json.dumps(nonce)).result["nonce"] == nonce
	escaped = peer.raw(text % json.dumps(nonce, ensure_ascii=False))
	if nonce.isprintable():
		assert escaped.result["nonce"] == nonce


@pytest.mark.parametrize("bad", [b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82",
	b"\x80", b"\xf8\x88\x80\x80\x80", b"\xc3"])
def test_M11_JSON_04_invalid_utf8_is_a_parse_error(peer, bad):
	answer = peer.raw(b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":"' + bad + b'"}}')
	assert answer.code == -32700
	assert answer["id"] is None


@pytest.mark.parametrize("escape", ["\\ud800", "\\udc00", "\\ud800\\ud800", "\\u12", "\\x41"])
def test_M11_lone_surrogates_and_bad_escapes_are_refused(peer, escape):
	answer = peer.raw('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":"%s"}}' % escape)
	assert answer.code == -32700


# ---- M12 ----

@pytest.mark.parametrize("text,id", [
	('{"method":"ping","params":{"nonce":1},"id":6}', 6), ('{"method":"ping","id":"s"}', "s"),
	('{"method":"ping"}', 0), ('{"method":"ping","jsonrpc":null}', 0),
	('{"method":"ping","jsonrpc":null,"id":7.0}', 7.0)])
def test_M12_D18_the_compact_envelope_is_answered_over_http(server, text, id):
	for path in (server.base, server.base + "/ping"):
		status, _, body = server.post(path, text)
		assert status == 200
		answer = parse_strict(body)
		assert answer["id"] == id and "result" in answer


def test_M12_D18_compact_errors_and_notifications(server):
	status, _, body = server.post(server.base, '{"method":"nope"}')
	assert status == 200
	assert (parse_strict(body)["error"]["code"], parse_strict(body)["id"]) == (-32004, 0)
	for method in ("notifications/cancel", "notifications/foo"):
		status, _, body = server.post(server.base, '{"method":"%s","params":{"id":1}}' % method)
		assert (status, body) == (204, b"")


# ---- M13 ----

def blocks(peer, query):
	return peer.call("retrieve", {"query": query, "k": 3, "mode": "sparse"})


def test_M13_a_text_block_equals_a_string(peer):
	fill(peer.server)
	plain = blocks(peer, f"quick fox {MARKER}").result["hits"]
	assert plain[0]["chunk"]["docId"] == "fox"
	assert blocks(peer, {"type": "text", "text": f"quick fox {MARKER}"}).result["hits"] == plain
	joined = blocks(peer, [{"type": "text", "text": "quick"}, {"type": "text", "text": f"fox {MARKER}"}])
	assert joined.result["hits"] == plain


@pytest.mark.parametrize("kind", ["image", "audio", "blob"])
@pytest.mark.parametrize("body", [{"data": "aGk="}, {"uri": "https://example.org/a"}])
def test_M13_another_modality_is_an_option_error(peer, kind, body):
	block = {"type": kind, "mimeType": "application/octet-stream", **body}
	for query in (block, [block], [{"type": "text", "text": "x"}, block]):
		answer = blocks(peer, query)
		assert (answer.code, answer.option) == (-32005, kind)
	answer = peer.call("index/add", {"documents": [{"id": "img", "content": block}]})
	assert (answer.code, answer.option) == (-32005, kind)


@pytest.mark.parametrize("block", [
	{"type": "text"}, {"type": "text", "text": 5}, {"type": "text", "text": None}, {"text": "x"},
	{"type": 5, "text": "x"}, {"type": None}, {}, {"type": "text", "uri": "https://example.org/x"}])
def test_M13_a_malformed_block_is_refused(peer, block):
	for query in (block, [block]):
		answer = blocks(peer, query)
		assert answer.code == -32602
		assert answer.field.startswith("query")


@pytest.mark.parametrize("block", [{"type": "video", "mimeType": "video/mp4", "data": "aGk="},
	{"type": "Text", "text": "x"},
	{"type": "image", "mimeType": "image/png", "data": "aGk=", "uri": "https://example.org/x"}])
def test_M13_unknown_types_and_two_bodies_are_refused(peer, block):
	assert blocks(peer, block).code in (-32602, -32005)


def test_M13_X7_a_documents_body_may_be_content(peer):
	documents = [{"id": "c1", "content": f"contentstring {MARKER}"},
		{"id": "c2", "content": {"type": "text", "text": f"contentblock {MARKER}"}}]
	assert peer.call("index/add", {"documents": documents}).result["ids"] == ["c1", "c2"]
	for word, id in (("contentstring", "c1"), ("contentblock", "c2")):
		hits = peer.call("retrieve", {"query": word, "mode": "sparse"}).result["hits"]
		assert [h["chunk"]["docId"] for h in hits] == [id]
		assert hits[0]["text"] == f"{word} {MARKER}"


# ---- M15 ----

@pytest.mark.parametrize("opening,closing", [("[", "]"), ('{"a":', "}"), ('{"and":[', "]}")])
@pytest.mark.parametrize("depth", [200, 3000, 100_000])
def test_M15_JSON_07_deep_nesting_is_refused(peer, opening, closing, depth):
	deep = opening * depth + "1" + closing * depth
	for text in ('{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":%s}}' % deep,
			'{"jsonrpc":"2.0","id":1,"method":"retrieve","params":{"query":"x","filter":%s}}' % deep,
			opening * depth):
		answer = peer.raw(text)
		if isinstance(answer, list):
			answer = answer[0]
		assert answer["error"]["code"] in (-32700, -32013)
	assert peer.call("ping").result == {}


def test_M15_JSON_07_a_depth_in_use_is_accepted(peer):
	meta = {"a": 1}
	for _ in range(20):
		meta = {"m": meta, "l": [meta]} if _ < 3 else {"m": meta}
	documents = [{"id": "deep", "text": f"deepmeta {MARKER}", "meta": meta}]
	assert peer.call("index/add", {"documents": documents}).code is None
	assert peer.call("retrieve", {"query": "deepmeta", "mode": "sparse"}).result["hits"][0]["meta"] == meta


def test_M15_JSON_07_meta_nested_very_deep_is_refused_or_returned(peer):
	depth = 2000
	text = ('{"jsonrpc":"2.0","id":1,"method":"index/add","params":{"documents":[{"id":"deeper",'
		'"text":"deepermeta","meta":' + '{"a":' * depth + "1" + "}" * depth + "}]}}")
	answer = peer.raw(text)
	assert answer.code in (-32602, -32700, -32013)
	assert peer.call("retrieve", {"query": "deepermeta", "mode": "sparse"}).result["hits"] == []


def test_M15_deep_nesting_needs_no_memory(server):
	server.rpc("ping")
	before = _peak(server.pid)
	for _ in range(5):
		server.post(server.base, "[" * 1_000_000)
	assert _peak(server.pid) - before < 24 << 20 or SCALE > 1


def _peak(pid):
	with open(f"/proc/{pid}/status") as f:
		for line in f:
			if line.startswith("VmHWM:"):
				return int(line.split()[1]) << 10
	raise AssertionError("no VmHWM")


def test_M15_D12_a_body_over_the_limit_is_told(rcpd):
	server = rcpd(env={"RCPD_MAX_BODY": "65536"})
	status, headers, body = server.post(server.base + "/ping",
		{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"nonce": "x" * 100_000}})
	assert status == 413
	assert json.loads(body)["error"]["code"] == -32013
	assert headers["Connection"].lower() == "close"
	assert server.rpc("ping").result == {}


# ---- D41 ----

@pytest.mark.parametrize("text", [
	'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
	'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":1,"nonce":2}}',
	'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{"a":{"b":1,"b":1}}}}',
	'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":1,"\\u006eonce":2}}'])
def test_D41_duplicate_keys_are_a_parse_error(peer, text):
	answer = peer.raw(text)
	assert (answer.code, answer["id"]) == (-32700, None)


def test_D41_JSON_02_nul_is_legal_in_values_not_in_keys(peer):
	text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a\\u0000b":1}}'
	assert peer.raw(text).code == -32700
	text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":"a\\u0000b"}}'
	assert peer.raw(text).result["nonce"] == "a\0b"


def test_D41_a_byte_order_mark_is_a_parse_error(peer):
	answer = peer.raw(b"\xef\xbb\xbf" + (PING % ("1", "")).encode())
	assert answer.code == -32700


# ---- every method is known ----

@pytest.mark.parametrize("method", METHODS)
def test_C1_every_method_of_rcp1_is_known(peer, method):
	if method == "shutdown":
		return  # see test_lifecycle.py; it would end the module's server
	answer = peer.call(method, {})
	assert answer.code != -32004
	if method in UNBUILT:
		assert answer.code == -32003
	elif method in OPEN:
		assert answer.code in (None, -32602, -32600)
