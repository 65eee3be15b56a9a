"""A certificate speaks of coef_ and intercept_ as delivered, in float32 too: checked in fractions.

"exact" is correctly rounded, and "accurate" to the digits that it says.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import adaline
from adaline import LeastSquares, LogisticRegression, Perceptron, Ridge
from adaline.certificates.digits import half_steps
from reference_claims import digits_hold, separation_holds


def quietly(do, *args, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return do(*args, **more)


def problem(rng, dtype):
    p = int(rng.integers(1, 4))
    n = int(rng.integers(p + 2, 12))
    X = (rng.standard_normal((n, p)) * 10.0 ** rng.integers(-4, 4, p)).astype(dtype)
    y = rng.standard_normal(n) * 10.0 ** rng.integers(-3, 3)
    if rng.integers(3) == 0:  # whole weights, some of them zero
        y = X.astype(np.float64) @ rng.integers(-2, 3, p)
    return X, y


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_exact_is_correctly_rounded_and_bounds_hold_for_what_is_delivered(dtype, seed):
    rng = np.random.default_rng(seed)
    kinds = set()
    for _ in range(15):
        X, y = problem(rng, dtype)
        intercept, ridge = bool(rng.integers(2)), float(rng.choice([0.0, 0.5]))
        model = Ridge(ridge, fit_intercept=intercept) if ridge else LeastSquares(intercept)
        learn = model.partial_fit if rng.integers(3) == 0 else model.fit
        quietly(learn, X, y)
        kinds.add(model.certificate_.kind)
        shown = [*model.coef_, *([model.intercept_] if intercept else [])]
        assert all(number.dtype == dtype for number in shown)
        assert digits_hold(model, X, y, None, intercept, ridge) is not False
    assert {"exact", "accurate"} <= kinds


@pytest.mark.parametrize("scale", [1e-30, 1e30, 1e200])
def test_weights_that_float32_cannot_hold_are_not_certified(scale):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((20, 2)).astype(np.float32)
    X[:, 0] = X[:, 0] * np.float32(1e-20)
    model = quietly(LeastSquares().fit, X, scale * rng.standard_normal(20))
    if not np.isfinite(model.coef_).all():
        assert model.certificate_.kind == "unproven"
    else:
        assert scale < 1e20


def test_weights_that_float64_cannot_hold_are_not_certified():
    X = np.array([[1e-300], [2e-300], [4e-300]])
    model = quietly(LeastSquares().fit, X, [1e300, 2e300, 5e300])
    assert not np.isfinite(model.coef_).all()
    assert model.certificate_.kind == "unproven"


@pytest.mark.parametrize("classes", [2, 3])
def test_the_distance_of_logistic_weights_is_that_of_the_float32_ones(classes):
    rng = np.random.default_rng(classes)
    X = rng.standard_normal((60, 3)).astype(np.float32)
    y = (X @ rng.standard_normal((3, classes)) + rng.gumbel(size=(60, classes))).argmax(axis=1)
    single = LogisticRegression().fit(X, y)
    double = LogisticRegression(tol=1e-12).fit(X.astype(np.float64), y)
    off = np.linalg.norm(single.coef_.astype(np.float64) - double.coef_)
    evidence, known = single.certificate_.evidence, double.certificate_.evidence
    assert single.certificate_.kind == "optimal"
    assert off <= evidence["distance_bound"] + known["distance_bound"]
    assert off > known["distance_bound"]  # rounding is what one sees
    each = np.abs(single.coef_.astype(np.float64) - double.coef_)
    assert np.all(each <= evidence["coef_bound"] + known["coef_bound"])
    bias = np.abs(single.intercept_.astype(np.float64) - double.intercept_)
    assert np.all(bias <= evidence["intercept_bound"] + known["intercept_bound"])


@pytest.mark.parametrize("name", ["Perceptron", "HoKashyap", "LeastSquaresClassifier", "Adaline"])
def test_what_separates_is_the_float32_hyperplane(name):
    rng = np.random.default_rng(0)
    claims = 0
    for gap in [1e-6] * 20 + [0.3] * 20:  # two points that a rounded weight may confuse, or not
        X = rng.standard_normal((8, 2)).astype(np.float32)
        X[0] = X[1] + np.float32(gap)
        y = np.arange(8) % 2 if gap < 0.1 else (X[:, 0] > X[:2, 0].mean()).astype(int)
        if len(set(y.tolist())) < 2:
            continue
        model = quietly(getattr(adaline, name)().fit, X, y)
        if model.certificate_.kind == "separable":
            claims += 1
            assert separation_holds(model, X, y, np.ones(len(y)))
    assert claims > 0


def test_predictions_use_the_float32_weights_that_are_shown(rng):
    X = rng.standard_normal((50, 3)).astype(np.float32)
    rows = rng.standard_normal((5, 3))
    y = X[:, 0] > 0
    for model in (LeastSquares().fit(X, X[:, 0]), Ridge().fit(X, X[:, 0])):
        expected = rows @ model.coef_.astype(np.float64) + np.float64(model.intercept_)
        assert np.array_equal(model.predict(rows), expected)
    for learner in (Perceptron(), LogisticRegression()):
        model = quietly(learner.fit, X, y)
        expected = rows @ model.coef_[0].astype(np.float64) + np.float64(model.intercept_[0])
        assert np.allclose(model.decision_function(rows), expected, rtol=1e-14)


def test_half_a_step_is_the_smaller_one_at_powers_of_two():
    assert half_steps(np.array([1.0, 1.5, 0.0]))[:2].tolist() == [2.0**-54, 2.0**-53]
    assert half_steps(np.array([0.0, 5e-324])).tolist() == [0.0, 0.0]
    assert half_steps(np.array([1.5], dtype=np.float32)).tolist() == [2.0**-24]
