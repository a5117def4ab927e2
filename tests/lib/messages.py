"""The one hook that every message from the server goes through, in every test.

check_bytes(body, method) parses a body strictly and checks each message in it:
against the protocol's JSON Schema where that is at hand, and against rules of our
own that the schema does not hold. A breach raises InvalidMessage, an
AssertionError, so that the test at hand fails.
"""
import json
import math
import os
import pathlib
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA_PATH = ROOT.parent / "shared" / "protocol" / "rcp-1.0.json"

# REQ: C2
CODES = {
	-32700, -32600, -32602, -32603, -32001, -32002, -32003, -32004, -32005, -32006, -32010,
	-32011, -32012, -32013, -32014, -32015, -32016,
}
# REQ: C3
ERROR_DATA = {"field": str, "option": str, "retryable": bool, "retryAfterMs": int, "detail": str}
LOG_LEVELS = ("debug", "info", "notice", "warning", "error")
STAGES = ("transform", "recall", "fuse", "rerank", "diversify", "pack")  # REQ: D16


class InvalidMessage(AssertionError):
	"""The server sent something that RCP/1 does not allow."""


class Answer(dict):
	"""A parsed message with what came around it.

	A plain dict to compare with; raw is the text as it came, status and headers
	are HTTP's (None over stdio).
	"""

	def __init__(self, message, raw=b"", status=None, headers=None):
		super().__init__(message)
		self.raw, self.status, self.headers = raw, status, headers

	@property
	def result(self):
		assert "result" in self, f"expected a result, got {self}"
		return self["result"]

	@property
	def error(self):
		assert "error" in self, f"expected an error, got {str(self)[:500]}"
		return self["error"]

	@property
	def code(self):
		"""The error's code, or None for a result."""
		return self["error"]["code"] if "error" in self else None

	@property
	def data(self):
		return self.error.get("data", {})

	@property
	def field(self):
		return self.data.get("field")

	@property
	def option(self):
		return self.data.get("option")


def _no_constant(name):
	raise InvalidMessage(f"{name} is not JSON")  # REQ: M9


def _unique(pairs):
	keys = [key for key, _ in pairs]
	if len(set(keys)) != len(keys):
		raise InvalidMessage(f"an object repeats a key: {keys}")
	return dict(pairs)


def parse_strict(text):
	"""JSON as RFC 8259 has it: UTF-8, no NaN, no repeated keys."""
	if isinstance(text, (bytes, bytearray)):
		try:
			text = bytes(text).decode("utf-8")
		except UnicodeDecodeError as e:
			raise InvalidMessage(f"not UTF-8: {e}") from e
	try:
		return json.loads(text, parse_constant=_no_constant, object_pairs_hook=_unique)
	except json.JSONDecodeError as e:
		raise InvalidMessage(f"not JSON: {e}: {text[:300]!r}") from e


class _Schema:
	"""The validators, built once at first use."""

	def __init__(self):
		self.lock = threading.Lock()
		self.message = self.result = None

	def load(self):
		with self.lock:
			if self.message is None:
				import jsonschema
				document = json.loads(SCHEMA_PATH.read_text())
				build = jsonschema.Draft202012Validator
				build.check_schema(document)
				defs = {"$schema": document["$schema"], "$defs": document["$defs"]}
				self.result = build({**defs, "$ref": "#/$defs/ResultFor"})
				self.message = build({**defs, "$ref": "#/$defs/Message"})


_schema = _Schema()


def schema_available():
	return SCHEMA_PATH.is_file()


def _validate(validator, value, what):
	import jsonschema
	best = jsonschema.exceptions.best_match(validator.iter_errors(value))
	if best is not None:
		raise InvalidMessage(f"{what} breaks the schema at {best.json_path}: {best.message[:400]}")


def check_message(message, method=None, transport="http"):
	"""Checks one parsed message from the server; method: what it answers, if known."""
	if not isinstance(message, dict):
		raise InvalidMessage(f"a message must be an object: {str(message)[:200]}")
	if message.get("jsonrpc") != "2.0":
		raise InvalidMessage(f"jsonrpc is not 2.0: {str(message)[:200]}")
	if "method" in message:
		_check_notification(message, transport)
	else:
		_check_response(message, method)
	if schema_available():
		_schema.load()
		_validate(_schema.message, message, "message")
		if "result" in message and method is not None and _in_schema(method):
			_validate(_schema.result, {"method": method, "result": message["result"]},
				f"result of {method}")
	return message


def _in_schema(method):
	from .methods import METHODS
	return method in METHODS


def _check_response(message, method):
	if "id" not in message:
		raise InvalidMessage(f"a response without id: {message}")
	if ("result" in message) == ("error" in message):  # REQ: M4
		raise InvalidMessage(f"not exactly one of result and error: {message}")
	extra = set(message) - {"jsonrpc", "id", "result", "error"}
	if extra:
		raise InvalidMessage(f"unknown members beside id: {extra}")
	if "error" in message:
		_check_error(message["error"])
	else:
		if not isinstance(message["result"], dict):
			raise InvalidMessage(f"result is no object: {message}")
		if message["id"] is None:  # REQ: M4
			raise InvalidMessage(f"a result for id null: {message}")
		_check_no_null(message["result"], "result")
		if method == "retrieve":
			_check_hits(message["result"])


def _check_error(error):
	if not isinstance(error, dict) or set(error) - {"code", "message", "data"}:
		raise InvalidMessage(f"odd error: {error}")
	if type(error.get("code")) is not int or error["code"] not in CODES:
		raise InvalidMessage(f"code outside the list: {error}")
	if not isinstance(error.get("message"), str) or not error["message"]:
		raise InvalidMessage(f"error without a message: {error}")
	if "data" not in error:
		return
	if not isinstance(error["data"], dict):
		raise InvalidMessage(f"error.data is no object: {error}")
	for key, value in error["data"].items():
		if key not in ERROR_DATA or type(value) is not ERROR_DATA[key]:
			raise InvalidMessage(f"error.data.{key}: unknown or of the wrong type: {error}")


def _check_no_null(value, path):
	"""REQ: M10 optional members are left out, not null; a document's own meta is the
	client's."""
	if value is None:
		raise InvalidMessage(f"{path} is null")
	if isinstance(value, float) and not math.isfinite(value):  # 1e999 is read as inf
		raise InvalidMessage(f"{path} is not finite")
	if isinstance(value, dict):
		for key, member in value.items():
			if key != "meta" and key != "_meta":
				_check_no_null(member, f"{path}.{key}")
	elif isinstance(value, list):
		for i, member in enumerate(value):
			_check_no_null(member, f"{path}[{i}]")


def _check_hits(result):
	"""REQ: R1 ids unique, scores finite and descending."""
	hits = result.get("hits")
	if not isinstance(hits, list):
		raise InvalidMessage(f"retrieve without hits: {str(result)[:300]}")
	ids = [hit.get("id") for hit in hits]
	if len(set(ids)) != len(ids):
		raise InvalidMessage(f"a hit comes twice: {ids}")
	scores = [hit.get("score") for hit in hits]
	if any(isinstance(s, bool) or not isinstance(s, (int, float)) for s in scores):
		raise InvalidMessage(f"a score is no number: {scores}")
	if any(a < b for a, b in zip(scores, scores[1:])):
		raise InvalidMessage(f"scores rise: {scores}")


def _check_notification(message, transport):
	if "id" in message or set(message) - {"jsonrpc", "method", "params"}:
		raise InvalidMessage(f"the server sends no requests: {message}")
	params = message.get("params")
	if not isinstance(params, dict):
		raise InvalidMessage(f"a notification without params: {message}")
	_check_no_null({k: v for k, v in params.items() if k != "partial"}, "params")
	if message["method"] == "notifications/progress":
		token = params.get("progressToken")
		if isinstance(token, bool) or not isinstance(token, (str, int)):
			raise InvalidMessage(f"odd progressToken: {message}")
		if "progress" in params and not 0 <= params["progress"] <= 1:
			raise InvalidMessage(f"progress outside 0..1: {message}")
		if params.get("stage") not in STAGES:
			raise InvalidMessage(f"unknown stage: {message}")
	elif message["method"] == "notifications/log":
		if transport != "stdio":  # REQ: S5
			raise InvalidMessage(f"log frames travel over stdio only: {message}")
		if params.get("level") not in LOG_LEVELS or not isinstance(params.get("message"), str):
			raise InvalidMessage(f"odd log frame: {message}")
	else:
		raise InvalidMessage(f"unknown notification: {message}")


def check_bytes(body, methods=None, transport="http"):
	"""Parses and checks a body: one message, or the array that answers a batch.

	methods: the method asked for, or a dict from id (as id_key gives it) to method.
	Returns the parsed value.
	"""
	value = parse_strict(body)
	if isinstance(value, list):
		if not value:
			raise InvalidMessage("an empty array")
		for message in value:
			check_message(message, _method_of(message, methods), transport)
	else:
		check_message(value, _method_of(value, methods), transport)
	return value


def _method_of(message, methods):
	if isinstance(methods, dict):
		return methods.get(id_key(message.get("id"))) if isinstance(message, dict) else None
	return methods


def id_key(value):
	"""A key that tells 1 from "1"."""
	return json.dumps(value, sort_keys=True)


def requested_methods(body):
	"""From a request body (any bytes) to {id key: method}; {} where it cannot be read."""
	try:
		value = json.loads(body)
	except (ValueError, RecursionError):
		return {}
	found = {}
	for message in value if isinstance(value, list) else [value]:
		if isinstance(message, dict) and isinstance(message.get("method"), str):
			number = 0 if message.get("id") is None else message["id"]
			found[id_key(number)] = message["method"]
	return found
