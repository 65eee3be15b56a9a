"""Exports: ONNX that answers as the model does, and JSON that people can read."""

from __future__ import annotations

import json
import sys
import warnings
from typing import Any

import numpy as np
import pytest

import adaline
from adaline.data import export
from adaline.errors import MissingExtra, ModelFileError
from adaline.filters import FILTERS
from model_zoo import MODELS, S, X, made, rows_for, three, two

# Another library adds the same products in another order: a few roundings of 1.1e-16 each, on
# values up to 10^2, of at most 2100 columns.
CLOSE = 1e-12

METHODS = {
    "prediction": "predict",
    "decision": "decision_function",
    "probabilities": "predict_proba",
    "weights": "transform",
}
NOT_LINEAR = ("Polynomial", "Bayes", "KernelPerceptron", "Moments", "Class", "Triangle", "MaxM")
NOT_ESTIMATORS = ("Separability", *FILTERS)
REFUSED = [n for n in MODELS if n.startswith(NOT_LINEAR + NOT_ESTIMATORS)]
REJECTS = ["GaussianClassifier, diagonal"]
RUN = [n for n in MODELS if n not in [*REFUSED, *REJECTS, "Prepared"]]


def answered(model: Any, rows: Any) -> dict[str, Any]:
    """What onnxruntime makes of the export, by the names of the outputs."""
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(export(model), providers=["CPUExecutionProvider"])
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, {"X": dense}), strict=True))


def compare(model: Any, rows: Any) -> set[str]:
    found = answered(model, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in found.items():
            if name == "label":
                assert np.array_equal(value, model.predict(rows))
                continue
            expected = np.asarray(getattr(model, METHODS[name])(rows))
            assert value.dtype == np.float64
            assert value.shape == expected.shape
            assert np.allclose(value, expected, rtol=CLOSE, atol=CLOSE)
    return set(found)


@pytest.mark.parametrize("name", RUN)
def test_onnx_answers_as_the_model_does(name):
    model = made(name)
    if not hasattr(model, "classes_"):
        assert compare(model, rows_for(name, model)) in ({"prediction"}, {"weights"})
        return
    likely = {"probabilities"} if hasattr(model, "predict_proba") else set()
    decision = {"decision"} if getattr(model, "costs", None) is None else set()
    assert compare(model, rows_for(name, model)) == {"label"} | likely | decision


@pytest.mark.parametrize("covariance", ["shared", "full", "diagonal"])
@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1.0, 1e150])
@pytest.mark.parametrize("labels", ["two", "three"])
def test_gaussian_classifiers_in_tiny_units_answer_for_rows_far_away(covariance, scale, labels):
    y = two if labels == "two" else three
    model = adaline.GaussianClassifier(covariance).fit(X * scale, y)
    for rows in (X[:9] * scale, X[:9] * 1e200, X[:9] * 1e300):
        found = answered(model, rows)
        try:
            expected = model.predict_proba(rows)
        except ValueError:  # of rows so far out that predict has no answer
            expected = found["probabilities"]
            assert np.isfinite(expected).all()
        assert np.allclose(found["probabilities"], expected, rtol=CLOSE, atol=CLOSE)


def test_a_class_that_cannot_be_has_probability_zero_in_onnx_too():
    model = adaline.GaussianClassifier(priors=[0.0, 0.5, 0.5]).fit(X, three)
    assert (answered(model, X)["probabilities"][:, 0] == 0.0).all()
    compare(model, X)


@pytest.mark.parametrize("learner", [adaline.GaussianClassifier, adaline.LogisticRegression])
def test_costs_decide_in_onnx_too(learner):
    costs = [[0.0, 1.0, 9.0], [2.0, 0.0, 1.0], [1.0, 3.0, 0.0]]
    model = learner(costs=costs).fit(X, three)
    assert compare(model, X) == {"label", "probabilities"}
    compare(learner(costs=[[0.0, 7.0], [1.0, 0.0]]).fit(X, two), X)


@pytest.mark.parametrize("kind", ["bool", "int8", "float64", "O"])
def test_labels_keep_their_type(kind):
    y = two.astype(object) if kind == "O" else (two == "yes").astype(kind)
    model = adaline.LeastSquaresClassifier().fit(X, y)
    found = answered(model, X)["label"]
    assert np.array_equal(found, model.predict(X))
    assert found.dtype == (object if kind == "O" else np.dtype(kind))


def test_the_linear_kernel_is_linear():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = adaline.KernelPerceptron("linear", max_iter=5).fit(S, two)
    compare(model, S.toarray())
    assert json.loads(export(model, "json"))["neurons"][0]["class"] == "yes"


@pytest.mark.parametrize("to", ["onnx", "json"])
@pytest.mark.parametrize("name", [n for n in REFUSED if not n.startswith("Poly")])
def test_what_is_not_linear_is_refused_with_a_sentence(name, to):
    with pytest.raises(ModelFileError, match=f"not exported to {to} here"):
        export(made(name), to)


def test_the_graph_of_a_prepared_model_takes_the_prepared_columns():
    prepared = made("Prepared")
    assert export(prepared) == export(prepared.model)


def test_rejects_would_mix_types_and_are_refused():
    with pytest.raises(ModelFileError, match="reject"):
        export(made(REJECTS[0]))


def test_without_onnx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtra, match="onnx") as told:
        export(made("LeastSquares"))
    assert MissingExtra.how_to_install("export") in str(told.value)


@pytest.mark.parametrize(("to", "words"), [("onnx", "learned nothing"), ("pmml", "'onnx'")])
def test_exports_of_nothing_and_to_nowhere_are_refused(to, words):
    with pytest.raises(ValueError, match=words):
        export(adaline.Ridge(), to)


def test_onnx_is_small_and_tells_names_and_classes(tmp_path):
    onnx = pytest.importorskip("onnx")
    model = made("LogisticRegression")
    data = export(model, path=tmp_path / "m.onnx")
    assert (tmp_path / "m.onnx").read_bytes() == data == export(model)
    assert len(data) < 1000
    facts = {p.key: json.loads(p.value) for p in onnx.load_from_string(data).metadata_props}
    assert facts["features"] == ["x0", "x1", "x2"]
    assert facts["classes"] == ["no", "yes"]


def test_json_is_strict_and_gives_weights_by_name():
    model = made("LeastSquares, table")
    told = json.loads(export(model, "json"), parse_constant=pytest.fail)
    assert told["features"] == ["length", "Höhe", "ß 3"]
    assert told["certificate"]["statement"] == model.certificate_.statement
    for k, neuron in enumerate(told["neurons"]):
        assert list(neuron["weights"].values()) == model.coef_[k].tolist()
        assert neuron["intercept"] == model.intercept_[k]


def test_columns_of_the_same_name_are_refused():
    model = made("LeastSquares, table")
    model.feature_names_in_ = np.array(["a", "a", "b"], dtype=object)
    with pytest.raises(ModelFileError, match="same name"):
        export(model, "json")


def test_json_has_no_infinity():
    model = adaline.GaussianClassifier(priors=[0.0, 0.5, 0.5]).fit(X, three)
    with pytest.raises(ModelFileError, match="numbers that JSON has not"):
        export(model, "json")
