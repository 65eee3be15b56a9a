"""`path`, `trace` and `demo`."""

from __future__ import annotations

import filecmp
from pathlib import Path

import numpy as np
import pytest

import adaline
from adaline.cli import path
from adaline.data import Encoding, blocks

OR = "x,y,label\n-1,-1,-1\n1,-1,1\n-1,1,1\n1,1,1\n"


def test_the_path_has_ridges_errors_and_minima(command, rents):
    found = command("path", rents, "-t", "rent", "--points", 7, "--json").json
    source = blocks(rents)
    (block,) = source
    X = Encoding.learn(source, "rent").encode(block)
    y = np.asarray(block.columns[list(block.names).index("rent")].values)
    model = adaline.Ridge().fit(X, y)
    table = model.path(found["alphas"], X, y)
    np.testing.assert_allclose(found["loo"], table.loo, rtol=1e-10)
    np.testing.assert_allclose(found["coef"], table.coef, rtol=1e-8, atol=1e-12)
    assert found["minima"]["loo"] == pytest.approx(model.alpha_)
    assert len(found["alphas"]) == 7


def test_a_path_of_blocks_has_gcv_only(command, rents, monkeypatch):
    whole = command("path", rents, "-t", "rent", "--json").json
    monkeypatch.setattr(path, "MEMORY", 0)
    parts = command("path", rents, "-t", "rent", "--json").json
    assert parts["loo"] is None
    assert parts["minima"]["gcv"] == pytest.approx(whole["minima"]["gcv"], rel=1e-6)
    assert "least GCV" in command("path", rents, "-t", "rent").out


def test_the_trace_is_the_lectures_table(command, tmp_path):
    (tmp_path / "or.csv").write_text(OR)
    shown = command("trace", "or.csv", "-t", "label").out
    X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], [-1, 1, 1, 1]
    for line in str(adaline.trace(adaline.Perceptron(), X, y)).splitlines():
        assert line in shown
    found = command("trace", "or.csv", "-t", "label", "--json").json
    assert found["columns"]["w1"] == [0, 1, 2, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    "model", ["adaline", "sigmoid", "kernel-perceptron", "ho-kashyap", "logistic", "widrow-hoff"]
)
def test_every_learner_that_steps_can_be_traced(command, tmp_path, model):
    (tmp_path / "or.csv").write_text(OR)
    found = command("trace", "or.csv", "-t", "label", "-m", model, "--passes", 3, "--rows", 2)
    assert found.code == 0, found.err
    assert command("trace", "or.csv", "-t", "label", "-m", model, "--json").json["steps"] > 0


def test_a_table_too_long_to_keep_is_refused(command, pumps):
    found = command("trace", pumps, "-t", "failed", "--passes", 10_000)
    assert found.code == 2
    assert "--passes 500" in found.err  # of 400 rows, which are counted


def test_a_long_table_shows_its_ends_on_a_terminal_and_is_whole_elsewhere(
    command, pumps, monkeypatch, tmp_path
):
    tokens = ["trace", pumps, "-t", "failed", "--passes", "1"]
    whole = command(*tokens).out.splitlines()
    assert len(whole) > 400
    written = command(*tokens, "--out", "t.csv", "--rows", "4").out
    assert "rows more: --all, or --out FILE" in written
    assert len((tmp_path / "t.csv").read_text().splitlines()) == len(whole) - 2  # said around it
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    shown = command(*tokens).out
    assert "376 rows more: --all, or --out FILE" in shown
    assert len(shown.splitlines()) < 100  # a line of many columns takes several
    assert "rows more" not in command(*tokens, "--all").out


def test_the_demo_writes_its_report_where_that_is_asked_for(command, tmp_path):
    shown = command("demo", "--out", tmp_path / "there")
    assert shown.code == 0, shown.err
    assert "10-fold cross-validation, 400 rows" in shown.out.replace("\n", " ")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["pumps.html"]


def test_the_sample_in_the_package_is_the_one_in_examples(pumps):
    inside = Path(adaline.__file__).parent / "_samples" / "pumps.csv"
    assert filecmp.cmp(inside, pumps, shallow=False)


def test_a_doubt_names_the_option_that_helps(command, tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{i % 7},{2 * (i % 7) + 1},{('Yes', 'yes', 'no')[i % 3]},{i % 5}" for i in range(60)]
    path.write_text("a,b,c,y\n" + "\n".join(rows) + "\n")
    told = command("look", path, "-t", "y", "--json").json["warnings"]
    assert [text.endswith("nearly the same as 'a'. See --ignore.") for text in told] == [
        False,
        True,
    ]
    assert told[0].endswith("(--exact-levels) keeps them apart.")


def test_infinities_beside_a_gap_are_looked_at_without_a_warning_of_numpy(command, tmp_path):
    (tmp_path / "a.csv").write_text("a,y\n1,0\ninf,1\n-inf,0\nnan,1\n2,1\n")
    assert "invalid" not in command("look", tmp_path / "a.csv", "-t", "y").err
