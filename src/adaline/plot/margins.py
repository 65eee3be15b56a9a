"""Ho and Kashyap's procedure: margins b, values Ya, and the errors between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from adaline import Trace
from adaline.evaluation.words import number
from adaline.plot import _canvas
from adaline.plot._canvas import Array, Display
from adaline.plot.animation import INTERVAL, MOST_FRAMES, Animation, Scene, chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SAMPLES = 60  # beyond this, samples cannot be told apart


@dataclass(eq=False, repr=False)
class MarginsDisplay(Display):
    """Margins b and values Ya of each sample, and the errors e = Ya - b, as Ho-Kashyap goes.

    Lecture: linear discriminants. Where e is positive, b grows; a sample is on its right side where
    its Ya is positive.

    Attributes
    ----------
    margins, values : ndarray of shape (m, n)
        b(k) and Ya(k), of each iteration and sample.
    iterations : ndarray of shape (m,)

    Examples
    --------
    >>> from adaline import HoKashyap, trace
    >>> from adaline.plot import MarginsDisplay
    >>> X, y = [[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1]
    >>> picture = MarginsDisplay.from_trace(trace(HoKashyap(), X, y))
    >>> print(picture.claim)
    Iteration 1: Ya is positive for all 4 samples, the least 0.5
    """

    margins: Array
    values: Array
    iterations: Any

    @classmethod
    def from_trace(cls, trace: Any) -> Self:
        """What `trace(HoKashyap(), X, y)` gives, for two classes and at most 60 samples."""
        if not (isinstance(trace, Trace) and trace.unit == "iteration"):
            raise TypeError(
                f"trace is a {type(trace).__name__}; expected what adaline.trace gives for "
                "HoKashyap."
            )
        K, b = trace.W_after.shape[1], trace.extra["b"]
        if K > 1:
            raise ValueError(f"trace has {K} neurons; margins are shown for two classes.")
        if b.shape[1] > _SAMPLES:
            raise ValueError(
                f"trace has {b.shape[1]} samples; at most {_SAMPLES} can be told apart. "
                "Trace fewer rows."
            )
        return cls(b, b + trace.extra["e"], trace.passes)

    @property
    def claim(self) -> str:
        return self._words(-1)

    def animate(self, *, frames: int = MOST_FRAMES, interval: int = INTERVAL) -> Animation:
        """Iteration after iteration.

        Parameters
        ----------
        frames : int, default=60
            The most frames; of more iterations, as many are taken at equal distances.
        interval : int, default=250
            Milliseconds of a frame.
        """
        return Animation(self, _MovingMargins(self, frames), interval)

    def _words(self, k: int) -> str:
        right, n = int((self.values[k] > 0).sum()), self.values.shape[1]
        said = f"Iteration {self.iterations[k]}: Ya is positive for"
        if right < n:
            return f"{said} {right} of {_canvas.many(n, 'sample')}"
        return (
            f"{said} all {_canvas.many(n, 'sample')}, the least {number(self.values[k].min(), 3)}"
        )

    def _draw(self, axes: list[Axes]) -> None:
        scene = _MovingMargins(self, 2)
        scene.start(axes)
        scene.show(scene.count - 1)


class _MovingMargins(Scene):
    def __init__(self, picture: MarginsDisplay, frames: Any) -> None:
        self.picture = picture
        self.at = chosen(len(picture.values), frames)
        self.count = len(self.at)

    def words(self, k: int) -> str:
        return self.picture._words(int(self.at[k]))

    def start(self, axes: list[Axes]) -> None:
        (ax,) = axes
        p, places = self.picture, np.arange(self.picture.values.shape[1])
        look: dict[str, Any] = {"linestyle": "none", "zorder": 4}
        self.errors = ax.vlines(
            places, 0.0 * places, 0.0 * places, color="#999999", linewidth=4, label="error e"
        )
        self.values = ax.plot(
            places, 0.0 * places, "o", color=_canvas.colour(0), markersize=7, label="Ya", **look
        )[0]
        self.margins = ax.plot(
            places, 0.0 * places, "_", color=_canvas.colour(1), markersize=18, label="margin b",
            markeredgewidth=2.5, **look
        )[0]  # fmt: skip
        _canvas.level(ax, 0.0)
        low, high = (f(f(p.values), f(p.margins), 0.0) for f in (_least, _most))
        room = 0.06 * (high - low)
        ax.set(xlim=(-0.6, len(places) - 0.4), ylim=(low - room, high + room))
        ax.set(xlabel="sample", ylabel="value")
        if len(places) <= 20:
            ax.set_xticks(places)
        _canvas.legend(ax)

    def show(self, k: int) -> None:
        b, Ya = self.picture.margins[self.at[k]], self.picture.values[self.at[k]]
        self.errors.set_segments([np.array([[j, b[j]], [j, Ya[j]]]) for j in range(len(b))])
        self.values.set_ydata(Ya)
        self.margins.set_ydata(b)


def _least(*values: Any) -> float:
    return float(min(np.min(v) for v in values))


def _most(*values: Any) -> float:
    return float(max(np.max(v) for v in values))
