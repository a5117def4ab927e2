"""What a corpus must hold, for tests in which it is hurt: writers with documents of
their own, every call noted with how it ended, and the comparison.

A call that was answered counts. One that was not (the server was killed, or the disk
failed) may have happened as a whole or not at all.
"""
import contextlib
import http.client
import os
import pathlib
import random
import shutil
import sqlite3
import tempfile

from .process import MARKER

LETTERS = "bcdfghjklmnpqrtv"


def word_of(number):
	"""A word that no analysis changes and no other number has."""
	return "z" + "".join(LETTERS[number >> shift & 15] for shift in range(24, -1, -4))


class Ledger:
	"""The documents of one writer. states maps an id to its word, or to None once it was
	deleted; unsure lists what calls would have changed that were not answered with success
	since the last one that was."""

	def __init__(self, number, slots=12, seed=0):
		self.name, self.slots = f"writer{number}", slots
		self.random = random.Random(f"{self.name} {seed}")
		self.states, self.unsure, self.gone = {}, [], []
		self.next, self.answered, self.refused = number * 1_000_000, 0, 0

	def ids(self, n):
		return [f"{self.name}-{i}" for i in self.random.sample(range(self.slots), n)]

	def call(self):
		"""The next call: (method, params, states after it)."""
		if self.random.random() < 0.65 or not any(self.states.values()):
			after = {}
			for doc in self.ids(self.random.randint(1, 3)):
				self.next += 1
				after[doc] = word_of(self.next)
			documents = [{"id": d, "text": f"{w} commonword {MARKER} {'filler ' * 20}",
				"meta": {"owner": self.name}} for d, w in after.items()]
			return "index/add", {"documents": documents}, after
		if self.random.random() < 0.1:
			where = {"field": "owner", "op": "eq", "value": self.name}
			return "index/delete", {"filter": where}, dict.fromkeys(self.states)
		ids = self.ids(self.random.randint(1, 2))
		return "index/delete", {"ids": ids}, dict.fromkeys(ids)

	def settle(self, after):
		"""It happened; what failed before it was written over by it."""
		for doc, word in after.items():
			if self.states.get(doc) not in (None, word):
				self.gone.append(self.states[doc])
			self.states[doc] = word
		for failed in self.unsure:
			self.gone += [w for w in failed.values() if w and w not in self.states.values()]
		self.unsure = []

	def make(self, server):
		"""One call. False: the server is gone. Failures of the disk are noted."""
		method, params, after = self.call()
		try:
			answer = server.rpc(method, params)
		except (OSError, http.client.HTTPException):
			self.unsure.append(after)
			return False
		if answer.code is None:
			self.answered += 1
			self.settle(after)
			return True
		assert answer.code == -32010, answer
		assert answer["error"]["data"]["retryable"] is True, answer
		self.refused += 1
		self.unsure.append(after)
		return True

	# ---- comparing ----

	def found(self, server, word):
		hits = server.result("retrieve", {"query": word, "k": 5, "mode": "sparse"})["hits"]
		return [h["chunk"]["docId"] for h in hits if word in h["text"].split()]

	def living(self, server):
		"""What is there, by id; each document once."""
		where = {"field": "owner", "op": "eq", "value": self.name}
		answer = server.rpc("retrieve", {"query": "commonword", "k": 50,
			"mode": "sparse", "filter": where})
		if not self.answered and answer.code == -32602:
			return {}  # nobody has added anything: the field is not known yet
		hits = answer.result["hits"]
		there = {h["chunk"]["docId"]: h["text"].split()[0] for h in hits}
		assert len(there) == len(hits), hits
		return there

	def resolve(self, server):
		"""After a restart: of the calls that were not answered with success one may have
		happened, as a whole."""
		there = self.living(server)
		for after in [{}, *self.unsure]:
			states = {**self.states, **after}
			if there == {d: w for d, w in states.items() if w}:
				self.settle(after)
				return
		raise AssertionError(f"{self.name}: {there} is neither {self.states} nor that and one "
			f"of {self.unsure}")

	def check(self, server):
		"""All answered calls are there, whole; what is gone is gone (IDX-03, IDX-04), and
		what was refused is not there."""
		assert self.living(server) == {d: w for d, w in self.states.items() if w}, self.name
		for doc, word in self.states.items():
			if word:
				assert self.found(server, word) == [doc], (self.name, doc, word)
		refused = [w for after in self.unsure for w in after.values() if w]
		for word in self.gone[-60:] + refused:
			assert self.found(server, word) == [], (self.name, word, "is there")


def integrity_check(data):
	"""PRAGMA integrity_check on a copy of the database and its log, so that the next start
	finds what the last one left."""
	with tempfile.TemporaryDirectory(prefix="rcpd-check-") as folder:
		for name in ("rcpd.db", "rcpd.db-wal"):
			with contextlib.suppress(FileNotFoundError):
				shutil.copy(pathlib.Path(data, name), folder)
		path = os.path.join(folder, "rcpd.db")
		if not os.path.exists(path):
			return
		with contextlib.closing(sqlite3.connect(path)) as db:
			assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
			assert db.execute("PRAGMA foreign_key_check").fetchall() == []
