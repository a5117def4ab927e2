"""Rcpd: the daemon over HTTP."""
import http.client
import itertools
import json
import re
import signal
import socket
import threading
import time
import urllib.parse

from .messages import Answer, check_bytes, requested_methods
from .process import QUIET_LEVELS, SCALE, Process
from .wire import RawSocket, check_captured, split_frames

LISTENING = re.compile(r"^rcpd: listening on (http://\S+|unix:\S+)$")
_absent = object()


class _UnixConnection(http.client.HTTPConnection):
	def __init__(self, path, timeout):
		super().__init__("localhost", timeout=timeout)
		self.path = path

	def connect(self):
		self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
		self.sock.settimeout(self.timeout)
		self.sock.connect(self.path)


class Rcpd(Process):
	"""`rcpd --listen …` on a free port. Use it as a context manager, or call stop().

	rpc()    one call, the parsed answer          post()   any bytes to any path
	sse()    one call over SSE, a stream          raw()    a connected socket
	request()  any verb                           dump()   the gauges (SIGUSR1)
	"""

	def __init__(self, *flags, listen="127.0.0.1:0", log_level="info", timeout=30.0, ready=True,
			**kw):
		self.timeout = timeout * SCALE
		self.silent = log_level in QUIET_LEVELS
		self._ids = itertools.count(1)
		self._local, self._kept, self._raw = threading.local(), [], []
		self._lock = threading.Lock()
		super().__init__("--listen", listen, "--log-level", log_level, *flags, **kw)
		self.url = self.base = None
		if ready:
			try:
				self.wait_ready()
			except BaseException:
				self.proc.kill()
				self.proc.wait(30)
				raise

	def wait_ready(self):
		self.url = self.wait_line(lambda line: (m := LISTENING.match(line)) and m.group(1),
			timeout=20)
		if self.url.startswith("unix:"):
			self.unix, self.base = self.url[5:], "/rcp"
			self.host = self.port = None
		else:
			parts = urllib.parse.urlsplit(self.url)
			self.unix, self.host, self.port, self.base = None, parts.hostname, parts.port, parts.path

	# ---- talking ----

	def connection(self):
		"""A new http.client connection; the caller closes it."""
		if self.unix:
			return _UnixConnection(self.unix, self.timeout)
		return http.client.HTTPConnection(self.host, self.port, timeout=self.timeout)

	def _connection(self):
		kept = getattr(self._local, "connection", None)
		if kept is None:
			kept = self._local.connection = self.connection()
			with self._lock:
				self._kept.append(kept)
		return kept

	def request(self, verb, path, body=None, headers=None):
		"""Any request on this thread's kept connection: (status, headers, body). JSON-RPC
		messages in the answer go through the hook."""
		connection = self._connection()
		reused = connection.sock is not None
		try:
			connection.request(verb, path, body=body, headers=headers or {})
			answer = connection.getresponse()
		except (http.client.RemoteDisconnected, ConnectionError):
			connection.close()
			if not reused:
				raise
			# The server may close an idle connection at any time.
			connection.request(verb, path, body=body, headers=headers or {})
			answer = connection.getresponse()
		except BaseException:
			connection.close()
			raise
		data = answer.read()
		self._check(answer.status, answer.headers, data, body)
		return answer.status, answer.headers, data

	def _check(self, status, headers, data, body):
		kind = (headers.get("Content-Type") or "").split(";")[0].strip().lower()
		methods = requested_methods(body) if body else {}
		if kind == "text/event-stream":
			frames, rest = split_frames(data)
			assert not rest.strip(b"\n"), f"half a frame at the end: {rest[:200]!r}"
			for frame in frames:
				self.note_answer(check_bytes(frame, methods))
		elif data and kind == "application/json" and b'"jsonrpc"' in data:
			self.note_answer(check_bytes(data, methods))
		elif status == 200 and body and data:
			raise AssertionError(f"a 200 that is no JSON-RPC: {kind}: {data[:200]!r}")

	def post(self, path, body, headers=None):
		"""POSTs bytes (or text, or a value to be dumped): (status, headers, body)."""
		if isinstance(body, str):
			body = body.encode()
		elif body is not None and not isinstance(body, (bytes, bytearray)):
			body = json.dumps(body).encode()
		sent = {"Content-Type": "application/json"}
		for key, value in (headers or {}).items():
			for known in [k for k in sent if k.lower() == key.lower()]:
				del sent[known]
			if value is not None:
				sent[key] = value
		return self.request("POST", path, body, sent)

	def message(self, method, params=_absent, id=_absent, **extra):
		"""A request as a dict. Without id: the next free number; id=None: a notification."""
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

	def rpc(self, method, params=_absent, id=_absent, headers=None, path=None):
		"""One call to <base>/<method>; an Answer (a dict), or None after a 204."""
		message = self.message(method, params, id)
		if path is None:
			path = f"{self.base}/{urllib.parse.quote(method, safe='/')}"
		status, got, body = self.post(path, message, headers)
		if status == 204:
			assert body == b""
			return None
		answer = Answer(json.loads(body), body, status, got)
		if status == 200:
			assert answer["id"] == message.get("id"), (message, answer)
			assert type(answer["id"]) is type(message.get("id")), (message, answer)
		return answer

	def result(self, method, params=_absent, **kw):
		"""As rpc, but it must succeed; gives the result."""
		return self.rpc(method, params, **kw).result

	def sse(self, method, params=None, id=_absent, token=_absent, headers=None, path=None):
		"""Starts a call over SSE on a connection of its own; returns a SseStream."""
		params = dict(params or {})
		if token is not _absent:
			params["_meta"] = {**params.get("_meta", {}), "progressToken": token}
		message = self.message(method, params, id)
		path = path or f"{self.base}/{urllib.parse.quote(method, safe='/')}"
		return SseStream(self, path, message, headers or {})

	def raw(self, timeout=10.0):
		"""A connected RawSocket. What it receives is checked when the server stops."""
		if self.unix:
			s = RawSocket.open(socket.AF_UNIX, self.unix, timeout)
		else:
			family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
			s = RawSocket.open(family, (self.host, self.port), timeout)
		with self._lock:
			self._raw.append(s)
		return s

	# ---- the end ----

	def close_connections(self):
		"""Closes every connection this object opened."""
		with self._lock:
			kept, self._kept = self._kept, []
			raw, self._raw = self._raw, []
		for connection in kept:
			connection.close()
		for s in raw:
			s.close()
		self._local = threading.local()
		return raw

	def stop(self, check_idle=True):
		"""Closes the connections, waits for the gauges to fall to zero, sends SIGTERM and
		checks what is left. Does nothing the second time."""
		if self.finished:
			return
		raw = self.close_connections()
		try:
			if check_idle and not self.silent and self.proc.poll() is None:
				self.wait_idle()
		finally:
			if self.proc.poll() is None:
				self.proc.send_signal(signal.SIGTERM)
			try:
				self.wait_exit()
			finally:
				self.finish()
		for s in raw:
			check_captured(s.received)

	def __enter__(self):
		return self

	def __exit__(self, kind, value, trace):
		if kind is None:
			self.stop()
		elif not self.finished:
			self.close_connections()
			self.proc.kill()
			self.proc.wait(30)
			self.finished = True


class SseStream:
	"""One call over SSE, frame by frame, with the time each arrived.

	status, headers: of the answer (read at the first use). next() gives the next
	frame as an Answer, None at the end; .at is when it came. rest() gives all that
	follow. events holds (time, text) of every frame, comments holds the comments.
	A buffered JSON answer counts as a stream of one frame.
	"""

	def __init__(self, server, path, message, headers):
		self.server, self.sent = server, message
		self.method = message["method"]
		body = json.dumps(message).encode()
		lines = {"Host": "localhost", "Accept": "text/event-stream",
			"Content-Type": "application/json", "Content-Length": str(len(body)), **headers}
		head = f"POST {path} HTTP/1.1\r\n" + "".join(
			f"{k}: {v}\r\n" for k, v in lines.items() if v is not None) + "\r\n"
		self.socket = server.raw(timeout=server.timeout / SCALE)
		self.started = time.monotonic()
		self.socket.sendall(head.encode() + body)
		self.status = self.headers = None
		self.events, self.comments = [], []
		self._data, self._text, self._ended = b"", b"", False
		self._ready = []

	def read_head(self):
		while b"\r\n\r\n" not in self._data:
			piece = self.socket.recv(65536)
			assert piece, "the connection ended before an answer"
			self._data += piece
		head, _, self._data = self._data.partition(b"\r\n\r\n")
		first, _, rest = head.partition(b"\r\n")
		self.status = int(first.split()[1])
		self.headers = http.client.parse_headers(_Lines(rest + b"\r\n\r\n"))
		self.chunked = "chunked" in (self.headers.get("Transfer-Encoding") or "").lower()
		self.is_sse = (self.headers.get("Content-Type") or "").startswith("text/event-stream")
		self.left = self.headers.get("Content-Length")
		self.left = None if self.left is None else int(self.left)
		if self.left == 0 or self.status == 204:
			self._ended = True
		return self

	def _body_bytes(self):
		"""More bytes of the body; b"" at its end."""
		if self._ended:
			return b""
		while True:
			if self.chunked:
				got = self._take_chunk()
			else:
				got, self._data = self._data, b""
				if self.left is not None:
					self.left -= len(got)
					self._ended = self.left <= 0
			if got or self._ended:
				return got
			piece = self.socket.recv(65536)
			if not piece:
				assert not self.chunked, "the connection ended inside a chunked answer"
				self._ended = True
				return b""
			self._data += piece

	def _take_chunk(self):
		line, found, rest = self._data.partition(b"\r\n")
		if not found:
			return b""
		size = int(line.split(b";")[0], 16)
		if len(rest) < size + 2:
			return b""
		self._data = rest[size + 2:]
		if size == 0:
			self._ended = True
		return rest[:size]

	def next(self):
		if self.status is None:
			self.read_head()
		while not self._ready:
			piece = self._body_bytes()
			if not piece:
				return self._at_end()
			self._text += piece
			if self.is_sse:
				self._split()
		return self._ready.pop(0)

	def _split(self):
		while b"\n\n" in self._text:
			block, _, self._text = self._text.partition(b"\n\n")
			at = time.monotonic()
			lines = block.split(b"\n")
			self.comments += [(at, line) for line in lines if line.startswith(b":")]
			data = [line for line in lines if line.startswith(b"data:")]
			if data:
				assert len(data) == 1, f"one data line a frame (T4): {block[:300]!r}"
				self._deliver(data[0][5:].removeprefix(b" "), at)

	def _deliver(self, text, at):
		value = check_bytes(text, self.method)
		self.server.note_answer(value)
		answer = Answer(value, text, self.status, self.headers)
		answer.at = at
		self.events.append((at, text))
		self._ready.append(answer)

	def _at_end(self):
		if self.is_sse:
			assert not self._text.strip(b"\n") or self._text.startswith(b":"), \
				f"half a frame at the end: {self._text[:200]!r}"
		elif self._text:
			self._deliver(self._text, time.monotonic())
			self._text = b""
			return self._ready.pop(0)
		return None

	def rest(self):
		found = []
		while (frame := self.next()) is not None:
			found.append(frame)
		return found

	def close(self):
		self.socket.close()

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.close()


class _Lines:
	"""readline over bytes, as http.client.parse_headers wants it."""

	def __init__(self, data):
		self.lines = data.splitlines(keepends=True)

	def readline(self, _limit=-1):
		return self.lines.pop(0) if self.lines else b""
