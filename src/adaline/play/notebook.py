"""The board in notebooks: the page's own front end as an anywidget, with Python at its side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adaline import MissingExtra
from adaline.play.board import State
from adaline.play.front_end import bundle, static_files
from adaline.play.runs import code_of
from adaline.play.session import Refused, Session, split_bytes

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

    Attributes
    ----------
    X, y : ndarray
        The points as they are on the board now, and their classes "A" to "D".
    verdict : str or None
        What `separability` says of them.
    W, b : ndarray or None
        Weights of the learner at the step that is shown; None for learners without.
    code : str
        The Python lines that give the same.

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
        self.add_traits(
            _esm=traitlets.Unicode(bundle()).tag(sync=True),
            _css=traitlets.Unicode(static_files()["style.css"].decode()).tag(sync=True),
            tabs=traitlets.List(["board"]).tag(sync=True),
            notebook=traitlets.Bool(True).tag(sync=True),
        )
        super().__init__()
        self.on_msg(self._heard)
        self._ask({"event": "start"})
        if (X is None) != (y is None):
            raise ValueError("points need both X and y; give both, or neither.")
        if X is not None:
            self._ask({"event": "points", "X": np.asarray(X), "codes": _codes(y)})

    def _heard(self, _widget: Any, message: Any, buffers: Any) -> None:
        """A message of the front end."""
        payload = bytes(buffers[0]) if buffers else b""
        try:
            for answer in self._session.hear(message, payload):
                self.send(*split_bytes(answer))
        except Refused as refused:
            self.send({"tab": "board", "error": str(refused)})

    def _ask(self, event: dict[str, Any]) -> None:
        for answer in self._session.hear({"tab": "board", **event}):
            if "error" in answer:
                raise ValueError(answer["error"])

    @property
    def _state(self) -> State:
        state: State = self._session.states["board"]
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
        proven = self._state.separability
        return None if proven is None else proven.verdict

    @property
    def W(self) -> Any:
        """Weights of the learner at the step that is shown, (K, 2)."""
        return self._weights(0)

    @property
    def b(self) -> Any:
        """Biases of the learner at the step that is shown, (K,)."""
        return self._weights(1)

    def _weights(self, which: int) -> Any:
        run = self._state.run
        weights = None if isinstance(run, str) else run.weights(self._state.step)
        return None if weights is None else weights[which].copy()

    @property
    def code(self) -> str:
        """The Python lines that end with the same W and b."""
        state, run = self._state, self._state.run
        return run if isinstance(run, str) else code_of(run, state.step, state.points)


def _codes(y: Any) -> Any:
    """Labels as the numbers of classes, in their order."""
    labels, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(labels) > 4:
        raise ValueError(f"y has {len(labels)} labels; a board shows up to four classes.")
    return codes
