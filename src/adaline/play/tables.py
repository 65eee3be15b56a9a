"""The tab of tables: a file becomes what `adaline fit --report` gives, and a model to try.

Events: "start" draws; "upload" brings a file; "fit" learns; "predict" predicts the rows of the
file; "wait" reports progress; "cancel" ends them; "try" predicts one row; "download" answers with
a file.

Fits and predictions are commands of adaline in processes of their own. What the page answers is
then what the command answers, by construction; a fit that is cancelled ends at once, and a file
that needs more memory than there is ends that process, not the server.
"""

from __future__ import annotations

import csv
import datetime
import json
import os
import re
import shlex
import subprocess
import sys
import weakref
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import adaline
from adaline import explain, interval, load
from adaline.data import Prepared, blocks
from adaline.data.sharing import column
from adaline.play.settings import look_up, show

LEARNERS = (  # as the command names them
    *("ridge", "least-squares", "widrow-hoff", "poisson", "logistic", "gaussian", "perceptron"),
    *("adaline", "sigmoid", "least-squares-classifier", "ho-kashyap"),
)
DOWNLOADS = {
    "model": ("model.adaline", "application/octet-stream"),
    "report": ("report.html", "text/html"),
    "predictions": ("predictions.csv", "text/csv"),
}
# The words of the command come on stdin: names of columns may be many, and of any letters.
PROGRAM = "import json, sys; from adaline.cli import main; main(json.load(sys.stdin))"
Drawing = dict[str, Any]


class Command:
    """A command that is running in a folder, where its output goes, too, or has ended there."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self._stdout, self._stderr = folder / ".stdout", folder / ".stderr"
        package = str(Path(str(adaline.__file__)).parents[1])
        paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
        settings = {"PYTHONIOENCODING": "utf-8", "ADALINE_PROGRESS": "lines"}
        with open(self._stdout, "wb") as stdout, open(self._stderr, "wb") as stderr:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-c", PROGRAM],
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=stdout,
                stderr=stderr,
                env={**os.environ, **settings, "PYTHONPATH": os.pathsep.join(paths)},
                start_new_session=True,  # Ctrl-C is for the server, which then stops this one
            )
        weakref.finalize(self, subprocess.Popen.kill, self.process)  # at the latest at exit
        assert self.process.stdin is not None
        with suppress(BrokenPipeError), self.process.stdin as stdin:
            stdin.write(json.dumps(words).encode())

    def has_ended(self, seconds: float) -> bool:
        """Whether it has ended, after waiting at most so many seconds."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(seconds)
        return self.process.returncode is not None

    def last_line(self, prefix: str) -> str:
        """What follows "progress: ", or "adaline: " of an error, in the last such line."""
        lines = self._stderr.read_text(encoding="utf-8", errors="replace").splitlines()
        return next((x.removeprefix(prefix) for x in reversed(lines) if x.startswith(prefix)), "")

    def result(self) -> Any:
        """The object that it printed; ValueError with its message if it failed."""
        if self.process.returncode == 0:
            return json.loads(self._stdout.read_text(encoding="utf-8"))
        raise ValueError(
            self.last_line("adaline: ")
            or f"the command ended with code {self.process.returncode} and without a message; "
            "perhaps there was not enough memory."
        )

    def stop(self) -> None:
        """End it, with SIGTERM if possible."""
        self.process.terminate()
        if not self.has_ended(3.0):
            self.process.kill()
            self.process.wait()


def clean_name(name: str) -> str:
    """A file's name without folders, and without characters special to a shell.

    >>> clean_name("../../My prices (2024).CSV"), clean_name("-rf")
    ('My prices _2024_.csv', 'rf')
    """
    stem, dot, ending = re.split(r"[/\\]", name)[-1].rpartition(".")
    safe = re.sub(r"[^\w .-]", "_", stem + dot + ending.lower()).strip(" .-")
    return safe[-80:].strip(" .-") or "data.csv"


@dataclass(frozen=True, eq=False)
class State:
    """The file, what is known about it, what is running, and the model."""

    folder: TemporaryDirectory[str] | None = None
    name: str = ""
    look: Mapping[str, Any] | None = None
    task: str = ""  # "look", "fit" or "predict"
    command: Command | None = None
    line: str = ""  # the command line of the fit
    fitted: Mapping[str, Any] | None = None
    prepared: Any = None
    fields: list[dict[str, Any]] = field(default_factory=list)
    predicted: Mapping[str, Any] | None = None

    @property
    def path(self) -> Path:
        """The folder of the file."""
        if self.folder is None:
            raise ValueError("there is no file; drop one on the page.")
        return Path(self.folder.name)

    @property
    def model(self) -> Any:
        """The fitted model."""
        if self.prepared is None:
            raise ValueError("there is no model yet; fit one first.")
        return self.prepared


def start() -> State:
    """The state of a page that was just opened."""
    return State()


def end(state: State) -> None:
    """End what is running, and remove the files."""
    if state.command is not None:
        state.command.stop()
    if state.folder is not None:
        state.folder.cleanup()


def step(state: State, event: Mapping[str, Any]) -> tuple[State, Drawing]:
    """The state after an event, and what to draw."""
    problem = ""
    match event.get("event"):
        case "start" | "open":
            pass
        case "upload":
            state = _upload(state, event)
        case "fit":
            words = _fit_words(state, event)
            line = shlex.join(["adaline", *words])
            cleared = State(state.folder, state.name, state.look, command=state.command, line=line)
            state = _run(cleared, "fit", words)
        case "predict":
            interval = ["--interval"] if _has_intervals(state.model) else []
            words = ["predict", "model.adaline", state.name, "--out=predictions.csv", "--disarm"]
            state = _run(state, "predict", [*words, *interval])
        case "wait":
            state, problem = _wait(state)
        case "cancel":
            if state.command is not None:
                state.command.stop()
                problem = "Cancelled."
            state = replace(state, command=None, task="")
        case "try":
            if not isinstance(event.get("row"), Mapping):
                raise ValueError("a row to try has a text for each column.")
            return state, {"answer": _try_row(state.model, event["row"], state.path)}
        case "download":
            return state, {"download": _read_file(state, event.get("what"))}
        case other:
            raise ValueError(f"the tab of tables knows no event {show(other)}.")
    return state, draw(state) | ({"problem": problem} if problem else {})


def _upload(state: State, event: Mapping[str, Any]) -> State:
    """A new file replaces the old one; its columns are studied."""
    if not event["bytes"]:
        raise ValueError("the file is empty; expected a table with a line for each row.")
    name = clean_name(str(event.get("name")))
    if name in [file for file, _ in DOWNLOADS.values()]:
        name = f"data {name}"
    # A folder of this user alone.
    folder = TemporaryDirectory(prefix="adaline-play-", ignore_cleanup_errors=True)
    fresh = State(folder, name)
    (fresh.path / name).write_bytes(event["bytes"])
    end(state)
    return _run(fresh, "look", ["look", name])


def _run(state: State, task: str, words: list[str]) -> State:
    folder = state.path
    if state.command is not None:
        raise ValueError("something is running; wait for its end, or cancel it.")
    if task == "fit":  # downloads belong to the fit that is shown
        for name, _ in DOWNLOADS.values():
            (folder / name).unlink(missing_ok=True)
    return replace(state, task=task, command=Command([*words, "--json"], folder))


def _fit_words(state: State, event: Mapping[str, Any]) -> list[str]:
    """The command line of a fit; choices of the user are checked against the columns."""
    names = [column["name"] for column in (state.look or {}).get("columns", ())]
    target, model = event.get("target"), event.get("model") or None
    if target not in names:
        raise ValueError(f"there is no column {show(target)} to learn; choose one.")
    if model is not None and model not in LEARNERS:
        raise ValueError(f"there is no learner {show(model)}.")
    words = ["fit", state.name, f"--target={target}", "--out=model.adaline"]
    words += ["--report=report.html"] if _can_report() else []
    words += [f"--model={model}"] if model else []
    for option in ("ignore", "use"):
        chosen = event.get(option) or []
        if not isinstance(chosen, list) or not all(name in names for name in chosen):
            raise ValueError(f"columns to {option}: expected names of columns of the file.")
        words += [f"--{option}={name}" for name in chosen if name != target]
    return words


def _can_report() -> bool:
    return all(find_spec(package) is not None for package in ("jinja2", "matplotlib"))


def _wait(state: State) -> tuple[State, str]:
    """The state with the result of the command if it has ended, and why there is none."""
    if state.command is None or not state.command.has_ended(0.15):
        return state, ""
    command, task, state = state.command, state.task, replace(state, command=None, task="")
    try:
        result = command.result()
    except ValueError as error:
        return state, str(error)
    if task == "look":
        return replace(state, look=result), ""
    if task == "predict":
        return replace(state, predicted=result), ""
    prepared = load(state.path / "model.adaline")
    fields = _make_fields(prepared, state.path / state.name)
    return replace(state, fitted=result, prepared=prepared, fields=fields), ""


def _read_file(state: State, what: Any) -> Drawing:
    """A file that was written, to be downloaded."""
    name, kind = look_up(DOWNLOADS, what, "file to download")
    if not (state.path / name).exists():
        raise ValueError(f"there is no {what} yet.")
    return {"name": name, "type": kind, "bytes": (state.path / name).read_bytes()}


def draw(state: State) -> Drawing:
    """All that the page shows."""
    return {
        "file": state.name,
        "doing": state.task,
        "progress": "" if state.command is None else state.command.last_line("progress: "),
        "learners": LEARNERS,
        "look": state.look,
        "fit": None if state.fitted is None else draw_fit(state.fitted),
        "command": state.line,
        "fields": state.fields,
        "predicted": state.predicted,
        "reports": _can_report(),
    }


def draw_fit(fitted: Mapping[str, Any]) -> Drawing:
    """The words of the command about a fit, and the first coefficients: the report has all."""
    keys = ("target", "model", "verdict", "warnings", "certificate", "separability", "data")
    rows = fitted["coefficients"]
    shown = {"coefficients": rows[:60], "more": max(0, len(rows) - 60)}
    return {key: fitted[key] for key in keys} | shown


def _make_fields(prepared: Prepared, data: Path) -> list[dict[str, Any]]:
    """One field per column: name, levels, and its value in the first row of the file."""
    inputs = prepared.encoding.inputs
    if len(inputs) > 300:  # a form beyond it helps nobody
        return []
    rows = blocks(data, columns=[entry.name for entry in inputs])
    first = next(iter(prepared.encoding.prepare(rows, as_written=True)))
    form = []
    for entry in inputs:
        values, missing = column(first, entry.name)
        value = "" if missing[0] else _format_value(values[0], entry)
        form.append({"name": entry.name, "levels": list(entry.levels or ())[:200], "value": value})
    return form


def _try_row(prepared: Prepared, row: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The prediction of the row, its interval, and the contributions of its columns."""
    path, encoding, model = folder / ".row.csv", prepared.encoding, prepared.model
    _write_row(path, [entry.name for entry in encoding.inputs], row)
    source = blocks(path, separator=",", decimal=".", header=True, encoding="utf-8")
    try:
        next(iter(encoding.prepare(source)))  # rejects words, which `encoded` takes as missing
        [X] = prepared.encoded(source)
    except ValueError as error:
        raise ValueError(str(error).replace(f"{path}: ", "")) from None
    shown: dict[str, Any] = {"prediction": model.predict(X)[0], "classes": []}
    if hasattr(model, "predict_proba"):  # the likeliest first
        p, labels = model.predict_proba(X)[0], model.classes_.tolist()
        order = np.argsort(-p)[:30].tolist()
        shown["classes"] = [{"label": str(labels[k]), "p": p[k], "place": k} for k in order]
    written = next(iter(encoding.prepare(source, as_written=True)))
    shown |= {"interval": None, "parts": None, "unknown": sorted(encoding.unknown_in(written))}
    with suppress(ValueError):  # no theory has an interval for this learner
        ends = interval(model, X, 0.95)
        low, high = np.atleast_1d(ends.low[0]), np.atleast_1d(ends.high[0])
        shown["interval"] = {"low": low, "high": high, "of": ends.of, "level": ends.level}
    with suppress(ValueError):  # the score is no sum of columns
        shown["parts"] = _contributions(prepared, X)
    return shown


def _has_intervals(prepared: Prepared) -> bool:
    """Whether a theory bounds the error of the predictions."""
    try:
        interval(prepared.model, np.zeros((1, prepared.model.n_features_in_)))
    except ValueError:
        return False
    return True


def _write_row(path: Path, names: list[str], row: Mapping[str, Any]) -> None:
    """The row as a file, so that it is read like one."""
    values = [row.get(name, "") for name in names]
    for name, value in zip(names, values, strict=True):
        if not isinstance(value, str) or len(value) > 1000:
            raise ValueError(f"{name!r}: expected a text of at most 1000 letters.")
    # One more column: a line without any letter would not be a row.
    spare = max(names, key=len) + "_"
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([[spare, *names], ["1", *values]])


def _contributions(prepared: Prepared, X: Any) -> dict[str, Any]:
    """What each column adds to the score; the largest first."""
    sum_ = explain(prepared.model, X, encoding=prepared.encoding)
    classes: Any = getattr(prepared.model, "classes_", None)
    is_binary = sum_.against is None and classes is not None
    order = np.argsort(-np.abs(sum_.parts[0])).tolist()
    return {
        "of": sum_.of,
        "score": sum_.score[0],
        "base": sum_.base[0],
        "average": sum_.is_about_the_average,
        "against": None if sum_.against is None else str(sum_.against[0]),
        "for": str(classes[1]) if is_binary else None,
        "columns": [{"name": sum_.names[k], "part": sum_.parts[0, k]} for k in order],
    }


def _format_value(value: Any, entry: Any) -> str:
    """A value as a file for the model would have it: whole numbers without ".0"."""
    if isinstance(value, str):
        return value
    if entry.is_date:  # in a table with types
        day = datetime.datetime(1970, 1, 1) + datetime.timedelta(days=float(value))
        return day.isoformat().removesuffix("T00:00:00")
    text = str(value).removesuffix(".0")
    return text.replace(".", ",") if entry.reading.endswith(",") else text
