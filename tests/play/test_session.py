"""A session: messages in, drawings out; files in parts; nothing refused changes a state."""

from __future__ import annotations

import json

import numpy as np
import pytest

from adaline.play import Session
from adaline.play.session import TABS, Refused, pack, split_bytes, unpack


def test_the_board_is_the_first_tab():
    assert Session().tabs == list(TABS)
    assert Session().tabs[0] == "board"


def test_numbers_that_json_cannot_write_are_null():
    text = pack({"a": np.array([1.0, np.nan]), "b": np.float32(np.inf), "c": (np.int64(3), True)})
    assert json.loads(text) == {"a": [1.0, None], "b": None, "c": [3, True]}
    with pytest.raises(TypeError, match="a drawing holds object"):
        pack({"a": object()})


def test_bytes_travel_behind_the_header():
    frame = pack({"tab": "x", "drawing": {"one": b"abc", "more": [b"", b"de"]}})
    length = int.from_bytes(frame[:4], "little")
    header, rest = json.loads(frame[4 : 4 + length]), frame[4 + length :]
    assert header["sizes"] == [3, 0, 2]
    assert header["drawing"] == {"one": {"$bytes": 0}, "more": [{"$bytes": 1}, {"$bytes": 2}]}
    assert rest == b"abcde"
    assert split_bytes({"x": 1}) == ({"x": 1}, [])


def test_a_frame_of_the_page_is_read():
    header = json.dumps({"tab": "board", "event": "upload", "name": "ä.csv"}).encode()
    frame = len(header).to_bytes(4, "little") + header + b"\x00\x01"
    assert unpack(frame) == (json.loads(header), b"\x00\x01")


def test_a_file_comes_in_parts_and_is_one_event():
    page, text = Session(), b"a,b,k\n1,2,x\n3,4,y\n"
    part = {"tab": "table", "event": "upload", "name": "t.csv"}
    assert list(page.hear({**part, "more": True}, text[:7])) == []
    (answer,) = page.hear(part, text[7:])
    assert answer["drawing"]["file"] == {"name": "t.csv", "bytes": len(text)}
    page.end()


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
    assert "internal error" in answer["error"]
    assert "secret place" in capsys.readouterr().err


@pytest.mark.parametrize(
    "message", [{}, {"tab": "board"}, {"tab": [], "event": "x"}, {"tab": 1, "event": "x"}]
)
def test_a_message_of_no_page_ends_the_conversation(message):
    with pytest.raises(Refused):
        list(Session().hear(message))
