"""Rules on every text file of the tree."""

import re
import subprocess

import pytest

import tree

BINARY = {".bin", ".db", ".png", ".gz", ".safetensors"}
# Corpora and recorded messages are bytes on purpose; a vocabulary has the words that it has.
DATA = ("tests/fuzz/corpora/", "tests/fuzz/corpus/", "tests/data/", "src/models/table/tokenizer.json")

# Written so that this file does not match itself.
FORBIDDEN = {
    r"\b(TOD[O]|FIXM[E]|XX[X]|HAC[K])\b": "unfinished work belongs in an issue",
    r"/wor[k]/|/roo[t]/|/home/(?!someone)[a-z]+/": "a path of somebody's machine",
    r"pypi\.or[g]|pythonhosted\.or[g]|crates\.i[o]|npmjs\.or[g]|proxy\.golan[g]|deb\.debian\.or[g]|"
    r"repo[1]?\.mave[n]": "a package registry's host",
    r"(?i)\b(anthropi[c]|claud[e]|copilo[t]|chatgp[t])\b": "a tool's name",
    r"(?i)\blorem ipsu[m]\b|\bnot implemented ye[t]\b": "a placeholder",
}


def text_files():
    return [n for n in tree.files() if n.suffix not in BINARY and not str(n).startswith(DATA)]


def lines():
    for name in text_files():
        for number, line in enumerate(tree.read(name).split("\n"), 1):
            yield name, number, line


def test_text_is_utf8_and_ends_with_a_newline():
    wrong = []
    for name in text_files():
        data = (tree.ROOT / name).read_bytes()
        try:
            data.decode()
        except UnicodeDecodeError:
            wrong.append(f"{name}: not UTF-8")
        if b"\r" in data:
            wrong.append(f"{name}: carriage returns")
        if data and not data.endswith(b"\n") or data.endswith(b"\n\n"):
            wrong.append(f"{name}: should end with one newline")
    assert not wrong, "\n".join(wrong)


def test_no_trailing_whitespace():
    wrong = [f"{n}:{i}" for n, i, line in lines() if line != line.rstrip()]
    assert not wrong, "trailing whitespace:\n" + "\n".join(wrong)


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_forbidden_words(pattern):
    found = [f"{n}:{i}: {line.strip()[:90]}" for n, i, line in lines() if re.search(pattern, line)]
    assert not found, f"{FORBIDDEN[pattern]}:\n" + "\n".join(found)


def test_forbidden_words_are_found():
    """The patterns match what they are for."""
    samples = ["TO" + "DO", "/wo" + "rk/x", "py" + "pi.org", "Clau" + "de", "lorem " + "ipsum"]
    for pattern, sample in zip(FORBIDDEN, samples):
        assert re.search(pattern, sample), pattern


def test_licence_and_versions_agree():
    version = re.search(r"version: '([\d.]+)'", tree.read("meson.build")).group(1)
    assert re.search(rf"^## \[?{re.escape(version)}\b|^## Unreleased", tree.read("CHANGELOG.md"), re.M)
    assert tree.read("LICENSE").startswith("MIT License") and "rcpd authors" in tree.read("LICENSE")


def scripts():
    out = []
    for name in tree.files():
        with open(tree.ROOT / name, "rb") as file:
            first = file.readline()
        if re.match(rb"#!.*\b(sh|bash)\b", first):
            out.append(str(name))
    return out


def test_shellcheck():
    names = scripts()
    assert {"tools/serve", "tools/test", "tools/setup", ".ci/run"} <= set(names)
    done = subprocess.run(["shellcheck", *names], cwd=tree.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name", ["tools/serve", "tools/test", "tools/setup"])
def test_scripts_are_posix_sh(name):
    done = subprocess.run(["dash", "-n", name], cwd=tree.ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert tree.read(name).startswith("#!/bin/sh\n")
