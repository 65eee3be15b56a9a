"""The hyperplane of largest margin, by the two points where the classes' hulls come nearest.

    min |p - q|    over p in the hull of the positive class, q in that of the negative

p - q runs through a polytope whose lowest vertex in a direction z is a row of each class, found in
one pass over the samples; Wolfe's algorithm finds its point nearest to the origin. Where many rows
decide, equations find it faster (`_many_rows`), unless they are ill-conditioned. Then
w = (p - q)/|p - q|, and b puts the hyperplane halfway. Without a bias the polytope is the hull of
the rows t x.

The margin is a length: columns keep their relative units, and one power of two for all brings
them into range. Centring, which only a bias allows, takes large offsets out exactly enough: each
difference has one rounding error of its own size.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.margins import margin_bounds
from adaline.linalg import UNIT, condition, inverse_triangle, length, singular, triangle_of
from adaline.procedures.max_margin._first_corral import first_corral
from adaline.procedures.max_margin._many_rows import many_rows
from adaline.procedures.max_margin.nearest_point import nearest_point
from adaline.results import Array
from adaline.tiles import is_sparse

_UNPACKED = 2**24  # numbers up to which CSR rows are unpacked, and centred
_WELL = 1e5  # condition numbers whose square one correction makes up for


@dataclass(frozen=True, eq=False)
class Hulls:
    """What was found: w of length one, b, bounds, the nearest points and the rows they rest on."""

    w: Array
    b: float
    margin: float
    lower: float
    upper: float
    positive: Array
    negative: Array
    support: NDArray[np.int64]
    weights: Array
    stopped: str
    iterations: int


def max_margin(X: Any, t: Array, *, bias: bool, tol: float, max_iter: int) -> Hulls:
    """The largest margin of rows X (dense or CSR, finite) with targets t = -1 or +1, both present.

    `lower` is not positive where rounding hides whether there is any margin.
    """
    e = _exponent(X)
    Z, centre = _prepared(X, e, bias)
    found = _deciding_rows(_coordinates(Z), t, bias, tol, max_iter)
    support, weights = found.support, found.weights
    S, side = _dense(Z[support]), t[support]
    directions = [_unit((weights * side) @ S)]
    if not found.solved:
        directions.append(_unit(_level(S, side, bias)))
    bounds = [margin_bounds(Z, t, w, support, weights, bias) for w in directions]
    best = int(np.argmax([lower for lower, _ in bounds]))
    w, (lower, upper) = directions[best], bounds[best]
    v = np.asarray(Z @ w)
    middle = -0.5 * (v[t > 0].min() + v[t < 0].max()) if bias else 0.0
    b = float(middle - centre @ w)
    # The hyperplane as it is returned: what rounding b away from the middle costs, exactly.
    margin = float((t * (v + _sum_exactly(b, centre, w))).min())
    points = [weights[k] @ S[k] + centre for k in (side > 0, side < 0)]
    return Hulls(
        w=w,
        b=_times_power(b, e),
        margin=_times_power(margin, e),
        lower=min(math.nextafter(_times_power(lower, e), -math.inf), sys.float_info.max),
        upper=math.nextafter(_times_power(upper, e), math.inf),
        positive=np.ldexp(points[0], e),
        negative=np.ldexp(points[1], e),
        support=support,
        weights=weights,
        stopped=found.stopped,
        iterations=found.iterations,
    )


@dataclass(frozen=True, eq=False)
class _DecidingRows:
    """Rows with their weights; solved: their point alone is known to be near enough."""

    support: NDArray[np.int64]
    weights: Array
    solved: bool
    stopped: str
    iterations: int


def _deciding_rows(rows: Any, t: Array, bias: bool, tol: float, max_iter: int) -> _DecidingRows:
    """By equations where many rows decide, and by Wolfe's algorithm elsewhere."""
    many = None if is_sparse(rows) else many_rows(rows, t, bias, tol, max_iter)
    if many is not None and many.solved:
        return _DecidingRows(*_shares(many.weights, t, bias), True, "nearest", many.passes)
    near = None if many is None else first_corral(rows, t, many.weights, bias)
    found = nearest_point(*_polytope(rows, t, bias), near=near, tol=tol, max_iter=max_iter)
    total = np.zeros(len(t))
    for (i, j), weight in zip(found.ids, found.weights, strict=True):
        total[i] += weight
        if bias:
            total[j] += weight
    return _DecidingRows(*_shares(total, t, bias), False, found.stopped, found.iterations)


def _shares(total: Array, t: Array, bias: bool) -> tuple[NDArray[np.int64], Array]:
    """Rows with weight, and their weights: with a bias one convex combination for each class."""
    support = np.flatnonzero(total)
    weights = total[support]
    for side in (t[support] > 0, t[support] < 0) if bias else ():
        weights[side] /= weights[side].sum()
    return support, weights


def _times_power(a: float, e: int) -> float:
    """a 2**e, infinite where float64 has no such number."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(a, e))


def _exponent(X: Any) -> int:
    """The power of two next above the largest entry."""
    values = X.data if is_sparse(X) else X
    top = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    return int(np.frexp(top)[1])


def _prepared(X: Any, e: int, bias: bool) -> tuple[Any, Array]:
    """(X 2**-e - centre, centre); CSR too large to unpack is not centred."""
    n, p = X.shape
    if is_sparse(X) and n * p > _UNPACKED:
        Z = X.astype(np.float64)
        Z.data = np.ldexp(Z.data, -e)
        return Z, np.zeros(p)
    Z = X.toarray() if is_sparse(X) else X
    Z = np.ldexp(Z.astype(np.float64), -e)
    if not bias:
        return Z, np.zeros(p)
    centre = Z[0] + (Z - Z[0]).mean(axis=0)
    Z -= centre
    return Z, centre


def _coordinates(Z: Any) -> Any:
    """Rows with the same lengths and angles in no more than n dimensions: Z' = Q R gives R'."""
    if is_sparse(Z) or Z.shape[1] <= Z.shape[0]:
        return Z
    return np.ascontiguousarray(triangle_of(np.array(Z.T, order="F")).T)


def _polytope(Z: Any, t: Array, bias: bool) -> tuple[Any, Any]:
    """The oracle of lowest vertices, and the vertex to begin with."""
    positive, negative = np.flatnonzero(t > 0), np.flatnonzero(t < 0)

    def row(i: int) -> Array:
        return np.asarray(_dense(Z[i : i + 1])[0])

    def lowest(z: Array) -> tuple[tuple[int, int], Array, float]:
        v = np.asarray(Z @ z)
        if bias:
            i, j = int(positive[v[positive].argmin()]), int(negative[v[negative].argmax()])
            return (i, j), row(i) - row(j), float(v[i] - v[j])
        i = int((t * v).argmin())
        return (i, i), t[i] * row(i), float(t[i] * v[i])

    difference = np.asarray(t @ Z) if not bias else _mean(Z, positive) - _mean(Z, negative)
    name, vertex, _ = lowest(difference)
    return lowest, (name, vertex)


def _mean(Z: Any, rows: NDArray[np.int64]) -> Array:
    return np.asarray(Z[rows].mean(axis=0)).ravel()


def _level(S: Array, side: Array, bias: bool) -> Array:
    """The shortest w with all supports at the same distance from the hyperplane.

    The same direction as the difference of the nearest points, which is all rounding where these
    are much closer to each other than to the origin: equations keep their digits longer.
    """
    A = S[1:] - S[0] if bias else side[:, None] * S
    r = side[1:] - side[0] if bias else np.ones(len(side))
    if len(A) <= A.shape[1]:  # w = A'(A A')^-1 r, and a correction by the residual
        R = triangle_of(np.array(A.T, order="F"))
        W = inverse_triangle(R)
        if W is not None and condition(R) < _WELL:
            with np.errstate(over="ignore", invalid="ignore"):
                w = A.T @ (W @ (W.T @ r))
                w = w + A.T @ (W @ (W.T @ (r - A @ w)))
            if np.isfinite(w).all():
                return np.asarray(w)
    U, s, Vt = singular(A)
    keep = s > max(A.shape) * UNIT * s.max(initial=0.0)
    return np.asarray((Vt[keep].T / s[keep]) @ (U[:, keep].T @ r))


def _unit(w: Array) -> Array:
    """w at length one, twice, as the first quotient may be off; zero stays zero."""
    for _ in range(2):
        w = w / (length(w) or 1.0)
    return w


def _dense(rows: Any) -> Array:
    return np.asarray(rows.toarray() if is_sparse(rows) else rows)


def _sum_exactly(b: float, centre: Array, w: Array) -> float:
    """b + centre'w, rounded once: products in two halves (Dekker), which are exact, then summed."""
    products = [x * y for x in _halves(centre) for y in _halves(w)]
    return math.fsum([b, *np.concatenate(products).tolist()])


def _halves(a: Array) -> tuple[Array, Array]:
    """a = high + low with 26 bits each."""
    c = 134217729.0 * a
    high = c - (c - a)
    return high, a - high
