"""Least squares from moments alone, and how many digits their rounding errors leave proven.

In float64 these are about ten digits. Weights of float32 rows are delivered in float32, which holds
seven: there moments prove what a second pass over the rows in double-double would.
"""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np

from adaline._threads import one_blas_thread
from adaline.certificates.delivery import delivered
from adaline.certificates.digits import (
    bound_of_bias,
    certificate_of_digits,
    doubt_of_gradients,
    each_without_correction,
    gamma,
    in_users_units,
    noise_of_gradients,
    without_correction,
)
from adaline.linalg import UNIT, times_power
from adaline.procedures.least_squares._covariance import covariance_root
from adaline.procedures.least_squares.normal_equations import Normal
from adaline.results import Array, Certificate, ClosedFit
from adaline.tiles import Rows

_SMALL = 2**13  # numbers in a matrix: too few for threads of BLAS
_SURE = 1e-9  # relative error of the squared residuals of float32 rows: standard errors hang on it


def from_moments(normal: Normal) -> ClosedFit:
    """W W'c, and how many digits the rounding errors of the moments leave proven."""
    return _fit(normal, _solved(normal))


def float32_from_moments(normal: Normal, rows: Rows) -> ClosedFit | None:
    """The same for float32 rows; None where moments leave in doubt what float32 can show.

    Each weight and bias has to round to the float32 that the exact one rounds to, and the squared
    residuals have to keep more digits than float32 has. Standard errors are those of corrected
    weights.
    """
    if len(rows.X_low):  # of which moments know nothing
        return None
    found = _solved(normal, each=True)
    m, p, w = normal.m, normal.m.p, found[0]
    # Errors of s_yy - 2 w'c + w'S w, whose every product of two columns is off by as much as the
    # product of their roundings, and is rounded itself: at most by that of their sizes.
    sizes, size_w = _sizes(normal), np.abs(w)
    doubt = (m.rounding[p:] + m.rounding[:p] @ size_w) ** 2
    doubt += gamma(2 * p + 8) * (sizes[p:] + sizes[:p] @ size_w) ** 2
    if not np.all(doubt <= _SURE * found[3]):
        return None
    fit = _fit(normal, found, whole=normal.intercept)
    if delivered(fit, np.float32).certificate.kind != "exact":
        return None
    return replace(fit, root=covariance_root(normal, rows))


def _sizes(normal: Normal) -> Array:
    """Bounds on the lengths of columns and targets: |S_ij| is at most the product of two of them,
    up to its own error, and so is a penalty.
    """
    m, p = normal.m, normal.m.p
    sizes = np.sqrt(np.maximum(m.scatter.diagonal(), 0.0)) + 2 * m.rounding
    sizes[:p] += np.sqrt(normal.ridge)
    return np.asarray(sizes)


def _solved(normal: Normal, *, each: bool = False) -> tuple[Array, Array, Array, Array]:
    """Weights (p, k), bounds on their errors, biases and squared residuals, in normal's units.

    each: bounds as small as they can be made, one weight at a time.
    """
    p = normal.m.p
    if p * (p + normal.m.targets) <= _SMALL:
        return _solved_by_blas(normal, each)
    with one_blas_thread(p):  # others would change the last digit
        return _solved_by_blas(normal, each)


def _solved_by_blas(normal: Normal, each: bool) -> tuple[Array, Array, Array, Array]:
    m, W, p = normal.m, normal.W, normal.m.p
    c = m.scatter[:p, p:]
    G = m.scatter[:p, :p] + np.diag(normal.ridge)
    alpha = normal.alpha_of_sums  # no row is centred, so no mean counts
    w = W @ (W.T @ c)
    w += W @ (W.T @ (c - G @ w))
    g = c - G @ w
    if each:
        noise = noise_of_gradients(_sizes(normal), m.rounding, w)
        bounds = each_without_correction(W, alpha, np.abs(g) + noise)
    else:
        doubt = doubt_of_gradients(W, _sizes(normal), m.rounding, w)
        bounds = without_correction(W, alpha, g, doubt)
    b = (m.mean[p:] - m.mean[:p] @ w) if normal.intercept else np.zeros(m.targets)
    pull = normal.ridge[:, None] * w  # g = c - S w - pull
    squares = m.scatter.diagonal()[p:] - np.einsum("jt,jt->t", w, c + g + pull)
    return w, bounds, b, np.maximum(squares, 0.0)


def _fit(
    normal: Normal, found: tuple[Array, Array, Array, Array], *, whole: bool = False
) -> ClosedFit:
    """The fit in the user's units; whole: the certificate speaks of the bias as well."""
    m, p = normal.m, normal.m.p
    w, bounds, b, squares = found
    exponent, own = normal.weights_exponent, m.scatter.diagonal()
    lengths = np.sqrt(np.where(own > 0, own, 1.0))
    with np.errstate(over="ignore"):  # squares may be infinite; of weights the certificate tells
        least = lengths[:p] + normal.ridge / lengths[:p]  # a penalty makes weights smaller
        floor = UNIT * lengths[None, p:] / least[:, None]
        used, bias = times_power(w, exponent), np.ldexp(b, m.exponent[p:])
        squares = np.ldexp(squares, 2 * m.exponent[p:])
    proven = used
    if whole:
        proven = np.vstack([used, bias])
        bounds = np.vstack([bounds, bound_of_bias(m.mean, m.mean_rounding, w, bounds)])
        floor = np.vstack([floor, UNIT / sqrt(m.weight) * lengths[p:]])
        exponent = np.vstack([exponent, m.exponent[p:]])
    return known_to_float64(
        used,
        bias,
        stopped="solved in closed form from moments.",
        certificate=certificate_of_digits(
            proven,
            in_users_units(bounds, exponent),
            times_power(floor, exponent),
            normal.alpha_of_sums,
            normal.condition,
            missing="the intercept" if normal.intercept and not whole else "",
        ),
        rank=p,
        kappa=normal.condition,
        squares=squares,
        root=normal.root,
    )


def known_to_float64(
    w: Array,
    b: Array,
    *,
    stopped: str,
    certificate: Certificate,
    rank: int,
    kappa: float,
    squares: Array,
    root: Array,
) -> ClosedFit:
    """A fit from weights as columns (p, k), which are known to float64 only."""
    W = np.ascontiguousarray(w.T)
    zeros, none = np.zeros_like(W), np.zeros_like(b)
    return ClosedFit(
        W, b, stopped, certificate, rank, kappa, zeros, none, np.asarray(squares), root
    )
