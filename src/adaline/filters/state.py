"""Settings of a filter, and a filter as plain numbers, strings and arrays, with nothing executed.

The base class of `Filter`. A state may come from anywhere: whatever is missing, unknown or of the
wrong size is refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, fields
from inspect import signature
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from adaline.filters.signals import Signal, as_kind, zeros
from adaline.parameters import FLAG, NONE, count, is_number, is_whole, shown, words
from adaline.schedules import Constant, OverK, SearchThenConverge

SCHEDULES = {schedule.__name__: schedule for schedule in (Constant, OverK, SearchThenConverge)}


HISTORY = NONE | count()
Shapes = dict[str, tuple[Any, tuple[int, ...]]]  # name of an array: dtype and shape


@dataclass(eq=False, repr=False)
class Settings:
    """What every filter is given. A filter adds fields, and checks them by `_parameters`."""

    taps: int
    _: KW_ONLY
    weights: InitVar[Any] = None
    dtype: InitVar[Any] = None
    on_nan: str = "raise"
    history: InitVar[int | None] = None

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        """See `Filter`."""


class NoNumbers(NamedTuple):
    """What a filter remembers beside its arrays, by name."""


class State(Settings):
    """A filter as plain numbers, strings and arrays, and back; the base of `Filter`."""

    # For every setting what it takes: called with its name and value, returns the value or raises.
    _parameters: ClassVar[dict[str, Callable[[str, Any], Any]]] = {
        "taps": count(),
        "on_nan": words("raise", "hold", "skip"),
    }
    _example: ClassVar[dict[str, Any]] = {"taps": 8}  # settings for tests and `adaline warm-up`
    _numbers: ClassVar[type[Any]] = NoNumbers  # a NamedTuple of numbers with defaults
    _kind: np.dtype[Any] | None  # None before the first block
    _channels: int | None
    _initial_now: Signal | None
    _memory: dict[str, Signal]
    _level: Any

    _every: int | None  # how often weights are recorded
    _wanted: np.dtype[Any] | None
    _initial: Signal | None
    _adapting: bool
    _count: int
    _records: list[Signal]
    _recorded_at: list[int]
    weights: Any

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherited = cls.__mro__[1]
        cls._parameters = {**getattr(inherited, "_parameters", {}), **cls._parameters}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._parameters:
            if name in vars(self):
                raise AttributeError(
                    f"{name} is fixed when a filter is made; make a new one, and hand over the "
                    "weights with weights=old.weights."
                )
            value = as_plain(self._parameters[name](name, value))
        object.__setattr__(self, name, value)

    def _all_shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        raise NotImplementedError

    def _check_state(self) -> None:
        """Raise ValueError if a memory that came from outside contradicts itself."""

    def state(self) -> dict[str, Any]:
        """All that the next outputs depend on: arrays, numbers and strings, safe in any file."""
        state = {"filter": type(self).__name__, "format": 1, "adapting": self._adapting}
        state |= pack(self._settings())
        if self._kind is not None:
            state |= {"kind": str(self._kind), "channels": self._channels, "count": self._count}
            state |= {f"memory.{name}": a.copy() for name, a in self._memory.items()}
            state |= {f"memory.{name}": float(a) for name, a in self._level._asdict().items()}
        elif self._initial_now is not None:
            state["memory.weights"] = self._initial_now.copy()
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The filter that gave this `state()`; it continues bit for bit, without the history."""
        settings, rest = unpack(state, cls.__name__, tuple(signature(cls).parameters))
        try:
            filter = cls(**settings)
        except TypeError as wrong:  # one is missing, or of a kind that no filter has
            raise ValueError(f"state has no settings of a {cls.__name__}: {wrong}") from None
        filter._resume(rest)
        return filter

    def __getstate__(self) -> dict[str, Any]:
        """What `copy` and `pickle` keep: the state, the history, and attributes of the user."""
        own = {name for name in vars(self) if name.startswith("_")} | set(self._settings())
        kept = {name: value for name, value in vars(self).items() if name not in own}
        records = [w.copy() for w in self._records]
        return kept | {
            "_state": self.state(), "_records": records, "_recorded_at": [*self._recorded_at]
        }  # fmt: skip

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(vars(type(self).from_state(kept["_state"])))
        vars(self).update({name: value for name, value in kept.items() if name != "_state"})

    def __repr__(self) -> str:
        settings = [(name, a) for name, a in self._settings().items() if name != "weights"]
        given = [f"{name}={value!r}" for name, value in settings if value is not None]
        return f"{type(self).__name__}({', '.join(given)})"

    def _settings(self) -> dict[str, Any]:
        """All settings as they were given, those by keyword only last."""
        given: dict[str, Any] = {"weights": self._initial, "history": self._every}
        given["dtype"] = None if self._wanted is None else str(self._wanted)
        own = sorted(fields(self), key=lambda field: bool(field.kw_only))
        return {field.name: getattr(self, field.name) for field in own} | given

    def _resume(self, rest: dict[str, Any]) -> None:
        """Take over the memory of a state, which may come from anywhere."""
        adapting = rest.pop("adapting")
        if "kind" in rest:
            kind, self._channels, self._count = read_start(rest)
            shapes = self._all_shapes(self._channels, kind)
            self._memory, level = read_memory(rest, shapes, self._numbers._fields)
            self._level, self._kind = self._numbers(**level), kind
            self._check_state()
        elif "memory.weights" in rest:
            self.weights = rest.pop("memory.weights")
        if rest:
            raise ValueError(f"state has {min(rest)!r}, which {type(self).__name__} has not.")
        self._adapting = bool(FLAG("adapting", adapting))


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


def read_start(rest: dict[str, Any]) -> tuple[np.dtype[Any], int, int]:
    """The kind of numbers, channels and samples of a filter that has had its first block."""
    if not isinstance(rest["kind"], str):
        raise ValueError(f"state has kind {shown(rest['kind'])}; expected a word.")
    kind = as_kind(rest.pop("kind"), "kind")
    for name in ("channels", "count"):
        if name not in rest:
            raise ValueError(f"state has no {name!r}, which goes with its memory.")
    channels = count()("channels", rest.pop("channels"))
    return kind, channels, count(0, 2**62)("count", rest.pop("count"))


def read_memory(
    rest: dict[str, Any], shapes: dict[str, tuple[Any, tuple[int, ...]]], names: tuple[str, ...]
) -> tuple[dict[str, Signal], dict[str, float]]:
    """Copies of the arrays, which must have these dtypes and shapes, and the numbers of a state.

    Arrays are compared before memory is allocated, so that a state is never larger than its file.
    """
    memory, level = {}, {}
    for name, (dtype, shape) in shapes.items():
        given = rest.pop(f"memory.{name}", None)
        if not isinstance(given, np.ndarray):
            raise ValueError(f"state has {shown(given)} as 'memory.{name}'; expected an array.")
        if given.shape != shape or given.dtype != dtype:
            raise ValueError(
                f"state has 'memory.{name}' of shape {given.shape} and dtype {given.dtype}; "
                f"expected {shape} and {np.dtype(dtype)}."
            )
        if not np.isfinite(given).all():
            raise ValueError(f"state has numbers in 'memory.{name}' that are not finite.")
        memory[name] = zeros(dtype, shape)
        memory[name][...] = given
    for name in names:
        value = rest.pop(f"memory.{name}", None)
        if not is_number(value) or (value < 0 and name != "excess"):
            raise ValueError(f"state has {shown(value)} as 'memory.{name}'.")
        level[name] = float(value)
    return memory, level
