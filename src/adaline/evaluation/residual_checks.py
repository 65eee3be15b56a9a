"""What residuals say of a regression: bends, uneven spread, tails, and rows that follow each other.

A check doubts only where a difference is both surer than chance (p < 0.01) and large enough to
matter: with many rows every trifle is sure.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.special import chdtrc, fdtrc, ndtr

from adaline.evaluation.check import Check
from adaline.evaluation.words import number, p_value, percent
from adaline.results import Array

_SURE = 0.01
_FEW = 20  # rows below which nothing is said
_GRAVE = 2.0  # times Poisson's variance from which on nobody should miss it
_BEND, _ECHO, _SKEW, _TAILS, _UNEVEN, _SPREAD = 0.02, 0.1, 0.5, 1.0, 1.5, 1.5


def residual_checks(truth: Any, predicted: Any, scatter: str = "constant") -> tuple[Check, ...]:
    """Checks of predictions against the truth, in the order of the rows.

    Parameters
    ----------
    truth, predicted : ndarray of shape (n,)
    scatter : {"constant", "counts", "relative"}
        How the standard deviation depends on the mean: counts are checked for a variance that is
        as large as their mean; relative errors are checked where it is in proportion.

    Examples
    --------
    >>> import numpy as np
    >>> x = np.linspace(-1.0, 1.0, 100)
    >>> bent = residual_checks(x + x**2 + 0.01 * np.cos(1e3 * x), x)[0]
    >>> bent.key, bent.fine
    ('linearity', False)
    """
    y, f = (np.asarray(v, dtype=np.float64) for v in (truth, predicted))
    e = y - f
    with np.errstate(all="ignore"):
        scale, units = float(np.abs(e).max()), float(np.ptp(f))
        good = len(e) >= _FEW and 0 < scale < math.inf and 0 < units < math.inf
        if not good or not np.isfinite(e).all():
            return ()
        f = (f - f.min()) / units
        mean = np.asarray(predicted, dtype=np.float64)
        if scatter == "counts":
            pearson = e / np.sqrt(np.maximum(mean, 1e-12))
            return bends(pearson, f), dispersion(pearson), echoes(e / scale)
        if scatter == "relative":
            e = e / mean
            return bends(e, f), spreads(e, f), echoes(e)
        e = e / scale
        return bends(e, f), spreads(e, f), tails(e), echoes(e)


def bends(e: Array, f: Array) -> Check:
    """Squares and cubes of the prediction explain residuals: an F test (Ramsey's RESET)."""
    n = len(e)
    line, curve = (_left(e, f, power) for power in (1, 3))
    share = 1 - curve / line if line > 0 else 0.0
    p = float(fdtrc(2, n - 4, max((line - curve) / 2, 0.0) / (curve / (n - 4)))) if curve else 0.0
    bent = p < _SURE and share > _BEND
    told = f"a curve would explain {percent(share)} of what is left over ({p_value(p)})"
    if bent:
        said = f"The truth bends away from a straight line: {told}. Try log(x), x² or products."
    else:
        said = f"A straight line does: {told}."
    return Check("linearity", "Straight lines", not bent, said, {"share": share, "p": p})


def spreads(e: Array, f: Array) -> Check:
    """Squared residuals against the prediction: Breusch and Pagan's test in Koenker's form."""
    n, squares = len(e), e * e
    share = 1 - _left(squares, f, 1) / max(_left(squares, f, 0), 1e-300)
    p = float(chdtrc(1, n * max(share, 0.0)))
    order = np.argsort(f, kind="stable")
    fifth = max(n // 5, 1)
    low, high = (
        math.sqrt(float(np.mean(squares[some]))) for some in (order[:fifth], order[-fifth:])
    )
    ratio = high / low if low > 0 else math.inf
    far = max(ratio, 1 / ratio if ratio else math.inf)
    uneven = p < _SURE and far > _UNEVEN
    ends = ("largest", "smallest") if ratio >= 1 else ("smallest", "largest")
    told = f"{number(far, 2)} times as large for the {ends[0]} fifth of predictions as for the "
    told += ends[1]
    if uneven:
        said = (
            f"Errors are {told} ({p_value(p)}): standard errors and intervals are off. Try the "
            "logarithm of the target, or weights."
        )
    else:
        said = f"Errors are about as large for small predictions as for large ones ({p_value(p)})."
    return Check("spread", "Even errors", not uneven, said, {"ratio": ratio, "p": p})


def tails(e: Array) -> Check:
    """Skewness and kurtosis against those of a normal distribution: Jarque and Bera's test."""
    n, z = len(e), e - e.mean()
    s2 = float(np.mean(z**2))
    skew = float(np.mean(z**3)) / s2**1.5 if s2 else 0.0
    excess = float(np.mean(z**4)) / s2**2 - 3 if s2 else 0.0
    p = float(chdtrc(2, n / 6 * (skew**2 + excess**2 / 4)))
    odd = p < _SURE and (abs(skew) > _SKEW or abs(excess) > _TAILS)
    told = f"skewness {number(skew, 2)}, excess of the tails {number(excess, 2)}, {p_value(p)}"
    if odd:
        way = "upwards" if skew > 0 else "downwards"
        what = (
            f"Errors reach farther {way}" if abs(skew) > _SKEW else "Large errors are more common"
        )
        said = f"{what} than normal ones do ({told}): intervals of single predictions are rough."
    else:
        said = f"Errors are spread about as a normal distribution says ({told})."
    return Check(
        "normality", "Normal errors", not odd, said, {"skew": skew, "excess": excess, "p": p}
    )


def echoes(e: Array) -> Check:
    """Residuals of neighbouring rows: the correlation r of Durbin and Watson's 2 (1 - r)."""
    z = e - e.mean()
    whole = float(z @ z)
    r = float(z[1:] @ z[:-1]) / whole if whole else 0.0
    p = float(2 * ndtr(-abs(r) * math.sqrt(len(e))))
    near = p < _SURE and abs(r) > _ECHO
    told = f"correlation {number(r, 2)}, {p_value(p)}"
    if near:
        said = (
            f"Errors of neighbouring rows are alike ({told}): the rows are in an order that "
            "matters, such as time or place, so that folds and standard errors flatter. Make "
            "folds of times or groups."
        )
    else:
        said = f"Errors of neighbouring rows have little to do with each other ({told})."
    return Check("independence", "Rows apart", not near, said, {"correlation": r, "p": p})


def dispersion(pearson: Array) -> Check:
    """Mean of squared Pearson residuals: 1 where counts are spread as Poisson says."""
    n = len(pearson)
    ratio = float(np.mean(pearson**2))
    error = float(np.std(pearson**2, ddof=1)) / math.sqrt(n)
    sure = abs(ratio - 1) > 2.6 * error
    off = sure and not 1 / _SPREAD < ratio < _SPREAD
    if off and ratio > 1:
        said = (
            f"Counts vary {number(ratio, 2)} times as much as Poisson says: standard errors are "
            f"too small by a factor of about {number(math.sqrt(ratio), 2)}."
        )
    elif off:
        said = f"Counts vary only {number(ratio, 2)} times as much as Poisson says."
    else:
        said = f"Counts vary about as much as Poisson says ({number(ratio, 2)} times)."
    grave = off and ratio > _GRAVE
    return Check("dispersion", "Spread of counts", not off, said, {"ratio": ratio}, grave)


def _left(v: Array, f: Array, power: int) -> float:
    """Sum of squares of v that a polynomial of f does not explain."""
    T = np.polynomial.chebyshev.chebvander(2 * f - 1, power)
    w = np.linalg.lstsq(T, v, rcond=None)[0]
    rest = v - T @ w
    return float(rest @ rest)
