"""BERT as a graph of ONNX, for the packaged embedders. Not here: their weights and tokens (minilm, e5)."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

_OPSET, _IR = 20, 9  # the first version of ONNX with an operator Gelu


class Bert(ABC):
    """BERT from tokens, shape (tokens,), to the mean of the last layer's vectors, shape (width,), or to the vectors of
    some layer, shape (tokens, width).

    Source: Devlin et al., "BERT" (2019), with the names of transformers' `BertModel`. Methods add nodes, and return the
    name of the last node's value.
    """

    def __init__(self, layers: int, heads: int, width: int, epsilon: float) -> None:
        self._layers, self._heads, self._width, self._epsilon = layers, heads, width, epsilon
        self._nodes: list[Any] = []
        self._values: dict[str, Any] = {}

    @abstractmethod
    def _weight(self, name: str) -> str:
        """Add a weight."""

    def _inputs(self) -> list[Any]:
        from onnx import TensorProto, helper

        return [helper.make_tensor_value_info("tokens", TensorProto.INT64, ["length"])]

    def _words(self) -> str:
        """The vectors of the words."""
        return self._node("Gather", self._weight("embeddings.word_embeddings.weight"), "tokens")

    def model(self, layer: int | None = None) -> bytes:
        """The serialized model: up to `layer`, whose vectors are its output, or whole, with the mean."""
        from onnx import TensorProto, helper

        states = self._embedded()
        for number in range(self._layers if layer is None else layer):
            states = self._layer(states, f"encoder.layer.{number}")
        if layer is None:
            states = self._node("ReduceMean", states, self._constant([0]), output="vector", keepdims=0)
        shape = [self._width] if layer is None else ["length", self._width]
        output = helper.make_tensor_value_info(states, TensorProto.FLOAT, shape)
        graph = helper.make_graph(self._nodes, "BERT", self._inputs(), [output], list(self._values.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", _OPSET)], ir_version=_IR)
        content: bytes = model.SerializeToString()
        return content

    def _embedded(self) -> str:
        """Vectors of words and of their positions. All texts are of the first kind."""
        words = self._words()
        length = self._node("Squeeze", self._node("Shape", words, start=0, end=1))
        positions = self._node("Range", self._constant(0), length, self._constant(1))
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
        heads = self._constant([-1, self._heads, self._width // self._heads])

        def divided(part: str, order: list[int]) -> str:
            return self._node(
                "Transpose", self._node("Reshape", self._dense(states, f"{name}.{part}"), heads), perm=order
            )

        products = self._node("MatMul", divided("query", [1, 0, 2]), divided("key", [1, 2, 0]))
        scaled = self._node("Mul", products, self._constant(np.float32((self._width / self._heads) ** -0.5)))
        mixed = self._node("MatMul", self._node("Softmax", scaled, axis=-1), divided("value", [1, 0, 2]))
        return self._node("Reshape", self._node("Transpose", mixed, perm=[1, 0, 2]), self._constant([-1, self._width]))

    def _dense(self, states: str, name: str) -> str:
        return self._node("Gemm", states, self._weight(f"{name}.weight"), self._weight(f"{name}.bias"), transB=1)

    def _normalized(self, states: str, name: str) -> str:
        scale, shift = self._weight(f"{name}.weight"), self._weight(f"{name}.bias")
        return self._node("LayerNormalization", states, scale, shift, axis=-1, epsilon=self._epsilon)

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

    def _external(self, name: str, shape: Any, **places: object) -> str:
        """Add a weight whose content is not in the model."""
        from onnx import TensorProto

        weight = TensorProto(name=name, data_type=TensorProto.FLOAT, data_location=TensorProto.EXTERNAL)
        weight.dims.extend(shape)
        for key, value in places.items():
            weight.external_data.add(key=key, value=str(value))
        self._values[name] = weight
        return name
