"""A session: messages in, drawings out; files in parts; nothing refused changes a state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline.play import Session
from adaline.play.messages import Refused, packed, separated, unpacked
from adaline.play.session import HOMES, tabs


def test_the_board_is_the_first_tab():
    assert tabs()[0] == "board"
    assert set(tabs()) <= set(HOMES)


def test_numbers_that_json_cannot_write_are_null():
    text = packed({"a": np.array([1.0, np.nan]), "b": np.float32(np.inf), "c": (np.int64(3), True)})
    assert json.loads(text) == {"a": [1.0, None], "b": None, "c": [3, True]}
    with pytest.raises(TypeError, match="a drawing holds object"):
        packed({"a": object()})


def test_bytes_travel_behind_the_header():
    frame = packed({"tab": "x", "drawing": {"one": b"abc", "more": [b"", b"de"]}})
    length = int.from_bytes(frame[:4], "little")
    header, rest = json.loads(frame[4 : 4 + length]), frame[4 + length :]
    assert header["sizes"] == [3, 0, 2]
    assert header["drawing"] == {"one": {"$bytes": 0}, "more": [{"$bytes": 1}, {"$bytes": 2}]}
    assert rest == b"abcde"
    assert separated({"x": 1}) == ({"x": 1}, [])


def test_a_frame_of_the_page_is_read():
    header = json.dumps({"tab": "board", "event": "upload", "name": "ä.csv"}).encode()
    frame = len(header).to_bytes(4, "little") + header + b"\x00\x01"
    assert unpacked(frame) == (json.loads(header), b"\x00\x01")


def test_a_file_comes_in_parts_and_is_one_event():
    page, text = Session(), b"a,b,k\n1,2,x\n3,4,y\n"
    part = {"tab": "board", "event": "upload", "name": "t.csv"}
    assert list(page.hear({**part, "more": True}, text[:7])) == []
    (answer,) = page.hear(part, text[7:])
    assert answer["drawing"]["file"]["name"] == "t.csv"
    assert len(page.states["board"].points) == 2


def test_what_is_refused_leaves_the_state_as_it_was():
    page = Session()
    list(page.hear({"tab": "board", "event": "start"}))
    before = page.states["board"]
    (answer,) = page.hear({"tab": "board", "event": "add", "x": "here"})
    assert answer == {"tab": "board", "error": "x is 'here'; expected a number."}
    assert page.states["board"] is before


def test_a_defect_is_told_without_a_traceback_to_the_page(monkeypatch, capsys):
    def broken(state, event):
        raise RuntimeError("secret place")

    monkeypatch.setattr("adaline.play.board.step", broken)
    (answer,) = Session().hear({"tab": "board", "event": "start"})
    assert "secret" not in json.dumps(answer)
    assert "defect" in answer["error"]
    assert "secret place" in capsys.readouterr().err


def test_work_in_parts_goes_on_by_itself(monkeypatch):
    def counting(state, event):
        k = event.get("k", 0) + 1
        return state, {"k": k, "then": {"event": "on", "k": k} if k < 3 else None}

    monkeypatch.setattr("adaline.play.board.step", counting)
    answers = list(Session().hear({"tab": "board", "event": "start"}))
    assert [answer["drawing"] for answer in answers] == [{"k": 1}, {"k": 2}, {"k": 3}]


@pytest.mark.parametrize(
    "message", [{}, {"tab": "board"}, {"tab": [], "event": "x"}, {"tab": 1, "event": "x"}]
)
def test_a_message_of_no_page_ends_the_conversation(message):
    with pytest.raises(Refused):
        list(Session().hear(message))
