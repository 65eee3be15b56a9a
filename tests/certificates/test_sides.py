"""Separation is claimed only where rounding could not have moved a sample across."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.certificates.margins import separation


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


def test_a_sample_on_the_hyperplane_is_on_the_wrong_side():
    X, codes = np.array([[2.0], [1.0], [3.0]]), np.array([1, 0, 1])
    found = separation(*hyperplane([1.0], [-2.0]), X, codes)
    assert (found.evidence["wrong"], found.evidence["too_close"]) == (1, 1)
    assert found.statement.startswith(
        "1 of 3 samples is on the wrong side, 1 within rounding of the boundary; separability is"
    )


@pytest.mark.parametrize("unit", [1e300, 1.0, 1e-300, 1e-310, 1e-323])
def test_the_least_margin_is_never_above_the_true_one(unit):
    found = separation(*hyperplane([1.0, 1.0], -unit), XOR * unit, AND)
    assert found.kind == "separable"
    assert found.evidence["least_margin"] < unit
