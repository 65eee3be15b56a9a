"""A proof holds on its data, and on nothing else; a forged one never does."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from adaline import Separability, separability
from adaline.certificates.separation.rows import SignedRows

SQUARE = [[0, 0], [0, 1], [1, 0], [1, 1]]
CASES = {
    "separable": (SQUARE, [0, 0, 0, 1]),
    "overlapping": (SQUARE, [0, 1, 1, 0]),
    "quasi-separable": ([[0], [1], [1], [2]], [0, 0, 1, 1]),
}


def refused(checked, words):
    """A proof that does not hold, and says why."""
    assert not checked
    assert words in checked.sentence


@pytest.fixture(params=CASES)
def case(request):
    X, y = CASES[request.param]
    found = separability(X, y)
    assert found.verdict == request.param
    return found, X, y


def test_a_proof_survives_json_and_holds(case):
    found, X, y = case
    read = Separability.from_json(found.to_json())
    assert read.to_json() == found.to_json()
    assert read.check(X, y)
    assert str(read) == str(found)


def test_a_proof_holds_for_the_same_numbers_in_any_container(case):
    found, X, y = case
    X = np.asarray(X, dtype=float)
    assert found.check(sparse.csr_matrix(X), y)
    assert found.check(np.asfortranarray(X), np.array(y))
    assert found.check(X.astype(np.float32), y)
    assert found.check(np.where(X == 0, -0.0, X), y)


def test_a_proof_does_not_hold_for_other_data(case):
    found, X, y = case
    moved = np.asarray(X, dtype=float)
    moved[0, 0] = np.nextafter(moved[0, 0], 1)
    flipped = [1 - y[0], *y[1:]]
    for other_X, other_y, word in [
        (moved, y, "not the numbers"),
        (X, flipped, "not the numbers"),
        ([*X, X[0]], [*y, y[0]], "rows and"),
        (X, [f"class {a}" for a in y], "labels"),
        (X, y[:-1], "no data to check"),
        (X, [0] * len(y), "one class"),
    ]:
        checked = found.check(other_X, other_y)
        assert not checked
        assert word in checked.sentence


def test_forged_verdicts_do_not_hold(case):
    found, X, y = case
    for verdict in CASES:
        if verdict != found.verdict:
            assert not replace(found, verdict=verdict).check(X, y)


def test_forged_weights_do_not_hold():
    X, y = CASES["separable"]
    found = separability(X, y)
    ((b, *w),) = found.weights
    for forged in ([-b, *(-a for a in w)], [0, *w], [b, *w, 0], [b], [0] * 3):
        assert not replace(found, weights=(tuple(forged),)).check(X, y)
    assert not replace(found, weights=()).check(X, y)
    assert not replace(found, margin=2 * found.margin).check(X, y)
    assert not replace(found, margin=None).check(X, y)
    assert not replace(found, margin_is_maximum=True).check(X, y)


def test_forged_multipliers_do_not_hold():
    X, y = CASES["overlapping"]
    found = separability(X, y)
    for forged in ((1, 1, 1, 2), (1, 1, 1, -1), (0, 0, 0, 0), ()):
        assert not replace(found, multipliers=forged).check(X, y)
    rows = found.rows
    for forged in ((*rows[:-1], (4, rows[-1][1])), (*rows[:-1], rows[0]), rows[:-1], ()):
        assert not replace(found, rows=forged).check(X, y)
    own = tuple((i, y[i]) for i, _ in rows)
    assert not replace(found, rows=own).check(X, y)


def test_rows_that_do_not_span_the_others_do_not_prove_overlap():
    X, y = [[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 0, 1]
    found = separability(X, y)
    assert found.verdict == "quasi-separable"
    assert not replace(found, verdict="overlapping").check(X, y)


def test_a_hyperplane_with_rows_on_it_that_nothing_holds_there_is_no_proof():
    X, y = [[0.0, 0.0], [0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], [0, 1, 1, 1]
    found = separability(X, y)
    assert found.verdict == "quasi-separable"
    loose = replace(found, weights=((0, 1, 0),))  # rows 0, 1 and 2 on it, but 2 could be off
    refused(loose.check(X, y), "span")


def test_parts_are_checked():
    X, y = [[0.0], [1.0], [2.0], [0.5]], ["a", "b", "c", "b"]
    found = separability(X, y)
    assert found.check(X, y)
    part = found.pairwise["a", "b"]
    assert part.check(X, y)
    wrong = {**found.pairwise, ("a", "b"): replace(part, verdict="overlapping")}
    refused(replace(found, pairwise=wrong).check(X, y), "'a' and 'b'")
    whole = {**found.pairwise, ("a", "b"): replace(part, is_part=False)}
    refused(replace(found, pairwise=whole).check(X, y), "it is no part")
    assert not part.check(X[2:], y[2:])
    two = [i for i, label in enumerate(y) if label != "c"]  # a part of all labels that there are
    assert part.check([X[i] for i in two], [y[i] for i in two])


@given(st.integers(0, 2**32 - 1))
def test_random_proofs_never_hold_for_a_wrong_verdict(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (5, 2)).astype(float)
    y = rng.integers(0, 2, 5)
    if len(set(y.tolist())) < 2:
        return
    truth = separability(X, y)
    W = tuple(int(a) for a in rng.integers(-2, 3, 3))
    pairs = tuple((int(i), int(1 - y[i])) for i in rng.permutation(5)[: rng.integers(1, 6)])
    numbers = tuple(int(a) for a in rng.integers(1, 3, len(pairs)))
    for verdict in CASES:
        forged = replace(
            truth, verdict=verdict, weights=(W,), rows=pairs, multipliers=numbers, duplicates=()
        )
        if verdict != truth.verdict:
            assert not forged.check(X, y)


BAD = {
    "no JSON": "{",
    "no object": "[]",
    "another format": '{"format": "x"}',
    "a number too deep": "[" * 100_000,
}


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_other_texts_are_refused(text):
    with pytest.raises(ValueError, match=r"JSON|format"):
        Separability.from_json(text)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("verdict", "certain"),
        ("verdict", None),
        ("labels", "ab"),
        ("labels", [None, 1]),
        ("labels", [[1], 2]),
        ("n_rows", -1),
        ("n_rows", True),
        ("n_features", 1.5),
        ("fit_intercept", 1),
        ("fingerprint", "0" * 63),
        ("weights", [["12"]]),
        ("weights", [[1]]),
        ("weights", ["0x1"]),
        ("weights", [["0x" + "f" * 300_000]]),
        ("rows", [[0]]),
        ("rows", [["0", 1]]),
        ("multipliers", ["0x1; import os"]),
        ("multipliers", ["0x1"] * 9),
        ("margin", "x"),
        ("margin", 1.0),
        ("margin_is_maximum", "no"),
        ("duplicates", [[1, 2, 3]]),
        ("sentence", 3),
        ("sentence", "x" * 100_000),
        ("is_part", 0),
        ("pairwise", {"a": 1}),
        ("pairwise", [[1, 2]]),
        ("pairwise", [[1, 2, {}]]),
        ("version", 2),
        ("extra", 1),
    ],
)
def test_damaged_proofs_are_refused(field, value):
    found = json.loads(separability(SQUARE, [0, 1, 1, 0]).to_json())
    found[field] = value
    with pytest.raises(ValueError, match="proof"):
        Separability.from_json(json.dumps(found))


def test_missing_fields_are_refused():
    found = json.loads(separability(SQUARE, [0, 1, 1, 0]).to_json())
    del found["rows"]
    with pytest.raises(ValueError, match="fields"):
        Separability.from_json(json.dumps(found))


def test_the_margin_is_the_distance_of_the_closest_row(rng):
    X = rng.standard_normal((200, 3)) * [1.0, 10.0, 0.1] + 5.0
    v = X @ [1.0, 0.2, -3.0]
    y = (v > np.median(v)).astype(int)
    found = separability(X, y)
    v = (2 * y - 1) * (X @ found.coef + found.intercept)
    assert np.linalg.norm(found.coef) == pytest.approx(1.0, abs=1e-12)
    assert found.margin == pytest.approx(v.min(), rel=1e-6)  # v cancels, the margin does not


@pytest.mark.parametrize("seed", range(12))
def test_the_margin_is_exact_where_floats_see_nothing_of_it(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2)) @ rng.integers(-2, 3, (2, 4))  # rank 2 but for rounding
    X = X * 10.0 ** rng.choice([0, 0, 100, -200], 4)
    y = np.argmax(X[:, :2] @ rng.standard_normal((2, 2 + seed % 2)) / np.abs(X).max(), axis=1)
    if len(set(y.tolist())) < 2:
        return
    found = separability(sparse.csr_matrix(X), y, fit_intercept=seed % 3 > 0, pairwise=False)
    assert found.check(X, y), found.check(X, y).sentence
    if found.verdict == "separable":
        rows = SignedRows(
            X, np.unique(y, return_inverse=True)[1], len(found.labels), found.fit_intercept
        )
        every = rows.distance(np.arange(rows.count), found.weights)
        assert found.margin == pytest.approx(every, rel=1e-12)
