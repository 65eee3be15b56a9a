"""The first block decides the kind of numbers and the channels of a filter."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adaline.filters._signals import Signal, converted, kind_of


def start(filter: Any, x: Signal, d: Signal, channels: int) -> None:
    """Make the memory of a filter that has seen no block, for signals like x and d."""
    if filter._dtype is not None:
        return
    initial = filter._initial_now
    others = [] if initial is None or initial.dtype.kind != "c" else [initial]
    kind = filter._wanted or kind_of(x, d, *others)
    for signal, name in ((x, "x"), (d, "d")):
        converted(signal[:0], kind, name)
    if initial is not None and len(initial) != channels:
        raise ValueError(f"weights are for {len(initial)} channels; x has {channels}.")
    filter._begin(kind, channels)
    if initial is not None:
        filter._set_weights(fitting(filter, initial))


def fitting(filter: Any, W: Signal) -> Signal:
    """W in the kind of numbers of the filter, if it has the right channels."""
    if len(W) != filter.channels:
        raise ValueError(f"weights are for {len(W)} channels; this filter has {filter.channels}.")
    return converted(W, filter._dtype, "weights")


@contextmanager
def undecided_if_refused(filter: Any) -> Iterator[None]:
    """A first block that is refused decides neither the kind of numbers nor the channels."""
    fresh, channels = filter._dtype is None, filter._channels
    try:
        yield
    except Exception:
        if fresh:
            filter._dtype, filter._channels = None, channels
            filter._choose_path()
        raise
