"""ModelServer: model servers on loopback for tests, in the shapes that rcpd speaks.

    with ModelServer() as models:                      # the neural encoder (encoder.py)
        rcpd(config={"embedder_url": models.url("/v1/embeddings"), ...})

    POST /v1/embeddings        OpenAI            POST /rerank       TEI
    POST /embed                TEI               POST /v2/rerank    Cohere
    POST /api/embed            Ollama            POST /v1/rerank    Jina
    POST /v2/embed             Cohere            POST /v1/chat/completions  OpenAI
    POST /embed_sparse         TEI

Embeddings come from a real model, or with encoder="hash" from hashed words (quick, any
dimension). Rerankers and chat are scripted: `score(query, passage)` gives 0 to 1, by
default the share of the query's words in the passage. Servers can be told to misbehave,
once or for ever:

    models.fail(status(500), hang())      # the next two requests
    models.always(html())                 # all others, until always(None)
    models.requests                       # what came: Request(path, headers, body)

`stop()` frees the port, `start()` takes the same one again.
"""
import base64
import collections
import hashlib
import http.server
import json
import math
import re
import socket
import struct
import threading

Request = collections.namedtuple("Request", "path headers body")


# ---- ways to misbehave: functions of the handler and of what it would have answered ----

def status(code, retry_after=None, body='{"error":"scripted"}', headers=None):
	"""An HTTP status."""
	def act(handler, answer):
		more = dict(headers or {})
		if retry_after is not None:
			more["Retry-After"] = str(retry_after)
		handler.reply(code, body.encode(), more)
	return act


def redirect(to, code=307):
	return status(code, headers={"Location": to})


def html():
	"""The page of a proxy, with status 200."""
	def act(handler, answer):
		handler.reply(200, b"<html><body>Sign in</body></html>", kind="text/html")
	return act


def raw(body, kind="application/json"):
	"""Any bytes as the body of a 200."""
	def act(handler, answer):
		handler.reply(200, body if isinstance(body, bytes) else body.encode(), kind=kind)
	return act


def change(function):
	"""The right answer, changed: function(answer) gives another, or text."""
	def act(handler, answer):
		value = function(answer)
		text = value if isinstance(value, str) else json.dumps(value)
		handler.reply(200, text.encode())
	return act


def bare_nan():
	"""NaN in place of a number, as some servers really write it."""
	def act(handler, answer):
		text = re.sub(r"-?\d+\.\d+(e-?\d+)?", "NaN", json.dumps(answer), count=1)
		handler.reply(200, text.encode())
	return act


def chunked():
	"""The right answer in chunks of 7 bytes."""
	def act(handler, answer):
		text = json.dumps(answer).encode()
		handler.head(200, {"Transfer-Encoding": "chunked"})
		for at in range(0, len(text), 7):
			piece = text[at:at + 7]
			handler.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
		handler.wfile.write(b"0\r\n\r\n")
	return act


def truncated(keep=0.5):
	"""Says the right length and closes before it is there."""
	def act(handler, answer):
		text = json.dumps(answer).encode()
		handler.head(200, {"Content-Length": str(len(text)), "Connection": "close"})
		handler.wfile.write(text[:int(len(text) * keep)])
		handler.close_connection = True
	return act


def huge(size=1 << 30):
	"""An answer without an end, or nearly."""
	def act(handler, answer):
		handler.head(200, {"Content-Length": str(size), "Connection": "close"})
		piece = b"[" + b"0," * 32768
		handler.close_connection = True
		for _ in range(size // len(piece)):
			handler.wfile.write(piece)
	return act


def slow(seconds):
	"""The right answer, late."""
	def act(handler, answer):
		handler.server.owner.wait(seconds)
		handler.reply(200, json.dumps(answer).encode())
	return act


def hang(after_head=False, seconds=60):
	"""Nothing, for so long or until the server stops."""
	def act(handler, answer):
		if after_head:
			handler.head(200, {"Content-Length": "100"})
		handler.server.owner.wait(seconds)
		handler.close_connection = True
	return act


def drop():
	"""Closes without an answer, with a reset."""
	def act(handler, answer):
		handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
		handler.close_connection = True
	return act


# ---- the models ----

def words(text):
	return re.findall(r"\w+", text.lower())


class HashEncoder:
	"""Words hashed into a vector: no meaning, but the same text has the same vector, and
	texts that share words are near each other."""

	def __init__(self, dimension=32):
		self.dimension = dimension

	def tokens(self, text):
		return [int.from_bytes(hashlib.sha256(w.encode()).digest()[:2], "big") for w in words(text)]

	def encode(self, texts):
		return [self._one(t) for t in texts]

	def _one(self, text):
		v = [0.0] * self.dimension
		for word in words(text) or ["\x00"]:
			d = hashlib.sha256(word.encode()).digest()
			v[int.from_bytes(d[:4], "big") % self.dimension] += 1.0 if d[4] & 1 else -1.0
		if not any(v):
			v[0] = 1.0
		length = math.sqrt(sum(x * x for x in v))
		return [x / length for x in v]


def overlap(query, passage):
	wanted = set(words(query))
	return len(wanted & set(words(passage))) / len(wanted) if wanted else 0.0


class BadRequest(Exception):
	pass


def _list(body, name):
	value = body.get(name)
	value = [value] if isinstance(value, str) else value
	if not isinstance(value, list) or not value or not all(isinstance(t, str) for t in value):
		raise BadRequest(f"{name} must be texts")
	return value


class Shapes:
	"""What each endpoint answers."""

	def __init__(self, server):
		self.server = server

	def _embed(self, texts):
		return self.server.encoder.encode(texts)

	def openai(self, body):
		rows = self._embed(_list(body, "input"))
		if not body.get("model"):
			raise BadRequest("model is missing")
		if body.get("encoding_format") == "base64":
			rows = [base64.b64encode(struct.pack(f"<{len(r)}f", *r)).decode() for r in rows]
		data = [{"object": "embedding", "index": i, "embedding": r} for i, r in enumerate(rows)]
		return {"object": "list", "data": data, "model": body["model"],
			"usage": {"prompt_tokens": 1, "total_tokens": 1}}

	def tei(self, body):
		return self._embed(_list(body, "inputs"))

	def ollama(self, body):
		return {"model": body["model"], "embeddings": self._embed(_list(body, "input")),
			"total_duration": 1}

	def cohere(self, body):
		if body.get("input_type") not in ("search_query", "search_document"):
			raise BadRequest("input_type is missing")
		return {"id": "x", "embeddings": {"float": self._embed(_list(body, "texts"))},
			"texts": body["texts"]}

	def sparse(self, body):
		answer = []
		for text in _list(body, "inputs"):
			counts = collections.Counter(self.server.encoder.tokens(text))
			answer.append([{"index": i, "value": math.log1p(n)} for i, n in counts.most_common()])
		return answer

	def _scores(self, query, passages):
		scores = [(i, self.server.score(query, p)) for i, p in enumerate(passages)]
		return sorted(scores, key=lambda s: (-s[1], s[0]))

	def tei_rerank(self, body):
		return [{"index": i, "score": s} for i, s in self._scores(body["query"], _list(body, "texts"))]

	def cohere_rerank(self, body):
		scores = self._scores(body["query"], _list(body, "documents"))
		results = [{"index": i, "relevance_score": s} for i, s in scores]
		return {"id": "x", "results": results[:body.get("top_n", len(results))]}

	def chat(self, body):
		data = json.loads(body["messages"][-1]["content"])
		texts = [p["text"] for p in sorted(data["passages"], key=lambda p: p["number"])]
		grades = [round(10 * self.server.score(data["query"], t), 2) for t in texts]
		return {"id": "x", "object": "chat.completion", "model": body["model"], "choices": [
			{"index": 0, "finish_reason": "stop",
				"message": {"role": "assistant", "content": json.dumps(grades)}}]}

	def find(self, path):
		return {"/v1/embeddings": self.openai, "/embed": self.tei, "/api/embed": self.ollama,
			"/v2/embed": self.cohere, "/embed_sparse": self.sparse, "/rerank": self.tei_rerank,
			"/v2/rerank": self.cohere_rerank, "/v1/rerank": self.cohere_rerank,
			"/v1/chat/completions": self.chat}.get(path)


# ---- the server ----

class _Handler(http.server.BaseHTTPRequestHandler):
	protocol_version = "HTTP/1.1"
	disable_nagle_algorithm = True

	def log_message(self, *_):
		pass

	def head(self, code, headers, kind="application/json"):
		self.send_response(code)
		for name, value in {"Content-Type": kind, **headers}.items():
			self.send_header(name, value)
		self.end_headers()

	def reply(self, code, body, headers=None, kind="application/json"):
		self.head(code, {"Content-Length": str(len(body)), **(headers or {})}, kind)
		self.wfile.write(body)

	def do_POST(self):
		try:
			self._post()
		except (BrokenPipeError, ConnectionResetError):
			self.close_connection = True

	def _post(self):
		owner = self.server.owner
		text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
		try:
			body = json.loads(text)
		except ValueError:
			body = None
		act = owner.note(Request(self.path, dict(self.headers), body))
		if owner.key is not None and self.headers.get("Authorization") != f"Bearer {owner.key}":
			return self.reply(401, b'{"error":"no such key"}')
		shape = owner.shapes.find(self.path)
		if shape is None:
			return self.reply(404, b'{"error":"not found"}')
		try:
			answer = shape(body)
		except (BadRequest, KeyError, TypeError, ValueError, AttributeError) as e:
			return self.reply(422, json.dumps({"error": str(e)}).encode())
		if act:
			return act(self, answer)
		return self.reply(200, json.dumps(answer).encode())

	def do_GET(self):
		self.reply(405, b"{}")


class _Server(http.server.ThreadingHTTPServer):
	daemon_threads = True
	request_queue_size = 128

	def __init__(self, *args):
		super().__init__(*args)
		self.open = set()

	def process_request(self, request, client_address):
		self.open.add(request)
		super().process_request(request, client_address)

	def shutdown_request(self, request):
		self.open.discard(request)
		super().shutdown_request(request)

	def cut(self):
		for request in list(self.open):
			try:
				request.shutdown(socket.SHUT_RDWR)
			except OSError:
				pass  # closed in the meantime

	def handle_error(self, request, client_address):
		pass  # clients that leave are part of the tests


class ModelServer:
	def __init__(self, encoder="neural", dimension=32, key=None, score=overlap, port=0):
		if encoder == "neural":
			from .encoder import Encoder
			encoder = Encoder.shared()
		elif encoder == "hash":
			encoder = HashEncoder(dimension)
		self.encoder = encoder
		self.dimension = encoder.dimension
		self.key = key
		self.score = score
		self.shapes = Shapes(self)
		self.requests = []
		self.port = port
		self._lock = threading.Lock()
		self._once = collections.deque()
		self._always = None
		self._server = None
		self._stopping = threading.Event()
		self.start()

	def url(self, path, host="127.0.0.1"):
		return f"http://{host}:{self.port}{path}"

	def fail(self, *acts):
		"""What becomes of the next requests, one each."""
		with self._lock:
			self._once.extend(acts)

	def always(self, act):
		with self._lock:
			self._always = act

	def note(self, request):
		with self._lock:
			self.requests.append(request)
			return self._once.popleft() if self._once else self._always

	def count(self, path=None):
		with self._lock:
			return sum(path in (None, r.path) for r in self.requests)

	def wait(self, seconds):
		self._stopping.wait(seconds)

	def start(self):
		assert self._server is None, "it runs already"
		self._stopping.clear()
		self._server = _Server(("127.0.0.1", self.port), _Handler)
		self._server.owner = self
		self.port = self._server.server_address[1]
		threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

	def stop(self):
		"""As if the process was killed: connections are cut."""
		if self._server is not None:
			self._stopping.set()
			self._server.shutdown()
			self._server.server_close()
			self._server.cut()
			self._server = None

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.stop()
