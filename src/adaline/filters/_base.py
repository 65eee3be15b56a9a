"""What users see of every filter: blocks of any size, weights, and state."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy import empty, ndarray
from numpy.typing import NDArray

from adaline.filters._checks import Setting, every_so_many, flag
from adaline.filters._core import Core
from adaline.filters._guards import (
    BAD_D,
    BAD_X,
    DIVERGED,
    FINE,
    NOT_FROZEN,
    RATE_TOO_LARGE,
    Block,
    Frozen,
    not_finite,
)
from adaline.filters._signals import (
    Signal,
    as_channels,
    as_desired,
    as_numbers,
    converted,
    kind_of,
)
from adaline.filters._state import pack, unpack

__all__ = [
    "BAD_D",
    "BAD_X",
    "DIVERGED",
    "FINE",
    "RATE_TOO_LARGE",
    "Block",
    "Filter",
    "Frozen",
    "Setting",
]


class Filter(Core):
    """A transversal filter y(n) = w^H x(n) that may adapt to e(n) = d(n) - y(n).

    x(n) = (x[n], x[n-1], ..., x[n-taps+1]), zeros before the first sample; several reference
    channels lie side by side. The error is a priori: y(n) is made before w sees d(n).
    """

    @property
    def channels(self) -> int | None:
        """How many reference channels; None before the first block decides."""
        return self._channels

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The kind of numbers; None before the first block decides."""
        return self._dtype or self._wanted

    @property
    def samples(self) -> int:
        """How many samples have gone through."""
        return self._count

    @property
    def weights(self) -> Block:
        """w now, a copy: (taps,), or (channels, taps) for several channels. May be set."""
        W = self._first_weights() if self._dtype is None else self._get_weights()
        return W[0] if len(W) == 1 else W

    @weights.setter
    def weights(self, value: Any) -> None:
        W = self._as_weights(value)
        if self._dtype is None:
            self._initial_now = W
            self._channels = len(W)
        else:
            self._set_weights(self._fitting(W))

    @property
    def adapting(self) -> bool:
        """Whether the weights follow the error; false filters with the weights as they are."""
        return self._adapting

    @adapting.setter
    def adapting(self, on: bool) -> None:
        self._adapting = flag("adapting", on)
        if self._dtype is not None:
            self._adapt(self._adapting)
        self._look()

    @property
    def history(self) -> Block:
        """Weights recorded every `history` samples, (records, taps) or with channels between."""
        return np.array(self._records) if self._records else np.empty((0, *self.weights.shape))

    @property
    def history_at(self) -> NDArray[np.int64]:
        """After how many samples each record of `history` was taken."""
        return np.array(self._recorded_at, dtype=np.int64)

    def reset(self) -> Self:
        """Forget everything but the settings: initial weights, empty delay line, sample 0."""
        self._dtype = None
        self._restart()
        return self

    def process(self, x: Any, d: Any = None, *, history: int | None = None) -> tuple[Block, Block]:
        """Filter the next block, of any length, and adapt to the desired signal.

        Parameters
        ----------
        x : array-like of shape (n,) or (n, channels)
            The reference, what is filtered.
        d : array-like of shape (n,), optional
            The desired signal; may be left out while `adapting` is false.
        history : int, optional
            Record the weights every so many samples, in `history`.

        Returns
        -------
        y, e : ndarray of shape (n,)
            Output and error before the update, e = d - y; without d, e is empty.
        """
        # The short way: a small block should not spend its time in questions.
        kind = self._quick
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
                    raise self._complaint(found, x[:, None], d)
                self._count += n
                return out[0], out[1]
        return self._process(x, d, every_so_many(history) or self._every)

    def process_rows(self, U: Any, d: Any) -> tuple[Block, Block]:
        """The same where x(n) are the rows of U (n, taps), and no delay line is kept.

        Several channels lie one after the other: U (n, channels * taps). Rows that are not finite
        are refused; a filter with `history` or with another `on_nan` than "raise" takes no rows.
        """
        if self._every is not None or self.on_nan != "raise":
            given = f"history={self._every}" if self._every else f"on_nan={self.on_nan!r}"
            raise ValueError(
                f"this filter has {given}, which rows do not know: they have no delay line to fill "
                "gaps in, and nothing is recorded. Make the filter without history and on_nan."
            )
        if type(self)._advance_rows is Core._advance_rows:
            self._advance_rows(U, d, NOT_FROZEN, U)
        U = as_numbers(U, "U")
        if U.ndim != 2 or U.shape[1] % self.taps or U.shape[1] == 0:
            raise ValueError(
                f"U has shape {U.shape}; expected rows of {self.taps} taps (times the channels)."
            )
        channels = U.shape[1] // self.taps
        if self._channels not in (None, channels):
            raise ValueError(
                f"U has rows of {U.shape[1]}; this filter has {self._channels} channels of "
                f"{self.taps} taps."
            )
        d = as_desired(d, len(U), "U")
        if len(U) == 0:
            return np.empty(0, kind_of(U, d)), np.empty(0, kind_of(U, d))
        with self._undecided_if_refused():
            return self._rows_through(U, d, channels)

    def step(self, x: Any, d: Any) -> tuple[Any, Any]:
        """One sample: x a number (one a channel), d a number; answers (y, e)."""
        sample = as_numbers(x, "x")
        # One channel as a vector: the short way of `process`.
        sample = sample.reshape(1) if sample.size == 1 else np.atleast_1d(sample)[None, :]
        desired = as_numbers(d, "d")
        if sample.size == 0 or desired.size != 1 or sample.ndim > 2:
            raise ValueError(
                f"x has shape {np.shape(x)} and d has shape {desired.shape}; step() takes one "
                "sample: a number for each channel of x, and a number d."
            )
        y, e = self.process(sample, desired.reshape(1))
        return y[0], e[0]

    def state(self) -> dict[str, Any]:
        """All that the future depends on: arrays, numbers and strings, safe to write to a file."""
        state = {"filter": type(self).__name__, "format": 1, "adapting": self._adapting}
        state |= pack({name: self._setting(name) for name in self._settings})
        if self._dtype is not None:
            state |= {"kind": str(self._dtype), "channels": self._channels, "count": self._count}
            state |= {f"memory.{name}": a.copy() for name, a in self._memory().items()}
            state["memory.held"] = self._held.copy()
        elif self._initial_now is not None:
            state["memory.weights"] = self._initial_now.copy()
        return state

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The filter that `state()` told of; it goes on bit for bit. Records are not kept."""
        settings, rest = unpack(state, cls.__name__, cls._settings)
        try:
            filter = cls(**settings)
        except TypeError as wrong:  # one is missing, or of a kind that no filter has
            raise ValueError(f"state has no settings of a {cls.__name__}: {wrong}") from None
        filter._resume(rest)
        return filter

    def __getstate__(self) -> dict[str, Any]:
        """What `copy` and `pickle` keep: the state, the records, and what users have added.

        The memory holds views of itself, which would come back as arrays of their own.
        """
        kept = {"_state": self.state(), "_records": [w.copy() for w in self._records]}
        kept["_recorded_at"] = list(self._recorded_at)
        own = {name for name in vars(self) if name.startswith("_")} | set(self._settings)
        return kept | {name: value for name, value in vars(self).items() if name not in own}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        vars(self).update(vars(type(self).from_state(kept["_state"])))
        vars(self).update({name: value for name, value in kept.items() if name != "_state"})

    def __repr__(self) -> str:
        shown = [(name, self._setting(name)) for name in self._settings if name != "weights"]
        told = [f"{name}={value!r}" for name, value in shown if value is not None]
        return f"{type(self).__name__}({', '.join(told)})"

    def _process(self, x: Any, d: Any, every: int | None) -> tuple[Block, Block]:
        """The long way: any input, any setting."""
        x = as_channels(as_numbers(x, "x"), self._channels)
        n = len(x)
        if d is None and self._adapting:
            raise ValueError("d is missing; give the desired signal, or set adapting = False.")
        desired = np.zeros(n, x.dtype) if d is None else as_desired(d, n)
        if n == 0:
            kind = self._dtype or self._wanted or kind_of(x, desired)
            return np.empty(0, kind), np.empty(0, kind)
        with self._undecided_if_refused():
            y, e = self._checked(x, desired, every)
        return y, e[:0] if d is None else e

    def _rows_through(self, U: Signal, d: Signal, channels: int) -> tuple[Block, Block]:
        """The same for rows."""
        self._start(U, d, channels)
        assert self._dtype is not None
        U, d = converted(U, self._dtype, "U"), converted(d, self._dtype, "d")
        for name, signal in (("U", U), ("d", d)):
            if not np.isfinite(signal).all():
                raise ValueError(not_finite(name, signal, "Nothing was used: leave out such rows."))
        out = np.empty((2, len(d)), self._dtype)
        frozen = NOT_FROZEN if self._adapting else np.ones(len(d), np.uint8)
        found = self._advance_rows(U, d, frozen, out)
        if found:
            raise self._complaint(found, U, d)
        self._count += len(d)
        return out[0], out[1]
