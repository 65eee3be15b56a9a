"""Linear predictors as ONNX graphs in float64: Gemm, and what makes labels and probabilities of it.

The operators of ai.onnx.ml for linear models take float32 only; these are plain tensor operators.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import MissingExtra

_OPSET, _IR = 17, 8  # of 2022, which every current runtime reads


class Graph:
    """Nodes and constants added one by one; every method answers with the name of its result."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtra.of("export", 'to="onnx"', "onnx") from None
        self._onnx = onnx
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._outputs: list[Any] = []

    def constant(self, value: Any) -> str:
        """A tensor: floats, whole numbers, truths or strings."""
        array, name = np.asarray(value), f"c{len(self._constants)}"
        if array.dtype.kind in "UO":
            kind, flat = self._onnx.TensorProto.STRING, [s.encode() for s in array.ravel().tolist()]
            tensor = self._onnx.helper.make_tensor(name, kind, array.shape, flat)
        else:
            tensor = self._onnx.numpy_helper.from_array(np.array(array, order="C"), name)
        self._constants.append(tensor)
        return name

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node of one output."""
        name = f"v{len(self._nodes)}"
        node = self._onnx.helper.make_node(operator, list(inputs), [name], **attributes)
        self._nodes.append(node)
        return name

    def output(self, value: str, name: str, dtype: Any, shape: list[Any]) -> None:
        """Let a value be an answer of the model, by this name."""
        kind = np.dtype(dtype)
        text = kind.kind in "UO"
        code = (
            self._onnx.TensorProto.STRING
            if text
            else self._onnx.helper.np_dtype_to_tensor_dtype(kind)
        )
        self._nodes.append(self._onnx.helper.make_node("Identity", [value], [name]))
        self._outputs.append(self._onnx.helper.make_tensor_value_info(name, code, shape))

    def bytes(self, title: str, columns: int, facts: dict[str, Any]) -> bytes:
        """The model, checked, with facts in its metadata."""
        helper = self._onnx.helper
        double = self._onnx.TensorProto.DOUBLE
        x = helper.make_tensor_value_info("X", double, ["rows", columns])
        graph = helper.make_graph(self._nodes, title, [x], self._outputs, self._constants)
        model = helper.make_model(
            graph,
            producer_name="adaline",
            producer_version=facts["adaline"],
            opset_imports=[helper.make_opsetid("", _OPSET)],
            ir_version=_IR,
        )
        helper.set_model_props(model, {key: json.dumps(fact) for key, fact in facts.items()})
        self._onnx.checker.check_model(model, full_check=True)
        data: bytes = model.SerializeToString(deterministic=True)
        return data


_FAR, _FAR_SQUARED = 2.0**900, 2.0**332  # sums of these, and of their squares, do not overflow
_HALF = 550  # twice this exponent takes any float64 of any unit into range


def linear(graph: Graph, W: NDArray[Any], b: NDArray[Any]) -> str:
    """X W' + b, (rows, K)."""
    weights = graph.constant(np.asarray(W, dtype=np.float64).T)
    return graph.add("Gemm", "X", weights, graph.constant(np.asarray(b, dtype=np.float64)))


def gaussian_scores(graph: Graph, g: Any) -> str:
    """ln p_k f_k(x) up to what all classes share, (rows, K), about the centre as in `predict`."""
    # A row so far out that it, or its squares, would overflow is drawn in, in its direction.
    far = _FAR if len(g.W) else _FAR_SQUARED
    most = graph.constant(np.ldexp(far, -2 * _HALF))
    small = graph.add("Mul", "X", graph.constant(np.ldexp(1.0, -_HALF)))
    small = graph.add("Mul", small, graph.constant(np.ldexp(1.0, -g.exponent - _HALF)))
    length = graph.add("ReduceMax", graph.add("Abs", small), axes=[1], keepdims=1)
    unit = graph.add("Div", small, graph.add("Max", length, most))
    drawn = graph.add("Mul", unit, graph.constant(np.float64(far)))
    near = graph.add("Mul", "X", graph.constant(np.ldexp(1.0, -g.exponent)))
    scaled = graph.add("Where", graph.add("Greater", length, most), drawn, near)
    x = graph.add("Sub", scaled, graph.constant(g.centre))
    if len(g.W):
        return graph.add("Gemm", x, graph.constant(g.W.T), graph.constant(g.b))
    distances = []
    for k, mean in enumerate(g.means):
        A, d = g.metrics[k].A, graph.add("Sub", x, graph.constant(mean))
        z = graph.add("MatMul" if A.ndim == 2 else "Mul", d, graph.constant(A))
        distances.append(graph.add("ReduceSumSquare", z, axes=[1], keepdims=1))
    D = graph.add("Concat", *distances, axis=1)
    half = graph.add("Mul", D, graph.constant(0.5))
    return graph.add("Sub", graph.constant(g.b), half)


def column(graph: Graph, value: str, k: int = 0) -> str:
    """Column k of a matrix, as a vector."""
    return graph.add("Gather", value, graph.constant(np.int64(k)), axis=1)


def posterior(graph: Graph, scores: str, two: bool) -> str:
    """p(k | x): logistic of one value for two classes, else softmax of scores."""
    if not two:
        return graph.add("Softmax", scores, axis=1)
    both = graph.add("Concat", graph.add("Neg", scores), scores, axis=1)
    return graph.add("Sigmoid", both)


def largest(graph: Graph, v: str, two: bool) -> str:
    """Index of the class on whose side v is, or of the largest v; the first of ties."""
    if two:
        positive = graph.add("Greater", v, graph.constant(0.0))
        return graph.add("Cast", positive, to=7)  # int64
    return graph.add("ArgMax", v, axis=1, keepdims=0)


def cheapest(graph: Graph, probabilities: str, costs: Any) -> str:
    """Index of the class of least expected cost."""
    c = graph.constant(np.asarray(costs, dtype=np.float64).T)
    return graph.add("ArgMin", graph.add("MatMul", probabilities, c), axis=1, keepdims=0)
