"""Learners that go row by row against their slow twins."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.estimators.perceptron import Perceptron, SigmoidPerceptron
from adaline.estimators.widrow_hoff import WidrowHoff
from adaline.schedules import Constant, OverK, SearchThenConverge
from reference_classifiers import automatic, batch_perceptron, kesler, lms, perceptron

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def whole_numbers(rng, n=30, p=3):
    """Small whole numbers, on which both twins are exact."""
    X = rng.integers(-4, 5, (n, p)).astype(float)
    t = np.where(X @ np.arange(1, p + 1) + 0.5 > 0, 1, -1)
    t[:2] = -1, 1
    return X, t


def augmented(X):
    return np.column_stack([X, np.ones(len(X))]).tolist()


@pytest.mark.parametrize("absolute", [False, True])
def test_the_perceptron_is_its_slow_twin(rng, absolute):
    X, t = whole_numbers(rng)
    want = perceptron(augmented(X), t.tolist(), absolute=absolute, max_iter=60)
    model = Perceptron("absolute" if absolute else 1.0, max_iter=60).fit(X, t)
    got = [*model.coef_[0], *model.intercept_], model.fit_.corrections, model.n_iter_
    assert got == want


def test_the_batch_perceptron_is_its_slow_twin(rng):
    X, t = whole_numbers(rng)
    w, updates = batch_perceptron(augmented(X), t.tolist(), max_iter=40)
    model = Perceptron(mode="batch", max_iter=40).fit(X, t)
    assert ([*model.coef_[0], *model.intercept_], model.fit_.corrections) == (w, updates)


def test_the_linear_machine_is_its_slow_twin(rng):
    X = rng.integers(-4, 5, (40, 2)).astype(float)
    codes = rng.integers(0, 4, 40)
    codes[:4] = range(4)
    W = np.array(kesler(augmented(X), codes.tolist(), 4, max_iter=15))
    model = Perceptron(max_iter=15).fit(X, codes)
    assert np.array_equal(np.column_stack([model.coef_, model.intercept_]), W)


@pytest.mark.parametrize(
    "schedule", [Constant(0.05), OverK(0.4), SearchThenConverge(0.1, 20.0)], ids=repr
)
def test_lms_is_its_slow_twin(rng, schedule):
    X, y = rng.standard_normal((40, 3)), rng.standard_normal(40)
    want = lms(augmented(X), y, lambda n: schedule(n, 1)[0], passes=3)
    model = WidrowHoff(schedule, max_iter=3, tol=0).fit(X, y)
    np.testing.assert_allclose([*model.coef_, model.intercept_], want, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize(("phi", "low"), [("tanh", -1), ("logistic", 0)])
def test_the_sigmoid_perceptron_is_its_slow_twin(rng, phi, low):
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    want = lms(augmented(X), np.where(y == 1, 1, low), lambda n: 0.3, passes=3, phi=phi)
    model = SigmoidPerceptron(phi, eta=0.3, max_iter=3, tol=0).fit(X, y)
    got = [*model.coef_[0], *model.intercept_]
    np.testing.assert_allclose(got, want, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("n", [60, 1500])
def test_automatic_rates_are_their_slow_twin(rng, n, kind):
    X, y = rng.standard_normal((n, 4)) * [1e6, 1, 1e-3, 1], rng.standard_normal(n)
    X[:, 3] *= np.arange(n) % 97 == 5  # a feature that is met late, and seldom
    model = WidrowHoff(max_iter=1).fit(kind(X), y)
    got = [*model.coef_, model.intercept_]
    np.testing.assert_allclose(got, automatic(augmented(X), y), rtol=1e-9)


def test_automatic_rates_of_rows_with_few_words_are_their_slow_twin(rng):
    """Weights are not averaged before 2 samples a feature, and frequent words must settle alone."""
    X = (rng.random((1300, 700)) < 1.0 / np.arange(2, 702)) * rng.standard_normal((1300, 700))
    y = rng.standard_normal(1300)
    model = WidrowHoff(max_iter=1).fit(sparse.csr_array(X), y)
    want = automatic(augmented(X), y)
    got = [*model.coef_, model.intercept_]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_shuffled_perceptron_is_its_slow_twin(rng, make, dtype):
    X, t = whole_numbers(rng, 600, 4096)  # several blocks of rows
    model = Perceptron(shuffle=True, max_iter=2, random_state=5)
    order = np.random.default_rng(np.random.RandomState(5).randint(2**31 - 1))
    want = perceptron(augmented(X), t.tolist(), max_iter=2, rng=order)
    model.fit(make(X.astype(dtype)), t)
    assert ([*model.coef_[0], *model.intercept_], model.fit_.corrections, model.n_iter_) == want
