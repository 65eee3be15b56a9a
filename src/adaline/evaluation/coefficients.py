"""Weights by the names of their columns, with intervals where the theory has them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.registry import effect_of
from adaline.evaluation.evidence import summary_of
from adaline.evaluation.words import chance, name, number, plural
from adaline.results import Result

_PLAIN = {"low 95%": "low", "high 95%": "high"}
_RATIOS = {"odds": "odds ratio", "rate": "rate ratio", "mean": "mean ratio"}  # by the effect
PER_SD = "per sd"
_MEANING = {
    "odds ratio": "odds ratio: how the odds are multiplied when the column grows by 1.",
    "rate ratio": "rate ratio: how the rate is multiplied when the column grows by 1.",
    "mean ratio": "mean ratio: how the mean is multiplied when the column grows by 1.",
    PER_SD: "per sd: the coefficient for a column measured in its own standard deviations.",
}
ERRORS = "std err"  # the one name of a standard error, in every table


@dataclass(frozen=True)
class Coefficients(Result):
    """A table of weights.

    Attributes
    ----------
    heads : tuple of str
        Columns beside the name: "coef", and "std err", "low", "high" and others where they are
        known; one a class or target where there are several.
    rows : tuple of dict
        "name" and a number for each head; the intercept first. Of several classes also "std err"
        and the class, where standard errors are known.
    notes : tuple of str
        How to read the table.
    more : tuple of str
        Heads that the rows have too, and `in_full` shows: "odds ratio" or "rate ratio", exp(coef),
        of two classes or counts, and "per sd", the weight times the standard deviation of the
        column.
    """

    heads: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def in_full(self) -> Coefficients:
        """The same with all there is to show of size, and without what tests of chance show."""
        if not self.more:
            return self
        heads = tuple(h for h in self.heads if h in ("coef", "low", "high")) or self.heads
        notes = tuple(_MEANING[h] for h in self.more)
        return replace(self, heads=(*heads, *self.more), notes=(*self.notes, *notes), more=())

    @property
    def titles(self) -> list[str]:
        """The heads for people."""
        return [{"low": "low 95%", "high": "high 95%"}.get(head, name(head)) for head in self.heads]

    def cells(self, most: int, digits: int = 4) -> tuple[list[list[str]], list[str]]:
        """Text for people: the intercept and the `most` largest weights, and a note if not all."""
        first = int(bool(self.rows) and self.rows[0]["name"] == "intercept")
        weights, notes = self.rows[first:], []
        if len(weights) > most:
            sized = ("coef",) if "coef" in self.heads else self.heads
            size = np.array([max(abs(row.get(h) or 0.0) for h in sized) for row in weights])
            largest = np.sort(np.argsort(-size, kind="stable")[:most])
            notes = [f"The {most} largest of {plural(len(weights), 'coefficient')}."]
            weights = tuple(weights[i] for i in largest)
        rows = (*self.rows[:first], *weights)
        return [[name(row["name"]), *self._line(row, digits)] for row in rows], notes

    def _line(self, row: dict[str, Any], digits: int) -> list[str]:
        return [self._cell(row, head, digits) for head in self.heads]

    def _cell(self, row: dict[str, Any], head: str, digits: int) -> str:
        if head == "p":
            return chance(row[head])
        error = row.get(f"{ERRORS} {head}")  # of several classes
        told = "" if error is None or error != error else f" ± {number(error, 2)}"
        return number(row.get(head), digits - bool(told)) + told


def coefficients(model: Any, names: list[str], spreads: Any = None) -> Coefficients:
    """The weights of a model; an empty table where the model is no weighted sum of its columns.

    `spreads` are the standard deviations of the columns, where they are known.
    """
    if getattr(model, "coef_", None) is None:
        return Coefficients()
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    if W.shape[1] != len(names):
        return Coefficients()
    if len(W) > 1:
        return _of_many(model, W, b, names)
    found = _of_summary(model, names) or _bare(W[0], b[0], names)
    return _with_sizes(found, _RATIOS.get(effect_of(model) or ""), spreads)


def spreads_of(X: Any) -> NDArray[np.float64]:
    """Standard deviations of the columns of rows, dense or CSR.

    >>> spreads_of(np.array([[1.0, 0.0], [3.0, 0.0]])).round(3)
    array([1.414, 0.   ])
    """
    n = max(X.shape[0] - 1, 1)
    if not hasattr(X, "toarray"):
        with np.errstate(over="ignore"):
            return np.asarray(np.std(X, axis=0, dtype=np.float64) * np.sqrt(X.shape[0] / n))
    mean = np.asarray(X.mean(axis=0)).ravel()
    squares = np.asarray(X.multiply(X).sum(axis=0)).ravel()
    return np.asarray(np.sqrt(np.maximum(squares - X.shape[0] * mean * mean, 0.0) / n))


def _with_sizes(found: Coefficients, ratio: str | None, spreads: Any) -> Coefficients:
    """The same rows with odds ratios, and with weights per standard deviation."""
    if "coef" not in found.heads:
        return found
    more = tuple(h for h, there in ((ratio, ratio), (PER_SD, spreads is not None)) if there and h)
    first = int(bool(found.rows) and found.rows[0]["name"] == "intercept")
    rows = list(found.rows)
    with np.errstate(over="ignore"):
        for i, row in enumerate(found.rows[first:]):
            size = {ratio: float(np.exp(row["coef"]))} if ratio else {}
            if spreads is not None:
                size[PER_SD] = float(row["coef"] * spreads[i])
            rows[first + i] = {**row, **size}
    return replace(found, rows=tuple(rows), more=more)


def _bare(w: Any, b: float, names: list[str]) -> Coefficients:
    values = zip(["intercept", *names], [float(b), *w.tolist()], strict=True)
    rows = tuple({"name": n, "coef": v} for n, v in values)
    note = "No confidence intervals: not available for this learner, or for files read in blocks."
    return Coefficients(("coef",), rows, (note,))


def _of_many(model: Any, W: Any, b: Any, names: list[str]) -> Coefficients:
    """One column a class or target, with standard errors where the theory has them."""
    labels = getattr(model, "classes_", None)
    heads = [f"target {k}" for k in range(len(W))] if labels is None else labels.tolist()
    heads = [str(head) for head in heads]
    errors = _errors_of_many(model, W, len(heads))
    rows = []
    for j, n in enumerate(["intercept", *names]):
        values = b if j == 0 else W[:, j - 1]
        row = {"name": n} | dict(zip(heads, np.asarray(values).tolist(), strict=True))
        if errors is not None:
            told = (f"{ERRORS} {head}" for head in heads)
            row |= dict(zip(told, errors[:, j].tolist(), strict=True))
        rows.append(row)
    return Coefficients(tuple(heads), tuple(rows), (_note_of_many(model, errors is not None),))


def _errors_of_many(model: Any, W: Any, K: int) -> NDArray[np.float64] | None:
    """Standard errors (K, 1 + p), the intercept first; None where there are none."""
    found = summary_of(model)
    values = None if found is None else found.columns.get(ERRORS)
    bias = bool(getattr(model, "fit_intercept", True))
    if values is None or np.size(values) != K * (W.shape[1] + bias):
        return None
    errors = np.reshape(np.asarray(values, dtype=np.float64), (K, -1))
    return errors if bias else np.column_stack([np.full(K, np.nan), errors])


def _note_of_many(model: Any, told: bool) -> str:
    if not told:
        return (
            "No standard errors: not available for this learner, or for files read in blocks. Of "
            "classes only differences of coefficients count."
        )
    alpha = getattr(model, "alpha_", 0.0)
    penalty = f"; they include the penalty (alpha = {alpha:.6g})" if np.all(alpha) else ""
    return (
        f"± are standard errors{penalty}. Each class is held against the mean of all classes; the "
        "difference of two coefficients is the log-odds of one class against the other."
    )


def _of_summary(model: Any, names: list[str]) -> Coefficients | None:
    """From summary(); what the certificate says already is not noted again."""
    found = summary_of(model)
    if found is None:
        return None
    named = (["intercept"] if getattr(model, "fit_intercept", True) else []) + names
    columns = {_PLAIN.get(str(k), str(k)): np.asarray(v).tolist() for k, v in found.columns.items()}
    rows = tuple(
        {"name": n} | {head: float(values[i]) for head, values in columns.items()}
        for i, n in enumerate(named)
    )
    certificate = str(getattr(model, "certificate_", ""))
    return Coefficients(tuple(columns), rows, tuple(n for n in found.notes if n != certificate))
