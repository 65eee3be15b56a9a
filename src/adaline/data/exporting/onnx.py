"""Linear and Gaussian models as ONNX graphs in float64, made of plain tensor operators.

The operators of ai.onnx.ml for linear models take float32 only. Called by `export`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.errors import MissingExtra, ModelFileError

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

OPSET, IR_VERSION = 17, 8  # of 2022, which every current runtime reads
FAR = 2.0**332  # sums of the squares of such numbers do not overflow
HALF_RANGE = 550  # twice this exponent takes any float64 of any unit into range


def write_onnx(model: Learner, facts: dict[str, Any]) -> bytes:
    """The graph of a fitted model, with facts in its metadata."""
    graph, form = Graph(), model._exports
    if form == "frequencies":
        weights = graph.add("Div", "X", np.maximum(model.df_, 1).astype(np.float64))
        graph.set_output(weights, "weights", ["rows", len(model.df_)])
    elif form in ("values", "exponential"):
        v, shape = graph.add_linear(*model._exported_weights()), ["rows", len(model.fit_.b)]
        if model._one_target:
            v, shape = graph.take_column(v, 0), ["rows"]
        v = graph.add("Exp", v) if form == "exponential" else v
        graph.set_output(v, "prediction", shape)
    else:
        add_classifier(graph, model)
    return graph.to_bytes(model.n_features_in_, facts)


class Graph:
    """Nodes and constants added one by one; a method returns the name of its result."""

    def __init__(self) -> None:
        try:
            import onnx
        except ImportError:
            raise MissingExtra.of("export", 'to="onnx"', "onnx") from None
        self.onnx: Any = onnx
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.outputs: list[Any] = []

    def add(self, operator: str, *inputs: Any, to: str = "", **attributes: Any) -> str:
        """A node of one output. Inputs are names of results; numbers and arrays are constants."""
        names, name = [], to or f"v{len(self.nodes)}"
        for value in inputs:
            if not isinstance(value, str):
                array, value = np.array(value, order="C"), f"c{len(self.constants)}"
                array = array.astype(object) if array.dtype.kind == "U" else array
                self.constants.append(self.onnx.numpy_helper.from_array(array, value))
            names.append(value)
        self.nodes.append(self.onnx.helper.make_node(operator, names, [name], **attributes))
        return name

    def add_linear(self, W: Any, b: Any) -> str:
        """X W' + b, (rows, K)."""
        return self.add("Gemm", "X", np.asarray(W, np.float64).T, np.asarray(b, np.float64))

    def take_column(self, value: str, k: int) -> str:
        """Column k of a matrix, as a vector."""
        return self.add("Gather", value, np.int64(k), axis=1)

    def set_output(self, value: str, name: str, shape: list[Any], kind: Any = np.float64) -> None:
        """Make a value an output of the model."""
        code = self.onnx.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        self.add("Identity", value, to=name)
        self.outputs.append(self.onnx.helper.make_tensor_value_info(name, code, shape))

    def to_bytes(self, columns: int, facts: dict[str, Any]) -> bytes:
        """The model, checked."""
        helper, ends = self.onnx.helper, {"producer_name": "adaline", "ir_version": IR_VERSION}
        x = helper.make_tensor_value_info("X", self.onnx.TensorProto.DOUBLE, ["rows", columns])
        graph = helper.make_graph(self.nodes, facts["model"], [x], self.outputs, self.constants)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, **ends, opset_imports=opset)
        helper.set_model_props(model, {key: json.dumps(fact) for key, fact in facts.items()})
        self.onnx.checker.check_model(model, full_check=True)
        data: bytes = model.SerializeToString(deterministic=True)
        return data


def add_classifier(graph: Graph, model: Learner) -> None:
    """Outputs label, and decision or probabilities."""
    K, labels, form = len(model.classes_), model.classes_, model._exports
    costs, both = getattr(model, "costs", None), ""
    if getattr(model, "reject_cost", None) is not None:
        raise ModelFileError("ONNX labels have one type, and reject_cost would mix in 'reject'.")
    if labels.dtype.kind == "O" and not all(type(label) is str for label in labels):
        raise ModelFileError("ONNX labels have one type; these are mixed Python objects.")
    if form == "gaussians" and not model._is_written():  # nobody assigned coef_
        scores = add_gaussian_scores(graph, model)
        ends = (graph.take_column(scores, k) for k in (1, 0))
        v = graph.add("Sub", *ends) if K == 2 else scores
    else:
        scores = v = graph.add_linear(*model._exported_weights())
        if K == 2:  # of which the first has the score 0
            v = graph.take_column(scores, 0)
            scores = graph.add("Concat", graph.add("Mul", scores, 0.0), scores, axis=1)
    best = graph.add("ArgMax", scores, axis=1, keepdims=0)
    if form != "sides":
        both = graph.add("Softmax", scores, axis=1)
        graph.set_output(both, "probabilities", ["rows", K])
    if costs is not None and both:
        expected = graph.add("MatMul", both, np.asarray(costs, np.float64).T)
        best = graph.add("ArgMin", expected, axis=1, keepdims=0)
    else:
        graph.set_output(v, "decision", ["rows"] if K == 2 else ["rows", K])
    kind = object if labels.dtype.kind == "U" else labels.dtype
    graph.set_output(graph.add("Gather", labels, best, axis=0), "label", ["rows"], kind)


def add_gaussian_scores(graph: Graph, model: Learner) -> str:
    """ln p_k f_k(x) up to what all classes share, (rows, K), about the centre as in `predict`."""
    g = model.model_
    # A row so far out that its squares would overflow is drawn in, in its direction.
    small = graph.add("Mul", "X", np.ldexp(1.0, -HALF_RANGE))
    small = graph.add("Mul", small, np.ldexp(1.0, -g.exponent - HALF_RANGE))
    length = graph.add("ReduceMax", graph.add("Abs", small), axes=[1], keepdims=1)
    most = np.ldexp(FAR, -2 * HALF_RANGE)
    drawn = graph.add("Mul", graph.add("Div", small, graph.add("Max", length, most)), FAR)
    near = graph.add("Mul", "X", np.ldexp(1.0, -g.exponent))
    scaled = graph.add("Where", graph.add("Greater", length, most), drawn, near)
    x = graph.add("Sub", scaled, g.centre)
    if len(g.W):
        return graph.add("Gemm", x, g.W.T, g.b)
    distances = []
    for k, mean in enumerate(g.means):
        A, d = g.metrics[k].A, graph.add("Sub", x, mean)
        z = graph.add("MatMul" if A.ndim == 2 else "Mul", d, A)
        distances.append(graph.add("ReduceSumSquare", z, axes=[1], keepdims=1))
    D = graph.add("Concat", *distances, axis=1)
    return graph.add("Sub", g.b, graph.add("Mul", D, 0.5))
