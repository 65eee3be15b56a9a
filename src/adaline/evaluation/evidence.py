"""What is known of a fit: convergence, separability, condition; and what to doubt."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.dichotomies import cover
from adaline.estimators.registry import effect_of
from adaline.evaluation.words import name, number, plain, plural
from adaline.results import Certificate

ILL_CONDITIONED = 1e8  # condition number from which half the digits may be lost
_TELLING = 0.01  # share of separable labellings from which separability says little (Cover)
_COLUMNS, _ROWS = 300, 20_000  # up to which columns are compared with each other
_NAMED = 3  # dependent columns that are told one by one
_INFLATED = 10.0  # variance inflation factor from which a coefficient is not read alone
_OPEN = re.compile(r"; separability is undecided(: `separability\(X, y\)` decides it)?")
_DECIDED = ("separable", "overlapping", "quasi-separable")


def is_proven(certificate: Any) -> bool:
    """Whether a certificate claims anything."""
    return certificate is not None and certificate.kind not in ("unproven", "undecided")


def reconciled(model: Any, separability: Any) -> tuple[Any, Any]:
    """The certificate and the verdict on separability, where one may know more than the other.

    A certificate that leaves separability open says what the verdict knows, and a verdict that was
    not reached is dropped where the weights prove one.
    """
    certificate: Any = getattr(model, "certificate_", None)
    kind, verdict = getattr(certificate, "kind", None), getattr(separability, "verdict", None)
    if verdict not in _DECIDED:
        linear = getattr(model, "coef_", None) is not None  # a kernel separates in its own space
        return certificate, None if kind in _DECIDED and linear else separability
    if kind != "undecided" or not _OPEN.search(certificate.statement):
        return certificate, separability
    words = _OPEN.sub(f"; {of_separability(separability)}", certificate.statement)
    return Certificate("unproven", words, certificate.evidence), separability


def has_converged(model: Any) -> bool | None:
    """Whether learning ended by its own rule rather than at max_iter; None where nobody knows."""
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
    """Condition number of the scaled columns, where the fit knows it."""
    for holder in (model, getattr(model, "fit_", None)):
        for attribute in ("condition_", "condition"):
            value = getattr(holder, attribute, None)
            if isinstance(value, float | np.floating):
                return float(value)
    return None


def summary_of(model: Any) -> Any:
    """The summary, or None where the fit has none."""
    if not hasattr(model, "summary"):
        return None
    try:
        return model.summary()
    except ValueError:  # a stream, dependent columns, or a fit too large to keep errors of
        return None


def chosen_penalty(model: Any) -> str | None:
    """The penalty that a rule chose, for people; None where it was given, or there is none."""
    alpha = getattr(model, "alpha_", None)
    if (
        alpha is None
        or not isinstance(getattr(model, "alpha", None), str)
        or model.alpha == "firth"
    ):
        return None
    told = ", ".join(number(float(a), 4) for a in np.atleast_1d(alpha)[:5])
    more = ", ..." if np.size(alpha) > 5 else ""
    units = getattr(model, "column_scale_", None)
    return f"{told}{more}" + ("" if units is None else " for columns in units of their deviations")


def in_short(model: Any, converged: bool | None, separability: Any) -> str:
    """Converged or not, separable or not, condition: half a line."""
    certificate, separability = reconciled(model, separability)
    proven = is_proven(certificate)
    if converged is None:
        parts = ["learning took the passes it was given, and whether more would help is not known"]
    elif not converged:
        parts = ["learning has not converged"]
    elif hasattr(model, "n_iter_"):
        parts = ["learning converged" + (" (proven)" if proven else "")]
    else:
        parts = ["solved in closed form"]
        digits = getattr(certificate, "evidence", {}).get("digits")
        if proven and isinstance(digits, float | int) and digits == digits:
            parts[0] += f" ({min(int(digits), 16)} digits proven)"
    if separability is not None:
        parts.append(of_separability(separability))
    kappa = condition(model)
    if kappa is not None and np.isfinite(kappa):
        parts.append(f"condition number {number(kappa, 3)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def _boundary(found: Any) -> str:
    return "hyperplane" if len(found.labels) == 2 else "linear machine"


def of_separability(found: Any) -> str:
    """The verdict on the rows it was asked about: those learned from, not those held out."""
    rows = f"the {number(found.n_rows)} rows learned from"
    two, boundary = len(found.labels) == 2, _boundary(found)
    # Of K classes "quasi-separable" may mean that two overlap and share one output: say less.
    touch = ": the classes touch" if two else ""
    return {
        "separable": f"a {boundary} separates {rows} (proven)",
        "overlapping": f"no {boundary} separates {rows} (proven)",
        "quasi-separable": f"no {boundary} separates {rows}{touch} (proven)",
        "undecided": f"whether a {boundary} separates {rows} is undecided",
    }[found.verdict]


def sentences(model: Any, separability: Any = None) -> list[str]:
    """The evidence at length: certificate, end of learning, separability, condition."""
    said = []
    certificate, separability = reconciled(model, separability)
    if certificate is not None:
        lead = "Proven" if is_proven(certificate) else "Not proven"
        said.append(f"{lead}, {certificate.kind}: {certificate.statement}")
    fit = getattr(model, "fit_", None)
    if fit is not None and hasattr(model, "n_iter_"):
        said.append(f"Learning ended: {fit.stopped}")
    if separability is not None:
        said.append(f"Separability of the rows learned from: {separability}")
    kappa = condition(model)
    if kappa is not None and np.isfinite(kappa):
        lost = max(0, int(np.ceil(np.log10(max(kappa, 1.0)))))
        means = (
            f"rounding in the data can change the last {lost} of 16 digits of the weights."
            if lost
            else "the columns do not get in each other's way."
        )
        said.append(f"The condition number is {number(kappa, 3)}: {means}")
    return [plain(text, lines=True) for text in said]


def doubts(
    model: Any, separability: Any = None, names: list[str] | None = None, X: Any = None
) -> list[str]:
    """What the fit itself gives reason to doubt, with advice; X are rows of the columns."""
    said = []
    kappa = condition(model)
    if kappa is not None and kappa > ILL_CONDITIONED:
        advice = "Leave some out." if _is_penalised(model) else "Leave some out, or use ridge."
        said.append(
            f"the condition number is {number(kappa, 3)}: some columns nearly say the same. "
            f"{advice}"
        )
    if _is_penalised(model):
        said += _dependent(model, names or [])
    said += _inflated(model, names or [], X) + _unfinished(model, separability)
    if separability is not None and separability.verdict == "separable":
        said += _unbounded(model, separability) + of_chance(separability)
    return said


def _unbounded(model: Any, separability: Any) -> list[str]:
    """Of logistic regression on separable rows: only the penalty keeps the weights finite."""
    if effect_of(model) != "odds" or not _is_penalised(model):
        return []
    n = number(separability.n_rows)
    return [
        f"a {_boundary(separability)} separates all {n} rows learned from: without its penalty, "
        "the coefficients would grow without end. So the penalty sets their size, standard errors "
        "say little, and probabilities near 0 and 1 are to be taken with care."
    ]


def _is_penalised(model: Any) -> bool:
    """Whether a penalty on the weights was used."""
    alpha = getattr(model, "alpha_", None)
    return alpha is not None and bool(np.all(np.asarray(alpha) > 0))


def _dependent(model: Any, names: list[str]) -> list[str]:
    """Constant columns, and columns that others contain, where a penalised fit knows of them.

    Without a penalty the fit itself warns of them.
    """
    found = getattr(getattr(model, "fit_", None), "dependent", ())
    if not found or len(names) != getattr(model, "n_features_in_", -1):
        return []
    said, constant = [], [j for j, others in found if not others]
    if constant:
        said.append(
            f"nothing can be learned from columns that are constant: {_listed(constant, names)}."
        )
    mixed = [(j, others) for j, others in found if others]
    for j, others in mixed[:_NAMED]:
        said.append(
            f"{name(names[j])} follows from {_listed(others, names)}: they share one effect, so do "
            "not read these coefficients one by one."
        )
    if len(mixed) > _NAMED:
        said.append(f"{plural(len(mixed) - _NAMED, 'more column', 'follow')} from others.")
    return said


def _listed(columns: Any, names: list[str]) -> str:
    """Names of columns, the first five."""
    text = ", ".join(name(names[j]) for j in columns[:5])
    return f"{text} and {len(columns) - 5} more" if len(columns) > 5 else text


def of_chance(separability: Any) -> list[str]:
    """Cover's warning: with so few rows in so many dimensions, most labellings are separable."""
    n, d = separability.n_rows, separability.n_features
    share = cover(n, d, bool(separability.fit_intercept)).fraction
    if share <= _TELLING:
        return []
    two = "" if len(separability.labels) == 2 else " with two classes"
    return [
        f"the classes are separable, but so are {100 * share:.3g} % of all labellings{two} of {n} "
        f"points in {d} dimensions (Cover): that says little. More rows would."
    ]


def _unfinished(model: Any, separability: Any) -> list[str]:
    """Whether learning ended before it converged, and what to do."""
    if has_converged(model) is not False:
        return []
    most, done = model.max_iter, np.max(model.n_iter_)
    lead = f"learning ended after max_iter = {most} without having converged."
    if done < most:
        lead = f"learning has not converged: {model.fit_.stopped}"
    more = "Give a larger max_iter, scale the columns, or take"
    if getattr(separability, "verdict", "") in _DECIDED[1:]:
        more = f"As no {_boundary(separability)} separates the rows, more passes may not help: take"
    return [
        f"{lead} {more} a learner that always converges, such as ridge or logistic regression "
        "with a penalty."
    ]


def inflation(X: Any) -> NDArray[np.float64] | None:
    """Variance inflation of each column: 1 / (1 - R²) of predicting it from the others.

    1 of a constant column; None where rows are too few, columns too many, or X is sparse.
    """
    if hasattr(X, "toarray") or X.shape[1] > _COLUMNS or X.shape[0] < 2 * X.shape[1] + 2:
        return None
    Z = np.asarray(X[:_ROWS], dtype=np.float64)
    with np.errstate(all="ignore"):
        Z = Z - Z.mean(axis=0)
        spread = np.sqrt(np.mean(Z * Z, axis=0))
        there = (spread > 0) & np.isfinite(spread)
        Z = Z[:, there] / spread[there]
        C = Z.T @ Z / len(Z)
    found = np.ones(X.shape[1])
    if not np.isfinite(C).all():
        return None
    values, vectors = np.linalg.eigh(C)
    kept = values > 1e-12 * max(values[-1:].tolist(), default=1.0)
    with np.errstate(divide="ignore"):
        vif = (vectors**2 / np.where(kept, values, 1.0)) @ kept
    lost = (vectors[:, ~kept] ** 2).sum(axis=1) > 1e-8  # a combination of others
    found[there] = np.where(lost, np.inf, vif)
    return found


def _times(vif: float) -> str:
    return "∞" if np.isinf(vif) else number(round(vif) if vif >= 100 else vif, 3)


def _inflated(model: Any, names: list[str], X: Any) -> list[str]:
    """Columns whose coefficients others make uncertain."""
    columns = getattr(summary_of(model), "columns", {}) if names else {}
    if "VIF" in columns:
        vif = np.asarray(columns["VIF"], dtype=np.float64)[-len(names) :]
    else:
        rows = X is not None and names and getattr(model, "coef_", None) is not None
        found = inflation(X) if rows else None
        if found is None or len(found) != len(names):
            return []
        told = bool(getattr(getattr(model, "fit_", None), "dependent", ()))
        vif = np.where(np.isinf(found) & told, 1.0, found)  # `_dependent` has named them
    high = [j for j in np.argsort(-vif).tolist() if vif[j] > _INFLATED][:5]
    if not high:
        return []
    listed = ", ".join(f"{name(names[j])} ({_times(float(vif[j]))})" for j in high)
    return [
        "other columns make these coefficients uncertain (variance inflation above "
        f"{_INFLATED:.0f}): {listed}. Predictions may be fine, but do not read these coefficients "
        "one by one."
    ]
