"""Kernels and procedures against their slow twins, finite differences and each other."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import adaline.procedures.sequential as procedure
from adaline import criteria
from adaline.estimators.perceptron import Perceptron, SigmoidPerceptron
from adaline.estimators.widrow_hoff import WidrowHoff
from adaline.kernels import codes as neurons
from adaline.kernels.sequential import slope_and_loss
from adaline.procedures.gradient_descent import batch_gradient
from adaline.procedures.sequential import Recipe, State, blocks
from adaline.schedules import Constant, OverK, SearchThenConverge
from reference_sequential import automatic, batch_perceptron, kesler, lms, perceptron

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


def test_the_perceptron_with_eta_over_k_is_its_slow_twin(rng):
    X, t = whole_numbers(rng)
    w, made, _ = perceptron(augmented(X), t.tolist(), max_iter=7, rate=lambda n: 1 / (n + 1))
    model = Perceptron(OverK(1.0), max_iter=7).fit(X, t)
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], w, rtol=1e-12)
    assert model.fit_.corrections == made


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


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("n", [60, 1500])
def test_automatic_rates_far_from_zero_are_their_slow_twin(rng, n, kind):
    X = rng.standard_normal((n, 7)) * [1, 1e-3, 1e4, 1, 1, 1, 1]
    X += [10, -0.02, 1e6, 2.0, 5.0, 5.0, 0.0]
    X[:25, 3] += 1.0  # has an origin for a while
    X[40, 4] = 0.0  # has one, and loses it
    X[n - 7, 5] = 0.0  # where gains are not measured, in the longer one
    X[:, 6] = 3.0
    y = X[:, 0] + rng.standard_normal(n)
    model = WidrowHoff(max_iter=1).fit(kind(X), y)
    got = [*model.coef_, model.intercept_]
    np.testing.assert_allclose(got, automatic(augmented(X), y), rtol=1e-7)  # biases cancel


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array], ids=["dense", "CSR"])
@pytest.mark.parametrize("at", [200, 1400], ids=["measured", "not measured"])
def test_automatic_rates_of_columns_that_leap_are_their_slow_twin(rng, at, kind):
    """To another value, to zero, to a larger deviation; and from nearly none to none at all."""
    X = rng.standard_normal((1600, 5)) * [1e-3, 1e-3, 1e-3, 0.0, 1.0] + [5.0, 5.0, -5.0, 5.0, 0.0]
    X[at:, 0] += 1.0
    X[at + 1 :, 1] = 0.0
    X[at:, 2] += 0.2 * rng.standard_normal(1600 - at)
    X[37, 3] += 1e-4
    y = X[:, 4] + rng.standard_normal(1600)
    model = WidrowHoff(max_iter=1).fit(kind(X), y)
    got = [*model.coef_, model.intercept_]
    np.testing.assert_allclose(got, automatic(augmented(X), y), rtol=1e-7)


def test_automatic_rates_of_rows_with_few_words_are_their_slow_twin(rng):
    """Weights are not averaged before 2 samples a feature, and frequent words must settle alone."""
    X = (rng.random((1300, 700)) < 1.0 / np.arange(2, 702)) * rng.standard_normal((1300, 700))
    y = rng.standard_normal(1300)
    model = WidrowHoff(max_iter=1).fit(sparse.csr_array(X), y)
    want = automatic(augmented(X), y)
    got = [*model.coef_, model.intercept_]
    np.testing.assert_allclose(got, want, rtol=1e-9, atol=1e-12)


def test_many_neurons_with_automatic_rates_are_their_slow_twins(rng):
    X, Y = rng.standard_normal((1200, 3)) * [1e3, 1, 1e-3], rng.standard_normal((1200, 2))
    model = WidrowHoff(max_iter=1).fit(X, Y)
    for k in range(2):
        got = [*model.coef_[k], model.intercept_[k]]
        np.testing.assert_allclose(got, automatic(augmented(X), Y[:, k]), rtol=1e-9)
    X += [2e4, 1, -0.03]
    X[1100:, 2] *= np.arange(100) != 50
    model = WidrowHoff(max_iter=1).fit(X, Y)
    for k in range(2):
        got = [*model.coef_[k], model.intercept_[k]]
        np.testing.assert_allclose(got, automatic(augmented(X), Y[:, k]), rtol=1e-7)


CRITERIA = [
    neurons.PERCEPTRON,
    neurons.MACHINE,
    neurons.SQUARED,
    neurons.TANH,
    neurons.SQUARED_LOGISTIC,
]


@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_batch_slope_is_the_gradient_by_finite_differences(rng, criterion):
    kind = neurons.BITS if criterion == neurons.SQUARED_LOGISTIC else neurons.SIGNS
    state = State(Recipe(criterion, kind, Constant(1.0), neurons.LAST, True, 3, 4))
    state.last[:] = rng.standard_normal(state.last.shape)
    X, Y = rng.standard_normal((25, 4)), rng.integers(0, 3, (25, 1)).astype(float)
    omega = rng.uniform(0.5, 2, 25)
    G = batch_gradient(state, X, Y, omega).G
    h = 1e-6
    for at in np.ndindex(state.last.shape):
        middle = state.last[at]
        losses = []
        for side in (h, -h):
            state.last[at] = middle + side
            losses.append(batch_gradient(state, X, Y, omega).loss)
        state.last[at] = middle
        assert -G[at] == pytest.approx((losses[0] - losses[1]) / (2 * h), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("criterion", [0, 2, 3, 4])
def test_one_sample_and_whole_arrays_have_the_same_slopes(rng, criterion):
    V, T = rng.standard_normal((20, 1)) * 3, rng.choice([-1.0, 1.0], (20, 1))
    S, E = criteria.slopes(criterion, T, V)
    for s, e, t, v in zip(S[:, 0], E[:, 0], T[:, 0], V[:, 0], strict=True):
        one = slope_and_loss(criterion, t, v)
        np.testing.assert_allclose(one, (s, e), rtol=1e-12, atol=1e-15)


def test_curvature_bounds_hold():
    v = np.linspace(-8, 8, 20001)
    for criterion, lows in ((neurons.TANH, (-1.0, 1.0)), (neurons.SQUARED_LOGISTIC, (0.0, 1.0))):
        for t in lows:
            S, _ = criteria.slopes(criterion, np.full((len(v), 1), t), v[:, None])
            bend = np.abs(np.gradient(S[:, 0], v)).max()
            assert bend <= criteria.CURVATURE[criterion]


def test_shuffled_blocks_hold_every_row_once(rng):
    X = np.zeros((70_000, 3))
    seen = np.concatenate(list(blocks(X, rng)))
    assert np.array_equal(np.sort(seen), np.arange(70_000))
    assert not np.array_equal(seen, np.arange(70_000))


@pytest.mark.parametrize("p", [3, 400])
def test_every_shuffled_block_is_a_draw_from_all_rows(rng, p):
    """Rows sorted by label are the usual file: a block of neighbours would hold one class."""
    n = 40_000
    X = np.zeros((n, 1)) @ np.zeros((1, p))
    for order in blocks(X, rng):
        m = len(order)
        # The mean of a draw of m of n places is n/2, give or take n / sqrt(12 m).
        assert abs(order.mean() - n / 2) < 6 * n / np.sqrt(12 * m)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_shuffled_perceptron_is_its_slow_twin(rng, make, dtype):
    X, t = whole_numbers(rng, n=900)  # more rows than a block holds
    model = Perceptron(shuffle=True, max_iter=3, random_state=5)
    order = np.random.default_rng(np.random.RandomState(5).randint(2**31 - 1))
    want = perceptron(augmented(X), t.tolist(), max_iter=3, rng=order)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        patched.setattr(procedure, "BLOCK_NUMBERS", 1)
        model.fit(make(X.astype(dtype)), t)
    assert ([*model.coef_[0], *model.intercept_], model.fit_.corrections, model.n_iter_) == want


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix], ids=["dense", "CSR"])
def test_shuffling_learns_as_well_from_rows_sorted_by_label(rng, make):
    n, p = 40_000, 20
    X = rng.standard_normal((2 * n, p))
    y = X @ rng.standard_normal(p) + 2.0 * rng.standard_normal(2 * n) > 0
    test, rows = (X[n:], y[n:]), np.argsort(y[:n], kind="stable")
    scores = [
        Perceptron(shuffle=True, max_iter=3, random_state=seed)
        .fit(make(X[rows]), y[rows])
        .score(*test)
        for seed in range(4)
    ]
    in_order = Perceptron(max_iter=3).fit(X[:n], y[:n]).score(*test)
    assert np.mean(scores) > in_order - 0.05  # last weights swing: 0.02 is their deviation


def test_lms_without_the_slope_of_phi_finds_nearly_the_same_classifier(rng):
    """Lecture 003: skipping phi' works, because it is positive; with it, errors are fewer."""
    X = np.vstack([rng.standard_normal((150, 2)), rng.standard_normal((150, 2)) + 2.5])
    X[:5] -= 40  # far on their right side: they pull at the Adaline only
    y = np.repeat([0, 1], 150)
    from adaline.estimators.widrow_hoff import Adaline

    with_slope = SigmoidPerceptron(mode="batch").fit(X, y)
    without = Adaline(mode="batch").fit(X, y)
    assert without.score(X, y) > 0.7
    assert with_slope.score(X, y) > without.score(X, y)
