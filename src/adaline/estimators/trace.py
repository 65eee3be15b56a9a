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
        Targets (class codes, for the linear machine) and outputs w'x + b before learning; of shape
        (m, 0) where all rows are used at once.
    W_before, W_after : ndarray of shape (m, K, p)
        Weights; equal in row 0 of iterations and steps. p is 0 for KernelPerceptron.
    b_before, b_after : ndarray of shape (m, K)
    W_kept, b_kept : ndarray
        Weights to predict with after each row: W_after, or their average, or those in the pocket.
    extra : dict of str to ndarray
        What else a step has, (m,) or (m, n): "loss" and "|gradient|" (in the procedure's own units)
        of Newton's procedure; the margins "b", the errors "e" = Ya - b, "min Ya" and the "class" of
        Ho and Kashyap's; of KernelPerceptron each pattern's own "lambda" as it is met, and its
        "change".
    fit : Fit
        What `fit` gives; its W and b are W_kept[-1] and b_kept[-1], exactly. If learning diverged,
        the last pass here shows how, and `fit` went back to the weights kept before that pass.

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

    @property
    def change_W(self) -> Array:
        """What the step added to the weights."""
        return self.W_after - self.W_before

    @property
    def change_b(self) -> Array:
        """What the step added to the biases."""
        return self.b_after - self.b_before

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns, in the order of the lectures."""
        extra = self.extra
        if self.unit == "iteration":  # a has the bias first
            a = np.column_stack([self.b_after[:, :1], self.W_after[:, 0]])
            table: dict[str, NDArray[Any]] = {}
            if self.W_after.shape[1] > 1:
                table["class"], rows = extra["class"], np.arange(len(self))
                own = self.b_after[rows, table["class"], None], self.W_after[rows, table["class"]]
                a = np.hstack(own)
            table |= {"k": self.passes} | _numbered("a", a, first=0)
            table |= _numbered("b", extra["b"]) | _numbered("e", extra["e"])
            return table | {"min Ya": extra["min Ya"]}
        if self.unit == "step":
            table = {"step": self.passes} | {k: extra[k] for k in ("loss", "|gradient|")}
            return table | _weights("w", "b", self.W_after, self.b_after)
        marks = [""] if self.v.shape[1] == 1 else [f"[{k}]" for k in range(self.v.shape[1])]
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

    def _repr_html_(self) -> str:
        return self.to_html()

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
    """Columns of values (m, n), numbered."""
    return {f"{name}{j + first}": values[:, j] for j in range(values.shape[1])}


def _weights(w: str, b: str, W: Array, biases: Array) -> dict[str, NDArray[Any]]:
    """Columns w1, w2, ..., b of each neuron."""
    table: dict[str, NDArray[Any]] = {}
    for k in range(W.shape[1]):
        mark = f"[{k}]" if W.shape[1] > 1 else ""
        table |= {f"{w}{j + 1}{mark}": W[:, k, j] for j in range(W.shape[2])}
        table[f"{b}{mark}"] = biases[:, k]
    return table


def trace(estimator: Any, X: Any, y: Any, sample_weight: Any = None, **start: Any) -> Trace:
    """Learn as `estimator.fit(X, y)` does, and return every step of it as a table.

    The same kernels learn one sample at a time, so the end equals what `fit` gives, exactly; where
    learning diverged, `fit` gives the weights from before the last pass. The estimator itself is
    left as it was. All weights of all steps are kept: meant for small data.

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
    kind = getattr(estimator, "_traces", None)
    if not isinstance(estimator, BaseEstimator) or kind is None:
        name = type(estimator).__name__
        what = f"{name} does not learn in steps that can be shown"
        what = what if isinstance(estimator, BaseEstimator) else f"it is {shown(estimator)}"
        raise TypeError(f"estimator: {what}; trace takes {names_with('_traces')}.")
    if kind == "duals" and start:
        raise TypeError(f"{type(estimator).__name__} has no {', '.join(start)} to begin with.")
    recorders: dict[str, Any] = {"duals": DualSteps, "margins": Iterations, "steps": NewtonSteps}
    model, recorder = clone(estimator), recorders.get(kind, Samples)()
    model._look = recorder
    model.fit(X, y, sample_weight=sample_weight, **start)
    steps: Trace = recorder.trace(model)
    return steps


class Samples:
    """Learners that correct errors, sample by sample or pass by pass."""

    def __init__(self) -> None:
        self.passes: list[Ints] = []
        self.samples: list[Ints] = []
        self.batch: list[tuple[Array, Array, Array]] = []  # V and (K, p + 1) before and after
        self.kept: list[tuple[Array, Array]] = []

    def __call__(self, done: int, step: Learning) -> None:
        if not hasattr(self, "X"):
            self.X, recipe = step.X, step.state.recipe
            machine = recipe.criterion == codes.MACHINE  # whose targets are class codes
            self.T = step.Y if machine else criteria.targets(recipe.targets, step.Y, recipe.K)
            self.corrections = [np.full(1, step.state.corrections, np.float64)]
            self.theta = [step.state.last[None].copy()]
        elif step.change is not None:
            n, before, after = self.X.shape[0], self.theta[-1][-1], step.state.last.copy()
            V = np.asarray(self.X @ before[:, :-1].T, dtype=np.float64) + before[:, -1]
            S, _ = criteria.slopes(step.state.recipe.criterion, self.T, V)
            self.passes.append(np.full(n, done))
            self.samples.append(np.arange(n))
            self.corrections.append(np.any(S, axis=1))
            self.batch.append((V, before, after))
            self.theta.append(after[None])
            self.kept += [step.state.kept()] * n
        elif len(step.rows):
            self.passes.append(np.full(1, done + 1))
            self.samples.append(np.array(step.rows))
            self.corrections.append(np.full(1, step.state.corrections, np.float64))
            self.theta.append(step.state.last[None].copy())
            self.kept.append(step.state.kept())

    def trace(self, model: BaseEstimator) -> Trace:
        passes, samples = np.concatenate(self.passes), np.concatenate(self.samples)
        if self.batch:
            updated = np.concatenate(self.corrections[1:]).astype(bool)
            n = self.X.shape[0]
            before, after = (np.repeat([part[i] for part in self.batch], n, axis=0) for i in (1, 2))
            v = np.concatenate([part[0] for part in self.batch])
        else:
            updated = np.diff(np.concatenate(self.corrections)) > 0
            theta, rows = np.concatenate(self.theta), self.X[samples]
            before, after = theta[:-1], theta[1:]
            rows = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
            v = np.einsum("mp,mkp->mk", rows, before[..., :-1]) + before[..., -1]
        weights = [part for theta in (before, after) for part in (theta[..., :-1], theta[..., -1])]
        weights += [np.array(part) for part in zip(*self.kept, strict=True)]
        unit: Literal["pass", "sample"] = "pass" if self.batch else "sample"
        parts: list[Any] = [passes, samples, updated, self.T[samples], v, *weights, model.fit_]
        return Trace(unit, *parts)


class DualSteps:
    """The rows that `KernelPerceptron.fit` visits."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.patterns: Any = None  # the rows of positive weight

    def __call__(self, done: int, step: Any) -> None:
        if self.patterns is None:
            self.patterns = step
            self.omega = step.omega if len(step.omega) else np.ones(len(step.at))
        elif isinstance(step, tuple):  # a block; else the dual variables after a pass
            first, V, lam = step
            for i in range(V.shape[1]):
                t, v = self.patterns.T[:, first + i], V[:, i].copy()
                change = np.where(t * v <= 0.0, self.omega[first + i], 0.0)
                row = self.patterns.at[first + i]
                self.rows.append((done + 1, row, t, v, lam[:, i].copy(), change))

    def trace(self, model: BaseEstimator) -> Trace:
        k, i, t, v, lam, change = (np.asarray(column) for column in zip(*self.rows, strict=True))
        updated, extra = np.any(change > 0.0, axis=1), {"lambda": lam, "change": change}
        weights = np.empty((*v.shape, 0)), np.zeros(v.shape)
        return Trace("sample", k, i, updated, t, v, *weights * 3, model.fit_, extra)


class Iterations:
    """The iterations of `HoKashyap.fit`, of one class after the other where there are more."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def __call__(self, k: int, step: Iteration) -> None:
        w, bias, b, Ya = step.state()
        self.rows.append((k, w, bias, b, Ya - b, Ya.min()))

    def trace(self, model: BaseEstimator) -> Trace:
        k, w, bias, b, e, least = (np.array(column) for column in zip(*self.rows, strict=True))
        neuron = np.cumsum(k == 1) - 1
        K = neuron[-1] + 1
        W, biases = np.zeros((len(k), K, w.shape[1])), np.zeros((len(k), K))
        for i, n in enumerate(neuron):
            W[i:, n], biases[i:, n] = w[i], bias[i]
        extra = {"b": b, "e": e, "min Ya": least, "class": neuron}
        return _of_all_rows("iteration", k, W, biases, model.fit_, extra)


class NewtonSteps:
    """The steps of Newton's procedure."""

    def __init__(self) -> None:
        self.rows: list[tuple[Array, Array, float, float]] = []

    def __call__(self, done: int, step: Any) -> None:
        rows = getattr(step.problem, "rows", None)
        if rows is not None:  # the steps of Firth's criterion show nothing
            g = float(np.linalg.norm(step.sums.g)) * rows.unit
            self.rows.append((*rows.original(step.theta), step.sums.f * rows.unit, g))

    def trace(self, model: BaseEstimator) -> Trace:
        if not self.rows:
            raise TypeError(
                f"alpha={model.alpha!r} is not learned by Newton's steps, so there are none to "
                "show; trace LogisticRegression with a number or 'auto'."
            )
        W, b, f, g = (np.array(column) for column in zip(*self.rows, strict=True))
        extra = {"loss": f, "|gradient|": g}
        return _of_all_rows("step", np.arange(len(f)), W, b, model.fit_, extra)


def _of_all_rows(
    unit: Literal["iteration", "step"], k: Ints, W: Array, b: Array, fit: Fit, extra: Any
) -> Trace:
    """A trace whose steps use all rows at once: the weights after each, the start first."""
    at, none = np.arange(len(k)), np.empty((len(k), 0))
    before = W[np.maximum(at - 1, 0)], b[np.maximum(at - 1, 0)]
    rows = np.full(len(k), -1)
    return Trace(unit, k, rows, at > 0, none, none, *before, W, b, W, b, fit, extra)
