"""The tokenizer and the static table against their references: PyPI tokenizers and numpy.

Ids have to be the same on every line, vectors within 1e-5. The program under test is
tests/unit/models/tokenize.c, which the build makes.
"""
import base64
import json
import os
import pathlib
import random
import struct
import subprocess
import unicodedata

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import numpy as np  # noqa: E402
import pytest  # noqa: E402
from tokenizers import AddedToken, Tokenizer, models  # noqa: E402
from tokenizers import normalizers as norm  # noqa: E402
from tokenizers import pre_tokenizers as pre  # noqa: E402
from tokenizers import trainers  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("RCPD_BUILD", ROOT / "build"))
PROGRAM = BUILD / "tests/unit/models/tokenize"
TABLE = ROOT / "src/models/table"

WORDS = """the of and in to a is that for it as was with be by on not his but at are this have from
had they which one you were all her she there would their we him been has when who will no more if
unaffable embeddings tokenization internationalization don't can't naïve café straße Ελλάδα
привет мир 你好 東京都 서울 สวัสดี नमस्ते مرحبا שלום""".split()
# Blocks of most scripts, of symbols, emoji, private use and what is not assigned.
BLOCKS = [(0x20, 0x7E)] * 4 + [
	(0xA0, 0x24F), (0x250, 0x36F), (0x370, 0x52F), (0x530, 0x6FF), (0x700, 0x8FF), (0x900, 0xFFF),
	(0x1000, 0x139F), (0x1780, 0x18AF), (0x1AB0, 0x1FFF), (0x2000, 0x214F), (0x2190, 0x27BF),
	(0x2E80, 0x33FF), (0x4E00, 0x9FFF), (0xA000, 0xABFF), (0xAC00, 0xD7A3), (0xE000, 0xE0FF),
	(0xF900, 0xFDFF), (0xFE00, 0xFFFF), (0x10000, 0x11FFF), (0x16000, 0x16FFF), (0x1D100, 0x1D7FF),
	(0x1E000, 0x1FAFF), (0x20000, 0x2FA1F), (0xE0000, 0xE01EF), (0x10FF00, 0x10FFFF)]
HOSTILE = [
	"\u200d", "\ufe0f", "\u0301", "\u0327", "\u0345", "\0", "\t", "\n", "\r\n", "\x0b", "\x85", "\u2028",
	"\ufeff", "\ufffd", "[MASK]", "[UNK]", "[CLS]", "[SEP]", "[PAD]", " [MASK] ", "##ing", "##", "<unk>",
	"<s>", "▁", "\u3000", "\u180e", "👨\u200d👩\u200d👧", "🇩🇪", "\u0130", "\u1e9e", "\u212b", "\u0344", "\u0958",
	"\u09cb", "\uac01", "\u1100\u1161\u11a8", "\u302e", "\u0f71\u0f72", "``", "''", "  ", "   "]


def lines(n, seed):
	"""Texts of mixed scripts, emoji and hostile pieces; the same ones for one seed."""
	r = random.Random(seed)

	def char():
		a, b = r.choice(BLOCKS)
		return chr(r.randint(a, b))

	def run():
		a, b = r.choice(BLOCKS)
		return "".join(chr(r.randint(a, b)) for _ in range(r.randint(1, 12)))

	def word():
		w, k = r.choice(WORDS), r.random()
		if k < 0.2:
			return w.upper() if k < 0.1 else w.capitalize()
		if k < 0.3:
			return w + r.choice(WORDS)
		if k < 0.35:
			return "".join(c + r.choice(["", "\u0301", "\u0327"]) for c in w)
		return w

	def part():
		k = r.random()
		if k < 0.45:
			return word()
		if k < 0.65:
			return run()
		if k < 0.85:
			return r.choice(HOSTILE)
		return char() * (r.choice([1, 1, 2, 5]) if k < 0.97 else r.randint(50, 250))

	return [r.choice(["", " ", " ", " "]).join(part() for _ in range(r.choice([0, 1, 3, 8, 20])))
		for _ in range(n)]


def characters():
	"""All code points, but only some of those of large blocks that are all alike."""
	alike = [(0x3400, 0xA000), (0xAC00, 0xD7A4), (0xE000, 0xF900), (0x17000, 0x18D00), (0x20000, 0xE0000),
		(0xE1000, 0x110000)]
	return [c for c in range(0x110000) if not 0xD800 <= c < 0xE000 and
		(c % 61 == 0 or 0x2F800 <= c < 0x2FA20 or c & 0xFFF > 0xFF0 or not any(a <= c < b for a, b in alike))]


def program(what, where, texts, **env):
	done = subprocess.run([PROGRAM, what, where], input="".join(json.dumps(t) + "\n" for t in texts),
		capture_output=True, text=True, timeout=300, env=dict(os.environ, **env))
	assert done.returncode == 0, done.stderr
	out = done.stdout.split("\n")[:-1]
	assert len(out) == len(texts)
	return out


def same_ids(path, texts):
	reference = Tokenizer.from_file(str(path))
	reference.no_truncation()
	reference.no_padding()
	wanted = reference.encode_batch(texts, add_special_tokens=False)
	for text, w, got in zip(texts, wanted, program("ids", path, texts)):
		assert got == " ".join(map(str, w.ids)), ascii(text)


def save(tmp_path, tokenizer):
	path = tmp_path / "tokenizer.json"
	tokenizer.save(str(path))
	return path


def test_the_builtin_table_on_10000_lines():
	"""REQ: X2"""
	same_ids(TABLE / "tokenizer.json", lines(10000, 7))
	texts = lines(500, 8)
	assert program("ids", "builtin", texts) == program("ids", TABLE / "tokenizer.json", texts)


def test_the_builtin_table_on_every_character():
	same_ids(TABLE / "tokenizer.json",
		[f"{chr(c)} a{chr(c)}b {chr(c)}{chr(c)} E{chr(c)}\u0301" for c in characters()])


def bytewise(normalizer, splitter):
	"""A tokenizer whose ids spell the normalised bytes: nothing stays hidden."""
	vocab = [("<unk>", 0.0)] + [(f"<0x{i:02X}>", -5.0) for i in range(256)]
	t = Tokenizer(models.Unigram(vocab, 0, True))
	if normalizer:
		t.normalizer = normalizer
	if splitter:
		# A sign in front of each piece shows where the cuts are.
		t.pre_tokenizer = pre.Sequence([splitter, pre.Metaspace(split=False)])
	return t


@pytest.mark.parametrize("normalizer, splitter", [
	(norm.BertNormalizer(), pre.BertPreTokenizer()),
	(norm.BertNormalizer(strip_accents=False, lowercase=False), pre.WhitespaceSplit()),
	(norm.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True,
		lowercase=False), None),
	(norm.NFC(), pre.Whitespace()),
	(norm.NFD(), None),
	(norm.NFKC(), pre.Punctuation("merged_with_previous")),
	(norm.NFKD(), pre.Punctuation("removed")),
	(norm.Sequence([norm.StripAccents(), norm.Lowercase()]), pre.Punctuation("contiguous")),
	(norm.Sequence([norm.Nmt(), norm.Strip()]), pre.Punctuation("merged_with_next")),
], ids=["bert", "bert-cased", "bert-accents", "nfc", "nfd", "nfkc", "nfkd", "lower", "nmt"])
def test_properties_of_every_character(tmp_path, normalizer, splitter):
	"""Whatever versions of Unicode the reference and our ICU are of."""
	path = save(tmp_path, bytewise(normalizer, splitter))
	same_ids(path, [f"{chr(c)}a{chr(c)}b e{chr(c)}\u0301\u0327\u0345" for c in characters()])
	same_ids(path, lines(2000, 3))


ADDED = [AddedToken("the", single_word=True), AddedToken(" x", lstrip=True), AddedToken("ＦＯＯ"),
	AddedToken("[MASK]", lstrip=True, normalized=False), AddedToken("é"),
	AddedToken("to", rstrip=True, lstrip=True, normalized=False, single_word=True)]


@pytest.fixture(scope="module")
def trained():
	"""A Unigram model, trained here."""
	t = Tokenizer(models.Unigram())
	t.normalizer = norm.NFKC()
	t.pre_tokenizer = pre.Metaspace()
	corpus = ["".join(c for c in line if ord(c) < 0x600) for line in lines(3000, 11)]
	t.train_from_iterator(corpus, trainers.UnigramTrainer(vocab_size=4000, unk_token="<unk>",
		special_tokens=["<unk>", "<s>", "</s>"], show_progress=False))
	return json.loads(t.to_str())


def unigram(trained, normalizer, splitter, fallback=False):
	model = dict(trained["model"], byte_fallback=fallback)
	if fallback:
		model["vocab"] = model["vocab"] + [[f"<0x{i:02X}>", -20.0] for i in range(256)]
	t = Tokenizer.from_str(json.dumps(dict(trained, model=model)))
	t.normalizer = normalizer
	t.pre_tokenizer = splitter
	return t


@pytest.mark.parametrize("normalizer, splitter, fallback, added", [
	(norm.Sequence([norm.Nmt(), norm.NFKC(), norm.Replace("``", '"')]), pre.Metaspace(), False, []),
	(norm.NFKD(), pre.Sequence([pre.WhitespaceSplit(), pre.Metaspace(prepend_scheme="first")]), True,
		ADDED),
	(norm.Sequence([norm.Strip(), norm.Prepend("▁"), norm.Lowercase(), norm.NFC()]),
		pre.Metaspace(prepend_scheme="never", split=False), True, []),
	(norm.Sequence([norm.NFD(), norm.StripAccents(), norm.Lowercase()]),
		pre.Sequence([pre.Whitespace(), pre.Metaspace(prepend_scheme="first")]), False, ADDED),
	(norm.NFD(), pre.Sequence([pre.Punctuation("isolated"),
		pre.Metaspace(prepend_scheme="first", split=False)]), True, ADDED),
], ids=["nmt", "nfkd", "prepend", "accents", "first"])
def test_unigram_on_10000_lines(tmp_path, trained, normalizer, splitter, fallback, added):
	t = unigram(trained, normalizer, splitter, fallback)
	t.add_tokens(added)
	same_ids(save(tmp_path, t), lines(10000, 5))


def charsmap(rules):
	"""The bytes of a SentencePiece normaliser: a double array with a block of 256 a node."""
	texts, tree = b"", {}
	for source, target in rules.items():
		node = tree
		for byte in source.encode():
			node = node.setdefault(byte, {})
		node[0] = len(texts)
		texts += target.encode() + b"\0"
	units, waiting = [0] * 512, [(0, tree, 256)]
	while waiting:
		at, node, base = waiting.pop()
		label = units[at]
		units[at] = label | (0 in node) << 8 | (at ^ base) << 10
		for byte, child in node.items():
			if byte == 0:
				units[base] = child
				continue
			units[base + byte] = byte
			waiting.append((base + byte, child, len(units)))
			units += [0] * 256
	return struct.pack("<I", 4 * len(units)) + struct.pack(f"<{len(units)}I", *units) + texts


def test_a_precompiled_normaliser(tmp_path, trained):
	rules = {chr(c): unicodedata.normalize("NFKC", chr(c)) for c in list(range(0xA0, 0x250)) +
		list(range(0xFB00, 0xFB07)) + list(range(0xFF01, 0xFF60)) + [0x958, 0x1E9B, 0x3000]}
	rules = {k: v for k, v in rules.items() if k != v}
	rules |= {chr(c): "" for c in (1, 2, 3, 0x200B, 0xAD, 0x300)}
	rules |= {"\t": " ", "\n": " ", "\r": " ", "e\u0301": "é", "A\u030a": "Å", "\u0915\u093c": "\u0958"}
	t = dict(trained, normalizer={"type": "Sequence", "normalizers": [
		{"type": "Precompiled", "precompiled_charsmap": base64.b64encode(charsmap(rules)).decode()},
		{"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}]},
		pre_tokenizer={"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"},
			{"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first"}]})
	path = tmp_path / "tokenizer.json"
	path.write_text(json.dumps(t))
	same_ids(path, lines(10000, 6))
	r = random.Random(4)
	pieces = [list(rules), ["\u0301", "\u0327", "\u200d", "\u200c", "\ufe0f", "\u093c", "\u094d", "\r", "\n",
		"\u0600", "\u0897", "\U000113d1"], WORDS, [chr(c) for c in range(0x900, 0xD80)],
		[chr(c) for c in range(0x1F1E6, 0x1F200)], [chr(c) for c in range(0x1100, 0x1200)]]
	same_ids(path, ["".join(r.choice(r.choice(pieces)) for _ in range(40)) for _ in range(5000)])


def save_tensors(path, tensors):
	header, data = {}, b""
	names = {"float32": "F32", "float16": "F16", "float64": "F64", "int8": "I8", "int64": "I64"}
	for name, array in tensors.items():
		header[name] = {"dtype": names[str(array.dtype)], "shape": list(array.shape),
			"data_offsets": [len(data), len(data) + array.nbytes]}
		data += array.tobytes()
	text = json.dumps(header).encode()
	path.write_bytes(struct.pack("<Q", len(text)) + text + data)


@pytest.mark.parametrize("kind", ["float32", "float16", "int8"])
def test_vectors_are_those_of_numpy(tmp_path, kind):
	"""Within 1e-5, and the same bits on every processor."""
	text = (TABLE / "tokenizer.json").read_text()
	t = Tokenizer.from_str(text)
	unknown = t.token_to_id("[UNK]")
	n, rng = t.get_vocab_size(), np.random.default_rng(2)
	tensors = {"embeddings": rng.standard_normal((n, 100)).astype(np.float32)}
	factor = np.ones(n)
	table = tensors["embeddings"]
	if kind == "float16":
		table = table.astype(np.float16)
		factor = rng.random(n).astype(np.float32)
		tensors = {"embeddings": table, "weights": factor}
	elif kind == "int8":
		table = rng.integers(-127, 128, (5000, 64)).astype(np.int8)
		scales = rng.random(5000).astype(np.float16)
		mapping = rng.integers(0, 5000, n).astype(np.int64)
		tensors = {"embedding.weight": table, "scales": scales, "mapping": mapping}
		table = (table.astype(np.float64) * scales.astype(np.float64)[:, None])[mapping]
	save_tensors(tmp_path / "model.safetensors", tensors)
	(tmp_path / "tokenizer.json").write_text(text)
	(tmp_path / "config.json").write_text('{"normalize": true, "name": "made"}')
	texts = lines(500, 9)
	outputs = [program("vectors", tmp_path, texts, RCPD_CPU=cpu) for cpu in ("plain", "avx2", "avx512")]
	assert outputs[0] == outputs[1] == outputs[2]
	filled = 0
	for line, got in zip(texts, outputs[0]):
		ids = [i for i in t.encode(line, add_special_tokens=False).ids if i != unknown]
		v = np.zeros(table.shape[1])
		if ids:
			v = (table[ids].astype(np.float64) * factor[ids, None]).mean(0)
			v /= np.linalg.norm(v)
			filled += 1
		assert np.abs(np.array(got.split(), dtype=np.float64) - v).max() < 1e-5
	assert filled > 300


@pytest.mark.parametrize("change, message", [
	({"model": {"type": "BPE", "vocab": {}, "merges": []}}, "model 'BPE' is not supported"),
	({"normalizer": {"type": "ByteLevel"}}, "normalizer 'ByteLevel' is not supported"),
	({"pre_tokenizer": {"type": "Digits"}}, "pre_tokenizer 'Digits' is not supported"),
	({"normalizer": {"type": "Replace", "pattern": {"Regex": "[ab]+"}, "content": ""}},
		"with this pattern is not supported"),
])
def test_what_cannot_be_done_alike_is_refused(tmp_path, change, message):
	path = tmp_path / "tokenizer.json"
	path.write_text(json.dumps(dict(json.loads((TABLE / "tokenizer.json").read_text()), **change)))
	done = subprocess.run([PROGRAM, "ids", path], input="", capture_output=True, text=True, timeout=60)
	assert done.returncode == 1 and message in done.stderr
