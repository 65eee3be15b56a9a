"""The signals and the filter of a task: as they are given, or a usual filter."""

from __future__ import annotations

from typing import Any

from adaline.filters._base import Filter
from adaline.filters._settings import shown, whole
from adaline.filters._signals import Signal, line, lines, same_length
from adaline.filters.nlms import NLMS
from adaline.filters.rls import RLS

SMALL = 64  # up to so many weights RLS is affordable, and learns fastest


def checked_pair(x: Any, x_name: str, d: Any, d_name: str) -> tuple[Signal, Signal]:
    """x (N, channels) and d (N,), finite and of equal length."""
    reference, desired = lines(x, x_name), line(d, d_name)
    same_length(reference, x_name, desired, d_name)
    return reference, desired


def usual_taps(taps: int | None, filter: Filter | None, usual: int) -> int | None:
    """The length that a task takes where neither taps nor a filter are given."""
    return usual if taps is None and filter is None else taps


def given_or_usual(
    filter: Filter | None,
    taps: int | None,
    channels: int,
    eta: float,
    forgetting: float = 0.999,
) -> Filter:
    """The filter that was given, or a good one."""
    if filter is None:
        if taps is None:
            raise ValueError("taps is missing; say how long the filter is, or give a filter.")
        taps = whole(taps, "taps", 1)
        return RLS(taps, forgetting) if channels * taps <= SMALL else NLMS(taps, eta)
    if not isinstance(filter, Filter):
        raise TypeError(
            f"filter is {shown(filter)}; expected a filter object, such as NLMS(taps=64)."
        )
    if taps is not None and taps != filter.taps:
        raise ValueError(f"taps is {shown(taps)} and the filter has {filter.taps}; leave taps out.")
    return filter
