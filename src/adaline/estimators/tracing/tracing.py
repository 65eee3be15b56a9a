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
from adaline.estimators.tracing._dual_trace import DualTrace, DualTracer
from adaline.estimators.tracing._margin_trace import MarginTrace, MarginTracer
from adaline.estimators.tracing._table import Table, cell
from adaline.kernels import codes
from adaline.parameters import shown
from adaline.procedures.sequential import Learning
from adaline.results import Array, Fit
from adaline.tiles import is_sparse

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
        What `fit` gives; its W and b are W_kept[-1] and b_kept[-1], exactly. If learning diverged,
        the last pass here shows how, and `fit` went back: W and b are those kept before that pass.
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

    The same kernels learn one sample at a time, so the end equals what `fit` gives, exactly; where
    learning diverged, `fit` gives the weights from before the last pass. The estimator itself is
    left as it was. All weights of all steps are kept: meant for small data.

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
    if lines == "duals" and start:
        raise TypeError(f"{type(estimator).__name__} has no {', '.join(start)} to begin with.")
    model._look = table = _TABLES[lines]()
    model.fit(X, y, sample_weight=sample_weight, **start)
    return table.result(model)


def _takes() -> str:
    return f"trace takes {names_with('_traces')}."


class _Descents:
    """Notes the steps of Newton's procedure."""

    def __init__(self) -> None:
        self.rows: list[tuple[Array, Array, float, float]] = []

    def __call__(self, step: int, walk: Any) -> None:
        rows = getattr(walk.problem, "rows", None)
        if rows is not None:  # the steps of Firth's criterion show nothing
            g = float(np.linalg.norm(walk.sums.g)) * rows.unit
            self.rows.append((*rows.original(walk.theta), walk.sums.f * rows.unit, g))

    def result(self, model: Any) -> Descent:
        """All that was noted, as arrays."""
        if not self.rows:
            raise TypeError(
                f"alpha={model.alpha!r} is not learned by Newton's steps, so there are none to "
                "show; trace LogisticRegression with a number or 'auto'."
            )
        W, b, f, g = (np.array(column) for column in zip(*self.rows, strict=True))
        return Descent(f, g, W, b, model.fit_)


class _Samples:
    """Notes every sample that is shown to a learner who corrects errors.

    A table may have 10^5 rows. What follows from the notes is computed at the end, for all of them
    at once.
    """

    def __init__(self) -> None:
        self.batches: list[tuple[NDArray[Any], ...]] = []  # the columns of a pass in batch mode
        self.passes: list[Ints] = []  # of each sample that was shown alone, block by block
        self.samples: list[Ints] = []
        self.kept: list[tuple[Array, Array]] = []

    def __call__(self, done: int, here: Learning) -> None:
        if not hasattr(self, "X"):
            self.X, self.T = here.X, _targets(here)
            self.made = [np.full(1, here.state.corrections, np.float64)]
            self.weights = [here.state.last[None].copy()]
        elif here.change is not None:
            self._note_batch(done, here)
        elif here.notes is not None and len(here.rows):
            self.passes.append(np.full(len(here.rows), done + 1))
            self.samples.append(np.array(here.rows))
            self.made.append(here.notes.made)
            self.weights.append(here.notes.last)
            self.kept += here.notes.kept

    def _note_batch(self, k: int, here: Learning) -> None:
        """A pass, whose weights and change stand beside every sample."""
        before, after = self.weights[-1][-1], here.state.last
        V = _fields(here.X, before)
        S, _ = criteria.slopes(here.state.recipe.criterion, self.T, V)
        n = len(V)
        whole = (before, here.change, after, *here.state.kept())
        repeated = (np.repeat(np.asarray(one)[None], n, axis=0) for one in whole)
        self.batches.append((np.full(n, k), np.arange(n), np.any(S, axis=1), V, *repeated))
        self.weights.append(after[None].copy())

    def _columns(self) -> tuple[Any, ...]:
        """Pass, sample, whether corrected, v, weights before, their change and after, and kept."""
        if self.batches:
            return tuple(np.concatenate(column) for column in zip(*self.batches, strict=True))
        k, i = np.concatenate(self.passes), np.concatenate(self.samples)
        made, weights = np.concatenate(self.made), np.concatenate(self.weights)
        updated, before, after = np.diff(made) > 0, weights[:-1], weights[1:]
        rows = self.X[i]
        rows = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
        v = np.einsum("mp,mkp->mk", rows, before[..., :-1]) + before[..., -1]
        W, b = after[..., :-1], after[..., -1]
        if self.kept:
            W, b = (np.array(column) for column in zip(*self.kept, strict=True))
        return k, i, updated, v, before, after - before, after, W, b

    def result(self, model: Any) -> Trace:
        """All that was noted, as arrays."""
        k, i, updated, v, before, change, after, W, b = self._columns()
        return Trace(
            passes=k,
            samples=i,
            t=self.T[i],
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
            batch=model.mode == "batch",
            fit=model.fit_,
        )


def _targets(here: Learning) -> Array:
    """t of each row; class codes, for the linear machine."""
    recipe = here.state.recipe
    machine = recipe.criterion == codes.MACHINE
    return here.Y if machine else criteria.targets(recipe.targets, here.Y, recipe.K)


def _fields(X: Any, theta: Array) -> Array:
    """w'x + b of each row."""
    return np.asarray(X @ theta[:, :-1].T, dtype=np.float64) + theta[:, -1]


_TABLES: dict[str, type[_Samples | DualTracer | MarginTracer | _Descents]] = {
    "samples": _Samples,
    "duals": DualTracer,
    "margins": MarginTracer,
    "steps": _Descents,
}
