"""`HoKashyap`: starts, margins, weights, K classes, and what it says when it ends."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from adaline import (
    HoKashyap,
    KernelPerceptron,
    Perceptron,
    separability,
    trace,
)


@pytest.fixture
def separable(rng):
    X = rng.standard_normal((40, 3))
    v = X @ [1.0, -2.0, 0.5] + 0.3
    return X + 0.1 * np.sign(v)[:, None] * [1.0, -2.0, 0.5], np.where(v > 0, "b", "a")


@pytest.fixture
def overlapping(rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    return X + 0.5 * y[:, None], y


def test_on_overlapping_classes_corrections_end_and_errors_balance(overlapping):
    X, y = overlapping
    model = HoKashyap(max_iter=20_000).fit(X, y)
    assert model.fit_.ends == ("balanced",)
    assert "no positive component" in model.fit_.stopped
    e = model.fit_.errors[0]
    Y = np.where(y == 1, 1, -1)[:, None] * np.column_stack([np.ones(60), X])
    np.testing.assert_allclose(Y.T @ e, 0, atol=1e-9)
    assert e.max() <= 1e-6 * -e.min()
    assert model.certificate_.kind == "overlapping"
    assert sum_of(X, y, model) == [0, 0, 0]


def sum_of(X, y, model):
    """sum of multipliers times t (1, x), exactly."""
    rows, multipliers = (model.certificate_.evidence[k] for k in ("rows", "multipliers"))
    assert min(multipliers) > 0
    total = [Fraction(0)] * (1 + X.shape[1])
    for i, m in zip(rows, multipliers, strict=True):
        sign = 1 if y[i] == model.classes_[1] else -1
        first = Fraction(int(model.fit_intercept))
        for j, v in enumerate([first, *(Fraction(float(x)) for x in X[i])]):
            total[j] += sign * m * v
    return total


def test_classes_that_touch_are_told_from_classes_that_overlap():
    X, y = np.array([[0.0, 1.0], [1.0, 0.5], [1.0, 0.5], [2.0, 3.0]]), np.array([0, 0, 1, 1])
    model = HoKashyap().fit(X, y)
    assert model.certificate_.kind == "quasi-separable"
    assert sum_of(X, y, model) == [0, 0, 0]
    assert "no hyperplane separates them" in model.certificate_.statement


def test_rows_of_the_proof_are_those_of_the_data_that_came(overlapping):
    X, y = overlapping
    weight = np.ones(60)
    weight[:20] = 0.0
    model = HoKashyap(max_iter=20_000).fit(X, y, sample_weight=weight)
    assert model.certificate_.kind == "overlapping"
    assert model.certificate_.evidence["rows"].min() >= 20
    assert sum_of(X, y, model) == [0, 0, 0]


def test_errors_that_balance_only_to_rounding_prove_nothing():
    """The hulls are 1e-12 apart: one iteration may see a balance there, integers do not."""
    X = np.array([[0.0, 1.0], [1.0, 0.0], [0.5 + 1e-12, 0.5 + 1e-12], [3.0, 3.0], [0.0, 0.0]])
    y = np.array([0, 0, 1, 1, 0])
    assert separability(X, y).verdict == "separable"
    for iterations in (10, 1000, 50_000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = HoKashyap(max_iter=iterations, tol=1e-3).fit(X, y)
        assert model.certificate_.kind in ("separable", "undecided")


def test_classes_by_one_against_the_rest(rng):
    centres = np.array([[0.0, 6.0], [6.0, 0.0], [-6.0, -3.0], [0.0, 0.0]])
    codes = np.arange(80) % 3
    X = centres[codes] + 0.5 * rng.standard_normal((80, 2))
    model = HoKashyap().fit(X, codes)
    assert model.coef_.shape == (3, 2)
    assert model.margins_.shape == (80, 3)
    assert model.certificate_.kind == "separable"
    assert model.score(X, codes) == 1.0
    for k in range(3):
        alone = HoKashyap().fit(X, codes == k)
        np.testing.assert_allclose(alone.coef_[0], model.coef_[k], rtol=1e-9)
        assert model.fit_.iterations[k] == alone.n_iter_
    codes = np.arange(80) % 4  # the last is in the middle of the others
    X = centres[codes] + 0.5 * rng.standard_normal((80, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = HoKashyap().fit(X, codes)
    assert model.fit_.ends[3] != "separated"
    assert model.fit_.stopped.startswith("0: every sample is classified correctly")
    assert model.certificate_.kind in ("separable", "undecided")
    if model.fit_.ends[3] == "balanced":
        assert "no hyperplane separates 3 from the rest" in model.certificate_.statement


def test_weights_count_rows_and_zeros_leave_them_out(overlapping, rng):
    X, y = overlapping
    weight = rng.integers(0, 4, 60)
    repeated = np.repeat(np.arange(60), weight)
    model = HoKashyap(max_iter=20_000).fit(X, y, sample_weight=weight)
    many = HoKashyap(max_iter=20_000).fit(X[repeated], y[repeated])
    assert model.n_iter_ == many.n_iter_
    np.testing.assert_allclose(model.coef_, many.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.margins_[repeated], many.margins_, rtol=1e-7)
    assert np.all(model.margins_[weight == 0] == 1.0)
    with pytest.raises(ValueError, match="one class"):
        HoKashyap().fit(X, y, sample_weight=y)


def test_the_trace_ends_where_fit_ends(separable, overlapping, rng):
    three = rng.standard_normal((30, 2)), np.arange(30) % 3
    for X, y in (separable, overlapping, three):
        model = HoKashyap(max_iter=50)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            table, fitted = trace(model, X, y), model.fit(X, y)
        assert model._look is None
        for k in range(len(fitted.fit_.W)):
            mine = np.flatnonzero(table.extra["class"] == k)
            assert table.passes[mine].tolist() == list(range(1, len(mine) + 1))
            assert table.b_after[mine[-1], k] == fitted.fit_.b[k]
            assert np.array_equal(table.W_after[mine[-1], k], fitted.fit_.W[k])
            assert np.array_equal(table.extra["b"][mine[-1]], fitted.fit_.margins[k])
            assert np.array_equal(table.extra["e"][mine[-1]], fitted.fit_.errors[k])
        assert table.fit.stopped == fitted.fit_.stopped


def test_a_trace_begins_where_it_is_told_or_says_that_it_cannot(separable):
    X, y = separable
    start = {"coef_init": [[1.0, 2.0, 3.0]], "intercept_init": [0.5]}
    first = trace(HoKashyap(), X, y, **start)
    assert [*first.b_after[0], *first.W_after[0, 0]] == [0.5, 1.0, 2.0, 3.0]
    assert trace(Perceptron(), X, y, **start).W_before[0].tolist() == [[1.0, 2.0, 3.0]]
    with pytest.raises(TypeError, match="KernelPerceptron has no coef_init"):
        trace(KernelPerceptron(), X, y, coef_init=[1.0, 2.0, 3.0])
