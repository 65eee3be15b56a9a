"""Proven digits of many ridge solutions that share one eigendecomposition.

Each target t has its own matrix G_t = S + D_t, S the scatter up to rounding and D_t the penalties,
and its own near inverse W_t W_t' with

    W_t = diag(size) V diag(root_t),     root_t^2 = inverse_t, about 1/(s + lam_t)

where diag(size) S diag(size) is about V diag(s) V', and size_j^2 D_jt about lam_t. As in `digits`,
alpha_t >= |W_t' G_t W_t - I| turns a gradient into a bound on the error; all matrices here are
shared, so that a target costs O(p^2). Neither V nor s is trusted: what they miss is in alpha.

Legend: c = c_t (p, k) about G_t w_t; rho (p,) with |S - exact| <= rho rho'.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.certificates.digits import gamma
from adaline.linalg import UNIT
from adaline.results import Array

_SLACK = 1.02  # the bounds themselves are computed in float64


@dataclass(frozen=True)
class SharedInverse:
    """W_t of all targets: V (p, p) and size (p,) for all, inverse (p, k) for each."""

    V: Array
    size: Array
    inverse: Array

    def solved(self, g: Array) -> Array:
        """W_t W_t' g_t, (p, k)."""
        return np.asarray(self.size[:, None] * (self.V @ (self.inverse * self._turned(g))))

    def _turned(self, g: Array) -> Array:
        return np.asarray(self.V.T @ (self.size[:, None] * g))

    def contractions(self, S: Array, s: Array, lam: Array, penalty: Array, rho: Array) -> Array:
        """alpha_t >= |W_t'(S + D_t)W_t - I|, (k,); D_t is `penalty` (p, k)."""
        p, V = len(S), np.abs(self.V)
        H = S * np.outer(self.size, self.size)
        F = self.V.T @ H @ self.V - np.diag(s)
        F = np.abs(F) + gamma(2 * p + 8) * (V.T @ np.abs(H) @ V)
        N = np.abs(self.V.T @ self.V - np.eye(p)) + gamma(p + 2) * (V.T @ V)
        near, grown = float(np.linalg.norm(N)), float(np.linalg.norm(V) ** 2)
        # How far D_t is from a multiple of size^-2, and the inverse from that of s + lam.
        uneven = np.abs(penalty * self.size[:, None] ** 2 - lam).max(axis=0) + 8 * UNIT * lam
        most = self.inverse.max(axis=0)
        off = np.abs((s[:, None] + lam) * self.inverse - 1).max(axis=0) + 8 * UNIT
        of_s = np.sqrt(np.einsum("jt,jt->t", self.inverse, (F * F) @ self.inverse))
        of_rounding = ((V.T @ (self.size * rho)) ** 2) @ self.inverse
        alpha = of_s + lam * most * near + uneven * most * grown + np.sqrt(p) * off + of_rounding
        return np.asarray(_SLACK * alpha)

    def bounds(self, alpha: Array, g: Array, noise: Array) -> Array:
        """Bounds on |exact - w| where g_t = c_t - G_t w_t was found up to noise, (p, k)."""
        p, V, size = len(g), np.abs(self.V), self.size[:, None]
        root = np.sqrt(self.inverse)
        terms = root * (V.T @ (size * np.abs(g)))
        own = gamma(p + 8) * np.linalg.norm(terms, axis=0)
        u = np.linalg.norm(root * self._turned(g), axis=0) + own
        doubt = np.linalg.norm(root * (V.T @ (size * noise)), axis=0)
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = (alpha * u + doubt) / (1 - alpha) + own
        far = size * np.sqrt((V * V) @ self.inverse) * reach
        rounded = gamma(p + 8) * size * (V @ (root * terms))
        found = _SLACK * (far + rounded) + np.abs(self.solved(g))
        return np.asarray(np.where(alpha < 1, found, np.inf))
