"""Identify a system from its input and output."""

from __future__ import annotations

from typing import Any

from adaline.filters._base import Filter
from adaline.filters.tasks.filters import checked_pair, given_or_usual
from adaline.filters.tasks.results import TaskResult, gain, power


def identify(x: Any, d: Any, taps: int | None = None, filter: Filter | None = None) -> TaskResult:
    """Learn the impulse response of a system from its input x and output d.

    Parameters
    ----------
    x : array-like of shape (N,) or (N, inputs)
    d : array-like of shape (N,)
    taps : int, optional
        Length of the response; needed where no filter is given.
    filter : Filter, optional
        Any filter; it continues from its weights. If not given, RLS without forgetting up to 64
        weights, else NLMS.

    Returns
    -------
    TaskResult
        `signal` is the response (taps,) or (inputs, taps): conj(weights), as y = w^H x.
        `explained_db`: the power of d over that of the error.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.filters import identify
    >>> x = np.random.default_rng(0).standard_normal(500)
    >>> found = identify(x, np.convolve(x, [1.0, 0.5, -0.3])[:500], taps=3)
    >>> found.signal.round(3)
    array([ 1. ,  0.5, -0.3])
    """
    reference, desired = checked_pair(x, "x", d, "d")
    chosen = given_or_usual(filter, taps, reference.shape[1], eta=0.5, forgetting=1.0)
    y, e = chosen.process(reference, desired)
    measures = {"explained_db": gain(desired, e), "error_power": power(e)}
    return TaskResult(chosen.weights.conj(), chosen, y, e, measures)
