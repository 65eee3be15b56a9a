"""The board in notebooks: the page's front end as one module, and Python that reads it back."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("anywidget", reason="the extra `notebook` is not installed")
from adaline.play import Board


def test_what_the_front_end_sends_is_answered_and_read_back():
    board, sent = Board(), []
    board.send = sent.append
    board._answer(None, {"tab": "board", "event": "set", "link": {"preset": "xor"}}, [])
    board._answer(None, {"tab": "board", "event": "set", "link": {"learner": "kernel"}}, [])
    assert board.verdict == "overlapping"
    assert board.W is None
    assert set(sent[-1]["drawing"]["present"]["grid"]["codes"]) == {"$bytes"}
    board._answer(None, {"tab": "board", "event": "add", "x": 9, "y": 7, "label": 2}, [])
    assert board.X.tolist()[-1] == [9, 7]
    assert board.y.tolist() == ["A", "B", "B", "A", "C"]
    board._answer(None, {"tab": "nothing"}, [])
    assert "error" in sent[-1]


def test_points_of_the_user_and_the_code_of_what_is_shown():
    X = np.array([[0.1, 0.2], [1.0, 1.0], [2.0, 0.3]])
    board = Board(X, ["no", "yes", "yes"])
    found: dict[str, object] = {}
    exec(board.code, found)
    assert np.array_equal(found["X"], X)
    assert np.array_equal(found["W"], board.W)
    assert np.array_equal(found["b"], board.b)
    with pytest.raises(ValueError, match="5 labels"):
        Board(np.zeros((5, 2)), [1, 2, 3, 4, 5])
    with pytest.raises(ValueError, match="with a label each"):
        Board(X)
