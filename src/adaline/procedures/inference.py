"""What the classical theory says of least-squares weights: errors, tests, intervals.

cov(w) = s^2 S^-1,    s^2 = SSE / (n - p - 1),    var(b) = s^2 (1/n + m' S^-1 m)
"""

from __future__ import annotations

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from adaline.results import Array, ClosedFit
from adaline.summaries import Summary


def inference(
    fit: ClosedFit,
    *,
    n: float,
    mean: Array,
    scatter: Array,
    names: list[str],
    intercept: bool,
    level: float,
    target: int = 0,
) -> Summary:
    """Standard errors, t, p, confidence intervals, R², F and VIF of one target's weights.

    n is the sum of the weights, mean (p + 1,) and the diagonal scatter (p + 1,) are those of the
    features and of the target.
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}; a confidence level lies between 0 and 1.")
    if fit.root is None:
        raise ValueError(
            f"the columns are dependent (rank {fit.rank} of {fit.W.shape[1]}), so single "
            "coefficients have no standard errors; drop the dependent columns first."
        )
    w, b, p = fit.W[target], fit.b[target], fit.W.shape[1]
    dof = n - p - intercept
    sse, sst = float(fit.squares[target]), float(scatter[p])
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = sse / dof if dof > 0 else np.nan
        own = np.sum(fit.root**2, axis=1)
        if intercept:
            own = np.append(1 / n + np.sum((mean[:p] @ fit.root) ** 2), own)
            w, names = np.append(b, w), ["intercept", *names]
        error = np.sqrt(variance * own)
        t = w / error
        wide = error * stdtrit(dof, (1 + level) / 2)
        vif = scatter[:p] * np.sum(fit.root**2, axis=1)
        F = np.divide(sst - sse, p) / variance
    columns = {
        "coef": w,
        "std err": error,
        "t": t,
        "p": 2 * stdtr(dof, -np.abs(t)),
        f"low {level:.0%}": w - wide,
        f"high {level:.0%}": w + wide,
        "VIF": np.append([np.nan] * intercept, vif),
    }
    facts = _facts(n, p, dof, sse, sst, F, fit.condition, intercept)
    notes = (str(fit.certificate),)
    return Summary("Least squares", tuple(names), columns, facts, notes)


def _facts(
    n: float, p: int, dof: float, sse: float, sst: float, F: float, kappa: float, intercept: bool
) -> dict[str, float]:
    with np.errstate(divide="ignore", invalid="ignore"):
        r2 = 1 - np.divide(sse, sst)
        adjusted = 1 - (1 - r2) * np.divide(n - intercept, dof)
        return {
            "samples": int(n) if float(n).is_integer() else n,
            "degrees of freedom": int(dof) if float(dof).is_integer() else dof,
            "R²": float(r2),
            "adjusted R²": float(adjusted),
            "residual std dev": float(np.sqrt(sse / dof)) if dof > 0 else np.nan,
            "F": float(F),
            "p of F": float(fdtrc(p, dof, F)) if dof > 0 else np.nan,
            "condition number": kappa,
        }
