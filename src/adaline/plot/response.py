"""Impulse and frequency responses of filters, as they are and as they learn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import number
from adaline.plot import draw, inputs
from adaline.plot.animation import FRAME_INTERVAL, MAX_FRAMES, Animation, Show, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array

MIN_FREQUENCIES = 1024  # of a gain curve; any number that fills a screen
MAX_STEMS = 200  # taps up to which each is drawn as a stem
MAX_WEIGHT_CURVES = 6  # more cannot be distinguished


@dataclass(eq=False, repr=False)
class ResponseDisplay(Display):
    """Impulse response of a filter, and its gain at each frequency in decibels.

    y(n) = w^H x(n), so that the impulse response is conj(w).

    Attributes
    ----------
    impulse : ndarray of shape (taps,)
    frequencies : ndarray of shape (m,)
        In units of `rate`: cycles per sample, or Hz where a rate is given.
    gain : ndarray of shape (m,)
        20 log10 |H|; -inf where nothing passes.
    truth, truth_gain : ndarray or None
        The same of the system to be identified, where it is known.
    rate : float or None
        Samples per second.
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
        """The current weights of a filter; `channel` selects one of several references."""
        if not hasattr(filter, "weights"):
            raise TypeError(f"{type(filter).__name__} has no weights; expected a filter.")
        W = np.atleast_2d(filter.weights)
        w = W[inputs.check_index(channel, len(W), "channel")]
        return cls.from_weights(w, rate=rate, truth=truth, name=type(filter).__name__)

    @classmethod
    def from_weights(
        cls, weights: Any, *, rate: float | None = None, truth: Any = None, name: str = "filter"
    ) -> Self:
        """Weights w (taps,) of y(n) = w^H x(n).

        Parameters
        ----------
        weights : array-like of shape (taps,)
        rate : float, optional
            Samples per second.
        truth : array-like, optional
            The impulse response of the system to be identified.
        name : str
        """
        unit = inputs.check_rate(rate)
        h = _check_weights(weights, "weights", 1).conj()
        system = None if truth is None else _check_weights(truth, "truth", 1)
        n = max(MIN_FREQUENCIES, len(h), 0 if system is None else len(system))
        both_sides = any(v is not None and np.iscomplexobj(v) for v in (h, system))
        f = np.fft.fftshift(np.fft.fftfreq(n)) if both_sides else np.fft.rfftfreq(n)
        truth_gain = None if system is None else _gain(system, n, both_sides)
        return cls(
            h,
            np.asarray(f * unit, dtype=np.float64),
            _gain(h, n, both_sides),
            system,
            truth_gain,
            rate,
            name,
        )

    @property
    def claim(self) -> str:
        top = int(np.argmax(self.gain))
        if np.isneginf(self.gain[top]):
            return f"{self.name}: nothing passes, all weights are zero"
        unit = "Hz" if self.rate else "cycles per sample"
        words = f"{self.name}: largest gain {number(self.gain[top], 3)} dB at "
        words += f"{number(self.frequencies[top], 4)} {unit}"
        off = None if self.truth is None else _misalignment(self.impulse, self.truth)
        return words if off is None else f"{words}; {off:.2g} % off the true response"

    def animate(
        self,
        weights: Any,
        *,
        truth: Any = None,
        at: Any = None,
        frames: int = MAX_FRAMES,
        interval: int = FRAME_INTERVAL,
    ) -> Animation:
        """The impulse response and the weights as the filter learns.

        Parameters
        ----------
        weights : array-like of shape (records, taps)
            Weights over time, such as `history` of a filter created with history=20.
        truth : array-like of shape (taps,) or (records, taps), optional
            The system to be identified, which may change; by default that of the picture.
        at : array-like of shape (records,), optional
            When each record was taken, such as `history_at` of the filter.
        frames : int, default=60
            The largest number of frames; longer histories are sampled evenly.
        interval : int, default=250
            Milliseconds per frame.
        """
        W = _check_weights(weights, "weights", 2)
        truth = self.truth if truth is None else truth
        T = None if truth is None else _check_weights(np.atleast_2d(truth), "truth", 2)
        if T is not None and len(T) not in (1, len(W)):
            raise ValueError(
                f"truth has {len(T)} records and weights have {len(W)}; give one system, or one "
                "for each record."
            )
        times = np.arange(float(len(W))) if at is None else inputs.check_vector(at, "at")
        if len(times) != len(W):
            raise ValueError(f"at has {len(times)} times for {len(W)} records; give one for each.")
        kept = choose_frames(len(W), frames)
        times, W = times[kept], W[kept].conj()
        T = None if T is None else np.broadcast_to(T, (len(weights), T.shape[1]))[kept]
        unit = "record" if at is None else "sample"

        def caption(k: int) -> str:
            words = f"{self.name}, {unit} {times[k]:g}"
            if T is None:
                return words
            off = _misalignment(W[k], T[k])
            return f"{words}: " + (
                "the true response is zero" if off is None else f"{off:.0f} % off the true response"
            )

        def start(axes: list[draw.Axes]) -> Show:
            return _start_response(axes, self.name, times, W, T, f"{unit}s")

        return Animation(self, [caption(k) for k in range(len(kept))], start, interval)

    def _draw(self, left: draw.Axes, right: draw.Axes) -> None:
        curves = [
            (self.impulse, self.gain, self.name),
            (self.truth, self.truth_gain, "true system"),
        ]
        for k, (h, gain, words) in enumerate(curves):
            if h is None or gain is None:
                continue
            look: dict[str, Any] = {"color": draw.colour(k), "label": draw.label(words)}
            few = len(h) <= MAX_STEMS
            if few and k == 0:
                draw.stems(left, h.real)
            left.plot(h.real, "ox"[k] if few else draw.line(k), markersize=5, **look)
            floor = np.max(gain[np.isfinite(gain)], initial=-300.0) - 100.0
            right.plot(self.frequencies, np.maximum(gain, floor), draw.line(k), **look)
        draw.reference(left, 0.0)
        part = " (real part)" if np.iscomplexobj(self.impulse) else ""
        left.set(
            xlabel="delay, samples", ylabel=f"impulse response{part}", title="Impulse response"
        )
        right.set_xlabel("frequency, Hz" if self.rate else "frequency, cycles per sample")
        right.set(ylabel="gain, dB", title="Gain")
        if self.truth is not None:
            draw.legend(left)


def _check_weights(values: Any, what: str, ndim: int) -> NDArray[Any]:
    """Weights (taps,), or over time (records, taps), finite."""
    w = np.asarray(values)
    if w.dtype.kind not in "fciu" or w.ndim != ndim or not w.size:
        shape = "(taps,)" if ndim == 1 else "(records, taps), as history=20 of a filter records"
        raise ValueError(f"{what} have shape {w.shape}; expected numbers, {shape}.")
    if not np.isfinite(w).all():
        raise ValueError(f"{what} contain NaN or infinity; the filter has diverged.")
    return w.astype(np.result_type(w, np.float64))


def _gain(h: NDArray[Any], n: int, both_sides: bool) -> Array:
    """20 log10 |H| at n frequencies."""
    H = np.fft.fftshift(np.fft.fft(h, n)) if both_sides else np.fft.rfft(h, n)
    with np.errstate(divide="ignore"):
        return np.asarray(20.0 * np.log10(np.abs(H)))


def _misalignment(w: NDArray[Any], truth: NDArray[Any]) -> float | None:
    """100 |w - h| / |h|, the shorter padded with zeros; None where h = 0."""
    n = max(len(w), len(truth))
    a, b = (np.pad(v, (0, n - len(v))) for v in (w, truth))
    size = float(np.linalg.norm(b))
    return 100 * float(np.linalg.norm(a - b)) / size if size else None


def _start_response(
    axes: list[draw.Axes],
    name: str,
    times: Array,
    W: NDArray[Any],
    T: NDArray[Any] | None,
    unit: str,
) -> Show:
    """The moving impulse response, and each weight up to now."""
    ax, right = axes
    shown = W.real if T is None else np.append(W.real, T.real)
    low, high = inputs.limits(np.append(shown, 0.0))
    lines = draw.stems(ax, 0.0 * W[0].real)
    heads = ax.plot(
        0.0 * W[0].real, "o", markersize=5, color=draw.colour(0), label=draw.label(name)
    )[0]
    curves = [right.plot([], [], color=draw.colour(0))[0] for _ in range(W.shape[1])]
    curves = curves[:MAX_WEIGHT_CURVES]
    crosses: Any = None
    if T is not None:
        look: dict[str, Any] = {"color": draw.colour(1), "label": "true system"}
        crosses = ax.plot(0.0 * T[0].real, "x", markersize=7, **look)[0]
        look = {"color": draw.colour(1), "linewidth": 1.0, "drawstyle": "steps-pre"}
        right.plot(times, T[:, : len(curves)].real, "--", **look)
    draw.reference(ax, 0.0)
    part = " (real part)" if np.iscomplexobj(W) else ""
    ax.set(xlabel="delay, samples", ylabel=f"impulse response{part}", ylim=(low, high))
    draw.legend(ax)
    right.set(xlim=inputs.limits(times, 0.02), ylim=(low, high), ylabel="weights", xlabel=unit)

    def show(k: int) -> None:
        w = W[k].real
        lines.set_segments([np.array([[j, 0.0], [j, v]]) for j, v in enumerate(w)])
        heads.set_ydata(w)
        if crosses is not None and T is not None:
            crosses.set_ydata(T[k].real)
        for j, curve in enumerate(curves):
            curve.set_data(times[: k + 1], W[: k + 1, j].real)

    return show
