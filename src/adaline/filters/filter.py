"""The base class of all filters: a delay line that outlives the block, weights, and their state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from math import hypot, prod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from adaline._names import Advises
from adaline.errors import DivergenceError
from adaline.filters.signals import (
    Signal,
    as_channels,
    as_desired,
    as_kind,
    as_numbers,
    as_rows,
    as_sample,
    as_weights,
    converted,
    fill_gaps,
    kind_of,
    require_finite,
    require_memory,
    require_samples,
    zeros,
)
from adaline.filters.state import HISTORY, Shapes, State
from adaline.parameters import FLAG, is_whole
from adaline.results import Result

Learns = NDArray[np.bool_]


class Filter(State, Advises, Result):
    """A transversal filter y(n) = w^H x(n) that may adapt to e(n) = d(n) - y(n).

    x(n) = (x[n], x[n-1], ..., x[n-taps+1]), with zeros before the first sample. The weights of
    several reference channels follow one another. The error is a priori: the filter computes y(n)
    before d(n) changes w.

    A subclass writes one hook, `_adapt`. It works on `self._memory`, arrays by name, of which
    "w" (channels, taps) and "past" (channels, taps - 1) are there already, in the order of time:
    the oldest sample first. Other arrays are added by `_shapes`, other numbers by `_numbers`, and
    settings as fields of a dataclass. In return the filter takes blocks of any size, any kind of
    numbers, missing samples, several channels, rows, a history of weights, and it can be copied
    and saved.

    Examples
    --------
    LMS in plain numpy, the smallest filter of one's own:

    >>> import numpy as np
    >>> from adaline.filters.filter import Filter
    >>> class PlainLMS(Filter):
    ...     def _adapt(self, line, hop, d, learns, y):
    ...         w = self._memory["w"]
    ...         for n in range(len(d)):
    ...             x = line[:, n * hop : n * hop + self.taps]  # the oldest sample first
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

    _segment: ClassVar[int] = 8192  # samples filtered at a time, whose line stays in the cache
    _takes_rows: ClassVar[bool] = True
    _remedy: ClassVar[str] = "Take a smaller step"  # what helps against divergence

    def __post_init__(self, weights: Any, dtype: Any, history: Any) -> None:
        self._all_shapes(1, np.dtype(np.float64))  # refuses sizes beyond memory
        self._every = HISTORY("history", history)
        self._wanted = None if dtype is None else as_kind(dtype)
        self._initial = None if weights is None else as_weights(weights, self.taps)
        self._adapting = True
        self.reset()

    # Hooks: what a subclass writes.

    def _shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        """The arrays of the memory, which begin as zeros."""
        return {"w": (kind, (channels, self.taps)), "past": (kind, (channels, self.taps - 1))}

    def _adapt(self, line: Signal, hop: int, d: Signal, learns: Learns, y: Signal) -> int:
        """Filter N samples and adapt: fill y, change `_memory` and `_level`.

        x(n) begins at line[:, n * hop]: hop is 1 for a delay line, line = [past, x], and `taps`
        for rows. Only samples with learns[n] may change the weights. `samples` counts those before.
        Returns N or, where a sample n < N diverged, n; the filter is then put back.
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
        W = self._first_weights() if self._kind is None else self._get_weights()
        return W[0] if len(W) == 1 else W

    @weights.setter
    def weights(self, value: Any) -> None:
        W = as_weights(value, self.taps)
        if self._kind is None:
            self._initial_now, self._channels = W, len(W)
        elif len(W) != self._channels:
            raise ValueError(
                f"weights are for {len(W)} channels; this filter has {self._channels}."
            )
        else:
            self._set_weights(converted(W, self._kind, "weights"))

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """The kind of numbers; None before the first block decides."""
        return self._kind or self._wanted

    @property
    def history(self) -> Signal:
        """Recorded weights, (records, taps), or (records, channels, taps) for several channels."""
        return np.array(self._records) if self._records else np.empty((0, *self.weights.shape))

    @property
    def history_at(self) -> NDArray[np.int64]:
        """After how many samples each record of `history` was taken."""
        return np.array(self._recorded_at, dtype=np.int64)

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

    def reset(self) -> Self:
        """Forget everything but the settings: initial weights, empty delay line, sample 0."""
        self._initial_now = self._initial
        self._channels = None if self._initial is None else len(self._initial)
        self._kind, self._memory = None, {}
        self._level = self._numbers()
        self._count = 0
        self._records: list[Signal] = []
        self._recorded_at: list[int] = []
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
        every = self._every if history is None else HISTORY("history", history)
        x = as_channels(as_numbers(x, "x"), self._channels)
        if d is None and self._adapting:
            raise ValueError("d is missing; give the desired signal, or set adapting = False.")
        desired = np.zeros(len(x), x.dtype) if d is None else as_desired(d, len(x))
        y, e = self._all_or_nothing(self._filter, x, desired, every)
        return y, (e[:0] if d is None else e)

    def process_rows(self, U: Any, d: Any) -> tuple[Signal, Signal]:
        """As `process`, where the rows of U (n, taps) are the x(n), and there is no delay line.

        Several channels follow one another in a row: U (n, channels * taps). Rows must be finite. A
        filter with `history`, or with `on_nan` other than "raise", takes no rows.
        """
        if not self._takes_rows:
            raise TypeError(f"{type(self).__name__} lives on a delay line and takes no rows.")
        if self._every is not None or self.on_nan != "raise":
            given = f"history={self._every}" if self._every else f"on_nan={self.on_nan!r}"
            raise ValueError(
                f"this filter has {given}, which rows do not know: they have no delay line to fill "
                "gaps in, and nothing is recorded. Make the filter without history and on_nan."
            )
        U = as_rows(U, self.taps, self._channels)
        y, e = self._all_or_nothing(self._filter_rows, U, as_desired(d, len(U), "U"))
        return y, e

    def step(self, x: Any, d: Any) -> tuple[Any, Any]:
        """Filter one sample: x a number (or one for each channel), d a number; returns (y, e)."""
        y, e = self.process(*as_sample(x, d))
        return y[0], e[0]

    # How it works.

    def _first_weights(self) -> Signal:
        if self._initial_now is not None:
            return self._initial_now.copy()
        return np.zeros((1, self.taps), self._wanted or np.float64)

    def _all_shapes(self, channels: int, kind: np.dtype[Any]) -> Shapes:
        """The arrays of the memory, if the machine has room for them."""
        shapes = self._shapes(channels, kind)
        sizes = {f.name: a for f in fields(self) if is_whole(a := getattr(self, f.name))}
        sizes |= {"channels": channels} if channels > 1 else {}
        require_memory(sizes, sum(prod(shape) for _, shape in shapes.values()))
        if self.on_nan == "raise":
            return shapes
        # The last good samples, and for how long a missing one stays in the delay line.
        gaps = {"last_x": (kind, (channels,)), "last_d": (kind, (1,)), "gap": (np.int64, (1,))}
        return shapes | gaps

    def _all_or_nothing(self, run: Callable[..., Any], *arguments: Any) -> Any:
        """Call; an error leaves the filter as it was, and a first block then decides nothing."""
        before = dict(vars(self))
        before["_memory"] = {name: a.copy() for name, a in self._memory.items()}
        try:
            return run(*arguments)
        except BaseException:
            vars(self).update(before)
            raise

    def _start(self, x: Signal, d: Signal, channels: int) -> np.dtype[Any]:
        """The kind of numbers, which the first block decides, as it does the channels."""
        if self._kind is not None:
            return self._kind
        initial = self._initial_now
        others = [] if initial is None or initial.dtype.kind != "c" else [initial]
        kind = self._wanted or kind_of(x, d, *others)
        for signal, name in ((x, "x"), (d, "d")):
            converted(signal[:0], kind, name)
        if initial is not None and len(initial) != channels:
            raise ValueError(f"weights are for {len(initial)} channels; x has {channels}.")
        shapes = self._all_shapes(channels, kind)
        self._channels, self._kind = channels, kind
        self._memory = {name: zeros(*shape) for name, shape in shapes.items()}
        if initial is not None:
            self._set_weights(converted(initial, kind, "weights"))
        return kind

    def _filter(self, x: Signal, d: Signal, every: int | None) -> tuple[Signal, Signal]:
        """y and e of a block x (n, channels) and d (n,) of any kind of numbers."""
        if not len(d):
            return np.empty((2, 0), self._kind or self._wanted or kind_of(x, d))  # type: ignore[return-value]
        kind = self._start(x, d, x.shape[1])
        x, d = converted(x, kind, "x"), converted(d, kind, "d")
        learns, missing = np.full(len(d), self._adapting), None
        if self.on_nan != "raise":
            x, d, gaps, missing = fill_gaps(x, d, self.on_nan == "hold", self.taps, self._memory)
            learns &= ~gaps
        self._check_block(x)
        y, e = np.empty((2, len(d)), kind)
        n, first = 0, self._count
        while n < len(d):
            stop = min(n + self._segment, len(d))
            if every is not None:  # stop where the weights are recorded
                stop = min(stop, n + every - self._count % every)
            line = np.concatenate([self._memory["past"], x[n:stop].T], axis=1)
            went = self._adapt(line, 1, d[n:stop], learns[n:stop], y[n:stop])
            if went < stop - n:
                require_samples(x, d)
                raise self._diverged(n + went, first)
            self._count += went
            self._memory["past"][:] = line[:, stop - n :]
            np.subtract(d[n:stop], y[n:stop], out=e[n:stop])
            n = stop
            if every is not None and self._count % every == 0:
                self._records = [*self._records, self.weights]
                self._recorded_at = [*self._recorded_at, self._count]
        # A sample that is not finite makes e so, too: a look at e is quicker than at x and d.
        with np.errstate(over="ignore", invalid="ignore"):
            if not np.isfinite(e.sum()):
                require_samples(x, d)
        if missing is not None:
            e[missing] = np.nan
        return y, e

    def _filter_rows(self, U: Signal, d: Signal) -> tuple[Signal, Signal]:
        """The same for rows U (n, channels * taps)."""
        if not len(d):
            return np.empty((2, 0), kind_of(U, d))  # type: ignore[return-value]
        kind = self._start(U, d, U.shape[1] // self.taps)
        U, d = converted(U, kind, "U"), converted(d, kind, "d")
        for name, signal in (("U", U), ("d", d)):
            require_finite(signal, name, "Nothing was used: leave out such rows.")
        rows = U.reshape(len(d), -1, self.taps)[:, :, ::-1]  # the oldest first
        line = np.ascontiguousarray(rows.transpose(1, 0, 2)).reshape(rows.shape[1], -1)
        y = np.empty(len(d), kind)
        went = self._adapt(line, self.taps, d, np.full(len(d), self._adapting), y)
        if went < len(d):
            raise self._diverged(went, self._count)
        self._count += went
        return y, d - y

    def _diverged(self, place: int, first: int) -> DivergenceError:
        """The error at this place of a block that begins at sample `first`."""
        return DivergenceError(
            f"{type(self).__name__} diverged at sample {place} of this block (sample "
            f"{first + place} of the signal): its output left all proportion to the signals. The "
            f"filter is as it was before the block. {self._remedy}, or check the levels of x and d."
        )
