"""What documents say about keys, methods, files and each other is there."""

import os
import re
import subprocess

import pytest

import tree

DOCUMENTS = tree.files(".md")
MANUALS = [n for n in tree.files(under="docs") if re.fullmatch(r"\.[1-8]", n.suffix)]


def config_keys():
    rows = re.findall(r'^\s*(?:STR|BOOL|CHOICE|COUNT|SIZE|REAL)\("(\w+)", (\w+),', tree.read("src/config/keys.c"), re.M)
    assert len(rows) > 20, "the rows of src/config/keys.c look different now: adapt this test"
    return rows


def method_names():
    text = tree.read("src/methods/table.c")
    names = re.findall(r'(?:\.name\s*=\s*|^\s*(?:\{|\w+\()\s*)"([a-z][a-z/]*)"', text, re.M)
    assert len(names) > 15, "the rows of src/methods/table.c look different now: adapt this test"
    return names


def test_config_keys_are_documented():
    example, operations = tree.read("conf/rcpd.conf"), tree.read("docs/OPERATIONS.md")
    manual = tree.read("docs/man/rcpd.conf.5")
    wrong = []
    for section, key in config_keys():
        if not re.search(rf"^\s*[;#]?\s*{key}\s*=", example, re.M):
            wrong.append(f"conf/rcpd.conf lacks {section}.{key}")
        if f"`{key}`" not in operations:
            wrong.append(f"docs/OPERATIONS.md lacks `{key}`")
        if key not in manual.replace("\\", ""):
            wrong.append(f"rcpd.conf(5) lacks {key}")
    assert not wrong, "\n".join(wrong)


def test_config_keys_of_the_documents_exist():
    """No row of the table of keys in OPERATIONS.md that the server does not know."""
    known = {key for _, key in config_keys()}
    rows = re.findall(r"^\| `(\w+)` \|.*\|.*\|$", tree.read("docs/OPERATIONS.md"), re.M)
    assert len(rows) >= len(known)
    assert set(rows) <= known, set(rows) - known


def test_methods_are_documented():
    text = tree.read("docs/PROTOCOL.md")
    missing = [m for m in method_names() if f"`{m}`" not in text]
    assert not missing, f"docs/PROTOCOL.md lacks {missing}"


def test_error_codes_are_documented():
    codes = re.findall(r"\((-32\d\d\d)\)", tree.read("include/rcp/errors.h"))
    text = tree.read("docs/PROTOCOL.md")
    assert len(codes) == 17
    assert not [c for c in codes if f"`{c}`" not in text]


def anchors(name):
    """The anchors that the headings of a Markdown file have."""
    found, fence = set(), False
    for line in tree.read(name).split("\n"):
        if line.lstrip().startswith("```"):
            fence = not fence
        heading = None if fence else re.match(r"#+\s+(.*?)\s*$", line)
        if heading:
            found.add(re.sub(r"[^\w\- ]", "", heading.group(1).lower()).replace(" ", "-"))
    return found


@pytest.mark.parametrize("name", DOCUMENTS, ids=str)
def test_links_resolve(name):
    text = re.sub(r"```.*?```", "", tree.read(name), flags=re.S)
    text = re.sub(r"`[^`\n]*`", "", text)
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, part = link.partition("#")
        target = os.path.normpath(os.path.join(name.parent, path)) if path else str(name)
        if target.startswith("..") or not (tree.ROOT / target).exists():
            wrong.append(f"{link}: no such file in the project")
        elif part and part not in anchors(target):
            wrong.append(f"{link}: no such heading")
    assert not wrong, "\n".join(wrong)


def test_paths_in_documents_exist():
    """`src/…`, `tests/…` and the like in backticks name files or folders that are there."""
    wrong = []
    for name in DOCUMENTS:
        text = re.sub(r"^\| `src/.*$", "", tree.read(name), flags=re.M)  # rows kept for later
        for path in re.findall(r"`((?:src|tests|tools|conf|docs|bench|systemd|include)/[\w./-]*)`", text):
            if not (tree.ROOT / path).exists():
                wrong.append(f"{name}: {path}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", MANUALS, ids=str)
def test_manual_pages(name):
    done = subprocess.run(["mandoc", "-Tlint", "-Wwarning", tree.ROOT / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_there_are_manual_pages():
    assert {"rcpd.8", "rcpd.conf.5"} <= {n.name for n in MANUALS}
