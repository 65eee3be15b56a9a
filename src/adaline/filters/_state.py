"""Settings of a filter as plain numbers and strings, and back, with nothing executed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

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
    if not isinstance(state, dict) or state.get("filter") != owner:
        came = state.get("filter") if isinstance(state, dict) else type(state).__name__
        raise ValueError(f"state is of {came!r}; expected a dict that {owner}.state() gave.")
    if state.get("format") != 1:
        raise ValueError(f"state has format {state.get('format')!r}; this adaline reads format 1.")
    settings: dict[str, Any] = {}
    rest = {key: value for key, value in state.items() if key not in ("filter", "format")}
    for name in names:
        if name not in rest:
            continue
        value = rest.pop(name)
        parts = {key: rest.pop(key) for key in list(rest) if key.startswith(f"{name}.")}
        if parts or value in SCHEDULES if isinstance(value, str) else False:
            arguments = {key.partition(".")[2]: number for key, number in parts.items()}
            value = SCHEDULES[value](**arguments)
        settings[name] = value
    known = {"adapting", "kind", "channels", "count"}
    strange = [key for key in rest if key not in known and not key.startswith("memory.")]
    if strange or "adapting" not in rest:
        raise ValueError(f"state has {strange or 'no adapting'}, which is nothing {owner} knows.")
    return settings, rest
