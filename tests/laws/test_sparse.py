"""Sparse rows are rows: every form gives the answers of dense ones, and what is none is refused."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import adaline
import malformed_csr
from malformed_csr import CLASSIFIERS, DENSE, LABELS, METHODS, REGRESSORS, Y


def scrambled(X):
    """Unsorted, each entry stored in two parts, and with zeros stored."""
    coo = sparse.coo_array(X)
    at, number = np.arange(len(coo.data)), len(coo.data)
    empty = np.argwhere(X == 0)[:9]
    rows = np.concatenate([coo.row, coo.row, empty[:, 0]])
    columns = np.concatenate([coo.col, coo.col, empty[:, 1]])
    data = np.concatenate([coo.data * 0.75, coo.data * 0.25, np.zeros(len(empty))])
    order = np.lexsort([-np.arange(len(data)), rows])
    ends = np.searchsorted(rows[order], np.arange(X.shape[0] + 1))
    made = sparse.csr_array((data[order], columns[order], ends), shape=X.shape)
    assert not made.has_canonical_format
    assert made.nnz > number == len(at)
    return made


def unpruned(X):
    """More room than entries, with NaN in it."""
    made = sparse.csr_array(X)
    made.data = np.concatenate([made.data, [np.nan, np.nan]])
    made.indices = np.concatenate([made.indices, [10**6, -3]]).astype(made.indices.dtype)
    return made


def wide_indices(X):
    made = sparse.csr_array(X)
    made.indices, made.indptr = made.indices.astype(np.int64), made.indptr.astype(np.int64)
    return made


def duplicated_columns(X):
    return scrambled(np.ascontiguousarray(X.T)).T  # CSC with duplicates


FORMS = {
    "csr_array": sparse.csr_array,
    "csr_matrix": sparse.csr_matrix,
    "scrambled": scrambled,
    "unpruned": unpruned,
    "int64": wide_indices,
    "csc": sparse.csc_array,
    "csc with duplicates": duplicated_columns,
    "coo": sparse.coo_array,
    "coo_matrix": sparse.coo_matrix,
    "bsr": lambda X: sparse.bsr_array(X, blocksize=(2, 2)),
    "lil": sparse.lil_array,
    "dok": sparse.dok_array,
    "dia": sparse.dia_array,
}
FITS = {**REGRESSORS, **CLASSIFIERS} | {
    "KernelPerceptron, scale": lambda: adaline.KernelPerceptron("rbf", gamma="scale"),
    "KernelPerceptron, linear": lambda: adaline.KernelPerceptron("linear"),
}


def contents(X):
    """All that a sparse matrix holds, to see whether it was changed."""
    names = ("data", "indices", "indptr", "row", "col", "offsets", "rows")
    found = {name: getattr(X, name) for name in names if hasattr(X, name)}
    return {name: np.array(value, copy=True) for name, value in found.items()} or X.copy()


def assert_same_contents(before, X):
    if not isinstance(before, dict):
        assert (before != X).nnz == 0
        return
    for name, value in contents(X).items():
        np.testing.assert_array_equal(before[name], value)


@pytest.mark.parametrize("name", FITS)
@pytest.mark.parametrize("form", ["csr_array", "csr_matrix", "scrambled", "unpruned", "int64"])
@pytest.mark.filterwarnings("ignore")
def test_every_learner_learns_and_predicts_as_from_dense_rows(name, form):
    y = Y if name in REGRESSORS else LABELS
    X = FORMS[form](DENSE)
    before = contents(X)
    sparse_fit, dense_fit = FITS[name]().fit(X, y), FITS[name]().fit(DENSE, y)
    for method in METHODS:
        if hasattr(dense_fit, method):
            expected = getattr(dense_fit, method)(DENSE)
            # Sums are added up in another order: a few units of the last place, grown by learning.
            close = {"rtol": 1e-6, "atol": 1e-8}
            np.testing.assert_allclose(getattr(sparse_fit, method)(X), expected, **close)
            np.testing.assert_allclose(getattr(dense_fit, method)(X), expected, **close)
    assert sparse_fit.score(X, y) == pytest.approx(dense_fit.score(DENSE, y), rel=1e-6)
    assert_same_contents(before, X)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_has_the_same_sums_and_verdicts(form):
    X = FORMS[form](DENSE)
    before = contents(X)
    np.testing.assert_allclose(
        adaline.Moments.of(X, Y).scatter, adaline.Moments.of(DENSE, Y).scatter, rtol=1e-12
    )
    np.testing.assert_allclose(
        adaline.ClassMoments.of(X, LABELS, 2).means,
        adaline.ClassMoments.of(DENSE, LABELS, 2).means,
        rtol=1e-12,
    )
    found, expected = (adaline.stable_rate(rows) for rows in (X, DENSE))
    assert found.one_sample == pytest.approx(expected.one_sample, rel=1e-9)
    assert adaline.separability(X, LABELS).verdict == adaline.separability(DENSE, LABELS).verdict
    np.testing.assert_allclose(
        adaline.LeastSquares().fit(X, Y).coef_, adaline.LeastSquares().fit(DENSE, Y).coef_
    )
    counts = adaline.TfDf().fit(X)
    assert counts.df_.tolist() == np.count_nonzero(DENSE, axis=0).tolist()
    assert_same_contents(before, X)


def test_the_scale_of_a_kernel_does_not_depend_on_how_entries_are_stored():
    gammas = []
    for X in (DENSE, scrambled(DENSE)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            gammas.append(adaline.KernelPerceptron(gamma="scale").fit(X, LABELS).gamma_)
    assert gammas[0] == pytest.approx(gammas[1], rel=1e-12)


def test_malformed_matrices_are_refused_everywhere_and_nothing_crashes():
    program = Path(malformed_csr.__file__)
    source = str(Path(adaline.__file__).parents[1])
    run = [
        sys.executable,
        "-c",
        f"import sys; sys.path[:0] = [{source!r}, {str(program.parent)!r}]",
    ]
    run[-1] += "; import malformed_csr; malformed_csr.main()"
    found = subprocess.run(run, capture_output=True, text=True, check=False, timeout=300)
    lines = found.stdout.splitlines()
    assert found.returncode == 0, (lines[-1:], found.stderr[-2000:])
    assert lines.pop() == "done"
    assert [line for line in lines if "refused: " not in line] == []
    unclear = [line for line in lines if "is no valid sparse matrix" not in line]
    assert [line for line in unclear if not line.startswith("Report.of")] == []
