"""Documents for the tests. Each holds the marker word, so that a log that shows
document text is found out (O2)."""
from .process import MARKER

# Emoji outside the first plane, combining marks, and a letter of three bytes, before
# and between the words that are looked for.
ACCENTED = ("Cafe\u0301 \U0001f600 \U0001f469\u200d\U0001f680 na\u00efve re\u0301sume\u0301 \u20ac5. "
	f"The telescope {MARKER} looks at the nebula. \U0001f30c ")

DOCUMENTS = [
	{"id": "fox", "text": f"The quick brown fox jumps over the lazy dog. {MARKER}",
		"meta": {"title": "A fox", "uri": "https://example.org/fox", "source": "fables",
			"lang": "en", "n": 1}},
	{"id": "cats", "text": f"Cats and dogs live in the same house and sleep a lot. {MARKER}",
		"meta": {"title": "Pets"}},
	{"id": "order", "text": f"Order BENCH-100821 for don't panic, grammar::fa v38.101 {MARKER}"},
	{"id": "work", "text": f"A machine that is not working needs a screwdriver. {MARKER}"},
	{"id": "accents", "text": ACCENTED},
	{"id": "space/and#hash%25", "text": f"The walrus and the carpenter. {MARKER}"},
]


def fill(server, documents=DOCUMENTS):
	"""Adds the documents; returns the result of index/add."""
	return server.rpc("index/add", {"documents": documents}).result


def numbered(n, text="sameword"):
	return [{"id": f"doc-{i:04d}", "text": f"{text} {MARKER}"} for i in range(n)]
