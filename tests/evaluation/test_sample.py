"""Doubts about the rows learned from, each at its edge."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline.evaluation.sample import doubts_of_rows

NAMES = ["a", "b", "c", "d"]


@pytest.mark.parametrize(("n", "p", "few"), [(14, 3, True), (15, 3, False), (4, 1, True)])
def test_five_rows_a_column_are_enough(rng, n, p, few):
    said = doubts_of_rows(rng.standard_normal((n, p)), None, NAMES, False)
    assert bool(said) == few
    if few:
        columns = f"{p} columns" if p > 1 else "1 column"
        assert said[0].startswith(f"{n} rows for {columns} are few: less than 5 a column")


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        ((190, 10), None),  # 5 % and ten rows
        ((191, 9), "only 9 of 200 rows learned from are 'b', 4.5 %: the share"),
        ((90, 9), "only 9 of 99 rows learned from are 'b', 9.1 %: the share"),
        ((1990, 99), "only 99 of 2,089 rows learned from are 'b', 4.7 %: the share"),
        ((30, 9, 9, 30), "only 9 of 78 rows learned from are 'b', 11.5 % (2 classes are as rare):"),
        ((1000, 20, 20, 30), "only 20 of 1,070 rows learned from are 'b', 1.9 % (3 classes are"),
        ((181, 9, 10), "only 9 of 200 rows learned from are 'b', 4.5 %: the share"),  # c is not
        ((9, 7), "only 7 of 16 rows learned from are 'b': few to learn a class from."),
        ((27, 9), "only 9 of 36 rows learned from are 'b': few"),  # half of an equal share
        ((28, 9), "only 9 of 37 rows learned from are 'b', 24.3 %: the share"),
        ((5,), None),
    ],
)
def test_classes_of_few_rows_are_named(rng, counts, said):
    y = np.repeat(list("abcd"[: len(counts)]), counts)
    X = rng.standard_normal((len(y), 1))
    found = doubts_of_rows(X, y, NAMES, True)
    assert bool(found) == (said is not None)
    if said:
        assert found[0].startswith(said)
    assert doubts_of_rows(X, y, NAMES, False) == []
    assert doubts_of_rows(X, None, NAMES, True) == []


@pytest.mark.parametrize(
    ("n", "columns", "said"),
    [
        (20, [1], "b goes up by 1 from row to row"),
        (19, [1], None),
        (20, [0, 1, 2, 3], "a, b, c goes up by 1 from row to row"),
        (20, [], None),
    ],
)
def test_columns_that_number_the_rows_are_named(rng, n, columns, said):
    X = rng.standard_normal((n, 3 if len(columns) < 4 else 4))
    X[:, columns] = np.arange(n)[:, None] + 5.0
    found = doubts_of_rows(X, None, NAMES, False)
    assert bool(found) == (said is not None)
    if said:
        assert found[0].startswith(said)
    assert doubts_of_rows(sparse.csr_array(X), None, NAMES, False) == []
    assert doubts_of_rows(X.astype(object), None, NAMES, False) == []
    X[:, columns] *= 2
    assert doubts_of_rows(X, None, NAMES, False) == []
