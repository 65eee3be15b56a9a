"""The board in notebooks: the page's own front end as an anywidget, with Python at its side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaline import MissingExtra
from adaline.play import board
from adaline.play.points import CLASSES, check_points
from adaline.play.session import Refused, Session, bundle, read_static_files, to_json

if TYPE_CHECKING:
    from anywidget import AnyWidget
else:
    try:
        from anywidget import AnyWidget
    except ImportError as missing:
        raise MissingExtra.of("notebook", "Board()", str(missing.name)) from None


class Board(AnyWidget):
    """The board of `adaline play` in a notebook; Python reads points, weights and verdict back.

    Needs the extra `notebook`. Works in Jupyter, marimo, VS Code and Colab.

    Parameters
    ----------
    X : array-like of shape (n, 2), optional
        Points to begin with; without them, the OR gate.
    y : array-like of shape (n,), optional
        Their labels, up to four different ones; the smallest is class A.

    Examples
    --------
    >>> from adaline.play import Board
    >>> board = Board([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 1, 1, 0])
    >>> board.y.tolist(), board.verdict
    (['A', 'B', 'B', 'A'], 'overlapping')
    >>> Board([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 0, 1]).W
    array([[2., 3.]])
    """

    def __init__(self, X: Any = None, y: Any = None) -> None:
        import traitlets

        self._session = Session(["board"])
        style = read_static_files()["style.css"].decode()
        self.add_traits(
            _esm=traitlets.Unicode(bundle()).tag(sync=True),
            _css=traitlets.Unicode(style).tag(sync=True),
            tabs=traitlets.List(["board"]).tag(sync=True),
            notebook=traitlets.Bool(True).tag(sync=True),
        )
        super().__init__()
        self.on_msg(self._answer)
        points = None
        if X is not None or y is not None:
            x, labels = np.asarray(X, dtype=np.float64), np.unique(np.asarray(y))
            if x.ndim != 2 or x.shape != (len(np.ravel(y)), 2) or len(labels) > len(CLASSES):
                raise ValueError(
                    f"X has shape {x.shape} and y {np.shape(y)} with {len(labels)} labels; a board "
                    "shows points of the plane, (n, 2), with a label each, of up to four classes."
                )
            points = check_points(x, np.searchsorted(labels, np.asarray(y)))
        self._session.states["board"] = board.start(points)

    def _answer(self, _widget: Any, message: Any, _buffers: Any) -> None:
        """A message of the front end is answered."""
        try:
            answer = self._session.hear(message)
        except Refused as refused:
            answer = {"tab": "board", "error": str(refused)}
        self.send(to_json(answer))

    @property
    def _state(self) -> board.State:
        state: board.State = self._session.states["board"]
        return state

    @property
    def X(self) -> Any:
        """Places of the points, (n, 2)."""
        return self._state.points.X.copy()

    @property
    def y(self) -> Any:
        """Classes of the points, "A" to "D"."""
        return self._state.points.labels

    @property
    def verdict(self) -> str | None:
        """What `separability` says of the points."""
        proven = self._state.points.separability
        return None if proven is None else proven.verdict

    @property
    def W(self) -> Any:
        """Weights of the learner at the step that is shown, (K, 2); None for learners without."""
        weights = self._state.run.weights(self._state.step)
        return None if weights is None else weights[0].copy()

    @property
    def b(self) -> Any:
        """Biases of the learner at the step that is shown, (K,)."""
        weights = self._state.run.weights(self._state.step)
        return None if weights is None else weights[1].copy()

    @property
    def code(self) -> str:
        """The Python lines that end with the same W and b."""
        return self._state.run.code(self._state.step)
