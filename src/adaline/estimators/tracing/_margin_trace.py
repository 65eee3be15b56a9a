"""Ho and Kashyap's procedure looked at iteration by iteration: the lecture's a, b and e."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.tracing._table import Table
from adaline.procedures.ho_kashyap import HoKashyapFit, Iteration
from adaline.results import Array


@dataclass(frozen=True, eq=False)
class MarginTrace(Table):
    """Every iteration k, of one class after the other where there are more than two: m rows.

    Attributes
    ----------
    neurons, iterations : ndarray of shape (m,)
        The neuron, 0 for two classes, and k from 1.
    a : ndarray of shape (m, 1 + p)
        a(k): the bias first, as in the lecture.
    b, e : ndarray of shape (m, n)
        Margins b(k) and errors e(k) = Ya(k) - b(k) of the samples that have weight.
    least : ndarray of shape (m,)
        The smallest component of Ya(k): positive where all samples are on their right side.
    fit : HoKashyapFit
        What `fit` gives; its W and b are the last a of each neuron, exactly.
    """

    neurons: NDArray[np.int64]
    iterations: NDArray[np.int64]
    a: Array
    b: Array
    e: Array
    least: Array
    fit: HoKashyapFit

    def __len__(self) -> int:
        return len(self.iterations)

    def columns(self) -> dict[str, NDArray[Any]]:
        """The table by columns: k, a, b, e and min Ya; the class in front where there are more."""
        table: dict[str, NDArray[Any]] = {}
        if len(self.fit.iterations) > 1:
            table["class"] = self.neurons
        table["k"] = self.iterations
        for name, values, first in (("a", self.a, 0), ("b", self.b, 1), ("e", self.e, 1)):
            table |= {f"{name}{j + first}": values[:, j] for j in range(values.shape[1])}
        return table | {"min Ya": self.least}


class MarginTracer:
    """Notes the iterations of `HoKashyap.fit`."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []

    def __call__(self, k: int, here: Iteration) -> None:
        w, bias, b, Ya = here.state()
        self.rows.append((k, np.append(bias, w), b, Ya - b, Ya.min()))

    def result(self, model: Any) -> MarginTrace:
        """All that was noted, as arrays."""
        k, a, b, e, least = (np.array(column) for column in zip(*self.rows, strict=True))
        return MarginTrace(np.cumsum(k == 1) - 1, k, a, b, e, least, model.fit_)
