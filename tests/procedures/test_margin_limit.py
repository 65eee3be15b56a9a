"""A perceptron gives up where its own corrections leave no margin, and never before."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

from adaline import OverK, Perceptron


def separated(seed, n, p, margin, intercept=True):
    """Rows (x, 1) with t (u'x + u0) >= margin times the longest, for a (u, u0) of length one."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20 * n, p)) + rng.standard_normal(p)
    u = rng.standard_normal(p + 1) * np.append(np.ones(p), float(intercept))
    u /= np.linalg.norm(u)
    v = X @ u[:-1] + u[-1]
    longest = np.sqrt((X**2).sum(axis=1).max() + intercept)
    keep = np.flatnonzero(np.abs(v) >= margin * longest)[:n]
    return X[keep], (v[keep] > 0).astype(int)


def overlapping(rng, n=300, p=4, K=2):
    X = rng.standard_normal((n, p))
    return X, (X @ rng.standard_normal((p, K)) + rng.gumbel(size=(n, K))).argmax(axis=1)


def quiet(model, X, y, **given):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **given)


@given(
    seed=st.integers(0, 10**6),
    p=st.integers(1, 5),
    eta=st.sampled_from([1.0, 0.01, 30.0, "absolute"]),
    intercept=st.booleans(),
    shuffle=st.booleans(),
)
def test_no_margin_that_there_is_is_ever_given_up(seed, p, eta, intercept, shuffle):
    X, y = separated(seed, 60, p, 0.01, intercept)
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(eta, tol=0.01, fit_intercept=intercept, shuffle=shuffle, max_iter=10**5)
    assert quiet(model, X, y).certificate_.kind == "separable"


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("K", [2, 3])
def test_overlapping_classes_are_given_up_and_it_is_said_why(seed, K):
    X, y = overlapping(np.random.default_rng(seed), K=K)
    with pytest.warns(ConvergenceWarning, match=r"tol=0.001 times the longest \(x, 1\)"):
        model = Perceptron().fit(X, y)
    assert 5 <= model.n_iter_ < 200
    assert model.certificate_.kind == "undecided"
    longer = quiet(Perceptron(tol=0.0, max_iter=model.n_iter_), X, y)
    assert np.array_equal(model.coef_, longer.coef_)  # it has only ended sooner
    assert quiet(Perceptron(tol=0.0), X, y).n_iter_ == 1000


def test_what_a_thousand_passes_separate_is_not_given_up():
    rng, separable = np.random.default_rng(5), 0
    for _ in range(40):
        n, p, margin = rng.integers(30, 1000), rng.integers(2, 12), 10.0 ** rng.uniform(-4.5, -1.5)
        X = rng.standard_normal((3 * n, p)) * 10.0 ** rng.uniform(-1, 1, p)
        X += rng.standard_normal(p) * rng.choice([0.0, 1.0, 3.0])
        u = rng.standard_normal(p)
        v = X @ u - np.median(X @ u)
        longest = np.sqrt((X**2).sum(axis=1).max() + 1.0) * np.linalg.norm(u)
        keep = np.flatnonzero(np.abs(v) > margin * longest)[:n]
        X, y = X[keep], v[keep] > 0
        if quiet(Perceptron(tol=0.0), X, y).certificate_.kind == "separable":
            separable += 1
            assert Perceptron().fit(X, y).certificate_.kind == "separable"
    assert separable > 25


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ({"keep": "average"}, None),
        ({"keep": "pocket"}, None),
        ({"mode": "batch"}, None),
        ({"eta": OverK(1.0)}, None),
        ({"multiclass": "ovr"}, None),
        ({}, np.full(120, 2.0)),
    ],
)
def test_where_the_theorem_does_not_speak_passes_go_on(rng, given, weights):
    X, y = overlapping(rng, n=120, K=3 if "multiclass" in given else 2)
    model = quiet(Perceptron(max_iter=60, **given), X, y, sample_weight=weights)
    assert model.n_iter_ == 60
