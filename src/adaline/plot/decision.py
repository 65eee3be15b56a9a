"""Decision regions in the plane, the margin, and the rows that matter; as a film, too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator

import adaline
from adaline.evaluation.trial import ask, column_names
from adaline.evaluation.words import number, plural
from adaline.plot import draw
from adaline.plot.animation import Animation, choose_frames
from adaline.plot.display import Display
from adaline.plot.draw import Array, Ints, Names

GRID = 160  # points along each axis, as many as are seen apart
Scores = Callable[[Array], Any]  # of the second of two classes, for rows of the plane


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Decision regions of a classifier: over two features, or over its scores if there are more.

    w'x + b = 0 between two classes, and dashed lines through the closest rows where all are
    classified correctly.

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
    #: Index in `classes` of the prediction at (y, x); len(classes) where it is "reject".
    decided: Ints
    rows: Array  #: The rows shown, and the index in `classes` of their labels.
    codes: Ints
    wrong: Ints  #: Misclassified rows, and how many the classifier rejects.
    rejected: int
    classes: list[Any]
    names: tuple[str, str]
    values: Array | None = None  #: decision_function at (y, x), for two classes.
    #: The closest row of each of two classes where none is misclassified.
    closest: Ints | None = None
    #: |decision_function| at the closest row; and as a distance, for linear classifiers.
    margin: float | None = None
    distance: float | None = None
    supports: Array | None = None  #: Support vectors of a kernel perceptron.
    strips: bool = False  #: Whether x is the predicted class, as there are more features.
    learned: int | None = None  #: In a film, the row that was just learned from; -1 for none.

    @classmethod
    def from_estimator(cls, model: BaseEstimator, X: Any, y: Any, *, names: Names = None) -> Self:
        """Evaluate a fitted classifier on a grid of two features.

        More features, or one, are drawn by the scores: a strip for each predicted class, and in it
        the lead of its score over the next class. There every row lies on the side of its
        prediction.
        """
        R, codes = draw.check_classifier(model, X, y)
        classes = model.classes_.tolist()
        predicted = draw.places(ask(model, "predict", R), classes)
        right, rejected = predicted == codes, predicted == len(classes)
        wrong = np.flatnonzero(~right & ~rejected)
        has_score = len(classes) == 2 and hasattr(model, "decision_function")
        shown: dict[str, Any] = {"model": type(model).__name__, "codes": codes, "classes": classes}
        shown |= {"wrong": wrong, "rejected": int(rejected.sum())}
        v = ask(model, "decision_function", R) if has_score and right.all() else np.zeros(len(R))
        if np.array_equal(v > 0, codes == 1) and v.any():  # costs shift the threshold from zero
            own = [np.flatnonzero(codes == k) for k in (0, 1)]
            shown["closest"] = np.array([i[np.argmin(np.abs(v[i]))] for i in own if len(i)])
            shown["margin"] = margin = float(np.abs(v).min())
            length = np.linalg.norm(getattr(model, "coef_", 0.0))
            shown["distance"] = margin / length if length else None
        if R.shape[1] != 2:
            return cls(**shown, **_strips(model, R, predicted, len(classes)))
        a, b = (np.linspace(*draw.limits(column), GRID) for column in R.T)
        G, shape = draw.grid_points(a, b), (len(b), len(a))
        if has_score:
            shown["values"] = np.reshape(ask(model, "decision_function", G), shape).astype(float)
        if hasattr(model, "support_vectors_"):
            shown["supports"] = draw.check_rows(model.support_vectors_)
        decided = draw.places(ask(model, "predict", G), classes).reshape(shape)
        first, second = column_names(model, X, names)
        return cls(x=a, y=b, decided=decided, rows=R, names=(first, second), **shown)

    @property
    def claim(self) -> str:
        n, rows = len(self.wrong), plural(len(self.rows), "row")
        words = f"{self.model}: all {rows} are on the correct side"
        if n or self.rejected:
            words = f"{self.model}: {n} of {rows} {'is' if n == 1 else 'are'} misclassified"
        if self.rejected:
            words += f", {self.rejected} rejected"
        if self.distance is not None:
            words += f", the closest at distance {number(self.distance, 3)}"
        return words

    def animate(
        self, steps: Any, *, captions: Names = None, frames: int = 60, interval: int = 250
    ) -> Animation:
        """The line between two classes as it moves, over the rows of the picture.

        `steps` is a trace of the rows shown, by which the line moves with each correction, pass or
        step, sampled evenly to at most `frames` frames of `interval` milliseconds; or fitted models
        of the two features with `captions`, such as one for each of several priors.
        """
        if self.strips or len(self.classes) != 2:
            raise ValueError("only a picture of two classes and two features can move.")
        if isinstance(steps, adaline.Trace):
            scores, words, learned = _lines_of_trace(steps, len(self.rows), frames)
        else:
            words = [f"Model {k}" for k in range(len(steps))] if captions is None else [*captions]
            if not steps or isinstance(steps, str) or len(words) != len(steps):
                raise ValueError(
                    f"steps is a {type(steps).__name__} of {len(steps)} and there are {len(words)} "
                    "captions; expected the result of adaline.trace, or fitted models."
                )
            for model in steps:
                draw.check_model(model, "decision_function")
                draw.encode(model.classes_, self.classes)
            scores = [partial(ask, model, "decision_function") for model in steps]
            learned = np.full(len(steps), -1)
        signs, pictures = np.where(self.codes == 1, 1.0, -1.0), []
        G = draw.grid_points(self.x, self.y)
        plain: dict[str, Any] = dict.fromkeys(("closest", "margin", "distance", "supports"))
        for score, caption, row in zip(scores, words, learned.tolist(), strict=True):
            v = np.reshape(score(G), self.decided.shape)
            # A row on the line is on neither side, and without a line there is no decision.
            moved: dict[str, Any] = {"decided": np.where(v == 0, 2, v > 0), "values": v}
            moved["wrong"] = np.flatnonzero(signs * score(self.rows) <= 0.0)
            moved |= plain | {"rejected": 0, "model": caption, "learned": row}
            pictures.append(replace(self, **moved))
        return Animation(pictures, interval)

    def _draw(self, ax: draw.Axes) -> None:
        draw.image(ax, self.x, self.y, draw.tints(len(self.classes))[self.decided])
        if self.values is not None:
            draw.boundary(ax, self.x, self.y, self.values, self.margin)
        draw.classes(ax, self.rows, self.codes, self.classes)
        if self.strips:
            names = [*self.classes, "reject"][: int(self.decided.max()) + 1]
            words = [draw.label(name, 14) for name in names]
            ax.set_xticks(range(len(words)), words, rotation=30 if sum(map(len, words)) > 36 else 0)
        if self.learned is None:
            draw.mark(ax, self.rows[self.wrong], "misclassified", "x", s=34)
        else:  # in a film, the legend stays as it is
            look: dict[str, Any] = {"color": draw.INK, "zorder": 4}
            ax.scatter(*self.rows[self.wrong].T, marker="x", s=34, label="misclassified", **look)
            row = self.rows[[self.learned]] if self.learned >= 0 else np.empty((0, 2))
            ax.scatter(*row.T, s=150, facecolors="none", label="learned from", **look)
        if self.closest is not None:
            draw.mark(ax, self.rows[self.closest], "closest rows", "o")
        if self.supports is not None:
            draw.mark(ax, self.supports, "support vectors", "s")
        draw.describe(ax, *self.names, xlim=self.x[[0, -1]], ylim=self.y[[0, -1]])


def _lines_of_trace(
    trace: adaline.Trace, n: int, frames: int
) -> tuple[list[Scores], list[str], Ints]:
    """w'x + b, a name and the row learned from, of each step to be shown."""
    theta, words, learned = draw.weights_along(trace)
    if theta.shape[1] != 3:
        raise ValueError(f"there are {theta.shape[1] - 1} weights; a line in the plane has two.")
    # Ho and Kashyap's margins are of all rows; else a row that no step met is not missed.
    known = trace.extra["b"].shape[1] if "b" in trace.extra else int(trace.samples.max()) + 1
    if known > n:
        raise ValueError(
            f"trace learned from {known} rows and the picture shows {n}; make both from the same X."
        )
    kept = choose_frames(len(words), frames)
    lines: list[Scores] = [lambda at, k=k: at @ theta[k, :2] + theta[k, 2] for k in kept]  # type: ignore[misc]
    return lines, [words[k] for k in kept], learned[kept]


def _strips(model: BaseEstimator, R: Array, predicted: Ints, K: int) -> dict[str, Any]:
    """A strip for each predicted class ("reject" is K), and in it by how much its score leads.

    Axes are decision scores, not features, so that every row is drawn on the side of its
    prediction; a slice at the means of the other features would not do that.
    """
    methods = [m for m in ("decision_function", "predict_log_proba") if hasattr(model, m)]
    scores = np.asarray(ask(model, methods[0], R) if methods else np.nan)
    if not np.isfinite(scores).all():
        raise ValueError(
            f"{type(model).__name__} has no finite scores, and there are {R.shape[1]} columns; a "
            "picture of features has two."
        )
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros(len(R)), scores])
    n, known, K = np.arange(len(R)), predicted < K, max(K, int(predicted.max()) + 1)
    own = np.where(known, predicted, 0)
    others = scores.copy()
    others[n, own] = -np.inf
    lead = np.where(known, scores[n, own] - others.max(axis=1), 0.0)
    width = max(GRID, 8 * K) // K  # grid points per strip
    x = (np.arange(K * width) + 0.5) / width - 0.5
    y = np.linspace(*draw.limits(np.append(lead, 0.0)), GRID)
    decided = np.tile(np.rint(x).astype(np.int64), (len(y), 1))
    # Multiples of the golden ratio modulo 1 fill a strip evenly.
    rows = np.column_stack([predicted + 0.8 * ((n * 0.6180339887498949) % 1.0 - 0.5), lead])
    names = "predicted", "lead over the next class"
    return {"x": x, "y": y, "decided": decided, "rows": rows, "names": names, "strips": True}
