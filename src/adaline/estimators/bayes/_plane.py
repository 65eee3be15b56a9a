"""P(decide i | j) in the plane, by quadrature split where the decision changes.

Letters: (u, v) coordinates in which class j has centre 0 and unit spread, x = centre + L (u, v);
K classes; answers have K + 1 entries, the last for reject.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.estimators.bayes._regions import (
    NODES,
    NOWHERE,
    Ints,
    Rule,
    changes,
    coded,
    decision_of,
    gauss,
    moments_if_gaussian,
)
from adaline.estimators.bayes.densities import Density
from adaline.results import Array

# Lobatto's nodes include both ends, so that a jump just inside an end is seen.
_P = np.polynomial.Legendre.basis(13)
_LOBATTO = np.concatenate([[-1.0], np.sort(_P.deriv().roots().real), [1.0]])
_LOBATTO_WEIGHTS = 2.0 / (14 * 13 * _P(_LOBATTO) ** 2)
_NEAR = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.5, 9.0])
_FAR = 9.0 * 4.0 ** np.arange(1, 19)


def plane(rule: Rule, j: int) -> tuple[Array, float]:
    """P(decide i | j) in the plane, and an estimate of its error."""
    density, K = rule.densities[j], len(rule.densities)
    centre, L, far = _frame(density)
    half = np.concatenate([_NEAR, _FAR]) if far else _NEAR
    edges = np.concatenate([-half[:0:-1], half])
    steps = np.diff(edges)[:, None] * np.arange(8) / 8
    probes = np.append((edges[:-1, None] + steps).ravel(), edges[-1])
    log_volume = np.linalg.slogdet(L)[1]
    needles = _needles(rule, j, centre, L)

    def strip(u: Array) -> Array:
        """Integral over v of the density at (u, v), by decision: shape (m, K + 1)."""

        def at(rows: Ints, v: Array) -> Array:
            return np.asarray(centre + u[rows, None] * L[:, 0] + v[:, None] * L[:, 1])

        code = coded(rule, j, at)
        grid = [np.tile(probes, (len(u), 1)), *(needle.across(u) for needle in needles)]
        cut_rows, cuts = changes(code, np.sort(np.hstack(grid), axis=1), halvings=52)
        rows = np.concatenate([np.repeat(np.arange(len(u)), len(edges)), cut_rows])
        v = np.concatenate([np.tile(edges, len(u)), np.clip(cuts, edges[0], edges[-1])])
        order = np.lexsort((v, rows))
        rows, v = rows[order], v[order]
        piece = (rows[1:] == rows[:-1]) & (v[1:] > v[:-1])
        rows, a, b = rows[:-1][piece], v[:-1][piece], v[1:][piece]
        decided = decision_of(code(rows, a + 0.5 * (b - a)))
        node_rows = np.repeat(rows, len(NODES))
        mass = gauss(lambda t: np.exp(density.log(at(node_rows, t)) + log_volume), a, b)
        out = np.zeros((len(u), K + 1))
        some = decided != NOWHERE
        np.add.at(out, (rows[some], decided[some] % (K + 1)), mass[some])
        return out

    along = np.concatenate([edges, *(needle.along() for needle in needles)])
    panels = np.unique(np.clip(along, edges[0], edges[-1]))
    P, error = _adaptive(strip, panels, tolerance=1e-10)
    return P, max(error, abs(1.0 - float(P.sum())))


def _adaptive(f: Callable[[Array], Array], edges: Array, tolerance: float) -> tuple[Array, float]:
    """Integral of a vector function over the panels, halved where halves and whole disagree."""

    def panels(a: Array, b: Array) -> Array:
        half = 0.5 * (b - a)
        nodes = (a + half)[:, None] + half[:, None] * _LOBATTO
        values = [f(part) for part in np.array_split(nodes.ravel(), 1 + nodes.size // 512)]
        shaped = np.concatenate(values).reshape(*nodes.shape, -1)
        return np.asarray(np.einsum("pqi,q,p->pi", shaped, _LOBATTO_WEIGHTS, half))

    a, b = edges[:-1], edges[1:]
    whole = panels(a, b)
    total, error = np.zeros(whole.shape[1]), 0.0
    for _ in range(26):
        middle = a + 0.5 * (b - a)
        left, right = panels(a, middle), panels(middle, b)
        gap = np.abs(whole - left - right).max(axis=1)
        done = gap <= tolerance
        total += (left + right)[done].sum(axis=0)
        error += float(gap[done].sum())
        more = ~done
        a, b = np.concatenate([a[more], middle[more]]), np.concatenate([middle[more], b[more]])
        whole = np.concatenate([left[more], right[more]])
        if not a.size:
            return total, error
    return total + whole.sum(axis=0), error + float(gap[more].sum())


@dataclass(frozen=True)
class _Needle:
    """A class much narrower than the one integrated, in whose units it has centre and S."""

    centre: Array
    S: Array

    def along(self) -> Array:
        reach = np.sqrt(self.S[0, 0]) * _NEAR
        return np.concatenate([self.centre[0] - reach, self.centre[0] + reach])

    def across(self, u: Array) -> Array:
        """Probes for v, given u: shape (m, G)."""
        slope = self.S[1, 0] / self.S[0, 0]
        reach = np.sqrt(max(self.S[1, 1] - slope * self.S[1, 0], 0.0)) * np.append(-_NEAR, _NEAR)
        return np.asarray((self.centre[1] + slope * (u - self.centre[0]))[:, None] + reach)


def _needles(rule: Rule, j: int, centre: Array, L: Array) -> list[_Needle]:
    """Classes whose region the grid of class j, a sixteenth of its spread, could miss."""
    found = []
    for k, density in enumerate(rule.densities):
        if k != j:
            other, M, _ = _frame(density)
            A = np.linalg.solve(L, M)
            if np.linalg.svd(A, compute_uv=False)[-1] < 0.3:
                found.append(
                    _Needle(np.asarray(np.linalg.solve(L, other - centre), float), A @ A.T)
                )
    return found


def _frame(density: Density) -> tuple[Array, Array, bool]:
    """Centre, a matrix L with centre + L z for z of unit spread, and whether tails reach far."""
    moments = moments_if_gaussian(density)
    if moments is not None:
        return moments[0], _root(moments[1]), False
    f = density.source
    for names in (("mean", "cov"), ("loc", "shape")):
        centre, spread = (getattr(f, name, ()) for name in names)
        if np.shape(centre) == (2,) and np.shape(spread) == (2, 2):
            return np.asarray(centre, float), _root(spread), True
    if not density.can_draw:
        raise ValueError(
            f"where the density of class {density.label!r} lies is unknown: it has neither mean "
            "and cov nor rvs(size, random_state). Give it one of them to integrate it."
        )
    rows = density.draw(4096, np.random.default_rng(0))
    low, centre, high = np.quantile(rows, [0.25, 0.5, 0.75], axis=0)
    return centre, np.diag((high - low) / 1.349), True


def _root(spread: Any) -> Array:
    """L with L L' = spread."""
    return np.asarray(np.linalg.cholesky(np.asarray(spread, dtype=np.float64)), dtype=np.float64)
