"""Filtered-x LMS, for active noise control."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from adaline.filters._base import Filter
from adaline.filters._first_block import start, undecided_if_refused
from adaline.filters._missing import Frozen
from adaline.filters._settings import (
    Setting,
    absolute_and_relative,
    as_eps,
    below_two,
    positive_or_auto,
)
from adaline.filters._signals import Signal, as_channels, as_numbers, converted, line
from adaline.filters._state import filled
from adaline.kernels.filters import filtered_x as kernels
from adaline.kernels.filters.frequency import peak
from adaline.kernels.filters.guards import BLOWN, DIVERGED, FINE, not_finite


class FilteredXLMS(Filter):
    """Noise control: w + eta conj(e) x_f / (eps + x_f^H x_f), where x_f is x through the path s.

    ::

        noise ----> primary path ------------------------> d  +
          |                                                    ( ) ----> e = d - y
          '--> x --> [ w ] --> u --> secondary path s --> y  -

    The controller's output u reaches the microphone through the secondary path s (loudspeaker and
    air), so the gradient needs the reference filtered by s. y is the sound that arrives, and it is
    **subtracted**: e = d - y, as in every filter here. At a real microphone sounds add up,
    e = d + s' * u: give the path with the opposite sign, secondary_path = -s'.

    `process(x, d)` simulates the whole loop. With a loudspeaker in the loop use `drive` and
    `hear`, sample by sample.

    Parameters
    ----------
    taps : int
    secondary_path : array-like of shape (J,)
        Impulse response of s.
    estimate : array-like, optional
        The model of s that filters x; s itself if not given. The loop diverges if the phase of the
        model is wrong by more than 90 degrees at a frequency of the noise.
    eta : float or "auto", default="auto"
        Above 0 and below 2. A path that delays by D samples allows less, about
        2 sin(pi/(4 D + 2)): a rule of thumb, from one weight with a constant input. Sinusoids
        turned unstable between 0.6 and 1.5 times it (16 taps, D up to 20), white noise above 1.5
        (from D = 1 on). "auto" is a quarter of it; D is where 90 % of the estimate's energy
        has passed.
    eps : float or "auto", default="auto"
        As in NLMS, for x_f.
    weights, dtype, on_nan, history
        As in LMS.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import FilteredXLMS
    >>> x = np.sin(0.3 * np.arange(4000))
    >>> d = 2 * np.sin(0.3 * np.arange(4000) - 1)
    >>> f = FilteredXLMS(taps=8, secondary_path=[0.0, 0.0, 0.7, 0.2])
    >>> y, e = f.process(x, d)
    >>> bool(np.abs(e[-100:]).max() < 1e-3)
    True
    """

    _settings: ClassVar[tuple[str, ...]] = (
        "taps", "secondary_path", "estimate", "eta", "eps", "weights", "dtype", "on_nan",
        "history",
    )  # fmt: skip

    _pending: Signal | None = None  # the reference that the next error belongs to
    secondary_path = Setting()
    estimate = Setting()
    eta = Setting()
    eps = Setting()

    def __init__(
        self,
        taps: int,
        secondary_path: Any,
        estimate: Any = None,
        eta: Any = "auto",
        eps: Any = "auto",
        *,
        weights: Any = None,
        dtype: Any = None,
        on_nan: str = "raise",
        history: int | None = None,
    ) -> None:
        self.secondary_path = _path(secondary_path, "secondary_path")
        self.estimate = None if estimate is None else _path(estimate, "estimate")
        model = self.secondary_path if self.estimate is None else self.estimate
        if not model.any():
            raise ValueError("the secondary path is zero everywhere; nothing could be controlled.")
        self.eta = positive_or_auto("eta", eta)
        self._eta = below_two(
            safe_step(model) / 4 if self.eta == "auto" else self.eta, "FilteredXLMS"
        )
        self.eps = as_eps(eps)
        super().__init__(taps, weights=weights, dtype=dtype, on_nan=on_nan, history=history)

    def drive(self, x: Any) -> Any:
        """The loudspeaker's next sample u for the next reference sample x (one a channel).

        Then `hear` what the microphone measured.
        """
        values = as_channels(np.atleast_1d(as_numbers(x, "x"))[None, :], self._channels)
        if not np.isfinite(values).all():
            raise ValueError(f"x is {x!r}; a filter needs finite samples.")
        with undecided_if_refused(self):
            start(self, values, values[:, 0], values.shape[1])
            assert self._dtype is not None
            X, f = self._lines(converted(values, self._dtype, "x").T)
        u = (self._h * X).sum()
        self._keep(X, f, np.append(self._u, u))
        self._pending = f
        return u

    def hear(self, e: Any) -> None:
        """Adapt to the error e that was measured after the last `drive`."""
        f = self._pending
        if f is None:
            raise ValueError("hear() follows drive(): no sample has been driven since the last.")
        assert self._dtype is not None
        error = converted(np.asarray(as_numbers(e, "e")).reshape(1), self._dtype, "e")[0]
        if not np.isfinite(error):
            raise ValueError(f"e is {e!r}; a filter needs finite samples.")
        self._pending = None
        power = float(np.vdot(f, f).real)
        kernels.follow(self._level, power)
        eps, relative = absolute_and_relative(self.eps)
        by = power + eps + relative * float(self._level[0])
        if self._adapting and by > 0:
            self._h += error * (self._eta / by) * f.conj()
        self._count += 1

    def _allocate(self) -> None:
        assert self._dtype is not None
        assert self._channels is not None
        model = self.secondary_path if self.estimate is None else self.estimate
        self._s = converted(self.secondary_path[::-1], self._dtype, "secondary_path")
        self._model = converted(model, self._dtype, "estimate")
        C, kind = self._channels, self._dtype
        self._h = np.zeros((C, self.taps), kind)
        self._x = np.zeros((C, self.taps - 1), kind)
        self._f = np.zeros((C, self.taps - 1), kind)
        self._raw = np.zeros((C, len(self._model) - 1), kind)  # x before the model
        self._u = np.zeros(len(self._s) - 1, kind)
        self._level = np.zeros(4)
        self._scale = np.zeros(3)  # loudest x and d, and the gain of weights that were set
        self._pending = None

    def _memory(self) -> dict[str, Signal]:
        names = ("h", "x", "f", "raw", "u", "level", "scale")
        return {name: getattr(self, f"_{name}") for name in names}

    def state(self) -> dict[str, Any]:
        """As of every filter; between `drive` and `hear` also the reference that e belongs to."""
        state = super().state()
        return state if self._pending is None else state | {"memory.pending": self._pending.copy()}

    def _resume(self, rest: dict[str, Any]) -> None:
        waiting = rest.pop("memory.pending", None)
        super()._resume(rest)
        if waiting is not None and self._dtype is not None:
            self._pending = np.empty((len(self._h), self.taps), self._dtype)
            filled(self._pending, waiting, "memory.pending")

    def _get_weights(self) -> Signal:
        return np.ascontiguousarray(self._h[:, ::-1].conj())

    def _set_weights(self, W: Signal) -> None:
        self._h[:] = W[:, ::-1].conj()
        self._scale[2] = float(np.abs(W).sum() * np.abs(self._s).sum())
        if W.any():  # no |f|^2 jumps above this level, so weights that the user set are kept
            self._level[2] = np.finfo(np.float64).max

    def _lines(self, x: Signal) -> tuple[Signal, Signal]:
        """x (C, n) and x through the model, each after the samples kept of it."""
        raw = np.concatenate([self._raw, x], axis=1)
        heard = [np.convolve(channel, self._model, "valid") for channel in raw]
        return np.concatenate([self._x, x], axis=1), np.concatenate([self._f, heard], axis=1)

    def _keep(self, X: Signal, f: Signal, u: Signal) -> None:
        """Keep the last samples of each line for the next block."""
        n = X.shape[1] - self._x.shape[1]
        raw = np.concatenate([self._raw, X[:, X.shape[1] - n :]], axis=1)
        self._raw[:] = raw[:, n:]
        self._x[:], self._f[:], self._u[:] = X[:, n:], f[:, n:], u[n:]

    def _advance(self, x: Signal, d: Signal, frozen: Frozen, out: Signal) -> int:
        loud_x, loud_d = peak(x), peak(d)
        channels = len(self._h)
        if not np.isfinite(max(loud_x, loud_d)):
            return not_finite(x, d) or DIVERGED  # finite parts of a complex number may overflow
        h, level = self._h.copy(), self._level.copy()
        top_x, top_d = max(loud_x, self._scale[0]), max(loud_d, self._scale[1])
        X, f = self._lines(x.reshape(len(d), channels).T)
        u = np.concatenate([self._u, np.zeros(len(d), self._u.dtype)])
        learns = frozen == 0 if len(frozen) else np.ones(len(d), np.bool_)
        most = BLOWN * (top_d + self._scale[2] * top_x)
        rule = (float(self._eta), *absolute_and_relative(self.eps), float(most))
        went = kernels.control(
            self._h, X, f, d, self._s, u, out[0], out[1], *rule, self._level, learns
        )
        if went < len(d):
            self._h[:], self._level[:] = h, level
            return 8 * int(went) + DIVERGED
        self._keep(X, f, u)
        self._scale[:2] = top_x, top_d
        self._pending = None
        return FINE


def _path(values: Any, name: str) -> Signal:
    """A read-only copy of an impulse response."""
    path = line(values, name).copy()
    path.setflags(write=False)
    return path


def safe_step(path: Signal) -> float:
    """2 sin(pi/(4 D + 2)), the largest eta for which v(n+1) = v(n) - eta v(n - D) is stable.

    This recursion models a loop with a path of D samples, D where 90 % of its energy has passed.

    >>> round(safe_step(np.array([1.0])), 6), round(safe_step(np.array([0.0, 0.0, 1.0])), 3)
    (2.0, 0.618)
    """
    energy = np.cumsum(np.abs(path / np.abs(path).max()) ** 2)
    delay = int(np.argmax(energy >= 0.9 * energy[-1]))
    return 2.0 * math.sin(math.pi / (4 * delay + 2))
