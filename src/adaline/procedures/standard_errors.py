"""What the classical theory says of least-squares weights: errors, tests, intervals.

    cov(w) = s^2 S^-1,    s^2 = SSE / (n - p - 1),    var(b) = s^2 (1/n + m' S^-1 m)

A factor V with V'SV = I to u cond(X)^2, or u cond(X) by a QR, is good enough to correct weights
with, and too rough for standard errors. Measured with twice the digits of float64, the rows

    B = (X - 1 c') V,    c near the means,    K = B'B about its own means

are right to their last digits, however much of X V cancels; and K, which is nearly I, gives
S^-1 = V K^-1 V' = (V L)(V L)' with K^-1 = L L'.

Called by `procedures.least_squares` (the root) and by the estimators.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from adaline.kernels.double_double import values
from adaline.linalg import UNIT, inverse_cholesky
from adaline.parameters import is_sparse
from adaline.results import Array, ClosedFit
from adaline.summaries import Summary
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows

DIGITS = 8.0  # of standard errors, below which a reader is told
PRECISE = 1e-13  # relative error of a factor, up to which there is nothing to gain
WORK = 2**18  # n p^2, up to which products with twice the digits take about a millisecond


def covariance_root(
    V: Array, rough: float, u: Moments, rows: Rows | None, intercept: bool
) -> Array:
    """root (p, p) with root root' = S^-1 in the user's units, from V in those of u.

    Where its digits are known it is (p + 1, p), and the last row is mean'root, or zeros without a
    bias. rough is the relative error of V V'.
    """
    p = u.p
    root = np.asarray(np.ldexp(V, -u.exponent[:p, None]))
    if rows is None or rough <= PRECISE or rows.n * p * p > WORK:
        return root
    with np.errstate(all="ignore"):  # columns of 1e200: the factor as it is will have to do
        centre = np.ldexp(u.mean[:p], u.exponent[:p]) @ root if intercept else np.zeros(p)
        X = np.ascontiguousarray(rows.dense(slice(None)), dtype=np.float64)
        low = rows.X_low if len(rows.X_low) else np.zeros_like(X)
        columns = zip(np.ascontiguousarray(root.T), centre, strict=True)
        B = np.column_stack([values(X, low, v, np.zeros(p), -c, 0.0) for v, c in columns])
        omega = rows.omega if len(rows.omega) else np.ones(rows.n)
        about = omega @ B / omega.sum() if intercept else np.zeros(p)
        B -= about
        L = inverse_cholesky(B.T @ (omega[:, None] * B))
        if L is None or np.abs(L - np.eye(p)).max(initial=0.0) > 0.5:
            return root
        better = np.vstack([root, centre + about]) @ L
    return better if np.isfinite(better).all() else root


def inference(
    fit: ClosedFit,
    *,
    n: float,
    rows: int,
    mean: Array,
    scatter: Array,
    names: list[str],
    intercept: bool,
    level: float,
    target: int = 0,
) -> Summary:
    """Standard errors, t, p, confidence intervals, R², F, AIC and VIF of one target's weights.

    n is the sum of the weights of the rows, mean (p + 1,) and the diagonal scatter (p + 1,) are
    those of the features and of the target. The log-likelihood is that of Gaussian noise of
    variance SSE / n.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
    if fit.root is None:
        raise ValueError(explain_no_errors(fit, n, intercept))
    w, b, p = fit.W[target], fit.b[target], fit.W.shape[1]
    dof = n - p - intercept
    sse, sst = float(fit.squares[target]), float(scatter[p])
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        size = np.sqrt((sst / n) + intercept * mean[p] ** 2)
        variance = max(sse / dof, float(rounding_of(size))) if dof > 0 else np.nan
        own = np.sum(fit.root[:p] ** 2, axis=1)
        vif = scatter[:p] * own
        if intercept:
            row = fit.root[p] if len(fit.root) > p else mean[:p] @ fit.root
            own = np.append(1 / n + np.sum(row**2), own)
            w, names = np.append(b, w), ["intercept", *names]
        error = np.sqrt(variance * own)
        t = w / error
        wide = error * stdtrit(dof, (1 + level) / 2)
        F = np.divide(sst - sse, p) / variance
        r2 = 1 - np.divide(sse, sst)
        adjusted = 1 - (1 - r2) * np.divide(n - intercept, dof)
        likelihood = -n / 2 * (np.log(2 * np.pi * np.divide(sse, n)) + 1)  # at the variance SSE / n
        deviation = np.sqrt(np.divide(sse, dof)) if dof > 0 else np.nan
    columns = {
        "coef": w,
        "std err": error,
        "t": t,
        "p": 2 * stdtr(dof, -np.abs(t)),
        f"low {level:.0%}": w - wide,
        f"high {level:.0%}": w + wide,
        "VIF": np.append([np.nan] * intercept, vif),
    }
    facts = {
        "samples": int(n) if float(n).is_integer() else n,
        "degrees of freedom": int(dof) if float(dof).is_integer() else dof,
        "R²": float(r2),
        "adjusted R²": float(adjusted),
        "residual std dev": float(deviation),
        "F": float(F),
        "p of F": float(fdtrc(p, dof, F)) if dof > 0 else np.nan,
        "log-likelihood": float(likelihood),
        "AIC": float(2 * (p + intercept) - 2 * likelihood),
        "BIC": float(np.log(n) * (p + intercept) - 2 * likelihood),
        "condition number": fit.condition,
    }
    notes = [str(fit.certificate)]
    digits = 15.5 - 2.0 * np.log10(max(fit.condition, 1.0))
    if len(fit.root) == p and digits < DIGITS:
        how = f"at least about {digits:.0f} digits" if digits >= 1.0 else "perhaps no right digit"
        notes.append(
            f"standard errors, t and intervals have {how}: they were not corrected by the rows, as "
            "coefficients are."
        )
    if not np.isclose(n, rows, rtol=1e-12):
        notes.append(
            f"weights count rows: {rows} rows of weight {n:g} in all count as {n:g} samples. If "
            "they are inverse variances, divide them by their mean: then standard errors are those "
            "of weighted least squares."
        )
    return Summary("Least squares", tuple(names), columns, facts, tuple(notes))


def new_values(
    fit: ClosedFit, X: Any, *, n: float, mean: Array, intercept: bool, level: float
) -> Array:
    """Half the width (rows, k) of the intervals that hold a new y with probability `level`."""
    p = fit.W.shape[1]
    if fit.root is None:
        raise ValueError(explain_no_errors(fit, n, intercept))
    dof = n - p - intercept
    if dof <= 0:
        raise ValueError(
            f"{n:g} rows and {p + intercept} coefficients leave no degree of freedom to estimate "
            "the noise from; more rows, or fewer columns, leave some."
        )
    root = fit.root[:p]
    Z = X @ root - mean @ root if is_sparse(X) else (X - mean) @ root
    share = 1.0 + intercept / n + np.sum(Z**2, axis=1)
    return np.asarray(np.sqrt(share[:, None] * (fit.squares / dof)) * stdtrit(dof, (1 + level) / 2))


def rounding_of(y: Array) -> Array:
    """The least variance of noise, (k,), of targets of root mean square y: they are rounded."""
    return np.asarray((64 * UNIT * y) ** 2)


def explain_no_errors(fit: ClosedFit, n: float, intercept: bool) -> str:
    """Why there are no standard errors and intervals: too few rows, or dependent columns."""
    p = fit.W.shape[1]
    why, cure = f"the columns are dependent (rank {fit.rank} of {p})", "drop the dependent columns"
    if n - intercept < p:
        why, cure = f"{n:g} rows cannot determine {p + intercept} coefficients", "give more rows"
    return f"{why}, so coefficients have no standard errors; {cure}, or take Ridge."
