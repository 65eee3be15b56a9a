"""A perceptron gives up where its own corrections leave no margin, and never before."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from adaline import Constant, OverK, Perceptron, trace
from adaline.procedures.margin_limit import MarginLimit
from adaline.procedures.margin_limit import longest_sample as _longest
from adaline.procedures.sequential import sequential


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
def test_no_margin_that_there_is_is_ever_called_impossible(seed, p, eta, intercept, shuffle):
    margin = 0.01
    X, y = separated(seed, 60, p, margin, intercept)
    if len(np.unique(y)) < 2:
        return
    model = Perceptron(eta, fit_intercept=intercept)
    rows, Y, omega = model._observe(X, y, None, None, reset=True)
    state = model._state
    assert MarginLimit.serves(state, omega)
    limit, rng = MarginLimit(state, rows), np.random.default_rng(0) if shuffle else None
    for _ in sequential.steps(state, rows, Y, omega, max_iter=50, tol=0.0, rng=rng):
        assert limit.relative() >= margin


@given(seed=st.integers(0, 10**6))
def test_the_limit_of_three_classes_is_one_of_keslers_samples(seed):
    rng = np.random.default_rng(seed)
    X, U = rng.standard_normal((200, 3)), rng.standard_normal((3, 4))
    U /= np.linalg.norm(U)
    V = X @ U[:, :3].T + U[:, 3]
    first, second = np.sort(V, axis=1)[:, :0:-1].T
    margin = 0.02 * np.sqrt((X**2).sum(axis=1).max() + 1.0)
    keep = first - second >= margin
    X, y = X[keep], V[keep].argmax(axis=1)
    if len(np.unique(y)) < 3:
        return
    model = Perceptron()
    rows, Y, omega = model._observe(X, y, None, None, reset=True)
    limit = MarginLimit(model._state, rows)
    for _ in sequential.steps(model._state, rows, Y, omega, max_iter=50, tol=0.0):
        assert limit.relative() * limit.longest >= margin


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


def test_classes_with_a_wider_margin_than_tol_are_always_separated():
    for seed in range(20):
        X, y = separated(seed, 200, 3, 2e-3)
        assert Perceptron(max_iter=10**5).fit(X, y).certificate_.kind == "separable"


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


def test_what_is_traced_ends_where_the_fit_ends(rng):
    X, y = overlapping(rng, n=60)
    model = quiet(Perceptron(), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        table = trace(Perceptron(), X, y)
    assert np.array_equal(table.W_kept[-1], model.fit_.W)
    assert "tol=0.001" in model.fit_.stopped


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


def test_a_start_far_away_counts_only_what_was_learned_since(rng):
    X, y = overlapping(rng)
    model = quiet(Perceptron(), X, y, coef_init=np.full(4, 1e6))
    assert model.n_iter_ > 5  # it walks back first, which lengthens (w, b) - start


@pytest.mark.parametrize("far", [1e12, -1e12, 1e18, -1e18, 1e40, -1e40])
def test_a_start_beside_which_corrections_are_rounded_away_proves_nothing(far):
    X, y = separated(3, 200, 2, 1e-2, intercept=False)
    model = Perceptron(fit_intercept=False)
    rows, Y, omega = model._observe(X, y, None, None, reset=True)
    model._state.last[:, :2] = [[far, -far]]
    limit = MarginLimit(model._state, rows)
    for _ in sequential.steps(model._state, rows, Y, omega, max_iter=50, tol=0.0):
        assert limit.relative() >= 1e-2


@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_longest_row_is_the_same_dense_and_sparse(rng, kind):
    X = np.where(rng.uniform(size=(5000, 6)) < 0.3, rng.standard_normal((5000, 6)), 0.0)
    X = X.astype(kind)
    X[::7] = 0.0
    X[-3:] = 0.0
    truth = np.sqrt((X.astype(np.float64) ** 2).sum(axis=1).max() + 1.0)
    assert _longest(X, 1.0) == pytest.approx(truth)
    assert _longest(sparse.csr_array(X), 1.0) == pytest.approx(truth)
    assert _longest(sparse.csr_array((4, 3)), 1.0) == 1.0


@pytest.mark.parametrize("size", [1e-300, 1e-170, 1e-150, 1e-100, 1e100, 1e150, 1e170, 1e300])
@pytest.mark.parametrize("eta", [1e-300, 1.0, 1e200])
def test_separable_classes_of_any_size_are_not_given_up(size, eta):
    X, y = separated(3, 200, 2, 1e-2, intercept=False)
    model = Perceptron(fit_intercept=False)
    rows, Y, omega = model._observe(X * size, y, None, None, reset=True)
    model._state.head[3] = eta  # the rate, as kernels read it
    limit = MarginLimit(model._state, rows)
    limit.eta = eta
    with np.errstate(all="ignore"):
        for _ in sequential.steps(model._state, rows, Y, omega, max_iter=30, tol=0.0):
            assert not limit.relative() < 1e-2


def test_units_of_the_step_do_not_matter(rng):
    X, y = overlapping(rng)
    passes = [quiet(Perceptron(Constant(eta)), X, y).n_iter_ for eta in (2.0**-30, 1.0, 2.0**40)]
    assert passes[0] == passes[1] == passes[2]
