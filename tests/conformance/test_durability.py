"""IDX-01 to IDX-05, X7: the server is killed under load, its disk fails, fills up or is
slow. Nothing that was answered is lost, nothing that was refused is there, reads go on,
and writes too once they can.

RCPD_TEST_LONG=N: N cycles of kills instead of 12.
"""
import errno
import os
import pathlib
import random
import shutil
import subprocess
import tempfile
import threading
import time

import pytest

from lib import MARKER, SCALE, wait_until
from lib.durable import Ledger, integrity_check, word_of
from lib.faulty import FaultyIo

CYCLES = int(os.environ.get("RCPD_TEST_LONG") or 12)
WRITERS = 4


def add(server, *documents):
	return server.rpc("index/add", {"documents": [
		{"id": i, "text": f"{text} {MARKER}"} for i, text in documents]})


def found(server, query, k=50):
	hits = server.result("retrieve", {"query": query, "k": k, "mode": "sparse"})["hits"]
	return sorted(h["chunk"]["docId"] for h in hits)


def segments(server_or_path):
	path = getattr(server_or_path, "data", server_or_path)
	return sorted(pathlib.Path(path, "index").glob("lex-*.seg"))


class Load:
	"""Writers in threads, until the server is gone or stop() is called."""

	def __init__(self, server, ledgers, calls=None):
		self.server, self.calls, self.stopped = server, calls, threading.Event()
		self.problems = []
		self.threads = [threading.Thread(target=self._run, args=(x,)) for x in ledgers]
		for t in self.threads:
			t.start()

	def _run(self, ledger):
		made = 0
		try:
			while not self.stopped.is_set() and made != self.calls and ledger.make(self.server):
				made += 1
		except Exception as e:  # told by join()
			self.problems.append(e)

	def join(self):
		for t in self.threads:
			t.join(60 * SCALE)
			assert not t.is_alive()
		if self.problems:
			raise self.problems[0]

	def stop(self):
		self.stopped.set()
		self.join()


# ---- kill -9 ----

def kill_under_load(rcpd, data, cycles, io=None, spoil=None, afterwards=None):
	"""Cycles of start, compare, load, kill, afterwards(); spoil(io) makes the disk bad before
	the load. Returns the ledgers."""
	seed = time.time_ns()
	print("seed", seed)
	chance = random.Random(seed)
	ledgers = [Ledger(i, seed=seed) for i in range(WRITERS)]
	for cycle in range(cycles + 1):
		server = rcpd(data=data, env=io and io.env)
		for ledger in ledgers:
			ledger.resolve(server)
			ledger.check(server)
		if cycle == cycles:
			break
		if spoil:
			spoil(io)
		load = Load(server, ledgers)
		time.sleep(chance.uniform(0.01, 0.4) * SCALE)
		server.kill()
		load.join()
		if io:
			io.clear()
		if afterwards:
			afterwards()
		integrity_check(data)
	assert sum(x.answered for x in ledgers) > cycles * 5
	return ledgers


@pytest.mark.timeout(120 + CYCLES * 10)
def test_X7_IDX02_kill_under_load(rcpd, tmp_path):
	ledgers = kill_under_load(rcpd, tmp_path / "data", CYCLES)
	assert sum(x.refused for x in ledgers) == 0


@pytest.mark.timeout(120 + CYCLES * 10)
def test_X7_IDX02_kill_under_load_on_a_bad_disk(rcpd, tmp_path):
	"""Syncs and writes fail, are cut short, interrupted and slow; and the server dies."""
	def spoil(io):
		io.rule("fsync", "/data/", error=errno.EIO, probability=0.05, seed=time.time_ns() >> 9)
		io.rule("write", "/data/", error=errno.EIO, probability=0.01, seed=time.time_ns() >> 9)
		io.rule("write", "/data/", shorten=True, probability=0.05)
		io.rule("write", "/data/", error=errno.EINTR, probability=0.05)
		io.rule("write fsync", "/data/", delay_ms=2, probability=0.05)

	ledgers = kill_under_load(rcpd, tmp_path / "data", max(CYCLES // 2, 6), FaultyIo(tmp_path),
		spoil)
	assert sum(x.refused for x in ledgers) > 0


@pytest.mark.timeout(120 + CYCLES * 10)
def test_X7_IDX02_power_failure(rcpd, tmp_path):
	"""What was not synced is gone: all that was answered is there nevertheless."""
	data, synced = tmp_path / "data", tmp_path / "synced"
	(synced / "index").mkdir(parents=True)
	io = FaultyIo(tmp_path)
	io.keep_synced(data, synced)

	def lose_what_was_not_synced():
		shutil.rmtree(data)
		shutil.copytree(synced, data)

	kill_under_load(rcpd, data, max(CYCLES // 2, 6), io, afterwards=lose_what_was_not_synced)


def test_IDX03_deleted_documents_stay_deleted(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(data=data)
	for i in range(0, 100, 20):
		assert add(server, *[(f"d{j}", f"keepword {word_of(j)}") for j in range(i, i + 20)]).result
	gone = [f"d{i}" for i in range(0, 100, 2)]
	assert server.result("index/delete", {"ids": gone})["deleted"] == 50
	kept = sorted({f"d{i}" for i in range(100)} - set(gone))
	for end in ("kill", "stop", "kill", "stop"):
		getattr(server, end)()
		integrity_check(data)
		server = rcpd(data=data)
		assert found(server, "keepword", k=50) == kept
		for i in range(100):
			assert found(server, word_of(i)) == ([] if i % 2 == 0 else [f"d{i}"])
		assert server.result("index/delete", {"ids": gone})["deleted"] == 0


def test_IDX04_an_upsert_leaves_nothing(rcpd, tmp_path):
	data = tmp_path / "data"
	long_text = "\n\n".join(f"alphaword part {i} " + "filler words here " * 120 for i in range(5))
	server = rcpd(data=data)
	added = server.result("index/add", {"chunk": True, "documents": [{"id": "x",
		"text": f"{long_text} {MARKER}", "meta": {"kind": "old"}}]})
	assert added["chunks"] == 5
	assert set(found(server, "alphaword")) == {"x"}
	old = {"field": "kind", "op": "eq", "value": "old"}
	server.result("index/add", {"documents": [{"id": "x", "text": f"betaword {MARKER}"}]})
	for end in ("kill", "stop", "kill"):
		getattr(server, end)()
		integrity_check(data)
		server = rcpd(data=data)
		assert found(server, "alphaword") == []
		assert found(server, "betaword") == ["x"]
		assert server.result("retrieve", {"query": "betaword", "filter": old})["hits"] == []
	assert server.result("index/delete", {"ids": ["x"]})["deleted"] == 1
	server.kill()
	server = rcpd(data=data)
	assert found(server, "alphaword betaword") == []
	assert server.result("index/delete", {"ids": ["x"]})["deleted"] == 0


def test_IDX01_a_torn_log_costs_the_torn_write_alone(rcpd, tmp_path):
	whole = tmp_path / "whole"
	server = rcpd(data=whole)
	log = whole / "rcpd.db-wal"
	assert add(server, ("a", "firstword")).result
	begin = log.stat().st_size
	assert add(server, ("b", "secondword " + "filler " * 3000)).result
	server.kill()
	end = log.stat().st_size
	assert end > begin
	cuts = {begin, begin + 1, begin + 24, end - 1, end} | set(range(begin, end, 4001))
	for cut in sorted(cuts):
		data = tmp_path / f"cut{cut}"
		shutil.copytree(whole, data)
		with open(data / "rcpd.db-wal", "r+b") as f:
			f.truncate(cut)
		(data / "rcpd.db-shm").unlink(missing_ok=True)
		server = rcpd(data=data)
		assert found(server, "firstword") == ["a"]
		there = found(server, "secondword")
		assert there == (["b"] if cut == end else []), cut
		assert add(server, ("c", "thirdword")).result
		server.kill()
		integrity_check(data)
		server = rcpd(data=data)
		assert found(server, "firstword") == ["a"] and found(server, "thirdword") == ["c"]
		assert found(server, "secondword") == there
		server.stop()
		shutil.rmtree(data)


# ---- no room ----

class SmallDisk:
	"""4 MB in memory, with 1.5 MB of ballast that can be thrown out."""

	def __init__(self, path):
		self.path, self.data = path, path / "data"
		subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(path)], check=True,
			capture_output=True)
		self.data.mkdir()
		(path / "ballast").write_bytes(b"x" * 1_500_000)

	env = None

	def fill(self):
		"""It fills up by what is added."""

	def make_room(self):
		(self.path / "ballast").unlink()

	def close(self):
		subprocess.run(["umount", "-l", str(self.path)], check=False)


class FakeFullDisk:
	"""The disk is full when the shim says so."""

	def __init__(self, path):
		self.data, self.io = path / "data", FaultyIo(path)
		self.env = self.io.env

	def fill(self):
		self.io.rule("write truncate", "/data/", error=errno.ENOSPC)

	def make_room(self):
		self.io.clear()

	def close(self):
		pass


def kinds_of_disk():
	"""A real file system that is full needs the right to mount one; the shim needs nothing."""
	with tempfile.TemporaryDirectory() as folder:
		try:
			SmallDisk(pathlib.Path(folder)).close()
		except (OSError, subprocess.CalledProcessError):
			return [FakeFullDisk]
	return [SmallDisk, FakeFullDisk]


@pytest.fixture(params=kinds_of_disk(), ids=lambda kind: kind.__name__)
def small_disk(request, tmp_path):
	disk = request.param(tmp_path)
	yield disk
	disk.close()


def fill_up(server, disk):
	"""Adds until the disk is full: the words that are there, and those that were refused."""
	there, refused = [], []
	for i in range(400):
		if i == 20:
			disk.fill()
		answer = add(server, (f"full{i}", f"{word_of(i)} sameword {'more text here ' * 1500}"))
		if answer.code is None:
			there.append(i)
			continue
		assert answer.code == -32010 and answer["error"]["data"]["retryable"] is True, answer
		refused.append(i)
		if len(refused) == 5:
			break
	assert len(refused) == 5 and len(there) >= 20
	return there, refused


def check_full(server, there, refused):
	for i in there:
		assert found(server, word_of(i)) == [f"full{i}"]
	for i in refused:
		assert found(server, word_of(i)) == []


def test_IDX05_a_full_disk(rcpd, small_disk):
	server = rcpd(data=small_disk.data, env=small_disk.env)
	there, refused = fill_up(server, small_disk)
	check_full(server, there, refused)
	time.sleep(1.2 * SCALE)  # the background work meets the full disk too
	check_full(server, there, refused)
	small_disk.make_room()
	wait_until(lambda: add(server, ("after", "afterword")).code is None, timeout=10,
		what="room to be noticed")
	assert found(server, "afterword") == ["after"]
	check_full(server, there, refused)
	deleted = there.pop(0)
	assert server.result("index/delete", {"ids": [f"full{deleted}"]})["deleted"] == 1
	server.kill()
	integrity_check(small_disk.data)
	server = rcpd(data=small_disk.data, env=small_disk.env)
	check_full(server, there, refused + [deleted])
	assert found(server, "afterword") == ["after"]
	assert add(server, ("more", "moreword")).result
	server.stop()


def test_IDX05_background_work_recovers_too(rcpd, tmp_path):
	"""Segments cannot be written: nobody who calls notices, and they are once they can."""
	io = FaultyIo(tmp_path)
	data = tmp_path / "data"
	with io.rule("write", "/index/", error=errno.ENOSPC) as full:
		server = rcpd(data=data, env=io.env)
		assert io.loaded >= 1
		assert add(server, ("a", "firstword")).result
		wait_until(lambda: full.fired > 0, timeout=20, what="the index to be written")
		assert add(server, ("b", "secondword")).result
		assert found(server, "firstword secondword") == ["a", "b"]
		assert segments(server) == []
		server.wait_line(lambda line: "background work" in line)
	assert add(server, ("c", "thirdword")).result
	wait_until(lambda: segments(server), timeout=20, what="a segment file")
	assert found(server, "firstword secondword thirdword") == ["a", "b", "c"]
	server.kill()
	server = rcpd(data=data)
	assert found(server, "firstword secondword thirdword") == ["a", "b", "c"]


# ---- a disk that fails ----

@pytest.mark.parametrize("calls,pattern", [("fsync", "rcpd.db-wal"), ("write", "rcpd.db-wal"),
	("fsync write", "/data/")])
def test_IDX05_a_disk_that_fails(rcpd, tmp_path, calls, pattern):
	io = FaultyIo(tmp_path)
	data = tmp_path / "data"
	server = rcpd(data=data, env=io.env)
	assert add(server, ("before", "beforeword")).result
	with io.rule(calls, pattern, error=errno.EIO) as rule:
		for i in range(4):
			answer = add(server, (f"failed{i}", f"failedword {word_of(i)}"))
			assert answer.code == -32010, answer
			assert answer["error"]["data"]["retryable"] is True
			answer = server.rpc("index/delete", {"ids": ["before"]})
			assert answer.code == -32010, answer
		assert rule.fired >= 8
		assert found(server, "beforeword") == ["before"]
		assert found(server, "failedword") == []
	assert add(server, ("after", "afterword")).result
	assert found(server, "beforeword afterword failedword") == ["after", "before"]
	server.kill()
	integrity_check(data)
	server = rcpd(data=data)
	assert found(server, "beforeword afterword failedword") == ["after", "before"]


@pytest.mark.parametrize("rules", [
	{"fsync": {"error": errno.EIO, "probability": 0.2}},
	{"write": {"error": errno.EIO, "probability": 0.05}},
	{"write": {"error": errno.ENOSPC, "probability": 0.05}, "fsync": {"delay_ms": 5}},
	{"write": {"shorten": True, "probability": 0.3}},
	{"write": {"error": errno.EINTR, "probability": 0.2}},
	{"rename": {"error": errno.EIO, "probability": 0.5},
		"truncate": {"error": errno.EIO, "probability": 0.3},
		"open": {"error": errno.EIO, "probability": 0.3}},
], ids=lambda r: "+".join(r))
def test_IDX05_a_disk_that_fails_now_and_then(rcpd, tmp_path, rules):
	"""Every call is answered with success or -32010, and the answer is true: in the running
	server, and after a kill."""
	io = FaultyIo(tmp_path)
	data = tmp_path / "data"
	server = rcpd(data=data, env=io.env)
	ledgers = [Ledger(i) for i in range(WRITERS)]
	rules = [io.rule(calls, "/data/", seed=i, **how) for i, (calls, how) in enumerate(rules.items())]
	Load(server, ledgers, calls=30).join()
	for ledger in ledgers:
		ledger.check(server)
	fired = [r.fired for r in rules]
	io.clear()
	for ledger in ledgers:
		assert ledger.answered + ledger.refused == 30
		ledger.check(server)
	assert fired[0] > 0, fired
	server.kill()
	integrity_check(data)
	server = rcpd(data=data)
	for ledger in ledgers:
		ledger.resolve(server)
		ledger.check(server)


def test_X7_a_slow_disk_holds_up_writers_alone(rcpd, tmp_path):
	io = FaultyIo(tmp_path)
	server = rcpd(data=tmp_path / "data", env=io.env)
	assert add(server, ("before", "beforeword")).result
	ledgers = [Ledger(i) for i in range(8)]
	with io.rule("fsync", "rcpd.db-wal", delay_ms=300) as rule:
		begin = time.monotonic()
		load = Load(server, ledgers, calls=2)
		slowest, reads = 0, 0
		while any(t.is_alive() for t in load.threads):
			asked = time.monotonic()
			assert found(server, "beforeword") == ["before"]
			slowest, reads = max(slowest, time.monotonic() - asked), reads + 1
			time.sleep(0.02)
		load.join()
		took = time.monotonic() - begin
	assert took >= 0.6 and rule.fired >= 2  # an answer waits for the disk
	assert took < 8 * 2 * 0.3, "each of the 16 calls had a sync of its own"
	assert slowest < 0.25 * SCALE and reads > 5, "a read waited for a sync"
	for ledger in ledgers:
		assert ledger.answered == 2
		ledger.check(server)
