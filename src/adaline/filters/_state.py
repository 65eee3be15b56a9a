"""Settings of a filter as plain numbers and strings, and back, with nothing executed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from adaline.filters._checks import shown
from adaline.schedules import Constant, OverK, SearchThenConverge

SCHEDULES = {schedule.__name__: schedule for schedule in (Constant, OverK, SearchThenConverge)}


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
    """Settings for the constructor, and the rest of a state.

    >>> unpack({"filter": "LMS", "format": 1, "adapting": True, "taps": 3}, "LMS", ("taps",))
    ({'taps': 3}, {'adapting': True})
    """
    came = state.get("filter") if isinstance(state, dict) else state
    if not isinstance(state, dict) or not isinstance(came, str) or came != owner:
        raise ValueError(f"state is of {shown(came)}; expected a dict that {owner}.state() gave.")
    version = state.get("format")
    if isinstance(version, bool) or not isinstance(version, int | np.integer) or version != 1:
        raise ValueError(f"state has format {shown(version)}; this adaline reads format 1.")
    settings: dict[str, Any] = {}
    rest = {key: value for key, value in state.items() if key not in ("filter", "format")}
    for name in names:
        if name not in rest:
            continue
        value = rest.pop(name)
        parts = {key: rest.pop(key) for key in list(rest) if key.startswith(f"{name}.")}
        if parts or (isinstance(value, str) and value in SCHEDULES):
            arguments = {key.partition(".")[2]: number for key, number in parts.items()}
            value = _schedule(name, value, arguments)
        settings[name] = value
    known = {"adapting", "kind", "channels", "count"}
    strange = [key for key in rest if key not in known and not key.startswith("memory.")]
    if strange or "adapting" not in rest:
        raise ValueError(f"state has {strange or 'no adapting'}, which is nothing {owner} knows.")
    return settings, rest


def _schedule(name: str, value: Any, arguments: dict[str, Any]) -> Any:
    """A schedule of its parts."""
    try:
        return SCHEDULES[value](**arguments)
    except (TypeError, KeyError, ValueError) as wrong:
        raise ValueError(f"state has {name} {value!r} with {arguments}: {wrong}.") from None
