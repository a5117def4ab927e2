"""clang-format and clang-tidy. Files that did not change since they were last found
clean are not looked at again (build/tidy), so that a second run is quick."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import subprocess
import sys

import pytest

import tree

FORMATTED = tree.files(".c", ".h")
CLANG_FORMAT = pathlib.Path(sys.executable).parent / "clang-format"


@pytest.mark.parametrize("name", FORMATTED, ids=str)
def test_format(name):
    done = subprocess.run([CLANG_FORMAT, "--dry-run", "-Werror", tree.ROOT / name],
                          capture_output=True, text=True)
    assert done.returncode == 0, f"run {CLANG_FORMAT} -i {name}\n" + done.stderr[:2000]


def test_format_is_the_pinned_one():
    said = subprocess.run([CLANG_FORMAT, "--version"], capture_output=True, text=True).stdout
    wanted = [line.split("==")[1] for line in tree.read("tests/lint/requirements.txt").split("\n")
              if line.startswith("clang-format==")]
    assert f"version {wanted[0]} " in said


def compiled():
    """Our own files of the compile database, each once."""
    with open(tree.BUILD / "compile_commands.json", encoding="utf-8") as file:
        entries = json.load(file)
    found = {os.path.normpath(os.path.join(e["directory"], e["file"])): e for e in entries}
    return {os.path.relpath(p, tree.ROOT): e for p, e in found.items()
            if p.startswith(str(tree.ROOT / "src") + os.sep)}


def fingerprint(shared, name, entry):
    h = hashlib.sha256(shared)
    h.update(entry.get("command", "").encode())
    h.update((tree.ROOT / name).read_bytes())
    return h.hexdigest()


@pytest.fixture(scope="session")
def tidy():
    """{file: what clang-tidy had to say}, "" where it is clean."""
    entries, results, stale = compiled(), {}, {}
    known = tree.BUILD / "tidy"
    known.mkdir(exist_ok=True)
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, check=True).stdout
    shared = version + b"".join((tree.ROOT / n).read_bytes() for n in tree.files(".h", under="src"))
    shared += (tree.ROOT / ".clang-tidy").read_bytes()

    def look(name):
        # gcc's flags stand in the database; clang need not know them all.
        done = subprocess.run(["clang-tidy", "--quiet", "-p", tree.BUILD, "--extra-arg=-Wno-unknown-warning-option",
                               tree.ROOT / name], capture_output=True, text=True, timeout=600)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    for name, entry in entries.items():
        mark = known / fingerprint(shared, name, entry)
        if mark.exists():
            results[name] = ""
        else:
            stale[name] = mark
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        for name, said in zip(stale, pool.map(look, stale)):
            results[name] = said
            if not said:
                stale[name].touch()
    return results


@pytest.mark.parametrize("name", sorted(compiled()) if (tree.BUILD / "compile_commands.json").exists()
                         else ["the compile database is missing: build first"])
def test_clang_tidy(tidy, name):
    assert tidy[name] == "", tidy[name]
