"""Decision regions in the plane, the margin, and the rows that matter; as a film, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

import adaline
from adaline.evaluation.words import number, plural
from adaline.plot import draw, inputs
from adaline.plot.animation import FRAME_INTERVAL, MAX_FRAMES, Animation, Show, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array, Ints
from adaline.plot.score_plane import project

MAX_RINGS = 100  # misclassified or support rows up to which each gets a mark: more hide the rest
MAX_LEVEL_LETTERS = 36  # of all names under the strips, beyond which they are turned


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Decision regions of a classifier: over two features, or over its scores if there are more.

    w'x + b = 0 between two classes, and dashed lines through the closest rows where all are
    classified correctly.

    Attributes
    ----------
    model : str
        The name of the classifier.
    x, y : ndarray of shape (g,)
        The grid along both features.
    decided : ndarray of int, shape (g, g)
        Index in `classes` of the prediction at (y, x); len(classes) where it is "reject".
    values : ndarray of shape (g, g), or None
        decision_function there, for two classes.
    rows, codes : ndarray of shape (n, 2) and (n,)
        The rows shown, and the index in `classes` of their labels.
    wrong, closest, supports : ndarray of int, ndarray of int, ndarray of shape (m, 2)
        Misclassified rows; the closest row of each of two classes where none is misclassified; and
        support vectors of a kernel perceptron.
    rejected : int
        How many rows the classifier rejects.
    margin : float or None
        |decision_function| at the closest row, where there are two features and no error.
    distance : float or None
        The same as a distance, for linear classifiers.
    classes : list
    names : tuple of two str
    held : int
        How many other features are held at their means.
    elsewhere : ndarray of int
        Rows whose prediction differs from that of their place in the picture, as other features
        are not at their means. Empty where the axes are scores.
    strips : bool
        Whether x is the predicted class, as there are more than three classes.

    Examples
    --------
    >>> from adaline import Perceptron
    >>> from adaline.plot import DecisionDisplay
    >>> X, y = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]], [0, 1, 1, 1]
    >>> picture = DecisionDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    >>> print(picture.claim)
    Perceptron: all 4 rows are on the correct side, the closest at distance 0.707
    >>> picture.plot().ax_.get_xlabel()
    'x0'
    """

    model: str
    x: Array
    y: Array
    decided: Ints
    values: Array | None
    rows: Array
    codes: Ints
    wrong: Ints
    rejected: int
    classes: list[Any]
    names: tuple[str, str]
    closest: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    margin: float | None = None
    distance: float | None = None
    supports: Array = field(default_factory=lambda: np.empty((0, 2)))
    held: int = 0
    elsewhere: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    strips: bool = False

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        features: Sequence[Any] | None = None,
        names: Sequence[Any] | None = None,
        grid: int = 160,
    ) -> Self:
        """Evaluate a fitted classifier on a grid.

        Parameters
        ----------
        model : fitted classifier
        X, y : array-like of shape (n, p) and (n,)
            Rows to show, training rows or others.
        features : two of the columns, by name or number
            If there are more than two, the others are held at their means, and rows that these
            others decide are shown faintly. By default more than two features are drawn by the
            scores: of two classes against the direction in which rows differ most otherwise, of
            three in the plane of the scores, of more by the lead over the next class. There every
            row lies on the side of its prediction.
        names : sequence of str, optional
        grid : int, default=160
            Points along each axis.
        """
        R, codes = inputs.check_classifier(model, X, y)
        classes = model.classes_.tolist()
        predicted = inputs.places(inputs.call(model, "predict", R), classes)
        right, rejected = predicted == codes, predicted == len(classes)
        common: dict[str, Any] = {"model": type(model).__name__, "codes": codes, "classes": classes}
        common |= {"wrong": np.flatnonzero(~right & ~rejected), "rejected": int(rejected.sum())}
        if features is None and R.shape[1] != 2:
            plane = project(model, R, predicted, len(classes), int(grid))
            if plane.values is not None and plane.values[0, 0] == plane.x[0] and right.all():
                common |= _closest_rows(model, plane.rows[:, 0], codes)
            return cls(**vars(plane), **common)
        known = inputs.column_names(model, X, R.shape[1], names)
        pair = inputs.two_columns(features, known)
        a, b = (np.linspace(*inputs.limits(R[:, j]), int(grid)) for j in pair)
        G, shape = inputs.slice_points(R, pair, a, b), (len(b), len(a))
        here = np.tile(R.mean(axis=0), (len(R), 1))
        here[:, pair] = R[:, pair]
        shown = inputs.places(inputs.call(model, "predict", here), classes)
        values = _binary_scores(model, G)
        if values is not None and right.all() and R.shape[1] == 2:
            v = _binary_scores(model, R)
            assert v is not None
            common |= _closest_rows(model, v, codes)
        supports = getattr(model, "support_vectors_", np.empty((0, R.shape[1])))
        supports = supports.toarray() if hasattr(supports, "toarray") else np.asarray(supports)
        return cls(
            x=a,
            y=b,
            decided=inputs.places(inputs.call(model, "predict", G), classes).reshape(shape),
            values=None if values is None else values.reshape(shape),
            rows=R[:, pair],
            supports=supports[:, pair],
            names=(known[pair[0]], known[pair[1]]),
            held=R.shape[1] - 2,
            elsewhere=np.flatnonzero(shown != predicted),
            **common,
        )

    @property
    def claim(self) -> str:
        wrong, rows = len(self.wrong), plural(len(self.rows), "row")
        words = f"{self.model}: all {rows} are on the correct side"
        if wrong or self.rejected:
            words = f"{self.model}: {wrong} of {rows} {'is' if wrong == 1 else 'are'} misclassified"
        if self.rejected:
            words += f", {self.rejected} rejected"
        if self.distance is not None:
            words += f", the closest at distance {number(self.distance, 3)}"
        if self.held:
            words += f"; {plural(self.held, 'other feature')} held at the mean"
            if len(self.elsewhere):
                words += f", which decide {plural(len(self.elsewhere), 'row')} differently"
        return words

    def animate(
        self,
        steps: Any,
        *,
        captions: Sequence[Any] | None = None,
        frames: int = MAX_FRAMES,
        interval: int = FRAME_INTERVAL,
    ) -> Animation:
        """The line between two classes as it moves, over the rows of the picture.

        Parameters
        ----------
        steps : Trace, or list of fitted models
            A trace of the rows shown, by which the line moves with each correction, pass or step;
            or models of the two features, such as one for each of several priors.
        captions : sequence of str, optional
            A caption for each model.
        frames : int, default=60
            The largest number of frames; longer traces are sampled evenly.
        interval : int, default=250
            Milliseconds per frame.
        """
        if self.held or self.strips or len(self.classes) != 2:
            raise ValueError("only a picture of two classes and two features can move.")
        if isinstance(steps, list | tuple):
            scores, words = self._scores_of_models(steps, captions)
            learned = np.full(len(steps), -1)
        elif captions is not None:
            raise ValueError("captions are for a list of models; a trace names its own steps.")
        else:
            w, b, words, learned = _lines_of_trace(steps, len(self.rows))
            kept = choose_frames(len(w), frames)
            words, learned = [words[k] for k in kept], learned[kept]

            def scores(k: int, at: Array) -> Array:
                return np.asarray(at @ w[kept[k]] + b[kept[k]])

        signs = np.where(self.codes == 1, 1.0, -1.0)
        # A row on the line is on neither side.
        wrong = [signs * scores(k, self.rows) <= 0.0 for k in range(len(words))]
        claims = [f"{name}: {self._count_wrong(at)}" for name, at in zip(words, wrong, strict=True)]

        def start(axes: list[draw.Axes]) -> Show:
            return self._start(axes[0], scores, wrong, learned)

        return Animation(self, claims, start, interval)

    def _count_wrong(self, wrong: Any) -> str:
        n, rows = int(wrong.sum()), plural(len(self.rows), "row")
        if n == 0:
            return f"all {rows} are on the correct side"
        return f"{n} of {rows} {'is' if n == 1 else 'are'} not on the correct side"

    def _scores_of_models(
        self, models: Sequence[Any], captions: Sequence[Any] | None
    ) -> tuple[Callable[[int, Array], Array], list[str]]:
        if not models:
            raise ValueError("there are no models; expected a list of fitted ones.")
        words = [f"Model {k}" for k in range(len(models))] if captions is None else captions
        if len(words) != len(models):
            raise ValueError(f"there are {len(words)} captions for {len(models)} models.")
        for model in models:
            inputs.check_model(model, "decision_function")
            known = inputs.as_list(model.classes_)
            if known != self.classes:
                raise ValueError(f"a model knows the classes {known}; expected {self.classes}.")

        def scores(k: int, at: Array) -> Array:
            return np.asarray(inputs.call(models[k], "decision_function", at), dtype=np.float64)

        return scores, [str(one) for one in words]

    def _start(
        self, ax: draw.Axes, scores: Callable[[int, Array], Array], wrong: list[Any], learned: Ints
    ) -> Show:
        """Draw rows; `show(k)` moves the regions, the line and the marks."""
        tints = np.array([draw.tint(k, 0.18) for k in (0, 1)])
        grid, shape = inputs.grid_points(self.x, self.y), (len(self.y), len(self.x))
        regions = draw.image(ax, self.x, self.y, np.zeros((*shape, 4)))
        draw.classes(ax, self.rows, self.codes, self.classes)
        look: dict[str, Any] = {"color": draw.INK, "zorder": 4}
        crosses = ax.scatter([], [], marker="x", s=34, label="misclassified", **look)
        words = "learned from" if (learned >= 0).any() else None
        ring = ax.scatter([], [], marker="o", s=150, facecolors="none", label=words, **look)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
        draw.label_axes(ax, *self.names)
        draw.legend(ax)
        line: list[Any] = []

        def show(k: int) -> None:
            v = scores(k, grid).reshape(shape)
            shade = tints[(v > 0).astype(np.int64)]
            shade[v == 0] = 0.0  # before the first step there is no decision
            regions.set_data(shade)
            while line:
                line.pop().remove()
            drawn = draw.contours(ax, self.x, self.y, v, [0.0], linewidths=1.6)
            if drawn is not None:
                line.append(drawn)
            crosses.set_offsets(self.rows[wrong[k]])
            ring.set_offsets(self.rows[learned[k : k + 1]] if learned[k] >= 0 else [[np.nan] * 2])

        return show

    def _draw(self, ax: draw.Axes) -> None:
        tints = [draw.tint(k, 0.18) for k in range(len(self.classes))] + [(0.6, 0.6, 0.6, 0.25)]
        draw.image(ax, self.x, self.y, np.array(tints)[self.decided])
        if self.values is not None:
            draw.contours(ax, self.x, self.y, self.values, [0.0], linewidths=1.4)
            if self.margin is not None:
                both, dashed = [-self.margin, self.margin], {"linestyles": "--"}
                draw.contours(ax, self.x, self.y, self.values, both, linewidths=0.9, **dashed)
        here = np.ones(len(self.rows), dtype=bool)
        here[self.elsewhere] = False
        draw.classes(ax, self.rows[here], self.codes[here], self.classes)
        for k, name in enumerate(self.classes):
            faint = self.rows[~here & (self.codes == k)]
            if len(faint):
                look: dict[str, Any] = {"facecolors": "none", "edgecolors": draw.colour(k)}
                look |= {"alpha": 0.6, "s": 14, "marker": draw.marker(k), "zorder": 2}
                look["rasterized"] = len(faint) > draw.MANY_POINTS
                ax.scatter(*faint.T, label=f"{draw.label(name)}, decided by other features", **look)
        if self.strips:
            names = [*self.classes, "reject"][: int(self.decided.max()) + 1]
            words = [draw.label(name, 14) for name in names]
            crowded = sum(map(len, words)) > MAX_LEVEL_LETTERS
            ax.set_xticks(range(len(words)), words, **({"rotation": 30} if crowded else {}))
        marks = {"x": (self.rows[self.wrong], f"misclassified ({len(self.wrong)})")}
        marks["o"] = self.rows[self.closest], "closest rows"
        marks["s"] = self.supports, f"support vectors ({len(self.supports)})"
        for shape, (at, words_) in marks.items():
            if 0 < len(at) <= MAX_RINGS:
                look = {"s": 34} if shape == "x" else {"s": 90, "facecolors": "none"}
                ax.scatter(*at.T, marker=shape, label=words_, color=draw.INK, zorder=4, **look)
        ax.set(xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])
        draw.label_axes(ax, *self.names, length=44)
        draw.legend(ax)


def _binary_scores(model: Any, X: Array) -> Array | None:
    """decision_function of two classes, where there is one."""
    if len(model.classes_) != 2 or not hasattr(model, "decision_function"):
        return None
    v = np.asarray(inputs.call(model, "decision_function", X), dtype=np.float64)
    return v if v.ndim == 1 else None


def _closest_rows(model: Any, v: Array, codes: Ints) -> dict[str, Any]:
    """The row of each class with the smallest score, its score and its distance."""
    own = [np.flatnonzero(codes == k) for k in (0, 1)]
    closest = np.array([i[np.argmin(np.abs(v[i]))] for i in own if len(i)], dtype=np.int64)
    margin, distance = float(np.abs(v).min()), None
    if hasattr(model, "coef_"):
        length = float(np.linalg.norm(np.asarray(model.coef_, dtype=np.float64)))
        distance = margin / length if length else None
    return {"closest": closest, "margin": margin, "distance": distance}


def _lines_of_trace(trace: Any, n: int) -> tuple[Array, Array, list[str], Ints]:
    """w (m, 2), b (m,), and a name and the row learned from of each step of a trace."""
    if not isinstance(trace, adaline.Trace) or trace.W_after.shape[2] == 0:
        raise TypeError(
            f"trace is a {type(trace).__name__}; expected the result of adaline.trace for a "
            "learner with weights, or a list of fitted models."
        )
    K, p = trace.W_after.shape[1:]
    if K > 1:
        raise ValueError(f"there are {K} neurons; a line that moves is shown for two classes.")
    if p != 2:
        raise ValueError(f"trace has {p} weights; a line in the plane has two.")
    by_iteration = trace.unit == "iteration"
    known = trace.extra["b"].shape[1] if by_iteration else int(trace.samples.max()) + 1
    if known > n:
        raise ValueError(
            f"trace learned from {known} rows and the picture shows {n}; make both from the same X."
        )
    w, b = trace.W_after[:, 0], trace.b_after[:, 0]
    if trace.unit in ("iteration", "step"):
        words = [f"{trace.unit.capitalize()} {k} of {trace.passes[-1]}" for k in trace.passes]
        return w, b, words, np.full(len(w), -1)
    # The start, and each correction, or each pass in batch mode.
    if trace.unit == "pass":
        at = np.append(np.flatnonzero(np.diff(trace.passes)), len(trace) - 1)
        word, learned = "Pass", np.full(len(at), -1)
    else:
        at = np.flatnonzero(trace.updated)
        word, learned = "Correction", trace.samples[at]
    w = np.concatenate([trace.W_before[:1, 0], w[at]])
    b = np.concatenate([trace.b_before[:1, 0], b[at]])
    words = ["Before learning", *(f"{word} {k} of {len(at)}" for k in range(1, len(at) + 1))]
    return w, b, words, np.concatenate([[-1], learned]).astype(np.int64)
