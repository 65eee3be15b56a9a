"""Lines between classes that move: step by step as a learner goes, or from model to model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline import Trace
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array
from adaline.plot.animation import Scene, chosen

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from adaline.plot.decision import DecisionDisplay

Ints = NDArray[np.int64]


class MovingLine(Scene):
    """Rows that stay, and the regions and the line where the score is zero, which move."""

    def __init__(
        self, picture: DecisionDisplay, scores: Any, at_rows: Any, said: list[str], learned: Any
    ) -> None:
        self.picture, self.count = picture, len(said)
        self.scores = scores  # of frame k over the grid, (g, g)
        self.at_rows = at_rows  # of frame k at the rows shown
        self.said = said
        self.learned: Ints = learned  # the row that was just learned from, or -1

    def wrong(self, k: int) -> NDArray[np.bool_]:
        """Rows not on their right side: a row on the line is on no side."""
        signs = np.where(self.picture.codes == 1, 1.0, -1.0)
        return np.asarray(signs * self.at_rows(k) <= 0.0)

    def words(self, k: int) -> str:
        wrong, n = int(self.wrong(k).sum()), len(self.picture.rows)
        if wrong == 0:
            return f"{self.said[k]}: all {_canvas.many(n)} are on their right side"
        verb = "is" if wrong == 1 else "are"
        return f"{self.said[k]}: {wrong} of {_canvas.many(n)} {verb} not on the right side"

    def start(self, axes: list[Axes]) -> None:
        (self.ax,) = axes
        p, ax = self.picture, self.ax
        box = (p.x[0], p.x[-1], p.y[0], p.y[-1])
        self.tint = np.array([_canvas.tint(_canvas.colour(k), 0.18) for k in (0, 1)])
        plain = np.zeros((len(p.y), len(p.x), 4))
        self.regions = ax.imshow(
            plain, extent=box, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )
        for k, label in enumerate(p.classes):
            some = p.rows[p.codes == k]
            _canvas.points(ax, some[:, 0], some[:, 1], k, label=_canvas.plain(label))
        mark: dict[str, Any] = {"color": _canvas.INK, "linewidths": 0.9, "zorder": 4}
        self.crosses = ax.scatter([], [], marker="x", s=34, label="not right", **mark)
        mark |= {"facecolors": "none", "linewidths": 1.3}
        self.ring = ax.scatter([], [], marker="o", s=150, **mark)
        if (self.learned >= 0).any():
            self.ring.set_label("learned from")
        self.line: Any = None
        ax.set(xlim=box[:2], ylim=box[2:])
        ax.set_xlabel(_canvas.plain(p.names[0]))
        ax.set_ylabel(_canvas.plain(p.names[1]))
        _canvas.legend(ax)

    def show(self, k: int) -> None:
        p, v = self.picture, self.scores(k)
        shade = self.tint[(v > 0).astype(np.int64)]
        shade[v == 0] = 0.0  # before the first step, no class has any place
        self.regions.set_data(shade)
        if self.line is not None:
            self.line.remove()
            self.line = None
        if v.min() < 0 < v.max():
            self.line = self.ax.contour(p.x, p.y, v, [0.0], colors=_canvas.INK, linewidths=1.6)
        self.crosses.set_offsets(p.rows[self.wrong(k)])
        row = self.learned[k]
        self.ring.set_offsets(p.rows[[row]] if row >= 0 else np.empty((0, 2)))


def of_steps(picture: DecisionDisplay, trace: Any, frames: Any) -> MovingLine:
    """The lines of a trace of one neuron: of corrections where these are single, else of steps."""
    w, b, said, learned = _weights(trace)
    if w.shape[1] != 2:
        raise ValueError(f"trace has {w.shape[1]} weights; a line in the plane has two.")
    shown, known = len(picture.rows), _rows_of(trace)
    if known > shown:
        raise ValueError(
            f"trace learned from {known} rows, and the picture shows {shown}; make both from the "
            "same X."
        )
    kept = chosen(len(w), frames)
    w, b = w[kept], b[kept]

    def scores(k: int) -> Array:
        return np.asarray(w[k, 0] * picture.x[None, :] + w[k, 1] * picture.y[:, None] + b[k])

    return MovingLine(
        picture,
        scores,
        lambda k: picture.rows @ w[k] + b[k],
        [said[i] for i in kept],
        learned[kept],
    )


def of_models(
    picture: DecisionDisplay, models: Sequence[Any], captions: Sequence[Any] | None
) -> MovingLine:
    """The boundary of one fitted model after the other."""
    if not models:
        raise ValueError("there are no models; expected a list of fitted ones.")
    said = [f"Model {k}" for k in range(len(models))] if captions is None else captions
    if len(said) != len(models):
        raise ValueError(f"there are {len(said)} captions for {len(models)} models; give as many.")
    grid = np.column_stack(
        [np.tile(picture.x, len(picture.y)), np.repeat(picture.y, len(picture.x))]
    )
    for model in models:
        _given.fitted(model, "decision_function")
        _given.width(model, picture.rows)
        if _given.listed(model.classes_) != picture.classes:
            raise ValueError(
                f"a model knows the classes {_given.listed(model.classes_)}; the picture shows "
                f"{picture.classes}."
            )

    def scores(k: int) -> Array:
        v = np.asarray(_given.ask(models[k], "decision_function", grid), dtype=np.float64)
        return v.reshape(len(picture.y), len(picture.x))

    def at_rows(k: int) -> Array:
        v = _given.ask(models[k], "decision_function", picture.rows)
        return np.asarray(v, dtype=np.float64)

    nothing = np.full(len(models), -1)
    return MovingLine(picture, scores, at_rows, [str(words) for words in said], nothing)


def _weights(trace: Any) -> tuple[Array, Array, list[str], Ints]:
    """w (m, p), b (m,), and a name and the row learned from of each step of a trace."""
    if not isinstance(trace, Trace) or trace.W_after.shape[2] == 0:
        raise TypeError(
            f"trace is a {type(trace).__name__}; expected what adaline.trace gives for a learner "
            "with weights, or a list of fitted models."
        )
    _one_neuron(trace.W_after.shape[1])
    w, b = trace.W_after[:, 0], trace.b_after[:, 0]
    if trace.unit in ("iteration", "step"):
        said = [f"{trace.unit.capitalize()} {k} of {trace.passes[-1]}" for k in trace.passes]
        return w, b, said, np.full(len(w), -1)
    # The start, and each correction; passes, in batch mode.
    if trace.unit == "pass":
        at = np.append(np.flatnonzero(np.diff(trace.passes)), len(trace) - 1)
        word, rows = "Pass", np.full(len(at), -1)
    else:
        at = np.flatnonzero(trace.updated)
        word, rows = "Correction", trace.samples[at]
    w = np.concatenate([trace.W_before[:1, 0], w[at]])
    b = np.concatenate([trace.b_before[:1, 0], b[at]])
    said = ["Before learning", *(f"{word} {k} of {len(at)}" for k in range(1, len(at) + 1))]
    return w, b, said, np.concatenate([[-1], rows]).astype(np.int64)


def _rows_of(trace: Trace) -> int:
    """How many rows the trace is known to have learned from."""
    if trace.unit == "iteration":
        return int(trace.extra["b"].shape[1])
    return int(trace.samples.max()) + 1


def _one_neuron(K: int) -> None:
    if K > 1:
        raise ValueError(f"there are {K} neurons; a line that moves is shown for two classes.")
