"""What is known of a fit: convergence, separability, condition; and what to doubt about it.

`verdict`, reports, the page and the command quote these sentences.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from adaline.dichotomies import cover
from adaline.estimators.registry import effect_of
from adaline.evaluation.words import capitalised, listed, name, number, plain
from adaline.parameters import is_sparse
from adaline.results import Array, Certificate

ILL_CONDITIONED = 1e8  # condition number from which half of the digits may be lost
MAX_SEPARABLE_BY_CHANCE = 0.01  # share of labellings; beyond, separability says little (Cover)
MAX_COLUMNS_COMPARED, MAX_ROWS_COMPARED = 300, 20_000  # for variance inflation: well below 1 s
MAX_INFLATION = 10.0  # variance inflation factor, the usual rule of thumb
_OPEN = re.compile(r"; separability is undecided(: `separability\(X, y\)` decides it)?")
_DECIDED = ("separable", "overlapping", "quasi-separable")


def is_proven(certificate: Any) -> bool:
    """Whether a certificate claims anything."""
    return certificate is not None and certificate.kind not in ("unproven", "undecided")


def reconciled(model: Any, separability: Any) -> tuple[Any, Any]:
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
    if kind == "undecided" and _OPEN.search(certificate.statement):
        statement = _OPEN.sub(f"; {describe_separability(separability)}", certificate.statement)
        certificate = Certificate("unproven", statement, certificate.evidence)
    return certificate, separability


def has_converged(model: Any) -> bool | None:
    """Whether learning ended by its own rule rather than at max_iter; None if unknown."""
    fit: Any = getattr(model, "fit_", None)
    if hasattr(fit, "converged"):
        return None if fit.converged is None else bool(fit.converged)
    if hasattr(fit, "outcome"):
        return fit.outcome == "converged" or is_proven(fit.certificate)
    most, done = getattr(model, "max_iter", None), getattr(model, "n_iter_", None)
    if most is None or done is None or np.max(done) < most:
        return True
    return is_proven(getattr(model, "certificate_", None))


def condition(model: Any) -> float | None:
    """Condition number of the scaled columns, if the fit knows it."""
    for holder in (model, getattr(model, "fit_", None)):
        for attribute in ("condition_", "condition"):
            value = getattr(holder, attribute, None)
            if isinstance(value, float | np.floating):
                return float(value)
    return None


def summary_of(model: Any) -> Any:
    """The summary, or None if the fit has none."""
    try:
        return model.summary() if hasattr(model, "summary") else None
    except (TypeError, ValueError):  # a stream, dependent columns, or a fit that needs its rows
        return None


def chosen_penalty(model: Any) -> str | None:
    """The penalty that a rule chose, for people; None if it was given, or there is none."""
    alpha, rule = getattr(model, "alpha_", None), getattr(model, "alpha", None)
    if alpha is None or not isinstance(rule, str) or rule == "firth":
        return None
    values = ", ".join(number(float(a), 4) for a in np.atleast_1d(alpha)[:5])
    has_units = getattr(model, "column_scale_", None) is not None
    units = " for columns in units of their standard deviations" * has_units
    return values + ", ..." * (np.size(alpha) > 5) + units


def short_evidence(model: Any, converged: bool | None, separability: Any) -> str:
    """Convergence, separability and condition in half a line."""
    certificate, separability = reconciled(model, separability)
    proven, kappa = is_proven(certificate), condition(model)
    if converged is None:
        parts = ["learning ended after the given passes; whether more would help is unknown"]
    elif not converged:
        parts = ["learning has not converged"]
    elif hasattr(model, "n_iter_"):
        parts = ["learning converged" + " (proven)" * proven]
    else:
        parts = ["solved in closed form"]
        digits = getattr(certificate, "evidence", {}).get("digits")
        if proven and isinstance(digits, float | int) and digits == digits:
            parts[0] += f" ({min(int(digits), 16)} digits proven)"
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


def proof_sentences(model: Any, separability: Any = None) -> list[str]:
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
        lost = max(0, int(np.ceil(np.log10(max(kappa, 1.0)))))
        means = f"rounding in the data can change the last {lost} of 16 digits of the weights"
        texts.append(
            f"The condition number is {number(kappa, 3)}: "
            f"{means if lost else 'no digits are lost to collinear columns'}."
        )
    return [plain(text, lines=True) for text in texts]


def fit_warnings(
    model: Any, separability: Any = None, names: list[str] | None = None, X: Any = None
) -> list[str]:
    """What the fit itself gives reason to doubt, with advice; X are rows of the columns."""
    texts, kappa, is_penalised = [], condition(model), _is_penalised(model)
    if kappa is not None and kappa > ILL_CONDITIONED:
        ridge = "" if is_penalised else ", or use ridge"
        texts.append(
            f"the condition number is {number(kappa, 3)}: some columns are nearly collinear. Leave "
            f"some out{ridge}."
        )
    if names and len(names) == getattr(model, "n_features_in_", -1):
        texts += _collinear_columns(model, names, X)
    texts += _no_convergence(model, separability)
    if separability is not None and separability.verdict == "separable":
        if effect_of(model) == "odds" and is_penalised:
            texts.append(
                f"a {_boundary(separability)} separates all {number(separability.n_rows)} training "
                "rows: without its penalty, the coefficients would grow without bound. The penalty "
                "determines their size, standard errors mean little, and probabilities near 0 and "
                "1 are unreliable."
            )
        texts += chance_warnings(separability)
    return texts


def _is_penalised(model: Any) -> bool:
    alpha = getattr(model, "alpha_", None)
    return alpha is not None and bool(np.all(np.asarray(alpha) > 0))


def chance_warnings(separability: Any) -> list[str]:
    """Cover's warning: with so few rows in so many dimensions, most labellings are separable."""
    n, d = separability.n_rows, separability.n_features
    share = cover(n, d, bool(separability.fit_intercept)).fraction
    if share <= MAX_SEPARABLE_BY_CHANCE:
        return []
    two = "" if len(separability.labels) == 2 else " with two classes"
    return [
        f"the classes are separable, but so are {100 * share:.3g}% of all labellings{two} of {n} "
        f"points in {d} dimensions (Cover): this is weak evidence. Use more rows."
    ]


def _no_convergence(model: Any, separability: Any) -> list[str]:
    """That learning ended before it converged, and what to do."""
    if has_converged(model) is not False:
        return []
    lead = f"learning ended after max_iter = {model.max_iter} without having converged."
    if np.max(model.n_iter_) < model.max_iter:
        lead = f"learning has not converged: {model.fit_.stopped}"
    advice = "Give a larger max_iter, scale the columns, or use"
    if getattr(separability, "verdict", "") in _DECIDED[1:]:
        advice = f"No {_boundary(separability)} separates the rows: more passes may not help. Use"
    return [f"{lead} {advice} a learner that always converges, such as logistic regression."]


def inflation(X: Any) -> Array | None:
    """Variance inflation of each column, 1 / (1 - R²) of predicting it from the others.

    It is the diagonal of the inverse of the correlation matrix; 1 of a constant column. None if
    rows are too few, columns too many, or X is sparse.
    """
    n, p = X.shape
    if is_sparse(X) or p > MAX_COLUMNS_COMPARED or n < 2 * p + 2:
        return None
    Z, factors = np.asarray(X[:MAX_ROWS_COMPARED], dtype=np.float64), np.ones(p)
    with np.errstate(all="ignore"):
        varies = np.ptp(Z, axis=0) > 0
        Z = (Z[:, varies] - Z[:, varies].mean(axis=0)) / np.abs(Z[:, varies]).max(axis=0)
        Z /= np.sqrt(np.mean(Z * Z, axis=0))
        C = Z.T @ Z / len(Z)
    if not np.isfinite(C).all():
        return None
    # A ridge of 1e-12 keeps the inverse finite: combinations of others get 1e11 and more.
    vif = np.diagonal(np.linalg.inv(C + 1e-12 * np.eye(len(C))))
    factors[varies] = np.where(vif > 1e9, np.inf, vif)
    return factors


def _collinear_columns(model: Any, names: list[str], X: Any) -> list[str]:
    """Constant columns, and columns whose coefficients others make uncertain."""
    texts, columns = [], getattr(summary_of(model), "columns", {})
    dependent = getattr(getattr(model, "fit_", None), "dependent", ())
    constant = [names[j] for j, others in dependent if not others]
    if constant and _is_penalised(model):  # an unpenalised fit itself warns
        texts.append(f"nothing can be learned from constant columns: {listed(constant)}.")
    vif: Array | None = np.asarray(columns.get("VIF", ()), dtype=np.float64)[-len(names) :]
    if "VIF" not in columns:
        has_weights = X is not None and getattr(model, "coef_", None) is not None
        vif = inflation(X) if has_weights else None
    if vif is not None and (vif > MAX_INFLATION).any():
        high = [j for j in np.argsort(-vif).tolist() if vif[j] > MAX_INFLATION][:5]
        pairs = ", ".join(f"{name(names[j])} ({number(float(vif[j]), 3)})" for j in high)
        texts.append(
            "other columns make these coefficients uncertain (variance inflation above "
            f"{MAX_INFLATION:.0f}): {pairs}. Predictions may be fine, but do not interpret these "
            "coefficients one by one."
        )
    return texts
