"""R9, R10, D35, D39: states of the corpus that are served again, and when no more."""
import json

from lib import wait_until
from lib.corpus import numbered

SHORT = "[timeouts]\nsnapshot_ttl = 1\n"


def hits_text(answer):
	"""The bytes of the hits in an answer."""
	raw = answer.raw.decode()
	start = raw.index('"hits":[')
	return raw[start:start + len(json.dumps(answer["result"]["hits"], ensure_ascii=False,
		separators=(",", ":"))) + 7]


def change(server, n):
	"""Writes that change scores and hits of "sameword"."""
	server.result("index/add", {"documents": [{"id": f"doc-{n:04d}", "text": "nothing of that"},
		{"id": f"more-{n}", "text": "sameword and sameword again", "meta": {"n": n}}]})


def test_R9_the_same_version_gives_the_same_bytes_after_writes(rcpd):
	server = rcpd()
	server.result("index/add", {"documents": numbered(30)})
	server.result("index/add", {"documents": [{"id": f"dated-{i}", "text": f"sameword {'x ' * i}",
		"meta": {"when": f"20{i:02d}-05-06", "n": i}} for i in range(10, 20)]})
	questions = [{"query": "sameword", "k": 10}, {"query": "sameword", "k": 5, "unit": "document"},
		{"query": "sameword x", "k": 7, "recency": {"field": "when", "halfLifeDays": 900}},
		{"query": "sameword", "k": 20, "filter": {"field": "n", "op": "gte", "value": 15}},
		{"query": "sameword", "k": 10, "tokenBudget": 12, "seed": 3}]
	version = server.result("retrieve", questions[0])["indexVersion"]
	before = [hits_text(server.rpc("retrieve", {**q, "indexVersion": version})) for q in questions]
	for n in range(12):
		change(server, n)
		for question, text in zip(questions, before):
			answer = server.rpc("retrieve", {**question, "indexVersion": version})
			assert answer.result["indexVersion"] == version
			assert hits_text(answer) == text
	assert hits_text(server.rpc("retrieve", questions[0])) != before[0]


def test_R9_D35_a_version_is_gone_after_its_time(rcpd):
	server = rcpd(config=SHORT)
	server.result("index/add", {"documents": numbered(30)})
	params = {"query": "sameword", "k": 7}
	first = server.result("retrieve", params)
	pinned = {**params, "indexVersion": first["indexVersion"]}
	assert server.result("retrieve", pinned)["hits"] == first["hits"]
	change(server, 0)
	assert server.result("retrieve", pinned)["hits"] == first["hits"]
	# Every use keeps it: so the next look comes after the whole time.
	gone = wait_until(lambda: (a := server.rpc("retrieve", pinned)).code and a, timeout=20, step=1.5,
		what="the snapshot to go")
	assert gone.code == -32010 and gone.data["retryable"] is False
	assert server.result("retrieve", params)["indexVersion"] != first["indexVersion"]


def test_D39_a_cursor_expires_with_its_state(rcpd):
	server = rcpd(config=SHORT)
	server.result("index/add", {"documents": numbered(30)})
	params = {"query": "sameword", "k": 7}
	first = server.result("retrieve", params)
	following = {**params, "cursor": first["nextCursor"]}
	change(server, 0)
	assert len(server.result("retrieve", following)["hits"]) == 7
	gone = wait_until(lambda: (a := server.rpc("retrieve", following)).code and a, timeout=20,
		step=1.5, what="the cursor to expire")
	assert gone.code == -32015
	# Other parameters are noticed first.
	assert server.rpc("retrieve", {**following, "strict": True}).code == -32602


def test_R9_the_newest_version_is_never_gone(rcpd, tmp_path):
	data = tmp_path / "data"
	server = rcpd(config=SHORT, data=data)
	server.result("index/add", {"documents": numbered(10)})
	first = server.result("retrieve", {"query": "sameword"})
	pinned = {"query": "sameword", "indexVersion": first["indexVersion"]}
	server.stop()
	server = rcpd(config=SHORT, data=data)
	assert server.result("retrieve", pinned)["hits"] == first["hits"]
	change(server, 1)
	again = server.rpc("retrieve", pinned)
	assert again.code in (None, -32010)  # a view that was just read may be kept
	server.stop()
	server = rcpd(config=SHORT, data=data)
	assert server.rpc("retrieve", pinned).code == -32010  # snapshots do not outlive the daemon


def test_R9_the_number_of_snapshots_is_bounded(rcpd):
	server = rcpd(config="[limits]\nmax_snapshots = 2\n")
	server.result("index/add", {"documents": numbered(10)})
	versions = []
	for n in range(5):
		versions.append(server.result("retrieve", {"query": "sameword"})["indexVersion"])
		change(server, n)

	def code(version):
		return server.rpc("retrieve", {"query": "sameword", "indexVersion": version}).code

	assert code(versions[0]) == -32010
	assert code(versions[1]) == -32010
	assert code(versions[4]) is None
