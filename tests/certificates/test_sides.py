"""Separation is claimed only where rounding could not have moved a sample across."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from adaline.certificates.sides import separation


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
