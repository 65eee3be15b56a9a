"""What a filter does to an impulse and to each frequency."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import number
from adaline.plot import _canvas
from adaline.plot._canvas import Array, Display
from adaline.plot._moving_curves import MovingResponse
from adaline.plot.animation import INTERVAL, MOST_FRAMES, Animation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS = 1024
_STEMS = 200  # taps up to which each is a stem of its own


@dataclass(eq=False, repr=False)
class ResponseDisplay(Display):
    """Impulse response, and the gain of each frequency in decibels.

    Lecture: linear filters, y(n) = w^H x(n): the impulse response is conj(w).

    Attributes
    ----------
    impulse : ndarray of shape (taps,)
    frequencies : ndarray of shape (m,)
        In units of `rate`: cycles a sample, or Hz where a rate was given.
    gain : ndarray of shape (m,)
        20 log10 |H|; -inf where nothing passes.
    truth, truth_gain : ndarray or None
        The same of the system that should be found, where it is known.
    rate : float or None
        Samples a second.
    name : str

    Examples
    --------
    >>> from adaline.plot import ResponseDisplay
    >>> picture = ResponseDisplay.from_weights([0.5, 0.5], rate=8000.0)
    >>> print(picture.claim)
    filter: largest gain 0 dB at 0 Hz
    """

    impulse: NDArray[Any]
    frequencies: Array
    gain: Array
    truth: NDArray[Any] | None
    truth_gain: Array | None
    rate: float | None
    name: str
    panels = 2
    size = (4.4, 3.4)

    @classmethod
    def from_filter(
        cls, filter: Any, *, rate: float | None = None, truth: Any = None, channel: int = 0
    ) -> Self:
        """The weights of a filter as they are now; `channel` chooses one of several references."""
        if not hasattr(filter, "weights"):
            raise TypeError(f"{type(filter).__name__} has no weights; expected a filter.")
        W = np.atleast_2d(filter.weights)
        if not 0 <= channel < len(W):
            raise ValueError(f"channel is {channel}; there are {len(W)}, counted from 0.")
        return cls.from_weights(W[channel], rate=rate, truth=truth, name=type(filter).__name__)

    @classmethod
    def from_weights(
        cls, weights: Any, *, rate: float | None = None, truth: Any = None, name: str = "filter"
    ) -> Self:
        """Weights w (taps,) of y(n) = w^H x(n).

        Parameters
        ----------
        weights : array-like of shape (taps,)
        rate : float, optional
            Samples a second.
        truth : array-like, optional
            The impulse response of the system that the filter should be.
        name : str
        """
        if rate is not None and not 0 < rate < np.inf:
            raise ValueError(f"rate is {rate!r}; expected samples a second, above zero.")
        h = _finite(weights, "weights").conj()
        known = None if truth is None else _finite(truth, "truth")
        whole = np.iscomplexobj(h) or (known is not None and np.iscomplexobj(known))
        size = max(_POINTS, len(h), 0 if known is None else len(known))
        f = np.fft.fftshift(np.fft.fftfreq(size)) if whole else np.fft.rfftfreq(size)
        gains = [None if v is None else _gain(v, size, whole) for v in (h, known)]
        assert gains[0] is not None
        scaled = np.asarray(f * (rate or 1.0), dtype=np.float64)
        return cls(h, scaled, gains[0], known, gains[1], rate, name)

    @property
    def claim(self) -> str:
        top = int(np.argmax(self.gain))
        if np.isneginf(self.gain[top]):
            return f"{self.name}: nothing passes, all weights are zero"
        unit = "Hz" if self.rate else "cycles a sample"
        at = f"{number(self.frequencies[top], 4)} {unit}"
        said = f"{self.name}: largest gain {number(self.gain[top], 3)} dB at {at}"
        if self.truth is not None:
            n = max(len(self.truth), len(self.impulse))
            a, b = (np.pad(v, (0, n - len(v))) for v in (self.impulse, self.truth))
            size = float(np.linalg.norm(b))
            if size:
                said += f"; {100 * float(np.linalg.norm(a - b)) / size:.2g} % off the true response"
        return said

    def animate(
        self,
        weights: Any,
        *,
        truth: Any = None,
        at: Any = None,
        frames: int = MOST_FRAMES,
        interval: int = INTERVAL,
    ) -> Animation:
        """The impulse response and the weights as the filter learns.

        Parameters
        ----------
        weights : array-like of shape (records, taps)
            Weights over time, such as `history` of a filter made with history=20.
        truth : array-like of shape (taps,) or (records, taps), optional
            The system that the filter should be, which may change; by default that of the picture.
        at : array-like of shape (records,), optional
            When each record was taken, such as `history_at` of the filter.
        frames : int, default=60
            The most frames; of more records, as many are taken at equal distances.
        interval : int, default=250
            Milliseconds of a frame.
        """
        return Animation(self, MovingResponse(self, weights, truth, at, frames), interval)

    def _draw(self, axes: list[Axes]) -> None:
        left, right = axes
        for k, (h, gain, words) in enumerate(
            [(self.impulse, self.gain, self.name), (self.truth, self.truth_gain, "true system")]
        ):
            if h is None or gain is None:
                continue
            at, values = np.arange(len(h)), h.real
            look: dict[str, Any] = {"color": _canvas.colour(k), "label": _canvas.plain(words)}
            if len(h) <= _STEMS and k == 0:
                left.vlines(
                    at, np.minimum(values, 0.0), np.maximum(values, 0.0), color=look["color"]
                )
            style = ("o" if k == 0 else "x") if len(h) <= _STEMS else ("-", "--")[k]
            left.plot(at, values, style, markersize=5, **look)
            shown = np.maximum(gain, np.max(gain[np.isfinite(gain)], initial=-300.0) - 100.0)
            right.plot(self.frequencies, shown, ("-", "--")[k], **look)
        _canvas.level(left, 0.0)
        part = " (real part)" if np.iscomplexobj(self.impulse) else ""
        left.set(xlabel="delay, samples", ylabel=f"impulse response{part}")
        left.set_title("Impulse response")
        right.set_xlabel("frequency, Hz" if self.rate else "frequency, cycles a sample")
        right.set_ylabel("gain, dB")
        right.set_title("Gain")
        if self.truth is not None:
            _canvas.legend(left)


def _finite(weights: Any, what: str) -> NDArray[Any]:
    found = np.asarray(weights)
    if found.dtype.kind not in "fciu" or found.ndim != 1 or not found.size:
        raise ValueError(f"{what} have shape {found.shape}; expected numbers, (taps,).")
    if not np.isfinite(found).all():
        raise ValueError(f"{what} hold NaN or infinity; the filter has diverged.")
    return found.astype(np.result_type(found, np.float64))


def _gain(h: NDArray[Any], size: int, whole: bool) -> Array:
    H = np.fft.fftshift(np.fft.fft(h, size)) if whole else np.fft.rfft(h, size)
    with np.errstate(divide="ignore"):
        return np.asarray(20.0 * np.log10(np.abs(H)))
