"""Firth's criterion: the loss minus half the log determinant of the Fisher information.

    F(theta) = -log L(theta) - log |I(theta)| / 2

Two classes: I = sum omega_i p_i (1 - p_i) z_i z_i', and the slope of the penalty is the sum of
h_i (p_i - 1/2) z_i with leverages h_i. K classes: the parameters are those of the classes 1..K-1
against class 0 (the determinant is the same for any reference), the blocks of I are

    I_kl = sum omega_i p_ik (1[k = l] - p_il) z_i z_i',

and with C = I^-1, Q_kl = z_i' C_kl z_i, a_k = Q_kk, r = Q p, s = p'Q p, the penalty's slope by
theta_m is -1/2 sum omega_i p_im (a_m - 2 r_m - p'a + 2 s) z_i.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from adaline.objective import Objective
from adaline.procedures.newton.curvature import depth, root_of
from adaline.procedures.newton.rows import leverages, projected, summed
from adaline.results import Array

_CHUNK = 2**20  # numbers held at a time


@dataclass(frozen=True, eq=False)
class Point:
    """F, its slope g, the information H and A with A A' = H^-1; g is like theta without class 0."""

    value: float
    g: Array
    H: Array
    A: Array


def jeffreys(loss: Objective, theta: Array) -> Point:
    """Firth's criterion at theta (K, q); of more than two classes the first row is zero."""
    return _two(loss, theta) if loss.K == 1 else _many(loss, theta)


def _two(loss: Objective, theta: Array) -> Point:
    root = np.empty(loss.X.shape[0])
    here = loss.at(theta, root)
    H = loss.gram(root)
    A, log_det = _factored(H, depth(loss))
    h = leverages(loss, root, A)
    v = projected(loss, theta.T)[:, 0]
    extra = summed(loss, -0.5 * h * np.tanh(0.5 * v))  # 1/2 - p = -tanh(v/2) / 2
    return Point(here.f - 0.5 * log_det, here.g - extra, H, A)


def _many(loss: Objective, theta: Array) -> Point:
    K, q = theta.shape
    P = np.empty((loss.X.shape[0], K))
    here = loss.at(theta, P)
    omega = loss.omega if len(loss.omega) else np.ones(len(P))
    H = _information(loss, P, omega)
    A, log_det = _factored(H, depth(loss))
    U = _slopes(loss, P[:, 1:], A.reshape(K - 1, q, -1))
    extra = np.array([summed(loss, omega * u) for u in U.T])
    return Point(here.f - 0.5 * log_det, here.g[1:] - extra, H, A)


def _information(loss: Objective, P: Array, omega: Array) -> Array:
    """The matrix of the blocks I_kl of the classes 1..K-1."""
    K, q = P.shape[1], len(loss.penalty)
    H = np.zeros((K - 1, q, K - 1, q))
    for k in range(1, K):
        H[k - 1, :, k - 1] = loss.gram(np.sqrt(omega * P[:, k] * (1 - P[:, k])))
        for m in range(1, k):
            G = -loss.gram(np.sqrt(omega * P[:, k] * P[:, m]))
            if not loss.intercept:
                G[-1, -1] = 0.0
            H[k - 1, :, m - 1] = H[m - 1, :, k - 1] = G
    return H.reshape((K - 1) * q, (K - 1) * q)


def _slopes(loss: Objective, P: Array, A: Array) -> Array:
    """p_m (a_m - 2 r_m - p'a + 2 s) / 2 of each row, (n, K - 1); A is (K - 1, q, m)."""
    k, q, m = A.shape
    turned = np.ascontiguousarray(A.transpose(1, 0, 2).reshape(q, k * m))
    U, rows = np.empty_like(P), max(_CHUNK // (k * m), 256)
    for i in range(0, len(P), rows):
        part = slice(i, i + rows)
        few = replace(loss, X=loss.X[part], target=loss.target[part], omega=loss.omega[part])
        B, p = projected(few, turned).reshape(-1, k, m), P[part]
        Bp = np.einsum("ikm,ik->im", B, p)
        a, r = np.einsum("ikm,ikm->ik", B, B), np.einsum("ikm,im->ik", B, Bp)
        s = np.einsum("im,im->i", Bp, Bp) - 0.5 * np.einsum("ik,ik->i", p, a)
        U[part] = 0.5 * p * (a - 2.0 * r + 2.0 * s[:, None])
    return U


def _factored(H: Array, depth: float) -> tuple[Array, float]:
    """A with A A' = H^-1, and log |H|."""
    found = root_of(H, depth)
    if found.rank < len(H):
        raise ValueError(
            f"columns depend on others (rank {found.rank} of {len(H)}, the intercept included); "
            "Firth's penalty needs independent ones. Drop columns, or give alpha a number."
        )
    d = np.sqrt(np.diagonal(H))
    log_det = 2 * float(np.sum(np.log(d))) + float(np.linalg.slogdet(H / d / d[:, None])[1])
    return found.A, log_det
