"""npy and npz files: what is read, and the sentence for what cannot be."""

from __future__ import annotations

import io
import zipfile

import numpy as np
import pytest
from scipy import sparse

import adaline.data
from adaline.errors import DataError

CSR = {
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2]),
    "shape": np.array([2, 2]),
    "format": np.array("csr"),
}


def packed(path, **members):
    """An npz file of arrays, or of bytes as they are given."""
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            if not isinstance(content, bytes):
                array, content = content, io.BytesIO()
                np.save(content, array)
                content = content.getvalue()
            file.writestr(name.replace("__", "."), content)
    return str(path)


def test_fields_of_a_structured_array_are_columns(tmp_path):
    rows = np.zeros(5, dtype=[("age", np.float64), ("y", np.int64)])
    rows["age"], rows["y"] = np.arange(5.0), np.arange(5)
    np.save(tmp_path / "t.npy", rows)
    table = adaline.data.table(str(tmp_path / "t.npy"), target="y")
    assert table.X.ravel().tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert table.y.tolist() == [0, 1, 2, 3, 4]


def test_a_sparse_matrix_and_several_arrays_are_read(tmp_path):
    sparse.save_npz(tmp_path / "m.npz", sparse.csr_matrix(np.diag([1.0, 2.0, 3.0])))
    table = adaline.data.table(str(tmp_path / "m.npz"), target="x2")
    assert table.y.tolist() == [0.0, 0.0, 3.0]
    np.savez(tmp_path / "n.npz", X=np.eye(3), y=np.arange(3))
    table = adaline.data.table(str(tmp_path / "n.npz"), target="y")
    assert table.X.shape == (3, 3)


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        ({}, "the file is empty; it needs an array"),
        ({"notes__txt": b"hello"}, "'notes.txt' in it is no npy array"),
        ({"a__npy": b"hello, this is no array"}, "'a.npy'.* no npy"),
        ({"a__npy": b"\x93NUMPY\x03\x00" + b"\0" * 20}, r"'a.npy'.* no npy .*\(3, 0\)"),
        ({"a__npy": np.array(["x", "y"])}, "'a.npy': the array has dtype <U1"),
        ({"a__npy": np.zeros((2, 2, 2))}, r"shape \(2, 2, 2\); expected numbers in one or two"),
        ({"a__npy": np.zeros(2), "b__npy": np.zeros(3)}, "different numbers of rows"),
    ],
)
def test_npz_files_that_are_no_table_are_refused(tmp_path, members, sentence):
    path = packed(tmp_path / "t.npz", **members)
    with pytest.raises(DataError, match=sentence):
        adaline.data.table(path, target="y")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": np.array("coo")}, "the matrix is saved as b'coo'; save it as CSR"),
        ({"indices": np.array([0, 9])}, "its arrays are no CSR matrix"),
        ({"indptr": np.array([0, 2, 1])}, "its arrays are no CSR matrix"),
        ({"shape": np.array([2, 2**40]), "data": np.ones(2)}, "claims 1099511627776 columns"),
    ],
)
def test_sparse_matrices_that_are_none_are_refused(tmp_path, change, sentence):
    path = packed(tmp_path / "m.npz", **{f"{k}__npy": v for k, v in (CSR | change).items()})
    with pytest.raises(DataError, match=sentence):
        adaline.data.table(path, target="x1")


@pytest.mark.parametrize(
    ("array", "sentence"),
    [
        (np.zeros((0, 3)), r"the array has shape \(0, 3\); a fit needs rows and columns"),
        (np.zeros((2, 2, 2)), "expected numbers in one or two dimensions"),
        (np.array(["a", "b"]), "expected numbers in one or two dimensions"),
    ],
)
def test_npy_files_that_are_no_table_are_refused(tmp_path, array, sentence):
    np.save(tmp_path / "t.npy", array)
    with pytest.raises(DataError, match=sentence):
        adaline.data.table(str(tmp_path / "t.npy"), target="x1")


def test_a_file_that_is_cut_short_is_refused(tmp_path):
    np.save(tmp_path / "t.npy", np.zeros((9, 3)))
    whole = (tmp_path / "t.npy").read_bytes()
    (tmp_path / "t.npy").write_bytes(whole[:-8])
    with pytest.raises(DataError, match="claims 216 bytes of numbers, and there are 208"):
        adaline.data.table(str(tmp_path / "t.npy"), target="x1")
