"""`path`, `trace`, `demo`, `compare`, `separable`, `check-proof` and `cover`."""

from __future__ import annotations

import filecmp
from pathlib import Path

import numpy as np
import pytest

import adaline

OR = "x,y,label\n-1,-1,no\n1,-1,yes\n-1,1,yes\n1,1,yes\n"
XOR = OR.replace("1,1,yes\n", "1,1,no\n").replace("-1,1,no", "-1,1,yes")


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "or.csv").write_text(OR)
    (tmp_path / "xor.csv").write_text(XOR)


def test_the_path_has_ridges_errors_and_minima(command, rents):
    found = command("path", rents, "-t", "rent", "--points", 7, "--json").json
    rows = adaline.data.table(rents, "rent")
    model = adaline.Ridge().fit(rows.X, rows.y)
    expected = model.path(found["alphas"], rows.X, rows.y)
    np.testing.assert_allclose(found["loo"], expected.loo, rtol=1e-10)
    np.testing.assert_allclose(found["coef"], expected.coef, rtol=1e-8, atol=1e-12)
    assert found["minima"]["loo"] == pytest.approx(model.alpha_)
    assert len(found["alphas"]) == 7
    parts = command("path", rents, "-t", "rent", "--jobs", "2", "--json").json  # sums alone
    assert parts["loo"] is None
    gcv = adaline.Ridge("gcv").fit(rows.X, rows.y).alpha_
    assert parts["minima"]["gcv"] == pytest.approx(gcv, rel=1e-6)


@pytest.mark.usefixtures("tables")
def test_the_trace_is_the_librarys_table(command):
    shown = command("trace", "or.csv", "-t", "label").out
    X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], ["no", "yes", "yes", "yes"]
    for line in str(adaline.trace(adaline.Perceptron(), X, y)).splitlines():
        assert line in shown
    found = command("trace", "or.csv", "-t", "label", "--json").json
    assert found["columns"]["w1"] == [0, 1, 2, 1, 1, 1, 1, 1]


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize("model", ["sigmoid", "kernel-perceptron", "ho-kashyap", "logistic"])
def test_every_learner_that_steps_can_be_traced(command, model):
    found = command("trace", "or.csv", "-t", "label", "-m", model, "--passes", 3, "--json")
    assert found.json["steps"] > 0


def test_a_long_trace_shows_its_ends_on_a_terminal(command, pumps, monkeypatch, tmp_path):
    tokens = ["trace", pumps, "-t", "failed", "--passes", "1"]
    assert len(command(*tokens, "--out", "t.csv").out.splitlines()) > 400
    assert len((tmp_path / "t.csv").read_text().splitlines()) == 401
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert "376 rows more: --all" in command(*tokens).out
    assert "rows more" not in command(*tokens, "--all").out


def test_the_demo_writes_its_report_where_that_is_asked_for(command, tmp_path, pumps):
    shown = command("demo", "--out", tmp_path / "there")
    assert shown.code == 0, shown.err
    assert "10-fold cross-validation, 400 rows" in shown.out.replace("\n", " ")
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["pumps.html"]
    inside = Path(adaline.__file__).parent / "_samples" / "pumps.csv"
    assert filecmp.cmp(inside, pumps, shallow=False)


def test_compare_is_the_librarys(command, rents, tmp_path, rng):
    n = 120
    a, b = rng.standard_normal((2, n)).round(3)
    who, y = np.repeat(np.arange(30), 4), np.where(a + 0.6 * rng.standard_normal(n) > 1, "ill", "x")
    rows = [f"{a[i]},{b[i]},p{who[i]},{y[i]}" for i in range(n)]
    (tmp_path / "visits.csv").write_text("a,b,who,y\n" + "\n".join(rows) + "\n")
    tokens = ["compare", "visits.csv", "-t", "y", "--group", "who"]
    found = command(*tokens, "--json").json
    learners = [adaline.GaussianClassifier()]
    by_hand = adaline.compare(np.column_stack([a, b]), y, learners, groups=who.astype(str))
    rows = {row["name"]: row for row in found["learners"]}
    assert rows["gaussian"]["measure"] == by_hand.rows[1].measure
    assert rows["no model"]["measure"] == by_hand.rows[0].measure
    assert {"logistic", "perceptron", "no model"} <= set(rows)
    assert command(*tokens).out.startswith(found["sentence"])
    assert ">= 2" in command("compare", "visits.csv", "-t", "y", "--cv", "0").err
    assert "did you mean" in command("compare", "visits.csv", "-t", "y", "--group", "wh").err
    assert "for classes" in command("compare", rents, "-t", "rent", "--balanced").err


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("name", "code", "verdict"), [("or", 0, "separable"), ("xor", 1, "over")])
def test_the_exit_code_is_the_verdict_and_the_proof_holds(command, name, code, verdict):
    found = command("separable", f"{name}.csv", "-t", "label", "--proof", "p.json", "--json")
    assert found.code == code
    assert found.json["verdict"].startswith(verdict)
    checked = command("check-proof", "p.json", f"{name}.csv", "--json")
    assert checked.code == 0
    assert checked.json["proven"]
    other = command("check-proof", "p.json", "xor.csv" if name == "or" else "or.csv")
    assert other.code == 1
    assert other.out.startswith("Refuted")


@pytest.mark.usefixtures("tables")
def test_what_is_no_proof_is_refused(command, tmp_path):
    for text in ("", "[]", "{}", "nonsense", '{"format": "adaline proof about a'):
        (tmp_path / "p.json").write_text(text)
        found = command("check-proof", "p.json", "or.csv")
        assert found.code == 3
        assert found.err.startswith("adaline: p.json: ")


@pytest.mark.usefixtures("tables")
def test_text_columns_and_their_encoding_travel_with_the_proof(command, pumps, rents, tmp_path):
    assert command("separable", pumps, "-t", "failed", "--proof", "p.json").code == 1
    assert command("check-proof", "p.json", pumps).code == 0
    percent = "".join(f"{k} %,{k % 7},{'low' if k < 50 else 'high'}\n" for k in range(99))
    (tmp_path / "t.csv").write_text("a,b,kind\n" + percent)
    assert command("separable", "t.csv", "-t", "kind", "--proof", "p.json").code == 0
    assert command("check-proof", "p.json", "t.csv").code == 0
    assert "0.7071 'x'" in command("separable", "or.csv", "-t", "label").out
    quantity = command("separable", rents, "-t", "rent")
    assert (quantity.code, "different values" in quantity.err) == (3, True)


@pytest.mark.parametrize(("n", "d", "count"), [(4, 2, "14"), (3, 2, "8"), (20, 30, "1048576")])
def test_cover_has_the_exact_count(command, n, d, count):
    found = command("cover", n, d, "--json").json
    assert found["count"] == count
    assert found["fraction"] == int(count) / 2**n


def test_cover_of_many_points(command):
    assert "10^-29763.7" in command("cover", 100_000, 99).out
    assert command("cover", 1_000_000, 500_000, "--json").json["count"] is None
    assert command("cover", 0, 2).code == 2
