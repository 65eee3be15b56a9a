"""Learning looked at step by step: the tables of the lectures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from adaline import criteria
from adaline.estimators.declarations import names_with
from adaline.estimators.sequential.learner import SequentialFit
from adaline.estimators.tracing._dual_trace import DualTrace, dual_trace
from adaline.estimators.tracing._margin_trace import MarginTrace, margin_trace
from adaline.estimators.tracing._table import Table, cell
from adaline.kernels.sequential import neurons as kernels
from adaline.parameters import shown
from adaline.procedures.sequential.sequential import Order, learn_rows
from adaline.procedures.sequential.state import State
from adaline.results import Array, Fit

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Trace(Table):
    """Every sample that was presented, in order: m rows, K neurons, p inputs.

    Attributes
    ----------
    passes, samples : ndarray of shape (m,)
        The pass, from 1, and the row of X, from 0.
    t, v : ndarray of shape (m, K)
        Targets (class codes, for the linear machine) and local fields w'x + b before learning.
    updated : ndarray of bool, shape (m,)
        Whether the sample asked for a correction.
    W_before, change_W, W_after : ndarray of shape (m, K, p)
    b_before, change_b, b_after : ndarray of shape (m, K)
        In batch mode they are those of the whole pass.
    W_kept, b_kept : ndarray
        Weights to predict with after each row: W_after, or their average, or those in the pocket.
    batch : bool
        Whether updates came after each pass.
    fit : SequentialFit
        What `fit` gives; its W and b are W_kept[-1] and b_kept[-1], exactly.
    """

    passes: Ints
    samples: Ints
    t: Array
    v: Array
    updated: NDArray[np.bool_]
    W_before: Array
    b_before: Array
    change_W: Array
    change_b: Array
    W_after: Array
    b_after: Array
    W_kept: Array
    b_kept: Array
    batch: bool
    fit: SequentialFit

    def __len__(self) -> int:
        return len(self.passes)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns: pass, sample, w, b, t, v, update, and the changes of w and b."""
        _, K, p = self.W_before.shape
        mark = [""] if K == 1 else [f"[{k}]" for k in range(K)]
        table: dict[str, NDArray[Any]] = {"pass": self.passes, "sample": self.samples}
        for k in range(K):
            table |= {f"w{j + 1}{mark[k]}": self.W_before[:, k, j] for j in range(p)}
            table[f"b{mark[k]}"] = self.b_before[:, k]
        table |= {f"t{s}": self.t[:, k] for k, s in enumerate(mark[: self.t.shape[1]])}
        table |= {f"v{mark[k]}": self.v[:, k] for k in range(K)}
        table["update"] = np.where(self.updated, "YES", "NO")
        for k in range(K):
            table |= {f"dw{j + 1}{mark[k]}": self.change_W[:, k, j] for j in range(p)}
            table[f"db{mark[k]}"] = self.change_b[:, k]
        return table

    def _cells(self) -> list[list[str]]:
        table = self.columns()
        rows = []
        for i in range(len(self)):
            later = self.batch and i > 0 and self.passes[i] == self.passes[i - 1]
            rows.append([cell(name, column[i], later) for name, column in table.items()])
        return [list(table), *rows]


@dataclass(frozen=True, eq=False)
class Descent(Table):
    """Every step of a procedure that learns from all samples at once: m rows, K neurons.

    Attributes
    ----------
    loss, gradient : ndarray of shape (m,)
        The penalised loss, and the length of its gradient (in the procedure's own units), before
        the first step and after each.
    W, b : ndarray of shape (m, K, p) and (m, K)
    fit : Fit
        What `fit` gives; its W and b are the last ones here, exactly.
    """

    loss: Array
    gradient: Array
    W: Array
    b: Array
    fit: Fit

    def __len__(self) -> int:
        return len(self.loss)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns: step, loss, |gradient|, w and b."""
        m, K, p = self.W.shape
        table: dict[str, NDArray[Any]] = {"step": np.arange(m)}
        table |= {"loss": self.loss, "|gradient|": self.gradient}
        for k in range(K):
            mark = f"[{k}]" if K > 1 else ""
            table |= {f"w{j + 1}{mark}": self.W[:, k, j] for j in range(p)}
            table[f"b{mark}"] = self.b[:, k]
        return table


def trace(
    estimator: Any, X: Any, y: Any, sample_weight: Any = None, **start: Any
) -> Trace | Descent | DualTrace | MarginTrace:
    """Learn as `estimator.fit(X, y)` does, and return every step of it as a table.

    The same kernels learn one sample at a time, so the end equals what `fit` gives, exactly. The
    estimator itself is left as it was. All weights of all steps are kept: meant for small data.

    Parameters
    ----------
    estimator : estimator
        Perceptron, WidrowHoff, Adaline, SigmoidPerceptron, KernelPerceptron, HoKashyap or
        LogisticRegression.
    X, y, sample_weight
        As for `fit`.
    **start
        What else `fit` takes, to begin with: coef_init, intercept_init, margins.

    Returns
    -------
    Trace, DualTrace for KernelPerceptron, MarginTrace for HoKashyap, Descent for LogisticRegression
        A row for each sample presented, or for each iteration or step of Newton's procedure.

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
    if not isinstance(estimator, BaseEstimator):
        raise TypeError(f"estimator is {shown(estimator)}; {_takes()}")
    lines = getattr(estimator, "_traces", None)
    if lines is None:
        raise TypeError(
            f"estimator: {type(estimator).__name__} does not learn in steps that can be shown; "
            f"{_takes()}"
        )
    model = clone(estimator)
    if lines == "steps":
        return _descent(model, X, y, sample_weight, start)
    if lines == "duals":
        if start:
            raise TypeError(f"{type(estimator).__name__} has no {', '.join(start)} to begin with.")
        return dual_trace(model, X, y, sample_weight)
    if lines == "margins":
        return margin_trace(model, X, y, sample_weight, start)
    model._tracer = tracer = _Tracer()
    model.fit(X, y, sample_weight=sample_weight, **start)
    return tracer.result(model.fit_)


def _takes() -> str:
    return f"trace takes {names_with('_traces')}."


def _descent(model: Any, X: Any, y: Any, sample_weight: Any, start: Any) -> Descent:
    """The steps of a learner that shows them to `_watch`."""
    seen: list[tuple[Array, Array, float, float]] = []
    model._watch = lambda W, b, f, g: seen.append((W.copy(), b.copy(), f, g))
    model.fit(X, y, sample_weight=sample_weight, **start)
    if not seen:
        raise TypeError(
            f"alpha={model.alpha!r} is not learned by Newton's steps, so there are none to show; "
            "trace LogisticRegression with a number or 'auto'."
        )
    W, b, f, g = (np.array(column) for column in zip(*seen, strict=True))
    return Descent(f, g, W, b, model.fit_)


class _Tracer:
    """Looks on while fit learns, one sample or one pass at a time."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def watching(self, mode: str, state: State, X: Any, Y: Array) -> dict[str, Any]:
        """What a procedure takes to be looked at."""
        self.state, self.X, self.batch = state, X, mode == "batch"
        recipe = state.recipe
        machine = recipe.criterion == kernels.MACHINE
        self.T = Y if machine else criteria.targets(recipe.targets, Y, recipe.K)
        return {"watch": self.after_pass} if self.batch else {"by": self.learn}

    def learn(
        self, state: State, X: Any, Y: Array, omega: Array, start: int, stop: int, rows: Order
    ) -> None:
        """Learn the rows one by one, by the same kernel, and note each."""
        for i in rows if len(rows) else range(start, stop):
            before, made = state.last.copy(), state.corrections
            learn_rows(state, X, Y, omega, i, i + 1, np.empty(0, dtype=np.int64))
            k = len(self.rows) // X.shape[0] + 1
            after = state.last.copy()
            self._note(k, int(i), before, after - before, after, state.corrections > made)

    def after_pass(self, k: int, before: Array, change: Array) -> None:
        """Note an update in batch mode, once for every sample."""
        V = self._fields(before, slice(None))
        S, _ = criteria.slopes(self.state.recipe.criterion, self.T, V)
        after = self.state.last.copy()
        for i in range(len(V)):
            self._note(k, i, before, change, after, bool(S[i].any()), V[i])

    def _fields(self, theta: Array, rows: slice) -> Array:
        return np.asarray(self.X[rows] @ theta[:, :-1].T, dtype=np.float64) + theta[:, -1]

    def _note(
        self,
        k: int,
        i: int,
        before: Array,
        change: Array,
        after: Array,
        updated: bool,
        v: Any = None,
    ) -> None:
        v = self._fields(before, slice(i, i + 1))[0] if v is None else v
        self.rows.append((k, i, self.T[i], v, updated, before, change, after, *self.state.kept()))

    def result(self, fit: SequentialFit) -> Trace:
        """All that was noted, as arrays."""
        k, i, t, v, updated, before, change, after, W, b = (
            np.asarray(column) for column in zip(*self.rows, strict=True)
        )
        return Trace(
            passes=k,
            samples=i,
            t=t,
            v=v,
            updated=updated,
            W_before=before[..., :-1],
            b_before=before[..., -1],
            change_W=change[..., :-1],
            change_b=change[..., -1],
            W_after=after[..., :-1],
            b_after=after[..., -1],
            W_kept=W,
            b_kept=b,
            batch=self.batch,
            fit=fit,
        )
