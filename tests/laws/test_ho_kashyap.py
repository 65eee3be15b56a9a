"""Laws of Ho-Kashyap and of the largest margin: signs, units, order, storage, weights."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from adaline import HoKashyap, max_margin, separability

seeds = st.integers(0, 2**32 - 1)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def sample(seed, noise):
    rng = np.random.default_rng(seed)
    n, p = int(rng.integers(6, 40)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.8)
    v = X @ rng.standard_normal(p) + 0.3 + noise * rng.standard_normal(n)
    y = (v > np.median(v)).astype(int)
    return X, y, rng


def fitted(X, y, bias, **more):
    return HoKashyap(max_iter=200, fit_intercept=bias).fit(X, y, **more)


def assert_same(one, other, factor=1.0, order=slice(None)):
    """The same run, to rounding: one that stops elsewhere would differ in its first digits."""
    assert one.n_iter_ == other.n_iter_
    size = np.abs(one.coef_).max() + np.abs(one.intercept_).max()
    np.testing.assert_allclose(other.coef_ * factor, one.coef_, atol=1e-8 * size)
    np.testing.assert_allclose(other.margins_[order], one.margins_, rtol=1e-8)


any_data = given(seed=seeds, noise=st.sampled_from([0.0, 0.3, 1.0]), bias=st.booleans())


@settings(max_examples=25, deadline=None)
@any_data
def test_swapped_labels_flip_the_sign(seed, noise, bias):
    X, y, _ = sample(seed, noise)
    assert_same(fitted(X, y, bias), fitted(X, 1 - y, bias), -1.0)


@settings(max_examples=25, deadline=None)
@any_data
def test_units_of_the_features_do_not_matter(seed, noise, bias):
    X, y, rng = sample(seed, noise)
    units = 2.0 ** rng.integers(-60, 60, X.shape[1])
    one, other = fitted(X, y, bias), fitted(X * units, y, bias)
    assert one.n_iter_ == other.n_iter_
    np.testing.assert_allclose(other.margins_, one.margins_, rtol=1e-8)
    assert one.certificate_.kind == other.certificate_.kind


@settings(max_examples=25, deadline=None)
@any_data
def test_the_order_of_the_rows_does_not_matter(seed, noise, bias):
    X, y, rng = sample(seed, noise)
    order = rng.permutation(len(y))
    one, other = fitted(X, y, bias), fitted(X[order], y[order], bias)
    back = np.empty_like(order)
    back[order] = np.arange(len(y))
    assert_same(one, other, order=back)


@settings(max_examples=25, deadline=None)
@any_data
def test_dense_and_sparse_give_the_same_weights(seed, noise, bias):
    X, y, _ = sample(seed, noise)
    dense = fitted(X, y, bias)
    assert_same(dense, fitted(sparse.csr_array(X), y, bias))
    locked = np.asfortranarray(X)
    locked.flags.writeable = False
    before = locked.copy()
    assert_same(dense, fitted(locked, y, bias))
    assert np.array_equal(locked, before)


@settings(max_examples=25, deadline=None)
@any_data
def test_what_is_claimed_is_so_and_margins_never_fall(seed, noise, bias):
    X, y, _ = sample(seed, noise)
    model = fitted(X, y, bias)
    assert np.all(model.margins_ >= 1.0)
    if model.certificate_.kind != "undecided":
        assert model.certificate_.kind == separability(X, y, fit_intercept=bias).verdict
    if model.fit_.ends == ("separated",):
        assert model.certificate_.kind == "separable"
        assert model.score(X, y) == 1.0


def margin_or_none(X, y, bias):
    try:
        return max_margin(X, y, fit_intercept=bias)
    except ValueError:
        return None


@settings(max_examples=40, deadline=None)
@given(seed=seeds, bias=st.booleans())
def test_the_largest_margin_is_a_length(seed, bias):
    """Rotations, translations (with a bias), one scale for all, and order change nothing else."""
    X, y, rng = sample(seed, 0.0)
    found = margin_or_none(X, y, bias)
    Q, _ = np.linalg.qr(rng.standard_normal((X.shape[1],) * 2))
    scale, order = 10.0 ** rng.integers(-20, 20), rng.permutation(len(y))
    away = 10.0 * rng.standard_normal(X.shape[1]) * bias
    moved = margin_or_none(((X @ Q + away) * scale)[order], y[order], bias)
    if found is None or moved is None:
        assert found is moved is None or (found or moved).margin < 1e-9 * max(scale, 1.0)
        return
    assert moved.margin == pytest.approx(found.margin * scale, rel=1e-6, abs=1e-12 * scale)
    np.testing.assert_allclose(Q @ moved.w, found.w, atol=1e-12 / found.margin)


@settings(max_examples=40, deadline=None)
@given(seed=seeds, bias=st.booleans())
def test_no_other_learner_has_a_larger_margin(seed, bias):
    X, y, _ = sample(seed, 0.0)
    found = margin_or_none(X, y, bias)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = fitted(X, y, bias)
    if model.certificate_.kind != "separable":
        return
    t, v = np.where(y == 1, 1, -1), model.decision_function(X)
    other = (t * v).min() / np.linalg.norm(model.coef_)
    assert found is None or other <= found.upper * (1 + 1e-12)
    assert found is not None or other < 1e-9
