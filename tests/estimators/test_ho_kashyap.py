"""`HoKashyap`: starts, margins, weights, K classes, and what it says when it ends."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from adaline import (
    HoKashyap,
    KernelPerceptron,
    LeastSquares,
    LeastSquaresClassifier,
    Perceptron,
    separability,
    trace,
)
from reference_ho_kashyap import ho_kashyap as twin


@pytest.fixture
def separable(rng):
    X = rng.standard_normal((40, 3))
    v = X @ [1.0, -2.0, 0.5] + 0.3
    return X + 0.1 * np.sign(v)[:, None] * [1.0, -2.0, 0.5], np.where(v > 0, "b", "a")


@pytest.fixture
def overlapping(rng):
    X, y = rng.standard_normal((60, 2)), np.arange(60) % 2
    return X + 0.5 * y[:, None], y


def test_separable_classes_are_separated_and_that_is_proven(separable):
    X, y = separable
    model = HoKashyap().fit(X, y)
    assert model.certificate_.kind == "separable"
    assert model.score(X, y) == 1.0
    assert model.fit_.ends == ("separated",)
    k, a, b, _, _ = twin(X, np.where(y == "b", 1, -1))
    assert model.n_iter_ == k
    np.testing.assert_allclose([*model.intercept_, *model.coef_[0]], a, rtol=1e-8)
    np.testing.assert_allclose(model.margins_, b, rtol=1e-8)


def test_the_first_weights_are_those_of_minimum_squared_error(overlapping):
    X, y = overlapping
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = HoKashyap(max_iter=1).fit(X, y)
    want = LeastSquaresClassifier().fit(X, y)
    np.testing.assert_allclose(first.coef_, want.coef_, rtol=1e-10)
    margins = np.linspace(0.5, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = HoKashyap(max_iter=1).fit(X, y, margins=margins)
    want = LeastSquaresClassifier().fit(X, y, margins=margins)
    np.testing.assert_allclose(first.coef_, want.coef_, rtol=1e-10)
    assert np.array_equal(first.margins_, margins)


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
    assert "no hyperplane has them all on its right side" in model.certificate_.statement


def test_without_a_bias_one_class_can_be_in_its_own_way():
    X, y = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [2.0, 1.0]]), np.array([0, 0, 1, 1])
    for form in (X, sparse.csr_matrix(X), X.astype(np.float32)):
        model = HoKashyap(fit_intercept=False).fit(form, y)
        assert model.certificate_.kind == "quasi-separable"
        assert model.certificate_.evidence["rows"].tolist() == [0, 1]
        assert sum_of(X, y, model) == [0, 0, 0]


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


def test_running_out_of_iterations_is_told_and_claims_nothing():
    X, y = [[6, 9], [5, 7], [5, 9], [0, 10]], [1, 1, -1, -1]
    with pytest.warns(ConvergenceWarning, match=r"max_iter=2 iterations are done.*separability"):
        model = HoKashyap(max_iter=2).fit(X, y)
    assert model.certificate_.kind == "undecided"
    assert "separability is undecided" in model.certificate_.statement
    assert (model.n_iter_, model.fit_.ends) == (2, ("iterations",))


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
    assert model.fit_.stopped.startswith("0: every sample is on its right side")
    assert model.certificate_.kind in ("separable", "undecided")
    if model.fit_.ends[3] == "balanced":
        assert "no hyperplane separates 3 from the rest" in model.certificate_.statement


def test_starts_may_be_given_in_scikit_learn_s_shapes(separable):
    X, y = separable
    want = HoKashyap().fit(X, y, coef_init=[1, 2, 3], intercept_init=0.5)
    same = HoKashyap().fit(X, y, coef_init=[[1, 2, 3]], intercept_init=[0.5])
    assert np.array_equal(want.coef_, same.coef_)
    k, a, _, _, _ = twin(X, np.where(y == "b", 1, -1), [0.5, 1, 2, 3])
    assert want.n_iter_ == k
    np.testing.assert_allclose(want.coef_[0], a[1:], rtol=1e-7)
    good = Perceptron(max_iter=5000).fit(X, y)
    at_once = HoKashyap().fit(X, y, coef_init=good.coef_, intercept_init=good.intercept_)
    assert at_once.n_iter_ == 1
    assert np.array_equal(at_once.coef_, good.coef_)
    for wrong in ({"coef_init": [1, 2]}, {"intercept_init": [1, 2]}, {"coef_init": [1, 2, np.nan]}):
        with pytest.raises(ValueError, match="finite numbers"):
            HoKashyap().fit(X, y, **wrong)
    with pytest.raises(ValueError, match="fit_intercept is False"):
        HoKashyap(fit_intercept=False).fit(X, y, intercept_init=1)


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


def test_dependent_columns_get_the_shortest_weights(separable):
    X, y = separable
    X = np.column_stack([X, X[:, 0] - 2 * X[:, 1], np.full(len(X), 7.0)])
    model = HoKashyap().fit(X, y)
    assert model.certificate_.kind == "separable"
    target = np.where(y == "b", 1, -1) * model.margins_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        want = LeastSquares().fit(X, target)
    np.testing.assert_allclose(model.coef_[0], want.coef_, atol=1e-9)


def test_more_columns_than_rows_are_separated_at_once(rng):
    X, y = rng.standard_normal((10, 50)), np.arange(10) % 2
    for form in (X, sparse.csr_matrix(X)):
        model = HoKashyap().fit(form, y)
        assert (model.n_iter_, model.certificate_.kind) == (1, "separable")


@pytest.mark.parametrize("scale", [1e-200, 1e-100, 1e100, 1e200])
def test_any_scale_will_do(separable, scale):
    X, y = separable
    model, want = HoKashyap().fit(X * scale, y), HoKashyap().fit(X, y)
    assert model.n_iter_ == want.n_iter_
    np.testing.assert_allclose(model.coef_ * scale, want.coef_, rtol=1e-9)


def test_offsets_cost_nothing(rng):
    X = rng.integers(-40, 40, (50, 2)) * 2.0**-6
    y = (X @ [1, 2] > 0.1).astype(int)
    near, far = HoKashyap().fit(X, y), HoKashyap().fit(X + 2.0**27, y)
    assert near.n_iter_ == far.n_iter_
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-8)
    assert far.certificate_.kind == "separable"


def test_float32_stays_float32(separable):
    X, y = separable
    model = HoKashyap().fit(X.astype(np.float32), y)
    assert model.coef_.dtype == model.decision_function(X.astype(np.float32)).dtype == np.float32
    assert model.fit_.W.dtype == np.float64


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


def test_the_trace_prints_and_tabulates():
    table = trace(HoKashyap(), [[0.0], [1.0], [3.0]], [0, 0, 1])
    head = ["k", "a0", "a1", "b1", "b2", "b3", "e1", "e2", "e3", "min", "Ya"]
    assert str(table).splitlines()[0].split() == head
    assert list(table.to_frame()["k"]) == list(range(1, len(table) + 1))
    three = trace(HoKashyap(), [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 2])
    assert list(three.to_frame())[:2] == ["class", "k"]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"eta": 0.0}, "0 < eta < 1"),
        ({"eta": 1.0}, "0 < eta < 1"),
        ({"eta": np.nan}, "0 < eta < 1"),
        ({"max_iter": 0}, "max_iter is 0"),
        ({"max_iter": 2.5}, "max_iter is 2.5"),
        ({"tol": -1.0}, "tol is"),
        ({"tol": 1.0}, "tol is"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(separable, parameters, words):
    with pytest.raises(ValueError, match=words):
        HoKashyap(**parameters).fit(*separable)


@pytest.mark.parametrize(
    ("margins", "words"),
    [
        (np.ones(3), r"expected \(40,\)"),
        (np.zeros(40), "margins must be positive"),
        (np.full(40, np.nan), "margins contains NaN"),
    ],
)
def test_margins_that_make_no_sense_are_refused(separable, margins, words):
    with pytest.raises(ValueError, match=words):
        HoKashyap().fit(*separable, margins=margins)


def test_weights_that_no_float64_can_be_are_refused():
    with pytest.raises(ValueError, match="weights leave the range of float64"):
        HoKashyap().fit([[5e-324], [1e-323], [0.0]], [0, 1, 0])


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("value", [0.0, 7.0])
def test_samples_that_are_all_the_same_cannot_be_told_apart(bias, value):
    for X in (np.full((4, 2), value), sparse.csr_matrix(np.full((4, 2), value))):
        model = HoKashyap(fit_intercept=bias).fit(X, [0, 1, 0, 1])
        assert model.certificate_.kind == "overlapping"
        assert np.all(model.coef_ == 0)
