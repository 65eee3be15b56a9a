"""The result of a task, and the numbers that measure it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._signals import Signal, ratio_db, squares
from adaline.results import Result

LONGEST = 120  # letters of a filter: the weights of a fixed one are left out


@dataclass(frozen=True, eq=False)
class TaskResult(Result):
    """The result of a task, and the filter to continue with.

    Attributes
    ----------
    signal : ndarray
        The result; the docstring of the task says which signal it is.
    filter : Filter
        As the last sample left it: `filter.process(x, d)` continues in real time.
    y, e : ndarray
        Output and error, e = d - y.
    measures : mapping of str to float
        Numbers over the second half of the samples, when the filter has converged.
    delay : int
        Samples by which `cancel_echo` and `cancel` delayed x before the filter, negative where they
        advanced it: `filter.process(x[n - delay], d[n])` continues. 0 elsewhere.
    """

    signal: Signal
    filter: Filter
    y: Signal
    e: Signal
    measures: Mapping[str, float] = field(default_factory=dict)
    delay: int = 0

    def __str__(self) -> str:
        numbers = ", ".join(f"{name} {value:.4g}" for name, value in self.measures.items())
        delay = f", delay {self.delay}" * bool(self.delay)
        return f"{len(self.signal)} values by {self._filter()}{delay}: {numbers}"

    def _filter(self) -> str:
        text = " ".join(repr(self.filter).split())
        return text if len(text) <= LONGEST else f"{type(self.filter).__name__}({self.filter.taps})"


def power(signal: Signal) -> float:
    """Mean of |value|^2 over the second half."""
    return float(np.mean(squares(signal[len(signal) // 2 :])))


def gain(before: Signal, after: Signal) -> float:
    """The power of one signal over that of the other, in dB, over the second half."""
    half = len(before) // 2
    return ratio(before[half:], after[half:])


def ratio(before: Signal, after: Signal) -> float:
    """The same over all samples."""
    return float(ratio_db(squares(before).sum(), squares(after).sum()))
