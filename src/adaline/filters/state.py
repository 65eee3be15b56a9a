"""A filter as plain numbers, strings and arrays, and back, with nothing executed.

Called by `Filter`. A state may come from anywhere: whatever is missing, unknown or of the wrong
size is refused.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from adaline.filters.signals import Signal, zeros
from adaline.parameters import is_number, is_whole, shown
from adaline.schedules import Constant, OverK, SearchThenConverge

SCHEDULES = {schedule.__name__: schedule for schedule in (Constant, OverK, SearchThenConverge)}


def as_plain(value: Any) -> Any:
    """A number as Python's; anything else as it is."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, str) or not is_number(value):
        return value
    return int(value) if is_whole(value) else float(value)


def pack(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings as arrays, numbers and strings; None is left out, a schedule becomes its parts.

    >>> pack({"eta": OverK(0.5), "weights": None})
    {'eta': 'OverK', 'eta.eta1': 0.5}
    """
    packed: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, Constant | OverK | SearchThenConverge):
            packed[name] = type(value).__name__
            packed |= {f"{name}.{part}": number for part, number in asdict(value).items()}
        elif value is not None:
            packed[name] = value.copy() if isinstance(value, np.ndarray) else value
    return packed


def unpack(state: Any, owner: str, names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings for the constructor, and the rest of a state, which may come from anywhere."""
    given = state.get("filter") if isinstance(state, dict) else state
    if not isinstance(state, dict) or not isinstance(given, str) or given != owner:
        raise ValueError(f"state is of {shown(given)}; expected a dict that {owner}.state() gave.")
    version = state.get("format")
    if not is_whole(version) or version != 1:
        raise ValueError(f"state has format {shown(version)}; this adaline reads format 1.")
    rest = {key: value for key, value in state.items() if key not in ("filter", "format")}
    settings: dict[str, Any] = {}
    for name in names:
        if name not in rest:
            continue
        value = rest.pop(name)
        parts = {key: rest.pop(key) for key in list(rest) if key.startswith(f"{name}.")}
        if parts or (isinstance(value, str) and value in SCHEDULES):
            arguments = {key.partition(".")[2]: number for key, number in parts.items()}
            try:
                value = SCHEDULES[value](**arguments)
            except (TypeError, KeyError, ValueError) as wrong:
                raise ValueError(f"state has {name} {value!r} with {arguments}: {wrong}.") from None
        settings[name] = value
    known = {"adapting", "kind", "channels", "count"}
    strange = [key for key in rest if key not in known and not key.startswith("memory.")]
    if strange or "adapting" not in rest:
        raise ValueError(f"state has {strange or 'no adapting'}, which is nothing {owner} knows.")
    return settings, rest


def array_of_state(
    rest: dict[str, Any], name: str, dtype: Any, shape: tuple[int, ...], owner: str
) -> Signal:
    """A copy of an array of a state, which must have this dtype and shape, and be finite."""
    if name not in rest:
        raise ValueError(f"state has no {name!r}, which {owner} needs.")
    given = rest.pop(name)
    if not isinstance(given, np.ndarray):
        raise ValueError(f"state has {shown(given)} as {name!r}; expected an array.")
    if given.shape != shape or given.dtype != dtype:
        raise ValueError(
            f"state has {name!r} of shape {given.shape} and dtype {given.dtype}; "
            f"expected {shape} and {np.dtype(dtype)}."
        )
    if not np.isfinite(given).all():
        raise ValueError(f"state has numbers in {name!r} that are not finite.")
    array = zeros(dtype, shape)
    array[...] = given
    return array
