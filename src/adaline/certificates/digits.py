"""How far weights can be from the exact ones: theorem (a), for squared errors.

Called by `procedures.least_squares`, `ridge` and `krylov`, and by the estimators (`delivered`).
Nothing here trusts the procedure that
found the weights.

**Theorem.** Let S = A'A, A the rows about their means, D >= 0 the penalties, and w* minimise
|y - A w|^2 + w'D w. Take any w, its gradient g = A'(y - A w) - D w, any step d and any invertible
V. With lambda a lower bound on the eigenvalues of V'(S + D)V,

    |V^-1 (w* - w - d)| <= |V'(g - (S + D)d)| / lambda.

*Proof.* (S + D)(w* - w) = g, so that V'(S + D)V V^-1 (w* - w - d) = V'(g - (S + D)d).

If the residuals y - A w are off by f, g is off by A'f, and since |A V e| <= sqrt(e'V'(S + D)V e)
the solution moves by at most |f| / sqrt(lambda) instead.

**Choices of V.** The inverse of a triangle R, of the moments (`cholesky_defect`) or of the rows
(`triangle_defect`): V'(S + D)V = I + E with |E| <= alpha, so that lambda = 1 - alpha. Or the
identity, with the least penalty for lambda, as S has no negative eigenvalue.

u = 2^-53; gamma(k) = k u / (1 - k u) bounds k rounded operations (Higham 2002, section 3.1).

**In words**, "exact" is correctly rounded: the true coefficient rounds to the one that is given,
because it is less than half a step of the floating-point numbers away from it. "accurate" is right
to a number of digits, "unproven" claims nothing. Certificates speak of weights as delivered:
float32 samples get float32 weights, so that each bound grows by as much as that rounding moved the
weight, and a claim that no longer holds is dropped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import log10, sqrt
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from adaline.linalg import UNDERFLOW, UNIT, length
from adaline.results import Array, Certificate, Fit

F = TypeVar("F", bound=Fit)

MOST_DIGITS = {np.dtype(np.float64): 15.95, np.dtype(np.float32): 7.22}  # that a number can hold
KINDS = {"error_bound", "distance_bound", "distance"}  # evidence that rounding of weights changes
GROWN = 1.0 + 2.0**-30  # of bounds and lengths of many numbers, which are added up in float64
SLACK = 1.01  # the bounds themselves are computed in float64
UNSEEN = 1e-150  # more than the length of numbers, up to 10^8 of them, whose squares underflow
LOST = 2.0**-1072  # more than a number and what rounding left of it lose below float64's range


def gamma(k: int) -> float:
    """Relative error of k rounded operations in a row."""
    return k * UNIT / (1 - k * UNIT)


def norms(A: Array) -> Array:
    """A bound on the length of each column of A, or infinity: of tiny numbers it is no less."""
    return np.asarray(np.sqrt(np.einsum("ij,ij->j", A, A)) + UNSEEN)


def cholesky_defect(squares: Array, V: Array, rounding: Array) -> float:
    """alpha >= |V'(S + D)V - I| for V = R^-1, R'R = G as computed, G = S + D up to `rounding`.

    squares is the diagonal of G. R'R = G + F with |F_jk| <= gamma(p + 1) sqrt(G_jj G_kk) (Higham
    2002, theorem 10.5), and one rounding more for the diagonal of G; V'F V is at most gamma
    |(|V|'d)|^2 for d_j = sqrt(G_jj). The inverse leaves R V - I = R C V, |C| <= gamma(p) |V||R|
    (section 14.2), of length delta, where |R|^2 is the sum of `squares`, nearly.
    """
    p, sizes = len(V), np.abs(V).T
    of_factor, of_sums = sizes @ np.sqrt(squares), sizes @ rounding
    delta = gamma(p + 1) * SLACK * float(squares.sum()) * float(np.linalg.norm(V)) ** 2
    if not delta < 0.5:
        return 1.0  # which proves nothing
    delta /= 1 - delta  # the inverse of R itself is longer than V by as much
    own = gamma(p + 3) * float(of_factor @ of_factor) + float(of_sums @ of_sums)
    alpha = SLACK * (own + 2 * delta + delta * delta)
    return alpha if alpha < 1.0 else 1.0  # for NaN, too


def triangle_defect(
    K: Array, added: int, V: Array, columns: Array, D: Array, drift: Array
) -> float:
    """alpha >= |V'(S + D)V - I|, where K is B'B for B = A V as computed in float64.

    columns (p,) bound the lengths of those of A; sums in K have at most `added` terms; drift (p,)
    bounds sqrt(n) times how far columns are from centred, which counts squared.
    """
    p, rows = len(V), norms(V.T)
    E = K - np.eye(p) + (V.T * D) @ V
    frobenius = sqrt(abs(float(np.trace(K))))
    error = gamma(p + 4) * float(columns @ rows)  # of B
    own = gamma(added) * frobenius**2 + 2 * frobenius * error + error * error
    own += gamma(2 * p) * float(D @ rows**2) + float(drift @ rows) ** 2
    alpha = SLACK * (float(np.linalg.norm(E)) + own)
    return alpha if alpha < 1.0 else 1.0


def in_users_units(bounds: Array, exponent: NDArray[Any]) -> Array:
    """Bounds times 2**exponent, plus what underflow may cost in these units and in the user's."""
    return np.asarray(np.ldexp(bounds + UNDERFLOW, exponent) + LOST)


def outward(bound: Array) -> Array:
    """A little more than the bound: it was added up in float64, and may have underflowed."""
    return np.asarray(bound * GROWN + LOST)


def half_steps(weights: Any) -> Array:
    """Half the distance from each weight to the next number of its dtype, the closer of the two.

    Truths that are closer than this round to the weight, which is finite; zero at zero.
    """
    size = np.abs(weights)
    below = np.nextafter(size, size.dtype.type(0.0))
    return np.asarray(np.subtract(size, below, dtype=np.float64) / 2)


def stated(
    weights: Any, bounds: Array, floor: Array, evidence: Mapping[str, Any], missing: str = ""
) -> Certificate:
    """The certificate of weights, in the dtype they are given in, each within its bound.

    A weight below `floor` counts as a zero of that size; `missing` names what has no bound.
    """
    dtype = np.asarray(weights).dtype
    numbers = {**evidence, "error_bound": bounds, "floor": floor, "digits": 0.0}
    if missing:
        numbers["without_bound"] = missing
    if not np.isfinite(weights).all():
        return out_of_range(dtype, numbers)
    known = f"the scaled condition number is about {numbers['condition']:.1e}"
    if not np.isfinite(bounds).all():
        why = f"no digits are proven: {known}, beyond what float64 bounds can reach."
        return Certificate("unproven", why, numbers)
    size = np.abs(weights, dtype=np.float64)
    worst = largest_share(bounds, np.maximum(size, floor))
    digits = numbers["digits"] = digits_of(worst, dtype)
    if not missing and ((bounds < half_steps(weights)) | (bounds == 0)).all():
        return Certificate(
            "exact",
            f"the exact solution for these numbers, correctly rounded: no {dtype} is closer to any "
            f"coefficient of it. Errors are at most {worst:.1e} of each coefficient.",
            numbers,
        )
    if digits < 1:
        return Certificate("unproven", f"less than one digit is proven; {known}.", numbers)
    small = np.count_nonzero(size < floor)
    more = f", {small} of them zero to rounding" * bool(small)
    more += f"; of {missing} nothing is proven" * bool(missing)
    how = f"every coefficient agrees with the exact solution to at least {digits:.1f} digits"
    return Certificate("accurate", f"{how}{more}.", numbers)


def stated_together(W: Any, bounds: Array, evidence: Mapping[str, Any]) -> Certificate:
    """The certificate of weights W (k, p) whose errors, all of a target together, have bounds."""
    numbers = {**evidence, "error_bound": bounds, "digits": 0.0}
    size = np.abs(W).max(axis=1, initial=0.0).astype(np.float64)
    nothing, near = size == 0, f"{np.max(bounds):.1e}"  # no share of zero is small
    share = largest_share(bounds, np.where(nothing, np.inf, size))
    if not (share < 0.1 and np.isfinite(W).all()) or (nothing.all() and bounds.any()):
        why = (
            f"no digits are proven at a condition number of {evidence['condition']:.1e}, only that "
            f"all weights together are within {near} of the exact ones; a larger alpha is surer."
        )
        return Certificate("unproven", why, numbers)
    digits = numbers["digits"] = digits_of(share, np.asarray(W).dtype)
    how = f"all weights together are within {near} of the exact ridge solution"
    most = f"{digits:.1f} digits of the largest weight" + " that is not zero" * bool(nothing.any())
    return Certificate("accurate", f"{how}: {most}.", numbers)


def largest_share(bounds: Array, size: Array) -> float:
    """The largest bound as a share of its size; NaN if one is."""
    with np.errstate(all="ignore"):
        return float(np.where(bounds == 0, 0.0, bounds / size).max(initial=0.0))


def digits_of(share: float, dtype: Any) -> float:
    most = MOST_DIGITS[dtype]
    return min(max(-log10(share), 0.0), most) if share > 0 else most


def out_of_range(dtype: Any, evidence: Mapping[str, Any]) -> Certificate:
    why = f"a coefficient leaves the range of {dtype}; measure its column, or y, in other units."
    return Certificate("unproven", why, evidence)


def delivered(fit: F, dtype: Any) -> F:
    """The fit, with a certificate that speaks of W and b rounded to dtype."""
    old = fit.certificate
    if old.kind in ("unproven", "undecided") or not KINDS & old.evidence.keys():
        return fit
    with np.errstate(over="ignore", invalid="ignore"):
        W, b = fit.W.astype(dtype, copy=False), fit.b.astype(dtype, copy=False)
        if not (np.isfinite(W).all() and np.isfinite(b).all()):
            lost = {"digits": 0.0} if "digits" in old.evidence else {}
            return replace(fit, certificate=out_of_range(W.dtype, {**old.evidence, **lost}))
        if W is fit.W:
            return fit
        moved = np.abs(fit.W - W.astype(np.float64)), np.abs(fit.b - b.astype(np.float64))
    of = rounded_digits if "error_bound" in old.evidence else rounded_distance
    return replace(fit, certificate=of(old, W, b, *moved))


def rounded_digits(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    """Bounds on each weight, or on each target's weights together."""
    bounds = old.evidence["error_bound"]
    if bounds.ndim == 1:
        return stated_together(W, (bounds + norms(dW.T)) * GROWN, old.evidence)
    weights, moved = (np.vstack([A.T, a])[: len(bounds)] for A, a in ((W, b), (dW, db)))
    grown, missing = (bounds + moved) * GROWN, old.evidence.get("without_bound", "")
    return stated(weights, grown, old.evidence["floor"], old.evidence, missing)


def rounded_distance(old: Certificate, W: Any, b: Any, dW: Array, db: Array) -> Certificate:
    """|w - w*| and, where it is known, |b - b*| of a minimum."""
    evidence = dict(old.evidence)
    key = "distance_bound" if "distance_bound" in evidence else "distance"
    evidence[key] = (evidence[key] + length(dW)) * GROWN
    how = (
        f"rounded to {W.dtype}, the weights are within {evidence[key]:.1e} of those that minimise "
        "the (penalised) loss, |w - w*|"
    )
    if "coef_bound" in evidence:
        evidence["coef_bound"] = (evidence["coef_bound"] + dW.max(axis=0, initial=0.0)) * GROWN
        evidence["intercept_bound"] = float(evidence["intercept_bound"] + db.max()) * GROWN
        how += f", and the bias is within {evidence['intercept_bound']:.1e}"
    return Certificate(old.kind, f"{how}.", evidence)
