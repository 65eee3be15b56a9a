"""The tab of tables: a file becomes what `adaline fit --report` gives, and a model to try.

Events: "start" draws; "upload" brings a file; "fit" learns; "predict" predicts the rows of the
file; "wait" reports progress; "cancel" ends them; "try" predicts one row; "read" shows the report;
"download" answers with a file.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from adaline import load
from adaline.play import trial_form
from adaline.play.commands import Command, Folder
from adaline.play.session import MAX_FILE
from adaline.play.settings import show

LEARNERS = (
    *("ridge", "least-squares", "widrow-hoff", "poisson", "logistic", "gaussian", "perceptron"),
    *("adaline", "sigmoid", "least-squares-classifier", "ho-kashyap"),
)
TEXT_ENDINGS = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".json", ".ndjson", ".jsonl")
ENDINGS = (
    *(text + packed for text in TEXT_ENDINGS for packed in (".gz", ".bz2", ".xz", ".zst")),
    *TEXT_ENDINGS,
    *(".xlsx", ".xlsm", ".parquet", ".pq", ".arrow", ".feather", ".ipc"),
)
DOWNLOADS = {
    "model": ("model.adaline", "application/octet-stream"),
    "report": ("report.html", "text/html"),
    "predictions": ("predictions.csv", "text/csv"),
}
MAX_COEFFICIENTS = 60  # rows of the table on the page; the report has all
WAIT_SECONDS = 0.15  # that "wait" waits for an end

Drawing = dict[str, Any]


@dataclass(frozen=True, eq=False)
class State:
    """The file, what is known about it, what is running, and the model."""

    folder: Folder | None = None
    name: str = ""
    size: int = 0
    look: Mapping[str, Any] | None = None
    task: str = ""  # "look", "fit" or "predict"
    command: Command | None = None
    words: tuple[str, ...] = ()  # of the fit
    fitted: Mapping[str, Any] | None = None
    prepared: Any = None
    fields: list[dict[str, Any]] = field(default_factory=list)
    predicted: Mapping[str, Any] | None = None


def start() -> State:
    """The state of a page that was just opened."""
    return State()


def end(state: State) -> None:
    """End what is running, and remove the files."""
    if state.command is not None:
        state.command.stop()
    if state.folder is not None:
        state.folder.remove()


def step(state: State, event: Mapping[str, Any]) -> tuple[State, Drawing]:
    """The state after an event, and what to draw."""
    match event.get("event"):
        case "start" | "open":
            return state, draw(state)
        case "upload":
            return _upload(state, event)
        case "fit":
            cleared = replace(state, fitted=None, prepared=None, fields=[], predicted=None)
            return _run(cleared, "fit", _fit_words(state, event))
        case "predict":
            return _run(state, "predict", _predict_words(state))
        case "wait":
            return _wait(state)
        case "cancel":
            return _cancel(state)
        case "try":
            return state, {"answer": _try(state, event.get("row"))}
        case "read":
            return state, {"document": _file(state, "report")["bytes"]}
        case "download":
            return state, {"download": _file(state, event.get("what"))}
    raise ValueError(f"the tab of tables knows no event {show(event.get('event'))}.")


def _upload(state: State, event: Mapping[str, Any]) -> tuple[State, Drawing]:
    """A new file replaces the old one; its columns are studied."""
    content = event["bytes"]
    if not content:
        raise ValueError("the file is empty; expected a table with a line for each row.")
    if len(content) > MAX_FILE:
        raise ValueError(f"the file has {len(content) / 2**20:.0f} MB; expected at most 200.")
    folder = Folder()
    path = folder.write(str(event.get("name")), content, ENDINGS, default=".csv")
    end(state)
    return _run(State(folder, path.name, len(content)), "look", ["look", path.name, "--json"])


def _run(state: State, task: str, words: list[str]) -> tuple[State, Drawing]:
    folder = state.folder
    if folder is None:
        raise ValueError("there is no file; drop one on the page.")
    if state.command is not None:
        raise ValueError("something is running; wait for its end, or cancel it.")
    if task == "fit":  # downloads belong to the fit that is shown
        for name, _ in DOWNLOADS.values():
            (folder.path / name).unlink(missing_ok=True)
        state = replace(state, words=tuple(words))
    state = replace(state, task=task, command=Command(words, folder.path))
    return state, draw(state)


def _fit_words(state: State, event: Mapping[str, Any]) -> list[str]:
    """The command line of a fit; choices of the user are checked against the columns."""
    names = [column["name"] for column in (state.look or {}).get("columns", ())]
    target, model = event.get("target"), event.get("model") or None
    if target not in names:
        raise ValueError(f"there is no column {show(target)} to learn; choose one.")
    if model is not None and model not in LEARNERS:
        raise ValueError(f"there is no learner {show(model)}.")
    words = ["fit", state.name, f"--target={target}", "--out=model.adaline", "--json"]
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


def _predict_words(state: State) -> list[str]:
    if state.prepared is None:
        raise ValueError("there is no model yet; fit one first.")
    words = ["predict", "model.adaline", state.name, "--out=predictions.csv", "--disarm", "--json"]
    return [*words, "--interval"] if trial_form.has_intervals(state.prepared) else words


def _wait(state: State) -> tuple[State, Drawing]:
    """The progress of the command, or its result."""
    if state.command is None or not state.command.ended(WAIT_SECONDS):
        return state, draw(state)
    command, task, state = state.command, state.task, replace(state, command=None, task="")
    try:
        result = command.result()
    except ValueError as error:
        return state, {**draw(state), "problem": str(error)}
    if task == "look":
        state = replace(state, look=result)
    elif task == "predict":
        state = replace(state, predicted=result)
    else:
        assert state.folder is not None
        prepared = load(state.folder.path / "model.adaline")
        fields = trial_form.fields(prepared, state.folder.path / state.name)
        state = replace(state, fitted=result, prepared=prepared, fields=fields, predicted=None)
    return state, draw(state)


def _cancel(state: State) -> tuple[State, Drawing]:
    if state.command is not None:
        state.command.stop()
    idle = replace(state, command=None, task="")
    return idle, {**draw(idle), "problem": "Cancelled." if state.task else ""}


def _try(state: State, row: Any) -> Drawing:
    if state.prepared is None or state.folder is None:
        raise ValueError("there is no model yet; fit one first.")
    if not isinstance(row, Mapping):
        raise ValueError("a row to try has a text for each column.")
    return trial_form.answer(state.prepared, row, state.folder.path)


def _file(state: State, what: Any) -> Drawing:
    """A file that was written, to be downloaded."""
    if not isinstance(what, str) or what not in DOWNLOADS:
        raise ValueError(f"there is no file {show(what)} to download.")
    name, kind = DOWNLOADS[what]
    path = None if state.folder is None else state.folder.path / name
    if path is None or not path.exists():
        raise ValueError(f"there is no {what} yet.")
    return {"what": what, "name": name, "type": kind, "bytes": path.read_bytes()}


def draw(state: State) -> Drawing:
    """All that the page shows."""
    words = [word for word in state.words if word != "--json"]  # which is for the page
    return {
        "file": None if state.folder is None else {"name": state.name, "bytes": state.size},
        "doing": state.task,
        "progress": "" if state.command is None else state.command.progress(),
        "learners": LEARNERS,
        "look": state.look,
        "fit": None if state.fitted is None else draw_fit(state.fitted),
        "command": shlex.join(["adaline", *words]) if words else "",
        "fields": state.fields,
        "predicted": state.predicted,
        "reports": _can_report(),
    }


def draw_fit(fitted: Mapping[str, Any]) -> Drawing:
    """The words of the command about a fit."""
    keys = ("target", "model", "verdict", "warnings", "certificate", "separability", "data")
    rows = fitted["coefficients"]
    shown = {"coefficients": rows[:MAX_COEFFICIENTS], "more": max(0, len(rows) - MAX_COEFFICIENTS)}
    return {key: fitted[key] for key in keys} | shown
