"""Paths, coefficients and responses that move."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array
from adaline.plot.animation import Scene, chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adaline.plot.descent import WeightPathDisplay
    from adaline.plot.response import ResponseDisplay
    from adaline.plot.ridge import RidgePathDisplay


class GrowingPath(Scene):
    """Two weights that walk over the surface of the error."""

    def __init__(self, picture: WeightPathDisplay, frames: Any) -> None:
        self.picture = picture
        self.steps = chosen(len(picture.path), frames)
        self.count = len(self.steps)

    def words(self, k: int) -> str:
        p, step = self.picture, int(self.steps[k])
        a, b = p.path[step]
        total = len(p.path) - 1
        return (
            f"{p.model}, step {step} of {total}: weights ({number(a, 3)}, {number(b, 3)}), "
            f"{p.error} {number(p.losses[step], 3)}"
        )

    def start(self, axes: list[Axes]) -> None:
        (ax,) = axes
        self.picture._draw_surface(ax)
        self.path = ax.plot(
            [], [], ".-", color=_canvas.colour(0), linewidth=1.1, markersize=4, label="path"
        )[0]
        ax.plot(*self.picture.path[0], "o", color=_canvas.colour(2), markersize=7, label="start")
        self.now = ax.plot([], [], "*", color=_canvas.colour(1), markersize=12, label="now")[0]
        self.picture._label(ax)

    def show(self, k: int) -> None:
        path = self.picture.path[: self.steps[k] + 1]
        self.path.set_data(*path.T)
        self.now.set_data(*path[-1:].T)


class MovingPenalty(Scene):
    """The curves of a ridge path, and a line at the penalty that goes from left to right."""

    def __init__(self, picture: RidgePathDisplay, frames: Any) -> None:
        self.picture = picture
        self.at = np.argsort(picture.alphas, kind="stable")
        self.at = self.at[chosen(len(self.at), frames)]
        self.count = len(self.at)
        self.errors = picture.gcv if picture.loo is None else picture.loo

    def words(self, k: int) -> str:
        p, i = self.picture, self.at[k]
        kind = "GCV" if p.loo is None else "leave-one-out"
        return (
            f"alpha = {number(p.alphas[i], 3)}: |w| = {number(np.linalg.norm(p.coef[i]), 3)}, "
            f"{kind} error {number(self.errors[i], 3)}"
        )

    def start(self, axes: list[Axes]) -> None:
        self.picture._draw(axes)
        look: dict[str, Any] = {"color": _canvas.INK, "linewidth": 1.2}
        self.lines = [ax.axvline(self.picture.alphas[self.at[0]], **look) for ax in axes]
        look = {"color": _canvas.INK, "linestyle": "none", "zorder": 5}
        self.dots = [ax.plot([], [], "o", markersize=4, **look)[0] for ax in axes]

    def show(self, k: int) -> None:
        p, i = self.picture, self.at[k]
        for line in self.lines:
            line.set_xdata([p.alphas[i]] * 2)
        self.dots[0].set_data(np.full(p.coef.shape[1], p.alphas[i]), p.coef[i])
        self.dots[1].set_data([p.alphas[i]], [self.errors[i]])


class MovingResponse(Scene):
    """The impulse response of a filter as it learns, and that of the system it should be."""

    def __init__(
        self, picture: ResponseDisplay, weights: Any, truth: Any, at: Any, frames: Any
    ) -> None:
        W = _records(weights, "weights")
        known = picture.truth if truth is None else truth
        T = None if known is None else _records(np.atleast_2d(known), "truth")
        if T is not None and len(T) not in (1, len(W)):
            raise ValueError(
                f"truth has {len(T)} records and weights have {len(W)}; give one system, or one "
                "for each record."
            )
        times = np.arange(float(len(W))) if at is None else _given.numbers(at, "at")
        if len(times) != len(W):
            raise ValueError(f"at has {len(times)} times for {len(W)} records; give as many.")
        kept = chosen(len(W), frames)
        self.name, self.count, self.unit = picture.name, len(kept), "record"
        if at is not None:
            self.unit = "sample"
        self.times, self.W = times[kept], W[kept].conj()
        self.T = None if T is None else np.broadcast_to(T, (len(W), T.shape[1]))[kept]

    def words(self, k: int) -> str:
        said = f"{self.name}, {self.unit} {self.times[k]:g}"
        if self.T is None:
            return said
        n = max(self.W.shape[1], self.T.shape[1])
        a, b = (np.pad(v[k], (0, n - v.shape[1])) for v in (self.W, self.T))
        size = float(np.linalg.norm(b))
        if not size:
            return f"{said}: the true response is zero"
        return f"{said}: {100 * float(np.linalg.norm(a - b)) / size:.0f} % off the true response"

    def start(self, axes: list[Axes]) -> None:
        ax, curve = axes
        places = np.arange(self.W.shape[1])
        shown = self.W.real if self.T is None else np.append(self.W.real, self.T.real)
        low, high = _given.frame(np.append(shown, 0.0), 0.08)
        self.stems = ax.vlines(places, 0.0, 0.0 * places, color=_canvas.colour(0))
        look: dict[str, Any] = {"color": _canvas.colour(0), "label": _canvas.plain(self.name)}
        self.heads = ax.plot(places, 0.0 * places, "o", markersize=5, **look)[0]
        if self.T is not None:
            look = {"color": _canvas.colour(1), "label": "true system", "markersize": 7}
            true = np.arange(self.T.shape[1])
            self.crosses = ax.plot(true, 0.0 * true, "x", **look)[0]
        _canvas.level(ax, 0.0)
        part = " (real part)" if np.iscomplexobj(self.W) else ""
        ax.set(xlabel="delay, samples", ylabel=f"impulse response{part}", ylim=(low, high))
        if len(places) <= 20:
            ax.set_xticks(places)
        _canvas.legend(ax)
        self._start_curves(curve, (low, high))

    def _start_curves(self, ax: Axes, limits: tuple[float, float]) -> None:
        """Each weight against the time, as far as it has gone."""
        taps = range(min(self.W.shape[1], 6))  # more curves cannot be told apart
        self.curves = [ax.plot([], [], color=_canvas.colour(0))[0] for _ in taps]
        if self.T is not None:
            for j in range(min(self.T.shape[1], len(taps))):
                true = self.T[:, j].real
                look: dict[str, Any] = {"color": _canvas.colour(1), "linewidth": 1.0}
                ax.plot(self.times, true, "--", drawstyle="steps-pre", **look)
        ax.set(xlim=_given.frame(self.times, 0.02), ylim=limits, ylabel="weights")
        ax.set_xlabel("samples" if self.unit == "sample" else "records")

    def show(self, k: int) -> None:
        w = self.W[k].real
        self.stems.set_segments([np.array([[j, 0.0], [j, v]]) for j, v in enumerate(w)])
        self.heads.set_ydata(w)
        if self.T is not None:
            self.crosses.set_ydata(self.T[k].real)
        for j, curve in enumerate(self.curves):
            curve.set_data(self.times[: k + 1], self.W[: k + 1, j].real)


def _records(values: Any, what: str) -> Array:
    """Weights over time, (records, taps), finite."""
    found = np.asarray(values)
    if found.dtype.kind not in "fciu" or found.ndim != 2 or len(found) == 0 or found.shape[1] == 0:
        raise ValueError(
            f"{what} have shape {found.shape}; expected numbers, (records, taps), such as the "
            "history of a filter made with history=20."
        )
    if not np.isfinite(found).all():
        raise ValueError(f"{what} hold NaN or infinity; the filter has diverged.")
    return found
