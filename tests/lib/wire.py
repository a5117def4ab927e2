"""HTTP answers and SSE frames read from plain sockets, byte by byte where it matters."""
import socket
import time
from email.parser import BytesHeaderParser

from .messages import check_bytes
from .process import SCALE

KEPT = 16 << 20  # bytes of a raw connection kept for the check at the end


class RawSocket(socket.socket):
	"""A socket that remembers what it received, so that messages read by hand go
	through the hook as well, when the server stops. recv_response() reads one whole
	answer."""

	@classmethod
	def open(cls, family, address, timeout=10.0):
		s = cls(family, socket.SOCK_STREAM)
		s.received = bytearray()
		s.pending = b""
		s.settimeout(timeout * SCALE)
		if family != socket.AF_UNIX:
			s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
		s.connect(address)
		return s

	def recv(self, size, *flags):
		data = super().recv(size, *flags)
		if len(self.received) < KEPT and not flags:
			self.received += data
		return data

	def recv_all(self, limit=64 << 20):
		"""Everything up to the end of the connection (a reset counts as the end)."""
		out = bytearray(self.pending)
		self.pending = b""
		while len(out) < limit:
			try:
				data = self.recv(65536)
			except ConnectionResetError:
				break
			if not data:
				break
			out += data
		return bytes(out)

	def recv_response(self, head=False):
		"""(status, headers, body) of the next answer; interim 1xx answers are skipped."""
		while True:
			status, headers, body, self.pending = read_http_response(self.recv, self.pending, head)
			if status >= 200:
				return status, headers, body


def read_http_response(recv, pending=b"", head=False):
	"""Reads one answer with recv(n); returns status, headers, body, bytes after it."""
	data = bytearray(pending)

	def more():
		piece = recv(65536)
		if not piece:
			raise EOFError(f"connection ended inside an answer: {bytes(data[:300])!r}")
		data.extend(piece)

	while b"\r\n\r\n" not in data:
		more()
	at = data.index(b"\r\n\r\n") + 4
	first, _, rest = bytes(data[:at]).partition(b"\r\n")
	status = int(first.split()[1])
	headers = BytesHeaderParser().parsebytes(rest)
	if head or status < 200 or status in (204, 304):
		return status, headers, b"", bytes(data[at:])
	if "chunked" in (headers.get("Transfer-Encoding") or "").lower():
		return _read_chunked(status, headers, data, at, more)
	if headers.get("Content-Length") is not None:
		end = at + int(headers["Content-Length"])
		while len(data) < end:
			more()
		return status, headers, bytes(data[at:end]), bytes(data[end:])
	try:
		while True:
			more()
	except EOFError:
		return status, headers, bytes(data[at:]), b""


def _read_chunked(status, headers, data, at, more):
	body = bytearray()
	while True:
		while b"\r\n" not in data[at:]:
			more()
		end = data.index(b"\r\n", at)
		size = int(bytes(data[at:end]).split(b";")[0], 16)
		at = end + 2
		while len(data) < at + size + 2:
			more()
		body += data[at:at + size]
		at += size + 2
		if size == 0:
			return status, headers, bytes(body), bytes(data[at:])


def check_captured(received):
	"""Runs the hook over whatever whole answers a raw connection received."""
	data = bytes(received)
	while data:
		rest = iter(())
		try:
			status, headers, body, data = read_http_response(lambda n: next(rest, b""), data)
		except (EOFError, ValueError, IndexError):
			return
		kind = (headers.get("Content-Type") or "").split(";")[0].strip().lower()
		if kind == "application/json" and b'"jsonrpc"' in body:
			check_bytes(body)
		elif kind == "text/event-stream":
			for frame in split_frames(body)[0]:
				check_bytes(frame)


def split_frames(text):
	"""(data of each whole SSE frame, what is left). Comments are dropped."""
	frames = []
	while b"\n\n" in text:
		block, _, text = text.partition(b"\n\n")
		lines = [line for line in block.split(b"\n") if not line.startswith(b":")]
		data = [line[5:].removeprefix(b" ") for line in lines if line.startswith(b"data:")]
		if data:
			frames.append(b"\n".join(data))
	return frames, text


def now():
	return time.monotonic()
