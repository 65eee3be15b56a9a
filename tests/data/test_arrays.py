"""npy, npz and wav files: what is read, and the sentence for what cannot be."""

from __future__ import annotations

import io
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import wavfile

from adaline.data import blocks
from adaline.errors import DataError

CSR = {
    "data": np.ones(2),
    "indices": np.array([0, 1]),
    "indptr": np.array([0, 1, 2]),
    "shape": np.array([2, 2]),
    "format": np.array(b"csr"),
}


def npy(array) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def npy_that_claims(*shape: int) -> bytes:
    text = repr({"descr": "<f8", "fortran_order": False, "shape": shape}).encode()
    text += b" " * (117 - len(text)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"\0" * 800


def npz(**members) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in members.items():
            data = content if isinstance(content, bytes) else npy(content)
            packed.writestr(name.replace("__", ".") if "__" in name else f"{name}.npy", data)
    return file.getvalue()


def wav(size: int, bits: int = 16) -> bytes:
    frame = bits // 8
    head = struct.pack("<IHHIIHH", 16, 1, 1, 8000, 8000 * frame, frame, bits)
    body = b"WAVEfmt " + head + b"data" + struct.pack("<I", size) + b"\0" * 300
    return b"RIFF" + struct.pack("<I", size + len(body) - 300) + body


def values(path, data: bytes):
    path.write_bytes(data)
    source = blocks(path)
    rows = next(iter(source)).matrix
    return source.names, rows.toarray().tolist() if sparse.issparse(rows) else rows.tolist()


def test_arrays_are_columns(tmp_path):
    two = [[1.0, 2.0], [3.0, 4.0]]
    assert values(tmp_path / "t.npy", npy(np.array(two))) == (("x0", "x1"), two)
    assert values(tmp_path / "t.npy", npy(np.array(two).T.copy().T)) == (("x0", "x1"), two)
    parts = npz(X=np.array(two), y=np.array([5, 6]))
    assert values(tmp_path / "t.npz", parts)[0] == ("x0", "x1", "y")
    assert values(tmp_path / "t.npz", npz(**CSR))[1] == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "f4"])
def test_sounds_have_a_full_scale_of_one(tmp_path, dtype):
    full = {"u1": (128, 192, 0), "i2": (0, 2**14, -(2**15)), "i4": (0, 2**30, -(2**31))}
    samples = np.array(full.get(dtype, (0.0, 0.5, -1.0)), dtype=dtype)
    wavfile.write(tmp_path / "t.wav", 8000, np.column_stack([samples, samples]))
    names, rows = values(tmp_path / "t.wav", (tmp_path / "t.wav").read_bytes())
    assert (names, rows) == (("channel0", "channel1"), [[0.0] * 2, [0.5] * 2, [-1.0] * 2])
    assert blocks(tmp_path / "t.wav").rate == 8000


REFUSED = {
    "npy of objects": ("t.npy", npy(np.array([{}])), "no whole npy"),
    "npy of text": ("t.npy", npy(np.array(["a"])), "dtype <U1"),
    "npy without rows": ("t.npy", npy(np.zeros((0, 3))), r"shape \(0, 3\)"),
    "npy of three dimensions": ("t.npy", npy(np.zeros((2, 2, 2))), "one or two dimensions"),
    "npy cut short": ("t.npy", npy(np.zeros((9, 3)))[:-8], "no whole npy"),
    "npy that claims terabytes": ("t.npy", npy_that_claims(10**11, 10), "no whole npy"),
    "no npy": ("t.npy", b"hello", "no whole npy"),
    "npz without arrays": ("t.npz", npz(), "same number of rows"),
    "npz of other files": ("t.npz", npz(notes__txt=b"hello"), "'notes.txt' is no npy"),
    "npz of text": ("t.npz", npz(a=np.array(["x"])), "dtype <U1"),
    "npz of two lengths": ("t.npz", npz(X=np.zeros((3, 2)), y=np.zeros(4)), "number of rows"),
    "npz that claims terabytes": ("t.npz", npz(X=npy_that_claims(10**11, 10)), "no npy"),
    "npz that is a bomb": ("t.npz", npz(X=bytes(2**28), y=bytes(2**20)), "bomb"),
    "no npz": ("t.npz", b"PK\x03\x04 nothing", "no whole npz"),
    "CSC": ("t.npz", npz(**CSR | {"format": np.array(b"csc")}), "save it as CSR"),
    "CSR, a place outside": ("t.npz", npz(**CSR | {"indices": np.array([0, 9])}), "no CSR"),
    "CSR, odd ends": ("t.npz", npz(**CSR | {"indptr": np.array([0, 2, 1])}), "no CSR"),
    "CSR, wide": ("t.npz", npz(**CSR | {"shape": np.array([2, 2**40])}), "claims 1099511627776"),
    "LIBSVM, wide": ("t.svm", b"1 1:1 999999999:1\n0 1:2 2:1\n", "999999999"),
    "LIBSVM, wider": ("t.svm", b"1 1:1 99999999999:1\n", "99999999999"),
    "LIBSVM, an index as a float": ("t.svm", b"1 1:1 1e9:1\n", "1000000000|1e9"),
    "no wav": ("t.wav", b"species,island\nAdelie,Biscoe\n", "not a wav file"),
    "wav without samples": ("t.wav", wav(0)[:-300], "no samples"),
    "wav without a head": ("t.wav", b"RIFF\x00\x00\x00\x00WAVEfmt ", "not a wav file"),
    "wav cut short": ("t.wav", wav(302), "cut short"),
    "wav that claims gigabytes": ("t.wav", wav(2**31), "cut short"),
    "wav of 24 bits that claims gigabytes": ("t.wav", wav(3 * 2**30, 24), "cut short"),
}


@pytest.mark.parametrize(("name", "content", "words"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_matrix_is_refused_without_much_memory(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    tracemalloc.start()
    with pytest.raises(DataError, match=words):
        blocks(tmp_path / name)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1e8  # bytes
