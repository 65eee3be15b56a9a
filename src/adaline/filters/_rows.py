"""Rows in place of a delay line: every x(n) is given as a whole."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.filters._first_block import start, undecided_if_refused
from adaline.filters._missing import NOT_FROZEN, not_finite
from adaline.filters._refusals import refusal
from adaline.filters._signals import Signal, as_desired, as_rows, converted, kind_of


def check_rows_allowed(filter: Any) -> None:
    """Refuse rows where the settings of the filter are about a delay line."""
    if filter._every is not None or filter.on_nan != "raise":
        given = f"history={filter._every}" if filter._every else f"on_nan={filter.on_nan!r}"
        raise ValueError(
            f"this filter has {given}, which rows do not know: they have no delay line to fill "
            "gaps in, and nothing is recorded. Make the filter without history and on_nan."
        )


def processed_rows(filter: Any, U: Any, d: Any) -> tuple[Signal, Signal]:
    """Outputs and errors of a `Filter` for the rows of U."""
    U = as_rows(U, filter.taps, filter._channels)
    d = as_desired(d, len(U), "U")
    if len(U) == 0:
        return np.empty(0, kind_of(U, d)), np.empty(0, kind_of(U, d))
    with undecided_if_refused(filter):
        return _through(filter, U, d)


def _through(filter: Any, U: Signal, d: Signal) -> tuple[Signal, Signal]:
    """Outputs and errors of rows whose shapes are right."""
    start(filter, U, d, U.shape[1] // filter.taps)
    U, d = converted(U, filter._dtype, "U"), converted(d, filter._dtype, "d")
    for name, signal in (("U", U), ("d", d)):
        if not np.isfinite(signal).all():
            raise ValueError(not_finite(name, signal, "Nothing was used: leave out such rows."))
    out = np.empty((2, len(d)), filter._dtype)
    frozen = NOT_FROZEN if filter.adapting else np.ones(len(d), np.uint8)
    found = filter._advance_rows(U, d, frozen, out)
    if found:
        raise refusal(filter, found, U, d)
    filter._count += len(d)
    return out[0], out[1]
