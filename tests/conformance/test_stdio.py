"""S1-S5: lines on pipes."""
import json
import os
import signal
import subprocess
import time

import pytest

from lib import MARKER, SCALE
from lib.corpus import fill

SLOW = {"RCPD_FAULTS": "retrieve.recall=stall:400"}


def line(server, method, params=None, id=1):
	return json.dumps(server.message(method, params or {}, id)).encode() + b"\n"


def test_S1_one_message_in_many_reads_and_many_in_one(rcpd_stdio):
	server = rcpd_stdio()
	for byte in line(server, "ping", {"nonce": "\u00e9\U0001f600"}, "bytes"):
		server.send_bytes(bytes([byte]))
	assert server.recv().result["nonce"] == "\u00e9\U0001f600"
	together = b"".join(line(server, "ping", {}, i) for i in range(50))
	server.send_bytes(together[:-20])
	time.sleep(0.05)
	server.send_bytes(together[-20:])
	assert sorted(server.recv()["id"] for _ in range(50)) == list(range(50))


def test_S1_M11_a_letter_cut_between_two_reads(rcpd_stdio):
	server = rcpd_stdio()
	text = '{"jsonrpc":"2.0","id":1,"method":"ping","params":{"nonce":"\U0001f600"}}\n'.encode()
	at = text.index(b"\xf0") + 2
	server.send_bytes(text[:at])
	time.sleep(0.05)
	server.send_bytes(text[at:])
	assert server.recv().result["nonce"] == "\U0001f600"


@pytest.mark.parametrize("blank", [b"\n", b"\r\n", b"   \n", b"\t\n", b"\n\n\n\n"])
def test_S1_blank_lines_are_skipped(rcpd_stdio, blank):
	server = rcpd_stdio()
	server.send_bytes(blank + line(server, "ping", {}, 1) + blank + line(server, "ping", {}, 2) + blank)
	assert {server.recv()["id"], server.recv()["id"]} == {1, 2}
	assert server.quiet()


def test_S1_crlf_is_tolerated_and_lf_is_sent(rcpd_stdio):
	server = rcpd_stdio()
	server.send_bytes(line(server, "ping", {"nonce": "a\r\nb"}, 1)[:-1] + b"\r\n")
	answer = server.recv()
	assert answer.result["nonce"] == "a\r\nb"
	assert not answer.raw.endswith(b"\r") and b"\n" not in answer.raw
	assert not answer.raw.startswith(b"\xef\xbb\xbf")


def test_S1_a_line_that_is_no_json_is_answered_and_the_next_is_served(rcpd_stdio):
	server = rcpd_stdio()
	for bad in (b"nonsense", b"{", b"\xff\xfe", b"\x00", b'{"jsonrpc":"2.0","id":1,'):
		server.send_bytes(bad + b"\n")
		answer = server.recv()
		assert (answer.code, answer["id"]) == (-32700, None)
	assert server.rpc("ping").result == {}


@pytest.mark.parametrize("size", [70_000, 3_000_000])
def test_S1_M15_a_line_has_a_size_limit(rcpd_stdio, size):
	server = rcpd_stdio(env={"RCPD_MAX_BODY": "65536"})
	server.send(server.message("ping", {"nonce": "x" * size}, id="long"))
	answer = server.recv()
	assert answer.code in (-32013, -32700)
	assert answer["id"] is None
	assert server.rpc("ping", {"nonce": "x" * 60_000}).code is None


def test_S1_a_line_of_just_under_the_default_limit_works(rcpd_stdio):
	server = rcpd_stdio()
	nonce = "y" * (8 << 20)
	assert server.rpc("ping", {"nonce": nonce}, timeout=30).result["nonce"] == nonce


def test_S1_the_last_line_may_lack_its_end(rcpd_stdio):
	server = rcpd_stdio()
	server.send_bytes(line(server, "ping", {}, 1) + line(server, "ping", {}, 2)[:-1])
	server.end_input()
	assert {a["id"] for a in server.lines_until_end()} == {1, 2}


def test_S2_stdout_carries_protocol_only(rcpd_stdio):
	"""Every line is checked as a message by the library, at the most talkative level."""
	server = rcpd_stdio(log_level="debug", initialize=True)
	fill(server)
	for query in ("fox", "", "AND"):
		server.result("retrieve", {"query": query})
	server.rpc("nope")
	os.kill(server.pid, signal.SIGUSR1)
	server.send("broken")
	assert server.recv().code == -32700
	assert server.quiet()


def test_S3_L7_at_the_end_of_input_requests_in_flight_are_answered(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env=SLOW)
	fill(server)
	server.send_bytes(b"".join(line(server, "retrieve", {"query": "fox"}, i) for i in range(8)))
	server.end_input()
	answers = server.lines_until_end()
	assert sorted(a["id"] for a in answers) == list(range(8))
	assert all(a.result["hits"][0]["id"] == "fox#0" for a in answers)
	assert server.wait_exit() == 0


@pytest.mark.parametrize("first", [b"", b"\n", b"{"])
def test_S3_an_end_without_a_message_is_a_clean_end(rcpd_stdio, first):
	server = rcpd_stdio()
	server.send_bytes(first)
	server.end_input()
	answers = server.lines_until_end()
	assert [a.code for a in answers] == ([-32700] if first == b"{" else [])
	assert server.wait_exit() == 0


def test_S3_a_reader_that_left_ends_the_process_quietly(rcpd_stdio):
	server = rcpd_stdio(stdout=subprocess.PIPE, env=SLOW)
	server.rpc("initialize", {"protocolVersion": 1})
	server.send(server.message("retrieve", {"query": "x"}, id=2))
	_close_under_reader(server)
	for _ in range(20):
		try:
			server.send_bytes(line(server, "ping"))
		except BrokenPipeError:
			break
		time.sleep(0.05)
	code = server.wait_exit(10)
	assert code in (0, 1), f"ended by {code}"
	server.finish(code=None)


def _close_under_reader(server):
	"""Replaces our end of the pipe, which a thread reads, by /dev/null."""
	null = os.open(os.devnull, os.O_RDONLY)
	os.dup2(null, server.proc.stdout.fileno())
	os.close(null)
	# The thread's read still holds the old pipe: one more line sets it free.
	try:
		server.send_bytes(line(server, "ping"))
	except BrokenPipeError:
		pass


def test_S4_after_the_answer_to_shutdown_nothing_is_processed(rcpd_stdio):
	server = rcpd_stdio(initialize=True)
	server.send_bytes(line(server, "shutdown", {}, "s") + line(server, "ping", {}, "late")
		+ line(server, "index/add", {"documents": [{"id": "late", "text": "x"}]}, "later"))
	answers = server.lines_until_end()
	assert [a["id"] for a in answers] == ["s"]
	assert answers[0].result == {}
	assert server.wait_exit() == 0


def test_S4_S3_requests_before_shutdown_are_answered(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env=SLOW)
	server.send_bytes(line(server, "retrieve", {"query": "x"}, "r") + line(server, "shutdown", {}, "s"))
	assert {a["id"] for a in server.lines_until_end()} == {"r", "s"}
	assert server.wait_exit() == 0


def test_S3_a_signal_ends_it_cleanly(rcpd_stdio):
	server = rcpd_stdio(initialize=True)
	server.terminate()
	assert server.wait_exit() == 0


def test_S5_T6_progress_frames_come_before_their_response(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "retrieve.recall=stall:150"})
	fill(server)
	for i, token in enumerate(("one", 2)):
		server.send(server.message("retrieve", {"query": "fox", "_meta": {"progressToken": token}},
			id=i))
	server.send(server.message("retrieve", {"query": "fox"}, id="no token"))
	frames, answers = [], []
	while len(answers) < 3:
		got = server.recv()
		if "method" in got:
			frames.append(got["params"])
			assert frames[-1]["progressToken"] not in [("one", 2)[a["id"]] for a in answers
				if a["id"] != "no token"]
		else:
			answers.append(got)
	for token in ("one", 2):
		own = [f for f in frames if f["progressToken"] == token
			and type(f["progressToken"]) is type(token)]
		assert {f["stage"] for f in own} >= {"recall"}
		assert {f["stage"] for f in own} <= {"transform", "recall", "fuse", "pack"}
		steps = [f["progress"] for f in own]
		assert steps == sorted(steps)
	assert {f["progressToken"] for f in frames} == {"one", 2}
	partial = [f["partial"]["hits"] for f in frames if "partial" in f]
	assert partial and partial[0][0]["id"] == "fox#0"


@pytest.mark.parametrize("token", [True, 1.5, [], {}, None])
def test_S5_T6_a_token_of_another_type(rcpd_stdio, token):
	server = rcpd_stdio(initialize=True)
	server.send(server.message("retrieve", {"query": "x", "_meta": {"progressToken": token}}, id=1))
	answer = server.recv()
	assert "method" not in answer
	assert answer.code in (None, -32602)


def test_S5_no_frames_without_a_token(rcpd_stdio):
	server = rcpd_stdio(initialize=True, env={"RCPD_FAULTS": "retrieve.recall=stall:50"})
	server.send(server.message("retrieve", {"query": "x"}, id=1))
	assert server.recv()["id"] == 1
	assert server.quiet()


def test_S1_a_reader_that_is_slow_gets_everything(rcpd_stdio):
	server = rcpd_stdio()
	nonce = "z" * 20_000
	count = 300
	for i in range(count):
		server.send(server.message("ping", {"nonce": nonce}, id=i))
	got = [server.recv(timeout=30) for _ in range(count)]
	assert sorted(a["id"] for a in got) == list(range(count))


def test_S2_stdio_refuses_a_data_folder_in_use(rcpd_stdio, tmp_path):
	data = tmp_path / "data"
	first = rcpd_stdio(data=data, initialize=True)
	second = rcpd_stdio(data=data, expect_errors=True)
	assert second.wait_exit() != 0
	assert second.lines_until_end() == []
	second.finish(code=None)
	assert first.rpc("ping").result == {}
	assert SCALE and MARKER not in second.stderr
