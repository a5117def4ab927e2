"""A running rcpd, whatever its transport: start, stderr, gauges, and the checks at
its end. Teardown is a test: see Process.finish.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from .messages import ROOT

# A word that stands in the queries and documents of the tests. It must never be
# seen in a log (REQ: O2); every server's end checks that.
MARKER = "zqmarkerword"
# Sanitizer builds are slow: RCPD_TEST_SCALE=5 stretches every time limit.
SCALE = float(os.environ.get("RCPD_TEST_SCALE", "1"))

SANITIZER = re.compile(r"(ERROR|WARNING): (Address|Leak|Thread|Memory)Sanitizer|runtime error: ")
# At these log levels the state line of dump() is not written.
QUIET_LEVELS = ("warning", "error", "off")
GAUGES = ("requests", "inflight", "connections", "exchanges", "streams", "views")


def rcpd_path():
	"""The daemon under test: $RCPD, else build/rcpd."""
	return os.path.abspath(os.environ.get("RCPD") or ROOT / "build" / "rcpd")


def wait_until(condition, timeout=5.0, step=0.01, what="the condition"):
	"""Asks again and again until condition() is true; returns its value."""
	end = time.monotonic() + timeout * SCALE
	while True:
		value = condition()
		if value:
			return value
		assert time.monotonic() < end, f"waited {timeout * SCALE:g} s for {what}"
		time.sleep(step)


def clean_environment(extra):
	env = {k: v for k, v in os.environ.items() if not k.startswith("RCPD_")}
	for name in ("JOURNAL_STREAM", "NOTIFY_SOCKET", "STATE_DIRECTORY"):
		env.pop(name, None)
	env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
	env.update(extra or {})
	return env


class Process:
	"""One rcpd process with a data folder of its own.

	flags: more command line; env: more environment; config: text of a config file;
	data: a folder to use (kept at the end), else a fresh one that is removed;
	expect_errors: error-level log lines and -32603 answers are part of the test;
	expect_marker: document text may be in the log.
	"""

	silent = False  # the log level hides the state line of dump()

	def __init__(self, *flags, env=None, config=None, data=None, expect_errors=False, **popen):
		self.expect_errors = expect_errors
		self.internal_errors = []  # -32603 answers seen
		self.finished = False
		self._own = tempfile.mkdtemp(prefix="rcpd-test-")
		self.data = str(data) if data else os.path.join(self._own, "data")
		os.makedirs(self.data, exist_ok=True)
		args = [rcpd_path(), "--data", self.data, *flags]
		if config is not None:
			path = pathlib.Path(self._own, "rcpd.conf")
			path.write_text(config)
			args[1:1] = ["--config", str(path)]
			self.config_path = str(path)
		self.args = args
		self._lines, self._stderr_changed = [], threading.Condition()
		self.proc = subprocess.Popen(args, env=clean_environment(env), stderr=subprocess.PIPE,
			**popen)
		self._stderr_reader = threading.Thread(target=self._read_stderr, daemon=True)
		self._stderr_reader.start()

	@property
	def pid(self):
		return self.proc.pid

	# ---- stderr ----

	def _read_stderr(self):
		for line in self.proc.stderr:
			with self._stderr_changed:
				self._lines.append(line.decode("utf-8", "replace").rstrip("\n"))
				self._stderr_changed.notify_all()
		with self._stderr_changed:
			self._lines.append(None)  # the end
			self._stderr_changed.notify_all()

	@property
	def stderr(self):
		"""All that was said so far."""
		with self._stderr_changed:
			return "\n".join(line for line in self._lines if line is not None)

	def log_lines(self):
		"""The stderr lines that are JSON objects, parsed."""
		found = []
		for line in self.stderr.split("\n"):
			if line.startswith("{"):
				try:
					found.append(json.loads(line))
				except ValueError:
					pass
		return found

	def wait_line(self, match, timeout=10.0, start=0):
		"""Waits for a stderr line from number `start` on for which match(line) is true."""
		end = time.monotonic() + timeout * SCALE
		seen = start
		with self._stderr_changed:
			while True:
				ended = bool(self._lines) and self._lines[-1] is None
				while seen < len(self._lines) - ended:
					value = match(self._lines[seen])
					if value:
						return value
					seen += 1
				if ended:
					raise AssertionError("rcpd ended: " + "\n".join(self._lines[:-1])[-3000:])
				left = end - time.monotonic()
				assert left > 0, f"waited {timeout * SCALE:g} s; stderr: {self._lines[-20:]}"
				self._stderr_changed.wait(left)

	# ---- gauges ----

	def dump(self):
		"""Sends SIGUSR1 and returns the gauges of the state line as a dict."""
		with self._stderr_changed:
			start = len(self._lines)
		os.kill(self.pid, signal.SIGUSR1)
		return self.wait_line(_parse_gauges, start=start)

	def wait_idle(self, timeout=5.0, ignore=()):
		"""Waits until every gauge of work and connections is zero."""
		end = time.monotonic() + timeout * SCALE
		while True:
			gauges = self.dump()
			busy = {k: gauges[k] for k in GAUGES if gauges[k] != 0 and k not in ignore}
			if not busy:
				return gauges
			assert time.monotonic() < end, f"left behind: {busy}"
			time.sleep(0.02)

	# ---- the end ----

	def note_answer(self, message):
		for one in message if isinstance(message, list) else [message]:
			if isinstance(one, dict) and isinstance(one.get("error"), dict) \
					and one["error"].get("code") == -32603:
				self.internal_errors.append(one)

	def kill(self):
		"""kill -9: no checks but the sanitizers'."""
		self.proc.kill()
		self.proc.wait(30)
		self.finish(code=None)

	def wait_exit(self, timeout=20.0):
		try:
			return self.proc.wait(timeout * SCALE)
		except subprocess.TimeoutExpired:
			self.proc.kill()
			self.proc.wait(30)
			raise AssertionError(f"rcpd did not end within {timeout * SCALE:g} s: "
				+ self.stderr[-3000:]) from None

	def finish(self, code=0):
		"""After the process ended: its exit code, and what it left on stderr."""
		if self.finished:
			return
		self.finished = True
		self._stderr_reader.join(10)
		self.proc.stderr.close()
		if self.data.startswith(self._own):
			shutil.rmtree(self._own, ignore_errors=True)
		text = self.stderr
		assert not SANITIZER.search(text), "a sanitizer complains:\n" + text[-8000:]
		assert code is None or self.proc.returncode == code, \
			f"exit code {self.proc.returncode}, expected {code}:\n" + text[-3000:]
		assert MARKER not in text, "query or document text in the log (O2):\n" + _around(text)
		if not self.expect_errors:
			bad = [x for x in self.log_lines() if str(x.get("level", "")).lower() in
				("error", "crit", "critical", "fatal")]
			assert not bad, f"error-level log lines: {bad}"
			assert not self.internal_errors, f"internal errors: {self.internal_errors}"


def _around(text):
	at = text.find(MARKER)
	return text[max(0, at - 500):at + 500]


def _parse_gauges(line):
	"""The gauges from a state line: JSON members (at any depth) or key=value words."""
	found = {}
	if line.startswith("{"):
		try:
			_collect(json.loads(line), found)
		except ValueError:
			return None
	else:
		found = {k: int(v) for k, v in re.findall(r"(\w+)=(-?\d+)", line)}
	return found if all(name in found for name in GAUGES) else None


def _collect(value, found):
	for key, member in value.items():
		if isinstance(member, dict):
			_collect(member, found)
		elif isinstance(member, int):
			found[key] = member
