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
from adaline.evaluation.words import chance, change, listed, name, number, plural
from adaline.parameters import is_sparse
from adaline.results import Array, Result

PER_SD = "per sd"
ERRORS = "std err"
RATIOS = {"odds": "odds ratio", "rate": "rate ratio", "mean": "mean ratio"}  # by declared effect
DRIVERS_NAMED = 5  # columns


@dataclass(frozen=True)
class Coefficients(Result):
    """A table of weights.

    Attributes
    ----------
    heads : tuple of str
        Columns beside the name: "coef", and "std err", "low", "high" and others if known; one for
        each class or target if there are several.
    rows : tuple of dict
        "name" and a number for each head, the intercept first; of several classes also "std err"
        and the class, if known.
    notes : tuple of str
        How to read the table.
    more : tuple of str
        Further heads, which `in_full` shows: "odds ratio", "rate ratio" or "mean ratio", exp(coef),
        and "per sd", the weight times the standard deviation of the column.
    """

    heads: tuple[str, ...] = ()
    rows: tuple[dict[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    more: tuple[str, ...] = ()

    @property
    def in_full(self) -> Coefficients:
        """The table with sizes of effects instead of tests."""
        kept = tuple(h for h in self.heads if h in ("coef", "low", "high")) or self.heads
        meanings = {
            head: f"{head}: the factor of the {effect} if the column grows by 1."
            for effect, head in RATIOS.items()
        }
        meanings[PER_SD] = "per sd: the coefficient of the column in its standard deviations."
        notes = (*self.notes, *(meanings[head] for head in self.more))
        return replace(self, heads=(*kept, *self.more), notes=notes, more=()) if self.more else self

    @property
    def titles(self) -> list[str]:
        """The heads for people."""
        return [{"low": "low 95%", "high": "high 95%"}.get(head, name(head)) for head in self.heads]

    def cells(self, most: int, digits: int = 4) -> tuple[list[list[str]], list[str]]:
        """Text of the intercept and the `most` largest weights, and a note if there are more."""
        first = int(bool(self.rows) and self.rows[0]["name"] == "intercept")
        weights, notes = self.rows[first:], []
        if len(weights) > most:
            heads = ("coef",) if "coef" in self.heads else self.heads
            size = np.array([max(abs(row.get(h) or 0.0) for h in heads) for row in weights])
            largest = np.sort(np.argsort(-size, kind="stable")[:most])
            notes = [f"The {most} largest of {plural(len(weights), 'coefficient')}."]
            weights = tuple(weights[i] for i in largest)

        def cell(row: dict[str, Any], head: str) -> str:
            if head == "p":
                return chance(row[head])
            error = row.get(f"{ERRORS} {head}")  # of several classes
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
        if not is_sparse(X):
            return np.asarray(np.std(X, axis=0, dtype=np.float64) * np.sqrt(n / max(n - 1, 1)))
        mean = np.asarray(X.mean(axis=0)).ravel()
        squares = np.asarray(X.multiply(X).sum(axis=0)).ravel() - n * mean * mean
        return np.asarray(np.sqrt(np.maximum(squares, 0.0) / max(n - 1, 1)))


def coefficients(model: Any, names: list[str], deviations: Any = None) -> Coefficients:
    """The weights of a model; an empty table if it is not a weighted sum of its columns.

    `deviations` are the standard deviations of the columns, if known.
    """
    if getattr(model, "coef_", None) is None:
        return Coefficients()
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    if W.shape[1] != len(names):
        return Coefficients()
    if len(W) > 1:
        return _of_outputs(model, W, b, names)
    summary, has_bias = summary_of(model), bool(getattr(model, "fit_intercept", True))
    labels = ["intercept", *names]
    if summary is None:
        columns: dict[str, Any] = {"coef": [float(b[0]), *W[0].tolist()]}
        note = (
            "No confidence intervals: not available for this learner or for files read in blocks."
        )
        notes = [note]
    else:
        labels = labels if has_bias else names
        plain = {"low 95%": "low", "high 95%": "high"}
        columns = {
            plain.get(h, h): np.asarray(v, dtype=np.float64).tolist()
            for h, v in summary.columns.items()
        }
        certificate = str(getattr(model, "certificate_", ""))
        notes = [note for note in summary.notes if note != certificate]
    rows = [{"name": n} | {head: v[i] for head, v in columns.items()} for i, n in enumerate(labels)]
    ratio = RATIOS.get(effect_of(model) or "")
    more: tuple[str, ...] = ()
    if "coef" in columns:
        more = tuple(h for h in (ratio, PER_SD if deviations is not None else None) if h)
        with np.errstate(over="ignore"):
            for j, row in enumerate(rows[-len(names) :]):
                sizes = {} if ratio is None else {ratio: float(np.exp(row["coef"]))}
                if deviations is not None:
                    sizes[PER_SD] = float(row["coef"] * deviations[j])
                row |= sizes
    return Coefficients(tuple(columns), tuple(rows), tuple(notes), more)


def _of_outputs(model: Any, W: Array, b: Array, names: list[str]) -> Coefficients:
    """One column for each class or target, with standard errors of classes if known."""
    labels = getattr(model, "classes_", None)
    heads = [f"target {k}" for k in range(len(W))] if labels is None else labels.tolist()
    heads, table = [str(head) for head in heads], np.column_stack([b, W])
    summary = summary_of(model)
    errors = None if summary is None else summary.columns.get(ERRORS)
    note = (
        "No standard errors: not available for this learner or for files read in blocks. Only "
        "differences between the coefficients of classes have a meaning."
    )
    has_bias = bool(getattr(model, "fit_intercept", True))
    if errors is not None and np.size(errors) == len(W) * (len(names) + has_bias):
        errors = np.reshape(np.asarray(errors, dtype=np.float64), (len(W), -1))
        errors = errors if has_bias else np.column_stack([np.full(len(W), np.nan), errors])
        alpha = getattr(model, "alpha_", 0.0)
        penalty = f"; they include the penalty (alpha = {alpha:.6g})" if np.all(alpha) else ""
        note = (
            f"± are standard errors{penalty}. Each class is compared with the mean of all classes; "
            "the difference of two coefficients is the log-odds of one class against the other."
        )
    else:
        errors = None
    rows = []
    for j, label in enumerate(["intercept", *names]):
        row: dict[str, Any] = {"name": label} | dict(zip(heads, table[:, j].tolist(), strict=True))
        if errors is not None:
            row |= {f"{ERRORS} {h}": e for h, e in zip(heads, errors[:, j].tolist(), strict=True)}
        rows.append(row)
    return Coefficients(tuple(heads), tuple(rows), (note,))


def drivers(
    model: Any, table: Coefficients, X: Any, target: str | None, names: list[str]
) -> tuple[str, ...]:
    """A sentence each for the columns whose usual change moves the prediction most.

    A usual change is a standard deviation; of a column of 0 and 1 it is from 0 to 1.
    """
    if X is None or not table.rows:
        return ()
    W = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64))
    classes: Any = getattr(model, "classes_", None)
    deviations, every = standard_deviations(X), np.arange(W.shape[1])
    if len(W) == 1:
        effect, high, low = W[0], None, None
        rows = [row for row in table.rows if row["name"] != "intercept"]
        unsure = [(row.get("low") or 1.0) <= 0 <= (row.get("high") or -1.0) for row in rows]
    elif classes is not None and len(W) == len(classes):
        # The two classes that a column tells apart most.
        high, low = W.argmax(axis=0), W.argmin(axis=0)
        effect = W[high, every] - W[low, every]
        unsure = (effect < NORMAL_95 * _errors_of_differences(model, high, low)).tolist()
    else:
        return ()
    moves = np.abs(effect * deviations)
    order = [j for j in np.argsort(-moves, kind="stable").tolist() if moves[j] > 0]
    texts = []
    for j in [j for j in order if not unsure[j]][:DRIVERS_NAMED]:
        column = X[:, [j]].toarray() if is_sparse(X) else X[:, j]
        is_switch = bool(np.all((column == 0) | (column == 1)))
        step = 1.0 if is_switch else float(deviations[j])
        cause = "1 instead of 0" if is_switch else change(step, names[j])
        pair = None if high is None or low is None else (classes[high[j]], classes[low[j]])
        result = _result_of(model, float(effect[j] * step), target, pair)
        texts.append(f"{name(names[j])}: {cause} {result}.")
    others = [names[j] for j in order if unsure[j]]
    if others and len(texts) < DRIVERS_NAMED:
        lead = "These may or may not have an effect of their own"
        if not texts:
            lead = "No column is certain to have an effect of its own, given the others"
        texts.append(f"{lead}: {listed(others)}.")
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
    """What a change of the score by `effect` means, of `pair` for the first class."""
    kind, of_target = effect_of(model), "" if target is None else f" of {name(target)}"
    if kind in RATIOS:
        what = f"the {kind}{of_target}"
        if kind == "odds":
            first, second = pair or (model.classes_[1], None)
            against = "" if second is None else f" against {name(second)!r}"
            what = f"the odds of {name(first)!r}{against}"
        return f"multiplies {what} by {_factor(effect)}"
    size = number(abs(effect), 3)
    if pair is not None:
        return f"moves the score by {size} from {name(pair[1])!r} towards {name(pair[0])!r}"
    if hasattr(model, "classes_"):
        return f"moves the score by {size} towards {name(model.classes_[int(effect > 0)])!r}"
    what = "" if target is None else f" {name(target)}"
    return f"goes with {size} {'more' if effect > 0 else 'less'}{what}"


def _factor(log_ratio: float) -> str:
    """A ratio; beyond a million only its direction.

    >>> _factor(0.5), _factor(7.0), _factor(-30.0)
    ('1.65', '1,097', 'less than a millionth')
    """
    if abs(log_ratio) > np.log(1e6):
        return "more than a million" if log_ratio > 0 else "less than a millionth"
    ratio = float(np.exp(log_ratio))
    return number(round(ratio)) if ratio >= 100 else number(ratio, 3)
