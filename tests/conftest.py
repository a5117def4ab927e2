"""Fixtures and the session-wide checks of the black-box tests."""
import os
import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from lib import HttpPeer, Rcpd, RcpdStdio, StdioPeer, rcpd_path, schema_available  # noqa: E402
from lib.messages import SCHEMA_PATH  # noqa: E402


def pytest_sessionstart(session):
	if schema_available():
		return
	if os.environ.get("CI") == "true":
		raise pytest.UsageError(f"{SCHEMA_PATH} is not there; in CI the schema checks must run")
	# Not a report header, which -q would hide.
	reporter = session.config.pluginmanager.get_plugin("terminalreporter")
	reporter.write_line(f"rcpd: the schema checks are LEFT OUT: {SCHEMA_PATH} is not there")


@pytest.fixture(scope="session", autouse=True)
def _daemon():
	if not os.access(rcpd_path(), os.X_OK):
		pytest.exit(f"no daemon at {rcpd_path()}: build it, or set RCPD", returncode=2)


@pytest.fixture
def rcpd():
	"""A factory: rcpd("--flag", env=…) starts a server that is stopped and checked at the
	test's end."""
	started = []

	def start(*flags, **kw):
		server = Rcpd(*flags, **kw)
		started.append(server)
		return server

	yield start
	_stop_all(started)


@pytest.fixture
def rcpd_stdio():
	"""As rcpd, over stdio."""
	started = []

	def start(*flags, **kw):
		server = RcpdStdio(*flags, **kw)
		started.append(server)
		return server

	yield start
	_stop_all(started)


def _stop_all(started):
	problems = []
	for server in started:
		try:
			server.stop()
		except Exception as e:  # every server is stopped before the first fault is told
			problems.append(e)
			if server.proc.poll() is None:
				server.proc.kill()
	if problems:
		raise problems[0]


@pytest.fixture(scope="module")
def server():
	"""One HTTP server for a test module, empty at its start."""
	with Rcpd(log_level="debug") as server:
		yield server


@pytest.fixture(scope="module")
def stdio_server():
	"""One initialized stdio server for a test module."""
	with RcpdStdio(log_level="debug", initialize=True) as server:
		yield server


@pytest.fixture(params=["http", "stdio"])
def peer(request):
	"""The test runs once over HTTP and once over stdio, on the module's servers."""
	if request.param == "http":
		return HttpPeer(request.getfixturevalue("server"))
	return StdioPeer(request.getfixturevalue("stdio_server"))
