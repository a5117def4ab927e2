"""Daemon manners: configuration, signals, overload, logs, locks, sd_notify.

The behaviour is that of issue 1 of 6 ("Daemon manners") and of D4, D14, D21 in
decisions.md; ids of cases.md are in the names where they fit.
"""
import itertools
import json
import os
import pty
import random
import re
import resource
import select
import signal
import socket
import stat
import subprocess
import threading
import time

import pytest

from lib import Rcpd, SCALE, rcpd_path, wait_until
from lib.http import (Closed, Conn, Sse, eventually, get, http_request, post, process_state,
	request,
	search, settings, stall)
from lib.process import Process, clean_environment

PING = request("ping", {"nonce": "n"})
PONG = {"jsonrpc": "2.0", "id": 1, "result": {"nonce": "n"}}
FLAGS = ("--config", "--data", "--model", "--listen", "--stdio", "--sessions", "--log-level",
	"--check-config", "--print-config", "--version", "--help")


class Bare(Rcpd):
	"""Rcpd without the flags that would win over file and environment."""

	def __init__(self, *flags, **kw):
		self.timeout = 30 * SCALE
		self._ids, self._local = itertools.count(1), threading.local()
		self._kept, self._raw, self._lock = [], [], threading.Lock()
		Process.__init__(self, *flags, **kw)
		try:
			self.wait_ready()
		except BaseException:
			self.proc.kill()
			self.proc.wait(30)
			raise


def run(*args, env=None, timeout=10):
	"""Runs rcpd to its end."""
	return subprocess.run([rcpd_path(), *map(str, args)], env=clean_environment(env),
		capture_output=True,
		text=True, timeout=timeout * SCALE, stdin=subprocess.DEVNULL)


def refused(*args, env=None):
	"""Runs rcpd, which must not start; returns what it said."""
	p = run(*args, env=env)
	assert p.returncode not in (0, -6, -11), p
	assert "listening on" not in p.stderr and p.stderr.strip(), p
	return p.stderr


def is_pong(r):
	return r.status == 200 and r.json() == PONG


def fill(port, n=3):
	docs = [{"id": "doc-%d" % i, "text": "common text %d" % i} for i in range(n)]
	assert "result" in post(port, request("index/add", {"documents": docs})).json()


def write(path, text):
	path.write_text(text)
	return path


# ---- command line and configuration --------------------------------------------


def test_daemon_version_and_help():
	version = run("--version")
	assert version.returncode == 0 and re.search(r"\brcpd\b.*\d+\.\d+", version.stdout), version
	usage = run("--help")
	assert usage.returncode == 0
	for flag in FLAGS:
		assert flag in usage.stdout, flag


@pytest.mark.parametrize("args", [["--nonsense"], ["--listen"], ["--sessions", "maybe"],
	["--log-level", "loud"],
	["stray"], ["--config", "/nonexistent/rcpd.conf"]], ids=str)
def test_daemon_bad_command_lines(args, tmp_path):
	assert "rcpd" in refused("--data", tmp_path, *args)


def test_daemon_port_0_ready_line_and_url(server):
	assert re.fullmatch(r"http://127\.0\.0\.1:\d+/rcp", server.url) and server.port != 0
	assert is_pong(post(server.port, PING))


def test_daemon_two_at_port_0_get_two_ports(rcpd):
	a, b = rcpd(), rcpd()
	assert a.port != b.port and is_pong(post(a.port, PING)) and is_pong(post(b.port, PING))


def test_daemon_port_in_use_is_told(server, tmp_path):
	said = refused("--data", tmp_path, "--listen", "127.0.0.1:%d" % server.port)
	assert str(server.port) in said


def test_daemon_check_config(tmp_path):
	good = write(tmp_path / "good.conf", "[server]\nlisten = 127.0.0.1:0\n[limits]\nmax_body = 2m")
	p = run("--config", good, "--check-config")
	assert p.returncode == 0, p
	assert not (tmp_path / "rcpd.db").exists()
	shipped = os.path.join(os.path.dirname(__file__), "..", "..", "conf", "rcpd.conf")
	assert run("--config", shipped, "--check-config").returncode == 0
	bad = write(tmp_path / "bad.conf", "[limits]\nmax_body = lots\n")
	p = run("--config", bad, "--check-config")
	assert p.returncode != 0 and "bad.conf:2" in p.stderr and "max_body" in p.stderr


def test_daemon_print_config_is_a_file_that_says_the_same(tmp_path):
	some = write(tmp_path / "some.conf", "[limits]\nmax_body = 2m ; small\n")
	p = run("--config", some, "--print-config", "--data", tmp_path / "data",
		env=settings(workers=7))
	assert p.returncode == 0 and "max_body = 2m\n" in p.stdout and "workers = 7\n" in p.stdout
	again = run("--config", write(tmp_path / "all.conf", p.stdout), "--print-config")
	assert again.stdout == p.stdout and not (tmp_path / "data").exists()


def test_daemon_the_ready_line_tells_the_size_of_the_corpus(rcpd, tmp_path):
	first = rcpd(data=tmp_path)
	fill(first.port)
	first.stop()
	again = rcpd(data=tmp_path)
	(ready,) = [line for line in again.log_lines() if line["message"] == "ready"]
	assert ready["documents"] == 3 and ready["corpus_version"] >= 1


@pytest.mark.parametrize("key,level", [(None, "info"), (20000, "warning")])
def test_daemon_fewer_connections_are_a_warning_only_if_asked_for(rcpd, key, level):
	soft_and_hard = (1024, 1024)
	server = rcpd(env=settings(max_connections=key) if key else {},
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, soft_and_hard))
	(line,) = [x for x in server.log_lines() if x["message"].startswith("max_connections lowered")]
	assert line["level"] == level and line["wanted"] == 20000 and line["allowed"] < 1024


def test_daemon_unknown_variables_are_warned_of(rcpd):
	p = run("--check-config", env={"RCPD_LISTEM": "x"})
	assert p.returncode == 0 and "RCPD_LISTEM" in p.stderr
	server = rcpd(env={"RCPD_LISTEM": "x", **settings(workers=2)})
	server.stop()
	assert "RCPD_LISTEM" in server.stderr and "RCPD_WORKERS" not in server.stderr


@pytest.mark.parametrize("text,line,word", [
	("[server]\nlisten = 127.0.0.1:0\nlissten = x\n", 3, "lissten"),
	("[server]\n\n# comment\nport = 80\n", 4, "port"),
	("[limits]\nlisten = 127.0.0.1:0\n", 2, "listen"),
	("[nonsense]\nx = 1\n", 2, "nonsense"),
	("[threads]\nworkers = 0\n", 2, "workers"),
	("[threads]\nworkers = -4\n", 2, "workers"),
	("[limits]\nmax_body = 99999999999999999999\n", 2, "max_body"),
	("[server]\nsessions = Stateless\n", 2, "sessions"),
	("[log]\nlog_level = loud\n", 2, "log_level"),
	("[server]\nread_only = perhaps\n", 2, "read_only"),
	("[server]\nthis is no setting\n", 2, "")], ids=lambda v: str(v).replace("\n", "|"))
def test_daemon_config_faults_name_file_line_and_key(tmp_path, text, line, word):
	path = write(tmp_path / "rcpd.conf", text)
	said = refused("--config", path, "--data", tmp_path / "data")
	assert "rcpd.conf:%d" % line in said and word in said, said


def test_daemon_environment_faults_name_the_variable(tmp_path):
	said = refused("--data", tmp_path, "--listen", "127.0.0.1:0", env=settings(workers="many"))
	assert "RCPD_WORKERS" in said or "workers" in said


def mode_of(port):
	"""Which session mode a server keeps, seen from outside."""
	ask = request("retrieve", {"query": "x", "mode": "sparse"})
	if "result" in post(port, ask).json():
		return "stateless"
	post(port, request("initialize", {"protocolVersion": 1}))
	return "strict" if "result" in post(port, ask).json() else "token"


def test_daemon_precedence_of_file_environment_and_flags():
	text = "[server]\nlisten = 127.0.0.1:0\nsessions = strict\n"
	for flags, env, want in (([], {}, "strict"), ([], settings(sessions="token"), "token"),
			(["--sessions", "stateless"], settings(sessions="token"), "stateless")):
		with Bare(*flags, config=text, env=env) as server:
			assert mode_of(server.port) == want


def ready_from(env, data_seen, *flags):
	"""Starts rcpd without --data; True when the corpus appears in data_seen."""
	env = {**clean_environment(None), **env}
	p = subprocess.Popen([rcpd_path(), "--listen", "127.0.0.1:0", *flags], env=env,
		stderr=subprocess.PIPE,
		stdin=subprocess.DEVNULL)
	try:
		for line in p.stderr:
			if b"listening on" in line:
				break
		else:
			return False
		return (data_seen / "rcpd.db").exists()
	finally:
		p.terminate()
		p.stderr.read()
		p.stderr.close()
		assert p.wait(10 * SCALE) == 0


def test_daemon_data_folder_defaults(tmp_path):
	home = {"HOME": str(tmp_path / "home"), "XDG_STATE_HOME": str(tmp_path / "xdg")}
	os.mkdir(tmp_path / "home")
	state = tmp_path / "state"
	state.mkdir()
	assert ready_from({**home, "STATE_DIRECTORY": str(state)}, state)
	assert ready_from(home, tmp_path / "xdg" / "rcpd")
	del home["XDG_STATE_HOME"]
	folder = tmp_path / "home" / ".local" / "state" / "rcpd"
	assert ready_from(home, folder)
	assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_daemon_unusable_data_folder_is_told(tmp_path):
	path = write(tmp_path / "file", "no folder")
	assert "file" in refused("--data", path, "--listen", "127.0.0.1:0")


@pytest.mark.parametrize("listen", ["0.0.0.0:0", "[::]:0", "192.0.2.7:0", "*:0", ":0",
	"10.0.0.1:80", "example.org:0"])
def test_daemon_non_loopback_listen_is_refused(tmp_path, listen):
	said = refused("--data", tmp_path, "--listen", listen)
	assert "listen" in said or "loopback" in said


def test_daemon_ipv6_loopback(rcpd):
	try:
		with socket.socket(socket.AF_INET6) as s:
			s.bind(("::1", 0))
	except OSError:
		pytest.skip("this machine has no IPv6 loopback")
	server = rcpd(listen="[::1]:0")
	assert server.url.startswith("http://[::1]:")
	with socket.create_connection(("::1", server.port), 5) as s:
		s.sendall(http_request(PING, host="[::1]:%d" % server.port))
		assert s.recv(4096).startswith(b"HTTP/1.1 200")


# ---- unix sockets --------------------------------------------------------------


def test_daemon_unix_socket(rcpd, tmp_path):
	path = str(tmp_path / "rcpd.sock")
	server = rcpd(listen="unix:" + path)
	assert server.url == "unix:" + path and stat.S_ISSOCK(os.stat(path).st_mode)
	with Conn(path) as c:
		assert is_pong(c.post(PING)) and is_pong(c.post(PING, "/rcp/ping", host="localhost"))
	fill(path)
	with Sse(path, search("common")) as s:
		assert "result" in s.frames()[-1].json
	said = refused("--data", tmp_path / "other", "--listen", "unix:" + path)
	assert path in said
	with Conn(path) as c:
		assert is_pong(c.post(PING)), "a second daemon took the socket away"
	server.stop()
	assert not os.path.exists(path)


def test_daemon_unix_socket_left_by_a_killed_one_is_replaced(rcpd, tmp_path):
	path = str(tmp_path / "rcpd.sock")
	server = rcpd(listen="unix:" + path)
	server.kill()
	assert os.path.exists(path)
	with Conn(rcpd(listen="unix:" + path).unix) as c:
		assert is_pong(c.post(PING))


def test_daemon_unix_socket_never_replaces_a_file(tmp_path):
	path = write(tmp_path / "precious", "data")
	refused("--data", tmp_path / "data", "--listen", "unix:%s" % path)
	assert path.read_text() == "data"


# ---- the data folder's lock ----------------------------------------------------


def test_daemon_second_one_on_the_same_folder_is_refused(rcpd, tmp_path):
	first = rcpd(data=tmp_path)
	fill(first.port)
	for flags in (["--listen", "127.0.0.1:0"], ["--stdio"]):
		said = refused("--data", tmp_path, *flags)
		assert str(tmp_path) in said, said
		assert "process %d;" % first.proc.pid in said and "--data" in said, said
	assert "result" in post(first.port, search("common")).json()
	first.stop()
	again = rcpd(data=tmp_path)
	assert len(post(again.port, search("common")).json()["result"]["hits"]) == 3


def test_daemon_second_one_is_refused_when_the_lock_file_was_deleted(rcpd, tmp_path):
	first = rcpd(data=tmp_path)
	fill(first.port)
	os.unlink(tmp_path / "lock")
	said = refused("--data", tmp_path, "--listen", "127.0.0.1:0")
	assert str(tmp_path) in said, said
	assert "result" in post(first.port, search("common")).json()


def test_daemon_kill_9_keeps_acknowledged_documents(tmp_path):
	"""Adds while the daemon is killed at a random moment; five lives on one folder."""
	acknowledged, deleted = set(), set()
	doubtful = set()  # deletes in flight at a kill: they may or may not have landed
	rng = random.Random(9)
	for life in range(5):
		server = Rcpd(data=tmp_path)
		hits = post(server.port, search("common", k=1000)).json()["result"]["hits"]
		there = {h["chunk"]["docId"] for h in hits}
		assert acknowledged - deleted - doubtful <= there and not deleted & there, "life %d" % life
		stop = threading.Event()

		def add():
			for i in itertools.count():
				id = "life%d-%d" % (life, i)
				try:
					doc = {"id": id, "text": "common " + id}
					if "result" in post(server.port, request("index/add",
							{"documents": [doc]})).json():
						acknowledged.add(id)
					if i % 5 == 4:
						gone = "life%d-%d" % (life, i - 2)
						doubtful.add(gone)
						if "result" in post(server.port,
								request("index/delete", {"ids": [gone]})).json():
							deleted.add(gone)
							doubtful.discard(gone)
				except (OSError, Closed, ValueError):
					return
				if stop.is_set():
					return
		t = threading.Thread(target=add)
		t.start()
		wait_until(lambda: len(acknowledged) > 12 * (life + 1), 10, what="some adds")
		time.sleep(rng.random() * 0.05)
		server.kill()
		stop.set()
		t.join(15)
	with Rcpd(data=tmp_path) as server:
		hits = post(server.port, search("common", k=1000)).json()["result"]["hits"]
		there = {h["chunk"]["docId"] for h in hits}
		assert acknowledged - deleted - doubtful <= there and not deleted & there


# ---- overload ------------------------------------------------------------------


@pytest.fixture
def full(rcpd):
	"""A server whose one worker is busy and whose queue of two is full."""
	server = rcpd(env={**settings(workers=1, queue=2), **stall("recall", 2500, 1)})
	fill(server.port)
	busy = [Conn(server.port) for _ in range(3)]
	for i, c in enumerate(busy):
		c.send(http_request(search("common", id=i)))
		wait_until(lambda: server.dump()["inflight"] == i + 1)
		time.sleep(0.05)
	yield server
	for i, c in enumerate(busy):
		assert c.response().json()["result"]["hits"], "what was taken is answered"
		c.close()


def test_daemon_health_while_all_workers_are_busy_and_the_queue_is_full(full):
	for path in ("/healthz", "/readyz"):
		for _ in range(5):
			start = time.monotonic()
			r = get(full.port, path)
			assert r.status in ((200,) if path == "/healthz" else (200, 503))
			assert time.monotonic() - start < 0.2 * SCALE
	assert is_pong(post(full.port, PING)), "cheap methods need no worker"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
def test_D14_T2_full_queue_is_503_with_retry_after(full, accept):
	r = post(full.port, search("common", id=9), headers=[("Accept", accept)])
	assert r.status == 503 and r.media_type == "application/json", r
	assert int(r.header("Retry-After")) >= 1
	assert r.error()["code"] == -32010 and r.error()["data"]["retryable"] is True
	assert r.error()["data"]["retryAfterMs"] > 0


def test_D14_a_crowd_is_shed_and_served(rcpd):
	server = rcpd(env={**settings(workers=2, queue=4), **stall("recall", 20)})
	fill(server.port)
	codes = []

	def work():
		with Conn(server.port) as c:
			for i in range(10):
				codes.append(c.post(search("common", id=i)).status)
	threads = [threading.Thread(target=work) for _ in range(30)]
	for t in threads:
		t.start()
	for t in threads:
		t.join(30 * SCALE)
	assert len(codes) == 300 and set(codes) == {200, 503}
	assert "result" in post(server.port, search("common")).json()


def test_D21_default_deadline_is_under_30_s():
	with Bare("--listen", "127.0.0.1:0", env=stall("recall", 40000)) as server:
		fill(server.port)
		start = time.monotonic()
		with Conn(server.port) as c:
			# Its own wish cannot raise the limit; the test itself does not wait 25 s.
			c.send(http_request(search("common", _meta={"deadlineMs": 400})))
			assert c.response().error()["code"] == -32014
		assert time.monotonic() - start < 2 * SCALE
	text = run("--check-config").stdout
	m = re.search(r"deadline_ms\s*=\s*(\d+)", text) or re.search(r"deadline_ms\s*=\s*(\d+)",
		open(os.path.join(os.path.dirname(__file__), "..", "..", "conf", "rcpd.conf")).read())
	assert int(m[1]) < 30000


def test_D21_deadline_is_configurable_and_cannot_be_raised(rcpd):
	server = rcpd(env={**settings(deadline_ms=500), **stall("recall", 20000)})
	fill(server.port)
	for meta in ({}, {"deadlineMs": 60000}):
		start = time.monotonic()
		r = post(server.port, search("common", token=None, _meta=meta))
		assert r.status == 200 and r.error()["code"] == -32014
		assert time.monotonic() - start < 1.5 * SCALE


# ---- SIGTERM -------------------------------------------------------------------


def is_refusing(port):
	"""503 draining, or not accepting any more."""
	try:
		r = post(port, request("ping"), timeout=2)
	except (OSError, Closed):
		return True
	return r.status == 503


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_D14_sigterm_drains(rcpd, number):
	server = rcpd(env=stall("recall", 900))
	fill(server.port)
	kept, kept2, ready = Conn(server.port), Conn(server.port), Conn(server.port)
	assert is_pong(kept.post(PING)) and is_pong(kept2.post(PING))
	assert ready.post(PING).status == 200
	buffered, streamed = Conn(server.port), Sse(server.port, search("common", id=2))
	buffered.send(http_request(search("common", id=1)))
	streamed.frame()
	wait_until(lambda: server.dump()["inflight"] == 2)
	server.proc.send_signal(number)
	time.sleep(0.15)
	for c, body in ((kept, PING), (kept2, search("common", id=5))):
		r = c.post(body)
		assert r.status == 503 and r.header("Retry-After") and r.error()["code"] == -32010, r
	ready.send(http_request(None, "/readyz", "GET"))
	assert ready.response().status == 503
	assert is_refusing(server.port)
	assert buffered.response().json()["result"]["hits"]
	assert streamed.frames()[-1].json["result"]["hits"]
	for c in (kept, kept2, ready, buffered, streamed):
		c.close()
	assert server.wait_exit(5) == 0


def test_daemon_sigterm_when_idle_is_quick(rcpd):
	server = rcpd()
	idle = [Conn(server.port) for _ in range(10)]
	assert is_pong(idle[0].post(PING))
	start = time.monotonic()
	server.proc.terminate()
	assert server.wait_exit(5) == 0 and time.monotonic() - start < 1.5 * SCALE
	for c in idle:
		assert c.closed_within(1)
		c.close()


def test_daemon_sigterm_cancels_after_the_grace(rcpd):
	server = rcpd(env={**settings(shutdown_grace=1, workers=1, queue=5), **stall("recall", 60000)})
	fill(server.port)
	busy = [Conn(server.port) for _ in range(3)]
	for i, c in enumerate(busy):
		c.send(http_request(search("common", id=i)))
	wait_until(lambda: server.dump()["inflight"] == 3)
	start = time.monotonic()
	server.proc.terminate()
	for i, c in enumerate(busy):
		try:
			r = c.response()
			assert r.error()["code"] in (-32006, -32010), r
		except Closed:
			pass
		c.close()
	assert server.wait_exit(6) == 0
	assert 0.8 < time.monotonic() - start < 4 * SCALE


def test_daemon_second_sigterm_leaves_at_once(rcpd):
	server = rcpd(env={**settings(shutdown_grace=60), **stall("recall", 60000)})
	fill(server.port)
	with Conn(server.port) as c:
		c.send(http_request(search("common")))
		wait_until(lambda: server.dump()["inflight"] == 1)
		server.proc.terminate()
		time.sleep(0.2)
		assert server.proc.poll() is None, "the drain did not wait"
		start = time.monotonic()
		server.proc.terminate()
		server.wait_exit(3)
		assert time.monotonic() - start < 1 * SCALE
	server.finish(code=None)


# ---- SIGHUP --------------------------------------------------------------------


def hang_up(server):
	with server._stderr_changed:
		start = len(server._lines)
	server.proc.send_signal(signal.SIGHUP)
	return start


def test_daemon_sighup_reloads_and_names_what_needs_a_restart(tmp_path):
	def config(level, **server):
		lines = ["[log]", "log_level = %s" % level, "log_format = json", "[server]",
			"listen = 127.0.0.1:0"]
		return "\n".join(lines + ["%s = %s" % kv for kv in server.items()]) + "\n"
	with Bare(config=config("info"), data=tmp_path / "d") as server:
		path = server.config_path
		with open(path, "w") as f:
			f.write(config("debug", base_path="/new", sessions="token"))
		start = hang_up(server)
		for key in ("base_path", "sessions"):
			line = server.wait_line(lambda line: key in line and "restart" in line and line,
				start=start)
			assert json.loads(line)
		assert is_pong(post(server.port, PING, "/rcp/ping")), "what needs a restart was changed"
		assert server.dump(), "the state line is said at this level"
		with open(path, "w") as f:
			f.write(config("error"))
		hang_up(server)
		time.sleep(0.3 * SCALE)
		before = server.stderr
		os.kill(server.pid, signal.SIGUSR1)
		time.sleep(0.3 * SCALE)
		assert server.stderr == before, "the level did not rise"
		with open(path, "w") as f:
			f.write(config("info"))
		hang_up(server)
		time.sleep(0.3 * SCALE)
		assert server.dump(), "the level did not fall again"


def test_daemon_sighup_changes_the_deadline(tmp_path):
	text = "[server]\nlisten = 127.0.0.1:0\n[timeouts]\ndeadline_ms = %d\n"
	with Bare(config=text % 20000, data=tmp_path / "d", env=stall("recall", 8000)) as server:
		fill(server.port)
		with open(server.config_path, "w") as f:
			f.write(text % 300)
		hang_up(server)

		def quick():
			r = post(server.port, search("common", token=None, _meta={"deadlineMs": 2000}))
			return r.error()["code"] == -32014 and r
		start = time.monotonic()
		time.sleep(0.2)
		assert quick()
		assert time.monotonic() - start < 1.5 * SCALE


def test_daemon_sighup_with_a_broken_file_keeps_the_old_settings(tmp_path):
	text = "[server]\nlisten = 127.0.0.1:0\n"
	with Bare(config=text, data=tmp_path / "d", expect_errors=True) as server:
		with open(server.config_path, "w") as f:
			f.write(text + "nonsense = 1\n")
		start = hang_up(server)
		server.wait_line(lambda line: "rcpd.conf:3" in line and "nonsense" in line, start=start)
		assert is_pong(post(server.port, PING))


def test_daemon_sighup_with_a_pipe_for_a_file_does_not_block(tmp_path):
	"""Opening a pipe that nobody writes to would hold the signal thread for ever."""
	text = "[server]\nlisten = 127.0.0.1:0\n"
	with Bare(config=text, data=tmp_path / "d", expect_errors=True) as server:
		os.unlink(server.config_path)
		os.mkfifo(server.config_path)
		start = hang_up(server)
		server.wait_line(lambda line: "not a regular file" in line, start=start)
		assert is_pong(post(server.port, PING))
		assert server.dump(), "the signal thread is still there"


# ---- logs ----------------------------------------------------------------------


def test_daemon_logs_are_json_lines_when_stderr_is_no_terminal(rcpd):
	server = rcpd(log_level="debug")
	fill(server.port)
	post(server.port, b"{")
	post(server.port, search("common"))
	post(server.port, PING, "/rcp/ping%0d%0aX:1")
	post(server.port, PING, host="evil\x7f.example")
	server.dump()
	server.stop()
	lines = server.stderr.split("\n")
	assert sum(l.startswith("rcpd: listening on ") for l in lines) == 1
	parsed = [json.loads(l) for l in lines if l and not l.startswith("rcpd: listening on ")]
	assert len(parsed) >= 3
	for entry in parsed:
		assert entry["level"] in ("debug", "info", "notice", "warning", "error"), entry
		assert isinstance(entry.get("message", entry.get("msg")), str)
		assert any(k in entry for k in ("time", "ts", "timestamp")), entry


def on_a_pty(tmp_path, env=None):
	"""What rcpd says to a terminal while it starts and ends."""
	leader, follower = pty.openpty()
	env = {**clean_environment(None), "TERM": "xterm-256color", **(env or {})}
	env.pop("NO_COLOR", None) if not env.get("NO_COLOR") else None
	p = subprocess.Popen([rcpd_path(), "--data", str(tmp_path), "--listen", "127.0.0.1:0"], env=env,
		stdin=follower, stdout=follower, stderr=follower, close_fds=True, start_new_session=True)
	os.close(follower)
	text, told = b"", False
	deadline = time.monotonic() + 15 * SCALE
	while time.monotonic() < deadline:
		if select.select([leader], [], [], 0.2)[0]:
			try:
				piece = os.read(leader, 65536)
			except OSError:
				break
			if not piece:
				break
			text += piece
		if b"listening on" in text and not told:
			p.terminate()
			told = True
	assert p.wait(10 * SCALE) == 0
	os.close(leader)
	return text.decode()


def test_daemon_text_with_colours_on_a_terminal(tmp_path):
	text = on_a_pty(tmp_path)
	assert "\x1b[" in text and "listening on http://127.0.0.1:" in text
	assert not any(l.lstrip().startswith("{") for l in text.splitlines())


def test_daemon_no_color(tmp_path):
	text = on_a_pty(tmp_path, {"NO_COLOR": "1"})
	assert "\x1b[" not in text and "listening on" in text and len(text.splitlines()) >= 2


# ---- systemd -------------------------------------------------------------------


@pytest.mark.parametrize("abstract", [False, True])
def test_daemon_sd_notify(rcpd, tmp_path, abstract):
	name = "@rcpd-test-%d" % os.getpid() if abstract else str(tmp_path / "notify")
	with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
		s.bind("\0" + name[1:] if abstract else name)
		s.settimeout(10 * SCALE)
		server = rcpd(env={"NOTIFY_SOCKET": name})

		def told(word):
			for _ in range(10):
				if word in s.recv(4096).split(b"\n"):
					return True
			return False
		assert told(b"READY=1")
		server.proc.terminate()
		assert told(b"STOPPING=1")
		assert server.wait_exit(5) == 0


# ---- descriptors ---------------------------------------------------------------


def test_daemon_few_descriptors_lower_the_connection_limit(rcpd):
	"""With room for 128 files, 40 clients neither kill nor starve it for ever."""
	server = rcpd(env=settings(idle_timeout=2), expect_errors=True,
		preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128)))
	assert any("max_connections lowered" in l["message"] for l in server.log_lines())
	clients = []
	try:
		for _ in range(40):
			try:
				clients.append(Conn(server.port, 0.5))
			except OSError:
				break

		def served():
			try:
				return is_pong(post(server.port, PING, timeout=1))
			except (OSError, Closed):
				return False
		assert eventually(served, 12 * SCALE, 0.3)
	finally:
		for c in clients:
			c.close()
	wait_until(lambda: is_pong(post(server.port, PING)), 5)


def test_daemon_reads_from_its_corpus_after_a_restart(rcpd, tmp_path):
	first = rcpd(data=tmp_path)
	fill(first.port, 5)
	version = post(first.port, search("common")).json()["result"].get("indexVersion")
	first.stop()
	second = rcpd(data=tmp_path)
	result = post(second.port, search("common")).json()["result"]
	assert len(result["hits"]) == 5 and result.get("indexVersion") == version


def test_daemon_threads_and_descriptors_are_constant_under_use(server):
	fill(server.port)
	post(server.port, PING)
	server.wait_idle(ignore=("connections",))
	before = process_state(server.pid)
	for i in range(100):
		post(server.port, search("common", id=i))
	wait_until(lambda: process_state(server.pid)["fds"] <= before["fds"], 3)
	assert process_state(server.pid)["threads"] == before["threads"]
