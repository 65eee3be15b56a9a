"""What is assigned to coef_ and intercept_ is obeyed, everywhere, and voids the certificate."""

from __future__ import annotations

import copy
import json
import pickle
import warnings

import numpy as np
import pytest

from adaline import GaussianClassifier, KernelPerceptron, LeastSquares, Ridge, WidrowHoff
from adaline.data import export
from adaline.data.storing.model_files import packed, unpacked
from model_zoo import MODELS, X, Y, made, rows_for, three, two, y

LINEAR = [
    name
    for name in MODELS
    if name.split(",")[0]
    in (
        "LeastSquares", "Ridge", "PolynomialLeastSquares", "LeastSquaresClassifier", "HoKashyap",
        "Perceptron", "Adaline", "WidrowHoff", "SigmoidPerceptron", "LogisticRegression",
        "GaussianClassifier",
    )
    and "full" not in name
    and "diagonal" not in name
]  # fmt: skip
VOID = "coef_ or intercept_ was changed after the fit; nothing is proven of these weights."


def values(model, rows):
    """v = w'x + b of a model, whatever it makes of it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if hasattr(model, "decision_function"):
            model = copy.deepcopy(model)
            if hasattr(model, "costs"):
                model.set_params(costs=None)
            return model.decision_function(rows)
        return model.predict(rows)


def expected(model, rows):
    """The same by hand, from what the model shows."""
    W, b = np.atleast_2d(model.coef_), np.atleast_1d(model.intercept_)
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows, dtype=np.float64)
    if hasattr(model, "monomials_"):
        rows = np.column_stack([np.prod(rows[:, list(m)], axis=1) for m in model.monomials_])
    V = rows @ W.T.astype(np.float64) + b
    one = getattr(model, "_one_target", len(b) == 1)
    return V[:, 0] if one else V


WAYS = {
    "assigned": lambda m: setattr(m, "coef_", np.asarray(m.coef_) * 0.5 + 0.25),
    "a list": lambda m: setattr(m, "coef_", (np.asarray(m.coef_) * 0.5 + 0.25).tolist()),
    "bias": lambda m: setattr(m, "intercept_", m.intercept_ + 1.5),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", LINEAR)
def test_predictions_obey_what_was_written(name, way):
    model = made(name)
    rows = rows_for(name, model)
    WAYS[way](model)
    scale = np.abs(expected(model, rows)).max()
    assert np.allclose(values(model, rows), expected(model, rows), rtol=0, atol=1e-9 * scale)
    assert (model.certificate_.kind, model.certificate_.statement) == ("unproven", VOID)
    twin = copy.copy(model)
    if hasattr(model, "predict_one") and "wide" not in name:
        for row, label in zip(np.asarray(rows), model.predict(rows), strict=True):
            same = np.allclose if label.dtype.kind == "f" else np.array_equal
            assert same(twin.predict_one(row), label)
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), twin):
        assert np.array_equal(values(again, rows), values(model, rows))
        assert again.certificate_.statement == VOID


@pytest.mark.parametrize("name", [n for n in LINEAR if "wide" not in n])
def test_files_and_exports_hold_what_was_written(name):
    model = made(name)
    rows = rows_for(name, model)
    WAYS["assigned"](model)
    back = unpacked(packed(model))
    assert np.array_equal(values(back, rows), values(model, rows))
    assert np.array_equal(back.coef_, model.coef_)
    assert back.certificate_.statement == VOID
    assert packed(back) == packed(model)
    told = json.loads(export(model, to="json"))
    weights = [list(neuron["weights"].values()) for neuron in told["neurons"]]
    assert np.array_equal(np.array(weights), np.atleast_2d(model.coef_).astype(np.float64))
    assert told["certificate"]["kind"] == "unproven"


@pytest.mark.parametrize("name", LINEAR)
def test_writing_in_place_raises_and_changes_nothing(name):
    model = made(name)
    before, certificate = model.coef_.copy(), model.certificate_
    with pytest.raises(ValueError, match="read-only"):
        model.coef_[..., 0] = 0.75
    with pytest.raises(ValueError, match="read-only"):
        model.coef_ *= 0.5
    assert np.array_equal(model.coef_, before)
    assert model.certificate_ is certificate


@pytest.mark.parametrize("name", LINEAR)
def test_writing_the_same_numbers_changes_nothing(name):
    model = made(name)
    before = model.certificate_
    model.coef_ = model.coef_.copy()
    model.intercept_ = copy.copy(model.intercept_)
    assert model.certificate_ is before


@pytest.mark.parametrize("name", LINEAR)
def test_a_new_fit_takes_no_notice_of_what_was_written(name):
    rows = rows_for(name, made(name))
    targets = {"several": Y, "table": Y, "32": Y}
    model, other = made(name), made(name)
    known = getattr(model, "classes_", None)
    t = next((t for key, t in targets.items() if key in name), y)
    if known is not None:
        t = three if len(known) == 3 else two
        t = known[np.searchsorted(np.unique(t), t)]
    WAYS["assigned"](model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for each in (model, other):
            each.fit(rows, t[20:32])
    assert np.array_equal(model.coef_, other.coef_)
    assert model.certificate_.statement == other.certificate_.statement


@pytest.mark.parametrize("name", [n for n in LINEAR if "wide" not in n and "kept" not in n])
def test_a_stream_goes_on_from_what_was_written_or_says_that_it_cannot(name):
    model = made(name)
    if not hasattr(model, "partial_fit"):
        return
    rows = rows_for(name, model)
    t = {True: Y, False: y}[getattr(model, "_one_target", True) is False][20:32]
    if hasattr(model, "classes_"):
        t = model.classes_[np.arange(12) % len(model.classes_)]
    WAYS["assigned"](model)
    shown, before = model.coef_.copy(), copy.deepcopy(vars(model))
    if not hasattr(model, "learn_one"):
        with pytest.raises(ValueError, match="changed after the fit"):
            model.partial_fit(rows, t)
        assert vars(model).keys() == before.keys()
        return
    rows = np.zeros_like(rows)  # samples that tell the bias only: weights stay where they were
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.partial_fit(rows[:1], t[:1])
        model.learn_one(rows[1], t[1])
    assert model.certificate_.kind == "undecided"
    assert np.array_equal(model.coef_, shown)


def test_federated_averaging_of_streams_predicts_the_average():
    parts = [WidrowHoff().partial_fit(X[i::4], y[i::4]) for i in range(4)]
    mean = sum(part.coef_ for part in parts) / 4, sum(part.intercept_ for part in parts) / 4
    for part in parts:
        part.coef_, part.intercept_ = mean
        assert np.allclose(part.predict(X), X @ mean[0] + mean[1], rtol=1e-12)
    one, other = parts[0].learn_one(X[0], y[0]), parts[1].learn_one(X[0], y[0])
    assert one.coef_.shape == other.coef_.shape


def test_what_rests_on_the_learned_weights_is_refused():
    model = LeastSquares().fit(X, y)
    model.coef_ = 7.0 * model.coef_
    with pytest.raises(ValueError, match="standard errors"):
        model.summary()
    ridge = Ridge().fit(X, y)
    ridge.intercept_ = 0.0
    for ask in (ridge.posterior, lambda: ridge.predict(X, return_std=True)):
        with pytest.raises(ValueError, match="posterior"):
            ask()


def test_weights_of_another_shape_are_refused():
    model = LeastSquares().fit(X, y)
    before = model.certificate_
    with pytest.raises(ValueError, match=r"coef_ has shape \(4,\)"):
        model.coef_ = np.ones(4)
    with pytest.raises(ValueError, match="real"):
        model.coef_ = np.array(["a", "b", "c"])
    assert model.certificate_ is before


def test_dual_variables_cannot_be_written():
    model = KernelPerceptron(max_iter=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, two)
    with pytest.raises(ValueError, match="read-only"):
        model.dual_coef_[0, 0] = 9.0
    with pytest.raises(AttributeError, match="dual_coef_"):
        model.dual_coef_ = np.zeros((1, 3))
    linear = KernelPerceptron("linear").fit(X, X[:, 0] > 0)
    with pytest.raises(ValueError, match="read-only"):
        linear.coef_[0, 0] = 1.0


def test_written_discriminants_give_probabilities_and_distances_stay():
    model = GaussianClassifier().fit(X, two)
    distances = model.mahalanobis(X)
    model.coef_ = np.zeros((1, 3))
    model.intercept_ = np.array([np.log(3.0)])
    assert np.allclose(model.predict_proba(X), [0.25, 0.75])
    assert np.array_equal(model.mahalanobis(X), distances)
