"""FaultyIo: a disk that fails, fills up or is slow, for one server (shim/faulty_io.c).

    io = FaultyIo(tmp_path)
    server = rcpd(env=io.env)
    with io.rule("write", "/index/", error=errno.ENOSPC) as full:
        ...
    assert full.fired > 0
"""
import ctypes
import mmap
import os
import pathlib

from .process import rcpd_path

MAGIC = 0x314f495954554146
RULES = 8
CALLS = {"write": 1, "fsync": 2, "truncate": 4, "rename": 8, "open": 16, "open-read": 32}


class _Rule(ctypes.Structure):
	# As in shim/faulty_io.h.
	_fields_ = [("after", ctypes.c_uint64), ("times", ctypes.c_uint64), ("seed", ctypes.c_uint64),
		("seen", ctypes.c_uint64), ("fired", ctypes.c_uint64), ("active", ctypes.c_uint32),
		("calls", ctypes.c_uint32), ("error", ctypes.c_uint32), ("delay_ms", ctypes.c_uint32),
		("shorten", ctypes.c_uint32), ("per_million", ctypes.c_uint32),
		("pattern", ctypes.c_char * 128)]


class _Shared(ctypes.Structure):
	_fields_ = [("magic", ctypes.c_uint64), ("loaded", ctypes.c_uint64), ("rules", _Rule * RULES)]


def shim_path():
	"""The shim beside the daemon under test, or $RCPD_FAULTY_IO."""
	beside = pathlib.Path(rcpd_path()).parent / "tests" / "unit" / "engine" / "faulty_io.so"
	path = os.environ.get("RCPD_FAULTY_IO") or str(beside)
	assert os.access(path, os.R_OK), f"no shim at {path}: build it, or set RCPD_FAULTY_IO"
	return path


class FaultyIo:
	"""The rules of one server; env is what starts it with them."""

	def __init__(self, folder):
		path = os.path.join(str(folder), "faulty-io")
		with open(path, "wb") as f:
			f.truncate(ctypes.sizeof(_Shared))
		self._file = open(path, "r+b")
		self._map = mmap.mmap(self._file.fileno(), 0)
		self._shared = _Shared.from_buffer(self._map)
		self._shared.magic = MAGIC
		asan = os.environ.get("ASAN_OPTIONS", "")
		self.env = {"LD_PRELOAD": shim_path(), "FAULTY_IO": path,
			"ASAN_OPTIONS": f"{asan}:verify_asan_link_order=0".lstrip(":")}

	def keep_synced(self, folder, other):
		"""From the next start on, other has the files of folder as they were when they were
		synced last: what a power failure leaves."""
		self.env["FAULTY_SYNCED"] = f"{folder}={other}"

	@property
	def loaded(self):
		"""How many processes have read the rules."""
		return self._shared.loaded

	def rule(self, calls, pattern="", error=0, after=0, times=0, delay_ms=0, shorten=False,
			probability=None, seed=1):
		"""Switches a rule on. calls: names as in CALLS, joined by spaces; pattern: part of the
		path; error: an errno, 0 lets the call through; after, times: how many calls pass, how
		many fail then (0: all); shorten: writes write half."""
		place = next(r for r in self._shared.rules if not r.active)
		place.after, place.times, place.seed = after, times, seed
		place.seen = place.fired = 0
		place.calls = sum(CALLS[name] for name in calls.split())
		place.error, place.delay_ms, place.shorten = error, delay_ms, int(shorten)
		place.per_million = 0 if probability is None else int(probability * 1e6)
		place.pattern = pattern.encode()
		place.active = 1
		return Rule(place)

	def clear(self):
		for r in self._shared.rules:
			r.active = 0


class Rule:
	def __init__(self, place):
		self._place = place

	@property
	def seen(self):
		return self._place.seen

	@property
	def fired(self):
		return self._place.fired

	def stop(self):
		self._place.active = 0

	def __enter__(self):
		return self

	def __exit__(self, *_):
		self.stop()
