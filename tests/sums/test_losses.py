"""What every loss promises, and the certificates rest on, for every class in `sums/losses.py`."""

from __future__ import annotations

import inspect
from decimal import Decimal, localcontext

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

from adaline.sums import losses
from adaline.sums.objective import FUNCTIONS
from adaline.sums.scaled_rows import ScaledRows

UNIT = 2.0**-53
K = 3
FOUND = {
    name: loss()
    for name, loss in inspect.getmembers(losses, inspect.isclass)
    if loss.__module__ == losses.__name__ and hasattr(loss, "endless")
}
SINGLE = [name for name in FOUND if name != "Softmax"]


def log1p_exp(v):
    return max(v, Decimal(0)) + (1 + (-abs(v)).exp()).ln()


EXACT = {
    "Logistic": lambda v, t: log1p_exp(-t * v),
    "Softmax": lambda v, t: sum((a - v[t]).exp() for a in v).ln(),
    "Poisson": lambda v, t: v.exp() - t * v,
    "Gamma": lambda v, t: t * (-v).exp() + v,
}


def targets(name):
    """Of all sizes that the loss takes."""
    if name in ("Logistic", "Softmax"):
        return np.array([-1.0, 1.0]) if name == "Logistic" else np.arange(K)
    t = np.array([0.0, 1e-300, 1e-9, 0.5, 1.0, 7.0, 1e6, 1e200])
    return t[~FOUND[name].bad(t)]


def pairs(name, far=600.0):
    """Values and targets, each with each."""
    sizes = np.array([0.0, 1e-12, 1e-3, 0.7, 3.0, 20.0, 36.0, 200.0, far])
    v, t = np.meshgrid(np.concatenate([-sizes[:0:-1], sizes]), targets(name))
    fits = np.abs(v) + np.abs(np.log(np.abs(t) + (t == 0))) < 690.0  # else products overflow
    return v[fits], t[fits]


def exactly(name, v, t):
    """Value, slope and curvature in decimals: differences of 1e-60 in 500 digits."""
    f, h, v, t = EXACT[name], Decimal("1e-60"), Decimal(float(v)), Decimal(float(t))
    low, mid, high = f(v - h, t), f(v, t), f(v + h, t)
    return mid, (high - low) / (2 * h), (high - 2 * mid + low) / (h * h)


def test_every_loss_is_checked_here():
    assert set(FOUND) == set(EXACT)


@pytest.mark.parametrize("name", SINGLE)
def test_value_slope_and_curvature_are_those_of_decimals(name):
    v, t = pairs(name)
    parts = FOUND[name].parts(v, t)
    with localcontext() as context:
        context.prec = 500
        for i in range(len(v)):
            value, slope, curvature = exactly(name, v[i], t[i])
            few = Decimal(FUNCTIONS * UNIT)
            terms = Decimal(float(parts.terms[i]))
            # Of a value, whose terms may be as large as target times value.
            size = abs(value) + abs(Decimal(float(t[i]) * float(v[i])))
            assert abs(Decimal(float(parts.value[i])) - value) <= few * size + few
            assert abs(Decimal(float(parts.slope[i])) - slope) <= few * terms + Decimal("1e-300")
            tiny = Decimal("1e-300")  # of numbers below it, digits are lost
            assert abs(Decimal(float(parts.curvature[i])) - curvature) <= few * curvature + tiny


@pytest.mark.parametrize("name", SINGLE)
@pytest.mark.parametrize("s", [1e-3, 0.1, 1.0, 5.0, 60.0])
def test_curvatures_change_by_at_most_the_exponential_of_the_move(name, s):
    v, t = pairs(name, 300.0)
    v, t = v[v > -200.0], t[v > -200.0]  # v + s and exponentials stay in range
    loss = FOUND[name]
    here, there = loss.parts(v, t).curvature, loss.parts(v + s, t).curvature
    slack = 1 + 1e-12 + 4 * UNIT * np.abs(v)  # v + s is rounded
    assert np.all(there <= here * np.exp(s) * slack)
    assert np.all(here <= there * np.exp(s) * slack)


def softmax_parts(V, codes):
    """Of values in rows (n, K), with slopes and probabilities in rows, too."""
    parts = FOUND["Softmax"].parts(V.T, codes)
    return parts._replace(slope=parts.slope.T, curvature=parts.curvature.T)


def softmax_rows(rng, n=400):
    V = rng.standard_normal((n, K)) * 10.0 ** rng.uniform(-3, 1.5, (n, 1))
    return V, rng.integers(0, K, n)


def test_softmax_is_that_of_decimals(rng):
    V, codes = softmax_rows(rng, 60)
    parts, few = softmax_parts(V, codes), Decimal(FUNCTIONS * UNIT)
    with localcontext() as context:
        context.prec = 200
        for i, code in enumerate(codes):
            v = [Decimal(float(a)) for a in V[i]]
            value, total = EXACT["Softmax"](v, code), sum(a.exp() for a in v)
            spread = max(v) - min(v)
            assert abs(Decimal(float(parts.value[i])) - value) <= few * (value + spread + 1)
            for k in range(K):
                p = v[k].exp() / total
                off = few * (1 + spread)
                assert abs(Decimal(float(parts.curvature[i, k])) - p) <= off * p
                assert abs(Decimal(float(parts.slope[i, k])) - (p - (k == code))) <= few * (
                    1 + spread
                ) * Decimal(float(parts.terms[i]))


def test_softmax_curvature_changes_by_at_most_the_exponential_of_the_range(rng):
    """The range, not the largest change: the latter is exceeded, so that the test has teeth."""
    V, codes = softmax_rows(rng, 3000)
    U = rng.standard_normal((3000, K)) * rng.uniform(0.1, 4.0, (3000, 1))
    D = rng.standard_normal((3000, K))
    before, after = (softmax_parts(W, codes).curvature for W in (V, V + U))

    def along(P):
        mean = np.einsum("ij,ij->i", P, D)
        return np.einsum("ij,ij->i", P, (D - mean[:, None]) ** 2)

    ratio = np.log(along(after) / along(before))
    spread = np.ptp(U, axis=1)
    assert np.all(np.abs(ratio) <= spread + 1e-9)
    largest = np.abs(U - U.mean(axis=1, keepdims=True)).max(axis=1)
    assert np.any(np.abs(ratio) > largest + 1e-3)


def rows_of(rng, name, intercept, n=40):
    t = targets(name)[:5]
    y = (
        t[rng.integers(0, len(t), n)]
        if name in ("Logistic", "Softmax")
        else rng.poisson(2.0, n) + 1.0
    )
    omega = rng.uniform(0.5, 3.0, n)
    offset = rng.standard_normal(n) if isinstance(FOUND[name], losses.LogLink) else np.empty(0)
    return ScaledRows.choose(rng.standard_normal((n, 2)), y, omega, offset, intercept=intercept)


def loss_of(name, rows, b):
    """Sum of the losses at the values b + offset; b is (K,) or a number."""
    offset = rows.offset if len(rows.offset) else np.zeros(rows.n)
    v = offset + b if np.ndim(b) == 0 else np.tile(b[:, None], rows.n)
    return float(rows.weights @ FOUND[name].parts(v, rows.Y).value)


@pytest.mark.parametrize("name", SINGLE)
def test_the_fit_without_features_is_the_best_constant_or_zero(rng, name):
    rows = rows_of(rng, name, True)
    best = minimize_scalar(lambda b: loss_of(name, rows, b), (-1, 1), tol=1e-12).fun
    assert FOUND[name].null(rows, 1) == pytest.approx(best, rel=1e-9)
    bare = rows_of(rng, name, False)
    assert FOUND[name].null(bare, 1) == pytest.approx(loss_of(name, bare, 0.0), rel=1e-12)
