"""The hyperplane of largest margin, from the two points where the classes' hulls are nearest.

    min |p - q|    over p in the hull of the positive class, q in that of the negative one

p - q runs through a polytope. Its lowest vertex in a direction is the difference of a row of each
class, found in one pass over the samples, and Wolfe's algorithm finds its point nearest to the
origin. Then w = (p - q)/|p - q|, and b puts the hyperplane halfway. Without a bias the polytope is
the hull of the rows t x.

Where many rows decide, Wolfe's algorithm finds them one by one, and each costs passes over all
rows. `solve_deciding_rows` is two to five times as fast there, and gives up where the equations are
ill-conditioned or the classes overlap.

The margin is a length: columns keep their relative units, and one power of two for all brings
them into range. Centring, which only a bias allows, takes large offsets out exactly enough: each
difference has one rounding error of its own size.

Called by estimators/separation. Legend: Z (n, p) scaled and centred rows; t -1 or +1; a weights,
convex for each class; z = sum_i t_i a_i z_i; h_i = t_i z_i'z.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.margins import margin_bounds
from adaline.kernels import hulls
from adaline.linalg import UNIT, cholesky, length, solve_cholesky, triangle_of
from adaline.parameters import is_sparse
from adaline.procedures.nearest_point import Oracle, nearest_point
from adaline.results import Array
from adaline.sums.threads import one_blas_thread

Ints = NDArray[np.int64]

UNPACKED = 2**24  # numbers up to which CSR rows are unpacked and centred: 128 MB
FEWEST, MOST = 256, 4096  # rows for equations: below, Wolfe is fast; above, G is too large
START_TOL = 1e-2  # of z'z: steps between two rows end here, and know nearly all that decide
START_STEPS = 16  # for each row, at most
ROUNDS = 40  # of equations, at most; 2 to 12 were seen where they converged
RIDGE = 1e-13  # of a row's square: rows that depend on each other share their weight


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
    passes, solved = 0, None
    if not is_sparse(rows) and FEWEST <= len(rows) <= min(MOST, 4 * rows.shape[1]):
        solved, passes = solve_deciding_rows(rows, t, bias, tol, min(max_iter, ROUNDS))
    if solved is not None:
        a, stopped = solved, "nearest"
    else:
        oracle, first = difference_of_hulls(rows, t, bias)
        nearest = nearest_point(oracle, first, tol=tol, max_iter=max_iter)
        a, stopped, passes = np.zeros(len(t)), nearest.stopped, nearest.iterations
        for (i, j), weight in zip(nearest.ids, nearest.weights, strict=True):
            a[i] += weight
            a[j] += weight if bias else 0.0
    support = np.flatnonzero(a)
    S, side, weights = as_dense(Z[support]), t[support], a[support]
    for own in (side > 0, side < 0) if bias else ():
        weights[own] /= weights[own].sum()
    directions = [to_unit_length((weights * side) @ S)]
    if solved is None:
        directions.append(to_unit_length(level_direction(S, side, bias)))
    bounds = [margin_bounds(Z, t, w, support, weights, bias) for w in directions]
    best = int(np.argmax([lower for lower, _ in bounds]))
    w, (lower, upper) = directions[best], bounds[best]
    v = np.asarray(Z @ w)
    middle = -0.5 * (v[t > 0].min() + v[t < 0].max()) if bias else 0.0
    b = float(middle - centre @ w)
    # What rounding b away from the middle costs, exactly: the margin is that of the returned b.
    lost = math.fsum([b, *dot_terms(centre, w)])
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
        stopped=stopped,
        iterations=passes,
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


def solve_deciding_rows(
    Z: Array, t: Array, bias: bool, tol: float, rounds: int
) -> tuple[Array | None, int]:
    """(a, passes over the rows) with z'z - min z'v <= tol z'z; a is None where this gives up.

    Steps between two rows find out soon which rows decide, but slowly how much. The equations of
    the rows that decide say how much, but only once nearly all of them are known:

        h_i is the same for all rows of a class, and the a_i of each class have the sum one.

    All rows whose weight would be negative leave at once, and all that are nearer to the hyperplane
    than the deciding ones enter at once. That may go round in circles: where the rows that enter do
    not become fewer, this gives up.
    """
    n, passes = len(t), 0
    with one_blas_thread(1):  # threads of BLAS would change the last digit
        G = Z @ Z.T
        if not bias:
            G *= t * t[:, None]
        side = t if bias else np.ones(n)  # without a bias there is one hull, of the rows t z
        classes = np.column_stack([side > 0, side < 0] if bias else [side > 0]).astype(np.float64)
        a = (classes / classes.sum(axis=0)).sum(axis=1)
        hulls.approach(G, side, a, side * (G @ (side * a)), START_TOL, START_STEPS * n)
        active, fewest = a > 0.0, n
        s = float(G.diagonal().mean())
        for _ in range(rounds):
            own = np.flatnonzero(active)
            e = classes[own]
            # s e e' adds the same to all h of a class and makes K regular where the rows are
            # affinely independent.
            K = G[np.ix_(own, own)] * side[own] * side[own, None] + s * (e @ e.T)
            K.flat[:: len(K) + 1] += RIDGE * s * len(K)
            R = cholesky(K.T)
            if R is None:
                return None, passes
            U = solve_cholesky(R, e)
            b = U @ np.linalg.solve(e.T @ U, np.ones(e.shape[1]))
            if not np.isfinite(b).all():
                return None, passes
            if (b > 0.0).all():  # one correction, by what the rows themselves say of h
                passes += 1
                h = (t * (Z @ ((t[own] * b) @ Z[own])))[own]
                step = solve_cholesky(R, e @ ((b * h) @ e) - h)
                b = b + step - U @ np.linalg.solve(e.T @ U, e.T @ step)
            if not (b > 0.0).all():
                active[own[~(b > 0.0)]] = False
                continue
            passes += 1
            h = t * (Z @ ((t[own] * b) @ Z[own]))
            levels = (b * h[own]) @ e
            square = float(levels.sum())
            if square - sum(float(h[c > 0.0].min()) for c in classes.T) <= tol * square:
                a = np.zeros(n)
                a[own] = b
                return a, passes
            nearer = classes @ levels - h > tol / 4.0 * square
            nearer[own] = False
            if not 0 < np.count_nonzero(nearer) < fewest:
                return None, passes
            fewest = int(np.count_nonzero(nearer))
            active |= nearer
    return None, passes


def level_direction(S: Array, side: Array, bias: bool) -> Array:
    """The shortest w with all supports S at the same distance from the hyperplane.

    The same direction as the difference of the nearest points, which is all rounding where these
    are much closer to each other than to the origin: equations keep their digits longer.
    """
    A = S[1:] - S[0] if bias else side[:, None] * S
    r = side[1:] - side[0] if bias else np.ones(len(side))
    return np.asarray(np.linalg.lstsq(A, r, rcond=max(A.shape) * UNIT)[0])


def dot_terms(a: Array, b: Array) -> list[float]:
    """Numbers whose exact sum is a'b: products of halves of 26 bits are exact (Veltkamp)."""
    parts = []
    for x in (a, b):
        high = 134217729.0 * x - (134217729.0 * x - x)
        parts.append((high, x - high))
    return [float(v) for x in parts[0] for y in parts[1] for v in x * y]


def scale_and_centre(X: Any, bias: bool) -> tuple[Any, Array, int]:
    """(X 2**-e - centre, centre, e), at most one in size; large CSR is not unpacked and centred."""
    n, p = X.shape
    values = X.data if is_sparse(X) else X
    e = int(np.frexp(max(values.max(initial=0.0), -values.min(initial=0.0)))[1])
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
    """a 2**e, infinite where float64 has no such number."""
    with np.errstate(over="ignore"):
        return float(np.ldexp(a, e))


def to_unit_length(w: Array) -> Array:
    """w at length one, divided twice, as the first quotient may be off; zero stays zero."""
    for _ in range(2):
        w = w / (length(w) or 1.0)
    return w


def as_dense(rows: Any) -> Array:
    """Dense rows of dense or CSR ones."""
    return np.asarray(rows.toarray() if is_sparse(rows) else rows)
