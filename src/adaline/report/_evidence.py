"""What is proven of a fit, in sentences: convergence, separability, condition."""

from __future__ import annotations

from typing import Any

import numpy as np

import adaline
from adaline.report._words import clean, name, number

_ILL = 1e8  # condition number from which half the digits may be lost
_PROVEN = ("exact", "accurate", "optimal", "separable", "overlapping", "quasi-separable")


def sentences(model: Any, separability: Any) -> list[str]:
    """Evidence for the verdict."""
    said = []
    certificate = getattr(model, "certificate_", None)
    if certificate is not None:
        lead = "Proven" if certificate.kind in _PROVEN else "Not proven"
        said.append(clean(f"{lead}, {certificate.kind}: {certificate.statement}"))
    fit = getattr(model, "fit_", None)
    if fit is not None and hasattr(model, "n_iter_"):
        said.append(clean(f"Learning ended: {fit.stopped}"))
    if separability is not None:
        said.append(clean(f"Separability of the classes: {separability}"))
    kappa = condition(model)
    if np.isfinite(kappa):
        lost = max(0, int(np.ceil(np.log10(max(kappa, 1.0)))))
        means = (
            f"up to {lost} of the weights' 16 digits hang on the last digit of the data."
            if lost
            else "the columns do not get in each other's way."
        )
        said.append(f"The condition number is {number(kappa, 3)}: {means}")
    return said


def warnings_of(model: Any, names: list[str], separability: Any) -> list[str]:
    """What the fit itself gives reason to doubt, with advice."""
    said = []
    kappa = condition(model)
    if kappa > _ILL:
        said.append(
            f"The condition number is {number(kappa, 3)}: some columns nearly say the same. Drop "
            "or combine them, centre powers, or use Ridge."
        )
    said += _inflated(model, names) + _unfinished(model)
    if separability is not None and separability.verdict == "separable":
        n, d = separability.n_rows, separability.n_features
        share = adaline.cover(n, d, bool(separability.fit_intercept)).fraction
        if share > 0.01:
            said.append(
                f"The classes are separable, but of all labellings of {n} points in {d} dimensions "
                f"{100 * share:.3g} % are (Cover): that says little. More rows would."
            )
    return said


def _unfinished(model: Any) -> list[str]:
    """Whether learning ended because its passes did."""
    most, done = getattr(model, "max_iter", None), getattr(model, "n_iter_", None)
    kind = getattr(getattr(model, "certificate_", None), "kind", "")
    if most is None or done is None or kind in _PROVEN or np.max(done) < most:
        return []
    return [
        f"Learning ended after max_iter = {most} without having converged. Give a larger max_iter, "
        "scale the columns, or take a learner that does not need convergence: LeastSquares, Ridge, "
        "LogisticRegression with alpha > 0."
    ]


def condition(model: Any) -> float:
    """Condition number of the scaled columns, NaN where the fit knows none."""
    for holder in (model, getattr(model, "fit_", None)):
        for attribute in ("condition_", "condition"):
            value = getattr(holder, attribute, None)
            if isinstance(value, float | np.floating):
                return float(value)
    return float("nan")


def _inflated(model: Any, names: list[str]) -> list[str]:
    """Columns whose coefficients others make uncertain."""
    columns = getattr(summary_of(model), "columns", {})
    if "VIF" not in columns:
        return []
    vif = np.asarray(columns["VIF"], dtype=np.float64)[-len(names) :]
    high = [j for j in np.argsort(-vif).tolist() if vif[j] > 10.0][:5]
    if not high:
        return []
    listed = ", ".join(f"{name(names[j])} ({number(float(vif[j]), 3)})" for j in high)
    return [
        "Coefficients made uncertain by other columns (variance inflation above 10): "
        f"{listed}. "
        "Predictions may be fine, but these are not to be read one by one."
    ]


def summary_of(model: Any) -> Any:
    """The summary, or None where the fit has none."""
    if not hasattr(model, "summary"):
        return None
    try:
        return model.summary()
    except ValueError:  # a stream, dependent columns, or a fit too large to keep errors of
        return None
