"""Every curl line of the README and of docs/ works and prints what stands below it.

A fenced block marked `console` holds commands after "$ " (which go on after a trailing
backslash and within quotes) and what they print. Each document gets a server of its own with the sample corpus, and
its commands run in order, with the server's port put in place of 8077. In the output
line breaks and spaces do not count, and "…" stands for anything.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

from lib import Rcpd
from lib.messages import ROOT
from lib.process import SCALE

DOCUMENTS = sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]
	if "curl" in p.read_text(encoding="utf-8"))
ADDRESS = "127.0.0.1:8077"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)


def commands(text):
	"""(command, expected output) pairs of the console blocks of a document."""
	found = []
	for kind, body in FENCE.findall(text):
		if kind != "console":
			continue
		for part in re.split(r"^\$ ", body, flags=re.M)[1:]:
			lines = part.split("\n")
			n = 1
			while lines[n - 1].endswith("\\") or "\n".join(lines[:n]).count("'") % 2:
				n += 1  # goes on after a backslash, and within quotes
			found.append(("\n".join(lines[:n]), "\n".join(lines[n:])))
	return found


def squeezed(text):
	return re.sub(r"\s+", "", text)


def matches(expected, printed):
	pattern = ".*?".join(re.escape(part) for part in squeezed(expected).split("…"))
	return re.fullmatch(pattern, squeezed(printed), re.S) is not None


def load_sample(server, state):
	done = subprocess.run([sys.executable, ROOT / "tools" / "load", "--url", server.url,
		"--state", state], capture_output=True, text=True, timeout=60 * SCALE)
	assert done.returncode == 0, done.stderr
	return done.stdout


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_print_what_the_document_says(path, tmp_path):
	todo = commands(path.read_text(encoding="utf-8"))
	if not todo:
		assert not re.search(r"^\s*curl ", path.read_text(encoding="utf-8"), re.M)
		return
	wrong = []
	with Rcpd() as server:
		load_sample(server, tmp_path / "state.json")
		for command, expected in todo:
			if "curl" in command:
				assert ADDRESS in command, f"not an address that this test can stand in for: {command}"
			real = command.replace(ADDRESS, f"127.0.0.1:{server.port}")
			done = subprocess.run(["sh", "-c", real], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
				text=True, timeout=30 * SCALE, env={**os.environ, "LC_ALL": "C.UTF-8"})
			printed = done.stdout.replace(f"127.0.0.1:{server.port}", ADDRESS)
			if done.returncode != 0 or not matches(expected, printed):
				wrong.append(f"$ {command}\nexit code {done.returncode} {done.stderr}\n"
					f"--- should print:\n{expected}\n--- prints:\n{printed}")
	assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda p: str(p.relative_to(ROOT)))
def test_no_curl_line_stands_outside_a_console_block(path):
	"""Otherwise nobody would run it."""
	text = path.read_text(encoding="utf-8")
	rest = FENCE.sub(lambda m: "" if m.group(1) == "console" else m.group(0), text)
	assert not re.findall(r"^.*\bcurl -.*$", rest, re.M)


def test_the_readme_shows_first_steps():
	todo = commands((ROOT / "README.md").read_text(encoding="utf-8"))
	said = " ".join(command for command, _ in todo)
	assert "/info" in said and "/retrieve" in said and "/index/add" in said
	assert all(expected.strip() for _, expected in todo)


def test_tools_serve_prints_commands_that_work(tmp_path):
	"""The two lines that tools/serve prints, run as printed."""
	text = (ROOT / "tools" / "serve").read_text(encoding="utf-8")
	lines = re.findall(r"^  (curl .*)$", text, re.M)
	assert len(lines) == 2
	with Rcpd() as server:
		load_sample(server, tmp_path / "state.json")
		for line in lines:
			done = subprocess.run(["sh", "-c", line.replace("$url", server.url)],
				capture_output=True, text=True, timeout=30 * SCALE)
			assert done.returncode == 0 and '"result"' in done.stdout, done.stdout + done.stderr
		assert '"hits":[{' in done.stdout


def test_loading_again_changes_nothing(tmp_path):
	"""tools/load sends what changed and no more, and tidies up sections that are gone."""
	root, state = tmp_path / "root", tmp_path / "state.json"
	root.mkdir()
	note = pathlib.Path(root, "note.md")

	def load():
		done = subprocess.run([sys.executable, ROOT / "tools" / "load", "--url", server.url, "--root", root,
			"--state", state, "note.md"], capture_output=True, text=True, timeout=60 * SCALE)
		assert done.returncode == 0, done.stderr
		hits = server.rpc("retrieve", {"query": "apples pears plums", "k": 10}).result
		return done.stdout, {h["chunk"]["docId"] for h in hits["hits"]}, hits["indexVersion"]

	with Rcpd() as server:
		note.write_text("# Fruit\n\n## A\n\napples\n\n## B\n\npears\n")
		said, ids, first = load()
		assert said == "2 sections, 2 sent, 0 removed.\n"
		assert ids == {"note.md#a", "note.md#b"}
		said, ids, second = load()
		assert "0 sent, 0 removed" in said and second == first
		note.write_text("# Fruit\n\n## A\n\napples\n\n## C\n\nplums\n")
		said, ids, third = load()
		assert "1 sent, 1 removed" in said and ids == {"note.md#a", "note.md#c"} and third != second
	with Rcpd() as server:  # another corpus, the old state file
		assert "2 sent" in load()[0]


def print_documents(*args, cwd=ROOT):
	"""What tools/load would send, by id, or what it complains about."""
	done = subprocess.run([sys.executable, ROOT / "tools" / "load", "--print", *map(str, args)], cwd=cwd,
		capture_output=True, text=True, timeout=30 * SCALE)
	if done.returncode != 0:
		return done.stderr
	return {d["id"]: d["meta"] for d in map(json.loads, done.stdout.splitlines())}


def test_what_is_loaded(tmp_path):
	"""Files, or the Markdown of a folder, named from the root or from where one stands."""
	deep = tmp_path / "notes" / "deep"
	deep.mkdir(parents=True)
	(tmp_path / "notes" / "a.md").write_text("# A\n\napples\n")
	(deep / "b.md").write_text("# B\n\npears\n")
	(deep / "c.txt").write_text("no Markdown\n")
	notes = tmp_path / "notes"
	both = {"a.md#a", "deep/b.md#b"}
	assert set(print_documents("--root", notes)) == both
	assert set(print_documents("--root", notes, "a.md", "deep")) == both
	assert set(print_documents("--root", "notes", "notes/deep", cwd=tmp_path)) == {"deep/b.md#b"}
	assert set(print_documents("notes", cwd=tmp_path)) == {"notes/" + name for name in both}
	assert "lang" not in print_documents("--root", notes)["a.md#a"]
	assert print_documents("--root", notes, "--lang", "de")["a.md#a"]["lang"] == "de"
	assert "is not below" in print_documents("--root", deep, notes / "a.md")
	assert "no such file" in print_documents("--root", notes, "z.md")
	(notes / "latin.md").write_bytes(b"# Caf\xe9\n\nx\n")
	assert "latin.md is not UTF-8" in print_documents("--root", notes)
