"""From the moments of classes to Gaussian densities, by maximum likelihood.

    ln p_k f_k(x) = ln p_k - (ln |S_k| + (x - m_k)' S_k^-1 (x - m_k)) / 2,   S_k = scatter_k / n_k

or S = sum_k scatter_k / N for all classes, where the terms that depend on k are linear in x.

Letters: K classes, p features, m_k mean, n_k weight and p_k prior of class k, N the sum of n_k,
u standard deviations, R = S / (u u') correlations. All is computed from R, so units do not matter,
and about the mean of all rows, so that a large offset costs no digits. R gets a ridge where
rounding cannot tell it from a singular matrix.

Lecture: 5.8, the linear Gaussian classifier. Called by estimators/gaussian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import IllConditionedWarning, RankDeficientWarning, plural
from adaline.linalg import UNIT, condition, eigen, inverse_cholesky, pivots
from adaline.parameters import is_sparse
from adaline.results import Array, Certificate, Result
from adaline.sums.class_moments import ClassMoments, Codes, blocks
from adaline.sums.threads import one_blas_thread, over_pieces

RIDGE = 2.0**-20  # least eigenvalue left in a singular R: ten digits of its inverse survive
NO_VARIANCE = 2.0**-500  # columns are in units of about one, so that a variance below is none
FAR_EXPONENT = 1000  # of scores that would be infinite, were they not made comparable
LOST_DISTANCE = 1e-6  # what distances of sparse rows may lose by not being centred


@dataclass(frozen=True, eq=False)
class Metric(Result):
    """A covariance S and a factor of its inverse: A A' = S^-1, so |A'd|^2 = d' S^-1 d."""

    covariance: Array  # with shrinkage and ridge, (p, p), or (p,) for a diagonal one
    A: Array  # zero in the rows of features that are constant over all classes
    log_det: float  # ln |S| over the other features
    error: float  # bound on the relative rounding error of every d' S^-1 d
    condition: float  # of R, an estimate
    shrinkage: float  # R became (1 - shrinkage) R + (shrinkage + ridge) I
    ridge: float
    dependent: NDArray[np.intp]  # on other features, or not varying, as far as rounding tells


@dataclass(frozen=True, eq=False)
class Gaussians(Result):
    """K Gaussian densities with priors, in units 2**exponent and about `centre`.

    Linear discriminants are W x + b = S^-1 m_k'x - m_k' S^-1 m_k / 2 + ln p_k if shared, else W is
    empty and b = ln p_k - ln |S_k| / 2.
    """

    exponent: NDArray[np.int64]
    centre: Array
    means: Array  # relative to the centre, (K, p)
    priors: Array
    metrics: tuple[Metric, ...]  # one for all classes if shared, else one a class
    W: Array
    b: Array
    certificate: Certificate

    def scores(self, x: Array) -> Array:
        """ln p_k f_k(x) up to what all classes share, (n, K), for rows x about the centre."""
        with np.errstate(over="ignore", invalid="ignore"):
            v = x @ self.W.T + self.b if len(self.W) else self.b - self.distances(x) / 2
            if np.isfinite(v.sum()):
                return np.asarray(v)
            far = ~np.isfinite(v.max(axis=1))
            # Divided by its size, a row has finite scores; the best class stays the best.
            unit = np.ldexp(1.0, -np.frexp(np.abs(x[far]).max(axis=1, keepdims=True, initial=0))[1])
            x = x[far] * unit
            near = x @ self.W.T + self.b * unit if len(self.W) else self.distances(x, unit) / -2
            near[:, np.isneginf(self.b)] = -np.inf  # a class without prior is never chosen
            top = np.abs(np.where(np.isfinite(near), near, 0.0)).max(axis=1, keepdims=True)
            v[far] = np.ldexp(near / np.where(top > 0, top, 1.0), FAR_EXPONENT)
        return np.asarray(v)

    def distances(self, x: Array, unit: Any = 1.0) -> Array:
        """Squared Mahalanobis distances (x - m_k)' S^-1 (x - m_k), (n, K); x is in this unit."""
        D = np.empty((len(x), len(self.means)))
        with np.errstate(over="ignore", invalid="ignore"):
            for k, mean in enumerate(self.means):
                A, d = self.metrics[min(k, len(self.metrics) - 1)].A, x - mean * unit
                z = d @ A if A.ndim == 2 else d * A
                D[:, k] = np.einsum("ij,ij->i", z, z)
        return np.where(np.isnan(D), np.inf, D)


def over_blocks(
    g: Gaussians, X: Any, of: Callable[[Array], NDArray[Any]], *, distances: bool = False
) -> NDArray[Any]:
    """What `of` makes of the scores, or squared distances, (rows, K) of X, dense or CSR, by blocks.

    X is finite. Threads share the blocks; `of` must look at each row by itself.
    """
    scale, measure = np.ldexp(1.0, -g.exponent), g.distances if distances else g.scores
    if is_sparse(X) and g.metrics[0].A.ndim == 1:
        a, means = np.stack([metric.A for metric in g.metrics]) ** 2, g.means + g.centre
        squares = np.sum(a * means**2, axis=1)
        if (X.shape[1] + 8) * UNIT * squares.max() <= LOST_DISTANCE:
            # Means are near zero, so that x'x - 2 m'x + m'm of stored entries loses no digits.
            rows = X.astype(np.float64)
            rows.data *= scale[rows.indices]
            D = np.maximum(rows.power(2) @ a.T - 2 * (rows @ (a * means).T) + squares, 0.0)
            return of(D if distances else g.b - D / 2)

    def of_piece(i: int, j: int) -> NDArray[Any]:
        parts = []
        for _, x in blocks(X, i, j):
            with np.errstate(over="ignore", invalid="ignore"):  # too far for a float: infinite
                z = np.multiply(x, scale, dtype=np.float64)
                v = measure(np.subtract(z, g.centre, out=z))
            parts.append(of(v))
        return np.concatenate(parts)

    with one_blas_thread(1):  # threads of BLAS would change the last digit
        return np.concatenate(over_pieces(of_piece, *X.shape))


def gaussians(m: ClassMoments, priors: Array, shrinkage: Any = None) -> Gaussians:
    """Maximum likelihood: m_k, and S = sum_k (n_k / N) S_k if shared, else S_k, (5.33), (5.34).

    shrinkage is None, a number for all classes, "auto", or one number a class (one if shared).
    "auto" is the estimate of `shrinkages` from moments alone.
    """
    N, seen = m.weight.sum(), m.weight[:, None] > 0
    first = m.mean[np.argmax(seen)]  # so that constant features are centred exactly
    centre = first + m.weight @ np.where(seen, m.mean - first, 0.0) / N
    means = np.where(seen, m.mean - centre, 0.0)
    a = shrinkages(m) if isinstance(shrinkage, str) else shrinkage
    a = np.broadcast_to(0.0 if a is None else a, len(groups(m)))
    # A feature that does not vary within a class has the unit of its spread over other classes;
    # one that is the same in every row has none, and is left out.
    spread, doubt = (v.reshape(-1, m.p).sum(axis=0) for v in (m.spread, m.rounding**2))
    between, drift = m.weight @ means**2 / N, m.weight @ m.mean_rounding**2 / N
    spare = np.where(between > 16 * drift, between, 0.0)
    spare = np.sqrt(np.where(spread > 4 * doubt, spread / N, spare))
    metric = diagonal if m.covariance == "diagonal" else full
    with one_blas_thread(1), np.errstate(divide="ignore"):
        metrics = tuple(metric(*group, spare, a[k]) for k, group in enumerate(groups(m)))
        W, b = np.empty((0, m.p)), np.log(priors)
        if m.covariance == "shared":
            z = means @ metrics[0].A
            W, b = z @ metrics[0].A.T, b - np.einsum("ij,ij->i", z, z) / 2
        else:
            b = b - np.array([metric.log_det for metric in metrics]) / 2
    return Gaussians(m.exponent, centre, means, priors, metrics, W, b, certificate(m, metrics))


def groups(m: ClassMoments) -> list[tuple[Array, Array, float]]:
    """Scatter, rounding and weight of what has a covariance of its own: all, or each class."""
    if m.covariance == "shared":
        return [(m.scatter, m.rounding, float(m.weight.sum()))]
    return list(zip(m.scatter, m.rounding, m.weight.tolist(), strict=True))


def variances(S: Array, r: Array, n: float) -> Array:
    """Variances of the features, and zero where rounding cannot tell them from zero."""
    spread = S.diagonal() if S.ndim == 2 else S
    return np.where(spread > 4 * r**2, spread, 0.0) / (n or 1.0)


def full(S: Array, r: Array, n: float, spare: Array, shrinkage: float) -> Metric:
    """A and ln |S / n| through the Cholesky factor of R, with a ridge where R is singular."""
    variance = variances(S, r, n)
    u = np.where(variance > 0, np.sqrt(variance), spare)
    live = np.flatnonzero(u > 0)
    u, varies, L = u[live], variance[live] > 0, len(live)
    v = np.sqrt(n or 1.0) * u
    R = (1.0 - shrinkage) * S[np.ix_(live, live)] / v[:, None] / v
    R[~varies], R[:, ~varies] = 0.0, 0.0
    R.flat[:: L + 1] = varies * (1.0 - shrinkage) + shrinkage  # the diagonal
    # |R_ij - exact| <= doubt_i doubt_j, and so is the error of its Cholesky factorisation.
    doubt = np.sqrt((r[live] / v) ** 2 + 2 * (L + 8) * UNIT)
    W, error = inverse_factor(R, doubt)
    ridge, dependent = 0.0, live[:0]
    if error >= 0.5:  # as far as rounding lets us tell, R may be singular
        values, _ = eigen(R)
        dependent = live[np.sort(pivots(R)[int(np.sum(values >= RIDGE)) :])]
        ridge = max(0.0, RIDGE - float(values[0]))
        while (found := inverse_factor(R + ridge * np.eye(L), doubt))[0] is None:
            ridge = 2 * max(ridge, RIDGE)
        W, error = found
    assert W is not None
    R.flat[:: L + 1] += ridge
    A, C = np.zeros((len(r), L)), np.zeros((len(r), len(r)))
    A[live], C[np.ix_(live, live)] = W / u[:, None], R * u * u[:, None]
    log_det = 2 * float(np.sum(np.log(u)) - np.sum(np.log(np.diagonal(W))))
    kappa = condition(W)
    return Metric(C, A, log_det, error, kappa * kappa, shrinkage, ridge, dependent)


def inverse_factor(R: Array, doubt: Array) -> tuple[Array | None, float]:
    """W with W'RW = I, and a bound on the relative error of every d'WW'd; inf without one.

    With W'(R + E)W = I - F and |E_ij| <= doubt_i doubt_j, |F| <= ||W|' doubt|^2 + 2g + g^2,
    where g bounds the error of inverting the triangle (Higham 2002, theorem 10.3, section 14.2).
    """
    if not len(R):  # nothing varies
        return R, UNIT
    W = inverse_cholesky(R)
    if W is None:
        return None, np.inf
    g = 2 * (len(R) + 8) * UNIT * np.sqrt(len(R)) * np.linalg.norm(W)
    eta = float(np.sum((np.abs(W).T @ doubt) ** 2) + 2 * g + g**2)
    return W, eta / (1 - eta) if eta < 1 else np.inf


def diagonal(S: Array, r: Array, n: float, spare: Array, shrinkage: float) -> Metric:
    """The same for variances alone: a feature that does not vary gets RIDGE of its spare unit."""
    variance = variances(S, r, n)
    C = np.where(variance > 0, variance, RIDGE * spare**2)
    live, fixed = C > 0, (variance == 0) & (spare > 0)
    A = np.divide(1.0, np.sqrt(C), out=np.zeros(len(r)), where=live)
    eta = float(np.max(r**2 * A**2 * (variance > 0), initial=0.0) / (n or 1.0)) + 8 * UNIT
    error, log_det = eta / (1 - eta) if eta < 1 else np.inf, float(np.sum(np.log(C[live])))
    ridge = RIDGE if fixed.any() else 0.0
    return Metric(C, A, log_det, error, 1.0, 0.0, ridge, np.flatnonzero(fixed))


def shrinkages(m: ClassMoments, fourth: Array | None = None) -> Array:
    """How far to shrink each R towards I: sum of the variances of R_ij / sum of (R_ij - I_ij)^2.

    With `fourth_powers` these are Ledoit and Wolf's (2004) on standardised rows, as of
    `sklearn.covariance.ledoit_wolf`. From moments alone they are what those are on average over
    Gaussian rows (Chen, Wiesel, Eldar & Hero 2010).
    """
    parts = []
    for S, r, n in groups(m):
        variance = variances(S, r, n)
        live = np.flatnonzero(variance > 0)
        u = np.sqrt((n or 1.0) * variance[live])
        parts.append((np.sum((S[np.ix_(live, live)] / u / u[:, None]) ** 2), len(live), n))
    squares, p, n = np.array(parts).T
    one = np.where(n > 0, n, 1.0)
    if fourth is None:
        wanted, away = np.maximum(n - 2, 0.0) / one * squares + p**2, (n + 2) * (squares - p)
    else:
        wanted, away = np.maximum(fourth / one - squares, 0.0), n * (squares - p)
    return np.asarray(np.divide(wanted, away, out=np.ones_like(wanted), where=wanted < away))


def fourth_powers(X: Any, codes: Codes, omega: Array | None, m: ClassMoments) -> Array:
    """Sum of |z|^4 over the standardised rows z = (x - m_k) / u of each covariance."""
    scale, fourth = np.ldexp(1.0, -m.exponent), np.zeros(m.K)
    u = np.sqrt([variances(*group) for group in groups(m)])
    inverse = np.divide(1.0, u, out=np.zeros_like(u), where=u > 0)
    for rows, x in blocks(X, 0, len(codes)):
        c = codes[rows]
        z = (x * scale - m.mean[c]) * (inverse[c] if len(inverse) > 1 else inverse)
        squares = np.einsum("ij,ij->i", z, z) ** 2
        fourth += np.bincount(c, squares if omega is None else squares * omega[rows], m.K)
    return fourth.sum(keepdims=True) if len(u) == 1 else fourth


def drowned(m: ClassMoments) -> NDArray[np.intp]:
    """Features for which rounding hides whether they vary, in all classes or in one.

    This happens after forgetting rows of far larger numbers, and with weights at the end of
    float64's range. Constants are exact and not listed.
    """
    n = m.weight.sum() if m.covariance == "shared" else m.weight[:, None]
    seen = m.spread > 4 * m.rounding**2  # not of NaN
    # Rows of weight 1e300 do not make what is unknown of others any smaller.
    hidden = ~seen & ~(m.rounding**2 <= NO_VARIANCE * np.minimum(n, 1.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        hidden |= seen & ~(m.spread / n > np.finfo(np.float64).tiny)  # the variance underflows
    hidden &= n > 0
    return np.flatnonzero(np.atleast_2d(hidden).any(axis=0))


def certificate(m: ClassMoments, metrics: tuple[Metric, ...]) -> Certificate:
    """What is certain of the means and covariances, and to how many digits."""
    used = {k: metrics[min(k, len(metrics) - 1)] for k in np.flatnonzero(m.weight > 0).tolist()}
    drift = 0.0
    for k, d in used.items():
        e = m.mean_rounding[k]
        drift = max(drift, float(np.linalg.norm(np.abs(d.A.T) @ e if d.A.ndim == 2 else d.A * e)))
    error = max(d.error for d in used.values())
    evidence = {"distance_error": error, "mean_error": drift}
    for name in ("condition", "ridge", "shrinkage"):
        evidence[name] = max(getattr(d, name) for d in used.values())
    rows, lost, empty = plural(int(m.rows.sum()), "row"), len(drowned(m)), m.K - len(used)
    ridge, a = evidence["ridge"], evidence["shrinkage"]
    digits = (
        f"rounding changed squared Mahalanobis distances by less than a relative {error:.1e} and "
        f"means by less than {drift:.1e} standard deviations."
    )
    if lost:
        evidence |= {"distance_error": np.inf, "mean_error": np.inf}
    cases = {  # the first that holds
        f"rounding has left no digit of the variances of {lost} of {m.p} features certain, "
        f"and this is not the likeliest model of {rows}: fit anew from the rows themselves.": lost,
        f"the covariance of {rows} is singular, as far as rounding lets us tell; its "
        f"correlations got a ridge of {ridge:.1e}, so this is not the likeliest model.": ridge,
        f"rounding has left no digit of the densities of {rows} certain.": not (
            error < 0.5 and drift < 0.5
        ),
        f"of {m.K} classes, {empty} have no rows yet, and no density; for the others "
        f"{digits}": empty,
        f"the covariance of {rows} was shrunk by {a:.3g}; no optimum is claimed, but {digits}": a,
    }
    if (what := next((text for text, holds in cases.items() if holds), None)) is not None:
        return Certificate("unproven", what, evidence)
    what = f"means and covariances have the greatest likelihood given {rows}; {digits}"
    return Certificate("optimal", what, evidence)


def troubles(
    g: Gaussians, m: ClassMoments, labels: list[Any], names: list[str]
) -> Iterator[RankDeficientWarning | IllConditionedWarning]:
    """What the user must know of covariances that are singular or close to it."""
    seen = [k for k in range(len(g.metrics)) if len(g.W) or m.weight[k] > 0]
    singular = [k for k in seen if g.metrics[k].ridge > 0]
    doubtful = [k for k in seen if k not in singular and g.metrics[k].error > 0.01]
    singular_in, doubtful_in = (
        "covariance" + ("" if len(g.W) else f" in class {first_few([repr(labels[k]) for k in ks])}")
        for ks in (singular, doubtful)
    )
    cure = "Drop columns or give more rows"
    cure += "." if m.covariance == "diagonal" else ", or set shrinkage='auto'."
    if len(lost := drowned(m)):
        yield IllConditionedWarning(
            f"rounding has left no digit of the variance of {first_few([names[j] for j in lost])}; "
            "this model cannot be trusted. Fit anew from the rows themselves."
        )
    columns = {j for k in singular for j in g.metrics[k].dependent.tolist()} - set(lost.tolist())
    if columns:
        ridge = max(g.metrics[k].ridge for k in singular)
        constant = f"constant or dependent: {first_few([names[j] for j in sorted(columns)])}"
        yield RankDeficientWarning(
            f"singular {singular_in}; {constant}. {ridge:.1e} was added to the diagonal of the "
            f"correlation matrix. {cure}"
        )
    if doubtful:
        worst = max((g.metrics[k] for k in doubtful), key=lambda metric: metric.error)
        yield IllConditionedWarning(
            f"ill-conditioned {doubtful_in}: the condition number is {worst.condition:.1e}, and "
            f"rounding may change distances by a relative {worst.error:.1e}. {cure}"
        )


def first_few(words: list[str]) -> str:
    return ", ".join(words[:5]) + (f" and {len(words) - 5} more" if words[5:] else "")
