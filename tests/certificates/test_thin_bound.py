"""Lower bounds on a Hessian that need no matrix: they hold in all units, far from zero, in float32.

What rows of some hundred columns are proven by, rows of a few columns are proven by here: that a
matrix is dear is said to be so.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import reference_logistic
from adaline import LogisticRegression, objective
from adaline.certificates.optimality import CurvatureBound
from adaline.linalg import UNIT
from adaline.losses.logistic import logistic_loss
from adaline.losses.poisson import poisson_loss
from adaline.procedures.newton import _stride
from adaline.procedures.newton._curvature_bound import thin_bound

NONE = np.empty(0)


@pytest.fixture
def no_matrix(monkeypatch):
    monkeypatch.setattr(_stride, "_DEAR", 0.0)


def exactly(values):
    return np.array([Fraction(float(v)) for v in np.ravel(values)]).reshape(np.shape(values))


def at_zero(X, alpha, intercept=True, omega=NONE):
    """The loss of rows of two classes in turn, and the slopes of the rows where w = 0."""
    loss = logistic_loss(X, np.arange(X.shape[0]) % 2, 2, omega, alpha, intercept)
    root = loss.room()
    loss.at(np.zeros((1, X.shape[1] + 1)), root)
    return loss, root


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unit", [1e-290, 1e-200, 1e-150, 1e150, 1e250])
def test_units_of_weights_and_penalty_change_no_bound(rng, no_matrix, unit, intercept, K):
    """The minimum is the same, and steps end as far from it; squares of gradients underflow."""
    X = rng.standard_normal((60, 5))
    y = np.argmax(X[:, :K] + rng.gumbel(size=(60, K)), axis=1)
    W, b = reference_logistic.minimum(X, y, K, 1.0, intercept=intercept)
    model = LogisticRegression(alpha=unit, fit_intercept=intercept, tol=1e-5)
    model.fit(X, y, sample_weight=np.full(60, unit))
    assert model.certificate_.kind == "optimal"
    e = model.certificate_.evidence
    off = np.abs(model.coef_ - np.asarray(W, dtype=np.float64).reshape(model.coef_.shape))
    assert np.all(off <= e["coef_bound"] + 1e-15)
    assert np.linalg.norm(off) <= e["distance_bound"] + 1e-15
    assert 1e-13 < e["distance_bound"] < 1e-3
    both = model.intercept_ - np.asarray(b, dtype=np.float64)
    assert np.all(np.abs(both - both.mean() * (K > 2)) <= e["intercept_bound"] + 1e-15)


@pytest.mark.parametrize("unit", [1e-200, 1.0, 1e200])
def test_lengths_and_doubts_do_not_leave_the_range_of_float64(unit):
    """M times unit^2: errors of g are unit times as large, those of weights 1 / unit times."""
    M = np.array([0.25, 1.0]), np.array([3.0, -1.0]), 0.5
    one = CurvatureBound(np.empty((0, 0)), 1.0, *M, 9.0)
    root = np.sqrt(unit)
    other = CurvatureBound(np.empty((0, 0)), 1.0, M[0] * unit, M[1], M[2] * unit, 9.0 / unit)
    g = np.array([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0]])
    assert other.lengths(g * unit) == pytest.approx(one.lengths(g) * root)
    assert other.doubt(g[0] * unit, 2) == pytest.approx(one.doubt(g[0], 2) * root)
    assert other.deviations() == pytest.approx(one.deviations() / root)
    tiny = CurvatureBound(np.empty((0, 0)), 1.0, np.full(2, 1e-300), np.full(2, 1e-170), 1e300)
    assert tiny.deviations()[-1] == pytest.approx(np.sqrt(2.0) * 1e-20)


def test_without_a_matrix_all_lengths_are_those_that_the_matrix_gives(rng):
    alpha, mean, h = rng.uniform(0.1, 2.0, 4), rng.standard_normal(4), 0.3
    z = np.append(mean, 1.0)
    inverse = np.linalg.inv(np.diag(np.append(alpha, 0.0)) + h * np.outer(z, z))
    rows = np.column_stack([mean + rng.standard_normal((9, 4)), np.ones(9)])
    far = ((rows[:, :-1] - mean) ** 2 / alpha).sum(axis=1).max()
    bound = CurvatureBound(np.empty((0, 0)), 4.0, alpha, mean, h, far)
    G = rng.standard_normal((3, 5))
    assert bound.lengths(G) == pytest.approx(2.0 * np.sqrt(np.einsum("ij,jk,ik->i", G, inverse, G)))
    assert bound.deviations() == pytest.approx(2.0 * np.sqrt(inverse.diagonal()))
    longest = np.einsum("ij,jk,ik->i", rows, inverse, rows).max()
    assert bound.farthest(np.ones(5)) == pytest.approx(2.0 * np.sqrt(longest))


def test_several_classes_have_the_curvature_of_their_least_probability(rng):
    """Below the Hessian of all classes, on all that changes a probability."""
    X, K, q = rng.standard_normal((30, 3)) * [1.0, 9.0, 0.1] + 2.0, 3, 4
    omega = rng.uniform(0.0, 0.2, 30)
    loss = logistic_loss(X, rng.integers(0, K, 30), K, omega, 1e-3, True)
    root = loss.room()
    loss.at(rng.standard_normal((K, q)), root)
    bound = thin_bound(loss, root)
    assert bound.h == pytest.approx(omega @ root.min(axis=1), rel=0.01)
    Z = np.column_stack([X * loss.scale - loss.shift, np.ones(30)])
    each = [np.diag(p) - np.outer(p, p) for p in root]
    H = sum(w * np.kron(C, np.outer(a, a)) for w, C, a in zip(omega, each, Z, strict=True))
    H = H + np.kron(np.eye(K), np.diag(loss.penalty))
    z = np.append(bound.mean, 1.0)
    M = (np.diag(loss.penalty) + bound.h * np.outer(z, z)) / bound.loss
    apart = np.kron(np.eye(K) - np.ones((K, K)) / K, np.eye(q))
    assert np.linalg.eigvalsh(apart @ H @ apart - np.kron(np.eye(K), M) @ apart)[0] > -1e-12


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, np.asfortranarray])
def test_no_row_is_farther_than_is_said(rng, kind):
    """Also where all rows are about the same, so far from zero that nothing else is seen."""
    one = np.ones((9, 5)) * np.where(np.arange(9) == 4, -1.0, 1.0)[:, None]  # away from all others
    for X in (one, rng.standard_normal((9, 5)), 1e9 + 1e-3 * rng.standard_normal((9, 5))):
        loss, root = at_zero(kind(X), 0.25)
        mean = exactly(X).sum(axis=0) / 9  # all rows have one weight
        far = max(((row - mean) ** 2).sum() for row in exactly(X)) / Fraction(0.25)
        assert thin_bound(loss, root).far >= float(far)
    two = loss.with_penalty(0.25, np.array([1.0, 1.0, 0.5, 1.0, 1.0]))  # one is penalised less
    assert thin_bound(two, root).far >= 3.9 * thin_bound(loss, root).far


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_rows_of_float32_are_as_far_as_the_same_numbers_in_float64(rng, kind, intercept):
    """Squares of 1e-25 are nothing in float32: no value would move, and the proof were none."""
    X = kind((1e-25 * rng.standard_normal((40, 6))).astype(np.float32))
    far = [thin_bound(*at_zero(rows, 1e-50, intercept)).far for rows in (X, X.astype(np.float64))]
    assert far[0] == pytest.approx(far[1], rel=1e-3)
    assert far[0] > 1.0


@pytest.mark.parametrize("far", [0.0, 1e6, 1e12])
@pytest.mark.parametrize("alpha", [1.0, 1e-12])
def test_the_bound_is_below_the_curvature_far_from_zero(rng, far, alpha):
    """Along the error of the mean, in rational arithmetic.

    Rows fewer than columns have no curvature there but that of the penalty.
    """
    n, p = 8, 12
    X = rng.standard_normal((n, p)) + far
    loss, root = at_zero(X, alpha)
    bound = thin_bound(loss, root)
    Z = exactly(X) * exactly(loss.scale) - exactly(loss.shift)
    weights = exactly(root) ** 2
    mean = (weights[:, None] * Z).sum(axis=0) / weights.sum()
    error = np.array([float(v) for v in exactly(bound.mean) - mean])
    centred = np.array([[float(v) for v in row] for row in Z - mean])
    along = error - np.linalg.lstsq(centred, centred @ error, rcond=None)[0]
    w = exactly(along)
    b = -(mean * w).sum()
    penalty = (exactly(loss.penalty[:-1]) * w * w).sum()
    H = (weights * ((Z * w).sum(axis=1) + b) ** 2).sum() + penalty
    M = penalty + Fraction(bound.h) * ((exactly(bound.mean) * w).sum() + b) ** 2
    assert H * Fraction(bound.loss) >= M


def test_rows_without_curvature_prove_nothing_of_a_bias(rng):
    loss, _ = at_zero(rng.standard_normal((10, 3)), 1.0)
    for nothing in (np.zeros(10), np.full(10, 1e-160)):
        assert thin_bound(loss, nothing).loss == np.inf
    loss, _ = at_zero(rng.standard_normal((10, 3)), 1.0, intercept=False)
    assert thin_bound(loss, np.zeros(10)).loss < 1.1


@pytest.mark.parametrize("intercept", [True, False])
def test_the_curvature_of_all_rows_together_is_below_the_hessian(rng, intercept):
    """Also that of counts with offsets and uneven weights; it is larger than that of penalties."""
    X = rng.standard_normal((30, 4)) * [1.0, 1e-3, 1e3, 1.0] + [0.0, 0.0, 2e4, 9.0]
    y, omega = rng.poisson(2.0, 30).astype(float), rng.uniform(0.0, 3.0, 30) * (np.arange(30) > 4)
    loss = poisson_loss(X, y, omega, rng.standard_normal(30), 0.1, intercept)
    root = loss.room()
    loss.at(0.1 * rng.standard_normal((1, 5)) * [1, 1, 1, 1, intercept], root)
    bound = thin_bound(loss, root)
    z = np.append(bound.mean, 1.0)
    M = (np.diag(loss.penalty) + bound.h * np.outer(z, z)) / bound.loss
    H = loss.gram(root) + np.diag(loss.penalty)
    part = slice(None if intercept else -1)
    assert np.linalg.eigvalsh((H - M)[part, part])[0] > -1e-9
    assert bound.h >= 0.9 * (root**2).sum() * intercept
    rows = np.column_stack([X * loss.scale - loss.shift, np.full(30, intercept)])
    inverse = np.linalg.inv(M[part, part])
    lengths = np.einsum("ij,jk,ik->i", rows[:, part], inverse, rows[:, part])
    assert bound.farthest(loss.top) ** 2 >= lengths.max() * (1 - 1e-12)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize(("unit", "kind"), [(1e-30, "optimal"), (1e-200, "unproven")])
def test_columns_that_are_nothing_beside_their_penalty_are_fitted(rng, unit, kind, intercept):
    """A Newton decrement of zero is one like others; penalties beyond float64 prove nothing."""
    X, y = unit * rng.standard_normal((40, 400)), np.arange(40) % 2
    model = LogisticRegression(alpha=1.0, fit_intercept=intercept)
    if kind == "unproven":
        with pytest.warns(ConvergenceWarning):
            model.fit(X, y)
    else:
        model.fit(X, y)
    assert model.certificate_.kind == kind
    assert np.all(np.abs(model.coef_) <= 200 * unit) or kind == "unproven"


@pytest.mark.parametrize("K", [2, 3])
def test_rounding_of_sums_of_rows_as_they_are_counts_their_means(rng, monkeypatch, K):
    """Long rows are not centred first: their terms are larger, and so are those of the values."""
    monkeypatch.setattr(objective, "LONG", 2)
    X = rng.standard_normal((300, 3)) + np.array([3.0, -2.0, 0.0])
    loss = logistic_loss(X, np.arange(300) % K, K, NONE, 1.0, True)
    assert loss.long_rows or loss.plain
    away, weight = np.append(np.abs(loss.shift), 0.0), loss.weight
    for size in (0.0, 1e6):
        theta = np.zeros((loss.K, 4))
        theta[0, 0] = size
        found = loss.rounding(theta, loss.at(theta))
        # A slope is off by a quarter of what its value is; a sum, by the depth times its terms;
        # and the sum of slopes that centres it, by as much.
        value = 0.25 * 7 * size * (loss.top[0] + 2 * away[0])
        terms = np.sqrt(weight) * loss.length + 2 * weight * away
        assert np.all(found >= UNIT * (loss.depth() + value) * terms)
