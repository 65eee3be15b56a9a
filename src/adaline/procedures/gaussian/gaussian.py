"""From the moments of classes to Gaussian densities, by maximum likelihood.

Letters: K classes, p features, m_k mean, n_k weight and p_k prior of class k, N the sum of n_k,
S the covariance. Everything is about `centre`, the mean of all rows, so that a large offset costs
no digits.

Lecture: 5.8, the linear Gaussian classifier; posterior probability as a single-layer network.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline._threads import Cuts, one_blas_thread, over_cuts, pieces
from adaline.class_moments import ClassMoments
from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural
from adaline.linalg import UNIT
from adaline.procedures.gaussian import precision
from adaline.procedures.gaussian.precision import Metric
from adaline.procedures.gaussian.shrinkage import drowned, groups, rao_blackwell
from adaline.results import Array, Certificate, Result
from adaline.tiles import is_sparse, linear_values, tile_rows, tiles

_WIDE = 4096  # more features than this, and sparse rows are not unpacked to measure distances
_BUFFER = 2**21  # numbers in the largest tile: 16 MB
_LOST = 1e-12  # of the log odds: what an offset may cost that is not taken from the rows first
_SCORES = 2**18  # of a block of rows, at most: two megabytes
_HUGE = 1000  # exponent of distances that would be infinite, were they not made comparable
_FEW_COLUMNS = 64  # with fewer, numpy's steps are so short that threads wait for one another,
_FEW_THREADS = 8  # so that more of them than these lose time (bench_threads)
_SMALL = 2**13  # numbers in rows, and in a matrix: too few for threads of BLAS, which change bits


@dataclass(frozen=True, eq=False)
class Gaussians(Result):
    """K Gaussian densities with priors, in units 2**exponent and about `centre`.

    Attributes
    ----------
    exponent : ndarray of int, shape (p,)
    centre, means : ndarray of shape (p,) and (K, p)
        Means are relative to the centre.
    priors : ndarray of shape (K,)
    metrics : tuple of Metric
        One for all classes if shared, else one a class.
    W, b : ndarray of shape (K, p) and (K,)
        Linear discriminants W x + b = S^-1 m_k'x - m_k' S^-1 m_k / 2 + ln p_k if shared, else
        W is empty and b = ln p_k - ln |S_k| / 2.
    certificate : Certificate
    """

    exponent: NDArray[np.int64]
    centre: Array
    means: Array
    priors: Array
    metrics: tuple[Metric, ...]
    W: Array
    b: Array
    certificate: Certificate

    def scores(self, x: Array) -> Array:
        """ln p_k f_k(x) up to what all classes share, (n, K), for rows x about the centre."""
        if len(self.W):
            with np.errstate(over="ignore", invalid="ignore"):
                return _in_range(np.asarray(x @ self.W.T + self.b), x, self.W, self.b)
        D = self.distances(x)
        if np.isinf(D).any():
            far = np.isinf(D).all(axis=1)
            D[far] = self._comparable_distances(x[far])
        return self.b - D / 2

    def distances(self, x: Array) -> Array:
        """Squared Mahalanobis distances (x - m_k)' S^-1 (x - m_k), (n, K)."""
        D = np.empty((len(x), len(self.means)))
        for k, mean in enumerate(self.means):
            A = self.metrics[min(k, len(self.metrics) - 1)].A
            with np.errstate(over="ignore", invalid="ignore"):  # infinitely far
                d = x - mean
                z = d @ A if A.ndim == 2 else d * A
                D[:, k] = np.einsum("ij,ij->i", z, z)
        return np.where(np.isnan(D), np.inf, D) if np.isnan(D).any() else D

    def _comparable_distances(self, x: Array) -> Array:
        """`distances` of rows that are infinitely far from all classes, made finite and huge.

        Those of a row are all divided by one number, so the nearest class stays the nearest.
        """
        D = np.full((len(x), len(self.means)), np.inf)
        for i, row in enumerate(x):
            if not np.isfinite(row).all():  # even in the units of the columns
                continue
            e = -np.frexp(np.abs(row).max())[1]  # brings the row to about one
            near = replace(self, means=np.ldexp(self.means, e)).distances(np.ldexp(row, e)[None])
            D[i] = np.ldexp(near[0] / near.max(), _HUGE)
        return D

    def distances_about_zero(self, x: Any) -> Array:
        """`distances` for CSR rows x not centred, if diagonal: stored entries only are visited.

        x'x - 2 m'x + m'm loses digits to large offsets, which sparse features seldom have.
        """
        a = np.stack([metric.A for metric in self.metrics]) ** 2
        means = self.means + self.centre
        squares = x.copy()
        squares.data = squares.data**2
        D = squares @ a.T - 2 * (x @ (a * means).T) + np.sum(a * means**2, axis=1)
        return np.asarray(np.maximum(D, 0.0))


def over_blocks(
    g: Gaussians,
    X: Any,
    of: Callable[[Array], NDArray[Any]],
    check: Callable[[], None],
    *,
    distances: bool = False,
) -> NDArray[Any]:
    """What `of` makes of the scores, or squared distances, (rows, K) of X, dense or CSR, by blocks.

    Threads share the blocks; `of` must look at each row by itself. `check` raises where X has NaN
    or infinity; it is not called where finite scores tell that there are none.
    """
    scale, (n, p) = np.ldexp(1.0, -g.exponent), X.shape
    if not distances and (plain := _plain(g, X, scale)) is not None:
        return _over_plain(*plain, X, of, check)
    check()
    if is_sparse(X) and g.metrics[0].A.ndim == 1 and p > _WIDE:
        return np.concatenate([of(s) for s in _sparse_blocks(g, X, scale, distances)])
    # Between two tiles threads wait for one another, so there are few.
    none, rows = np.empty((n, 0)), max(1, min(4 * tile_rows(p), _BUFFER // (p + 1)))
    measured = g.distances if distances else g.scores

    def of_block(i: int, j: int) -> NDArray[Any]:
        filled = tiles(X, none, np.empty(0), scale, g.centre, rows, i, j)
        return of(np.concatenate([measured(tile[:, :p]) for tile in filled]))

    # Distances by a matrix cost p products a number, so that pieces may be shorter.
    by_matrix = g.metrics[0].A.ndim == 2 and not len(g.W)
    return _joined(of_block, X, pieces(n, p, p * p if by_matrix else p), len(g.means))


def _plain(g: Gaussians, X: Any, scale: Array) -> tuple[Array, Array] | None:
    """V and c: scores are V x + c of rows as they are, where these are not far from zero.

    Of two classes the scores are 0 and V x + c. None where rows have to be centred first.
    """
    if not len(g.W) or is_sparse(X):
        return None
    W, b = g.W, g.b
    if len(W) == 2 and np.isfinite(b).all():
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        V, shift = W * scale, W @ g.centre
        lost = (len(scale) + 8) * UNIT * float(np.max(np.abs(W) @ np.abs(g.centre)))
        if not lost <= _LOST or not np.array_equal(V / scale, W):
            return None
    return V, b - shift


def _over_plain(
    V: Array,
    c: Array,
    X: Array,
    of: Callable[[Array], NDArray[Any]],
    check: Callable[[], None],
) -> NDArray[Any]:
    """`over_blocks` of rows as they are."""
    if not (V != 0.0).any(axis=0).all():  # NaN in a column without weight may leave no trace
        check()

    def of_block(i: int, j: int) -> NDArray[Any]:
        x = X[i:j].astype(np.float64, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):  # rows that `check` refuses
            if len(V) > 1:
                scores = x @ V.T
                scores += c
            else:
                scores = np.zeros((len(x), 2))
                np.add(x @ V[0], c[0], out=scores[:, 1])
            if not np.isfinite(scores.sum()):
                check()
                scores = _in_range(scores, x, V, c)
        return of(scores)

    return _joined(of_block, X, pieces(*X.shape), max(len(V), 2))


def _in_range(scores: Array, x: Array, W: Array, b: Array) -> Array:
    """The scores W x + b; those of rows that leave the range are made comparable.

    Of two classes these are 0 and the difference, which may be infinite.
    """
    far = ~np.isfinite(scores).all(axis=1)
    if not far.any() or not np.isfinite(b).all():  # a class without prior is never chosen
        return scores
    if len(W) > 2:
        scores[far] = linear_values(x[far], W, b, comparable=True)
        return scores
    if len(W) == 2:
        W, b = W[1:] - W[:1], b[1:] - b[:1]
    scores[far, 0] = 0.0
    scores[far, 1] = linear_values(x[far], W, b, comparable=False)[:, 0]
    return scores


def _joined(
    of_block: Callable[[int, int], NDArray[Any]], X: Any, cuts: Cuts, K: int
) -> NDArray[Any]:
    """What `of_block` makes of rows i..j, with K scores each, of all blocks of all pieces."""
    n, p = X.shape
    rows = max(1, min(_SCORES // K, _BUFFER // (p + 1)))
    # Threads of BLAS would change the last digit.
    with one_blas_thread(p) if len(cuts) == 1 and n * p > _SMALL else nullcontext():
        if len(cuts) == 1 and n <= rows:
            return of_block(0, n)
        one = of_block(0, 1)  # tells the shape and the type
        found = np.empty((n, *one.shape[1:]), one.dtype)

        def of_piece(i: int, j: int) -> None:
            for k in range(i, j, rows):
                found[k : min(k + rows, j)] = of_block(k, min(k + rows, j))

        over_cuts(of_piece, cuts, _FEW_THREADS if p < _FEW_COLUMNS else None)
        return found


def _sparse_blocks(g: Gaussians, X: Any, scale: Array, distances: bool) -> Iterator[Array]:
    for i in range(0, X.shape[0], 1024):
        x = X[i : i + 1024].astype(np.float64)
        x.data *= scale[x.indices]
        D = g.distances_about_zero(x)
        yield D if distances else g.b - D / 2


def gaussians(m: ClassMoments, priors: Array, shrinkage: Any = None) -> Gaussians:
    """Maximum likelihood: m_k, and S = sum_k (n_k / N) S_k if shared, else S_k, (5.33), (5.34).

    shrinkage is None, a number for all classes, "auto", or one number a class (one if shared).
    "auto" is the estimate from moments alone, see `rao_blackwell`; `ledoit_wolf` needs the rows.
    """
    N = m.weight.sum()
    first = m.mean[np.argmax(m.weight > 0)]  # so that constant features are centred exactly
    centre = first + m.weight @ np.where(m.weight[:, None] > 0, m.mean - first, 0.0) / N
    means = np.where(m.weight[:, None] > 0, m.mean - centre, 0.0)
    if isinstance(shrinkage, str):
        shrinkage = rao_blackwell(m)
    a = np.broadcast_to(0.0 if shrinkage is None else shrinkage, len(groups(m)))
    spare = _spare_units(m, means, N)
    metric = precision.diagonal if m.covariance == "diagonal" else precision.full
    with one_blas_thread(m.p) if m.p * m.p > _SMALL // 8 else nullcontext():
        metrics = tuple(metric(*g, spare, a[k]) for k, g in enumerate(groups(m)))
        return _densities(m, centre, means, priors, metrics)


def _densities(
    m: ClassMoments, centre: Array, means: Array, priors: Array, metrics: tuple[Metric, ...]
) -> Gaussians:
    with np.errstate(divide="ignore"):
        b = np.log(priors)
    W = np.empty((0, m.p))
    if m.covariance == "shared":
        z = means @ metrics[0].A
        W, b = z @ metrics[0].A.T, b - np.einsum("ij,ij->i", z, z) / 2
    else:
        b = b - np.array([metric.log_det for metric in metrics]) / 2
    return Gaussians(m.exponent, centre, means, priors, metrics, W, b, _certificate(m, metrics))


def _drowned(m: ClassMoments) -> NDArray[np.intp]:
    """Features for which rounding hides whether they vary, in all classes or in one.

    This happens after forgetting rows of far larger numbers, and with weights at the end of
    float64's range.
    """
    n = m.weight.sum() if m.covariance == "shared" else m.weight[:, None]
    return np.flatnonzero(np.atleast_2d(drowned(m.spread, m.rounding, n)).any(axis=0))


def _spare_units(m: ClassMoments, means: Array, N: float) -> Array:
    """Units for features that do not vary within a class: their spread over other classes.

    Zero for features that are the same in every row: these tell nothing and are left out.
    """
    spread, doubt = np.atleast_2d(m.spread).sum(axis=0), np.atleast_2d(m.rounding**2).sum(axis=0)
    within = np.where(spread > 4 * doubt, spread / N, 0.0)
    between, doubt = m.weight @ means**2 / N, m.weight @ m.mean_rounding**2 / N
    return np.sqrt(np.where(within > 0, within, np.where(between > 16 * doubt, between, 0.0)))


def _certificate(m: ClassMoments, metrics: tuple[Metric, ...]) -> Certificate:
    """What is certain of the means and covariances, and to how many digits."""
    seen = np.flatnonzero(m.weight > 0).tolist()
    used = [metrics[min(k, len(metrics) - 1)] for k in seen]
    drift = max(float(_length(d.A, m.mean_rounding[k])) for k, d in zip(seen, used, strict=True))
    error, ridge = max(d.error for d in used), max(d.ridge for d in used)
    shrinkage = max(d.shrinkage for d in used)
    evidence = {
        "distance_error": error,
        "mean_error": drift,
        "condition": max(d.condition for d in used),
        "ridge": ridge,
        "shrinkage": shrinkage,
    }
    rows = plural(int(m.rows.sum()), "row")
    digits = (
        f"rounding changed squared Mahalanobis distances by less than a relative {error:.1e} and "
        f"means by less than {drift:.1e} standard deviations"
    )
    if lost := len(_drowned(m)):
        what = (
            f"rounding has left no digit of the variances of {lost} of {m.p} features certain, "
            f"and this is not the likeliest model of {rows}: fit anew from the rows themselves."
        )
        evidence |= {"distance_error": np.inf, "mean_error": np.inf}
        return Certificate("unproven", what, evidence)
    if ridge > 0:
        what = (
            f"the covariance of {rows} is singular, as far as rounding lets us tell; its "
            f"correlations got a ridge of {ridge:.1e}"
        )
        return Certificate("unproven", f"{what}, so this is not the likeliest model.", evidence)
    if not (error < 0.5 and drift < 0.5):
        what = f"rounding has left no digit of the densities of {rows} certain."
        return Certificate("unproven", what, evidence)
    if not (m.weight > 0).all():
        what = f"of {m.K} classes, {int(np.sum(m.weight == 0))} have no rows yet, and no density"
        return Certificate("unproven", f"{what}; for the others {digits}.", evidence)
    if shrinkage > 0:
        what = f"the covariance of {rows} was shrunk by {shrinkage:.3g}; no optimum is claimed, but"
        return Certificate("unproven", f"{what} {digits}.", evidence)
    what = f"means and covariances have the greatest likelihood given {rows}"
    return Certificate("optimal", f"{what}; {digits}.", evidence)


def troubles(
    g: Gaussians, m: ClassMoments, labels: list[Any], names: list[str]
) -> Iterator[RankDeficientWarning | IllConditionedWarning]:
    """What the user must know of covariances that are singular or close to it."""
    seen = [k for k in range(len(g.metrics)) if len(g.W) or m.weight[k] > 0]
    singular = [k for k in seen if g.metrics[k].ridge > 0]
    doubtful = [k for k in seen if k not in singular and g.metrics[k].error > 0.01]

    def whose(which: list[int]) -> str:
        some = _some([repr(labels[k]) for k in which])
        return "covariance" if len(g.W) else f"covariance in class {some}"

    cure = "Drop columns or give more rows"
    cure += "." if m.covariance == "diagonal" else ", or set shrinkage='auto'."
    if len(lost := _drowned(m)):
        yield IllConditionedWarning(
            f"rounding has left no digit of the variance of {_some([names[j] for j in lost])}, as "
            "after forgetting rows of far larger numbers; this model cannot be trusted. Fit anew "
            "from the rows that are left."
        )
    columns = np.concatenate([g.metrics[k].dependent for k in singular]) if singular else lost
    if singular and len(columns := np.setdiff1d(columns, lost)):
        ridge = max(g.metrics[k].ridge for k in singular)
        vary = "does not vary, or depends" if len(columns) == 1 else "do not vary, or depend"
        yield RankDeficientWarning(
            f"singular {whose(singular)}: {_some([names[j] for j in columns])} {vary} on "
            f"other columns. {ridge:.1e} was added to the diagonal of the correlation "
            f"matrix. {cure}"
        )
    if doubtful:
        worst = max((g.metrics[k] for k in doubtful), key=lambda metric: metric.error)
        yield IllConditionedWarning(
            f"ill-conditioned {whose(doubtful)}: the condition number is {worst.condition:.1e}, "
            f"and rounding may change distances by a relative {worst.error:.1e}. {cure}"
        )


def _some(words: list[str]) -> str:
    """The first few, and how many more."""
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if words[5:] else "")


def _length(A: Array, d: Array) -> Any:
    """Largest Mahalanobis length of a vector with entries within +-d."""
    return np.linalg.norm(np.abs(A).T @ d if A.ndim == 2 else A * d)
