"""The perceptron in dual variables looked at row by row: a table of lambda and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.tracing._table import Table
from adaline.procedures.kernel_perceptron import Duals
from adaline.results import Array, Fit

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class DualTrace(Table):
    """Every pattern that was presented, in order: m rows, K machines, n patterns.

    Attributes
    ----------
    passes, samples : ndarray of shape (m,)
        The pass, from 1, and the row of X, from 0.
    t, v : ndarray of shape (m, K)
        Targets, and outputs v = sum lambda t (k(x^mu, x) + 1) before learning.
    lambda_before, change : ndarray of shape (m, K)
        The pattern's own lambda as it was met, and what was added to it.
    updated : ndarray of bool, shape (m,)
        Whether a machine was corrected: t v <= 0.
    lambda_after : ndarray of shape (passes, K, n)
        lambda of all rows of X after each pass; zero for those without weight.
    fit : Fit
        What `fit` gives; its |W| are the last lambda_after of its supports, exactly.
    """

    passes: Ints
    samples: Ints
    t: Array
    v: Array
    lambda_before: Array
    change: Array
    updated: NDArray[np.bool_]
    lambda_after: Array
    fit: Fit

    def __len__(self) -> int:
        return len(self.passes)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns: pass, sample, lambda, t, v, update, and the change of lambda."""
        K = self.t.shape[1]
        mark = [""] if K == 1 else [f"[{k}]" for k in range(K)]
        table: dict[str, NDArray[Any]] = {"pass": self.passes, "sample": self.samples}
        for name, values in (("lambda", self.lambda_before), ("t", self.t), ("v", self.v)):
            table |= {f"{name}{s}": values[:, k] for k, s in enumerate(mark)}
        table["update"] = np.where(self.updated, "YES", "NO")
        return table | {f"dlambda{s}": self.change[:, k] for k, s in enumerate(mark)}


class DualTracer:
    """Notes the rows that `KernelPerceptron.fit` visits."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.after: list[Array] = []
        self.given: Any = None  # the rows of positive weight

    def __call__(self, done: int, here: Any) -> None:
        if self.given is None:
            self.given = here
            self.omega = here.omega if len(here.omega) else np.ones(len(here.at))
        elif isinstance(here, Duals):
            whole = np.zeros((len(here.A), self.given.n))
            whole[:, self.given.at] = np.abs(here.A)
            self.after.append(whole)
        else:
            self._block(done + 1, *here)

    def _block(self, k: int, first: int, V: Array, lam: Array) -> None:
        for i in range(V.shape[1]):
            t, v = self.given.T[:, first + i], V[:, i].copy()
            change = np.where(t * v <= 0.0, self.omega[first + i], 0.0)
            self.rows.append((k, self.given.at[first + i], t, v, lam[:, i].copy(), change))

    def result(self, model: Any) -> DualTrace:
        """All that was noted, as arrays."""
        k, i, t, v, lam, change = (np.asarray(column) for column in zip(*self.rows, strict=True))
        updated = np.asarray((change > 0.0).any(axis=1))
        return DualTrace(k, i, t, v, lam, change, updated, np.array(self.after), model.fit_)
