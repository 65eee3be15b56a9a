"""The tab of tables: what the command gives, a model to try, hostile files and names."""

from __future__ import annotations

import csv
import datetime
import gc
import io
import json
import math
import os
import time
import warnings

import numpy as np
import pytest

import adaline
import adaline.data
from adaline._names import public_homes
from adaline.play import Session, commands, tables, trial_form
from adaline.play.commands import Folder, clean_name
from adaline.play.session import pack

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


def test_the_columns_of_a_file_are_told(fitted):
    look = fitted[1]["look"]
    assert [c["name"] for c in look["columns"]] == ["size", "colour", "sold", "id", "price"]
    assert "id" in look["left_out"]
    assert look["rows"] == 80


def test_a_fit_says_what_the_command_says(fitted):
    drawing = fitted[1]
    assert "problem" not in drawing
    assert drawing["fit"]["verdict"].startswith("Explains 98")
    assert drawing["fit"]["model"]["name"] == "ridge"
    assert drawing["command"].startswith("adaline fit houses.csv --target=price")
    assert "--json" not in drawing["command"]
    names = [row["name"] for row in drawing["fit"]["coefficients"]]
    assert {"size", "colour=red"} <= set(names)
    pack({"tab": "table", "drawing": drawing})


def test_model_and_report_can_be_taken_away(fitted, tmp_path):
    state, _ = fitted
    for what, begins in {"model": b"", "report": b"<!doctype html"}.items():
        same, drawing = tables.step(state, {"event": "download", "what": what})
        assert same is state
        content = drawing["download"]["bytes"]
        assert content[: len(begins)].lower() == begins
        (tmp_path / drawing["download"]["name"]).write_bytes(content)
    prepared = adaline.load(tmp_path / "model.adaline")
    assert prepared.predict(state.folder.path / "houses.csv").shape == (80,)
    assert str(state.folder.path) not in (tmp_path / "report.html").read_text("utf-8")


def test_the_report_is_read_at_an_address_that_nobody_can_guess(fitted):
    page = Session(["table"])
    page.states["table"] = fitted[0]
    (first,), (second,) = (list(page.hear({"tab": "table", "event": "read"})) for _ in range(2))
    address = second["drawing"]["document"]
    assert address != first["drawing"]["document"]
    key = address.removeprefix("/document/")
    assert len(key) >= 32
    assert list(page.documents) == [key]
    assert page.documents[key].lower().startswith(b"<!doctype html")


def test_predictions_have_intervals_and_can_be_taken_away(fitted):
    state, drawing = awaited(*tables.step(fitted[0], {"event": "predict"}))
    assert drawing["predicted"]["rows"] == 80
    content = tables.step(state, {"event": "download", "what": "predictions"})[1]["download"][
        "bytes"
    ]
    rows = list(csv.DictReader(io.StringIO(content.decode())))
    assert len(rows) == 80
    told = state.prepared.predict(state.folder.path / "houses.csv")
    assert [float(row["prediction"]) for row in rows] == told.tolist()
    assert all(float(r["low"]) < float(r["prediction"]) < float(r["high"]) for r in rows)


def test_the_form_begins_with_the_first_row_and_answers_as_the_model_does(fitted):
    state, drawing = fitted
    kinds = {f["name"]: f["kind"] for f in drawing["fields"]}
    assert kinds == {"size": "number", "colour": "text", "sold": "date"}
    row = {f["name"]: f["value"] for f in drawing["fields"]}
    same, shown = tables.step(state, {"event": "try", "row": row})
    assert same is state
    answer = shown["answer"]
    first = state.prepared.predict(state.folder.path / "houses.csv")[0]
    assert answer["prediction"] == first
    low, high = answer["interval"]["low"][0], answer["interval"]["high"][0]
    assert low < first < high
    parts = answer["parts"]
    whole = [parts["base"], *(c["part"] for c in parts["columns"])]
    assert parts["score"] == first
    assert math.fsum(whole) == pytest.approx(first, rel=1e-12)
    assert {c["name"] for c in parts["columns"]} == {"size", "colour", "sold"}
    pack({"tab": "table", "drawing": shown})


def test_a_row_may_have_gaps_and_values_that_were_never_seen(fitted):
    state, _ = fitted
    row = {"size": "", "colour": 'pu"rp,le\n', "sold": "2031-01-01"}
    answer = tables.step(state, {"event": "try", "row": row})[1]["answer"]
    assert math.isfinite(answer["prediction"])
    assert answer["unknown"] == ["colour"]
    empty = tables.step(state, {"event": "try", "row": {}})[1]["answer"]
    assert math.isfinite(empty["prediction"])


@pytest.mark.parametrize(
    "row",
    [
        {"size": "many"},
        {"size": "1e999"},
        {"sold": "yesterday"},
        {"size": 3},
        {"size": None},
        {"size": "1" * 5000},
        [],
        "size",
        None,
    ],
)
def test_a_row_that_no_file_could_have_is_refused_with_a_sentence(fitted, row):
    state, _ = fitted
    with pytest.raises(ValueError) as refused:  # noqa: PT011  the sentence is looked at below
        tables.step(state, {"event": "try", "row": row})
    assert str(state.folder.path) not in str(refused.value)
    assert len(str(refused.value)) < 600


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_first_row_can_be_tried_as_it_is_written(ending, tmp_path):
    days = [datetime.datetime(2023, 1, 1) + datetime.timedelta(hours=7 * k) for k in range(80)]
    path = tmp_path / f"table.{ending}"
    if ending == "csv":  # decimal commas in a column of numbers
        path.write_text("x;y\n" + "".join(f"{k % 9},5;{3 * k},25\n" for k in range(80)))
    else:
        polars = pytest.importorskip("polars")
        polars.DataFrame({"x": days, "y": [3.5 * k for k in range(80)]}).write_parquet(path)
    adaline.save(adaline.data.fit(adaline.LeastSquares(), path, "y"), tmp_path / "m.adaline")
    prepared = adaline.load(tmp_path / "m.adaline")
    (field,) = trial_form.fields(prepared, path)
    assert field["value"] == ("0,5" if ending == "csv" else "2023-01-01")
    told = trial_form.answer(prepared, {"x": field["value"]}, tmp_path)
    assert told["prediction"] == pytest.approx(prepared.predict(path)[0])


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


def _learners():
    kinds = [getattr(adaline, name) for name in public_homes("adaline.estimators")]
    return [kind for kind in kinds if getattr(kind, "_command", None) in tables.LEARNERS]


@pytest.mark.parametrize("kind", _learners())
def test_every_learner_can_be_tried(kind, tmp_path):
    rng = np.random.default_rng(4)
    lines = ["x,colour,y"]
    for k in range(60):
        x, target = rng.normal(), ("no", "yes")[k % 2]
        x += 2.0 * (k % 2)
        lines.append(f"{x:.4f},{'red' if k % 3 else 'blue'},{target if _classes(kind) else k % 7}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(lines))
    data = adaline.data.table(path, "y")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of rows that some learners cannot separate
        prepared = adaline.data.Prepared(data.encoding, kind().fit(data.X, data.y))
    row = {f["name"]: f["value"] for f in trial_form.fields(prepared, path)}
    answer = trial_form.answer(prepared, row, tmp_path)
    assert answer["prediction"] == prepared.predict(path)[0]
    assert len(answer["parts"]["columns"]) == 2
    if answer["classes"]:
        assert sum(c["p"] for c in answer["classes"]) == pytest.approx(1.0)
    assert (answer["interval"] is not None) == trial_form.has_intervals(prepared)
    pack({"tab": "table", "drawing": {"answer": answer}})


def _classes(kind):
    return kind._learns == "classes"


def test_the_folder_is_for_this_user_alone():
    with Folder() as folder:
        assert folder.path.stat().st_mode & 0o077 == 0 or os.name != "posix"
    assert not folder.path.exists()


def test_hostile_names_of_columns_are_names_and_nothing_else(monkeypatch):
    monkeypatch.setattr(tables, "_can_report", lambda: False)
    state, drawing = uploaded(table([*HOSTILE, "--help"]), "<b>$(reboot).csv")
    folder = state.folder.path
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
        assert made == {drawing["file"]["name"], "model.adaline"}
        json.dumps(drawing)
    finally:
        tables.end(state)
    assert not folder.exists()


def test_a_column_that_is_left_out_can_be_used(monkeypatch):
    seen = []
    monkeypatch.setattr(tables, "Command", lambda words, folder: seen.append(words))
    state = tables.State(
        folder=tables.Folder(), name="t.csv", look={"columns": [{"name": "id"}, {"name": "y"}]}
    )
    tables.step(state, {"event": "fit", "target": "y", "use": ["id"], "model": "ridge"})
    tables.end(state)
    assert {"--use=id", "--model=ridge", "--target=y"} <= set(seen[0])


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


BAD_FILES = {
    "zeros": b"\0" * 1000,
    "one line": b"size,price\n",
    "a picture": b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20,
    "no Excel": b"PK\x03\x04" + b"\0" * 200,
}


@pytest.mark.parametrize(("name", "content"), BAD_FILES.items(), ids=BAD_FILES.keys())
def test_a_file_that_is_no_table_is_told_in_a_sentence(name, content):
    ending = ".xlsx" if name == "no Excel" else ".csv"
    state, drawing = uploaded(content, f"../{name}{ending}")
    try:
        told = drawing.get("problem", "")
        if drawing["look"] is None:
            assert len(told) > 20
            assert "Traceback" not in told
            assert str(state.folder.path) not in told
        else:  # a table of junk is one that can be read; learning from it says what is wrong
            target = drawing["look"]["columns"][-1]["name"]
            state, drawing = awaited(*tables.step(state, {"event": "fit", "target": target}))
            assert "Traceback" not in drawing["problem"]
    finally:
        tables.end(state)


@pytest.mark.parametrize("content", [b"", b"x" * 100])
def test_too_little_and_too_much_are_refused_before_anything_is_written(content, monkeypatch):
    monkeypatch.setattr(tables, "MAX_FILE", 99)
    with pytest.raises(ValueError, match=r"empty|at most"):
        tables.step(tables.start(), {"event": "upload", "name": "a.csv", "bytes": content})


def test_a_fit_can_be_cancelled_and_done_again(monkeypatch):
    monkeypatch.setattr(tables, "_can_report", lambda: False)
    state, _ = uploaded(table(["a", "b", "y"]))
    state, drawing = tables.step(state, {"event": "fit", "target": "y"})
    assert drawing["doing"] == "fit"
    process = state.command._process
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
    process, folder = state.command._process, state.folder.path
    assert folder.exists()
    tables.end(state)
    assert process.poll() is not None
    assert not folder.exists()


def test_a_session_that_ends_lets_go_of_its_files():
    page = Session(["table"])
    list(page.hear({"tab": "table", "event": "upload", "name": "a.csv"}, table(["a", "y"])))
    state = page.states["table"]
    page.end()
    assert state.command._process.poll() is not None
    assert not state.folder.path.exists()
    page.end()  # a second time there is nothing left to end


def test_a_command_that_nobody_holds_any_more_is_ended(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "PROGRAM", "import time; time.sleep(60)")
    command = commands.Command([], tmp_path)
    process = command._process
    del command
    gc.collect()
    assert process.poll() is not None


def test_a_second_file_takes_the_place_of_the_first():
    first, _ = tables.step(
        tables.start(), {"event": "upload", "name": "a.csv", "bytes": table(["a", "y"])}
    )
    second, drawing = tables.step(
        first, {"event": "upload", "name": "b.csv", "bytes": table(["b", "y"])}
    )
    assert drawing["file"]["name"] == "b.csv"
    assert not first.folder.path.exists()
    assert first.command._process.poll() is not None
    tables.end(second)


@pytest.mark.parametrize("event", ["fit", "predict", "try", "download", "nonsense", None])
def test_without_a_file_there_is_a_sentence(event):
    with pytest.raises(ValueError, match=r"there is no|knows no"):
        tables.step(tables.start(), {"event": event, "target": "y", "what": "model", "row": {}})


@pytest.mark.parametrize("what", ["/etc/passwd", "../table.csv", ".stdout", None, ["model"]])
def test_only_the_three_files_can_be_taken_away(fitted, what):
    with pytest.raises(ValueError, match="there is no file"):
        tables.step(fitted[0], {"event": "download", "what": what})


def test_waiting_for_nothing_answers_at_once():
    state, drawing = tables.step(tables.start(), {"event": "wait"})
    assert drawing["doing"] == ""
    assert tables.step(state, {"event": "cancel"})[1]["problem"] == ""


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("prices.CSV", "prices.csv"),
        ("../../etc/passwd", "passwd.csv"),
        ("C:\\Users\\x\\a.tsv", "a.tsv"),
        ("-rf.csv", "rf.csv"),
        (".hidden", "hidden.csv"),
        ("", "data.csv"),
        ("numpy.py", "numpy.py.csv"),
        ("a\nb\x00c.csv", "a_b_c.csv"),
        ("x" * 300 + ".csv", "x" * 80 + ".csv"),
        ("Grüße.csv.gz", "Grüße.csv.gz"),
        ("...", "data.csv"),
    ],
)
def test_names_of_files_become_clean_name(name, kept):
    assert clean_name(name, tables.ENDINGS, ".csv") == kept


def test_the_learners_of_the_page_are_those_of_the_command():
    assert {kind._command for kind in _learners()} == set(tables.LEARNERS)


def test_a_command_that_dies_without_a_word_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr(commands, "PROGRAM", "import os; os._exit(137)")
    command = commands.Command(["look"], tmp_path)
    with pytest.raises(ValueError, match="code 137"):
        command.result()


def test_progress_is_the_last_line_about_it(tmp_path, monkeypatch):
    said = "import sys; print('progress: 1 row\\nWarning: x\\nprogress: 2 rows', file=sys.stderr)"
    monkeypatch.setattr(commands, "PROGRAM", said)
    command = commands.Command(["look"], tmp_path)
    assert command.ended(30)
    assert command.progress() == "2 rows"


def test_the_command_sees_this_adaline_and_not_the_folder_it_works_in(tmp_path, monkeypatch):
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    monkeypatch.setattr(
        commands, "PROGRAM", "import json, adaline; print(json.dumps(adaline.__file__))"
    )
    assert os.path.samefile(commands.Command([], tmp_path).result(), adaline.__file__)
