"""Filters from states that came in a file: what their kernels take on trust is checked first."""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.data.storing._nodes import resolved, same
from adaline.data.storing._schema import FILTERS
from adaline.errors import ModelFileError


def resumed(name: str, state: Any) -> Any:
    """The filter of a state that goes on where it was; ModelFileError for any other state."""
    if not isinstance(state, dict) or not all(isinstance(key, str) for key in state):
        raise ModelFileError(f"The file has no state of a {name}.")
    _check_sizes(name, state)
    try:
        found = resolved(FILTERS[name], name).from_state(dict(state))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, MemoryError) as e:
        raise ModelFileError(f"The file holds no state of a {name}: {e}") from None
    if not same(dict(found.state()), state):
        raise ModelFileError(f"The state of this {name} has parts that no {name} would have.")
    return found


def _check_sizes(name: str, state: dict[str, Any]) -> None:
    """A filter's memory must be in the file before any is made for it."""
    if "kind" not in state:
        return
    kept = sum(part.size for part in state.values() if isinstance(part, np.ndarray))
    for key in ("taps", "channels", "block", "order"):
        value = state.get(key, 1)
        if type(value) is not int or not 0 < value <= kept:
            raise ModelFileError(
                f"The state of this {name} has {key} = {str(value)[:40]} and {kept} numbers in all."
            )
    needed = _numbers(name, *(state.get(key, 1) for key in ("taps", "channels", "block", "order")))
    if needed > kept:
        raise ModelFileError(
            f"The state of this {name} has {kept} numbers in all, and a filter of that size has "
            f"{needed} or more."
        )


def _numbers(name: str, taps: int, channels: int, block: int, order: int) -> int:
    """Numbers that a filter of this size remembers, at least."""
    weights = taps * channels
    if name == "RLS":  # P, which is symmetric
        return weights * weights // 2
    if name == "AffineProjection":
        return max(weights * order, order * order // 2)
    return channels * max(taps, block)
