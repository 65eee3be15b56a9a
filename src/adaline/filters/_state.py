"""A filter as plain numbers, strings and arrays, and back, with nothing executed.

A state may come from anywhere: whatever is missing, unknown or of the wrong size is refused.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.filters._settings import shown, whole
from adaline.filters._signals import as_kind
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


def state_of(filter: Any) -> dict[str, Any]:
    """Settings and memory of a `Filter`."""
    state = {"filter": type(filter).__name__, "format": 1, "adapting": filter.adapting}
    state |= pack({name: filter._setting(name) for name in filter._settings})
    if filter._dtype is not None:
        state |= {"kind": str(filter._dtype), "channels": filter.channels, "count": filter.samples}
        state |= {f"memory.{name}": a.copy() for name, a in filter._memory().items()}
        state["memory.held"] = filter._held.copy()
    elif filter._initial_now is not None:
        state["memory.weights"] = filter._initial_now.copy()
    return state


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


def check_parts(rest: dict[str, Any], owner: str, needed: set[str], allowed: set[str]) -> None:
    """Refuse a state with parts missing, or with parts that this filter does not have."""
    if missing := sorted(needed - rest.keys()):
        raise ValueError(f"state has no {missing[0]!r}, which {owner} needs.")
    if strange := sorted(rest.keys() - needed - allowed):
        raise ValueError(f"state has {strange[0]!r}, which {owner} has not.")


def started(rest: dict[str, Any]) -> tuple[np.dtype[Any], int, int]:
    """Kind of numbers, channels and sample count of a filter that has seen its first block."""
    for name in ("channels", "count"):
        if name not in rest:
            raise ValueError(f"state has no {name!r}, which goes with its memory.")
    if not isinstance(rest["kind"], str):
        raise ValueError(f"state has kind {shown(rest['kind'])}; expected a word.")
    kept = sum(part.size for part in rest.values() if isinstance(part, np.ndarray))
    channels = whole(rest["channels"], "channels", 1, max(1, kept))
    count = whole(rest["count"], "count", 0, 2**62)
    return as_kind(rest["kind"], "kind"), channels, count


def restore(
    memory: dict[str, NDArray[Any]], rest: dict[str, Any], owner: str, repeated: int
) -> None:
    """Copy the arrays of a state into the memory; head begins with numbers of the settings.

    Kernels read sizes from head without checking them, so a state must not change these.
    """
    parts = {f"memory.{name}" for name in memory}
    check_parts(rest, owner, {"adapting", "kind", "channels", "count"} | parts, set())
    head = memory.get("head", np.empty(0))[:repeated]
    expected = head.copy()
    for name, array in memory.items():
        filled(array, rest[f"memory.{name}"], f"memory.{name}")
    if not np.array_equal(head, expected):
        raise ValueError("state has a memory that contradicts its settings.")


def filled(into: NDArray[Any], given: Any, name: str) -> None:
    """Copy an array of a state into the memory, whose shape and dtype it must have.

    >>> memory = np.zeros(2)
    >>> filled(memory, np.array([1.0, 2.0]), "memory.w")
    >>> memory
    array([1., 2.])
    """
    if not isinstance(given, np.ndarray):
        raise ValueError(f"state has {shown(given)} as {name!r}; expected an array.")
    if given.shape != into.shape or given.dtype != into.dtype:
        raise ValueError(
            f"state has {name!r} of shape {given.shape} and dtype {given.dtype}; "
            f"expected {into.shape} and {into.dtype}."
        )
    if not np.isfinite(given).all():
        raise ValueError(f"state has numbers in {name!r} that are not finite.")
    into[...] = given
