"""A column that gives the target away is named, with the question whether it will be known."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LeastSquares, LogisticRegression, Report, verdict
from adaline.cli import main

_RNG = np.random.default_rng(0)
_A, _B = _RNG.normal(size=(2, 300))
_MASS = 3000 + 400 * _A + 200 * _RNG.normal(size=300)
_CLASS = np.digitize(_A + 0.8 * _RNG.normal(size=300), [-0.4, 0.4])


def leak_of(found):
    [check] = [check for check in found.checks if check.key == "leakage"]
    return check


@pytest.mark.parametrize(
    "column", [2 * _MASS + 1, np.exp(_MASS / 1000), -_MASS + 0.1 * _RNG.normal(size=300)]
)
def test_a_copy_of_a_target_of_numbers_is_a_warning(column):
    X = np.column_stack([_A, _B, column])
    found = verdict(LeastSquares().fit(X, _MASS), X, _MASS, held_out=True, names=["a", "b", "m2"])
    assert not leak_of(found).fine
    assert [text for text in found.warnings if "'m2'" in text and "leakage" in text]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("code", [lambda k: 7 - 3 * k, lambda k: k + 0.4 * np.sin(97 * _B)])
def test_a_code_of_the_class_is_a_warning(classes, code):
    y = np.minimum(_CLASS, classes - 1)
    X = np.column_stack([_A, _B, code(y)])
    found = verdict(LogisticRegression().fit(X, y), X, y, held_out=True)
    assert [text for text in found.warnings if "'x2'" in text and "leakage" in text]


def test_no_column_is_accused_where_each_helps_a_little():
    X = np.column_stack([_A, _B])
    for model, y in [(LeastSquares(), _MASS), (LogisticRegression(), _CLASS)]:
        found = verdict(model.fit(X, y), X, y, held_out=True)
        assert leak_of(found).fine
        assert not [text for text in found.warnings if "leakage" in text]
    rare = np.arange(300) < 2  # to name the common class always is wrong twice
    found = verdict(LogisticRegression().fit(X, rare), X, rare, held_out=True)
    assert leak_of(found).fine


def test_a_text_that_codes_the_class_is_one_column_in_terminal_and_report(tmp_path, capsys):
    table, page = tmp_path / "t.csv", tmp_path / "r.html"
    rows = zip(
        _A, _B, np.array(list("pqr"))[_CLASS], np.array(["Ad", "Ch", "Ge"])[_CLASS], strict=True
    )
    text = "\n".join(",".join(map(str, row)) for row in rows)
    table.write_text(f"flipper,bill,sp_code,species\n{text}\n")
    with pytest.raises(SystemExit):
        main(["fit", str(table), "-t", "species", "--report", str(page)])
    shown = capsys.readouterr().out
    assert "'sp_code' alone predicts species" in shown
    assert shown.count("leakage") == 1
    assert "leakage" in page.read_text()


def test_a_report_of_a_model_names_the_column():
    X = np.column_stack([_A, _MASS])
    report = Report.of(LeastSquares().fit(X, _MASS), X, _MASS, held_out=False)
    assert any("leakage" in text for text in report.warnings)
