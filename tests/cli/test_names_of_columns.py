"""Columns are called by their names, however the rows came to the learner."""

from __future__ import annotations

import numpy as np
import pytest

from adaline import LeastSquares, LeastSquaresClassifier, Perceptron
from adaline.data import fit

LEARNERS = {
    "least-squares": ([], "number"),
    "ridge": (["--set", "alpha=0"], "number"),
    "least-squares-classifier": ([], "label"),
}


@pytest.fixture
def table(tmp_path, rng):
    """Names that look like places: x2 is the second column, and constant."""
    a, b = rng.standard_normal((2, 300))
    number = a + 2 * b + 0.1 * rng.standard_normal(300)
    lines = [
        f"{u},5,{v},{w},{'yes' if w > 0 else 'no'}" for u, v, w in zip(a, b, number, strict=True)
    ]
    (tmp_path / "t.csv").write_text("\n".join(["x1,x2,x3,number,label", *lines]) + "\n")
    return tmp_path / "t.csv"


@pytest.mark.parametrize("more", [[], ["--checkpoint", "saved"]], ids=["in memory", "in blocks"])
@pytest.mark.parametrize("model", LEARNERS)
def test_the_constant_column_is_named_also_with_a_checkpoint(command, table, model, more):
    settings, target = LEARNERS[model]
    other = "label" if target == "number" else "number"
    tokens = [
        "fit",
        table,
        "-t",
        target,
        "--ignore",
        other,
        "--use",
        "x2",
        "-m",
        model,
        *settings,
        *more,
    ]
    found = command(*tokens)
    assert found.code == 0, found.err
    (said,) = [line for line in found.out.splitlines() if "is constant" in line]
    assert said.replace("'", "").startswith("Warning: x2 is constant")


@pytest.mark.parametrize(
    ("learner", "target"), [(LeastSquares(), "number"), (LeastSquaresClassifier(), "label")]
)
def test_a_fit_of_blocks_names_columns_and_not_places(table, learner, target):
    with pytest.warns(UserWarning, match="x2 is constant"):
        fit(learner, table, target, columns=["x1", "x2", "x3"])


def test_learners_of_rows_in_order_do_not_complain_of_names(table, recwarn):
    fit(Perceptron(), table, "label", columns=["x1", "x3"], passes=2)
    assert not [w for w in recwarn if "feature names" in str(w.message)]


def test_a_fit_of_blocks_that_fails_leaves_the_model_as_it_was(table):
    model = fit(LeastSquares(), np.arange(12.0).reshape(6, 2) ** 2, "x1")
    before = dict(vars(model))
    with pytest.raises(ValueError, match="regressor needs numbers"):
        fit(model, table, "label", columns=["x1", "x3"])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[key] is value for key, value in before.items())
