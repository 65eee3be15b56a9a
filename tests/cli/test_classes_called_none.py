"""Classes may be called None or NA: such marks count as missing among numbers and dates only."""

from __future__ import annotations

import csv
import io

import pytest

import adaline
from adaline.data import Encoding, blocks, fit, table

pytestmark = pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")


@pytest.fixture
def pain(tmp_path):
    names = ("None", "Mild", "Severe")
    lines = [f"{k % 3 + k / 100},{'NA' if k == 5 else k % 7},{names[k % 3]}" for k in range(90)]
    path = tmp_path / "pain.csv"
    path.write_text("\n".join(["a,b,pain", *lines]) + "\n")
    return path


def test_none_is_a_class(pain):
    rows = table(blocks(pain), "pain")
    assert sorted(set(rows.y)) == ["Mild", "None", "Severe"]
    assert (len(rows.y), rows.left_out) == (90, 0)


def test_none_is_a_class_for_every_way_to_learn(pain, command):
    for model in (adaline.LogisticRegression(), adaline.GaussianClassifier()):
        found = fit(model, pain, "pain", missing="auto")
        assert found.classes_.tolist() == ["Mild", "None", "Severe"]
    ran = command("fit", pain, "-t", "pain", "-o", "m.adaline")
    assert ran.code == 0
    assert "no target" not in ran.out + ran.err
    loaded = adaline.load("m.adaline")
    assert loaded.model.classes_.tolist() == ["Mild", "None", "Severe"]
    ran = command("predict", "m.adaline", pain)
    asked = [row["prediction"] for row in csv.DictReader(io.StringIO(ran.out))]
    assert asked == loaded.predict(pain).tolist()
    ran = command("evaluate", "m.adaline", pain, "--json")
    assert ran.json["left_out"] == 0
    assert ran.json["quality"]["accuracy"] > 0.9


def test_an_empty_target_is_missing_and_so_is_what_the_user_says(pain):
    text = pain.read_text().replace(",Mild\n", ",\n")
    pain.write_text(text)
    assert table(pain, "pain").left_out == 30
    with pytest.warns(adaline.DataWarning, match="'None' is a class"):
        Encoding.learn(pain, "pain", missing="auto")
    assert sorted(set(table(pain, "pain", na=["None"]).y)) == ["Severe"]


def test_classes_of_many_files_may_be_called_none(pain, tmp_path):
    other = tmp_path / "pain2.csv"
    other.write_text(pain.read_text())
    assert sorted(set(table(str(tmp_path / "pain*.csv"), "pain").y)) == ["Mild", "None", "Severe"]
