"""HTTP as bytes: what the black-box tests of the HTTP side share.

Libraries hide what these tests must see (when a byte came, whether a body had a
length, what was on the wire before the final answer), so requests here are bytes
on a socket and answers are parsed by hand. Every wait is bounded.
"""
import contextlib
import json
import os
import re
import select
import shutil
import socket
import subprocess
import threading
import time

import pytest

from .messages import check_bytes
from .process import SCALE

WAIT = 10.0 * SCALE  # seconds; no test waits longer for one answer unless it says so


def settings(**keys):
	"""Configuration keys as environment: settings(max_body=1024)."""
	return {"RCPD_" + k.upper(): str(v) for k, v in keys.items()}


def stall(stage, ms, times=None):
	"""Environment that makes a stage of retrieve stall (src/util/fault.h)."""
	return {"RCPD_FAULTS": "retrieve.%s=stall:%d%s" % (stage, ms, ":%d" % times if times else "")}


def address(target):
	"""A (host, port) pair, or a path of a unix socket, from either or from a port."""
	if isinstance(target, int):
		return ("127.0.0.1", target)
	return target


def connect(target, timeout=WAIT):
	target = address(target)
	if isinstance(target, str):
		s = socket.socket(socket.AF_UNIX)
		s.settimeout(timeout)
		s.connect(target)
		return s
	s = socket.create_connection(target, timeout=timeout)
	s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
	return s


def request(method="ping", params=None, id=1, **more):
	"""A JSON-RPC request as an object; id=None leaves the id out (a notification)."""
	msg = {"jsonrpc": "2.0", "method": method}
	if id is not None:
		msg["id"] = id
	if params is not None:
		msg["params"] = params
	msg.update(more)
	return msg


def http_request(body=None, path="/rcp", verb="POST", headers=(), version="1.1",
				 host="127.0.0.1", ctype="application/json", length=True):
	"""The bytes of one request. body: bytes, text or an object to dump. headers
	come last and replace nothing; host, ctype None or length False leave theirs out."""
	if body is not None and not isinstance(body, (bytes, str)):
		body = json.dumps(body, ensure_ascii=False)
	if isinstance(body, str):
		body = body.encode()
	head = ["%s %s HTTP/%s" % (verb, path, version)]
	if host is not None:
		head.append("Host: " + host)
	if body is not None:
		if ctype is not None:
			head.append("Content-Type: " + ctype)
		if length:
			head.append("Content-Length: %d" % len(body))
	head += ["%s: %s" % h for h in headers]
	return ("\r\n".join(head) + "\r\n\r\n").encode("latin-1") + (body or b"")


def chunked(body, size):
	out = b""
	for i in range(0, len(body), size):
		piece = body[i:i + size]
		out += b"%x\r\n%s\r\n" % (len(piece), piece)
	return out + b"0\r\n\r\n"


class Response:
	def __init__(self, status, reason, version, headers):
		self.status, self.reason, self.version, self.headers = status, reason, version, headers
		self.body = b""
		self.interim = []     # status codes of 1xx answers before this one
		self.at = time.monotonic()  # when the head was complete

	def header(self, name, default=None):
		got = [v for k, v in self.headers if k.lower() == name.lower()]
		return ", ".join(got) if got else default

	def json(self):
		return json.loads(self.body)

	@property
	def media_type(self):
		return (self.header("Content-Type") or "").split(";")[0].strip().lower()

	def error(self):
		return self.json()["error"]

	def __repr__(self):
		return "<%d %s %r>" % (self.status, self.headers, self.body[:300])


class Closed(Exception):
	"""The server closed the connection; what had come is in .data."""

	def __init__(self, data):
		super().__init__("connection closed after %r" % data[-300:])
		self.data = data


class Conn:
	"""One connection. Bytes are read as they come and kept with their order."""

	def __init__(self, target, timeout=WAIT):
		self.timeout = timeout
		self.sock = connect(target, timeout)
		self.buf = b""
		self.reset = False

	def __enter__(self):
		return self

	def __exit__(self, *exc):
		self.close()

	def close(self):
		self.sock.close()

	def abort(self):
		"""Closes with RST."""
		import struct
		self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		self.sock.close()

	def send(self, data):
		self.sock.sendall(data)

	def send_slowly(self, data, size=1, pause=0.0):
		for i in range(0, len(data), size):
			self.sock.sendall(data[i:i + size])
			if pause:
				time.sleep(pause)

	def fill(self, deadline):
		left = deadline - time.monotonic()
		if left <= 0:
			raise TimeoutError("no more bytes; so far %r" % self.buf[-300:])
		self.sock.settimeout(left)
		try:
			data = self.sock.recv(65536)
		except ConnectionResetError:
			self.reset = True
			data = b""
		except socket.timeout:
			raise TimeoutError("no more bytes; so far %r" % self.buf[-300:]) from None
		if not data:
			raise Closed(self.buf)
		self.buf += data

	def take(self, n, deadline):
		while len(self.buf) < n:
			self.fill(deadline)
		data, self.buf = self.buf[:n], self.buf[n:]
		return data

	def take_until(self, mark, deadline):
		while mark not in self.buf:
			self.fill(deadline)
		data, _, self.buf = self.buf.partition(mark)
		return data

	def head(self, timeout=None):
		"""Status line and headers of the next final answer."""
		deadline = time.monotonic() + (timeout or self.timeout)
		interim = []
		while True:
			text = self.take_until(b"\r\n\r\n", deadline).decode("latin-1")
			lines = text.split("\r\n")
			m = re.fullmatch(r"HTTP/(\d\.\d) (\d{3})(?: (.*))?", lines[0])
			assert m, "not a status line: %r" % lines[0]
			headers = []
			for line in lines[1:]:
				name, sep, value = line.partition(":")
				assert sep and name and name == name.strip(), "bad header line %r" % line
				headers.append((name, value.strip()))
			r = Response(int(m[2]), m[3] or "", m[1], headers)
			if r.status < 200:
				interim.append(r.status)
				continue
			r.interim = interim
			return r

	def response(self, timeout=None, verb="POST"):
		"""The next whole answer, by whatever framing it has."""
		deadline = time.monotonic() + (timeout or self.timeout)
		r = self.head(timeout)
		if verb == "HEAD" or r.status in (204, 304):
			return r
		if (r.header("Transfer-Encoding") or "").lower() == "chunked":
			r.body = b"".join(self.chunks(deadline))
		elif r.header("Content-Length") is not None:
			r.body = self.take(int(r.header("Content-Length")), deadline)
		else:
			r.body = self.rest(deadline - time.monotonic())
		if r.media_type == "application/json" and b'"jsonrpc"' in r.body:
			check_bytes(r.body)  # every message goes through the hook
		return r

	def chunks(self, deadline):
		while True:
			size = int(self.take_until(b"\r\n", deadline).split(b";")[0], 16)
			data = self.take(size, deadline)
			if size:
				assert self.take(2, deadline) == b"\r\n"
				yield data
				continue
			while self.take_until(b"\r\n", deadline):
				pass  # trailers
			return

	def rest(self, timeout=None):
		"""Everything until the server closes."""
		deadline = time.monotonic() + (timeout or self.timeout)
		try:
			while True:
				self.fill(deadline)
		except Closed as e:
			self.buf = b""
			return e.data

	def closed_within(self, seconds):
		"""True when the server closes (FIN or RST) in that time; unread bytes count not."""
		deadline = time.monotonic() + seconds
		try:
			while True:
				self.fill(deadline)
		except Closed:
			return True
		except TimeoutError:
			return False

	def quiet_for(self, seconds):
		"""True when nothing, not even a close, comes in that time."""
		if self.buf:
			return False
		return not select.select([self.sock], [], [], seconds)[0]

	def post(self, body, path="/rcp", headers=(), timeout=None, **kw):
		self.send(http_request(body, path, headers=headers, **kw))
		return self.response(timeout)


def once(target, data, timeout=WAIT, verb="POST"):
	"""Sends bytes on a fresh connection, reads one answer, closes."""
	with Conn(target, timeout) as c:
		try:
			c.send(data)
		except (BrokenPipeError, ConnectionResetError):
			pass  # answered before all was sent: read what it said
		return c.response(timeout, verb)


def post(target, body, path="/rcp", timeout=WAIT, **kw):
	return once(target, http_request(body, path, **kw), timeout)


def get(target, path, verb="GET", headers=(), timeout=WAIT, **kw):
	return once(target, http_request(None, path, verb, headers, **kw), timeout, verb)


class Frame:
	def __init__(self, data, at):
		self.data, self.at = data, at
		self.json = json.loads(data)

	@property
	def progress(self):
		return self.json.get("params") if self.json.get("method") == "notifications/progress" \
			else None

	def __repr__(self):
		return "<frame %.4f %s>" % (self.at, self.data[:200])


class Sse:
	"""An event stream being read. Frames carry the time their last byte arrived."""

	def __init__(self, target, body, path="/rcp", headers=(), timeout=WAIT, conn=None, **kw):
		self.conn = conn or Conn(target, timeout)
		self.timeout = timeout
		self.comments = []   # times of comment lines
		self.text = b""      # decoded, not yet cut into events
		self.raw = []        # every event block as it was
		self.ended = False
		headers = list(headers)
		if not any(h[0].lower() == "accept" for h in headers):
			headers.append(("Accept", "text/event-stream"))
		self.sent_at = time.monotonic()
		self.conn.send(http_request(body, path, headers=headers, **kw))
		self.response = None

	def __enter__(self):
		return self

	def __exit__(self, *exc):
		self.close()

	def close(self):
		self.conn.close()

	def open(self, timeout=None):
		"""Reads the head."""
		if self.response is None:
			self.response = self.conn.head(timeout or self.timeout)
			self.is_chunked = (self.response.header("Transfer-Encoding") or "") == "chunked"
		return self.response

	def more(self, deadline):
		"""Appends what comes next to text; False at the end of the body."""
		if self.ended:
			return False
		if self.is_chunked:
			size = int(self.conn.take_until(b"\r\n", deadline).split(b";")[0], 16)
			if size == 0:
				self.conn.take_until(b"\r\n", deadline)
				self.ended = True
				return False
			self.text += self.conn.take(size, deadline)
			assert self.conn.take(2, deadline) == b"\r\n"
			return True
		if not self.conn.buf:
			try:
				self.conn.fill(deadline)
			except Closed:
				self.ended = True
				return False
		self.text += self.conn.buf
		self.conn.buf = b""
		return True

	def frame(self, timeout=None):
		"""The next frame, or None at the end of the stream."""
		self.open(timeout)
		assert self.response.status == 200, self.response
		assert self.response.media_type == "text/event-stream", self.response
		deadline = time.monotonic() + (timeout or self.timeout)
		while True:
			while b"\n\n" not in self.text:
				if not self.more(deadline):
					assert not self.text.strip(), "stream ended inside a frame: %r" % self.text
					return None
			block, _, self.text = self.text.partition(b"\n\n")
			now = time.monotonic()
			lines = block.split(b"\n")
			self.raw.append(block)
			data = [l for l in lines if not l.startswith(b":")]
			self.comments += [now] * (len(lines) - len(data))
			data = [l for l in data if l]
			if not data:
				continue
			assert len(data) == 1 and data[0].startswith(b"data: "), \
				"one data line a frame (T4), got %r" % block
			check_bytes(data[0][6:], "retrieve")
			return Frame(data[0][6:].decode(), now)

	def frames(self, timeout=None):
		"""All frames to the end of the stream."""
		got = []
		deadline = time.monotonic() + (timeout or self.timeout)
		while True:
			f = self.frame(max(deadline - time.monotonic(), 0.001))
			if f is None:
				return got
			got.append(f)


def search(query="", id=1, token="t", k=5, mode="sparse", **params):
	"""A retrieve, with a progress token unless token is None."""
	p = {"query": query, "k": k, "mode": mode}
	p.update(params)
	if token is not None:
		p["_meta"] = dict(p.get("_meta", {}), progressToken=token)
	return request("retrieve", p, id)


# ---- what is left behind -------------------------------------------------------


def process_state(pid):
	"""Open descriptors, threads and sockets by TCP state of a process."""
	fds = []
	with contextlib.suppress(FileNotFoundError):
		for fd in os.listdir("/proc/%d/fd" % pid):
			with contextlib.suppress(FileNotFoundError):
				fds.append(os.readlink("/proc/%d/fd/%s" % (pid, fd)))
	return {"fds": len(fds), "sockets": sum(f.startswith("socket:") for f in fds),
			"threads": len(os.listdir("/proc/%d/task" % pid))}


def rss_kib(pid):
	with open("/proc/%d/status" % pid) as f:
		return int(re.search(r"^VmRSS:\s+(\d+)", f.read(), re.M)[1])


def tcp_states(port):
	"""How many sockets of ours on that local port are in each state (by name)."""
	names = {"01": "ESTABLISHED", "08": "CLOSE_WAIT", "0A": "LISTEN"}
	out = {}
	for path in ("/proc/net/tcp", "/proc/net/tcp6"):
		with contextlib.suppress(FileNotFoundError), open(path) as f:
			for line in f.readlines()[1:]:
				local, state = line.split()[1], line.split()[3]
				if int(local.rsplit(":", 1)[1], 16) == port:
					name = names.get(state, state)
					out[name] = out.get(name, 0) + 1
	return out


def eventually(check, seconds=WAIT, pause=0.02):
	"""Calls check until it returns something true; returns that, or the last value."""
	deadline = time.monotonic() + seconds
	while True:
		got = check()
		if got or time.monotonic() >= deadline:
			return got
		time.sleep(pause)


# ---- nginx ---------------------------------------------------------------------


def need(tool):
	"""The path of a tool. Where it is missing: a failure under CI, else a skip."""
	path = shutil.which(tool, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/local/sbin")
	if path:
		return path
	why = "%s is not installed" % tool
	if os.environ.get("CI", "").lower() in ("1", "true"):
		pytest.fail(why)
	pytest.skip(why)


def free_port():
	with socket.socket() as s:
		s.bind(("127.0.0.1", 0))
		return s.getsockname()[1]


class Nginx:
	"""nginx as a process of the test's own, in a folder of its own, on a free port.

	http is the text that stands inside the http block; PORT in it is replaced by
	the port. files are put below the folder that includes are relative to.
	"""

	MAIN = """daemon off;
worker_processes 1;
error_log error.log info;
pid nginx.pid;
events { worker_connections 4096; }
http {
	access_log off;
	client_body_temp_path tmp-body;
	proxy_temp_path tmp-proxy;
	fastcgi_temp_path tmp-fastcgi;
	uwsgi_temp_path tmp-uwsgi;
	scgi_temp_path tmp-scgi;
%s
}
"""

	def __init__(self, folder, http, files=()):
		self.binary = need("nginx")
		self.dir = str(folder)
		self.port = free_port()
		for name, text in dict(files).items():
			path = os.path.join(self.dir, name)
			os.makedirs(os.path.dirname(path), exist_ok=True)
			with open(path, "w") as f:
				f.write(text.replace("PORT", str(self.port)))
		text = self.MAIN % http.replace("PORT", str(self.port))
		if os.geteuid() == 0:
			text = "user root;\n" + text  # the folder is private to the tester
		with open(os.path.join(self.dir, "nginx.conf"), "w") as f:
			f.write(text)
		self.proc = None

	def argv(self):
		return [self.binary, "-p", self.dir, "-c", "nginx.conf", "-e", "stderr.log"]

	def check(self):
		"""nginx -t; returns its messages, fails the test when it objects."""
		p = subprocess.run(self.argv() + ["-t"], capture_output=True, text=True, timeout=20)
		assert p.returncode == 0, p.stderr + self.log()
		return p.stderr

	def __enter__(self):
		self.proc = subprocess.Popen(self.argv(), stdin=subprocess.DEVNULL,
									 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

		def up():
			assert self.proc.poll() is None, "nginx ended: " + self.log()
			try:
				connect(self.port, 1).close()
				return True
			except OSError:
				return False
		assert eventually(up), "nginx does not listen: " + self.log()
		return self

	def __exit__(self, *exc):
		if self.proc and self.proc.poll() is None:
			self.proc.terminate()
			try:
				self.proc.wait(10)
			except subprocess.TimeoutExpired:
				self.proc.kill()
				self.proc.wait(10)

	def log(self):
		text = ""
		for name in ("stderr.log", "error.log"):
			with contextlib.suppress(FileNotFoundError), \
					open(os.path.join(self.dir, name), errors="replace") as f:
				text += f.read()
		return text


class Relay:
	"""Passes bytes between nginx and the daemon and notes when they passed.

	.connections counts what was accepted; .up holds what went to the daemon, .down
	(time, bytes) of what came from it.
	"""

	def __init__(self, target):
		self.target = target
		self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
		self.port = self.listener.getsockname()[1]
		self.connections, self.up, self.down = 0, [], []
		self.sockets, self.threads = [], []
		self._spawn(self._accept)

	def _spawn(self, target, *args):
		t = threading.Thread(target=target, args=args, daemon=True)
		self.threads.append(t)
		t.start()

	def _accept(self):
		while True:
			try:
				near, _ = self.listener.accept()
			except OSError:
				return
			far = connect(self.target)
			for s in (near, far):
				s.settimeout(None)
				s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
				self.sockets.append(s)
			self.connections += 1
			self._spawn(self._pump, near, far, lambda data: self.up.append(data))
			self._spawn(self._pump, far, near,
				lambda data: self.down.append((time.monotonic(), data)))

	def _pump(self, source, sink, note):
		with contextlib.suppress(OSError):
			while data := source.recv(65536):
				note(data)
				sink.sendall(data)
		for s in (source, sink):
			with contextlib.suppress(OSError):
				s.shutdown(socket.SHUT_RDWR)

	def sent_at(self, text):
		"""When the last byte of text came from the daemon."""
		seen = b""
		for at, data in list(self.down):
			seen += data
			if text in seen:
				return at
		raise AssertionError("%r never came from the daemon" % text[:200])

	def __enter__(self):
		return self

	def __exit__(self, *exc):
		with contextlib.suppress(OSError):
			self.listener.shutdown(socket.SHUT_RDWR)
		self.listener.close()
		for s in self.sockets:
			with contextlib.suppress(OSError):
				s.shutdown(socket.SHUT_RDWR)
			s.close()
		for t in self.threads:
			t.join(5)
