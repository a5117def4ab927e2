"""The files of the project and the parts of C text that the lint rules look at."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RCPD_BUILD") or ROOT / "build")


def files(*suffixes, under=""):
    """Paths of what git tracks or would track, relative to the project, sorted."""
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others",
                          "--exclude-standard", "--", under or "."],
                         capture_output=True, check=True).stdout
    names = sorted({pathlib.PurePath(n.decode()) for n in out.split(b"\0") if n})
    return [n for n in names if (ROOT / n).is_file() and not (ROOT / n).is_symlink()
            and (not suffixes or n.suffix in suffixes)]


def read(name):
    return (ROOT / name).read_text(encoding="utf-8")


def without_comments(text, strings=True):
    """The same text, same line numbers, with comments (and string contents) blanked."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''

    def blank(match):
        found = match.group(0)
        if found[0] == "/":
            return re.sub(r"[^\n]", " ", found)
        return '"' + " " * (len(found) - 2) + '"' if strings and found[0] == '"' else found

    return re.sub(pattern, blank, text, flags=re.S)


def functions(text):
    """(name, first line, number of lines) of each function defined in K&R style."""
    lines = without_comments(text).split("\n")
    start = None
    for i, line in enumerate(lines):
        if line == "{":
            head = i - 1
            while head > 0 and lines[head - 1].strip() and not re.search(r"[;}]\s*$|^#", lines[head - 1]):
                head -= 1
            name = re.search(r"(\w+)\s*\(", " ".join(lines[head:i]))
            start = (name.group(1) if name else "?", head)
        elif line == "}" and start:
            yield start[0], start[1] + 1, i - start[1] + 1
            start = None


def table(name, heading):
    """Rows (lists of cells without backticks) of the first table under a heading."""
    text = read(name).split(f"## {heading}\n", 1)[1]
    rows = [line for line in text.split("\n## ")[0].split("\n") if line.startswith("|")]
    cells = [[c.strip().replace("`", "") for c in row.strip("|").split("|")] for row in rows]
    return cells[2:]
