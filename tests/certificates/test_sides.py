"""Separation is claimed only where rounding could not have moved a sample across."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates import sides
from adaline.certificates.sides import separation
from adaline.linalg import UNDERFLOW, UNIT


def hyperplane(W, b):
    return np.atleast_2d(np.asarray(W, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))


def test_a_clear_margin_is_a_proof():
    X, codes = np.array([[0.0], [1.0], [3.0]]), np.array([0, 0, 1])
    certificate = separation(*hyperplane([1.0], [-2.0]), X, codes)
    assert certificate.kind == "separable"
    assert 0.99 < certificate.evidence["least_margin"] <= 1.0


def test_a_margin_of_rounding_size_is_none():
    X, codes = np.array([[1e16], [1e16 + 2]]), np.array([0, 1])
    certificate = separation(*hyperplane([1.0], [-1e16 - 1]), X, codes)
    assert certificate.kind == "undecided"
    assert certificate.evidence["too_close"] == 2


def test_the_wrong_side_is_counted():
    X, codes = np.array([[0.0], [1.0], [3.0]]), np.array([1, 0, 1])
    certificate = separation(*hyperplane([1.0], [-2.0]), X, codes)
    assert certificate.kind == "undecided"
    assert certificate.evidence["wrong"] == 1
    assert "1 of 3 samples" in certificate.statement


def test_a_linear_machine_separates_when_every_own_neuron_wins_by_more_than_rounding():
    X, codes = np.eye(3) * 5, np.arange(3)
    assert separation(*hyperplane(np.eye(3), np.zeros(3)), X, codes).kind == "separable"
    thin = separation(*hyperplane(np.eye(3), np.zeros(3)), sparse.csr_matrix(X), codes)
    assert thin.kind == "separable"
    assert separation(*hyperplane(np.ones((3, 3)), np.zeros(3)), X, codes).kind == "undecided"


XOR, PARITY = np.array([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
AND = np.array([0, 0, 0, 1])


@pytest.mark.parametrize("unit", [1e155, 2.0**-535, 1e-308, 5e-324, 1e308])
def test_no_hyperplane_separates_xor_in_any_unit(unit):
    """Products that overflow are no margins, and products that underflow hide what was rounded."""
    for W, b in (([1.0, 1.0], 1.0), ([unit, unit], unit), ([1.0, -1.0], 0.0), ([1e308, 1e308], 0)):
        certificate = separation(*hyperplane(W, b), XOR * unit, PARITY)
        assert certificate.kind == "undecided"


@pytest.mark.parametrize("unit", [1e155, 1e300, 2.0**-535, 1e-300, 1e-323])
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_matrix])
def test_the_and_gate_is_separable_in_every_unit(unit, of):
    for W in (1.0, 2.0**500 if unit < 1 else 2.0**-500):
        certificate = separation(*hyperplane([W, W], -unit * W), of(XOR * unit), AND)
        assert certificate.kind == "separable"
        assert 0 <= certificate.evidence["least_margin"] < np.inf


def test_rows_of_very_different_size_are_each_judged_in_their_own_unit():
    X = np.array([[1e300, 1e300], [1e-300, -1e-300], [-1e300, 1.0], [-1e-300, -1e-300]])
    certificate = separation(*hyperplane([1e200, 1e199], 0.0), X, np.array([1, 1, 0, 0]))
    assert certificate.kind == "separable"
    assert 0 < certificate.evidence["least_margin"] <= 0.91e-100


def test_weights_that_are_not_finite_prove_nothing():
    X, codes = np.array([[1.0], [2.0]]), np.array([0, 1])
    for W, b in (([np.inf], 0.0), ([np.nan], 0.0), ([1.0], np.inf), ([np.inf], -np.inf)):
        assert separation(*hyperplane(W, b), X, codes).kind == "undecided"


def test_a_sample_on_the_hyperplane_is_on_the_wrong_side():
    X, codes = np.array([[2.0], [1.0], [3.0]]), np.array([1, 0, 1])
    found = separation(*hyperplane([1.0], [-2.0]), X, codes)
    assert (found.evidence["wrong"], found.evidence["too_close"]) == (1, 1)
    assert found.statement.startswith(
        "1 of 3 samples is on the wrong side, 1 within rounding of the boundary; separability is"
    )


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([0], "at least 1 of 9 samples"),  # in the first rows: the rest is not counted
        ([0, 1, 8], "at least 2 of 9 samples"),
        ([4, 8], "at least 1 of 9 samples"),
        ([8], "1 of 9 samples"),  # in the last: all are
    ],
)
def test_of_many_rows_those_on_the_wrong_side_are_counted_up_to_the_first_block(
    monkeypatch, wrong, said
):
    monkeypatch.setattr(sides, "_FIRST", 2)
    monkeypatch.setattr(sides, "_BLOCK", 3)
    X = np.ones((9, 1))
    X[wrong] = -1.0
    for counted, words in ((8, said), (9, f"{len(wrong)} of 9 samples")):
        monkeypatch.setattr(sides, "_COUNTED", counted)
        found = separation(*hyperplane([1.0], 0.0), X, np.ones(9, dtype=int))
        assert found.statement.startswith(words)


@pytest.mark.parametrize("unit", [1e300, 1.0, 1e-300, 1e-310, 1e-323])
def test_the_least_margin_is_never_above_the_true_one(unit):
    found = separation(*hyperplane([1.0, 1.0], -unit), XOR * unit, AND)
    assert found.kind == "separable"
    assert found.evidence["least_margin"] < unit


def test_products_far_below_float64_have_a_side():
    X, codes = np.array([[1.0], [-1.0]]), np.array([1, 0])
    for w, unit in ((1e-300, 1e-300), (5e-324, 1.0), (5e-324, 5e-324), (1e300, 1e300)):
        assert separation(*hyperplane([w], 0.0), X * unit, codes).kind == "separable"


@pytest.mark.parametrize("p", [1, 2, 5])
def test_doubt_covers_each_rounding_of_a_value(p):
    """p products and p additions in any order, and what each of them may lose to underflow."""
    zero = sides._gaps(np.zeros((1, p)), np.zeros(1), np.zeros((2, p)), np.array([0, 1]))
    assert zero[1].tolist() == [(p + 3) * UNDERFLOW] * 2
    gap, doubt = sides._gaps(np.ones((1, p)), np.array([2.0]), -np.ones((1, p)), np.array([0]))
    assert gap[0] == p - 2.0
    assert (p + 3) * UNIT * (p + 2) <= doubt[0] <= 1.02 * (p + 3) * UNIT * (p + 2)
    # Of several neurons, that of the own class and the worst of the others.
    W, b = np.array([[1.0] * p, [3.0] * p, [2.0] * p]), np.zeros(3)
    gap, doubt = sides._gaps(W, b, np.ones((1, p)), np.array([0]))
    assert gap[0] == p - 3.0 * p
    assert 4 * p * (p + 3) * UNIT <= doubt[0] <= 1.02 * 4 * p * (p + 3) * UNIT
