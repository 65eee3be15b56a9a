"""Who decides what where: regions in the plane, the margin, and the rows that matter."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation.words import number
from adaline.plot import _canvas, _given
from adaline.plot._canvas import Array, Display
from adaline.plot._moving_lines import of_models, of_steps
from adaline.plot._score_plane import plane
from adaline.plot.animation import INTERVAL, MOST_FRAMES, Animation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Ints = NDArray[np.int64]
_WIDE = 44  # letters beside an axis
_RINGS = 100  # wrong or support rows up to which each gets a mark; more would hide the rest
_LETTERS = 36  # of all names under the strips, from which on they are turned


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Decision regions of a classifier: over two features, or of its scores where there are more.

    Lecture: linear discriminants; w'x + b = 0 between two classes, and lines through the closest
    rows where all are on their right side.

    Attributes
    ----------
    model : str
        The name of the classifier.
    x, y : ndarray of shape (g,)
        The grid along both features.
    decided : ndarray of int, shape (g, g)
        Place in `classes` of what is decided at (y, x); len(classes) where it is "reject".
    values : ndarray of shape (g, g), or None
        decision_function there, for two classes.
    rows, codes : ndarray of shape (n, 2) and (n,)
        The rows shown, and the place in `classes` of their labels.
    wrong, closest, supports : ndarray of int, ndarray of int, ndarray of shape (m, 2)
        Rows decided wrongly; the closest row of each of two classes where none is wrong; and
        rows that a kernel perceptron keeps.
    rejected : int
        How many rows the classifier rejects.
    margin : float or None
        |decision_function| at the closest row, where two features are all and no row is wrong.
    distance : float or None
        The same as a distance, for linear classifiers.
    classes : list
    names : tuple of two str
    held : int
        How many other features are held at their means.
    elsewhere : ndarray of int
        Rows of which the model decides something else than at their place in the picture, as other
        features are not at their means. None where the picture is one of scores.
    strips : bool
        Whether x is the class that is decided, as there are more than three classes.

    Examples
    --------
    >>> from adaline import Perceptron
    >>> from adaline.plot import DecisionDisplay
    >>> X, y = [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]], [0, 1, 1, 1]
    >>> picture = DecisionDisplay.from_estimator(Perceptron().fit(X, y), X, y)
    >>> print(picture.claim)
    Perceptron has all 4 rows on their right side, the closest at distance 0.707
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
    closest: Ints
    supports: Array
    rejected: int
    margin: float | None
    distance: float | None
    classes: list[Any]
    names: tuple[str, str]
    held: int
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
        """Ask a fitted classifier over a grid.

        Parameters
        ----------
        model : fitted classifier
        X, y : array-like of shape (n, p) and (n,)
            Rows to show, training rows or others.
        features : two of the columns, by name or number
            Where there are more than two, the others are held at their means, and rows that
            these others decide are shown faintly. By default more than two features are drawn by
            the scores: of two classes against the direction in which rows differ most beside, of
            three in the plane of the scores, of more by the lead over the next class. There every
            row lies on the side of its prediction.
        names : sequence of str, optional
        grid : int, default=160
            Points along each axis.
        """
        _given.fitted(model)
        R = _given.rows(X)
        _given.width(model, R)
        if not hasattr(model, "classes_"):
            raise TypeError(f"{type(model).__name__} is no classifier; see ResidualsDisplay.")
        codes = _given.codes(y, model.classes_, len(R))
        named = _given.column_names(model, X, R.shape[1], names)
        classes = model.classes_.tolist()
        answers = _places(_given.ask(model, "predict", R), classes)
        right, rejected = answers == codes, answers == len(classes)
        if features is None and R.shape[1] != 2:
            return cls._of_scores(model, R, codes, answers, int(grid))
        pair = _given.two_of(features, named)
        a, b, G = _given.plane(R, pair, int(grid))
        decided = _places(_given.ask(model, "predict", G), classes)
        here = np.tile(R.mean(axis=0), (len(R), 1))
        here[:, pair] = R[:, pair]
        shown = _places(_given.ask(model, "predict", here), classes)
        values = _values(model, G) if len(classes) == 2 else None
        closest, margin, distance = _closest(model, R, codes, right)
        supports = getattr(model, "support_vectors_", np.empty((0, R.shape[1])))
        if hasattr(supports, "toarray"):
            supports = supports.toarray()
        return cls(
            model=type(model).__name__,
            x=a,
            y=b,
            decided=decided.reshape(len(b), len(a)),
            values=None if values is None else values.reshape(len(b), len(a)),
            rows=R[:, pair],
            codes=codes,
            wrong=np.flatnonzero(~right & ~rejected),
            closest=closest,
            supports=np.asarray(supports, dtype=np.float64)[:, pair],
            rejected=int(rejected.sum()),
            margin=margin,
            distance=distance,
            classes=classes,
            names=(named[pair[0]], named[pair[1]]),
            held=R.shape[1] - 2,
            elsewhere=np.flatnonzero(shown != answers),
        )

    @classmethod
    def _of_scores(cls, model: Any, R: Array, codes: Ints, answers: Ints, grid: int) -> Self:
        """The picture in the plane of the scores."""
        classes = model.classes_.tolist()
        found = plane(model, R, answers, len(classes), grid)
        right, rejected = answers == codes, answers == len(classes)
        closest, margin, distance = np.empty(0, dtype=np.int64), None, None
        if found.values is not None and found.values[0, 0] == found.x[0] and right.all():
            closest, margin, distance = _closest_of(model, found.rows[:, 0], codes)
        return cls(
            model=type(model).__name__,
            x=found.x,
            y=found.y,
            decided=found.decided,
            values=found.values,
            rows=found.rows,
            codes=codes,
            wrong=np.flatnonzero(~right & ~rejected),
            closest=closest,
            supports=np.empty((0, 2)),
            rejected=int(rejected.sum()),
            margin=margin,
            distance=distance,
            classes=classes,
            names=found.names,
            held=0,
            strips=found.strips,
        )

    @property
    def claim(self) -> str:
        n, wrong = len(self.rows), len(self.wrong)
        if wrong or self.rejected:
            said = f"{self.model} has {wrong} of {_canvas.many(n)} on the wrong side"
        else:
            said = f"{self.model} has all {_canvas.many(n)} on their right side"
        if self.rejected:
            said += f" and rejects {self.rejected}"
        if self.distance is not None:
            said += f", the closest at distance {number(self.distance, 3)}"
        if self.held:
            others = "1 other feature" if self.held == 1 else f"{self.held} other features"
            said += f"; {others} held at the mean"
            if len(self.elsewhere):
                said += f", which decide {_canvas.many(len(self.elsewhere))} otherwise"
        return said

    def animate(
        self,
        steps: Any,
        *,
        captions: Sequence[Any] | None = None,
        frames: int = MOST_FRAMES,
        interval: int = INTERVAL,
    ) -> Animation:
        """The line between two classes as it moves, over the rows of the picture.

        Parameters
        ----------
        steps : what `trace` gives, or a list of fitted models
            A trace of the rows shown, by which the line moves with each correction, pass or step;
            or models of the two features, such as one for each of several priors.
        captions : sequence of str, optional
            What to say of each model.
        frames : int, default=60
            The most frames of a trace; of more steps, as many are taken at equal distances.
        interval : int, default=250
            Milliseconds of a frame.
        """
        if self.held or self.strips or len(self.classes) != 2:
            raise ValueError("only a picture of two classes and two features can move.")
        if isinstance(steps, list | tuple):
            return Animation(self, of_models(self, steps, captions), interval)
        if captions is not None:
            raise ValueError("captions are for a list of models; a trace names its own steps.")
        return Animation(self, of_steps(self, steps, frames), interval)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        tint = [_canvas.tint(_canvas.colour(k), 0.18) for k in range(len(self.classes))] + [
            (0.6, 0.6, 0.6, 0.25)
        ]
        box = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        elsewhere = np.zeros(len(self.rows), dtype=bool)
        elsewhere[self.elsewhere] = True
        shade = np.array(tint)[self.decided]
        ax.imshow(
            shade, extent=box, origin="lower", aspect="auto", interpolation="nearest", zorder=0
        )
        if self.values is not None and self.values.min() < 0 < self.values.max():
            ax.contour(self.x, self.y, self.values, [0.0], colors=_canvas.INK, linewidths=1.4)
            if self.margin is not None:
                both = [-self.margin, self.margin]
                ax.contour(
                    self.x,
                    self.y,
                    self.values,
                    both,
                    colors=_canvas.INK,
                    linewidths=0.9,
                    linestyles="--",
                )
        for k, label in enumerate(self.classes):
            some = self.rows[(self.codes == k) & ~elsewhere]
            if len(some):
                _canvas.points(ax, some[:, 0], some[:, 1], k, label=_canvas.plain(label))
            faint = self.rows[(self.codes == k) & elsewhere]
            if len(faint):
                look: dict[str, Any] = {"facecolors": "none", "edgecolors": _canvas.colour(k)}
                words = f"{_canvas.plain(label)}, decided by other features"
                ax.scatter(
                    faint[:, 0],
                    faint[:, 1],
                    marker=_canvas.marker(k),
                    s=14,
                    alpha=0.6,
                    linewidths=0.7,
                    zorder=2,
                    label=words,
                    rasterized=len(faint) > _canvas.MANY_POINTS,
                    **look,
                )
        if self.strips:
            places = range(int(self.decided.max()) + 1)
            shown = [*self.classes, "reject"]
            names = [_canvas.plain(shown[k], 14) for k in places]
            turned = sum(map(len, names)) > _LETTERS
            turn: dict[str, Any] = {"rotation": 30, "ha": "right"} if turned else {}
            ax.set_xticks(list(places), names, **turn)
        if len(self.wrong) <= _RINGS:
            _ring(ax, self.rows[self.wrong], "x", "on the wrong side")
        _ring(ax, self.rows[self.closest], "o", "closest rows")
        if len(self.supports) <= _RINGS:
            _ring(ax, self.supports, "s", "supports")
        ax.set(xlim=box[:2], ylim=box[2:])
        _canvas.label_axes(ax, *self.names[:2], _WIDE)
        _canvas.legend(ax)


def _places(labels: Any, classes: list[Any]) -> Ints:
    """Place of each label in classes; one past the last for "reject"."""
    places = {label: k for k, label in enumerate(classes)}
    found = [places.get(label, len(classes)) for label in np.asarray(labels).tolist()]
    return np.array(found, dtype=np.int64)


def _values(model: Any, X: Array) -> Array | None:
    if not hasattr(model, "decision_function"):
        return None
    v = np.asarray(_given.ask(model, "decision_function", X), dtype=np.float64)
    return v if v.ndim == 1 else None


def _closest(
    model: Any, R: Array, codes: Ints, right: NDArray[np.bool_]
) -> tuple[Ints, float | None, float | None]:
    """The closest row of each of two classes where all are right, and how close."""
    nothing = np.empty(0, dtype=np.int64)
    v = _values(model, R) if len(model.classes_) == 2 and right.all() and R.shape[1] == 2 else None
    if v is None:
        return nothing, None, None
    return _closest_of(model, v, codes)


def _closest_of(model: Any, v: Array, codes: Ints) -> tuple[Ints, float | None, float | None]:
    """The same by the scores."""
    own = [np.flatnonzero(codes == k) for k in (0, 1)]
    found = [rows[np.argmin(np.abs(v[rows]))] for rows in own if len(rows)]
    margin = float(np.abs(v).min())
    distance = None
    if hasattr(model, "coef_"):
        length = float(np.linalg.norm(np.asarray(model.coef_, dtype=np.float64)))
        distance = margin / length if length else None
    return np.array(found, dtype=np.int64), margin, distance


def _ring(ax: Axes, at: Array, shape: str, words: str) -> None:
    """Rows that matter, marked over their points."""
    if not len(at):
        return
    look: dict[str, Any] = {"s": 34, "color": _canvas.INK, "linewidths": 0.9, "zorder": 4}
    if shape != "x":
        look |= {"s": 90, "facecolors": "none"}
    label = f"{words} ({len(at)})" if shape != "o" else words
    ax.scatter(at[:, 0], at[:, 1], marker=shape, label=label, **look)
