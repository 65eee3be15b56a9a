"""The command in a report makes the same model, to the last bit."""

from __future__ import annotations

import re
import shlex
from html import unescape

import numpy as np
import pytest

import adaline

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")

CASES = {
    "settings and a seed": ["--set", "alpha=0.25", "--set", "fit_intercept=false", "--seed", "3"],
    "in their order": ["--model", "perceptron", "--checkpoint", "kept", "--passes", "3"],
    "a formula": ["--formula", "log(b) + a*word", "--balanced"],
    "columns": [
        "--separator",
        "comma",
        "--ignore",
        "w",
        "--text",
        "a",
        "--na",
        "-9",
        "--use",
        "row",
    ],
    "groups": ["--group", "w", "--costs", "yes=5"],
}


@pytest.mark.parametrize("options", CASES.values(), ids=CASES)
@pytest.mark.filterwarnings("ignore")
def test_the_command_in_a_report_makes_the_model_to_the_last_bit(options, command, tmp_path, rng):
    name = "a & b <c> 'ö'.csv"  # which HTML and a shell write in their own ways
    a, b = rng.normal(2, 1, 300).round(1), rng.exponential(1, 300).round(3)
    word, w = rng.choice(["red", "green"], 300), rng.integers(1, 5, 300)
    target = np.where(a - b + rng.normal(size=300) > 1, "yes", "no")
    lines = [f"{i},{a[i]},{b[i]},{word[i]},{w[i]},{target[i]}" for i in range(300)]
    (tmp_path / name).write_text("\n".join(["row,a,b,word,w,y", *lines]) + "\n", encoding="utf-8")
    result = command("fit", name, "-t", "y", *options, "-o", "m.adaline", "--report", "page.html")
    assert result.code == 0, result.err
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    code = unescape(re.search(r"<pre[^>]*><code>(.*?)</code></pre>", page, re.DOTALL)[1])
    first = adaline.load("m.adaline").model
    (tmp_path / "m.adaline").unlink()
    assert command(*shlex.split(code)[1:]).code == 0
    again = adaline.load("m.adaline").model
    assert again.coef_.tobytes() == first.coef_.tobytes()
    assert again.get_params() == first.get_params() or options[0] == "--group"
