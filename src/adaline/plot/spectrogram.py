"""What a filter took away: spectrograms before and after, on one scale."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline.plot import _given
from adaline.plot._canvas import Array, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLUMNS = 400  # columns of pixels in a picture; longer signals are looked at in larger hops


@dataclass(eq=False, repr=False)
class SpectrogramDisplay(Display):
    """Power over time and frequency, before and after, in decibels.

    Attributes
    ----------
    times, frequencies : ndarray of shape (m,) and (f,)
        Middles of the segments, in seconds where a rate was given, else in samples; and Hz or
        cycles a sample.
    before, after : ndarray of shape (f, m)
        10 log10 of the power density of Hann-windowed segments.
    change : float
        Total power of `after` over that of `before`, in decibels.
    rate : float or None

    Examples
    --------
    >>> import numpy as np
    >>> from adaline.plot import SpectrogramDisplay
    >>> tone = np.sin(2 * np.pi * 0.125 * np.arange(4000))
    >>> picture = SpectrogramDisplay.from_signals(tone, 0.1 * tone)
    >>> float(picture.frequencies[picture.before[:, 0].argmax()]), round(picture.change, 6)
    (0.125, -20.0)
    """

    times: Array
    frequencies: Array
    before: Array
    after: Array
    change: float
    rate: float | None
    panels = 2
    size = (4.5, 3.4)

    @classmethod
    def from_signals(
        cls, before: Any, after: Any, *, rate: float | None = None, segment: int = 256
    ) -> Self:
        """Two real signals of equal length, such as d and e of a canceller.

        Parameters
        ----------
        before, after : array-like of shape (n,)
        rate : float, optional
            Samples a second.
        segment : int, default=256
            Samples that are looked at together; halved as often as the signal asks for it.
        """
        a, b = _given.numbers(before, "before"), _given.numbers(after, "after")
        if len(a) != len(b):
            raise ValueError(
                f"before has {len(a)} samples and after {len(b)}; they must be as many."
            )
        if rate is not None and not 0 < rate < np.inf:
            raise ValueError(f"rate is {rate!r}; expected samples a second, above zero.")
        if isinstance(segment, bool) or not isinstance(segment, int | np.integer) or segment < 2:
            raise ValueError(
                f"segment is {segment!r}; expected a whole number of samples, 2 or more."
            )
        size = min(int(segment), len(a))
        hop = max(1, size // 4, (len(a) - size) // _COLUMNS)
        starts = np.arange(0, len(a) - size + 1, hop)
        powers = [_power(signal, starts, size) for signal in (a, b)]
        total = [float(np.sum(signal**2)) for signal in (a, b)]
        with np.errstate(divide="ignore"):
            change = float(10 * np.log10(total[1] / total[0])) if total[0] else float("nan")
        unit = rate or 1.0
        times = np.asarray((starts + size / 2) / unit, dtype=np.float64)
        frequencies = np.asarray(np.fft.rfftfreq(size) * unit, dtype=np.float64)
        return cls(times, frequencies, powers[0], powers[1], change, rate)

    @property
    def claim(self) -> str:
        if np.isnan(self.change):
            return "There was nothing before"
        if np.isneginf(self.change):
            return "Nothing is left"
        if abs(self.change) < 0.05:
            return "As much power after as before"
        verb = "less" if self.change < 0 else "more"
        return f"{abs(self.change):.1f} dB {verb} power after than before"

    def _draw(self, axes: list[Axes]) -> None:
        finite = self.before[np.isfinite(self.before)]
        top = float(finite.max()) if finite.size else 0.0
        images = []
        for ax, power, words in zip(
            axes, (self.before, self.after), ("Before", "After"), strict=True
        ):
            step = (self.times[1] - self.times[0]) / 2 if len(self.times) > 1 else 0.5
            box = (
                self.times[0] - step,
                self.times[-1] + step,
                self.frequencies[0],
                self.frequencies[-1],
            )
            images.append(
                ax.imshow(
                    np.maximum(power, top - 90.0),
                    extent=box,
                    origin="lower",
                    aspect="auto",
                    cmap="viridis",
                    vmin=top - 80.0,
                    vmax=top,
                    interpolation="none",
                )
            )
            ax.set_xlabel("time, s" if self.rate else "time, samples")
            ax.set_title(words)
        axes[0].set_ylabel("frequency, Hz" if self.rate else "frequency, cycles a sample")
        bar = axes[0].figure.colorbar(images[0], ax=axes)
        bar.set_label("power, dB")
        bar.solids.set_rasterized(True)  # type: ignore[union-attr]


def _power(signal: Array, starts: Any, size: int) -> Array:
    """10 log10 |FFT|^2 of windowed segments, (frequencies, segments)."""
    window = np.hanning(size + 1)[:size]  # periodic
    if not window.any():
        window = np.ones(size)
    segments = np.stack([signal[i : i + size] for i in starts]) * window
    square = np.abs(np.fft.rfft(segments, axis=1)) ** 2 / np.sum(window**2)
    with np.errstate(divide="ignore"):
        return np.asarray(10.0 * np.log10(square)).T
