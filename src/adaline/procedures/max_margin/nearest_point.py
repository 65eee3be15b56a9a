"""The point of a polytope nearest to the origin: Wolfe's algorithm.

The polytope is given by an oracle that finds its lowest vertex in a direction, so it may be the
convex hull of rows, or the difference of two hulls, without a list of its vertices.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline._jit.little import for_sums
from adaline._jit.working_time import working_time
from adaline._threads import one_blas_thread
from adaline.kernels.separability import corral
from adaline.results import Array

Oracle = Callable[[Array], tuple[Any, Array, float]]

_DEPENDENT = 1e-13  # of a vertex's length: what the corral does not span is rounding
_ROUNDING = 2.0**-50  # of |z| |v|: a gap below it is the rounding of z'v
_STEPS = 20  # times the numbers in R: what a move to the nearest point takes, roughly
_STALLED = 12  # steps in a row without progress
_LEVEL = 1e-10  # of z'z: how far v'z of the corral may differ on the way, before it is corrected


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """Where the polytope comes nearest to the origin.

    Attributes
    ----------
    point : ndarray of shape (d,)
        weights' vertices.
    vertices : ndarray of shape (m, d)
        The corral: affinely independent vertices, m <= d + 1.
    ids : list
        Their names, as the oracle gave them.
    weights : ndarray of shape (m,)
        Positive, with sum one.
    gap : float
        z'z - min z'v at z = point, zero at the nearest point; |z - nearest|^2 <= gap.
    stopped : str
        "nearest", "zero" (the origin is in the polytope, to rounding), "positive" (asked for),
        "stalled" (rounding allows no further step), "iterations" or "time".
    iterations : int
    """

    point: Array
    vertices: Array
    ids: list[Any]
    weights: Array
    gap: float
    stopped: str
    iterations: int


class _Corral:
    """Affinely independent vertices, factorised as [s 1; V'] = Q R, and convex weights."""

    def __init__(self, d: int, scale: float) -> None:
        self.scale, self.m = scale, 0
        size = min(d + 2, 16)
        self.V, self.R = np.empty((size, d)), np.zeros((size, size))
        self.Q = np.zeros((d + 1, size), order="F")
        self.weights, self.places = np.zeros(size), np.zeros(size, dtype=np.int64)
        self.work, self.trial = np.empty((5, size)), np.empty((2, d))  # room for the kernels
        self.names: list[Any] = []  # of all vertices that ever came in
        self._work = _STEPS * (d + 1) ** 2

    @property
    def ids(self) -> list[Any]:
        """Names of the vertices inside."""
        return [self.names[i] for i in self.places[: self.m]]

    def insert(self, name: Any, vertex: Array) -> bool:
        """Append a vertex with weight zero; False where the others span it."""
        if self.m == len(self.V):
            self._grow()
        column = np.empty(len(vertex) + 1)
        column[0], column[1:] = self.scale, vertex
        before = np.sqrt(column @ column)
        insert = for_sums(corral.insert, self._work)
        if insert(self.Q, self.R, self.m, column) <= _DEPENDENT * before:
            return False
        self.V[self.m], self.weights[self.m] = vertex, 0.0
        self.places[self.m] = len(self.names)
        self.names.append(name)
        self.m += 1
        return True

    def fill(self, names: list[Any], vertices: Array, weights: Array) -> bool:
        """Take in many vertices at once; False, and none is taken, where some depend on others."""
        m, d = vertices.shape
        columns = np.vstack([np.full(m, self.scale), vertices.T])
        with one_blas_thread(1):  # threads of BLAS would change the last digit
            Q, R = np.linalg.qr(columns)
        lengths = np.sqrt(np.einsum("ij,ij->j", columns, columns))
        if m > d or not (np.abs(R.diagonal()) > _DEPENDENT * lengths).all():
            return False
        self.m = m
        self._grow()
        self.V[:m], self.Q[:, :m], self.R[:m, :m] = vertices, Q, R
        self.weights[:m], self.places[:m] = weights, np.arange(m)
        self.names = list(names)
        return True

    def _grow(self) -> None:
        k, d = self.V.shape
        size = min(2 * max(self.m, k), d + 2)
        V, Q, R = np.empty((size, d)), np.zeros((d + 1, size), order="F"), np.zeros((size, size))
        V[:k], Q[:, :k], R[:k, :k] = self.V, self.Q, self.R
        self.V, self.Q, self.R, self.work = V, Q, R, np.empty((5, size))
        self.weights = np.concatenate([self.weights, np.zeros(size - k)])
        self.places = np.concatenate([self.places, np.zeros(size - k, dtype=np.int64)])

    def settle(self, level: float) -> Array:
        """Move to the nearest point of the affine hull, without vertices that block the way.

        Corrected in double-double where v'z of the vertices differ by more than level z'z.
        """
        z = np.empty(self.V.shape[1])
        arrays = self.Q, self.R, self.V, self.weights, self.places
        settle = for_sums(corral.settle, self._work)
        self.m = settle(*arrays, self.m, z, level, self.work, self.trial)
        return z


def nearest_point(
    oracle: Oracle,
    first: tuple[Any, Array],
    *,
    near: tuple[list[Any], Array, Array] | None = None,
    tol: float = 1e-12,
    max_iter: int = 10_000,
    deadline: float | None = None,
    until_positive: bool = False,
) -> NearestPoint:
    """The point z of least length in a polytope, as a convex combination of its vertices.

    Parameters
    ----------
    oracle : callable
        z (d,) to (id, vertex (d,), z'vertex): a vertex that minimises z'v. Ids are hashable.
    first : (id, vertex)
        Any vertex, to begin with.
    near : (ids, vertices (m, d), weights (m,)), optional
        More vertices, and the convex combination of them to begin with.
    tol : float
        Stop when z'z - min z'v <= tol z'z, or where rounding hides the difference.
    max_iter : int
        Calls of the oracle at most.
    deadline : float, optional
        `working_time()` at which to stop.
    until_positive : bool
        Stop as soon as z'v > 0 at every vertex: z separates them from the origin.

    References
    ----------
    P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976.

    Examples
    --------
    >>> V = np.array([[2.0, -1.0], [2.0, 3.0], [5.0, 0.0]])
    >>> def lowest(z):
    ...     i = int(np.argmin(V @ z))
    ...     return i, V[i], float(V[i] @ z)
    >>> found = nearest_point(lowest, (2, V[2]), tol=1e-12, max_iter=100)
    >>> found.point.round(12) + 0.0, sorted(found.ids), found.stopped
    (array([2., 0.]), [0, 1], 'nearest')
    """
    name, vertex = first
    size = float(np.sqrt(vertex @ vertex))
    hull = _Corral(len(vertex), size if size > 0.0 else 1.0)
    level, z = _LEVEL, np.array(vertex, dtype=np.float64)
    if near is not None and hull.fill(*near):
        z = hull.settle(level)
    else:
        hull.insert(name, z)
        hull.weights[0] = 1.0
    stopped, gap, best, idle, calls = "iterations", np.inf, np.inf, 0, 0
    while calls < max_iter:
        calls += 1
        name, vertex, value = oracle(z)
        square = float(z @ z)
        gap = square - value
        size = max(size, float(np.sqrt(vertex @ vertex)))
        if until_positive and value > 0.0:
            stopped = "positive"
        elif square <= (4e-16 * size) ** 2:
            stopped = "zero"
        elif gap <= max(tol * square, _ROUNDING * size * np.sqrt(square)):
            stopped = "nearest"
        elif deadline is not None and working_time() > deadline:
            stopped = "time"
        else:
            idle = 0 if square < best * (1.0 - 1e-15) else idle + 1
            best = min(best, square)
            if idle <= _STALLED and name not in hull.ids and hull.insert(name, vertex):
                z = hull.settle(level)
                continue
            close = "nearest" if gap <= 1e-10 * square else "stalled"
            stopped = "zero" if square <= (1e-14 * size) ** 2 else close
        if level > 0.0 and stopped in ("nearest", "zero", "stalled"):  # the end is corrected always
            level, stopped, best, idle = 0.0, "iterations", np.inf, 0
            z = hull.settle(level)
            continue
        break
    m = hull.m
    return NearestPoint(
        z, hull.V[:m].copy(), hull.ids, hull.weights[:m].copy(), gap, stopped, calls
    )
