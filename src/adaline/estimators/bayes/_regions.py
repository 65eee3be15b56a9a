"""P(decide i | j) on a line, split where the decision changes; and what the plane shares.

Letters: K classes, j the true one; answers have K + 1 entries, the last for reject.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import gaussian_kde, norm

from adaline.estimators.bayes.densities import Density
from adaline.estimators.bayes.learned_densities import Gaussian
from adaline.results import Array

Ints = NDArray[np.intp]
Code = Callable[[Ints, Array], Ints]

NOWHERE = -2
"""Decision where no class has any density: nothing to decide, and nothing to count."""

NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)


class Rule(Protocol):
    """What the integrals need of a classifier."""

    @property
    def densities(self) -> tuple[Density, ...]: ...

    def decide(self, X: Array) -> Ints:
        """Index of the class decided, -1 for reject, NOWHERE without any density."""
        ...


def moments_if_gaussian(density: Density) -> tuple[Array, Array] | None:
    """Mean (p,) and covariance (p, p) of a regular Gaussian density, None for any other."""
    f = density.source
    if isinstance(f, Gaussian):
        return f.mean, f.covariance
    if getattr(getattr(f, "dist", None), "name", "") == "norm":
        return np.array([float(f.mean())]), np.array([[float(f.var())]])
    if type(f).__name__ == "multivariate_normal_frozen" and f.cov_object.rank == f.dim:
        return np.array(f.mean, dtype=np.float64), np.array(f.cov, dtype=np.float64)
    return None


def line(rule: Rule, j: int) -> tuple[Array, float]:
    """P(decide i | j) on the line, and how far the probabilities are from summing to one."""
    lines = [_Line.of(density) for density in rule.densities]
    x = np.unique(np.concatenate([one.points for one in lines]))
    code = coded(rule, j, lambda _, x: x[:, None])
    _, cuts = changes(code, x[None, :], halvings=120)
    cuts = np.sort(cuts)
    one = lines[j]
    if one.cdf is None or one.sf is None:
        edges = np.unique(np.concatenate([x, cuts]))
        a, b = edges[:-1], edges[1:]
        mass = gauss(lambda t: np.exp(rule.densities[j].log(t[:, None])), a, b)
    else:
        a, b = np.append(-np.inf, cuts), np.append(cuts, np.inf)
        below = one.cdf(a)
        # The smaller tail keeps its digits.
        mass = np.where(below > 0.5, one.sf(a) - one.sf(b), one.cdf(b) - below)
    # A cut is the first number with the new decision, so a piece is decided as its start is.
    starts = np.where(np.isinf(a), x[0], a)
    decided = decision_of(code(np.zeros(len(starts), dtype=np.intp), starts))
    return _sums(len(lines), decided, mass)


def changes(code: Code, x: Array, halvings: int) -> tuple[Ints, Array]:
    """Where code changes along each sorted row of x (m, G): row, and first number after it.

    Changes that begin and end between two neighbours of x stay unseen.
    """
    m, G = x.shape
    c = code(np.repeat(np.arange(m), G), x.ravel()).reshape(m, G)
    rows, k = np.nonzero(c[:, 1:] != c[:, :-1])
    lo, end, before, after = x[rows, k], x[rows, k + 1], c[rows, k], c[rows, k + 1]
    found: list[tuple[Ints, Array]] = []
    for _ in range(8):  # one gap may hold a few changes, one after the other
        hi = end.copy()
        for _ in range(halvings):
            middle = lo + 0.5 * (hi - lo)
            if not rows.size or np.all((middle == lo) | (middle == hi)):
                break
            same = code(rows, middle) == before
            lo, hi = np.where(same, middle, lo), np.where(same, hi, middle)
        found.append((rows, hi))
        now = code(rows, hi)
        more = now != after
        rows, lo, end, before, after = rows[more], hi[more], end[more], now[more], after[more]
    return np.concatenate([r for r, _ in found]), np.concatenate([x for _, x in found])


def coded(rule: Rule, j: int, at: Callable[[Ints, Array], Array]) -> Code:
    """The decision, and whether class j has any density: both are places to split."""

    def code(rows: Ints, x: Array) -> Ints:
        if not x.size:
            return np.empty(0, dtype=np.intp)
        X = at(rows, x)
        return np.asarray(2 * (rule.decide(X) - NOWHERE) + (rule.densities[j].log(X) > -np.inf))

    return code


def decision_of(code: Ints) -> Ints:
    return code // 2 + NOWHERE


def _sums(K: int, decided: Ints, mass: Array) -> tuple[Array, float]:
    P = np.zeros(K + 1)
    some = decided != NOWHERE
    np.add.at(P, decided[some] % (K + 1), mass[some])
    return P, abs(1.0 - float(P.sum()))


def gauss(f: Callable[[Array], Array], a: Array, b: Array) -> Array:
    """Gauss-Legendre integral of f over each [a, b]; f sees all nodes of all pieces at once."""
    half = 0.5 * (b - a)
    nodes = (a + half)[:, None] + half[:, None] * NODES
    return np.asarray((f(nodes.ravel()).reshape(nodes.shape) @ WEIGHTS) * half)


@dataclass(frozen=True)
class _Line:
    """A density of one feature: points close enough to see every decision, cdf and 1 - cdf."""

    points: Array
    cdf: Callable[[Array], Array] | None = None
    sf: Callable[[Array], Array] | None = None

    @classmethod
    def of(cls, density: Density) -> _Line:
        moments = moments_if_gaussian(density)
        f: Any = density.source
        if moments is not None:
            f = norm(moments[0][0], np.sqrt(moments[1][0, 0]))
        if isinstance(f, gaussian_kde):
            return cls._of_kernels(f)
        names = (
            ("ppf", "isf", "cdf", "sf") if hasattr(f, "ppf") else ("icdf", "iccdf", "cdf", "ccdf")
        )
        if not all(hasattr(f, name) for name in names):
            return cls(_points_around_mode(density))
        ppf, isf, cdf, sf = (getattr(f, name) for name in names)
        tail, bulk = np.geomspace(1e-300, 1e-3, 200), np.linspace(1e-3, 0.999, 801)
        points = np.concatenate([ppf(tail), ppf(bulk), isf(tail)])
        ends = np.array(f.support() if hasattr(f, "support") else [], dtype=np.float64)
        ends = ends[np.isfinite(ends)]
        around = [ends, np.nextafter(ends, -np.inf), np.nextafter(ends, np.inf)]
        points = np.concatenate([points, *around])
        points = np.unique(points[np.isfinite(points)])
        return cls(np.concatenate([points, np.linspace(points[0], points[-1], 801)]), cdf, sf)

    @classmethod
    def _of_kernels(cls, f: gaussian_kde) -> _Line:
        data, width = f.dataset[0], float(np.sqrt(f.covariance[0, 0]))
        low, high = data.min() - 37.0 * width, data.max() + 37.0 * width
        # Nothing about a sum of kernels is narrower than a kernel.
        points = np.linspace(low, high, min(20_000, int(4.0 * (high - low) / width)))
        # The mean of the kernels' own distribution functions; -z for the upper tail.
        return cls(
            np.concatenate([points, np.quantile(data, np.linspace(0.0, 1.0, 801))]),
            lambda x: np.array([f.weights @ ndtr((t - data) / width) for t in x]),
            lambda x: np.array([f.weights @ ndtr((data - t) / width) for t in x]),
        )


def _points_around_mode(density: Density) -> Array:
    """Points for a density known by its logarithm only: dense at its mode, on every scale."""
    wide = np.geomspace(1e-6, 1e9, 600)
    x = np.concatenate([-wide[::-1], [0.0], wide])
    if hasattr(density.source, "support"):
        a, b = np.array(density.source.support(), dtype=np.float64)
        if np.isfinite(a) and np.isfinite(b):
            return np.linspace(a, b, 1201)
    for _ in range(12):
        k = int(np.argmax(density.log(x[:, None])))
        mode = x[k]
        x = np.linspace(x[max(k - 1, 0)], x[min(k + 1, len(x) - 1)], 65)
    return np.concatenate([mode - wide[::-1], [mode], mode + wide])
