"""Tables as people have them, through the command: nothing is used or dropped in silence."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest
from sklearn.datasets import load_iris

N = 120
RNG = np.random.default_rng(5)
SHARE = RNG.uniform(5, 95, N).round(1)
SIZE = RNG.normal(size=N).round(3)


def written(path, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture
def iris(tmp_path):
    data = load_iris()
    columns = {"": range(1, 151)}
    columns |= {f"x {k}": data.data[:, k] for k in range(4)}
    columns["Species"] = [data.target_names[t] for t in data.target]
    return written(tmp_path / "iris.csv", columns)


def test_row_numbers_are_not_learned_from(command, iris):
    shown = command("fit", iris, "-t", "Species")
    assert shown.code == 0, shown.err
    assert "Left out: '' counts the rows (--use NAME takes it in)." in shown.out
    found = command("fit", iris, "-t", "Species", "--json").json
    assert found["data"]["left_out"] == {"": "counts the rows"}
    assert {row["name"] for row in found["coefficients"]} == {
        "intercept",
        "x 0",
        "x 1",
        "x 2",
        "x 3",
    }
    taken = command("fit", iris, "-t", "Species", "--use", "", "--json").json
    assert taken["data"]["left_out"] == {}


def test_no_row_number_proves_that_classes_are_separable(command, iris):
    found = command("separable", iris, "-t", "Species", "--json")
    assert found.code == 1
    assert found.json["verdict"] != "separable"
    assert "" not in found.json["columns"]
    numbered = command("separable", iris, "-t", "Species", "--use", "", "--json")
    assert numbered.json["verdict"] == "separable"


def test_a_proof_about_text_that_was_read_as_numbers_can_be_checked(command, tmp_path):
    kind = ["low" if v < 50 else "high" for v in SHARE]
    path = written(tmp_path / "t.csv", {"a": [f"{v} %" for v in SHARE], "b": SIZE, "kind": kind})
    assert command("separable", path, "-t", "kind", "--proof", "p.json").code == 0
    assert command("check-proof", "p.json", path).code == 0


def test_percent_and_money_are_numbers(command, tmp_path):
    price = [f"${2 * v:.2f}" for v in SHARE]
    path = written(tmp_path / "t.csv", {"share": [f"{v}%" for v in SHARE], "price": price})
    shown = command("fit", path, "-t", "price", "-m", "least-squares").out
    assert "Recognised: 'share' as percent; 'price' as numbers in $" in shown
    found = command("fit", path, "-t", "price", "-m", "least-squares", "--json").json
    assert found["quality"]["r2"] > 0.999999
    assert found["data"]["recognised"] == {"share": "percent", "price": "numbers in $"}
    text = command("fit", path, "-t", "price", "--text", "share", "--use", "share", "--json").json
    assert len(text["coefficients"]) > 50


def test_dates_are_inputs_and_targets(command, tmp_path):
    days = [f"{1 + k % 28:02}/{1 + k // 28:02}/2024" for k in range(N)]
    path = written(tmp_path / "t.csv", {"sold": days, "x": SIZE, "y": SHARE})
    shown = command("fit", path, "-t", "y").out
    assert "'sold' as dates, day first" in shown
    assert "sold month=2" in shown
    shown = command("fit", path, "-t", "sold").out
    assert "a number of days since 1970-01-01" in shown
    assert command("fit", path, "-t", "y", "--date", "sold=mdy").code == 3
    assert command("fit", path, "-t", "y", "--date", "sold=xyz").code == 2


def test_gaps_are_filled_in_marked_and_told(command, tmp_path):
    gone = np.arange(N) % 5 == 0
    columns = {
        "a": ["?" if g else v for g, v in zip(gone, SIZE, strict=True)],
        "w": ["" if g else "xy"[k % 2] for k, g in enumerate(gone)],
        "y": ["" if k % 40 == 1 else v for k, v in enumerate(SHARE)],
    }
    path = written(tmp_path / "t.csv", columns)
    shown = command("fit", path, "-t", "y", "-o", "m.adaline")
    assert shown.code == 0, shown.err
    assert "3 rows without a target left out" in shown.out
    assert "24 in 'a' (mean filled in, and marked); 24 in 'w' (a level of their own)" in shown.out
    assert "a is missing" in shown.out
    assert "w=(missing)" in shown.out
    refused = command("fit", path, "-t", "y", "--missing", "refuse")
    assert refused.code == 3
    new = written(tmp_path / "new.csv", {"w": ["", "x", "z"], "a": ["1.5", "?", ""]})
    told = command("predict", "m.adaline", new, "-o", "p.csv")
    assert told.code == 0, told.err
    assert "1 in 'w'" in told.out
    assert len((tmp_path / "p.csv").read_text().splitlines()) == 4


def test_a_missing_target_is_refused_where_that_is_asked_for(command, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n" + "".join(f"{i * i % 37},{i}\n" for i in range(60)) + "1,\n")
    found = command("fit", path, "-t", "y", "--missing", "refuse")
    assert found.code == 3
    assert "line 62" in found.err


def test_new_levels_and_columns_of_digits_are_predicted_and_counted(command, tmp_path):
    path = written(tmp_path / "t.csv", {"code": ["007", "008", "x9"] * 40, "y": SIZE})
    assert command("fit", path, "-t", "y", "-o", "m.adaline").code == 0
    new = written(tmp_path / "new.csv", {"code": ["007", "008", "009", "7"]})
    shown = command("predict", "m.adaline", new)
    assert shown.code == 0, shown.err
    assert "2 in 'code'" in shown.err
    values = [line.split(",")[0] for line in shown.out.splitlines()[1:]]
    assert values[0] != values[1]
    assert values[2] == values[3]
    assert command("predict", "m.adaline", new, "--unknown", "refuse").code == 3
    truth = written(tmp_path / "truth.csv", {"code": ["007", "x9", "zz"], "y": [1.0, 2.0, 3.0]})
    found = command("evaluate", "m.adaline", truth, "--json").json
    assert found["unknown"] == {"code": 1}


def test_kept_columns_are_copied_as_they_are_written(command, tmp_path):
    path = written(tmp_path / "t.csv", {"share": [f"{v}%" for v in SHARE], "y": SIZE})
    assert command("fit", path, "-t", "y", "-o", "m.adaline").code == 0
    shown = command("predict", "m.adaline", path, "--keep", "share").out
    assert shown.splitlines()[1].startswith(f"{SHARE[0]}%,")


def test_columns_are_named_with_commas_and_wildcards(command, tmp_path):
    columns = {f"x{k}": RNG.normal(size=N).round(2) for k in range(3)} | {"z": SHARE, "y": SIZE}
    path = written(tmp_path / "t.csv", columns)

    def names(*tokens):
        found = command("fit", path, "-t", "y", "-m", "least-squares", "--json", *tokens)
        assert found.code == 0, found.err
        return [row["name"] for row in found.json["coefficients"]][1:]

    assert names("--ignore", "x0,z") == ["x1", "x2"]
    assert names("--ignore", "x*") == ["z"]
    assert names("--only", "x0,x2") == ["x0", "x2"]
    assert names("--only", "x?", "--ignore", "x1") == ["x0", "x2"]
    assert names("--ignore", "*0", "--ignore", "*z") == ["x1", "x2"]
    assert command("fit", path, "-t", "y", "--ignore", "y").code == 2
    found = command("fit", path, "-t", "y", "--only", "x9")
    assert found.code == 2
    assert "did you mean" in found.err


def test_a_code_for_a_missing_value_is_doubted_and_can_be_named(command, tmp_path):
    values = np.where(np.arange(N) % 10 == 0, -999, SHARE)
    path = written(tmp_path / "t.csv", {"a": values, "y": SIZE})
    assert "-999 comes often" in command("fit", path, "-t", "y").out
    found = command("fit", path, "-t", "y", "--na", "-999", "--json").json
    assert found["data"]["gaps"] == {"a": 12}
    assert not any("-999" in text for text in found["warnings"])


def test_a_comma_that_may_be_two_things_is_told_and_can_be_settled(command, tmp_path):
    texts = [f"1,{200 + k * 7 % 700}" for k in range(N)]
    path = written(tmp_path / "t.csv", {"a": texts, "y": SIZE})
    assert "read as a thousand" in command("fit", path, "-t", "y").out
    settled = command("look", path, "--number", "a=.,", "--json")
    assert settled.json["recognised"] == {"a": "numbers with decimal comma"}
    assert settled.json["warnings"] == []
    assert command("look", path, "--number", "a=,,").code in (2, 3)


def test_a_packed_file_gives_the_same_fit(command, tmp_path):
    path = written(tmp_path / "t.csv", {"share": [f"{v}%" for v in SHARE], "y": SIZE > 0})
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    plain, other = (command("fit", p, "-t", "y", "--json").json for p in (path, packed))
    assert plain["coefficients"] == other["coefficients"]


def test_look_tells_every_column(command, iris):
    shown = command("look", iris, "-t", "Species")
    assert shown.code == 0, shown.err
    assert "fit would learn from 4 of them" in shown.out
    assert "left out: counts the rows" in shown.out
    found = command("look", iris, "-t", "Species", "--json").json
    assert found["rows"] == 150
    assert [column["use"] for column in found["columns"]][-1] == "the target"
    assert command("look", iris, "--target", "Specie").code == 2


def test_a_few_texts_among_numbers_are_gaps_and_said(command, tmp_path):
    rows = [
        f"{'sold out' if i in (7, 70) else f'{i % 13}.5'},{(i % 13) * 2 + i % 3}"
        for i in range(100)
    ]
    path = tmp_path / "t.csv"
    path.write_text("price,y\n" + "\n".join(rows) + "\n")
    found = command("fit", path, "-t", "y", "--json", "-o", "m.adaline")
    assert found.code == 0
    assert any("'sold out' among numbers" in text for text in found.json["warnings"])
    assert command("predict", "m.adaline", path, "-o", "p.csv").code == 0
    assert command("fit", path, "-t", "y", "--missing", "refuse").code == 3


def test_columns_that_a_model_does_not_use_cannot_stop_it(command, tmp_path):
    path, other = tmp_path / "t.csv", tmp_path / "o.csv"
    path.write_text("a,b\n" + "".join(f"{i % 17},{i % 17 + i % 3}\n" for i in range(60)))
    assert command("fit", path, "-t", "b", "-o", "m.adaline").code == 0
    body = "".join(f"{i % 17},{i},{i % 17 + i % 3}\n" for i in range(1100))
    other.write_text("a,note,b\n" + body + "3,oh,4\n")  # `note` is numbers in its first rows
    assert command("predict", "m.adaline", other, "-o", "p.csv").code == 0
    assert command("evaluate", "m.adaline", other).code == 0


def test_labels_that_happen_to_be_digits_are_still_words(command, tmp_path):
    path, other = tmp_path / "t.csv", tmp_path / "o.csv"
    kinds = ["<5", "6", "7"]
    path.write_text("a,b\n" + "".join(f"{i % 17},{kinds[i % 3]}\n" for i in range(90)))
    assert command("fit", path, "-t", "b", "-o", "m.adaline").code == 0
    other.write_text("a,b\n" + "".join(f"{i % 17},{kinds[1 + i % 2]}\n" for i in range(40)))
    assert command("evaluate", "m.adaline", other).code == 0


def test_a_text_among_numbers_does_not_stop_a_prediction(command, tmp_path):
    path, other = tmp_path / "t.csv", tmp_path / "o.csv"
    path.write_text("zip,y\n" + "".join(f"{98101 + i % 17},{i % 17 + i % 3}\n" for i in range(60)))
    assert command("fit", path, "-t", "y", "-o", "m.adaline").code == 0
    for text in ("98105-3147", "none of them"):
        rows = "".join(f"{98101 + i % 17},{i % 3}\n" for i in range(40))
        other.write_text(f"zip,y\n{rows}{text},4\n")
        for tokens in (("predict", "-o", "p.csv"), ("evaluate",)):
            found = command(tokens[0], "m.adaline", other, *tokens[1:])
            assert found.code == 0
            assert f"{text!r} in 'zip'" in found.out + found.err
            assert command(tokens[0], "m.adaline", other, "--unknown", "refuse").code == 3
