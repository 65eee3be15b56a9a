"""Weights by the names of their columns, with intervals, and the columns that matter most.

`verdict`, reports, effects and `adaline info` show the table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from adaline.estimators.registry import effect_of
from adaline.evaluation.fit_evidence import summary_of
from adaline.evaluation.quality import NORMAL_95
from adaline.evaluation.words import DateColumn, chance, listed, name, number, plural
from adaline.parameters import is_sparse
from adaline.results import Array, Result

PER_SD, ERRORS = "per sd", "std err"
RATIOS = {"odds": "odds ratio", "rate": "rate ratio", "mean": "mean ratio"}  # by declared effect
HEADS = {"low 95%": "low", "high 95%": "high"}  # of a summary, and ours
DRIVERS_NAMED = 5  # columns


@dataclass(frozen=True)
class Coefficients(Result):
    """A table of weights, the intercept first.

    `rows` have a "name" and a number for each of `heads`: "coef", and "std err", "low", "high" and
    others if known, or one for each class or target, with "std err" and the class. They also have
    `more`, which `in_full` shows: "odds ratio", "rate ratio" or "mean ratio", exp(coef), and
    "per sd", the weight times the standard deviation of the column. `notes` say how to read it.
    """

    heads: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def in_full(self) -> Coefficients:
        """The table with sizes of effects instead of tests."""
        if not self.more:
            return self
        heads = tuple(h for h in self.heads if h in ("coef", "low", "high")) or self.heads
        meanings = {
            h: f"{h}: the factor of the {e} if the column grows by 1" for e, h in RATIOS.items()
        }
        meanings[PER_SD] = f"{PER_SD}: the coefficient of the column in its standard deviations"
        notes = (*self.notes, *(f"{meanings[head]}." for head in self.more))
        return replace(self, heads=(*heads, *self.more), notes=notes, more=())

    @property
    def titles(self) -> list[str]:
        """The heads for people."""
        return [{"low": "low 95%", "high": "high 95%"}.get(head, name(head)) for head in self.heads]

    def cells(self, most: int, digits: int = 4) -> tuple[list[list[str]], list[str]]:
        """Text of the intercept and the `most` largest weights, and a note if there are more."""
        first, notes = int(bool(self.rows) and self.rows[0]["name"] == "intercept"), []
        weights, heads = self.rows[first:], ("coef",) if "coef" in self.heads else self.heads
        if len(weights) > most:
            size = np.array([max(abs(row.get(h) or 0.0) for h in heads) for row in weights])
            largest = np.sort(np.argsort(-size, kind="stable")[:most])
            notes = [f"The {most} largest of {plural(len(weights), 'coefficient')}."]
            weights = tuple(weights[i] for i in largest)

        def cell(row: dict[str, Any], head: str) -> str:
            error = row.get(f"{ERRORS} {head}")  # of several classes
            if head == "p":
                return chance(row[head])
            if error is None or error != error:
                return number(row.get(head), digits)
            return f"{number(row.get(head), digits - 1)} ± {number(error, 2)}"

        rows = (*self.rows[:first], *weights)
        return [[name(row["name"]), *(cell(row, h) for h in self.heads)] for row in rows], notes


def standard_deviations(X: Any) -> Array:
    """Standard deviations of the columns of rows, dense or CSR.

    >>> standard_deviations(np.array([[1.0, 0.0], [3.0, 0.0]])).round(3)
    array([1.414, 0.   ])
    """
    n = X.shape[0]
    with np.errstate(over="ignore"):
        mean = np.asarray(X.mean(axis=0)).ravel()
        if is_sparse(X):
            squares = np.ravel(X.multiply(X).sum(axis=0)) - n * mean**2
        else:
            squares = ((X - mean) ** 2).sum(axis=0)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1)))


def coefficients(model: Any, names: list[str], deviations: Any = None) -> Coefficients:
    """The weights of a model; an empty table if it is not a weighted sum of its columns.

    `deviations` are the standard deviations of the columns, if known.
    """
    coef: Any = getattr(model, "coef_", None)
    if coef is None or np.shape(coef)[-1:] != (len(names),):
        return Coefficients()
    W, classes = np.atleast_2d(np.asarray(coef, float)), getattr(model, "classes_", None)
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    table, labels = np.column_stack([b, W]).T, ["intercept", *names]
    summary, has_bias = summary_of(model), bool(getattr(model, "fit_intercept", True))
    columns = {} if summary is None else dict(summary.columns)
    if len(W) > 1:
        heads = [str(h) for h in (range(len(W)) if classes is None else classes.tolist())]
        heads = [f"target {head}" for head in heads] if classes is None else heads
        values = dict(zip(heads, table.T, strict=True))
        notes = ["No standard errors for this learner, or for files read in blocks."]
        if classes is not None:
            notes[0] += " Only differences between classes have a meaning."
        errors = np.asarray(columns.get(ERRORS, ()), dtype=np.float64)
        if errors.size == len(W) * (len(names) + has_bias):
            errors = np.reshape(errors, (len(W), -1))
            errors = errors if has_bias else np.column_stack([np.full(len(W), np.nan), errors])
            values |= {f"{ERRORS} {h}": e for h, e in zip(heads, errors, strict=True)}
            alpha = getattr(model, "alpha_", 0.0)
            penalty = f"; they include the penalty (alpha = {alpha:.6g})" if np.all(alpha) else ""
            notes = [
                f"± are standard errors{penalty}. Each class is compared with the mean of all; the "
                "difference of two coefficients is the log-odds of one class against the other."
            ]
    elif summary is None:
        heads, values = ["coef"], {"coef": table[:, 0]}
        notes = ["No confidence intervals for this learner, or for files read in blocks."]
    else:
        labels = labels if has_bias else names
        values = {HEADS.get(head, head): np.asarray(v, float) for head, v in columns.items()}
        heads, certificate = list(values), str(getattr(model, "certificate_", ""))
        notes = [note for note in summary.notes if note != certificate]
    rows = [
        {"name": label} | {h: float(v[i]) for h, v in values.items()}
        for i, label in enumerate(labels)
    ]
    ratio, more = RATIOS.get(effect_of(model) or ""), []
    if "coef" in values:
        more = [*([ratio] if ratio else []), *([PER_SD] if deviations is not None else [])]
        for j, row in enumerate(rows[-len(names) :]):
            with np.errstate(over="ignore"):
                sizes = {ratio: float(np.exp(row["coef"]))} if ratio else {}
            row |= (
                sizes
                if deviations is None
                else sizes | {PER_SD: float(row["coef"] * deviations[j])}
            )
    return Coefficients(tuple(heads), tuple(rows), tuple(notes), tuple(more))


def drivers(
    model: Any, table: Coefficients, X: Any, target: str | None, names: list[str]
) -> tuple[str, ...]:
    """A sentence each for the columns whose usual change moves the prediction most.

    A usual change is a standard deviation; of a column of 0 and 1 it is from 0 to 1.
    """
    if X is None or not table.rows:
        return ()
    W, classes = np.atleast_2d(np.asarray(model.coef_, float)), getattr(model, "classes_", None)
    high, low, every = W.argmax(axis=0), W.argmin(axis=0), np.arange(W.shape[1])
    effect, deviations, pair = W[0], standard_deviations(X), None
    if len(W) == 1:
        ends = [
            (row.get("low"), row.get("high")) for row in table.rows if row["name"] != "intercept"
        ]
        unsure = [low is not None and high is not None and low <= 0 <= high for low, high in ends]
    elif classes is not None and len(W) == len(classes):
        effect = W[high, every] - W[low, every]  # between the two classes that differ most
        unsure = (effect < NORMAL_95 * _errors_of_differences(model, high, low)).tolist()
    else:
        return ()
    moves = np.abs(effect * deviations)
    order, texts = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > 0], []
    for j in [j for j in order if not unsure[j]][:DRIVERS_NAMED]:
        column = X[:, [j]].toarray() if is_sparse(X) else X[:, j]
        is_switch = bool(np.all((column == 0) | (column == 1)))
        step = 1.0 if is_switch else float(deviations[j])
        days = " days" * isinstance(names[j], DateColumn)
        cause = "1 instead of 0" if is_switch else f"{number(step, 3)}{days} more"
        if len(W) > 1 and classes is not None:
            pair = classes[high[j]], classes[low[j]]
        result = _result_of(model, float(effect[j] * step), target, pair)
        texts.append(f"{name(names[j])}: {cause} {result}.")
    others = [names[j] for j in order if unsure[j]]
    if others and len(texts) < DRIVERS_NAMED:
        lead = "These may or may not" if texts else "No column is certain to"
        texts.append(f"{lead} have an effect of their own, given the others: {listed(others)}.")
    return tuple(texts)


def _errors_of_differences(model: Any, high: Any, low: Any) -> Array:
    """Standard errors of the differences of two classes' weights; zeros if the fit kept none."""
    C = getattr(getattr(model, "_information", None), "covariance", None)
    j = np.arange(len(high))
    if C is None or C.shape[0] != len(model.classes_):
        return np.zeros(len(high))
    variance = C[high, j, high, j] + C[low, j, low, j] - 2 * C[high, j, low, j]
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def _result_of(model: Any, effect: float, target: str | None, pair: Any) -> str:
    """What a change of the score by `effect` means; of K classes, of a `pair` of them."""
    kind, classes = effect_of(model), getattr(model, "classes_", None)
    size = number(abs(effect), 3)
    if kind in RATIOS:
        factor = number(float(np.exp(np.clip(effect, -700, 700))), 3)
        if abs(effect) > np.log(1e6):  # nobody can picture more
            factor = "more than a million" if effect > 0 else "less than a millionth"
        what = f"the {kind}" if target is None else f"the {kind} of {name(target)}"
        if pair is not None:
            what = f"the odds of {name(pair[0])!r} against {name(pair[1])!r}"
        elif kind == "odds" and classes is not None:
            what = f"the odds of {name(classes[1])!r}"
        return f"multiplies {what} by {factor}"
    if pair is not None:
        return f"moves the score by {size} from {name(pair[1])!r} towards {name(pair[0])!r}"
    if classes is not None:
        return f"moves the score by {size} towards {name(classes[int(effect > 0)])!r}"
    of_target = "" if target is None else f" {name(target)}"
    return f"goes with {size} {'more' if effect > 0 else 'less'}{of_target}"
