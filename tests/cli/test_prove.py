"""`separable`, `check-proof` and `cover`: verdicts are exit codes, too."""

from __future__ import annotations

import json

import pytest

import adaline

OR = "x,y,label\n-1,-1,no\n1,-1,yes\n-1,1,yes\n1,1,yes\n"
XOR = OR.replace("1,1,yes\n", "1,1,no\n").replace("-1,1,no", "-1,1,yes")


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "or.csv").write_text(OR)
    (tmp_path / "xor.csv").write_text(XOR)


@pytest.mark.usefixtures("tables")
@pytest.mark.parametrize(("name", "code", "verdict"), [("or", 0, "separable"), ("xor", 1, "over")])
def test_the_exit_code_is_the_verdict_and_the_proof_holds(command, name, code, verdict):
    found = command("separable", f"{name}.csv", "-t", "label", "--proof", "p.json", "--json")
    assert found.code == code
    assert found.json["verdict"].startswith(verdict)
    checked = command("check-proof", "p.json", f"{name}.csv", "--json")
    assert checked.code == 0
    assert checked.json["proven"]


@pytest.mark.usefixtures("tables")
def test_a_proof_is_refuted_by_other_rows(command):
    command("separable", "or.csv", "-t", "label", "--proof", "p.json")
    other = command("check-proof", "p.json", "xor.csv")
    assert other.code == 1
    assert other.out.startswith("Refuted")


@pytest.mark.usefixtures("tables")
def test_a_forged_proof_is_refuted(command, tmp_path):
    command("separable", "xor.csv", "-t", "label", "--proof", "p.json")
    forged = json.loads((tmp_path / "p.json").read_text())
    forged["proof"]["verdict"] = "separable"
    forged["proof"]["weights"] = [["0x1", "0x1", "0x1"]]
    forged["proof"]["margin"] = (0.5).hex()
    (tmp_path / "p.json").write_text(json.dumps(forged))
    assert command("check-proof", "p.json", "xor.csv").code == 1


@pytest.mark.usefixtures("tables")
def test_a_bare_proof_of_the_library_is_checked_with_a_target(command, tmp_path):
    X, y = [[-1, -1], [1, -1], [-1, 1], [1, 1]], ["no", "yes", "yes", "yes"]
    (tmp_path / "bare.json").write_text(adaline.separability(X, y).to_json())
    assert command("check-proof", "bare.json", "or.csv").code == 2
    assert command("check-proof", "bare.json", "or.csv", "-t", "label").code == 0


@pytest.mark.parametrize("text", ["", "[]", "{}", "nonsense", '{"format": "adaline proof about a'])
@pytest.mark.usefixtures("tables")
def test_what_is_no_proof_is_told_in_a_sentence(command, tmp_path, text):
    (tmp_path / "p.json").write_text(text)
    found = command("check-proof", "p.json", "or.csv")
    assert found.code == 3
    assert found.err.startswith("adaline: p.json: ")


def test_text_columns_and_the_encoding_travel_with_the_proof(command, pumps):
    found = command("separable", pumps, "-t", "failed", "--proof", "p.json")
    assert found.code == 1
    assert command("check-proof", "p.json", pumps).code == 0


@pytest.mark.usefixtures("tables")
def test_a_hyperplane_is_told_with_the_columns_names(command):
    assert "0.7071 'x'" in command("separable", "or.csv", "-t", "label").out


def test_a_quantity_is_no_class(command, rents):
    found = command("separable", rents, "-t", "rent")
    assert found.code == 3
    assert "different values" in found.err


@pytest.mark.parametrize(("n", "d", "count"), [(4, 2, "14"), (3, 2, "8"), (20, 30, "1048576")])
def test_cover_has_the_exact_count(command, n, d, count):
    found = command("cover", n, d, "--json").json
    assert found["count"] == count
    assert found["fraction"] == int(count) / 2**n


def test_cover_without_a_bias_and_far_out(command):
    assert command("cover", 4, 2, "--no-bias", "--json").json["count"] == "8"
    assert "10^-29763.7" in command("cover", 100_000, 99).out
    assert command("cover", 10_000_000, 5_000_000, "--json").json["count"] is None
    assert command("cover", 0, 2).code == 2
