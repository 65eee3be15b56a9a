"""Which rows the model that is kept has learned from, and what its levels are compared with."""

from __future__ import annotations

import numpy as np
import pytest

import adaline
from adaline.evaluation.cross_validation import folds, hold_out

_RNG = np.random.default_rng(3)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """700 rows: a number, a text of three levels, and the target."""
    path = tmp_path_factory.mktemp("kept") / "t.csv"
    x, origin = _RNG.normal(size=700), _RNG.integers(0, 3, 700)
    y = x + origin + _RNG.normal(size=700)
    rows = [f"{a},{'EJU'[k]},{b}" for a, k, b in zip(x, origin, y, strict=True)]
    path.write_text("\n".join(["x,Origin,y", *rows]) + "\n")
    return path


def test_the_kept_model_learns_from_all_rows_after_it_was_measured(command, table, tmp_path):
    out = tmp_path / "m.adaline"
    found = command("fit", table, "-t", "y", "--out", out, "--json").json
    assert found["data"]["rows_learned_from"] == 700
    assert found["data"]["rows_held_out"] == found["quality"]["rows"] == 140
    assert found["quality"]["held_out"]
    rows = adaline.data.table(table, "y")
    model = adaline.Ridge().fit(rows.X, rows.y)
    np.testing.assert_array_equal(adaline.load(out).model.coef_, model.coef_)
    again = adaline.cross_validated(adaline.Ridge(), rows.X, rows.y, hold_out(rows.y))
    assert found["quality"]["rmse"] == again.quality.facts()["rmse"]


def test_it_is_said_which_rows_the_kept_model_has_learned_from(command, table, tmp_path):
    tokens = "fit", table, "-t", "y", "--out", tmp_path / "m.adaline"
    shown = command(*tokens).out
    assert "learned from all 700 rows" in shown
    assert "140 held-out rows" in shown
    assert "learned from all 700 rows" in command(*tokens, "--cv", "4").out
    assert "rows that were not held out" in command(*tokens, "--test", "0.2").out


def test_base_levels_are_shown_in_terminal_report_and_json(command, table, tmp_path):
    page = tmp_path / "r.html"
    assert "Origin=E." in command("fit", table, "-t", "y", "--report", page).out
    assert "Origin=E" in page.read_text(encoding="utf-8")
    found = command("fit", table, "-t", "y", "--json").json
    assert found["data"]["base_levels"] == {"Origin": "E"}


def test_a_hold_out_is_one_of_so_many_folds():
    y = _RNG.normal(size=50)
    [(train, test)] = hold_out(y, seed=4)
    assert len(train) == 40
    np.testing.assert_array_equal(test, folds(y, 5, seed=4).pairs[0][1])
