"""The base class of all filters: blocks of any size, weights, state, and the hooks of a filter."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy import empty, ndarray
from numpy.typing import NDArray

from adaline._names import Advises
from adaline.filters._first_block import fitting, start, undecided_if_refused
from adaline.filters._history import History, pieces
from adaline.filters._missing import NOT_FROZEN, Frozen, cleaned
from adaline.filters._refusals import refusal
from adaline.filters._rows import check_rows_allowed, processed_rows
from adaline.filters._settings import Setting, every_so_many, fits, flag, one_of, whole
from adaline.filters._signals import (
    Signal,
    as_channels,
    as_desired,
    as_kind,
    as_numbers,
    as_sample,
    as_weights,
    converted,
    kind_of,
)
from adaline.filters._state import check_parts, restore, started, state_of, unpack
from adaline.results import Result


class Filter(Advises, Result):
    """A transversal filter y(n) = w^H x(n) that may adapt to e(n) = d(n) - y(n).

    x(n) = (x[n], x[n-1], ..., x[n-taps+1]), with zeros before the first sample. The weights of
    several reference channels follow one another. The error is a priori: the filter computes y(n)
    before d(n) changes w.

    A subclass writes five hooks: `_allocate`, `_memory`, `_advance`, `_get_weights` and
    `_set_weights`; where it can, also `_advance_rows`. `_settings` names the parameters of its
    constructor. In return it takes blocks of any size, any kind of numbers, missing samples,
    several channels, a history of weights, and a state.

    Examples
    --------
    LMS in plain numpy, the smallest filter of one's own:

    >>> import numpy as np
    >>> from adaline.filters._base import Filter
    >>> from adaline.kernels.filters.guards import FINE, not_finite
    >>> class PlainLMS(Filter):
    ...     def _allocate(self):
    ...         self._w = np.zeros((self._channels, self.taps), self._dtype)
    ...         self._x = np.zeros_like(self._w)  # the delay line, newest sample first
    ...
    ...     def _memory(self):
    ...         return {"w": self._w, "x": self._x}
    ...
    ...     def _get_weights(self):
    ...         return self._w.copy()
    ...
    ...     def _set_weights(self, W):
    ...         self._w[:] = W
    ...
    ...     def _advance(self, x, d, frozen, out):
    ...         if found := not_finite(x, d):
    ...             return found
    ...         for n, sample in enumerate(x.reshape(len(d), -1)):
    ...             self._x[:] = np.column_stack([sample, self._x[:, :-1]])
    ...             y = np.vdot(self._w, self._x)
    ...             e = d[n] - y
    ...             out[:, n] = y, e
    ...             if not (len(frozen) and frozen[n]):
    ...                 self._w += 0.05 * np.conj(e) * self._x
    ...         return FINE
    >>> x = np.random.default_rng(0).standard_normal(2000)
    >>> f = PlainLMS(taps=3)
    >>> y, e = f.process(x, np.convolve(x, [1.0, -0.5])[:2000])
    >>> f.weights.round(3) + 0.0
    array([ 1. , -0.5,  0. ])
    """

    _settings: ClassVar[tuple[str, ...]] = ("taps", "weights", "dtype", "on_nan", "history")
    _repeated: ClassVar[int] = 0  # numbers at the beginning of `head` that repeat the settings
    _remedy: ClassVar[str] = "Take a smaller step"  # what helps against divergence
    _channels: int | None
    _initial_now: Signal | None
    _fast_dtype: np.dtype[Any] | None

    taps = Setting()
    on_nan = Setting()

    def __init__(
        self,
        taps: int,
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.taps = whole(taps, "taps", 1)
        self.on_nan = one_of("on_nan", on_nan, ("raise", "hold", "skip"))
        self._check_room(1)
        self._every = every_so_many(history)
        self._wanted = None if dtype is None else as_kind(dtype)
        self._initial = None if weights is None else as_weights(weights, self.taps)
        self._adapting = True
        self._dtype: np.dtype[Any] | None = None
        self._restart()

    # Hooks: what a subclass writes.

    def _allocate(self) -> None:
        """Make the memory for `_dtype` and `_channels`, with zero weights."""
        raise NotImplementedError

    def _memory(self) -> dict[str, Signal]:
        """Every array that the next block depends on: the arrays themselves, not copies."""
        raise NotImplementedError

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        """Filter n samples of x, channel by channel in each, and adapt; out (2, n) gets y and e.

        Answers FINE, or 8 * sample + what is wrong at that sample (see `kernels.filters.guards`),
        with the memory as before the block. frozen is empty, or (n,): no update where it is 1.
        """
        raise NotImplementedError

    def _advance_rows(self, U: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        """As `_advance`, with the rows of U (n, channels * taps) in place of the delay line."""
        raise TypeError(f"{type(self).__name__} lives on a delay line and takes no rows.")

    def _get_weights(self) -> Signal:
        """The weights now, (channels, taps)."""
        raise NotImplementedError

    def _set_weights(self, W: Signal) -> None:
        """Make W (channels, taps) the weights."""
        raise NotImplementedError

    def _adapt(self, on: bool) -> None:
        """Called when `adapting` changes; `_advance` then gets frozen samples as well."""

    def _numbers_of(self, channels: int) -> dict[str, int]:
        """About how many numbers the memory holds, for each parameter that decides it."""
        return {"taps": 8 * channels * self.taps}

    def _rate_error(self, x: Signal) -> ValueError:
        """The error where `_advance` found RATE_TOO_LARGE."""
        return ValueError("The step is too large for this signal.")

    # What users see.

    @property
    def channels(self) -> int | None:
        """The number of reference channels; None before the first block decides."""
        return self._channels

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The kind of numbers; None before the first block decides."""
        return self._dtype or self._wanted

    @property
    def samples(self) -> int:
        """How many samples the filter has processed."""
        return self._count

    @property
    def weights(self) -> Signal:
        """w now, a copy: (taps,), or (channels, taps) for several channels. May be set."""
        W = self._first_weights() if self._dtype is None else self._get_weights()
        return W[0] if len(W) == 1 else W

    @weights.setter
    def weights(self, value: Any) -> None:
        W = as_weights(value, self.taps)
        if self._dtype is None:
            self._initial_now = W
            self._channels = len(W)
        else:
            self._set_weights(fitting(self, W))

    @property
    def adapting(self) -> bool:
        """Whether the filter adapts its weights; if False, it filters with fixed weights."""
        return self._adapting

    @adapting.setter
    def adapting(self, on: bool) -> None:
        self._adapting = flag("adapting", on)
        if self._dtype is not None:
            self._adapt(self._adapting)
        self._choose_path()

    @property
    def history(self) -> Signal:
        """Recorded weights, (records, taps), or (records, channels, taps) for several channels."""
        return self._history.weights(self.weights.shape)

    @property
    def history_at(self) -> NDArray[np.int64]:
        """After how many samples each record of `history` was taken."""
        return self._history.places()

    def reset(self) -> Self:
        """Forget everything but the settings: initial weights, empty delay line, sample 0."""
        self._dtype = None
        self._restart()
        return self

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
        # The fast path: checks of any input would take longer than filtering a small block.
        kind = self._fast_dtype
        if (
            kind is not None
            and history is None
            and type(x) is ndarray
            and type(d) is ndarray
            and x.dtype is kind
            and d.dtype is kind
            and x.flags.carray
            and d.flags.carray
            and x.ndim == 1 == d.ndim
        ):
            n = x.size
            if n == d.size and n > 0:
                out = empty((2, n), kind)
                found = self._advance(x, d, NOT_FROZEN, out)
                if found:
                    raise refusal(self, found, x[:, None], d)
                self._count += n
                return out[0], out[1]
        return self._process(x, d, every_so_many(history) or self._every)

    def process_rows(self, U: Any, d: Any) -> tuple[Signal, Signal]:
        """As `process`, where the rows of U (n, taps) are the x(n), and there is no delay line.

        Several channels follow one another in a row: U (n, channels * taps). Rows must be finite. A
        filter with `history`, or with `on_nan` other than "raise", takes no rows.
        """
        check_rows_allowed(self)
        if type(self)._advance_rows is Filter._advance_rows:
            self._advance_rows(U, d, NOT_FROZEN, U)  # refused before U is looked at
        return processed_rows(self, U, d)

    def step(self, x: Any, d: Any) -> tuple[Any, Any]:
        """Filter one sample: x a number (or one for each channel), d a number; returns (y, e)."""
        y, e = self.process(*as_sample(x, d))
        return y[0], e[0]

    def state(self) -> dict[str, Any]:
        """All that the next outputs depend on: arrays, numbers and strings, safe in any file."""
        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The filter that gave this `state()`; it continues bit for bit, without the history."""
        settings, rest = unpack(state, cls.__name__, cls._settings)
        try:
            filter = cls(**settings)
        except TypeError as wrong:  # one is missing, or of a kind that no filter has
            raise ValueError(f"state has no settings of a {cls.__name__}: {wrong}") from None
        filter._resume(rest)
        return filter

    def __getstate__(self) -> dict[str, Any]:
        """What `copy` and `pickle` keep: the state, the history, and attributes of the user.

        Not the memory itself: it holds views of its own arrays, which would become copies.
        """
        kept = {"_state": self.state(), "_history": self._history.copy()}
        own = {name for name in vars(self) if name.startswith("_")} | set(self._settings)
        return kept | {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(vars(type(self).from_state(kept["_state"])))
        vars(self).update({name: value for name, value in kept.items() if name != "_state"})

    def __repr__(self) -> str:
        shown = [(name, self._setting(name)) for name in self._settings if name != "weights"]
        told = [f"{name}={value!r}" for name, value in shown if value is not None]
        return f"{type(self).__name__}({', '.join(told)})"

    def _setting(self, name: str) -> Any:
        own: dict[str, Any] = {"weights": self._initial, "history": self._every}
        own["dtype"] = None if self._wanted is None else str(self._wanted)
        return own[name] if name in own else getattr(self, name)

    def _restart(self) -> None:
        self._initial_now = self._initial
        self._channels = None if self._initial is None else len(self._initial)
        self._count = 0
        self._history = History()
        self._choose_path()

    def _choose_path(self) -> None:
        """Decide whether blocks may take the fast path of `process`."""
        plain = self._adapting and self.on_nan == "raise" and self._every is None
        self._fast_dtype: np.dtype[Any] | None = (
            self._dtype if plain and self._channels == 1 else None
        )

    def _first_weights(self) -> Signal:
        if self._initial_now is not None:
            return self._initial_now.copy()
        return np.zeros((1, self.taps), self._wanted or np.float64)

    def _check_room(self, channels: int) -> None:
        for name, numbers in self._numbers_of(channels).items():
            fits(name, getattr(self, name), numbers)

    def _begin(self, kind: np.dtype[Any], channels: int) -> None:
        self._check_room(channels)
        self._dtype, self._channels = kind, channels
        # For on_nan: the last good sample of each channel and of d, and how long to stay frozen.
        self._held = np.zeros(channels + 2, kind)
        self._allocate()
        self._adapt(self._adapting)
        self._choose_path()

    def _resume(self, rest: dict[str, Any]) -> None:
        """Take over the memory of a state, which may come from anywhere."""
        owner = type(self).__name__
        self._adapting = flag("adapting", rest["adapting"])
        if "kind" not in rest:
            check_parts(rest, owner, {"adapting"}, {"memory.weights"})
            if "memory.weights" in rest:
                self.weights = rest["memory.weights"]
        else:
            kind, channels, self._count = started(rest)
            self._begin(kind, channels)
            restore(self._memory() | {"held": self._held}, rest, owner, self._repeated)
        self._choose_path()

    def _process(self, x: Any, d: Any, every: int | None) -> tuple[Signal, Signal]:
        """`process` for any input and any setting."""
        x = as_channels(as_numbers(x, "x"), self._channels)
        n = len(x)
        if d is None and self._adapting:
            raise ValueError("d is missing; give the desired signal, or set adapting = False.")
        desired = np.zeros(n, x.dtype) if d is None else as_desired(d, n)
        if n == 0:
            kind = self._dtype or self._wanted or kind_of(x, desired)
            return np.empty(0, kind), np.empty(0, kind)
        with undecided_if_refused(self):
            y, e = self._checked(x, desired, every)
        return y, e[:0] if d is None else e

    def _checked(self, x: Signal, d: Signal, every: int | None) -> tuple[Signal, Signal]:
        """Outputs and errors of a block whose shapes are right."""
        start(self, x, d, x.shape[1])
        assert self._dtype is not None
        x, d = converted(x, self._dtype, "x"), converted(d, self._dtype, "d")
        block = cleaned(x, d, self.on_nan, self.taps, self._held)
        frozen = block.frozen if self._adapting else np.ones(len(d), np.uint8)
        out = np.empty((2, len(d)), self._dtype)
        self._in_pieces(block.x, block.d, frozen, out, every)
        self._held[:] = block.held
        out[1, block.unknown] = np.nan
        return out[0], out[1]

    def _in_pieces(
        self, x: Signal, d: Signal, frozen: Frozen, out: Signal, every: int | None
    ) -> None:
        """One piece, or pieces that end where the weights are recorded; all of them or none."""
        n, count = len(d), self._count
        before = {} if every is None else {k: a.copy() for k, a in self._memory().items()}
        cuts, records = pieces(count, n, every), []
        for piece in cuts:
            part = out if len(cuts) == 1 else np.empty((2, piece.stop - piece.start), out.dtype)
            found = self._advance(x[piece].reshape(-1), d[piece], frozen[piece], part)
            out[:, piece] = part
            if found:
                for name, a in self._memory().items():
                    a[...] = before.get(name, a)
                raise refusal(self, found + 8 * piece.start, x, d)
            if every is not None and (count + piece.stop) % every == 0:
                records.append((count + piece.stop, self.weights))
        self._count += n
        self._history.add(records)
