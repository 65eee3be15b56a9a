"""No two sentences about one fit disagree: terminal, report and page, for every classifier."""

from __future__ import annotations

import contextlib
import html
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

import adaline
from adaline.cli import run_command
from adaline.cli.learners import list_learners
from adaline.play import board, tables
from adaline.play.learners import LEARNERS
from adaline.play.points import PRESETS

DATA = Path(__file__).parents[2] / "examples" / "data"
CLASSIFIERS = sorted(kind._command for kind in list_learners() if kind._learns == "classes")

# What may be said of a topic, and the words that say it; the answers exclude each other.
CLAIMS = {
    "separability": {
        "yes": r"(?<![Nn]o )(hyperplane|linear machine) (separates|gives) (the|all|each)|"
        r"linearly separable|training rows are separable|(?<!quasi-)\bseparable: ",
        "no": r"[Nn]o (hyperplane|linear machine|line) (separates the (?!rest)|can have)|"
        r"no linear boundary|overlapping: |the classes (touch|overlap)",
        "open": r"separability is undecided|whether a (hyperplane|linear machine) separates|"
        r"ask .separability|adaline separable decides|(?<!rows )undecided: (?!.*kernel)",
    },
    "convergence": {
        "yes": r"[Ll]earning converged|[Ss]olved in closed form",
        "no": r"not converge|without having converged",
    },
}


def said_of(topic: str, texts: list[str]) -> dict[str, str]:
    """The answers that these sentences give, each with a sentence that gives it."""
    found = {}
    for answer, words in CLAIMS[topic].items():
        if claiming := [text for text in texts if re.search(words, text)]:
            found[answer] = claiming[0]
    return found


def check_agree(*texts: str) -> None:
    for topic in CLAIMS:
        assert len(said_of(topic, list(texts))) <= 1


def penguins() -> list[list[object]]:
    """Rows like those of palmerpenguins, sorted by species: three clouds, gaps, text, a year."""
    rng = np.random.default_rng(3)
    rows: list[list[object]] = [["species", "island", "bill", "depth", "flipper", "mass", "year"]]
    kinds = {"Adelie": (38.8, 18.3, 190, 3700), "Gentoo": (47.5, 15, 217, 5076)}
    kinds["Chinstrap"] = (48.8, 18.4, 196, 3733)
    for kind, centre in kinds.items():
        for i in range(40):
            values = (np.array(centre) + rng.normal(0, [2.2, 0.8, 5.5, 350])).round(1).tolist()
            values[i % 4] = "" if i == 7 else values[i % 4]
            island = "Biscoe" if kind == "Gentoo" else rng.choice(["Dream", "Torgersen"])
            rows.append([kind, island, *values, 2007 + i % 3])
    return rows


TABLES = {"penguins": (penguins, "species"), "pumps": (None, "failed")}


def run(*tokens: object) -> str:
    out = io.StringIO()
    given = [str(token) for token in tokens]
    with contextlib.redirect_stdout(out):
        assert run_command(given) == 0
    return out.getvalue()


def text_of(page: str) -> list[str]:
    """The paragraphs of a page, without pictures and styles."""
    page = re.sub(r"(?s)<(style|svg)\b.*?</\1>", "", page)
    parts = re.split(r"</?(?:p|li|td|th|h\d|div|dd|dt|section)\b[^>]*>", page)
    plain = [html.unescape(re.sub(r"<[^>]+>", "", part)).strip() for part in parts]
    return [part for part in plain if part]


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("model", CLASSIFIERS)
def test_terminal_report_and_page_agree_on_every_fit(tmp_path, table, model):
    rows, target = TABLES[table]
    path = DATA / f"{table}.csv"
    if rows is not None:
        path = tmp_path / f"{table}.csv"
        path.write_text("\n".join(",".join(map(str, row)) for row in rows()))
    report = tmp_path / "report.html"
    more = ["--set", "max_iter=50"] if model == "kernel-perceptron" else []
    asked = ["fit", path, "-t", target, "-m", model, "--cv", 2, *more]
    terminal = run(*asked, "--report", report)
    facts = json.loads(run(*asked, "--json"))
    page = tables.draw_fit(facts)
    kind, proof = page["certificate"] or {"kind": "none", "statement": ""}, page["separability"]
    shown = [page["verdict"], *page["warnings"], f"{kind['kind']}: {kind['statement']}"]
    shown += [f"{proof['verdict']}: {proof['sentence']}"] if proof else []
    paragraphs = text_of(report.read_text())
    check_agree(*terminal.splitlines(), *paragraphs, *shown)
    assert said_of("convergence", terminal.splitlines())


@pytest.mark.parametrize("learner", LEARNERS)
def test_the_board_says_one_thing_of_separability_with_every_learner(learner):
    for preset in PRESETS:
        link = {"preset": preset, "learner": learner}
        _, drawing = board.step(board.start(), {"event": "open", "link": link})
        run, proof = drawing["run"], drawing["proof"]
        if run is not None and learner != "kernel":
            proven = f"{proof['verdict']}: {proof['words']}"
            check_agree(f"{run['stopped']} {run['certificate']}", proven)


@pytest.mark.parametrize("mode", ["online", "batch"])
@pytest.mark.parametrize("max_iter", [3, 1000])
@pytest.mark.parametrize("classes", [2, 3])
def test_the_error_that_ends_learning_is_the_mean_squared_error_of_the_last_pass(
    rng, mode, max_iter, classes
):
    X = rng.standard_normal((30, 2))
    y = np.digitize(X[:, 0] + 0.3 * rng.standard_normal(30), [0.0, 0.7][: classes - 1])
    model = adaline.Adaline(mode=mode, max_iter=max_iter)
    with pytest.warns() if max_iter == 3 else contextlib.nullcontext():
        steps = adaline.trace(model, X, y)
    words = re.search(r"mean squared error[^;]*?;? (?:of )?([\d.e-]+\d)", steps.fit.stopped)
    assert words, steps.fit.stopped
    last = steps.passes == steps.passes.max()
    if mode == "online":
        assert float(words[1]) == pytest.approx(np.mean((steps.t - steps.v)[last] ** 2), rel=1e-3)


def test_a_verdict_in_python_knows_that_learning_has_not_converged(rng):
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 2
    with pytest.warns():
        model = adaline.Perceptron(max_iter=3).fit(X, y)
    found = adaline.verdict(model, X, y, held_out=False)
    assert found.converged is False
    check_agree(found.evidence, *found.warnings)
    model = adaline.Adaline().fit(X, y)
    assert adaline.verdict(model, X, y, held_out=False).converged is True
    stream = adaline.Adaline().partial_fit(X, y, [0, 1])
    assert adaline.verdict(stream, X, y, held_out=False).converged is None
