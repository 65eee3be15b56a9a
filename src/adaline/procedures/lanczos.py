"""The penalty of ridge on large sparse rows, by estimates of what a spectrum would tell.

Rules need y'f(K)y and tr f(K) for K = A A' and f(s) = lam/(s + lam), its square and its logarithm,
at every lam. Lanczos steps from y give the first for all lam at once, as a Gauss quadrature with
nodes theta and weights tau^2 (Golub and Meurant 2010); steps from random signs z give the second,
since E z'f(K)z = tr f(K) (Hutchinson 1989). These are estimates, and the sentences say so.

Called by `Ridge`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adaline.procedures.krylov import CentredRows
from adaline.procedures.penalties import RULES
from adaline.results import Array

PROBES = 6  # random vectors; more cost more time than the flat minimum is worth
STEPS = 60  # of Lanczos
TOGETHER = 32  # vectors in a product
AGREE = 0.02  # shares by which half the steps may differ for a penalty to be considered
GRID = np.geomspace(1e-9, 1e3, 481)  # penalties, in units of the largest eigenvalue


@dataclass(frozen=True)
class Quadrature:
    """Nodes theta and weights tau2 (m, q) of each vector; f is integrated by sum tau2 f(theta)."""

    theta: Array
    tau2: Array

    def kept(self, lam: Array, power: int = 1) -> Array:
        """Of (lam/(theta + lam))^power, (L, q)."""
        lost = lam[:, None, None] / (self.theta + lam[:, None, None])
        return np.asarray((lost**power * self.tau2).sum(axis=1))

    def logs(self, lam: Array) -> Array:
        """Of ln(1 + theta/lam), (L, q)."""
        return np.asarray((np.log1p(self.theta / lam[:, None, None]) * self.tau2).sum(axis=1))


def estimated_penalties(s: CentredRows, rule: str) -> tuple[Array, list[str]]:
    """alpha of each target by "auto" (which is "gcv" here), "gcv" or "evidence", and sentences."""
    if rule == "loo":
        raise ValueError(
            f'alpha="loo" needs eigenvalues of X, and {s.X.shape[0]} sparse rows of '
            f'{s.X.shape[1]} columns are too many for that; give "auto", "gcv" or "evidence", '
            "which are estimated from products, or a number."
        )
    rule = "gcv" if rule == "auto" else rule
    k, length = s.B.shape[1], np.linalg.norm(s.B, axis=0)
    probes = lanczos(s, random_probes(s))
    top = float(probes[STEPS].theta.max(initial=0.0))
    if not top > 0.0:
        return np.ones(k), ["no column of X varies: every penalty gives weights of zero."]
    lam, alphas, sentences = top * GRID, np.empty(k), []
    for t in range(0, k, TOGETHER):
        block = slice(t, min(t + TOGETHER, k))
        own = lanczos(s, s.B[:, block] / np.where(length[block] > 0, length[block], 1.0))
        F, half = (
            criterion(rule, lam, own[m], probes[m], length[block], s) for m in (STEPS, STEPS // 2)
        )
        for j, i in enumerate(range(block.start, block.stop)):
            flat = not length[i] > 1e-14 * np.sqrt(s.weight)
            alphas[i], said = minimiser(lam, F[:, j], half[:, j], RULES[rule], flat)
            # How sure the estimated trace is.
            each = probes[STEPS].kept(alphas[i : i + 1])[0]
            share = each.std(ddof=1) / np.sqrt(PROBES) / max(each.mean(), 1e-300)
            note = f"({STEPS} Lanczos steps; the trace by {PROBES} random vectors, to {share:.1g}.)"
            sentences.append(f"{said} {note}")
    return np.ldexp(alphas, 2 * s.e), sentences


def criterion(
    rule: str, lam: Array, y: Quadrature, z: Quadrature, length: Array, s: CentredRows
) -> Array:
    """The criterion at each penalty, (L, k)."""
    n = float(len(s.root) - s.intercept)
    if rule == "gcv":
        left = n * z.kept(lam).mean(axis=1)[:, None]  # residual degrees of freedom
        count = max(s.weight, float(len(s.root)))
        return np.asarray(length**2 * y.kept(lam, 2) / s.weight * (count / left) ** 2)
    with np.errstate(divide="ignore"):
        logs = np.log(length**2 * y.kept(lam) / n)
    return np.asarray(n * logs + n * z.logs(lam).mean(axis=1)[:, None])


def minimiser(lam: Array, F: Array, half: Array, name: str, flat: bool) -> tuple[float, str]:
    """The penalty of the least error among those where half the steps say nearly the same."""
    if flat:
        return lam[-1], "y is constant: every penalty predicts it, and a large one was taken."
    close = np.abs(F - half) <= AGREE * np.abs(F)
    first = len(lam) - int(np.argmin(np.append(close[::-1], False)))  # all from here on agree
    i = first + int(np.argmin(F[first:])) if first < len(lam) else len(lam) - 1
    if i == len(lam) - 1:
        return 1e3 * lam[i], f"{name} is least at infinite penalties: the weights are zero."
    if i == first:
        return lam[i], (
            f"{name} falls to the smallest penalty that {STEPS} Lanczos steps can tell, which was "
            "taken; a smaller number may be better."
        )
    return lam[i], f"alpha minimises an estimate of {name}."


def random_probes(s: CentredRows) -> Array:
    """Random signs without what is common to all rows, each of length one."""
    Z = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(s.root), PROBES))
    if s.intercept:
        Z -= np.multiply.outer(s.root, s.root @ Z / s.weight)
    return np.asarray(Z / np.linalg.norm(Z, axis=0))


def lanczos(s: CentredRows, V: Array) -> dict[int, Quadrature]:
    """Quadratures after all steps and after half of them, for A A' and columns of length one."""
    q = V.shape[1]
    diagonal, beside = np.zeros((STEPS, q)), np.zeros((STEPS, q))
    before, size = np.zeros_like(V), np.zeros(q)
    for m in range(STEPS):
        U = s.times(s.transposed(V)) - size * before
        diagonal[m] = np.einsum("ij,ij->j", U, V)
        U -= diagonal[m] * V
        size = np.linalg.norm(U, axis=0)
        # Where the span is exhausted the next vector is zero, and adds nodes of no weight.
        size = np.where(size > 1e-13 * np.abs(diagonal[: m + 1]).max(axis=0), size, 0.0)
        beside[m] = size
        before, V = V, np.divide(U, size, out=np.zeros_like(U), where=size > 0)
    return {m: gauss_nodes(diagonal[:m], beside[: m - 1]) for m in (STEPS // 2, STEPS)}


def gauss_nodes(diagonal: Array, beside: Array) -> Quadrature:
    """By the eigenvectors of the tridiagonal matrices."""
    m, q = diagonal.shape
    T, at = np.zeros((q, m, m)), np.arange(m)
    T[:, at, at] = diagonal.T
    T[:, at[1:], at[:-1]] = T[:, at[:-1], at[1:]] = beside.T
    theta, vectors = np.linalg.eigh(T)
    return Quadrature(np.maximum(theta.T, 0.0), vectors[:, 0].T ** 2)
