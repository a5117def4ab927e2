"""Rules on the C source: who may include what, banned calls, comments, lengths."""

import re

import pytest

import tree

SOURCES = tree.files(".c", ".h", under="src") + tree.files(".h", under="include")
ALL_C = tree.files(".c", ".h")

# A library by its name in docs/ARCHITECTURE.md, and what its headers start with.
LIBRARIES = {
    "OpenSSL": ("openssl/",),
    "SQLite": ("sqlite3",),
    "Jansson": ("jansson",),
    "libmicrohttpd": ("microhttpd",),
    "libcurl": ("curl/",),
    "inih": ("ini.h",),
    "ICU": ("unicode/",),
    "Snowball": ("libstemmer.h",),
    "libsystemd": ("systemd/",),
}
LIBC = re.compile(
    r"(assert|ctype|dirent|dlfcn|endian|err|errno|fcntl|fenv|float|getopt|grp|inttypes|iso646|"
    r"limits|locale|malloc|math|immintrin|arm_neon|netdb|poll|pthread|pwd|regex|sched|semaphore|setjmp|signal|spawn|"
    r"stdalign|stdarg|stdatomic|stdbool|stddef|stdint|stdio|stdlib|stdnoreturn|string|strings|"
    r"syslog|termios|threads|time|uchar|ucontext|unistd|wchar|wctype|"
    r"(sys|arpa|netinet|net|linux)/\w+)\.h$")


def include_table():
    """{folder: (folders it may include or None for all, libraries)} of ARCHITECTURE.md."""
    rules = {}
    for folder, _, folders, libraries in tree.table("docs/ARCHITECTURE.md", "Folders"):
        def names(cell):
            return {n.strip() for n in re.sub(r"\(.*?\)", "", cell).split(",")} - {"", "–"}
        rules[folder] = (None if folders == "all" else names(folders), names(libraries))
    return rules


RULES = include_table()


def rule_of(name):
    for folder in sorted(RULES, key=len, reverse=True):
        if str(name).startswith(folder + "/"):
            return folder, RULES[folder]
    return None, None


def includes(name):
    for number, line in enumerate(tree.read(name).split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found.group(1), found.group(2)


def test_the_table_is_whole():
    assert "src/util" in RULES and "src/http" in RULES and len(RULES) >= 12
    known = {r.split("/", 1)[1] for r in RULES}
    for folder, (folders, libraries) in RULES.items():
        assert folders is None or folders <= known, f"{folder}: unknown folder in its row"
        assert libraries == {"all"} or libraries <= set(LIBRARIES), f"{folder}: unknown library"


def test_includes_follow_the_table():
    """Own headers only from folders of the row, libraries only where the row names them."""
    wrong = []
    for name in SOURCES:
        folder, rule = rule_of(name)
        if rule is None:
            wrong.append(f"{name}: its folder has no row in docs/ARCHITECTURE.md")
            continue
        folders, libraries = rule
        for line, kind, path in includes(name):
            if kind == '"':
                target = rule_of(f"src/{path}")[0] or rule_of(f"include/{path}")[0]
                ours = folder.split("/")[1]
                theirs = path.split("/")[0]
                if "/" not in path:
                    wrong.append(f"{name}:{line}: write \"{ours}/{path}\", not \"{path}\"")
                elif target is None:
                    wrong.append(f"{name}:{line}: \"{path}\" is in no folder of the table")
                elif theirs != ours and folders is not None and theirs not in folders:
                    wrong.append(f"{name}:{line}: {folder} may not include \"{path}\"")
            elif not LIBC.match(path):
                library = next((n for n, starts in LIBRARIES.items() if path.startswith(starts)), None)
                if library is None:
                    wrong.append(f"{name}:{line}: <{path}> belongs to no library we know")
                elif "all" not in libraries and library not in libraries:
                    wrong.append(f"{name}:{line}: {folder} may not include <{path}>")
    assert not wrong, "\n".join(wrong)


def test_own_headers_are_there():
    missing = [f"{n}:{line}: {path}" for n in SOURCES for line, kind, path in includes(n)
               if kind == '"' and not (tree.ROOT / "src" / path).is_file()
               and not (tree.ROOT / "include" / path).is_file()]
    assert not missing, "\n".join(missing)


def banned():
    text = tree.read("src/util/banned.h")
    return set(" ".join(re.findall(r"#pragma GCC poison (.*)", text)).split())


def test_banned_calls():
    """The list of banned.h in every C file, tests and benchmarks included, and a few more
    that the compiler cannot poison because system headers use them."""
    calls = banned() | {"gets", "rand", "srand", "setenv", "putenv", "vfork"}
    assert "strcpy" in calls and "sprintf" in calls
    pattern = re.compile(r"(?<![\w.>])(" + "|".join(sorted(calls)) + r")\s*\(")
    wrong = []
    for name in ALL_C:
        only_src = {"setenv", "putenv"}  # unit tests run one thread and may change theirs
        for number, line in enumerate(tree.without_comments(tree.read(name)).split("\n"), 1):
            for call in pattern.findall(line):
                if call not in only_src or name.parts[0] == "src":
                    wrong.append(f"{name}:{number}: {call} is banned (src/util/banned.h)")
    assert not wrong, "\n".join(wrong)


def test_headers_are_guarded_by_their_path():
    wrong = []
    for name in SOURCES:
        if name.suffix == ".h":
            tree_of, path = str(name).split("/", 1)
            guard = ("RCPD_" if tree_of == "src" else "") + re.sub(r"\W", "_", path).upper()
            if f"#ifndef {guard}\n#define {guard}\n" not in tree.read(name):
                wrong.append(f"{name}: guard should be {guard}")
    assert not wrong, "\n".join(wrong)


def test_sources_open_with_a_comment():
    """Each file says its role before anything else."""
    wrong = [str(n) for n in ALL_C if not tree.read(n).startswith("/*")]
    assert not wrong, "no opening comment: " + ", ".join(wrong)


PROTOTYPE = re.compile(r"^(?!static|typedef|#|\}|\s)[\w\s\*]+?(\w+)\([^;{]*\)[^;{}]*;", re.M)


def test_public_functions_are_described():
    """In headers each group of prototypes (lines without an empty one between) has a
    comment: before it or beside one of them."""
    wrong = []
    for name in SOURCES:
        if name.suffix != ".h":
            continue
        for group in re.split(r"\n[ \t]*\n", tree.read(name)):
            bare = tree.without_comments(group)
            found = [m.group(1) for m in PROTOTYPE.finditer(bare)]
            if found and "/*" not in group:
                wrong.append(f"{name}: {', '.join(found)}")
    assert not wrong, "prototypes without a comment:\n" + "\n".join(wrong)


def reasons():
    found = {}
    for line in tree.read("tests/lint/long_functions.txt").split("\n"):
        if line and not line.startswith("#"):
            where, _, why = line.partition(": ")
            assert why, f"long_functions.txt: no reason: {line}"
            found[tuple(where.split())] = why
    return found


def test_function_length():
    """60 lines at most, unless long_functions.txt says why not; no entry left behind."""
    excused, wrong, used = reasons(), [], set()
    for name in ALL_C:
        for function, line, length in tree.functions(tree.read(name)):
            key = (str(name), function)
            if length > 60 and key in excused:
                used.add(key)
            elif length > 60:
                wrong.append(f"{name}:{line}: {function} has {length} lines")
    wrong += [f"long_functions.txt: {' '.join(k)} is not long any more" for k in excused if k not in used]
    assert not wrong, "\n".join(wrong)


def test_function_finder_finds():
    """The rule above would pass on anything if this broke."""
    text = "static int\tf(int a,\n\tint b)\n{\n\tif (a) {\n\t}\n\treturn b;\n}\n\nint g(void)\n{\n}\n"
    assert list(tree.functions(text)) == [("f", 1, 7), ("g", 9, 3)]
    assert sum(1 for n in SOURCES for _ in tree.functions(tree.read(n))) > 100


@pytest.mark.parametrize("text, expected", [
    ('a /* b */ c', 'a         c'),
    ('"/*" x // y', '"  " x     '),
    ("'\"' /* a\nb */;", "'\"'     \n    ;"),
])
def test_comment_blanking(text, expected):
    assert tree.without_comments(text) == expected
