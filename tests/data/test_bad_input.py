"""Every parameter of every public function of adaline.data, and of write_report, given nonsense.

A wrong value is refused by a ValueError or TypeError that names the parameter and says what is
expected, and nothing is written. What a parameter may be is listed here, everything else is wrong.
"""

from __future__ import annotations

import inspect
import os

import numpy as np
import pytest

from adaline import LeastSquares, Perceptron, write_report
from adaline.data import Encoding, blocks, describe, export, fit, load, look, save

NAN, INF = float("nan"), float("inf")
VALUES = {
    "None": None, "true": True, "zero": 0, "minus one": -1, "seven": 7, "half": 0.5,
    "minus half": -0.5, "nan": NAN, "inf": INF, "huge": 10**400, "empty text": "",
    "text": "nothing",
    "nul": "a\0b", "bytes": b"abc", "list": [], "numbers": [1, 2], "texts": ["p", "q"],
    "dict": {"a": 1}, "set": {1}, "complex": 1j, "object": object(), "function": len, "type": int,
    "array": np.arange(3.0), "matrix": np.ones((2, 2)), "object array": np.array([{}, None]),
    "generator": (k for k in ()),
}  # fmt: skip

X = np.random.default_rng(0).standard_normal((40, 3))
TABLE = np.column_stack([X, X @ [1.0, 2.0, 3.0] + 0.1 * X[:, 0] ** 2])
SIDES = np.column_stack([X, X[:, 0] > 0])
MODEL = LeastSquares().fit(X, TABLE[:, 3])
SOURCE = blocks(TABLE)
ENCODING = Encoding.learn(TABLE, "x3")
BLOCK = next(iter(SOURCE))
PATH = "PATH"  # stands for a path in an empty directory
WHOLE, NONE, TEXTS = {"seven"}, {"None"}, {"empty text", "text", "nul"}

COLUMNS = {
    "options": NONE, "columns": NONE, "missing": set(), "unknown": set(), "formula": NONE,
    "most_levels": WHOLE | {"huge"}, "rare": NONE | WHOLE | {"zero", "huge"}, "jobs": WHOLE,
    "read": NONE | {"dict"}, "na": NONE | {"list", "tuple", "texts"},
    "use": NONE | {"list", "tuple"}, "exact_levels": {"true"},
}  # fmt: skip
ENCODED = {**COLUMNS, "target": NONE, "ignore": NONE | {"list", "tuple"}}
SECONDS = {"zero", "seven", "half", "inf", "huge"}
PASSES = {"passes": WHOLE | {"huge"}, "seed": WHOLE | {"zero", "huge"}}

# A call that works, and for each parameter the values that are right, beside the ones in the call.
CALLS = {
    "blocks": (blocks, {"source": TABLE, "columns": None, "rows": None, "format": None}, {
        # A list of no blocks, and paths of no files, are refused too, as data.
        "source": {"matrix"}, "columns": NONE, "rows": NONE | WHOLE | {"huge"}, "format": NONE,
        # These are of text tables; one in memory has none of them.
        **dict.fromkeys(("separator", "decimal", "encoding", "header", "sheet", "skip_rows"), NONE),
        "keep_total": NONE | {"true"}, "n_features": NONE, "jobs": WHOLE,
    }),
    "fit": (fit, {"estimator": LeastSquares(), "source": TABLE, "target": "x3"}, {
        **COLUMNS, **PASSES, "estimator": set(), "target": set(), "encoding": NONE, "run": NONE,
        "client": NONE, "timeout": SECONDS, "every": SECONDS, "scratch": SECONDS,
        "checkpoint": NONE | {"text"}, "progress": NONE | {"function", "type"},
        "online": {"true"}, "exposure": NONE,
    }),
    "fit, in order": (fit, {"estimator": Perceptron(), "source": SIDES, "target": "x3"}, PASSES),
    "Encoding.learn": (Encoding.learn, {"source": TABLE, "target": "x3"}, ENCODED),
    "look": (look, {"source": TABLE, "target": "x3"}, ENCODED),
    "prepare": (ENCODING.prepare, {"source": TABLE}, {}),
    "unknown_in": (ENCODING.unknown_in, {"block": BLOCK}, {"block": set()}),
    "Encoding.from_dict": (Encoding.from_dict, {"plain": ENCODING.to_dict()}, {"plain": set()}),
    "kept": (ENCODING.kept, {"block": BLOCK}, {"block": set(), "target": NONE | TEXTS}),
    "encode": (ENCODING.encode, {"block": BLOCK}, {"block": set(), "keep": NONE}),
    "save": (save, {"model": MODEL, "path": PATH}, {
        "model": set(), "path": {"text"}, "encoding": NONE, "metadata": NONE | {"dict"},
    }),
    "load": (load, {"path": PATH}, {"path": set(), "limit": {"huge"}}),
    "describe": (describe, {"path": PATH}, {"path": set(), "limit": {"huge"}}),
    "export": (export, {"model": MODEL, "to": "json"}, {
        "model": set(), "to": set(), "path": NONE | {"text"}, "name": NONE | {"text"},
        "exposure": NONE,
    }),
    "write_report": (
        write_report, {"path": PATH, "model": MODEL, "X": X, "y": TABLE[:, 3]},
        {"path": {"text"}, "model": set()},
    ),
}  # fmt: skip
# Files, data and models are told by their own names: "nothing: there is no such file".
SELF_EVIDENT = {"source", "model", "estimator", "plain"}
CASES = [(call, parameter) for call, (_, _, right) in CALLS.items() for parameter in right]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "parameter"), CASES, ids=[f"{c} {p}" for c, p in CASES])
def test_a_wrong_value_is_refused_by_name(call, parameter, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given, right = CALLS[call]
    complaints = []
    for kind, value in VALUES.items():
        arguments = {k: str(tmp_path / "m.adaline") if v is PATH else v for k, v in given.items()}
        if call in ("load", "describe"):
            save(MODEL, tmp_path / "m.adaline")
        before = sorted(os.listdir(tmp_path))
        arguments[parameter] = value
        if kind in right[parameter]:
            continue
        try:
            function(**arguments)
        except (ValueError, TypeError, OSError) as error:
            text = str(error)
            named = parameter in SELF_EVIDENT or parameter.rstrip("s") in text or "nothing" in text
            if not named or len(text) < 20:
                complaints.append(f"{kind}: obscure: {type(error).__name__}: {text}")
        except BaseException as error:
            complaints.append(f"{kind}: {type(error).__name__}: {error}")
        else:
            complaints.append(f"{kind}: accepted")
        if sorted(os.listdir(tmp_path)) != before:
            complaints.append(f"{kind}: wrote {sorted(os.listdir(tmp_path))}")
            for name in set(os.listdir(tmp_path)) - set(before):
                os.unlink(tmp_path / name)
    assert complaints == []


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("call", CALLS)
def test_the_calls_work_with_right_values(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    function, given, right = CALLS[call]
    save(MODEL, tmp_path / "m.adaline")
    arguments = {k: str(tmp_path / "m.adaline") if v is PATH else v for k, v in given.items()}
    function(**arguments)
    if call not in ("fit, in order", "write_report"):
        known = set(inspect.signature(function).parameters) - {"check", "given"}
        assert known - {"as_written"} <= set(right) | set(given)


def test_rows_of_numbers_in_a_list_are_told_to_become_an_array():
    with pytest.raises(TypeError, match=r"numpy\.array"):
        blocks([[1.0, 2.0], [3.0, 4.0]])


def test_columns_of_a_source_that_is_open_cannot_be_chosen_again():
    with pytest.raises(ValueError, match="where it is opened"):
        blocks(SOURCE, ["x1"])
    with pytest.raises(ValueError, match="both given"):
        fit(LeastSquares(), TABLE, "x3", encoding=ENCODING, columns=["x1"])
