"""The errors for blocks that a filter refuses, or at which it diverges."""

from __future__ import annotations

from typing import Any

from adaline.errors import DivergenceError
from adaline.filters._missing import not_finite
from adaline.filters._signals import Signal
from adaline.kernels.filters.guards import BAD_D, BAD_X, RATE_TOO_LARGE


def refusal(filter: Any, found: int, x: Signal, d: Signal) -> Exception:
    """The error for an answer of `_advance` that is not FINE."""
    at, what = divmod(found, 8)
    if what == BAD_X:
        return ValueError(not_finite("x", x))
    if what == BAD_D:
        return ValueError(not_finite("d", d))
    if what == RATE_TOO_LARGE:
        error: ValueError = filter._rate_error(x)
        return error
    return DivergenceError(
        f"{type(filter).__name__} diverged at sample {at} of this block (sample "
        f"{filter.samples + at} of the signal): its output left all proportion to the signals. "
        f"The filter is as it was before the block. {filter._remedy}, or check the levels of x "
        "and d."
    )
