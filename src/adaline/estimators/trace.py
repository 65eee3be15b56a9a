"""Every step of a fit as a table: the tables of the lectures.

`trace` fits a clone whose `_look` is a recorder: procedures show it each of their steps. Plots, the
page and the command read the `Trace` that it makes, whatever the learner.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from adaline import criteria
from adaline.estimators.registry import names_with
from adaline.kernels import codes
from adaline.parameters import is_sparse, shown
from adaline.results import Array, Fit, Result
from adaline.summaries import aligned, data_frame, html_table

if TYPE_CHECKING:
    import pandas as pd

    from adaline.procedures.ho_kashyap import Iteration
    from adaline.procedures.sequential import Learning

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trace(Result):
    """Every step of a fit, in order: m steps of K neurons with p weights.

    Attributes
    ----------
    unit : {"sample", "pass", "iteration", "step"}
        What changes the weights: a sample, a pass over all samples (each of which still has a row
        here), an iteration of Ho and Kashyap's procedure, or a step of Newton's.
    passes, samples : ndarray of shape (m,)
        The pass or iteration, from 1, or the step, from 0; and the row of X, from 0, or -1 where
        all rows are used at once.
    updated : ndarray of bool, shape (m,)
        Whether the weights were corrected.
    t, v : ndarray of shape (m, K)
        Targets (class codes, for the linear machine) and outputs before learning; (m, 0) where all
        rows are used at once.
    W_before, W_after, W_kept, b_before, b_after, b_kept : ndarray of shape (m, K, p) and (m, K)
        Weights, and those to predict with (last, average, pocket); p is 0 for KernelPerceptron.
    extra : dict of str to ndarray
        What else a step has, (m,) or (m, n): "loss" and "|gradient|" of Newton's procedure; margins
        "b", errors "e" = Ya - b, "min Ya" and the "class" of Ho and Kashyap's; of KernelPerceptron
        each pattern's own "lambda" as it is met, and its "change".
    fit : Fit
        What `fit` gives: W_kept[-1] and b_kept[-1] exactly, but weights of the pass before where
        learning diverged.

    Examples
    --------
    >>> from adaline import Perceptron, trace
    >>> steps = trace(Perceptron(), [[0.0], [1.0]], [0, 1])
    >>> steps.samples[steps.updated], steps.W_after[-1], steps.b_after[-1]
    (array([0, 1, 0, 1, 0]), array([[2.]]), array([-1.]))
    """

    unit: Literal["sample", "pass", "iteration", "step"]
    passes: Ints
    samples: Ints
    updated: NDArray[np.bool_]
    t: Array
    v: Array
    W_before: Array
    b_before: Array
    W_after: Array
    b_after: Array
    W_kept: Array
    b_kept: Array
    fit: Fit
    extra: dict[str, Array] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.passes)

    change_W = property(lambda self: self.W_after - self.W_before, doc="What a step has added.")
    change_b = property(lambda self: self.b_after - self.b_before)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns, in the order of the lectures."""
        extra, marks = self.extra, [f"[{k}]" for k in range(self.W_after.shape[1])]
        marks = [""] if len(marks) == 1 else marks
        if self.unit == "iteration":  # a has the bias first
            neuron, rows = extra["class"], np.arange(len(self))
            a = np.column_stack([self.b_after[rows, neuron], self.W_after[rows, neuron]])
            table: dict[str, NDArray[Any]] = {"class": neuron} if len(marks) > 1 else {}
            table |= {"k": self.passes} | _numbered("a", a, first=0)
            table |= _numbered("b", extra["b"]) | _numbered("e", extra["e"])
            return table | {"min Ya": extra["min Ya"]}
        if self.unit == "step":
            table = {"step": self.passes} | {k: extra[k] for k in ("loss", "|gradient|")}
            return table | _weights("w", "b", self.W_after, self.b_after)
        before = _weights("w", "b", self.W_before, self.b_before)
        change = _weights("dw", "db", self.change_W, self.change_b)
        if "lambda" in extra:
            before = {f"lambda{s}": extra["lambda"][:, k] for k, s in enumerate(marks)}
            change = {f"dlambda{s}": extra["change"][:, k] for k, s in enumerate(marks)}
        table = {"pass": self.passes, "sample": self.samples} | before
        table |= {f"t{s}": self.t[:, k] for k, s in enumerate(marks[: self.t.shape[1]])}
        table |= {f"v{s}": self.v[:, k] for k, s in enumerate(marks)}
        return table | {"update": np.where(self.updated, "YES", "NO")} | change

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas data frame."""
        return data_frame(self.columns())

    def to_html(self) -> str:
        """The table as HTML."""
        return f"{html_table(self._cells())}<p>{escape(self.fit.stopped)}</p>"

    _repr_html_ = to_html

    def __str__(self) -> str:
        return "\n".join([*aligned(self._cells()), self.fit.stopped])

    def _cells(self) -> list[list[str]]:
        """The table as text, six digits; the weights of a pass stand in its first row only."""
        table, rows = self.columns(), []
        repeated = np.append(False, np.diff(self.passes) == 0) & (self.unit == "pass")
        for i in range(len(self)):
            hidden = "wbd" if repeated[i] else ""
            cells = ((column[i], name[0] in hidden) for name, column in table.items())
            rows.append(
                [x if isinstance(x, str) else "" if hide else f"{x or 0:.6g}" for x, hide in cells]
            )
        return [list(table), *rows]


def _numbered(name: str, values: Array, first: int = 1) -> dict[str, NDArray[Any]]:
    return {f"{name}{j + first}": values[:, j] for j in range(values.shape[1])}


def _weights(w: str, b: str, W: Array, biases: Array) -> dict[str, NDArray[Any]]:
    table: dict[str, NDArray[Any]] = {}
    for k in range(W.shape[1]):
        mark = f"[{k}]" if W.shape[1] > 1 else ""
        table |= {f"{w}{j + 1}{mark}": W[:, k, j] for j in range(W.shape[2])}
        table[f"{b}{mark}"] = biases[:, k]
    return table


def trace(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **start: Any) -> Trace:
    """Learn as `estimator.fit(X, y)` does, and return every step of it as a table.

    The same kernels learn one sample at a time, so the end equals what `fit` gives, exactly. The
    estimator itself is left as it was. All weights of all steps are kept: meant for small data.

    Parameters
    ----------
    estimator : estimator
        Perceptron, WidrowHoff, Adaline, SigmoidPerceptron, KernelPerceptron, HoKashyap or
        LogisticRegression.
    X, y, sample_weight, **start
        As for `fit`, with coef_init, intercept_init or margins to begin with.

    Examples
    --------
    >>> from adaline import Perceptron, trace
    >>> X = [[-1, -1, -1], [1, -1, -1], [-1, 1, -1], [1, 1, -1]]  # the last input is -1
    >>> print(trace(Perceptron(mode="batch", fit_intercept=False), X, [-1, 1, 1, 1]))
    pass  sample  w1  w2  w3  b   t   v  update  dw1  dw2  dw3  db
       1       0   0   0   0  0  -1   0     YES    2    2   -2   0
       1       1                  1   0     YES
       1       2                  1   0     YES
       1       3                  1   0     YES
       2       0   2   2  -2  0  -1  -2      NO    0    0    0   0
       2       1                  1   2      NO
       2       2                  1   2      NO
       2       3                  1   6      NO
    pass 2 found no error to correct.
    """
    kind, name = getattr(estimator, "_traces", None), type(estimator).__name__
    if not isinstance(estimator, BaseEstimator) or kind is None:
        what = f"{shown(estimator)} does not learn in steps that can be shown"
        raise TypeError(f"estimator: {what}; trace takes {names_with('_traces')}.")
    if kind == "duals" and start:
        raise TypeError(f"{name} has no {', '.join(start)} to begin with.")
    recorders: dict[str, Any] = {"duals": DualSteps, "margins": Iterations, "steps": NewtonSteps}
    model, recorder = clone(estimator), recorders.get(kind, Samples)()
    model._look = recorder
    model.fit(X, y, sample_weight=sample_weight, **start)
    steps: Trace = recorder.trace(model.fit_)
    return steps


class Samples:
    """Learners that correct errors, sample by sample or pass by pass."""

    unit: Literal["sample", "pass"] = "sample"
    T: Any = None  # targets, or class codes of the linear machine
    last: Array
    corrections: int

    def __call__(self, done: int, step: Learning) -> None:
        state, recipe = step.state, step.state.recipe
        if self.T is None:
            machine = recipe.criterion == codes.MACHINE
            self.T = step.Y if machine else criteria.targets(recipe.targets, step.Y, recipe.K)
            self.steps: list[tuple[Any, ...]] = []
        elif step.change is not None or len(step.rows):
            batch = step.change is not None
            self.unit = "pass" if batch else "sample"
            at = np.array(range(len(step.Y)) if batch else step.rows)
            X = step.X[at].toarray() if is_sparse(step.X) else step.X[at]
            V = X.astype(np.float64) @ self.last[:, :-1].T + self.last[:, -1]
            updated = np.full(len(at), state.corrections > self.corrections)
            if batch:
                updated = np.any(criteria.slopes(recipe.criterion, self.T, V)[0], axis=1)
            weights = [p for w in (self.last, state.last) for p in (w[:, :-1], w[:, -1])]
            weights = [np.repeat(p[None], len(at), axis=0) for p in (*weights, *state.kept())]
            passes = np.full(len(at), done + (not batch))
            self.steps.append((passes, at, updated, self.T[at], V, *weights))
        self.last, self.corrections = state.last.copy(), state.corrections

    def trace(self, fit: Fit) -> Trace:
        parts = [*_columns(self.steps, np.concatenate), fit]
        return Trace(self.unit, *parts)


class DualSteps:
    """The rows that `KernelPerceptron.fit` visits."""

    patterns: Any = None  # the rows of positive weight

    def __call__(self, done: int, step: Any) -> None:
        if self.patterns is None:
            self.patterns, self.steps = step, list[Any]()
        elif isinstance(step, tuple):  # a block; else the dual variables after a pass
            first, V, lam = step
            rows = slice(first, first + V.shape[1])
            t, v = self.patterns.T[:, rows].T, V.T.copy()
            omega = self.patterns.omega[rows, None] if len(self.patterns.omega) else 1.0
            change, passes = np.where(t * v <= 0.0, omega, 0.0), np.full(len(v), done + 1)
            self.steps.append((passes, self.patterns.at[rows], t, v, lam.T.copy(), change))

    def trace(self, fit: Fit) -> Trace:
        k, i, t, v, lam, change = _columns(self.steps, np.concatenate)
        updated, extra = np.any(change > 0.0, axis=1), {"lambda": lam, "change": change}
        weights = np.empty((*v.shape, 0)), np.zeros(v.shape)
        return Trace("sample", k, i, updated, t, v, *weights * 3, fit, extra)


class Iterations:
    """The iterations of `HoKashyap.fit`, of one class after the other where there are more."""

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []

    def __call__(self, k: int, step: Iteration) -> None:
        w, bias, b, Ya = step.state()
        self.steps.append((k, w, bias, b, Ya - b, Ya.min()))

    def trace(self, fit: Fit) -> Trace:
        k, w, bias, b, e, least = _columns(self.steps, np.array)
        neuron = np.cumsum(k == 1) - 1
        K = neuron[-1] + 1
        W, biases = np.zeros((len(k), K, w.shape[1])), np.zeros((len(k), K))
        for i, n in enumerate(neuron):
            W[i:, n], biases[i:, n] = w[i], bias[i]
        extra = {"b": b, "e": e, "min Ya": least, "class": neuron}
        return _of_all_rows("iteration", k, W, biases, fit, extra)


class NewtonSteps(Iterations):
    """The steps of Newton's procedure."""

    def __call__(self, done: int, step: Any) -> None:
        rows = getattr(step.problem, "rows", None)
        if rows is not None:  # the steps of Firth's criterion show nothing
            g = float(np.linalg.norm(step.sums.g)) * rows.unit
            self.steps.append((*rows.original(step.theta), step.sums.f * rows.unit, g))

    def trace(self, fit: Fit) -> Trace:
        if not self.steps:
            what = "alpha='firth' is not learned by Newton's steps"
            raise TypeError(f"{what}; trace LogisticRegression with a number or 'auto'.")
        W, b, f, g = _columns(self.steps, np.array)
        extra = {"loss": f, "|gradient|": g}
        return _of_all_rows("step", np.arange(len(f)), W, b, fit, extra)


def _columns(steps: list[tuple[Any, ...]], join: Any) -> list[Any]:
    return [join(column) for column in zip(*steps, strict=True)]


def _of_all_rows(
    unit: Literal["iteration", "step"], k: Ints, W: Array, b: Array, fit: Fit, extra: Any
) -> Trace:
    """A trace whose steps use all rows at once: the weights after each, the start first."""
    at, none = np.arange(len(k)), np.empty((len(k), 0))
    before = np.maximum(at - 1, 0)
    start = unit, k, np.full(len(k), -1), at > 0, none, none
    return Trace(*start, W[before], b[before], W, b, W, b, fit, extra)
