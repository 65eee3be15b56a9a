"""A Hessian transported from the theta where it was made, without another sum over all rows.

Where the rows z are like draws from an elliptical distribution, slopes that depend on the values
v = theta z alone change the Hessian in two ways only (Stein's identity):

    H = A (x) G + (I (x) G Q) C (I (x) Q'G)

with G the Gram matrix of the rows, A the mean over rows of omega (diag(p) - p p') (a number for two
classes), and Q a basis of the weights and the bias. A small sample of the rows is enough to
estimate A and the part of H in the few dimensions of Q: so an old Hessian becomes a new one. Where
rows are not elliptical, steps are as good as without this, and L-BFGS corrects them.

Letters: S = A G at the theta where it was made; B (K, a) a basis of the differences of classes;
Q (q, r) with Q'SQ = I; T (a r, a r) the Hessian within B (x) Q, relative to that where S was made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline._threads import one_blas_thread
from adaline.linalg import eigen, inverse_cholesky
from adaline.objective import Objective
from adaline.results import Array

_NEAR = 0.05  # a change of theta, relative, that changes slopes little
_LEAST, _LARGEST = 1.0 / 64.0, 2.0  # what T's eigenvalues are kept within


@dataclass(frozen=True, eq=False)
class TransportedHessian:
    """H^-1 = B A^-1 B' (x) S^-1 + (B (x) Q) (T^-1 - A^-1 (x) I) (B (x) Q)'; A = diag(lam)."""

    B: Array
    lam: Array
    Q: Array
    C: Array

    def solve(self, g: Array, solved: Array) -> Array:
        """H^-1 g, where solved = g S^-1."""
        inside = (self.C @ (self.B.T @ g @ self.Q).ravel()).reshape(len(self.lam), -1)
        return np.asarray(self.B @ ((self.B.T @ solved) / self.lam[:, None] + inside @ self.Q.T))


class Sample:
    """A spread sample of the rows, and their slopes at the theta where the Hessian was made."""

    def __init__(self, loss: Objective, stride: int) -> None:
        self.rows, self.stride = loss.thinned(stride), stride
        omega = loss.omega[::stride] if len(loss.omega) else self.rows.omega
        stands = self.rows.omega.sum() / (omega.sum() if len(loss.omega) else len(omega))
        self.stands = float(stands)  # how many rows each stands for

    def set_origin(self, theta: Array, root: Array, plain: bool) -> None:
        """The Hessian was made at theta, where the rows have these slopes.

        plain tells that it is a plain sum over rows. A shrunk Hessian is no better at this theta
        than at another, so it is transported from zero.
        """
        self.theta, self.plain = theta if plain else np.zeros_like(theta), plain
        self.then = self._slopes(root) if self.rows.K == 1 else self.rows.omega / self.rows.K

    def transport(self, S: Array, theta: Array, root: Array) -> TransportedHessian | None:
        """The Hessian S transported to theta; None where it cannot be, or theta hardly moved."""
        if np.linalg.norm(theta - self.theta) <= _NEAR * np.linalg.norm(theta):
            return None
        self.theta = theta
        now = self._slopes(root) if self.rows.K == 1 else root[:: self.stride]
        with one_blas_thread(len(S)):
            return transported(self.rows, S, self.then, theta, now, self.plain)

    def _slopes(self, root: Array) -> Array:
        return np.asarray(self.stands * root[:: self.stride] ** 2)


def transported(
    few: Objective, S: Array, then: Array, theta: Array, now: Array, plain: bool
) -> TransportedHessian | None:
    """The Hessian S, made where the rows' slopes were `then`, transported to theta.

    now are the slopes at theta: omega p (1 - p) (m,); for K classes p (m, K), and S was made at
    zero. plain tells that S is a plain sum over rows. None where it cannot be transported.
    """
    Q, omega = _basis(S, theta), few.omega
    if Q is None:
        return None
    if few.K == 1:
        B, lam = np.ones((1, 1)), np.array([np.sum(now) / np.sum(then)])
    else:
        A = np.diag(omega @ now) - (now.T * omega) @ now
        lam, B = eigen(A * (few.K / float(omega.sum())))
        lam, B = lam[1:], B[:, 1:]
    T = _within(few, now, then if plain else None, B, Q) if np.all(lam > 0) else None
    if T is None:
        return None
    lam = np.clip(lam, _LEAST, _LARGEST)
    return TransportedHessian(B, lam, Q, _inverse(T) - np.diag(np.repeat(1.0 / lam, Q.shape[1])))


def _inverse(T: Array) -> Array:
    """T^-1, with the eigenvalues of T kept within bounds beyond which a sample is not trusted."""
    one = np.eye(len(T))
    inside = inverse_cholesky(T - _LEAST * one), inverse_cholesky(_LARGEST * one - T)
    if inside[0] is not None and inside[1] is not None:  # nearly always, and quickly checked
        W = inverse_cholesky(T)
        if W is not None:
            return np.asarray(W @ W.T)
    values, vectors = eigen(T)
    return np.asarray((vectors / np.clip(values, _LEAST, _LARGEST)) @ vectors.T)


def _basis(S: Array, theta: Array) -> Array | None:
    """Q (q, r) with Q'SQ = I, spanning the weights, minus what classes share, and the bias."""
    rows = theta if len(theta) == 1 else theta - theta.mean(axis=0)
    rows = np.vstack([rows, np.zeros(theta.shape[1])])
    rows[-1, -1] = 1.0
    length = np.sqrt(np.einsum("ij,ij->i", rows @ S, rows))
    rows = rows[length > 0] / length[length > 0][:, None]
    values, U = eigen(rows @ S @ rows.T)
    keep = values > 1e-8 * values[-1]
    return np.asarray((rows.T @ U[:, keep]) / np.sqrt(values[keep])) if np.any(keep) else None


def _within(few: Objective, now: Array, then: Array | None, B: Array, Q: Array) -> Array | None:
    """T from the slopes now, relative to the slopes `then` (m,) of the same sample, so that its
    sampling error cancels; or relative to S where `then` is None."""
    from adaline.procedures.newton.rows import projected  # few rows have no sample

    Z, D = projected(few, Q), Q.T @ (few.penalty[:, None] * Q)
    if then is not None:
        W = inverse_cholesky(Z.T @ (Z * then[:, None]) + D)
        if W is None:
            return None
        Z, D = Z @ W, W.T @ D @ W
    a, r = B.shape[1], Q.shape[1]
    if few.K == 1:
        return np.asarray(Z.T @ (Z * now[:, None]) + D)
    # omega (diag(p) - p p') (x) z z', summed over rows: the first part class by class.
    T = np.zeros((a, r, a, r))
    for k in range(few.K):
        G = Z.T @ (Z * (few.omega * now[:, k])[:, None])
        T += np.outer(B[k], B[k])[:, None, :, None] * G[None, :, None, :]
    T = T.reshape(a * r, a * r) + np.kron(np.eye(a), D)
    P = np.sqrt(few.omega)[:, None] * (now @ B)
    U = (P[:, :, None] * Z[:, None, :]).reshape(-1, a * r)
    return np.asarray(T - U.T @ U)
