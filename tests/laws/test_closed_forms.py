"""Laws that every learner with a closed form obeys, on any data.

Predictions are compared, not coefficients: they exist for every learner and every rank.
Tolerances are relative to the size of what is predicted.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.base import clone, is_classifier

from adaline import GaussianClassifier, LeastSquares, LeastSquaresClassifier, Ridge

LEARNERS = [
    LeastSquares(),
    LeastSquares(fit_intercept=False),
    Ridge(alpha=0.5),
    Ridge(alpha="gcv"),
    LeastSquaresClassifier(),
    GaussianClassifier(),
    GaussianClassifier(covariance="full"),
    GaussianClassifier(covariance="diagonal"),
]
each_learner = pytest.mark.parametrize("learner", LEARNERS, ids=repr)
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

seeds = st.integers(0, 2**32 - 1)


def sample(learner, seed, n=40, p=3):
    """Rows in general position, so that every learner has one answer."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.1, 10, p) + rng.uniform(-5, 5, p)
    if is_classifier(learner):
        y = np.arange(n) % 3
        return X + 2 * y[:, None], y
    return X, X @ rng.standard_normal(p) + rng.standard_normal(n)


def answers(model, X):
    return model.decision_function(X) if is_classifier(model) else model.predict(X)


def announced(learner, y):
    return {"classes": np.unique(y)} if is_classifier(learner) else {}


def assert_same(model, other, X, tolerance=1e-9):
    want = answers(other, X)
    np.testing.assert_allclose(
        answers(model, X), want, rtol=tolerance, atol=tolerance * (1 + np.abs(want).max())
    )


@each_learner
@settings(max_examples=15)
@given(seed=seeds, data=st.data())
def test_a_stream_cut_anywhere_equals_its_batch(learner, seed, data):
    X, y = sample(learner, seed)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(y) - 1), max_size=4)))
    stream = clone(learner)
    for part in np.split(np.arange(len(y)), cuts):
        stream.partial_fit(X[part], y[part], **announced(learner, y))
    assert_same(stream, clone(learner).fit(X, y), X)


@each_learner
@settings(max_examples=15)
@given(seed=seeds, split=st.integers(15, 35))
def test_forgotten_rows_were_never_seen(learner, seed, split):
    X, y = sample(learner, seed)
    model = clone(learner).fit(X, y).forget(X[split:], y[split:])
    assert_same(model, clone(learner).fit(X[:split], y[:split]), X, 1e-8)


@each_learner
@settings(max_examples=10)
@given(seed=seeds)
def test_the_order_of_the_rows_does_not_matter(learner, seed):
    X, y = sample(learner, seed)
    order = np.random.default_rng(seed).permutation(len(y))
    assert_same(clone(learner).fit(X[order], y[order]), clone(learner).fit(X, y), X)


@pytest.mark.parametrize("learner", [*LEARNERS, Ridge("loo"), Ridge("evidence")], ids=repr)
@settings(max_examples=10)
@given(seed=seeds, counts=arrays(int, 40, elements=st.integers(0, 3)))
def test_a_weight_is_a_number_of_copies(learner, seed, counts):
    counts[:12] += counts[:12] == 0  # every class, and rows enough for its covariance
    X, y = sample(learner, seed)
    weighted = clone(learner).fit(X, y, sample_weight=counts)
    repeated = clone(learner).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    assert_same(weighted, repeated, X)


@each_learner
@settings(max_examples=10)
@given(seed=seeds)
def test_rows_of_weight_zero_are_not_there(learner, seed):
    X, y = sample(learner, seed)
    weights = (np.arange(len(y)) % 4 != 0).astype(float)
    kept = weights > 0
    assert_same(
        clone(learner).fit(X, y, sample_weight=weights), clone(learner).fit(X[kept], y[kept]), X
    )


@each_learner
@settings(max_examples=10)
@given(seed=seeds)
def test_sparse_rows_say_what_dense_rows_say(learner, seed):
    X, y = sample(learner, seed)
    X[np.random.default_rng(seed).random(X.shape) < 0.5] = 0.0
    thin = clone(learner).fit(sparse.csr_matrix(X), y)
    assert_same(thin, clone(learner).fit(X, y), X)
    np.testing.assert_allclose(
        answers(thin, sparse.csr_matrix(X)), answers(thin, X), rtol=1e-9, atol=1e-9
    )


@each_learner
def test_units_of_a_column_change_nothing_that_is_not_penalised(learner):
    X, y = sample(learner, 3)
    if isinstance(learner, Ridge):
        return  # a penalty on w depends on the units of x, as it must
    units = np.array([1e-150, 1.0, 1e150])
    scaled, plain = clone(learner).fit(X * units, y), clone(learner).fit(X, y)
    want, got = answers(plain, X), answers(scaled, X * units)
    if want.ndim == 2:  # log-densities have units too, the same for all classes
        want, got = want - want[:, :1], got - got[:, :1]
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=1e-9)


@each_learner
def test_float32_in_float32_out(learner):
    X, y = sample(learner, 7)
    small = X.astype(np.float32)
    model = clone(learner).fit(small, y)
    assert answers(model, small).dtype == np.float32
    assert_same(model, clone(learner).fit(small.astype(float), y), small.astype(float), 1e-5)


@each_learner
def test_moments_of_an_offset_of_1e8_lose_nothing_but_what_the_data_lost(learner):
    X, y = sample(learner, 11, n=200)
    far = X + 1e8
    if not getattr(learner, "fit_intercept", True):
        return  # without a bias an offset is another problem
    back = far - 1e8  # what is left of X in float64
    want = answers(clone(learner).fit(back, y), back)
    tolerance = 1e-5 * (1 + np.abs(want).max())
    np.testing.assert_allclose(answers(clone(learner).fit(far, y), far), want, atol=tolerance)
