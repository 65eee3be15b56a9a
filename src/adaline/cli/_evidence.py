"""What is known of a fit: convergence, separability, condition, and coefficients by name."""

from __future__ import annotations

from typing import Any

import numpy as np

import adaline
from adaline.cli._words import name, number

PROVEN = ("exact", "accurate", "optimal", "separable", "overlapping", "quasi-separable")
_ILL = 1e8  # condition number from which half the digits may be lost
_SHOWN = 40  # coefficients in a table for people
_Z = 1.959963984540054


def condition(model: Any) -> float | None:
    """Condition number of the scaled columns, where the fit knows it."""
    for holder in (model, getattr(model, "fit_", None)):
        for attribute in ("condition_", "condition"):
            value = getattr(holder, attribute, None)
            if isinstance(value, float | np.floating):
                return float(value)
    return None


def in_short(model: Any, converged: bool | None, separability: Any) -> str:
    """Converged or not, separable or not, condition: half a line."""
    certificate = getattr(model, "certificate_", None)
    kind = getattr(certificate, "kind", None)
    if converged is None:
        parts = ["learning took the passes it was given, and whether more would help is not known"]
    elif not converged:
        parts = ["learning has not converged"]
    elif hasattr(model, "n_iter_"):
        parts = ["learning converged" + (" (proven)" if kind in PROVEN else "")]
    else:
        parts = ["solved in closed form"]
        digits = getattr(certificate, "evidence", {}).get("digits")
        if kind in PROVEN and isinstance(digits, float | int) and digits == digits:
            parts[0] += f" ({min(int(digits), 16)} digits proven)"
    if separability is not None:
        parts.append(
            {
                "separable": "a hyperplane separates the classes (proven)",
                "overlapping": "no hyperplane separates the classes (proven)",
                "quasi-separable": "the classes touch: no hyperplane separates them (proven)",
                "undecided": "whether a hyperplane separates the classes is undecided",
            }[separability.verdict]
        )
    kappa = condition(model)
    if kappa is not None and np.isfinite(kappa):
        parts.append(f"condition number {number(kappa, 3)}")
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def doubts(model: Any, separability: Any) -> list[str]:
    """What the fit itself gives reason to doubt, with advice."""
    said = []
    kappa = condition(model)
    if kappa is not None and kappa > _ILL:
        said.append(
            f"the condition number is {number(kappa, 3)}: some columns nearly say the same. Leave "
            "some out (--ignore), or use --model ridge."
        )
    if separability is not None and separability.verdict == "separable":
        n, d = separability.n_rows, separability.n_features
        share = adaline.cover(n, d, bool(separability.fit_intercept)).fraction
        if share > 0.01:
            said.append(
                f"the classes are separable, but so are {100 * share:.3g} % of all labellings of "
                f"{n} points in {d} dimensions (Cover): that says little. More rows would."
            )
    return said


def coefficients(model: Any, names: list[str]) -> tuple[list[str], list[dict[str, Any]], list[str]]:
    """Heads, a dictionary a coefficient, and notes; empty where the model is no weighted sum."""
    if getattr(model, "coef_", None) is None:
        return [], [], []
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    named = ["intercept", *names]
    if W.shape[1] != len(names):
        return [], [], []
    if len(W) == 1:
        found = _with_intervals(model, names)
        if found is not None:
            return found
        values = [b[0], *W[0]]
        rows = [{"name": n, "coef": float(v)} for n, v in zip(named, values, strict=True)]
        note = "There are no intervals: this learner, or a file read in blocks, keeps no errors."
        return ["coef"], rows, [note]
    heads = [str(c) for c in getattr(model, "classes_", np.arange(len(W))).tolist()]
    rows = [{"name": "intercept"} | dict(zip(heads, b.tolist(), strict=True))]
    rows += [
        {"name": n} | dict(zip(heads, W[:, j].tolist(), strict=True)) for j, n in enumerate(names)
    ]
    return heads, rows, []


def _with_intervals(
    model: Any, names: list[str]
) -> tuple[list[str], list[dict[str, Any]], list[str]] | None:
    """From summary(), or from the posterior of ridge; None where neither tells."""
    if hasattr(model, "posterior"):
        try:
            given = model.posterior()
        except ValueError:
            return None
        spread = np.sqrt(np.diag(given.covariance))
        rows = [{"name": "intercept", "coef": float(model.intercept_)}]
        for n, mean, sd in zip(names, given.mean.tolist(), spread.tolist(), strict=True):
            rows.append(
                {"name": n, "coef": mean, "sd": sd, "low": mean - _Z * sd, "high": mean + _Z * sd}
            )
        note = "low and high hold 95 % of the posterior, the penalty read as a prior belief."
        return ["coef", "sd", "low", "high"], rows, [note]
    try:
        found = model.summary() if hasattr(model, "summary") else None
    except ValueError:  # a stream, dependent columns, or a fit too large to keep errors of
        return None
    if found is None:
        return None
    bias = bool(getattr(model, "fit_intercept", True))
    named = (["intercept"] if bias else []) + names
    plain = {"std err": "sd", "low 95%": "low", "high 95%": "high"}
    columns = {plain.get(str(k), str(k)): np.asarray(v).tolist() for k, v in found.columns.items()}
    rows = [
        {"name": n} | {head: float(values[i]) for head, values in columns.items()}
        for i, n in enumerate(named)
    ]
    certificate = str(getattr(model, "certificate_", ""))
    return list(columns), rows, [note for note in found.notes if note != certificate]


def shown(heads: list[str], rows: list[dict[str, Any]]) -> tuple[list[list[str]], str]:
    """Cells of a table for people, and a note where not all are shown."""
    some, note = rows, ""
    if len(rows) > _SHOWN:
        weight = [max((abs(row.get(h) or 0.0) for h in heads[:1]), default=0.0) for row in rows]
        best = sorted(np.argsort(-np.asarray(weight), kind="stable")[:_SHOWN].tolist())
        some = [rows[i] for i in best]
        note = f"The {_SHOWN} largest of {len(rows)} coefficients; --json has them all."
    cells = []
    for row in some:
        line = [name(row["name"])]
        for head in heads:
            value = row.get(head)
            line.append("" if value is None else _cell(head, value))
        cells.append(line)
    return cells, note


def _cell(head: str, value: float) -> str:
    if head == "p" and value < 1e-4:
        return "< 0.0001"
    return number(float(value), 3 if head == "p" else 4)
