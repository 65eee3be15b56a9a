"""Coefficients by the names of their columns, and what single columns do to the prediction.

`verdict`, reports, `plot.EffectDisplay` and `adaline info` show them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from adaline.estimators.registry import effect_of
from adaline.evaluation.explain import interval
from adaline.evaluation.fit_evidence import summary_of
from adaline.evaluation.trial import ask
from adaline.evaluation.words import cell, chance, listed, name, number, percent, plural
from adaline.parameters import is_sparse
from adaline.results import Array, Result

MEANINGS = {
    f"{effect} ratio": f"the factor of the {effect} if the column grows by 1"
    for effect in ("odds", "rate", "mean")
} | {"per sd": "the coefficient of the column in its standard deviations"}
TITLES = {"low": "low 95%", "high": "high 95%"}


@dataclass(frozen=True)
class Coefficients(Result):
    """A table of weights, the intercept first.

    `rows` have a "name" and a number for each of `heads`: "coef", and "std err", "low", "high" and
    others if known, or one for each class or target. They also have `more`, which `in_full` shows:
    "odds ratio", "rate ratio" or "mean ratio", exp(coef), and "per sd", the weight times the
    standard deviation of the column. `notes` say how to read the table.
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
        notes = (*self.notes, *(f"{head}: {MEANINGS[head]}." for head in self.more))
        return replace(self, heads=(*heads, *self.more), notes=notes, more=())

    @property
    def titles(self) -> list[str]:
        """The heads for people."""
        return [TITLES.get(head, name(head)) for head in self.heads]

    @property
    def uncertain(self) -> list[str]:
        """Columns whose 95% interval includes zero."""
        weights = [row for row in self.rows if row["name"] != "intercept" and "low" in row]
        return [row["name"] for row in weights if row["low"] <= 0 <= row["high"]]

    def cells(self, most: int, digits: int = 4) -> tuple[list[list[str]], list[str]]:
        """Text of the intercept and the `most` largest weights, and a note if there are more."""
        heads = ["coef"] if "coef" in self.heads else self.heads
        sizes = [max(abs(row[head]) for head in heads) for row in self.rows]
        weights = [i for i, row in enumerate(self.rows) if row["name"] != "intercept"]
        dropped = set(sorted(weights, key=lambda i: -sizes[i])[most:])
        notes = [f"The {most} largest of {plural(len(weights), 'coefficient')}."] if dropped else []
        cells = []
        for row in (row for i, row in enumerate(self.rows) if i not in dropped):
            texts = (chance(row[h]) if h == "p" else number(row.get(h), digits) for h in self.heads)
            cells.append([name(row["name"]), *texts])
        return cells, notes


def coefficients(model: BaseEstimator, names: list[str], X: Any = None) -> Coefficients:
    """The weights of a model; an empty table if it is not a weighted sum of its columns.

    Rows X, dense or CSR, add the weights in standard deviations of the columns.
    """
    coef: Any = getattr(model, "coef_", None)
    if coef is None or np.shape(coef)[-1:] != (len(names),):
        return Coefficients()
    W, classes = np.atleast_2d(np.asarray(coef, float)), getattr(model, "classes_", None)
    b = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (len(W),))
    values, labels = np.column_stack([b, W]), ["intercept", *names]
    columns, notes = {"coef": values[0]}, ["No confidence intervals for this learner or fit."]
    if len(W) > 1:
        heads = [f"target {k}" for k in range(len(W))] if classes is None else classes.tolist()
        columns = dict(zip(map(str, heads), values, strict=True))
        notes = ["No standard errors here; `summary()` has them if the learner has a theory."]
        if classes is not None:
            notes[0] += " Only differences between classes have a meaning."
    elif (summary := summary_of(model)) is not None:
        heads = {title: head for head, title in TITLES.items()}
        columns = {heads.get(k, k): np.asarray(v, float) for k, v in summary.columns.items()}
        labels = labels[-len(columns["coef"]) :]  # without an intercept, if there is none
        certificate = str(getattr(model, "certificate_", ""))
        notes = [note for note in summary.notes if note != certificate]
    rows: list[dict[str, Any]] = [
        {"name": label, **{head: float(v[i]) for head, v in columns.items()}}
        for i, label in enumerate(labels)
    ]
    more: dict[str, Array] = {}
    if "coef" in columns:
        w = columns["coef"][-len(names) :]
        if (ratio := f"{effect_of(model)} ratio") in MEANINGS:
            with np.errstate(over="ignore"):
                more[ratio] = np.exp(w)
        if X is not None:
            with np.errstate(over="ignore"):
                variance = StandardScaler(with_mean=False).fit(X).var_
            more["per sd"] = w * np.sqrt(variance * (X.shape[0] / max(X.shape[0] - 1, 1)))
        for j, row in enumerate(rows[-len(names) :]):
            row |= {head: float(v[j]) for head, v in more.items()}
    return Coefficients(tuple(columns), tuple(rows), tuple(notes), tuple(more))


@dataclass(frozen=True, eq=False)
class Effect(Result):
    """The prediction as one column changes and the others stay at their averages.

    `x` (g,) are values of the column `name`, from the 2nd to the 98th percentile or the two that it
    has, and `y` (g, k) predictions, probabilities if `share`, of what `of` says; `low` and `high`
    are their 95% intervals, if known: of what the column adds to the prediction of an average row,
    of a mean count, or of a probability. `usual` are the ends of a usual change: a standard
    deviation about the mean.
    """

    name: str
    x: Array
    y: Array
    low: Array | None
    high: Array | None
    of: tuple[str, ...]
    usual: tuple[float, float]
    share: bool

    @property
    def ends(self) -> Array:
        """The predictions (k, 2) at the ends of a usual change."""
        return np.array([np.interp(self.usual, self.x, column) for column in self.y.T])

    @property
    def sentence(self) -> str:
        """From where to where the prediction goes, over the usual values of the column."""
        k = int(np.argmax(np.abs(np.diff(self.ends))))
        a, b = (percent(v) if self.share else number(float(v), 3) for v in self.ends[k])
        what = f"the probability of {name(self.of[k])!r}" if self.share else name(self.of[k])
        low, high = (cell(float(v), self.name, 3) for v in self.usual)
        return f"From {name(self.name)} {low} to {high}, {what} goes from {a} to {b}"


def effects(
    model: BaseEstimator, table: Coefficients, X: Any, names: list[str], target: str | None
) -> tuple[Effect, ...]:
    """The four columns of rows X that move the prediction most, the largest first.

    `table` has the coefficients, for intervals of a regression.
    """
    # Each column is predicted with: 300 take well below 1 s.
    if is_sparse(X) or X.shape[1] > 300 or len(X) < 3 or not hasattr(model, _method(model)):
        return ()
    with np.errstate(all="ignore"):
        curves = [effect_of_column(model, table, X, names, j, target) for j in range(X.shape[1])]
        moves = np.nan_to_num([np.abs(np.diff(curve.ends)).max() for curve in curves])
    # A probability that changes by less than half a percent needs no picture.
    order = [j for j in np.argsort(-moves, kind="stable") if moves[j] > 0.005 * curves[j].share]
    return tuple(curves[j] for j in order[:4])


def describe_effects(curves: tuple[Effect, ...], table: Coefficients) -> tuple[str, ...]:
    """A sentence for each column that certainly moves the prediction, and the uncertain ones."""
    uncertain = table.uncertain
    texts = [f"{effect.sentence}." for effect in curves if effect.name not in uncertain]
    if uncertain:
        texts.append(f"The 95% intervals of these coefficients include zero: {listed(uncertain)}.")
    return tuple(texts)


def _method(model: BaseEstimator) -> str:
    if not hasattr(model, "classes_"):
        return "predict"
    return "predict_proba" if hasattr(model, "predict_proba") else "decision_function"


def effect_of_column(
    model: BaseEstimator,
    table: Coefficients,
    X: Array,
    names: list[str],
    j: int,
    target: str | None,
) -> Effect:
    """The effect of column j of rows X; the rest as in `effects`."""
    column, method = X[:, j], _method(model)
    x = usual = np.array([column.min(), column.max()])
    if not np.isin(column, x).all():
        usual = np.clip(column.mean() + np.array([-1.0, 1.0]) * column.std(), *x)
        low, high = np.quantile(column, [0.02, 0.98])
        x = np.linspace(min(low, usual[0]), max(high, usual[1]), 41)  # smooth to the eye
    at = np.tile(X.mean(axis=0), (len(x), 1))
    at[:, j] = x
    y = np.asarray(ask(model, method, at), dtype=np.float64).reshape(len(x), -1)
    labels = list(map(str, getattr(model, "classes_", np.empty(0)).tolist()))
    of, part = [target or "the prediction"] * y.shape[1], np.arange(y.shape[1])
    if labels:
        # Of two classes the second one, else the six that change most; one score is of the last.
        part = np.sort(np.argsort(-np.ptp(y, axis=0), kind="stable")[:6])
        part = part if len(labels) > 2 else np.array([y.shape[1] - 1])
        of = [labels[k - y.shape[1]] for k in part]
        of = of if method == "predict_proba" else [f"the score of {label!r}" for label in of]
    low = high = None
    if len(labels) < 3:  # intervals of several classes would hide each other
        row = next((row for row in table.rows if row["name"] == names[j]), {})
        low, high = _interval(model, at, y, x - column.mean(), row)
    low, high = (None if v is None else v[:, part] for v in (low, high))
    ends = float(usual[0]), float(usual[1])
    return Effect(names[j], x, y[:, part], low, high, tuple(of), ends, method == "predict_proba")


def _interval(model: BaseEstimator, at: Array, y: Array, away: Array, row: Any) -> Any:
    """Ends of intervals: of the slope for numbers, else of the mean count or the probability."""
    kind = getattr(model, "_intervals", None)
    if kind in ("means", "probabilities"):
        with suppress(ValueError):  # a fit without a covariance
            ends = interval(model, at)
            return ends.low.reshape(y.shape), ends.high.reshape(y.shape)
    if kind != "values" or "low" not in row or y.shape[1] != 1:
        return None, None
    slopes = np.array([row["low"], row["high"]]) - row["coef"]
    reach = np.sort(np.outer(away, slopes), axis=1)
    return y + reach[:, :1], y + reach[:, 1:]
