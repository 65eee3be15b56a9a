"""Proofs of separability are read with suspicion: what is read can be told, or is refused."""

from __future__ import annotations

import json

import pytest

from adaline import Separability, separability

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]


def written(y, **changes):
    return {**json.loads(separability(SQUARE, y).to_json()), **changes}


def refused(found, words):
    with pytest.raises(ValueError, match=words):
        Separability.from_json(json.dumps(found))


AND, XOR = [0, 0, 0, 1], [0, 1, 1, 0]


def test_parts_have_no_parts():
    found = json.loads(separability([[0], [1], [2]], ["a", "b", "c"]).to_json())
    part = found["pairwise"][0]
    part[2]["pairwise"] = [[*part[:2], {**part[2], "pairwise": []}]]
    refused(found, "parts have parts")


@pytest.mark.parametrize(
    ("y", "changes", "words"),
    [
        (AND, {"margin": None}, "margin are missing"),
        (AND, {"weights": []}, "weights or the margin"),
        (AND, {"weights": [["0x1", "0x1"]]}, "one a column"),
        (AND, {"weights": [["0x1"] * 3] * 2}, "one a column"),
        (AND, {"verdict": "overlapping"}, "multipliers are missing"),
        (AND, {"verdict": "quasi-separable"}, "multipliers are missing"),
        (XOR, {"multipliers": ["0x1", "0x1", "0x1", "0x0"]}, "not positive"),
        (XOR, {"multipliers": ["0x1", "0x1", "0x1", "-0x1"]}, "not positive"),
        (XOR, {"weights": [["0x1"]]}, "one a column"),
        (XOR, {"verdict": "separable"}, "weights or the margin"),
    ],
)
def test_a_verdict_without_its_evidence_is_refused(y, changes, words):
    """Each of these was read, and then `explain` failed with another error than a sentence."""
    refused(written(y, **changes), words)


@pytest.mark.parametrize("y", [AND, XOR], ids=["and", "xor"])
@pytest.mark.parametrize("verdict", ["separable", "quasi-separable", "overlapping", "undecided"])
@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"labels": [1]},
        {"labels": [1, 2, 3]},
        {"labels": []},
        {"n_features": 0},
        {"fit_intercept": False},
        {"weights": [["0x0"] * 3]},
        {"margin": "nan"},
    ],
    ids=str,
)
def test_what_is_read_can_be_told(y, verdict, changes):
    try:
        found = Separability.from_json(json.dumps(written(y, verdict=verdict, **changes)))
    except ValueError:
        return
    assert str(found).startswith(verdict)
    assert not found.check([[0.0], [1.0]], [0, 1])
