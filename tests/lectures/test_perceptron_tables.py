"""Lectures 000 and 002: the perceptron's tables on modified OR, row by row, and AND."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.certificates.margins import mistake_bound
from adaline.estimators.perceptron import Perceptron
from adaline.estimators.trace import trace
from reference_classifiers import batch_perceptron, error_correction, perceptron

# The threshold's input is -1 in lecture 002, so that the bias b is -w_0.
X = np.array([[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]], dtype=float)
T = np.array([-1, 1, 1, 1])

# w1 w2 w0, t w.x, update, change: as printed on the slide.
INCREMENTAL = [
    ((0, 0, 0), 0, True, (1, 1, 1)),
    ((1, 1, 1), -1, True, (1, -1, -1)),
    ((2, 0, 0), -2, True, (-1, 1, -1)),
    ((1, 1, -1), 3, False, (0, 0, 0)),
    ((1, 1, -1), 1, False, (0, 0, 0)),
    ((1, 1, -1), 1, False, (0, 0, 0)),
    ((1, 1, -1), 1, False, (0, 0, 0)),
    ((1, 1, -1), 3, False, (0, 0, 0)),
]
BATCH = [((0, 0, 0), 0, True, (2, 2, -2))] * 4 + [
    ((2, 2, -2), tv, False, (0, 0, 0)) for tv in (2, 2, 2, 6)
]


@pytest.mark.parametrize(
    ("mode", "table", "updates"), [("incremental", INCREMENTAL, 3), ("batch", BATCH, 1)]
)
def test_the_table_of_lecture_002_is_reproduced_row_by_row(mode, table, updates):
    found = trace(Perceptron(mode=mode, fit_intercept=False), X, T)
    rows = [
        (tuple(w[0]), t[0] * v[0], bool(u), tuple(d[0]))
        for w, t, v, u, d in zip(
            found.W_before, found.t, found.v, found.updated, found.change_W, strict=True
        )
    ]
    assert rows == table
    assert found.passes.tolist() == [1] * 4 + [2] * 4
    assert found.samples.tolist() == [0, 1, 2, 3] * 2
    assert found.fit.corrections == updates


@pytest.mark.parametrize(("mode", "w"), [("incremental", (1, 1, 1)), ("batch", (2, 2, 2))])
def test_a_bias_learns_what_the_threshold_learns_up_to_its_sign(mode, w):
    model = Perceptron(mode=mode).fit(X[:, :2], T)
    assert (*model.coef_[0], *model.intercept_) == w


def test_the_slow_twins_agree_with_the_slides():
    assert perceptron(X.tolist(), T.tolist()) == ([1, 1, -1], 3, 2)
    assert batch_perceptron(X.tolist(), T.tolist()) == ([2, 2, -2], 1)


def test_the_error_correction_form_is_the_perceptron_with_twice_the_rate():
    """d - y is ±2. With sgn(0) = +1 ties of class +1 stay; here the end is the same."""
    assert error_correction(X.tolist(), T.tolist()) == [2, 2, -2]
    model = Perceptron(eta=2.0, fit_intercept=False).fit(X, T)
    assert model.coef_.tolist() == [[2, 2, -2]]


def test_and_gate_is_learned_after_18_corrections():
    """In the order (0,0), (0,1), (1,0), (1,1); other orders make other numbers of them."""
    model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    assert (model.coef_.tolist(), model.intercept_.tolist()) == ([[3, 2]], [-4])
    assert model.fit_.corrections == 18
    twin = perceptron([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]], [-1, -1, -1, 1])
    assert twin == ([3, 2, -4], 18, model.n_iter_)


def test_the_bound_of_lecture_002_holds_for_its_example():
    bound = mistake_bound(X, T, [1, 1, -1])
    assert bound.lecture == pytest.approx(12 / (1 / 3))  # beta = 12, D = 1/sqrt(3)
    assert bound.sharp == pytest.approx(9)
    assert bound.sharp >= 3


def test_xor_is_not_separated_and_nothing_is_claimed():
    with pytest.warns(UserWarning, match="max_iter=50"):
        model = Perceptron(max_iter=50, tol=0).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0])
    assert model.certificate_.kind == "undecided"
    assert "separability is undecided" in model.certificate_.statement
