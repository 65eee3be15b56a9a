"""What learning makes small, for whole arrays at once: the losses and slopes of all neurons.

The same formulas, sample by sample, are in `kernels.sequential.neurons`; a test compares the two.
Letters: V (n, K) local fields, T (n, K) targets, or codes (n, 1) for K classes
together (the linear machine, softmax).
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_softmax, softmax

from adaline.kernels import codes
from adaline.results import Array

CURVATURE = {
    codes.SQUARED: 1.0,
    codes.TANH: 2.0,
    codes.SQUARED_LOGISTIC: 0.16,
    codes.CROSS_ENTROPY: 0.25,
    codes.SOFTMAX: 0.5,
}
"""Bounds of |d^2 E / dv^2| for targets within the range of phi: by them automatic rates divide."""


def targets(kind: int, Y: Array, K: int) -> Array:
    """Targets (n, K) from numbers, or from class codes (n, 1): +1 and -1, or 1 and 0.

    >>> targets(codes.SIGNS, np.array([[0.0], [1.0]]), 1).ravel()
    array([-1.,  1.])
    """
    if kind == codes.NUMBERS:
        return Y
    own = (1.0 if K == 1 else np.arange(float(K))) == Y
    return np.where(own, 1.0, -1.0 if kind == codes.SIGNS else 0.0)


def phi(criterion: int, V: Array) -> Array:
    """Outputs of the neurons.

    >>> phi(codes.SQUARED_LOGISTIC, np.array([0.0]))
    array([0.5])
    """
    if criterion == codes.TANH:
        return np.tanh(V)
    if criterion in (codes.SQUARED_LOGISTIC, codes.CROSS_ENTROPY):
        return np.asarray(0.5 * (1.0 + np.tanh(0.5 * V)))
    return V


def slopes(criterion: int, T: Array, V: Array) -> tuple[Array, Array]:
    """-dE/dV (n, K), zero where there is no correction to make, and E (n, K) or (n, 1).

    >>> slopes(codes.SQUARED, np.array([[1.0]]), np.array([[0.5]]))
    (array([[0.5]]), array([[0.125]]))
    """
    if criterion == codes.PERCEPTRON:
        wrong = T * V <= 0.0
        return np.where(wrong, T, 0.0), np.where(wrong, -T * V, 0.0)
    if criterion == codes.MACHINE:
        return _machine(T[:, 0].astype(np.int64), V)
    if criterion == codes.SOFTMAX:
        P = softmax(V, axis=1)
        own = T[:, :1] == np.arange(V.shape[1])
        return own - P, -log_softmax(V, axis=1)[own][:, None]
    Z = phi(criterion, V)
    E = T - Z
    if criterion == codes.CROSS_ENTROPY:
        return E, np.logaddexp(0.0, V) - T * V
    if criterion == codes.TANH:
        return E * (1.0 - Z * Z), 0.5 * E * E
    if criterion == codes.SQUARED_LOGISTIC:
        return E * (Z * (1.0 - Z)), 0.5 * E * E
    return E, 0.5 * E * E


def _machine(own: np.ndarray, V: Array) -> tuple[Array, Array]:
    """Kesler: +1 for the own neuron and -1 for the strongest other, where that is not below."""
    rows = np.arange(len(V))
    others = V.copy()
    others[rows, own] = -np.inf
    rival = others.argmax(axis=1)
    excess = others[rows, rival] - V[rows, own]
    wrong = ~(excess < 0.0)
    G = np.zeros_like(V)
    G[rows[wrong], own[wrong]] = 1.0
    G[rows[wrong], rival[wrong]] = -1.0
    return G, np.where(wrong, excess, 0.0)[:, None]
