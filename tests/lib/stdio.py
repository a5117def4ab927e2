"""RcpdStdio: the daemon over its pipes."""
import itertools
import json
import queue
import signal
import subprocess
import threading
import time

from .messages import Answer, check_bytes, id_key, requested_methods
from .process import QUIET_LEVELS, SCALE, Process

_absent = object()


class RcpdStdio(Process):
	"""`rcpd --stdio --data DIR`.

	send()      a dict, text or bytes as one line; send_bytes() exactly those bytes
	recv()      the next line as an Answer, checked; None at the end of the output
	rpc()       one call and its answer (other lines are kept for recv)
	close()     ends stdin, waits, checks exit code 0, stderr and gauges
	"""

	def __init__(self, *flags, log_level="info", initialize=False, stdout=subprocess.PIPE, **kw):
		self.silent = log_level in QUIET_LEVELS
		self._ids = itertools.count(1)
		self._methods = {}  # id key -> method, to check results by
		self._queue, self._kept, self._eof = queue.Queue(), [], False
		super().__init__("--stdio", "--log-level", log_level, *flags, stdin=subprocess.PIPE,
			stdout=stdout, **kw)
		self._reader = threading.Thread(target=self._read_stdout, daemon=True)
		if self.proc.stdout is not None:
			self._reader.start()
		if initialize:
			self.rpc("initialize", {"protocolVersion": 1}).result

	def _read_stdout(self):
		for line in self.proc.stdout:
			self._queue.put((time.monotonic(), line))
		self._queue.put((time.monotonic(), None))

	def send_bytes(self, data):
		for line in bytes(data).split(b"\n"):
			self._methods.update(requested_methods(line))
		self.proc.stdin.write(data)
		self.proc.stdin.flush()

	def send(self, message):
		if isinstance(message, str):
			message = message.encode()
		elif not isinstance(message, (bytes, bytearray)):
			message = json.dumps(message).encode()
		assert b"\n" not in message
		self.send_bytes(bytes(message) + b"\n")

	def message(self, method, params=_absent, id=_absent, **extra):
		message = {"jsonrpc": "2.0"}
		if id is _absent:
			message["id"] = next(self._ids)
		elif id is not None:
			message["id"] = id
		message["method"] = method
		if params is not _absent:
			message["params"] = params
		message.update(extra)
		return message

	def _next_line(self, timeout):
		if self._eof:
			return None
		try:
			at, line = self._queue.get(timeout=timeout)
		except queue.Empty:
			raise TimeoutError(f"no line within {timeout:g} s; stderr: {self.stderr[-1500:]}") \
				from None
		if line is None:
			self._eof = True
			return None
		assert line.endswith(b"\n"), f"a line without its end (S1): {line[:200]!r}"
		value = check_bytes(line[:-1], self._methods, transport="stdio")
		self.note_answer(value)
		for one in value if isinstance(value, list) else [value]:
			self._methods.pop(id_key(one.get("id")), None)
		if isinstance(value, list):
			answer = AnswerList(value)
		else:
			answer = Answer(value, line[:-1])
		answer.at = at
		return answer

	def recv(self, timeout=10.0):
		"""The next line (an Answer; a batch's is a list). TimeoutError when none comes."""
		if self._kept:
			return self._kept.pop(0)
		return self._next_line(timeout * SCALE)

	def recv_id(self, id, timeout=10.0):
		"""The answer to request `id`; lines before it are kept for recv."""
		for i, kept in enumerate(self._kept):
			if _answers(kept, id):
				return self._kept.pop(i)
		end = time.monotonic() + timeout * SCALE
		while True:
			line = self._next_line(max(0.001, end - time.monotonic()))
			assert line is not None, f"output ended without an answer to {id}: {self.stderr[-1500:]}"
			if _answers(line, id):
				return line
			self._kept.append(line)

	def rpc(self, method, params=_absent, id=_absent, timeout=10.0):
		message = self.message(method, params, id)
		self.send(message)
		return self.recv_id(message["id"], timeout) if "id" in message else None

	def result(self, method, params=_absent, **kw):
		return self.rpc(method, params, **kw).result

	def quiet(self, seconds=0.15):
		"""True when nothing more arrives for that long."""
		if self._kept:
			return False
		try:
			line = self._next_line(seconds * SCALE)
		except TimeoutError:
			return True
		if line is not None:
			self._kept.append(line)
		return line is None

	def lines_until_end(self, timeout=20.0):
		"""All further lines up to the end of the output."""
		found, self._kept = self._kept, []
		while (line := self._next_line(timeout * SCALE)) is not None:
			found.append(line)
		return found

	def wait_idle(self, timeout=5.0, ignore=()):
		return super().wait_idle(timeout, ignore)

	def end_input(self):
		if self.proc.stdin and not self.proc.stdin.closed:
			try:
				self.proc.stdin.close()
			except BrokenPipeError:
				pass

	def close(self, check_idle=True, code=0):
		"""Ends stdin and checks how the process ends."""
		if self.finished:
			return
		try:
			if check_idle and not self.silent and self.proc.poll() is None and not self._eof:
				self._idle_or_ended()
		finally:
			self.end_input()
			try:
				self.wait_exit()
			finally:
				self._reader.join(10)
				self.finish(code)
		# Lines nobody read are checked as well.
		if self.proc.stdout is not None:
			self.lines_until_end()
			self.proc.stdout.close()

	def _idle_or_ended(self):
		try:
			self.wait_idle()
		except (AssertionError, ProcessLookupError):
			# Its stderr may be at its end a moment before the process is.
			try:
				self.proc.wait(5 * SCALE)
			except subprocess.TimeoutExpired:
				pass
			if self.proc.poll() is None:
				raise

	stop = close

	def terminate(self, number=signal.SIGTERM):
		self.proc.send_signal(number)

	def __enter__(self):
		return self

	def __exit__(self, kind, value, trace):
		if kind is None:
			self.close()
		elif not self.finished:
			self.proc.kill()
			self.proc.wait(30)
			self.finished = True


class AnswerList(list):
	"""What answers a batch."""


def _answers(line, id):
	return isinstance(line, Answer) and "method" not in line and line["id"] == id \
		and type(line["id"]) is type(id)
