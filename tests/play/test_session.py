"""A session: messages in, drawings out; nothing refused changes a state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline.play import Session
from adaline.play.session import to_json


def test_numbers_that_json_cannot_write_are_null():
    drawing = {"a": np.array([1.0, np.nan]), "b": np.float32(np.inf), "c": (np.int64(3), True)}
    assert to_json(drawing) == {"a": [1.0, None], "b": None, "c": [3, True]}
    with pytest.raises(TypeError, match="a drawing holds object"):
        to_json({"a": object()})


def test_what_is_refused_leaves_the_state_as_it_was():
    page = Session()
    page.hear({"tab": "board", "event": "start"})
    before = page.states["board"]
    answer = page.hear({"tab": "board", "event": "add", "x": "here"})
    assert answer == {"tab": "board", "error": "x is 'here'; expected a number."}
    assert page.states["board"] is before


def test_a_defect_is_told_without_a_traceback_to_the_page(monkeypatch, capsys):
    def broken(state, event):
        raise RuntimeError("secret place")

    monkeypatch.setattr("adaline.play.board.step", broken)
    answer = Session().hear({"tab": "board", "event": "start"})
    assert "secret" not in json.dumps(answer)
    assert "internal error" in answer["error"]
    assert "secret place" in capsys.readouterr().err
