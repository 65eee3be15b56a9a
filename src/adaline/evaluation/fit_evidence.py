"""What is known of a fit: convergence, separability, condition; and what to doubt about it.

`verdict`, reports, the page and the command quote these sentences.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from adaline.dichotomies import cover
from adaline.estimators.registry import effect_of
from adaline.evaluation.words import capitalised, name, number, plain
from adaline.parameters import is_sparse
from adaline.results import Array, Certificate

MAX_INFLATION = 10.0  # variance inflation factor, the usual rule of thumb
_DECIDED = ("separable", "overlapping", "quasi-separable")


def is_proven(certificate: Any) -> bool:
    """Whether a certificate claims anything."""
    return certificate is not None and certificate.kind not in ("unproven", "undecided")


def reconciled(model: BaseEstimator, separability: Any) -> tuple[Any, Any]:
    """The certificate and the separability, where one may know more than the other.

    A certificate that leaves separability open states what is known of it, and an undecided
    separability is dropped if the weights prove one.
    """
    certificate: Any = getattr(model, "certificate_", None)
    kind = getattr(certificate, "kind", None)
    if getattr(separability, "verdict", None) not in _DECIDED:
        # A kernel separates in another space.
        is_linear = getattr(model, "coef_", None) is not None
        return certificate, None if kind in _DECIDED and is_linear else separability
    if kind == "undecided":
        # In the words of `certificates.margins`, if they leave separability open.
        known, is_open, _ = certificate.statement.partition("; separability is undecided")
        if is_open:
            statement = f"{known}; {describe_separability(separability)}."
            certificate = Certificate("unproven", statement, certificate.evidence)
    return certificate, separability


def has_converged(model: BaseEstimator) -> bool | None:
    """Whether learning ended by its own rule rather than at max_iter; None if unknown."""
    fit: Any = getattr(model, "fit_", None)
    if hasattr(fit, "converged"):
        return None if fit.converged is None else bool(fit.converged)
    if hasattr(fit, "outcome") or is_proven(getattr(model, "certificate_", None)):
        return is_proven(getattr(model, "certificate_", None)) or fit.outcome == "converged"
    most, done = getattr(model, "max_iter", None), getattr(model, "n_iter_", None)
    return most is None or done is None or bool(np.max(done) < most)


def condition(model: BaseEstimator) -> float | None:
    """Condition number of the scaled columns, if the fit knows it."""
    kappa = getattr(model, "condition_", getattr(getattr(model, "fit_", None), "condition", None))
    return float(kappa) if isinstance(kappa, float | np.floating) else None


def summary_of(model: BaseEstimator) -> Any:
    """The summary, or None if the fit has none."""
    try:
        return model.summary() if hasattr(model, "summary") else None
    except (TypeError, ValueError):  # a stream, dependent columns, or a fit that needs its rows
        return None


def chosen_penalty(model: BaseEstimator) -> str | None:
    """The penalty that a rule chose, for people; None if it was given, or there is none."""
    alpha, rule = getattr(model, "alpha_", None), getattr(model, "alpha", None)
    if alpha is None or not isinstance(rule, str) or rule == "firth":
        return None
    values = ", ".join(number(float(a), 4) for a in np.atleast_1d(alpha))
    has_units = getattr(model, "column_scale_", None) is not None
    return values + " for columns in units of their standard deviations" * has_units


def short_evidence(model: BaseEstimator, converged: bool | None, separability: Any) -> str:
    """Convergence, separability and condition in half a line."""
    certificate, separability = reconciled(model, separability)
    proven, kappa = is_proven(certificate), condition(model)
    digits = getattr(certificate, "evidence", {}).get("digits", np.nan)
    if converged is None:
        parts = ["learning ended after the given passes; whether more would help is unknown"]
    elif not converged or hasattr(model, "n_iter_"):
        parts = [f"learning {'converged' if converged else 'has not converged'}"]
        parts[0] += " (proven)" * (converged and proven)
    else:
        known = f" ({min(int(digits), 16)} digits proven)" if proven and digits == digits else ""
        parts = [f"solved in closed form{known}"]
    if separability is not None:
        parts.append(describe_separability(separability))
    if kappa is not None and np.isfinite(kappa):
        parts.append(f"condition number {number(kappa, 3)}")
    return f"{capitalised('; '.join(parts))}."


def _boundary(separability: Any) -> str:
    return "hyperplane" if len(separability.labels) == 2 else "linear machine"


def describe_separability(separability: Any) -> str:
    """Whether the training rows are separable; nothing is claimed of others."""
    rows, boundary = f"the {number(separability.n_rows)} training rows", _boundary(separability)
    if separability.verdict == "undecided":
        return f"whether a {boundary} separates {rows} is undecided"
    # Of K classes "quasi-separable" may mean that two overlap and share one output: say less.
    touching = separability.verdict == "quasi-separable" and boundary == "hyperplane"
    article = "a" if separability.verdict == "separable" else "no"
    return f"{article} {boundary} separates {rows}{': the classes touch' * touching} (proven)"


def proof_sentences(model: BaseEstimator, separability: Any = None) -> list[str]:
    """The evidence at length: certificate, end of learning, separability, condition."""
    texts, kappa = [], condition(model)
    certificate, separability = reconciled(model, separability)
    if certificate is not None:
        lead = "Proven" if is_proven(certificate) else "Not proven"
        texts.append(f"{lead}, {certificate.kind}: {certificate.statement}")
    fit = getattr(model, "fit_", None)
    if fit is not None and hasattr(model, "n_iter_"):
        texts.append(f"Learning ended: {fit.stopped}")
    if separability is not None:
        texts.append(f"Separability of the training rows: {separability}")
    if kappa is not None and np.isfinite(kappa):
        lost = int(np.ceil(np.log10(max(kappa, 1.0))))
        means = f"rounding in the data can change the last {lost} of 16 digits of the weights"
        texts.append(f"The condition number is {number(kappa, 3)}: {means}.")
    return [plain(text, lines=True) for text in texts]


def fit_warnings(
    model: BaseEstimator, separability: Any = None, names: list[str] | None = None, X: Any = None
) -> list[str]:
    """What the fit itself gives reason to doubt, with advice; X are rows of the columns."""
    texts, kappa = [], condition(model)
    is_penalised = bool(np.all(np.asarray(getattr(model, "alpha_", 0.0)) > 0))
    if kappa is not None and kappa > 1e8:  # half of the digits may be lost
        ridge = "" if is_penalised else ", or use ridge"
        texts.append(
            f"the condition number is {number(kappa, 3)}: some columns are nearly collinear. Leave "
            f"some out{ridge}."
        )
    vif = None if X is None or getattr(model, "coef_", None) is None else inflation(X)
    if names is not None and vif is not None and vif.max() > MAX_INFLATION:
        worst = [j for j in np.argsort(-vif, kind="stable") if vif[j] > MAX_INFLATION][:5]
        pairs = ", ".join(f"{name(names[j])} ({number(float(vif[j]), 3)})" for j in worst)
        texts.append(
            f"other columns make these coefficients uncertain (variance inflation above "
            f"{MAX_INFLATION:.0f}): {pairs}. Predictions may be fine, but do not interpret these "
            "coefficients one by one."
        )
    if has_converged(model) is False:
        lead = f"learning ended after max_iter = {model.max_iter} without having converged"
        if np.max(model.n_iter_) < model.max_iter:
            lead = f"learning has not converged: {model.fit_.stopped.rstrip('.')}"
        texts.append(
            f"{lead}. Give a larger max_iter, scale the columns, or use a learner that always "
            "converges, such as logistic regression."
        )
    if separability is not None and separability.verdict == "separable":
        if effect_of(model) == "odds" and is_penalised:
            texts.append(
                f"a {_boundary(separability)} separates all {number(separability.n_rows)} training "
                "rows, so the penalty alone determines the size of the coefficients: standard "
                "errors mean little, and probabilities near 0 and 1 are unreliable."
            )
        texts += chance_warnings(separability)
    return texts


def chance_warnings(separability: Any) -> list[str]:
    """Cover's warning: with so few rows in so many dimensions, most labellings are separable."""
    n, d = separability.n_rows, separability.n_features
    share = cover(n, d, bool(separability.fit_intercept)).fraction
    if share <= 0.01:
        return []
    two = "" if len(separability.labels) == 2 else " with two classes"
    return [
        f"the classes are separable, but so are {100 * share:.3g}% of all labellings{two} of {n} "
        f"points in {d} dimensions (Cover): this is weak evidence. Use more rows."
    ]


def inflation(X: Any) -> Array | None:
    """Variance inflation of each column, 1 / (1 - R²) of predicting it from the others.

    It is the diagonal of the inverse of the correlation matrix; 1 of a constant column. None if
    rows are too few, columns too many, or X is sparse.
    """
    n, p = X.shape
    if is_sparse(X) or p > 300 or n < 2 * p + 2:  # 300 columns take well below 1 s
        return None
    factors, varies = np.ones(p), np.ptp(X, axis=0) > 0
    with np.errstate(all="ignore"):
        C = np.atleast_2d(np.corrcoef(X[:, varies], rowvar=False))
    if not np.isfinite(C).all():
        return None
    # A ridge of 1e-12 keeps the inverse finite: combinations of others get 1e11 and more.
    vif = np.diagonal(np.linalg.inv(C + 1e-12 * np.eye(len(C))))
    factors[varies] = np.where(vif > 1e9, np.inf, vif)
    return factors
