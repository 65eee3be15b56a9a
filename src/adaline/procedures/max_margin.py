"""The hyperplane of largest margin, by the nearest point of a polytope (Wolfe's algorithm).

    min |p - q|    over p in the hull of the positive class, q in that of the negative one

p - q runs through a polytope. Its lowest vertex in a direction is the difference of a row of each
class, found in one pass over the samples: an oracle, so that vertices need not be listed. Then
w = (p - q)/|p - q|, and b puts the hyperplane halfway. Without a bias the polytope is the hull of
the rows t x.

Wolfe's algorithm keeps a corral: affinely independent vertices v_1 ... v_m. Its steps are

    insert   the lowest vertex in the direction z,
    settle   move to the point z of least length in the affine hull of the corral. If a weight
             would become negative, stop where the first one reaches zero, remove that vertex and
             settle again.

With [s 1; v_1 ... v_m] = Q R, the weights u of that point solve R u = c Q'e_1, where c makes their
sum one. At this point v_i'z is the same for all i. (P. Wolfe, Finding the nearest point in a
polytope, Mathematical Programming 11, 1976.)

The margin is a length: columns keep their relative units, and one power of two for all brings
them into range. Centring, which only a bias allows, takes large offsets out exactly enough: each
difference has one rounding error of its own size.

Called by estimators/separation, and by `separability` for the hull of signed rows. Legend: Z (n, p)
scaled and centred rows; t -1 or +1; a weights, convex for each class; z = sum_i t_i a_i z_i;
h_i = t_i z_i'z.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.margins import margin_bounds
from adaline.kernels import hulls
from adaline.kernels.double_double import values
from adaline.linalg import UNIT, length, triangle_of
from adaline.parameters import is_sparse
from adaline.results import Array

Ints = NDArray[np.int64]
Oracle = Callable[[Array], tuple[Any, Array, float]]

UNPACKED = 2**24  # numbers up to which CSR rows are unpacked and centred: 128 MB
DEPENDENT = 1e-13  # of a vertex's length: what the corral does not span is rounding
ROUNDING = 2.0**-50  # of |z| |v|: a smaller gap may be the rounding of z'v
STALLED = 12  # steps in a row without progress; rounding sometimes takes two or three back
LEVEL = 1e-10  # of z'z: by how much the v_i'z may differ before the weights are corrected


@dataclass(frozen=True, eq=False)
class Hulls:
    """w of length one, b, bounds of the margin, the nearest points and the rows they rest on."""

    w: Array
    b: float
    margin: float
    lower: float
    upper: float
    positive: Array
    negative: Array
    support: Ints
    weights: Array
    stopped: str
    iterations: int


def max_margin(X: Any, t: Array, *, bias: bool, tol: float, max_iter: int) -> Hulls:
    """The largest margin of rows X (dense or CSR, finite) with targets t = -1 or +1, both present.

    `lower` is not positive where rounding hides whether there is any margin.
    """
    Z, centre, e = scale_and_centre(X, bias)
    rows = Z
    if not is_sparse(Z) and Z.shape[1] > Z.shape[0]:
        # Z' = Q R: the columns of R have the lengths and angles of the rows, in n dimensions.
        rows = np.ascontiguousarray(triangle_of(np.array(Z.T, order="F")).T)
    oracle, first = difference_of_hulls(rows, t, bias)
    nearest = nearest_point(oracle, first, tol=tol, max_iter=max_iter)
    a = np.zeros(len(t))
    for (i, j), weight in zip(nearest.ids, nearest.weights, strict=True):
        a[i] += weight
        a[j] += weight if bias else 0.0
    support = np.flatnonzero(a)
    S, side, weights = as_dense(Z[support]), t[support], a[support]
    for own in (side > 0, side < 0) if bias else ():
        weights[own] /= weights[own].sum()
    directions = [(weights * side) @ S, level_direction(S, side, bias)]
    directions = [to_unit_length(w) for w in directions]
    bounds = [margin_bounds(Z, t, w, support, weights, bias) for w in directions]
    best = int(np.argmax([lower for lower, _ in bounds]))
    w, (lower, upper) = directions[best], bounds[best]
    v = np.asarray(Z @ w)
    middle = -0.5 * (v[t > 0].min() + v[t < 0].max()) if bias else 0.0
    b = float(middle - centre @ w)
    # What rounding b away from the middle costs: the margin is that of the returned b.
    lost = float(values(centre[None], 0.0 * w[None], w, 0.0 * w, b, 0.0)[0])
    margin = float((t * (v + lost)).min())
    positive, negative = (weights[own] @ S[own] + centre for own in (side > 0, side < 0))
    return Hulls(
        w=w,
        b=times_power(b, e),
        margin=times_power(margin, e),
        lower=min(math.nextafter(times_power(lower, e), -math.inf), sys.float_info.max),
        upper=math.nextafter(times_power(upper, e), math.inf),
        positive=np.ldexp(positive, e),
        negative=np.ldexp(negative, e),
        support=support,
        weights=weights,
        stopped=nearest.stopped,
        iterations=nearest.iterations,
    )


def difference_of_hulls(Z: Any, t: Array, bias: bool) -> tuple[Oracle, tuple[Any, Array]]:
    """The oracle of lowest vertices, and the vertex to begin with; names are pairs of rows."""
    positive, negative = np.flatnonzero(t > 0), np.flatnonzero(t < 0)

    def row(i: int) -> Array:
        return np.asarray(as_dense(Z[i : i + 1])[0])

    def lowest(z: Array) -> tuple[tuple[int, int], Array, float]:
        v = np.asarray(Z @ z)
        if bias:
            i, j = int(positive[v[positive].argmin()]), int(negative[v[negative].argmax()])
            return (i, j), row(i) - row(j), float(v[i] - v[j])
        i = int((t * v).argmin())
        return (i, i), t[i] * row(i), float(t[i] * v[i])

    means = [np.asarray(Z[rows].mean(axis=0)).ravel() for rows in (positive, negative) if bias]
    name, vertex, _ = lowest(means[0] - means[1] if bias else np.asarray(t @ Z))
    return lowest, (name, vertex)


def level_direction(S: Array, side: Array, bias: bool) -> Array:
    """The shortest w with all supports S at the same distance from the hyperplane.

    The same direction as the difference of the nearest points, which is all rounding where these
    are much closer to each other than to the origin: equations keep their digits longer.
    """
    A = S[1:] - S[0] if bias else side[:, None] * S
    r = side[1:] - side[0] if bias else np.ones(len(side))
    return np.asarray(np.linalg.lstsq(A, r, rcond=max(A.shape) * UNIT)[0])


def scale_and_centre(X: Any, bias: bool) -> tuple[Any, Array, int]:
    """(X 2**-e - centre, centre, e), at most one in size; large CSR is not unpacked and centred."""
    n, p = X.shape
    numbers = X.data if is_sparse(X) else X
    e = int(np.frexp(max(numbers.max(initial=0.0), -numbers.min(initial=0.0)))[1])
    centre = np.zeros(p)
    if is_sparse(X) and n * p > UNPACKED:
        Z = X.astype(np.float64)
        Z.data = np.ldexp(Z.data, -e)
        return Z, centre, e
    Z = np.ldexp(as_dense(X).astype(np.float64), -e)
    if bias:
        centre = Z[0] + (Z - Z[0]).mean(axis=0)
        Z -= centre
    return Z, centre, e


def times_power(a: float, e: int) -> float:
    with np.errstate(over="ignore"):
        return float(np.ldexp(a, e))


def to_unit_length(w: Array) -> Array:
    """w at length one, divided twice, as the first quotient may be off; zero stays zero."""
    for _ in range(2):
        w = w / (length(w) or 1.0)
    return w


def as_dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows)


@dataclass(frozen=True, eq=False)
class NearestPoint:
    """Where the polytope comes nearest to the origin."""

    point: Array  # weights' vertices
    vertices: Array  # the corral: affinely independent, at most d + 1
    ids: list[Any]  # their names, as the oracle gave them
    weights: Array  # positive, with sum one
    gap: float  # z'z - min z'v at the point z; |z - nearest|^2 <= gap
    # "nearest", "zero" (the origin is in the polytope, to rounding), "positive" (asked for),
    # "stalled" (rounding allows no further step), "iterations" or "time"
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
        d, k = self.V.shape[1], len(self.V)
        Q, R, V = np.zeros((d + 1, size), order="F"), np.zeros((size, size)), np.empty((size, d))
        Q[:, :k], R[:k, :k], V[:k] = self.Q, self.R, self.V
        self.Q, self.R, self.V = Q, R, V
        self.weights = np.append(self.weights, np.zeros(size - k))
        self.places = np.append(self.places, np.zeros(size - k, dtype=np.int64))
        self.room = np.empty((5, size)), np.empty((2, d))

    @property
    def ids(self) -> list[Any]:
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

    The oracle maps z (d,) to (id, vertex, z'vertex) of a vertex that minimises z'v; `first` is any
    vertex and its id. Ends where z'z - min z'v <= tol z'z, or rounding hides the difference; with
    `until_positive` as soon as z'v > 0 at every vertex; at the deadline of `time.thread_time()`.

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
