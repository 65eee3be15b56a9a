"""What theory says of fitted weights: errors, tests, and intervals of weights and predictions.

For large samples cov(theta) = H^-1, with H the Hessian of the (penalised) loss at the minimum
(Wald). For least squares it is exact, with the scatter S of the rows about their mean m:

    cov(w) = s^2 S^-1,    s^2 = SSE / (n - p - 1),    var(b) = s^2 (1/n + m' S^-1 m)

Called by the estimators.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import fdtrc, logsumexp, ndtr, ndtri, stdtr, stdtrit

from adaline.certificates.bounds import regular
from adaline.linalg import UNIT, Factor
from adaline.parameters import is_sparse
from adaline.results import Array, ClosedFit
from adaline.summaries import Summary
from adaline.sums.losses import LogLink
from adaline.sums.objective import JOINT, Objective
from adaline.sums.scaled_rows import MANY

DIGITS = 8.0  # of standard errors, below which a reader is told
KEPT = 256  # weights up to which their covariance is kept: half a megabyte
TILE = 4096  # rows at a time: K^2 numbers are made for each


@dataclass(frozen=True, eq=False)
class Information:
    """What a summary needs of the rows: a covariance of (b, w), and two losses."""

    error: Array  # of the weights and, last, the bias, in the units of X, (K, p + 1)
    loss: float  # sum of this fit
    null: float  # sum of the fit without features
    saturated: float  # the least sum that there could be
    constant: float  # what the loss leaves out of minus the log likelihood
    weight: float
    parameters: float  # with a penalty their effective number, trace of H^-1 H(alpha=0)
    # For intervals of predictions, (K, p + 1, K, p + 1), of weights in the units of X and of values
    # at `centre`; None where it is more than a model file should carry.
    covariance: Array | None = None
    centre: Array | None = None  # a row near the means, or zeros where columns were not centred
    dispersion: float = 1.0  # factor of the variance; 1 where the loss has none

    def facts(self, share: str) -> dict[str, float]:
        """Deviance, AIC, BIC, and the share of the null deviance that the fit explains."""
        n, k = self.weight, self.parameters
        deviance, null = 2 * (self.loss - self.saturated), 2 * (self.null - self.saturated)
        facts = {
            "samples": int(n) if float(n).is_integer() else n,
            "parameters": k,
            "deviance": deviance,
            "null deviance": null,
        }
        if self.dispersion == 1.0:
            minus_twice_log = 2 * (self.loss + self.constant)
            facts["AIC"] = minus_twice_log + 2 * k
            facts["BIC"] = minus_twice_log + float(np.log(n)) * k
        else:  # the likelihood would need a dispersion of its own
            facts["dispersion"] = self.dispersion
        return facts | {share: 1 - deviance / null if null > 0 else np.nan}


def information(objective: Objective, theta: Array) -> Information:
    """From the rows of the fit, at its theta (K, p + 1)."""
    (K, q), rows, loss = theta.shape, objective.rows, objective.loss
    if rows.is_wide or (K > 1 and K * q > JOINT):
        raise ValueError(
            f"standard errors need a matrix of {K * q} x {K * q}; there is room for {JOINT}, or "
            f"{MANY} for two classes. Choose fewer features."
        )
    sums = objective.sums(theta, "" if isinstance(loss, LogLink) else "joint")
    if sums.H is not None:
        H = regular(sums.H, K)
    else:
        assert isinstance(loss, LogLink)
        bent = rows.weights * loss.expected(objective.values(theta)[:, 0])
        H = rows.gram(bent) + np.diag(objective.penalty)
    factor = Factor(H)
    if factor.rank < K * q:
        why = f"columns depend on others (rank {factor.rank} of {K * q}, the intercept included)"
        why = f"{rows.n} rows cannot determine {q} coefficients" if rows.n < q else why
        cure = "give more rows or a penalty, or drop dependent columns"
        raise ValueError(f"{why}, so single coefficients have no standard errors; {cure}.")
    A = factor.root()
    C = (A @ A.T).reshape(K, q, K, q)
    if K > 1:  # what the classes share is no parameter: it was made up to make H regular
        C = C - C.mean(axis=0, keepdims=True)
        C = C - C.mean(axis=2, keepdims=True)
    shrunk = sum(float(objective.penalty @ np.diagonal(C[k, :, k])) for k in range(K))
    free = (q - (not rows.intercept)) * max(K - 1, 1)
    scatter = 1.0
    if isinstance(loss, LogLink):
        left = rows.weight * rows.unit - (free - shrunk)
        scatter = loss.dispersion(rows, objective.values(theta)[:, 0], left)
    C = C * (scatter / rows.unit)
    back = np.diag(np.append(rows.scale, 1.0))
    back[-1, :-1] = -rows.shift
    with np.errstate(over="ignore"):  # columns of 1e-200 have errors beyond float64
        error = np.sqrt([np.diagonal(back @ C[k, :, k] @ back.T) for k in range(K)])
        units = np.append(rows.scale, 1.0)
        kept = units[:, None, None] * C * units if K * q <= KEPT else None
    own = sums.f - 0.5 * float(np.sum(objective.penalty * theta**2))
    unit = rows.unit
    return Information(
        error,
        loss=own * unit,
        null=loss.null(rows, K) * unit,
        saturated=loss.saturated(rows) * unit,
        constant=loss.constant(rows) * unit,
        weight=rows.weight * unit,
        parameters=free - shrunk,
        covariance=kept,
        centre=rows.shift / rows.scale,
        dispersion=float(scatter),
    )


def wald_summary(
    title: str,
    W: Array,
    b: Array,
    known: Information,
    facts: dict[str, float],
    names: list[str],
    outputs: list[str],
    *,
    intercept: bool,
    level: float,
    notes: tuple[str, ...],
    bounds: tuple[Array, Array] | None = None,
) -> Summary:
    """Coefficients, standard errors, z, p and intervals; outputs are the names of K > 1 of them.

    Intervals are Wald's, or the bounds given: lows and highs (p + 1,) of two classes, bias last.
    """
    theta, error = np.column_stack([b, W]), np.roll(known.error, 1, axis=1)
    if not intercept:
        theta, error = theta[:, 1:], error[:, 1:]
    own = ["intercept", *names] if intercept else names
    labels = own if len(W) == 1 else [f"{label}: {name}" for label in outputs for name in own]
    w, error = theta.ravel(), error.ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        z = w / error
    wide = error * ndtri((1 + level) / 2)
    low, high = w - wide, w + wide
    if bounds is not None:
        low, high = (np.roll(bound, 1)[0 if intercept else 1 :] for bound in bounds)
    columns = {
        "coef": w,
        "std err": error,
        "z": z,
        "p": 2 * ndtr(-np.abs(z)),
        f"low {level:.0%}": low,
        f"high {level:.0%}": high,
    }
    return Summary(title, tuple(labels), columns, facts, notes)


def errors_of_values(X: Any, C: Array, centre: Array) -> Array:
    """Standard errors (n,) of w'x + b: var(v) = z'Cz with z = (x - centre, 1)."""
    errors = np.empty(X.shape[0])
    for i in range(0, len(errors), TILE):
        Z = _centred(X[i : i + TILE], centre)
        errors[i : i + TILE] = np.einsum("ij,ij->i", Z @ C, Z)
    return np.sqrt(np.maximum(errors, 0.0))  # C is a covariance: less than zero is rounding


def bounds_of_logits(X: Any, V: Array, C: Array, centre: Array, z: float) -> tuple[Array, Array]:
    """Low and high (n, K) of the log-odds of each class against the others together.

    p_k = 1 / (1 + sum_{j != k} exp(v_j - v_k)) has its bounds where every contrast d_jk = v_j - v_k
    is at an end of its own interval, u_jk = d_jk + z sqrt(var(d_jk)):

        low_k = 1 / (1 + sum_j exp(u_jk)),    high_k = 1 / (1 + sum_j exp(-u_kj))

    No two of them contradict each other: low_k <= 1 / (1 + exp(u_jk)) and
    high_j <= 1 / (1 + exp(-u_jk)), so that low_k + high_j <= 1. They hold the delta method's
    interval of log-odds where that is right, since the error of a weighted mean of contrasts is at
    most the weighted mean of their errors.
    """
    low, high = np.empty(V.shape), np.empty(V.shape)
    K, q = V.shape[1], len(centre) + 1
    none = np.where(np.eye(K, dtype=bool), -np.inf, 0.0)  # a class is no rival of itself
    for i in range(0, len(V), TILE):
        Z, v = _centred(X[i : i + TILE], centre), V[i : i + TILE]
        S = np.empty((len(Z), K, K))
        for k in range(K):
            S[:, k] = np.einsum("nlj,nj->nl", (Z @ C[k].reshape(q, -1)).reshape(-1, K, q), Z)
        own = np.einsum("nkk->nk", S)
        wide = z * np.sqrt(np.maximum(own[:, :, None] + own[:, None, :] - 2 * S, 0.0))
        d = v[:, None, :] - v[:, :, None] + none
        low[i : i + TILE] = -logsumexp(d + wide, axis=2)
        high[i : i + TILE] = -logsumexp(d - wide, axis=2)
    return low, high


def _centred(X: Any, centre: Array) -> Array:
    Z = np.ones((X.shape[0], len(centre) + 1))
    Z[:, :-1] = (X.toarray() if is_sparse(X) else X) - centre
    return Z


def t_summary(
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
            f"{n:g} rows and {p + intercept} coefficients leave no degree of freedom for the noise."
        )
    root = fit.root[:p]
    Z = X @ root - mean @ root if is_sparse(X) else (X - mean) @ root
    share = 1.0 + intercept / n + np.sum(Z**2, axis=1)
    return np.asarray(np.sqrt(share[:, None] * (fit.squares / dof)) * stdtrit(dof, (1 + level) / 2))


def rounding_of(y: Array) -> Array:
    """The least variance of noise, (k,), of targets of root mean square y: they are rounded."""
    return np.asarray((64 * UNIT * y) ** 2)


def explain_no_errors(fit: ClosedFit, n: float, intercept: bool) -> str:
    p = fit.W.shape[1]
    why, cure = f"the columns are dependent (rank {fit.rank} of {p})", "drop the dependent columns"
    if n - intercept < p:
        why, cure = f"{n:g} rows cannot determine {p + intercept} coefficients", "give more rows"
    return f"{why}, so coefficients have no standard errors; {cure}, or take Ridge."
