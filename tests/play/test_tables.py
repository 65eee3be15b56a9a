"""The tab of tables: what the command gives, a model to try, hostile files and names."""

from __future__ import annotations

import csv
import io
import json
import math
import time

import numpy as np
import pytest

import adaline
import adaline.data
from adaline._names import public_homes
from adaline.play import tables
from adaline.play.session import to_json

HOSTILE = [
    '<img src=x onerror="alert(1)">',
    "--out=elsewhere.adaline",
    "a*,b",
    "=cmd|' /C calc'!A0",
    "size\nof it",
    "\u202eecirp",
    "'); drop table --",
]


def table(names, rows=60, seed=0):
    """A CSV file whose last column is about the sum of the others."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, len(names) - 1))
    y = X.sum(axis=1) + 0.1 * rng.normal(size=rows)
    text = io.StringIO()
    csv.writer(text).writerows([names, *np.column_stack([X, y]).round(6).tolist()])
    return text.getvalue().encode()


def awaited(state, drawing, patience=60.0):
    """State and drawing once nothing is running."""
    end = time.monotonic() + patience
    while drawing["doing"]:
        assert time.monotonic() < end, "the command does not end"
        state, drawing = tables.step(state, {"event": "wait"})
    return state, drawing


def uploaded(content, name="table.csv", state=None):
    event = {"event": "upload", "name": name, "bytes": content}
    return awaited(*tables.step(state or tables.start(), event))


@pytest.fixture(scope="module")
def fitted():
    """A fit of numbers, text and dates, done once."""
    rng = np.random.default_rng(1)
    rows = [["size", "colour", "sold", "id", "price"]]
    for k in range(80):
        size, colour = rng.uniform(20, 90), rng.choice(["red", "blue", "green"])
        day = f"2024-{1 + k % 12:02d}-{1 + k % 28:02d}"
        price = 3 * size + 20 * (colour == "red") + 8 * rng.normal()
        rows.append([f"{size:.2f}", colour, day, str(k + 1), f"{price:.2f}"])
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    state, drawing = uploaded(text.getvalue().encode(), "houses.csv")
    state, drawing = awaited(*tables.step(state, {"event": "fit", "target": "price"}))
    yield state, drawing
    tables.end(state)


def test_a_fit_says_what_the_command_says(fitted):
    drawing = fitted[1]
    assert "problem" not in drawing
    assert drawing["fit"]["verdict"].startswith("Explains 98")
    assert drawing["fit"]["model"]["name"] == "ridge"
    assert drawing["command"].startswith("adaline fit houses.csv --target=price")
    assert "--json" not in drawing["command"]
    names = [row["name"] for row in drawing["fit"]["coefficients"]]
    assert {"size", "colour=red"} <= set(names)
    json.dumps(to_json(drawing), allow_nan=False)


def test_model_and_report_can_be_taken_away(fitted, tmp_path):
    state, _ = fitted
    for what, begins in {"model": b"", "report": b"<!doctype html"}.items():
        same, drawing = tables.step(state, {"event": "download", "what": what})
        assert same is state
        content = drawing["download"]["bytes"]
        assert content[: len(begins)].lower() == begins
        (tmp_path / drawing["download"]["name"]).write_bytes(content)
    prepared = adaline.load(tmp_path / "model.adaline")
    assert prepared.predict(state.path / "houses.csv").shape == (80,)
    assert str(state.path) not in (tmp_path / "report.html").read_text("utf-8")


def test_predictions_have_intervals_and_can_be_taken_away(fitted):
    state, drawing = awaited(*tables.step(fitted[0], {"event": "predict"}))
    assert drawing["predicted"]["rows"] == 80
    content = tables.step(state, {"event": "download", "what": "predictions"})[1]["download"][
        "bytes"
    ]
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == 80
    told = state.prepared.predict(state.path / "houses.csv")
    assert [float(row["prediction"]) for row in rows] == told.tolist()
    assert all(float(r["low"]) < float(r["prediction"]) < float(r["high"]) for r in rows)


def test_the_form_begins_with_the_first_row_and_answers_as_the_model_does(fitted):
    state, drawing = fitted
    row = {f["name"]: f["value"] for f in drawing["fields"]}
    same, shown = tables.step(state, {"event": "try", "row": row})
    assert same is state
    answer = shown["answer"]
    first = state.prepared.predict(state.path / "houses.csv")[0]
    assert answer["prediction"] == first
    low, high = answer["interval"]["low"][0], answer["interval"]["high"][0]
    assert low < first < high
    parts = answer["parts"]
    whole = [parts["base"], *(c["part"] for c in parts["columns"])]
    assert parts["score"] == first
    assert math.fsum(whole) == pytest.approx(first, rel=1e-12)
    assert {c["name"] for c in parts["columns"]} == {"size", "colour", "sold"}
    json.dumps(to_json(shown), allow_nan=False)


def test_a_row_may_have_gaps_and_values_that_were_never_seen(fitted):
    state, _ = fitted
    row = {"size": "", "colour": 'pu"rp,le\n', "sold": "2031-01-01"}
    answer = tables.step(state, {"event": "try", "row": row})[1]["answer"]
    assert math.isfinite(answer["prediction"])
    assert answer["unknown"] == ["colour"]
    empty = tables.step(state, {"event": "try", "row": {}})[1]["answer"]
    assert math.isfinite(empty["prediction"])


BAD_ROWS = [{"size": value} for value in ("many", "1e999", 3, None, "1" * 5000)]


@pytest.mark.parametrize("row", [*BAD_ROWS, {"sold": "yesterday"}, [], "size", None])
def test_a_row_that_no_file_could_have_is_refused_with_a_sentence(fitted, row):
    state, _ = fitted
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the sentence is looked at below
        tables.step(state, {"event": "try", "row": row})
    assert str(state.path) not in str(refused.value)
    assert len(str(refused.value)) < 600


def test_classes_have_probabilities_with_intervals(monkeypatch):
    monkeypatch.setattr(tables, "_can_report", lambda: False)
    rng = np.random.default_rng(2)
    lines = ["x,kind"] + [
        f"{(x := rng.normal()):.4f},{'yes' if x + 0.5 * rng.normal() > 0 else 'no'}"
        for _ in range(80)
    ]
    state, _ = uploaded("\n".join(lines).encode())
    try:
        state, drawing = awaited(*tables.step(state, {"event": "fit", "target": "kind"}))
        assert drawing["fit"]["model"]["name"] == "logistic"
        assert drawing["reports"] is False
        answer = tables.step(state, {"event": "try", "row": {"x": "2.5"}})[1]["answer"]
        assert answer["prediction"] == "yes"
        assert sum(c["p"] for c in answer["classes"]) == pytest.approx(1.0)
        assert answer["classes"][0]["label"] == "yes"
        place = answer["classes"][0]["place"]
        assert answer["interval"]["low"][place] < answer["classes"][0]["p"]
        assert answer["parts"]["for"] == "yes"
        with pytest.raises(ValueError, match="no report yet"):
            tables.step(state, {"event": "download", "what": "report"})
    finally:
        tables.end(state)


def test_hostile_names_of_columns_are_names_and_nothing_else(monkeypatch):
    monkeypatch.setattr(tables, "_can_report", lambda: False)
    state, drawing = uploaded(table([*HOSTILE, "--help"]), "<b>$(reboot).csv")
    folder = state.path
    try:
        assert [c["name"] for c in drawing["look"]["columns"]] == [*HOSTILE, "--help"]
        event = {"event": "fit", "target": "--help", "ignore": [HOSTILE[2], HOSTILE[4]]}
        state, drawing = awaited(*tables.step(state, event))
        assert "problem" not in drawing
        fields = [f["name"] for f in drawing["fields"]]
        assert fields == [n for n in HOSTILE if n not in (HOSTILE[2], HOSTILE[4])]
        row = {f["name"]: "1.0" for f in drawing["fields"]}
        answer = tables.step(state, {"event": "try", "row": row})[1]["answer"]
        assert answer["prediction"] == pytest.approx(5, abs=1.5)  # two of seven are left out
        made = {p.name for p in folder.iterdir()} - {".stdout", ".stderr", ".row.csv"}
        assert made == {drawing["file"], "model.adaline"}
        json.dumps(drawing)
    finally:
        tables.end(state)
    assert not folder.exists()


@pytest.mark.parametrize(
    "event",
    [
        {"target": "nobody"},
        {"target": None},
        {"target": ["price"]},
        {"target": "price", "model": "--model"},
        {"target": "price", "model": ["ridge"]},
        {"target": "price", "ignore": ["nobody"]},
        {"target": "price", "ignore": "size"},
        {"target": "price", "use": [["size"]]},
        {"target": "price", "use": 5},
    ],
)
def test_what_cannot_be_learned_is_refused_and_changes_nothing(fitted, event):
    state, _ = fitted
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the sentence is looked at below
        tables.step(state, {"event": "fit", **event})
    assert len(str(refused.value)) < 300
    assert tables.step(state, {"event": "start"})[1]["fit"] is not None


def test_a_file_that_is_no_table_is_told_in_a_sentence():
    state, drawing = uploaded(b"PK\x03\x04" + b"\0" * 200, "../no Excel.xlsx")
    try:
        assert drawing["look"] is None
        assert len(drawing["problem"]) > 20
        assert "Traceback" not in drawing["problem"]
        assert str(state.path) not in drawing["problem"]
    finally:
        tables.end(state)
    with pytest.raises(ValueError, match="empty"):
        tables.step(tables.start(), {"event": "upload", "name": "a.csv", "bytes": b""})


def test_a_fit_can_be_cancelled_and_done_again(monkeypatch):
    monkeypatch.setattr(tables, "_can_report", lambda: False)
    state, _ = uploaded(table(["a", "b", "y"]))
    state, drawing = tables.step(state, {"event": "fit", "target": "y"})
    assert drawing["doing"] == "fit"
    process = state.command.process
    with pytest.raises(ValueError, match="running"):
        tables.step(state, {"event": "fit", "target": "y"})
    state, drawing = tables.step(state, {"event": "cancel"})
    assert (drawing["doing"], drawing["problem"]) == ("", "Cancelled.")
    assert process.poll() is not None
    state, drawing = awaited(*tables.step(state, {"event": "fit", "target": "y"}))
    assert drawing["fit"]["verdict"]
    tables.end(state)


def test_the_end_of_a_page_ends_the_command_and_removes_the_files():
    state, _ = tables.step(
        tables.start(), {"event": "upload", "name": "a.csv", "bytes": table(["a", "y"])}
    )
    process, folder = state.command.process, state.path
    assert folder.exists()
    tables.end(state)
    assert process.poll() is not None
    assert not folder.exists()


@pytest.mark.parametrize("event", ["fit", "predict", "try", "download", "nonsense", None])
def test_without_a_file_there_is_a_sentence(event):
    with pytest.raises(ValueError, match=r"there is no|knows no"):
        tables.step(tables.start(), {"event": event, "target": "y", "what": "model", "row": {}})


def test_the_learners_of_the_page_are_those_of_the_command():
    kinds = [getattr(adaline, name) for name in public_homes("adaline.estimators")]
    commands = {getattr(kind, "_command", None) for kind in kinds}
    assert set(tables.LEARNERS) <= commands
