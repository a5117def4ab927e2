#!/usr/bin/env python3
"""Which requirement has no test? The list of those may only shrink.

The ids are the ones of docs/protocol/*.md (lines that start `- M1 …`) and of
cases.txt. A test covers an id when its name carries it (test_M3_D19_…, with
HTTP-05 written HTTP_05) or when a comment in tests/ says `REQ: M3, HTTP-05`. The
ids without a test must be exactly those of uncovered.txt: one that became covered
is to be taken off the list, a new one without a test is a fault.

    tests/coverage/check.py            compare
    tests/coverage/check.py --list     which file covers what
    tests/coverage/check.py --write    shrink the list (never adds to it)
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent
PROTOCOL = TESTS.parent / "docs" / "protocol"
UNCOVERED = HERE / "uncovered.txt"

ID = r"[A-Z]{1,4}-?\d{1,3}"
DEFINED = re.compile(r"^- ([A-Z]\d+) ", re.M)
COMMENT = re.compile(rf"REQ: *({ID}(?:[, ]+(?:and +)?{ID})*)")
NAME = re.compile(r"\btest_((?:[A-Z]+\d*_(?:\d+_)?)+)")
SOURCES = (".py", ".c", ".h", ".sh", ".conf", ".txt", ".json")


def read_list(path):
	return [word for line in path.read_text().splitlines() for word in line.split("#")[0].split()]


def defined_ids():
	found = [i for path in sorted(PROTOCOL.glob("*.md")) for i in DEFINED.findall(path.read_text())]
	if not found:
		sys.exit(f"coverage: no requirement ids under {PROTOCOL}")
	return set(found) | set(read_list(HERE / "cases.txt"))


def ids_of_name(words):
	"""M3_D19_HTTP_05_ gives M3, D19, HTTP-05."""
	parts = words.strip("_").split("_")
	found = set()
	for i, part in enumerate(parts):
		if re.fullmatch(r"[A-Z]\d+", part):
			found.add(part)
		elif re.fullmatch(r"[A-Z]+", part) and i + 1 < len(parts) and parts[i + 1].isdigit():
			found.add(f"{part}-{parts[i + 1]}")
		elif m := re.fullmatch(r"([A-Z]{2,})(\d\d)", part):
			found.add(f"{m.group(1)}-{m.group(2)}")
	return found


def covered_ids():
	"""{id: set of files}"""
	covered = {}
	for path in sorted(TESTS.rglob("*")):
		if path.suffix not in SOURCES or HERE in path.parents or not path.is_file():
			continue
		text = path.read_text(errors="replace")
		found = set()
		for listed in COMMENT.findall(text):
			found.update(re.findall(ID, listed))
		for words in NAME.findall(text):
			found |= ids_of_name(words)
		for one in found:
			covered.setdefault(one, set()).add(str(path.relative_to(TESTS)))
	return covered


def sort_key(one):
	letters, number = re.fullmatch(r"([A-Z]+)-?(\d+)", one).groups()
	return "-" in one, letters, int(number)


def problems(defined, covered, listed):
	found = []
	for one in sorted(set(listed) - defined, key=sort_key):
		found.append(f"{one} is in uncovered.txt but no document defines it: take it off")
	for one in sorted(set(listed) & set(covered), key=sort_key):
		found.append(f"{one} has a test now ({min(covered[one])}): take it off uncovered.txt")
	for one in sorted(defined - set(covered) - set(listed), key=sort_key):
		found.append(f"{one} has no test (name one test_{one.replace('-', '_')}_… or write REQ: {one})")
	for one in sorted(set(covered) - defined, key=sort_key):
		found.append(f"{one} is named by a test ({min(covered[one])}) but no document defines it")
	return found


def shrink(defined, covered):
	keep = []
	for line in UNCOVERED.read_text().splitlines():
		words = line.split()
		if line.startswith("#") or not words:
			keep.append(line)
		elif left := [w for w in words if w in defined and w not in covered]:
			keep.append(" ".join(left))
	UNCOVERED.write_text("\n".join(keep) + "\n")


def main(arguments):
	defined, covered = defined_ids(), covered_ids()
	if "--list" in arguments:
		for one in sorted(defined, key=sort_key):
			print(one, " ".join(sorted(covered.get(one, ["-"]))))
		return 0
	if "--write" in arguments:
		shrink(defined, covered)
	found = problems(defined, covered, read_list(UNCOVERED))
	for line in found:
		print("coverage:", line)
	if not found:
		print(f"coverage: {len(defined & set(covered))} of {len(defined)} requirements have a test")
	return 1 if found else 0


if __name__ == "__main__":
	sys.exit(main(sys.argv[1:]))
