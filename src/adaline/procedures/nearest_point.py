"""The point of a polytope nearest to the origin, by Wolfe's algorithm.

Called by `max_margin`, for the difference of two convex hulls, and by `separability`, for the hull
of signed rows. An oracle finds the vertex that is lowest in a direction, so the vertices need not
be listed.

The algorithm keeps a corral: affinely independent vertices v_1 ... v_m. Its steps are

    insert   the lowest vertex in the direction z,
    settle   move to the point z of least length in the affine hull of the corral. If a weight
             would become negative, stop where the first one reaches zero, remove that vertex and
             settle again.

With [s 1; v_1 ... v_m] = Q R, the weights u of that point solve R u = c Q'e_1, where c makes their
sum one. At this point v_i'z is the same for all i.

P. Wolfe, Finding the nearest point in a polytope, Mathematical Programming 11, 1976.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from adaline.kernels import hulls
from adaline.results import Array

Oracle = Callable[[Array], tuple[Any, Array, float]]

DEPENDENT = 1e-13  # of a vertex's length: what the corral does not span is rounding
ROUNDING = 2.0**-50  # of |z| |v|: a smaller gap may be the rounding of z'v
STALLED = 12  # steps in a row without progress; rounding sometimes takes two or three back
LEVEL = 1e-10  # of z'z: by how much the v_i'z may differ before the weights are corrected


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


class Corral:
    """Affinely independent vertices, factorised as [s 1; V'] = Q R, and convex weights."""

    def __init__(self, d: int, scale: float) -> None:
        self.scale, self.m = scale, 0
        self.names: list[Any] = []  # of all vertices that ever came in
        self.Q, self.R, self.V = np.zeros((d + 1, 0), order="F"), np.zeros((0, 0)), np.zeros((0, d))
        self.weights, self.places = np.zeros(0), np.zeros(0, dtype=np.int64)
        self.grow(min(d + 2, 16))

    def grow(self, size: int) -> None:
        """Make room for more vertices."""
        d, k = self.V.shape[1], len(self.V)
        Q, R, V = np.zeros((d + 1, size), order="F"), np.zeros((size, size)), np.empty((size, d))
        Q[:, :k], R[:k, :k], V[:k] = self.Q, self.R, self.V
        self.Q, self.R, self.V = Q, R, V
        self.weights = np.append(self.weights, np.zeros(size - k))
        self.places = np.append(self.places, np.zeros(size - k, dtype=np.int64))
        self.room = *(np.empty(size) for _ in range(5)), np.empty(d), np.empty(d)

    @property
    def ids(self) -> list[Any]:
        """Names of the vertices inside."""
        return [self.names[i] for i in self.places[: self.m]]

    def insert(self, name: Any, vertex: Array) -> bool:
        """Append a vertex with weight zero; False where the others span it."""
        if self.m == len(self.V):
            self.grow(min(2 * self.m, len(vertex) + 2))
        column = np.empty(len(vertex) + 1)
        column[0], column[1:] = self.scale, vertex
        size = float(np.sqrt(column @ column))
        if hulls.insert(self.Q, self.R, self.m, column) <= DEPENDENT * size:
            return False
        self.V[self.m], self.weights[self.m] = vertex, 0.0
        self.places[self.m] = len(self.names)
        self.names.append(name)
        self.m += 1
        return True

    def settle(self, level: float) -> Array:
        """Move to the nearest point of the affine hull, without vertices that block the way."""
        z = np.empty(self.V.shape[1])
        arrays = self.Q, self.R, self.V, self.weights, self.places
        self.m = hulls.settle(*arrays, self.m, z, level, *self.room)
        return z


def nearest_point(
    oracle: Oracle,
    first: tuple[Any, Array],
    *,
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
    tol : float
        Stop when z'z - min z'v <= tol z'z, or where rounding hides the difference.
    max_iter : int
        Calls of the oracle at most.
    deadline : float, optional
        `time.thread_time()` at which to stop.
    until_positive : bool
        Stop as soon as z'v > 0 at every vertex: z separates them from the origin.

    Examples
    --------
    >>> V = np.array([[2.0, -1.0], [2.0, 3.0], [5.0, 0.0]])
    >>> def lowest(z):
    ...     i = int(np.argmin(V @ z))
    ...     return i, V[i], float(V[i] @ z)
    >>> nearest = nearest_point(lowest, (2, V[2]), tol=1e-12, max_iter=100)
    >>> nearest.point.round(12) + 0.0, sorted(nearest.ids), nearest.stopped
    (array([2., 0.]), [0, 1], 'nearest')
    """
    name, vertex = first
    z = np.array(vertex, dtype=np.float64)
    size = float(np.sqrt(z @ z))  # of the longest vertex so far
    corral = Corral(len(z), size if size > 0.0 else 1.0)
    corral.insert(name, z)
    corral.weights[0] = 1.0
    level, stopped, gap, best, idle, calls = LEVEL, "iterations", np.inf, np.inf, 0, 0
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
        elif gap <= max(tol * square, ROUNDING * size * np.sqrt(square)):
            stopped = "nearest"
        elif deadline is not None and time.thread_time() > deadline:
            stopped = "time"
        else:
            idle = 0 if square < best * (1.0 - 1e-15) else idle + 1
            best = min(best, square)
            if idle <= STALLED and name not in corral.ids and corral.insert(name, vertex):
                z = corral.settle(level)
                continue
            close = "nearest" if gap <= 1e-10 * square else "stalled"
            stopped = "zero" if square <= (1e-14 * size) ** 2 else close
        if level > 0.0 and stopped in ("nearest", "zero", "stalled"):
            # The steps did without corrections where they could; the result does not.
            level, stopped, best, idle = 0.0, "iterations", np.inf, 0
            z = corral.settle(level)
            continue
        break
    m = corral.m
    vertices, weights = corral.V[:m].copy(), corral.weights[:m].copy()
    return NearestPoint(z, vertices, corral.ids, weights, gap, stopped, calls)
