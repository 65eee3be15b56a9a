"""Columns by name: of numbered columns computed, of any block put in order once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from adaline import Ridge
from adaline.data import blocks, fit
from adaline.data.columns.inputs import ByName, column_of, places_in
from adaline.data.reading.libsvm import FeatureNames
from adaline.errors import DataError


@pytest.mark.parametrize(("first", "before"), [(0, ()), (1, ("y",)), (1, ("y", "x2"))])
def test_numbered_names_are_those_of_a_tuple(first, before):
    names = FeatureNames(12, first, before)
    spelled = tuple(names[k] for k in range(len(names)))
    assert tuple(names) == spelled
    for name in (*spelled, "x0", "x12", "x13", "x01", "x", "X1", "x-1", "x１", "z", 3, None):
        assert (name in names) == (name in spelled)
        if name in spelled:
            assert names.index(name) == spelled.index(name)
        else:
            with pytest.raises(ValueError, match="not among the names"):
                names.index(name)
    with pytest.raises(ValueError, match="not among the names"):
        names.index(spelled[1], 2)
    with pytest.raises(ValueError, match="not among the names"):
        names.index(spelled[2], 0, 2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_block_looked_up_by_name_has_the_columns_of_the_matrix(rng, kind, dtype):
    X = np.where(rng.random((30, 7)) < 0.3, rng.standard_normal((30, 7)), 0.0).astype(dtype)
    X[3, 2] = np.nan
    block = next(iter(blocks(kind(X))))
    columns = ByName(block)
    for j, name in enumerate(block.names):
        for column in (columns[name], column_of(block, name)):
            assert column.kind == "number"
            assert column.values.dtype == dtype
            np.testing.assert_array_equal(column.values, X[:, j])
    assert places_in(block, ["x4"]) == [4]
    assert places_in(block, ["x4", "x1"]) == [4, 1]
    with pytest.raises(DataError, match="'x9'"):
        columns["x9"]
    with pytest.raises(DataError, match="'x9'"):
        column_of(block, "x9")


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_number_of_sparse_rows_is_named(rng, kind, bad):
    X = np.where(rng.random((30, 5)) < 0.5, rng.standard_normal((30, 5)), 0.0)
    X[7, 2] = bad
    with pytest.raises(DataError, match=r"'x2'.*row 7|row 7.*'x2'"):
        fit(Ridge(), kind(X), "x4", missing="refuse")
