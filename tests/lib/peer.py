"""One interface over HTTP and stdio, for tests that hold for every transport."""
import json

from .messages import Answer
from .stdio import AnswerList

_absent = object()


class HttpPeer:
	kind = "http"

	def __init__(self, server):
		self.server = server

	def call(self, method, params=_absent, id=_absent):
		kw = {} if params is _absent else {"params": params}
		if id is not _absent:
			kw["id"] = id
		return self.server.rpc(method, **kw)

	def raw(self, text, path=None):
		"""Sends text as it is; an Answer, a list for a batch, None when nothing answers."""
		if isinstance(text, str):
			text = text.encode()
		status, headers, body = self.server.post(path or self.server.base, text)
		if status == 204:
			assert body == b"", "a 204 with a body"
			return None
		value = json.loads(body)
		return AnswerList(value) if isinstance(value, list) else Answer(value, body, status, headers)


class StdioPeer:
	kind = "stdio"

	def __init__(self, server):
		self.server = server
		self._fences = 0

	def call(self, method, params=_absent, id=_absent):
		kw = {} if params is _absent else {"params": params}
		if id is not _absent:
			kw["id"] = id
		return self.server.rpc(method, **kw)

	def raw(self, text, path=None):
		"""As over HTTP. The silence of a notification is known by the answer to a ping
		sent after it, and a short wait, since answers may overtake each other."""
		if isinstance(text, str):
			text = text.encode()
		assert not self.server._kept, f"unread lines: {self.server._kept}"
		self.server.send(text)
		if _expects_silence(text):
			self._fences += 1
			fence = f"fence-{self._fences}"
			self.server.rpc("ping", {}, id=fence)
			self.server.quiet(0.05)
			return self.server.recv() if self.server._kept else None
		return self.server.recv()


def _expects_silence(text):
	"""Whether a correct server sends nothing: a wrong answer is still seen."""
	try:
		value = json.loads(text)
	except (ValueError, RecursionError):
		return False
	members = value if isinstance(value, list) else [value]
	return bool(members) and all(
		isinstance(m, dict) and m.get("jsonrpc") == "2.0" and isinstance(m.get("method"), str)
		and "id" not in m for m in members)
