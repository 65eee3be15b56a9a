"""The tab of tables: a file becomes what `adaline fit --report` gives, and a model to try.

Events: "start" draws; "upload" brings a file; "fit" learns; "predict" predicts the rows of the
file; "wait" tells how far these are; "cancel" ends them; "try" asks the model about one row; "read"
shows the report; and "download" answers with a file.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

from adaline import load
from adaline.play import _trials
from adaline.play._commands import Command
from adaline.play._uploads import Folder

LARGEST = 200 * 2**20  # bytes of a file
LEARNERS = (
    "ridge",
    "least-squares",
    "widrow-hoff",
    "poisson",
    "logistic",
    "gaussian",
    "perceptron",
    "adaline",
    "sigmoid",
    "least-squares-classifier",
    "ho-kashyap",
)
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat", ".data", ".json", ".ndjson", ".jsonl")
_PACKED = (".gz", ".bz2", ".xz", ".zst")
ENDINGS = (
    *(text + packed for text in _TEXT for packed in _PACKED),
    *_TEXT,
    *(".xlsx", ".xlsm", ".parquet", ".pq", ".arrow", ".feather", ".ipc"),
)
_FILES = {
    "model": ("model.adaline", "application/octet-stream"),
    "report": ("report.html", "text/html"),
    "predictions": ("predictions.csv", "text/csv"),
}
_COEFFICIENTS = 60  # rows of the table in the page; the report has them all
_PAUSE = 0.15  # seconds that "wait" waits for an end


@dataclass(frozen=True, eq=False)
class State:
    """The file, what is known of it, what is running, and the model."""

    folder: Folder | None = None
    name: str = ""
    size: int = 0
    look: Mapping[str, Any] | None = None
    doing: str = ""  # "look", "fit" or "predict"
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


def step(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """The state after an event, and what to draw."""
    match event.get("event"):
        case "start" | "open":
            return state, _drawing(state)
        case "upload":
            return _uploaded(state, event)
        case "fit":
            return _begun(_without_model(state), "fit", _fit_words(state, event))
        case "predict":
            return _begun(state, "predict", _predict_words(state))
        case "wait":
            return _watched(state)
        case "cancel":
            return _cancelled(state)
        case "try":
            return state, {"answer": _tried(state, event.get("row"))}
        case "read":
            return state, {"document": _file(state, "report")["bytes"]}
        case "download":
            return state, {"download": _file(state, event.get("what"))}
    raise ValueError(f"tables know no event {str(event.get('event'))[:40]!r}.")


def _uploaded(state: State, event: Mapping[str, Any]) -> tuple[State, dict[str, Any]]:
    """A new file instead of the old one; its columns are looked at."""
    content = event["bytes"]
    if not content:
        raise ValueError("the file is empty; expected a table with a line for each row.")
    if len(content) > LARGEST:
        raise ValueError(f"the file has {len(content) / 2**20:.0f} MB; expected at most 200.")
    folder = Folder()
    path = folder.keep(str(event.get("name")), content, ENDINGS, otherwise=".csv")
    end(state)
    fresh = State(folder, path.name, len(content))
    return _begun(fresh, "look", ["look", path.name, "--json"])


def _begun(state: State, doing: str, words: list[str]) -> tuple[State, dict[str, Any]]:
    if state.folder is None:
        raise ValueError("there is no file; drop one on the page.")
    if state.command is not None:
        raise ValueError("something is running; wait for its end, or cancel it.")
    if doing == "fit":  # what can be downloaded is of the fit that is shown
        for name, _ in _FILES.values():
            (state.folder.path / name).unlink(missing_ok=True)
    fresh = replace(
        state,
        doing=doing,
        command=Command(words, state.folder.path),
        words=tuple(words) if doing == "fit" else state.words,
    )
    return fresh, _drawing(fresh)


def _without_model(state: State) -> State:
    return replace(state, fitted=None, prepared=None, fields=[], predicted=None)


def _fit_words(state: State, event: Mapping[str, Any]) -> list[str]:
    """The command line of a fit: what the user has chosen, against names that there are."""
    names = [column["name"] for column in (state.look or {}).get("columns", ())]
    target, model = event.get("target"), event.get("model") or None
    if target not in names:
        raise ValueError(f"there is no column {str(target)[:60]!r} to learn; choose one.")
    if model is not None and model not in LEARNERS:
        raise ValueError(f"there is no learner {str(model)[:60]!r}.")
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
        raise ValueError("there is no model yet; learn one first.")
    words = ["predict", "model.adaline", state.name, "--out=predictions.csv", "--disarm", "--json"]
    return [*words, "--interval"] if _trials.has_intervals(state.prepared) else words


def _watched(state: State) -> tuple[State, dict[str, Any]]:
    """How far the command is, or what it found."""
    if state.command is None or not state.command.ended(_PAUSE):
        return state, _drawing(state)
    command, doing = state.command, state.doing
    idle = replace(state, command=None, doing="")
    try:
        found = command.result()
    except ValueError as error:
        return idle, {**_drawing(idle), "problem": str(error)}
    if doing == "look":
        fresh = replace(idle, look=found)
    elif doing == "predict":
        fresh = replace(idle, predicted=found)
    else:
        fresh = _with_model(idle, found)
    return fresh, _drawing(fresh)


def _with_model(state: State, found: Mapping[str, Any]) -> State:
    assert state.folder is not None
    prepared = load(state.folder.path / "model.adaline")
    fields = _trials.fields(prepared, state.folder.path / state.name)
    return replace(state, fitted=found, prepared=prepared, fields=fields, predicted=None)


def _cancelled(state: State) -> tuple[State, dict[str, Any]]:
    if state.command is not None:
        state.command.stop()
    idle = replace(state, command=None, doing="")
    return idle, {**_drawing(idle), "problem": "Cancelled." if state.doing else ""}


def _tried(state: State, row: Any) -> dict[str, Any]:
    if state.prepared is None or state.folder is None:
        raise ValueError("there is no model yet; learn one first.")
    if not isinstance(row, Mapping):
        raise ValueError("a row to try has a text for each column.")
    return _trials.answer(state.prepared, row, state.folder.path)


def _file(state: State, what: Any) -> dict[str, Any]:
    """A file that was written, for the user to keep."""
    if not isinstance(what, str) or what not in _FILES:
        raise ValueError(f"there is no file {str(what)[:40]!r} to download.")
    name, kind = _FILES[what]
    path = None if state.folder is None else state.folder.path / name
    if path is None or not path.exists():
        raise ValueError(f"there is no {what} yet.")
    return {"what": what, "name": name, "type": kind, "bytes": path.read_bytes()}


def _drawing(state: State) -> dict[str, Any]:
    fitted = state.fitted
    return {
        "file": None if state.folder is None else {"name": state.name, "bytes": state.size},
        "doing": state.doing,
        "progress": "" if state.command is None else state.command.progress(),
        "learners": LEARNERS,
        "look": state.look,
        "fit": None if fitted is None else _told(fitted),
        "command": _command_line(state),
        "fields": state.fields,
        "predicted": state.predicted,
        "reports": _can_report(),
    }


def _command_line(state: State) -> str:
    """What to type for the same fit; --json is for the page."""
    if not state.words:
        return ""
    return shlex.join(["adaline", *(word for word in state.words if word != "--json")])


def _told(fitted: Mapping[str, Any]) -> dict[str, Any]:
    """What the page says of a fit: the same words as the command."""
    keys = ("target", "model", "verdict", "warnings", "certificate", "separability", "data")
    rows = fitted["coefficients"]
    return {
        **{key: fitted[key] for key in keys},
        "coefficients": rows[:_COEFFICIENTS],
        "more": max(0, len(rows) - _COEFFICIENTS),
    }
