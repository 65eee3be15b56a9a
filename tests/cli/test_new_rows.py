"""New rows are read in the notation that the model has learned, or rejected: by the command and in
Python alike."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest

import adaline
from adaline import Ridge
from adaline.data import Encoding

pytestmark = pytest.mark.filterwarnings("ignore::adaline.errors.DataWarning")
VALUES = [1_345_870 + 23_456 * k for k in range(60)]


def grouped(value: int, mark: str) -> str:
    return f"{value:,}".replace(",", mark)


LEARNED = {  # how the model's file writes 1345870 or so, and what new rows mean by it
    "dots": [grouped(v, ".") for v in VALUES],
    "decimal comma": [grouped(v, ".") + ",5" for v in VALUES],
    "euros": [grouped(v // 10, ".") + " €" for v in VALUES],
    "commas": [grouped(v, ",") for v in VALUES],
    "plain": [f"{v / 1000:.3f}" for v in VALUES],
    "dates": [f"2023-{1 + k // 28:02d}-{1 + k % 28:02d}" for k in range(60)],
    "percent": [f"{20 + k + 0.4:.1f}%" for k in range(60)],
}
NEW = {  # the model, what a new row has, and the number that it means; None: no such number
    "a file below a million": ("dots", ["845.870", "12.345"], [845870.0, 12345.0]),
    "decimals for dots": ("dots", ["845.87", "12.345"], None),
    "no dots at all": ("dots", ["845870", "987"], [845870.0, 987.0]),
    "dots for a decimal comma": ("decimal comma", ["845.870", "12.345"], [845870.0, 12345.0]),
    "decimals for a decimal comma": ("decimal comma", ["845.5", "1.25"], None),
    "no euros": ("euros", ["743.892", "851.172"], None),
    "dollars": ("euros", ["743.892 $", "851.172 $"], None),
    "euros": ("euros", ["743.892 €", "851 €"], [743892.0, 851.0]),
    "commas": ("commas", ["845,870", "12"], [845870.0, 12.0]),
    "no commas": ("commas", ["845.870", "12"], [845.87, 12.0]),
    "thousands for decimals": ("plain", ["1,743.892", "851.172"], None),
    "decimal commas for decimals": ("plain", ["743,892", "851,17"], None),
    "days as numbers": ("dates", ["20230102", "20230103"], None),
    "days in another order": ("dates", ["31/12/2023", "1/12/2023"], None),
    "days": ("dates", ["2023-01-05", "2023-02-06"], [19362.0, 19394.0]),
    "shares": ("percent", ["0.634", "0.5"], None),
    "percent": ("percent", ["63.4%", "5 %"], [63.4, 5.0]),
}


def learned(path, how):
    """A model that predicts what it is asked: y is x."""
    rows = [f'"{text}";{k}' for k, text in enumerate(LEARNED[how])]
    path.write_text("\n".join(["x;y", *rows]) + "\n", encoding="utf-8")
    encoding = Encoding.learn(path, "y", missing="auto", unknown="zeros")
    p = len(encoding.names)
    model = Ridge(alpha=0.0).fit(np.eye(p + 2, p), np.eye(p + 2, p)[:, 0])
    adaline.save(model, path.with_name("m.adaline"), encoding)
    return adaline.load(path.with_name("m.adaline"))


def predictions(result):
    return [float(row["prediction"]) for row in csv.DictReader(io.StringIO(result.out))]


@pytest.mark.parametrize("separator", [",", ";"])
@pytest.mark.parametrize("case", NEW)
def test_command_and_python_read_new_rows_as_the_model_has_learned(
    case, separator, command, tmp_path
):
    how, texts, meant = NEW[case]
    model, new = learned(tmp_path / "learned.csv", how), tmp_path / "new.csv"
    rows = [separator.join((f'"{text}"', "a")) for text in texts]
    new.write_text("\n".join([f"x{separator}z", *rows]) + "\n", encoding="utf-8")
    ran = command("predict", "m.adaline", new)
    if meant is None:
        assert ran.code != 0, ran.out
        assert "'x'" in ran.err
        with pytest.raises(ValueError, match="'x'"):
            model.predict(str(new))
        return
    python = model.predict(str(new))
    assert predictions(ran) == python.tolist()
    np.testing.assert_allclose(python, meant, rtol=1e-9)


def test_a_target_is_evaluated_in_the_notation_of_the_model(command, tmp_path):
    lines = [f"{k % 7}.5,{k * 100.125:.3f}" for k in range(80)]
    (tmp_path / "t.csv").write_text("\n".join(["x,y", *lines]) + "\n")
    assert command("fit", "t.csv", "-t", "y", "-o", "m.adaline", "-q").code == 0
    (tmp_path / "odd.csv").write_text("x;y;z\n1;743.892;1,5\n2;851.172;2,5\n3;900.100;7,5\n")
    assert command("evaluate", "m.adaline", "odd.csv", "--json").json["quality"]["rmse"] < 1e5


def test_a_strange_word_is_a_missing_value_and_a_strange_number_is_none(command, tmp_path):
    model = learned(tmp_path / "learned.csv", "plain")
    (tmp_path / "word.csv").write_text("x\n1.5\n2.5\nlow\n")
    with pytest.warns(adaline.DataWarning, match="missing"):
        python = model.predict(tmp_path / "word.csv")
    assert predictions(command("predict", "m.adaline", "word.csv")) == python.tolist()
    (tmp_path / "number.csv").write_text("x\n1.5\n2.5\n3 kg\n")
    assert command("predict", "m.adaline", "number.csv").code != 0
    with pytest.raises(ValueError, match="3 kg"):
        model.predict(tmp_path / "number.csv")
