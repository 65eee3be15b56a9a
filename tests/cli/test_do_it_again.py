"""The code in a report makes the same model, to the last bit."""

from __future__ import annotations

import re
from html import unescape

import numpy as np
import pytest

import adaline

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")
pytest.importorskip("polars")

NUMBERS = ("coef_", "intercept_", "means_", "precision_", "alpha_")


def write(folder, lines, name="rows.csv"):
    (folder / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def rows(n, kind, seed=0, gaps=False, sep=",", by_class=False):
    """A file of two numbers and a word that a target depends on, and an id."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(2, 1, n).round(3), rng.exponential(1, n).round(3)
    word = rng.choice(["red", "green", "blue"], n)
    z = 1.5 * a - b + (word == "red") + rng.normal(0, 1, n)
    target = {
        "two": np.where(z > 2, "yes", "no"),
        "digits": (z > 2).astype(int),
        "three": np.array(["low", "mid", "high"])[np.digitize(z, [1, 3])],
        "number": z.round(4),
        "counts": rng.poisson(np.exp(np.clip(z / 4, -3, 2))),
    }[kind]
    cells = [
        [f"r{i:05d}x{rng.integers(10**6)}", a[i], b[i], word[i], rng.integers(1, 5), target[i]]
        for i in range(n)
    ]
    if gaps:
        for i in range(0, n, 7):
            cells[i][1] = ""
        for i in range(3, n, 50):
            cells[i][3] = ""
    mark = "," if sep == ";" else "."
    lines = [sep.join(["row", "a", "b", "word", "w", "y"])]
    for line in cells:
        lines.append(sep.join(str(c).replace(".", mark) for c in line))
    if by_class:
        lines[1:] = sorted(lines[1:], key=lambda line: line.split(sep)[-1])
    return lines


CASES = {
    "two classes, cross-validated": (("two", 120, {}), []),
    "two classes, held out": (("two", 700, {}), []),
    "labels of digits": (("digits", 700, {}), []),
    "three classes": (("three", 600, {}), ["--seed", "3"]),
    "three classes, few": (("three", 90, {}), []),
    "gaussian": (("three", 600, {}), ["--model", "gaussian"]),
    "regression, held out": (("number", 600, {}), ["--test", "0.3", "--seed", "5"]),
    "regression, cross-validated": (("number", 100, {}), ["--cv", "4"]),
    "regression, very few": (("number", 30, {}), ["--test", "0"]),
    "counts": (("counts", 600, {}), ["--model", "poisson"]),
    "whole numbers": (("counts", 600, {}), ["--model", "ridge"]),
    "in blocks": (("two", 700, {}), ["--jobs", "2"]),
    "in blocks, with gaps": (
        ("number", 700, {"gaps": True}),
        ["--checkpoint", "kept", "--seed", "2"],
    ),
    "in their order": (
        ("two", 600, {}),
        ["--model", "perceptron", "--checkpoint", "kept", "--passes", "3"],
    ),
    "formula": (("number", 600, {}), ["--formula", "log(b) + a*word"]),
    "gaps": (("two", 700, {"gaps": True}), []),
    "gaps, dropped": (("number", 700, {"gaps": True}), ["--missing", "drop"]),
    "sorted by class": (
        ("three", 120, {"by_class": True}),
        ["--model", "adaline", "--seed", "3", "--weights", "w"],
    ),
    "sorted by class, held out": (
        ("three", 600, {"by_class": True}),
        ["--model", "perceptron", "--set", "max_iter=9"],
    ),
    "semicolons": (("number", 600, {"sep": ";"}), []),
    "separator said": (("two", 600, {"sep": "|"}), ["--separator", "pipe"]),
    "only": (("two", 600, {}), ["--only", "a,word"]),
    "ignore": (("two", 600, {}), ["--ignore", "word,row"]),
    "read as text": (("two", 600, {}), ["--text", "w", "--use", "a"]),
    "weights": (("two", 600, {}), ["--weights", "w"]),
    "balanced": (("two", 600, {}), ["--balanced", "--weights", "w"]),
    "threshold": (("two", 600, {}), ["--threshold", "0.3"]),
    "costs": (("three", 600, {}), ["--costs", "low=5,mid=1.5"]),
    "groups": (("two", 300, {}), ["--group", "w"]),
    "times": (("number", 300, {}), ["--by-time", "w", "--cv", "3"]),
    "settings": (("two", 600, {}), ["--set", "alpha=0.25", "--set", "fit_intercept=false"]),
}


def test_the_page_shows_the_code(command, tmp_path):
    """With names that HTML and Python write in their own ways."""
    lines = rows(60, "number")
    lines[0] = "row,\"a <b> & 'c'\",b,wörd,w,y"
    path = write(tmp_path, lines, "a & b.csv")
    result = command("fit", path, "-t", "y", "--text", "wörd", "--report", "page.html")
    assert result.code == 0, result.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    code = unescape(re.search(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.S)[1])
    names: dict = {}
    exec(compile(code, "report", "exec"), names)
    assert names["model"].coef_.shape == (len(names["rows"].names),)


@pytest.mark.parametrize("case", CASES)
@pytest.mark.filterwarnings("ignore")
def test_the_code_of_a_report_makes_the_model_to_the_last_bit(case, command, tmp_path, monkeypatch):
    (kind, n, how), options = CASES[case]
    told = []

    class NoPage:
        def __init__(self, trial, *, code, **more):
            told.append(code)

        def write(self, path):
            pass

    monkeypatch.setattr(adaline, "Report", NoPage)
    path = write(tmp_path, rows(n, kind, **how))
    tokens = ["fit", path, "-t", "y", *options, "--out", "m.adaline", "--report", "page.html"]
    result = command(*tokens, "--json")
    assert result.code == 0, result.err
    (code,) = told
    names: dict = {}
    exec(compile(code, "report", "exec"), names)
    made, kept = names["model"], adaline.load("m.adaline").model
    compared = [n for n in NUMBERS if getattr(kept, n, None) is not None]
    assert compared
    for attribute in compared:
        one, other = np.asarray(getattr(made, attribute)), np.asarray(getattr(kept, attribute))
        assert one.tobytes() == other.tobytes(), attribute
    X = names["rows"].X
    assert np.array_equal(made.predict(X), kept.predict(X))
