"""The base class of all filters: settings, a delay line that outlives the block, weights, state.

Each filter is a module beside this one with a class that derives from `Filter`, and a kernel.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from copy import deepcopy
from dataclasses import KW_ONLY, InitVar, asdict, dataclass, fields
from inspect import signature
from math import hypot, prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline.errors import DivergenceError
from adaline.filters import signals
from adaline.filters.signals import Signal
from adaline.parameters import (
    FLAG,
    NONE,
    NOT_NEGATIVE,
    NUMBER,
    Advises,
    count,
    is_number,
    is_whole,
    shown,
    words,
)
from adaline.results import Result
from adaline.schedules import Constant, OverK, SearchThenConverge

Learns = NDArray[np.bool_]
Shapes = dict[str, tuple[Any, tuple[int, ...]]]  # name of an array: dtype and shape
SCHEDULES = {schedule.__name__: schedule for schedule in (Constant, OverK, SearchThenConverge)}
HISTORY = NONE | count()
NoNumbers = namedtuple("NoNumbers", ())  # what a filter remembers beside its arrays: nothing
NOTHING_USED = (
    "Nothing of the block was used. on_nan='hold' repeats the last good sample, on_nan='skip' "
    "does not learn from it."
)


@dataclass(eq=False, repr=False)
class Settings:
    """What every filter is given; `Filter` has properties of three of these names."""

    taps: int
    _: KW_ONLY
    weights: InitVar[Any] = None
    dtype: InitVar[Any] = None
    on_nan: str = "raise"
    history: InitVar[int | None] = None

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        """See `Filter`."""


class Filter(Settings, Advises, Result):
    """A transversal filter y(n) = w^H x(n) that may adapt to e(n) = d(n) - y(n).

    x(n) = (x[n], x[n-1], ..., x[n-taps+1]), with zeros before the first sample. The weights of
    several reference channels follow one another. The error is a priori: the filter computes y(n)
    before d(n) changes w.

    A subclass writes one hook, `_adapt`. It works on `self._memory`, arrays by name, of which
    "w" (channels, taps) and "past" (channels, taps - 1) are there already, in the order of time:
    the oldest sample first. Other arrays are added by `_shapes`, other numbers by `_numbers`, and
    settings as fields of a dataclass, checked by `_parameters`. In return the filter takes blocks
    of any size, any kind of numbers, missing samples, several channels, a history of weights, and
    it can be copied and saved.

    Examples
    --------
    LMS in plain numpy, the smallest filter of one's own:

    >>> import numpy as np
    >>> from adaline.filters.filter import Filter
    >>> class PlainLMS(Filter):
    ...     def _adapt(self, line, d, learns, y):
    ...         w = self._memory["w"]
    ...         for n in range(len(d)):
    ...             x = line[:, n : n + self.taps]  # the oldest sample first
    ...             y[n] = np.vdot(w, x)
    ...             if learns[n]:
    ...                 w += 0.05 * np.conj(d[n] - y[n]) * x
    ...         return len(d)  # or the number of the sample at which it diverged
    >>> x = np.random.default_rng(0).standard_normal(2000)
    >>> f = PlainLMS(taps=3)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:2000])
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    # For every setting what it takes: called with its name and value, returns the value or raises.
    _parameters: ClassVar[dict[str, Callable[[str, Any], Any]]] = {
        "taps": count(),
        "on_nan": words("raise", "hold", "skip"),
    }
    _example: ClassVar[dict[str, Any]] = {"taps": 8}  # settings for tests and `adaline warm-up`
    _numbers: ClassVar[type[Any]] = NoNumbers  # a NamedTuple of numbers with defaults
    _segment: ClassVar[int] = 8192  # samples filtered at a time, whose line stays in the cache

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._parameters = getattr(cls.__mro__[1], "_parameters", {}) | cls._parameters

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        self._all_shapes(1, np.dtype(np.float64))  # refuses sizes beyond memory
        self._every = HISTORY("history", history)
        self._wanted = None if dtype is None else signals.as_kind(dtype)
        self._initial = None if weights is None else signals.as_weights(weights, self.taps)
        self._adapting = True
        self.reset()

    def reset(self) -> Self:
        """Forget everything but the settings: initial weights, empty delay line, sample 0."""
        self._initial_now: Signal | None = self._initial
        self._channels: int | None = None if self._initial is None else len(self._initial)
        self._kind: np.dtype[Any] | None = None  # None before the first block
        self._memory: dict[str, Signal] = {}
        self._level: Any = self._numbers()
        self._count = 0
        self._records: list[tuple[int, Signal]] = []
        return self

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self._parameters:
            if name in vars(self):
                raise AttributeError(
                    f"{name} is fixed when a filter is made; make a new one, and hand over the "
                    "weights with weights=old.weights."
                )
            value = self._parameters[name](name, value)
            if is_number(value):  # of numpy, or a Fraction
                value = int(value) if is_whole(value) else float(value)
        object.__setattr__(self, name, value)

    def _run(self, kernel: Callable[..., Any], block: tuple[Any, ...], *arguments: Any) -> int:
        """Call a kernel for (line, d, learns, y); returns what `_adapt` returns."""
        line, d, learns, y = block
        block = line, d, learns, self._count, y
        went, level = kernel(block, *arguments, tuple(self._level))
        self._level = self._numbers(*level)
        return int(went)

    # Hooks: what a subclass writes.

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        """The arrays of the memory, which begin as zeros."""
        return {"w": (kind, (channels, self.taps)), "past": (kind, (channels, self.taps - 1))}

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        """Filter N samples and adapt: fill y, change `_memory` and `_level`.

        line = [past, x], so x(n) begins at line[:, n]. Only samples with learns[n] may change the
        weights. `samples` counts those before. Returns N or, where a sample n < N diverged, n; the
        filter is then put back.
        """
        raise NotImplementedError

    def _get_weights(self) -> Signal:
        """The weights now, (channels, taps), the newest sample's first."""
        return self._memory["w"][:, ::-1].copy()

    def _set_weights(self, W: Signal) -> None:
        """Make W (channels, taps) the weights."""
        self._memory["w"][:] = W[:, ::-1]
        if "gain" in self._level._fields:
            self._level = self._level._replace(gain=hypot(*np.abs(W).ravel().tolist()))

    def _check_block(self, x: Signal) -> None:
        """Raise an error if the filter cannot learn from a block of such x."""

    # What users see.

    @property
    def weights(self) -> Signal:
        """w now, a copy: (taps,), or (channels, taps) for several channels. May be set."""
        if self._kind is not None:
            W = self._get_weights()
        elif self._initial_now is not None:
            W = self._initial_now.copy()
        else:
            W = np.zeros((1, self.taps), self._wanted or np.float64)
        return W[0] if len(W) == 1 else W

    @weights.setter
    def weights(self, value: Any) -> None:
        W = signals.as_weights(value, self.taps)
        if self._kind is None:
            self._initial_now, self._channels = W, len(W)
        elif len(W) != self._channels:
            raise ValueError(
                f"weights are for {len(W)} channels; this filter has {self._channels}."
            )
        else:
            self._set_weights(signals.converted(W, self._kind, "weights"))

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The kind of numbers; None before the first block decides."""
        return self._kind or self._wanted

    @property
    def history(self) -> Signal:
        """Recorded weights, (records, taps), or (records, channels, taps) for several channels."""
        W = [weights for _, weights in self._records]
        return np.array(W) if W else np.empty((0, *self.weights.shape))

    @property
    def history_at(self) -> NDArray[np.int64]:
        """After how many samples each record of `history` was taken."""
        return np.array([at for at, _ in self._records], dtype=np.int64)

    @property
    def channels(self) -> int | None:
        """The number of reference channels; None before the first block decides."""
        return self._channels

    @property
    def samples(self) -> int:
        """How many samples the filter has processed."""
        return self._count

    @property
    def adapting(self) -> bool:
        """Whether the filter adapts its weights; if False, it filters with fixed weights."""
        return self._adapting

    @adapting.setter
    def adapting(self, on: bool) -> None:
        self._adapting = bool(FLAG("adapting", on))

    def process(
        self, x: Any, d: Any = None, *, history: int | None = None
    ) -> tuple[Signal, Signal]:
        """Filter the next block, of any length, and adapt to the desired signal.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, channels)
            The reference signal, which is filtered.
        d : array-like of shape (n,), optional
            The desired signal; may be left out while `adapting` is False.
        history : int, optional
            Record the weights every `history` samples, in the attribute `history`.

        Returns
        -------
        y, e : ndarray of shape (n,)
            Output and error before the update, e = d - y; without d, e is empty.
        """
        every = HISTORY("history", history) or self._every
        x = signals.as_samples(x, "x", self._channels)
        if d is None and self._adapting:
            raise ValueError("d is missing; give the desired signal, or set adapting = False.")
        desired = np.zeros(len(x), x.dtype) if d is None else signals.as_samples(d, "d", 1)[:, 0]
        signals.require_same_length(x, "x", desired, "d")
        y, e = self._all_or_nothing(self._filter, x, desired, every)
        return y, (e[:0] if d is None else e)

    def step(self, x: Any, d: Any) -> tuple[Any, Any]:
        """Filter one sample: x a number (or one for each channel), d a number; returns (y, e)."""
        sample = np.atleast_1d(signals.as_numbers(x, "x"))[None]
        y, e = self.process(sample, np.atleast_1d(signals.as_numbers(d, "d")))
        return y[0], e[0]

    def state(self) -> dict[str, Any]:
        """All that the next outputs depend on: arrays, numbers and strings, safe in any file."""
        state = {"filter": type(self).__name__, "adapting": self._adapting}
        for name, value in self._settings().items():
            if type(value) in SCHEDULES.values():  # by its name and its numbers
                state[name] = type(value).__name__
                state |= {f"{name}.{part}": number for part, number in asdict(value).items()}
            elif value is not None:
                state[name] = value.copy() if isinstance(value, np.ndarray) else value
        if self._kind is not None:
            state |= {"kind": str(self._kind), "channels": self._channels, "count": self._count}
            state |= {f"memory.{name}": a.copy() for name, a in self._memory.items()}
            state |= {f"memory.{name}": float(a) for name, a in self._level._asdict().items()}
        elif self._initial_now is not None:
            state["memory.weights"] = self._initial_now.copy()
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The filter that gave this `state()`; it continues bit for bit, without the history.

        A state may come from anywhere: what is missing, unknown or of the wrong size is refused.
        """
        if not isinstance(state, dict) or not isinstance(state.get("filter"), str):
            raise ValueError(f"state is {shown(state)}; expected what state() gave.")
        try:
            rest = dict(state)
            words(cls.__name__)("filter", rest.pop("filter"))
            names = [name for name in signature(cls).parameters if name in rest]
            filter = cls(**{name: take_setting(rest, name) for name in names})
            filter._resume(rest)
        except (TypeError, LookupError, ValueError) as wrong:
            raise ValueError(f"state is none of a {cls.__name__}: {wrong}") from None
        return filter

    def __getstate__(self) -> dict[str, Any]:
        """What `copy` and `pickle` take: it shares nothing with this filter."""
        return deepcopy(vars(self))

    def __repr__(self) -> str:
        settings = [(name, a) for name, a in self._settings().items() if name != "weights"]
        given = [f"{name}={value!r}" for name, value in settings if value is not None]
        return f"{type(self).__name__}({', '.join(given)})"

    # How it works.

    def _settings(self) -> dict[str, Any]:
        """All settings as they were given, those by keyword only last."""
        given: dict[str, Any] = {"weights": self._initial, "history": self._every}
        given["dtype"] = None if self._wanted is None else str(self._wanted)
        own = sorted(fields(self), key=lambda field: bool(field.kw_only))
        return {field.name: getattr(self, field.name) for field in own} | given

    def _resume(self, rest: dict[str, Any]) -> None:
        """Take over the memory of a state.

        Arrays are compared before memory is allocated: a state is never larger than its file.
        """
        adapting = rest.pop("adapting", None)
        if "kind" in rest:
            kind = signals.as_kind(rest.pop("kind"), "kind")
            channels = self._channels = int(count()("channels", rest.pop("channels", None)))
            self._count = count(0, 2**62)("count", rest.pop("count", None))
            shapes = self._all_shapes(channels, kind)
            self._memory = {name: take_array(rest, name, *shape) for name, shape in shapes.items()}
            level = {name: rest.pop(f"memory.{name}", None) for name in self._numbers._fields}
            for name, value in level.items():
                (NUMBER if name == "excess" else NOT_NEGATIVE)(f"memory.{name}", value)
            self._level = self._numbers(**{name: float(value) for name, value in level.items()})
            self._kind = kind
        elif "memory.weights" in rest:
            self.weights = rest.pop("memory.weights")
        if rest:
            raise ValueError(f"it has {min(rest)!r}, which {type(self).__name__} has not.")
        self._adapting = bool(FLAG("adapting", adapting))

    def _all_shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        """The arrays of the memory, if the machine has room for them."""
        shapes = self._shapes(channels, kind)
        if self.on_nan != "raise":
            # The last good samples, and for how long a missing one stays in the delay line.
            shapes |= {"last_x": (kind, (channels,)), "last_d": (kind, (1,))}
            shapes |= {"gap": (np.int64, (1,))}
        sizes = {f.name: a for f in fields(self) if is_whole(a := getattr(self, f.name))}
        sizes |= {"channels": channels} if channels > 1 else {}
        signals.require_memory(sizes, sum(prod(shape) for _, shape in shapes.values()))
        return shapes

    def _all_or_nothing(self, run: Callable[..., Any], *arguments: Any) -> Any:
        """Call; an error leaves the filter as it was, and a first block then decides nothing."""
        before = vars(self) | {"_memory": {name: a.copy() for name, a in self._memory.items()}}
        try:
            return run(*arguments)
        except BaseException:
            vars(self).update(before)
            raise

    def _start(self, x: Signal, d: Signal) -> np.dtype[Any]:
        """The kind of numbers, which the first block decides, as it does the channels."""
        if self._kind is not None:
            return self._kind
        initial = self._initial_now
        others = [] if initial is None or initial.dtype.kind != "c" else [initial]
        kind = self._kind = self._wanted or signals.kind_of(x, d, *others)
        channels = self._channels = x.shape[1]
        self._memory = {
            name: np.zeros(shape, dtype)
            for name, (dtype, shape) in self._all_shapes(channels, kind).items()
        }
        if initial is not None:
            if len(initial) != channels:
                raise ValueError(f"weights are for {len(initial)} channels; x has {channels}.")
            self._set_weights(signals.converted(initial, kind, "weights"))
        return kind

    def _filter(self, x: Signal, d: Signal, every: int | None) -> tuple[Signal, Signal]:
        """y and e of a block x (n, channels) and d (n,)."""
        if not len(d):
            return np.empty((2, 0), self._kind or self._wanted or signals.kind_of(x, d))  # type: ignore[return-value]
        kind = self._start(x, d)
        x, d = signals.converted(x, kind, "x"), signals.converted(d, kind, "d")
        learns, missing = np.full(len(d), self._adapting), None
        if self.on_nan == "raise":
            signals.require_finite(x, "x", NOTHING_USED)
            signals.require_finite(d, "d", NOTHING_USED)
        else:
            x, d, gaps, missing = signals.fill_gaps(
                x, d, self.on_nan == "hold", self.taps, self._memory
            )
            learns &= ~gaps
        self._check_block(x)
        y, past = np.empty(len(d), kind), self._memory["past"]
        n, first = 0, self._count
        while n < len(d):
            stop = min(n + self._segment, len(d))
            if every is not None:  # stop where the weights are recorded
                stop = min(stop, n + every - self._count % every)
            line = np.concatenate([past, x[n:stop].T], axis=1)
            past[:] = line[:, stop - n :]
            went = self._adapt(line, d[n:stop], learns[n:stop], y[n:stop])
            if went < stop - n:
                raise DivergenceError(
                    f"{type(self).__name__} diverged at sample {n + went} of this block (sample "
                    f"{first + n + went} of the signal): |y| is far above the signals. The filter "
                    "is as it was before the block. Take a smaller step (for RLS, a larger delta), "
                    "or check the levels of x and d."
                )
            self._count += went
            n = stop
            if every is not None and self._count % every == 0:
                self._records = [*self._records, (self._count, self.weights)]
        with np.errstate(over="ignore", invalid="ignore"):
            e = d - y
        if missing is not None:
            e[missing] = np.nan
        return y, e


def take_setting(rest: dict[str, Any], name: str) -> Any:
    """A setting out of a state: a schedule is its name, and its numbers are beside it."""
    value = rest.pop(name)
    if not isinstance(value, str) or value not in SCHEDULES:
        return value
    parts = [key for key in rest if key.startswith(f"{name}.")]
    return SCHEDULES[value](**{key.partition(".")[2]: rest.pop(key) for key in parts})


def take_array(rest: dict[str, Any], name: str, dtype: Any, shape: tuple[int, ...]) -> Signal:
    """A copy of an array of a state, which must have this dtype and shape, and be finite."""
    given = rest.pop(f"memory.{name}", None)
    if not isinstance(given, np.ndarray) or given.shape != shape or given.dtype != dtype:
        raise ValueError(
            f"'memory.{name}' is {shown(given)}; expected an array of shape {shape} and dtype "
            f"{np.dtype(dtype)}."
        )
    if not np.isfinite(given).all():
        raise ValueError(f"'memory.{name}' has numbers that are not finite.")
    return given.copy(order="C")
