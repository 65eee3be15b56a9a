"""Sizes are checked before memory is asked for: a small file never costs gigabytes."""

from __future__ import annotations

import copy
import io
import json
import struct
import tracemalloc
import zipfile

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import adaline as A
from adaline.data import blocks
from adaline.data.reading import text_bytes, text_tables
from adaline.data.reading.columnar import ArrowSource
from adaline.data.storing.container import pack, unpack
from adaline.data.storing.model_files import packed, unpacked
from adaline.errors import DataError, ModelFileError
from adaline.filters import FILTERS
from filter_zoo import MAKERS

MOST = 2e8  # bytes, for files of less than 100 kB


def peak(function, *arguments):
    """Most bytes that were asked for at once (asked for, if not touched, too)."""
    tracemalloc.start()
    try:
        function(*arguments)
    finally:
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return found


def refused(function, *arguments, match=None):
    def run():
        with pytest.raises((DataError, ModelFileError), match=match) as told:
            function(*arguments)
        assert str(told.value).rstrip().endswith((".", "?"))

    assert peak(run) < MOST


SIZES = [(50, 450, 4, 64), (3, 6000, 4, 64), (6000, 2, 4, 64), (3, 2, 6000, 64), (6000,) * 4]


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", sorted(set(FILTERS) - {"WienerFilter"}))  # one channel
def test_a_filter_in_a_file_is_no_larger_than_its_file(name, sizes, rng):
    filter = MAKERS[name]()
    filter.process(rng.standard_normal((50, 2)), rng.standard_normal(50))
    header, arrays = unpack(packed(filter))
    claimed = dict(zip(("taps", "channels", "order", "block"), sizes, strict=True))
    state = copy.deepcopy(header)
    for pair in state["model"]["content"]["dict"]:
        pair[1] = claimed.get(pair[0], pair[1])
    last = sorted(arrays)[-1]
    arrays[last] = np.resize(arrays[last].ravel(), 6500).astype(arrays[last].dtype)
    refused(unpacked, pack(state, arrays))


def test_labels_of_very_different_lengths_come_back(rng):
    labels = np.array(["a", "b" * 3000, *(f"class {k}" for k in range(20))])
    model = A.LeastSquaresClassifier().fit(rng.standard_normal((44, 2)), np.tile(labels, 2))
    assert unpacked(packed(model)).classes_.dtype == model.classes_.dtype


def test_a_polynomial_of_a_huge_degree_is_refused(rng):
    model = A.PolynomialLeastSquares(degree=1).fit(rng.standard_normal((9, 1)), np.arange(9.0))
    header, arrays = unpack(packed(model))
    text = json.dumps(header)
    header = json.loads(text)
    header["model"]["content"]["params"]["degree"] = 6000
    for name, array in arrays.items():
        if array.shape[-1:] == (1,):
            arrays[name] = np.resize(array, (*array.shape[:-1], 6000))
    with pytest.raises(ModelFileError):
        unpacked(pack(header, arrays))


CLAIMS = {
    "LIBSVM index": ("t.svm", b"1 1:1 999999999:1\n0 1:2 2:1\n", "999999999"),
    "LIBSVM index beyond": ("t.svm", b"1 1:1 99999999999:1\n", "99999999999"),
    "LIBSVM index as a float": ("t.svm", b"1 1:1 1e9:1\n", "1000000000|1e9"),
}


def npz_of(**arrays) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def test_a_wide_csr_matrix_of_few_entries_is_refused(tmp_path):
    one = {"data": np.ones(1), "indices": np.zeros(1, np.int64), "indptr": np.array([0, 1])}
    content = npz_of(**one, shape=np.array([1, 10**9]), format=np.array(b"csr"))
    (tmp_path / "t.npz").write_bytes(content)
    refused(blocks, tmp_path / "t.npz", match="1000000000 columns for 1 entries")


def test_many_members_of_an_npz_file_are_counted_together(tmp_path):
    with zipfile.ZipFile(tmp_path / "t.npz", "w", zipfile.ZIP_DEFLATED) as packed:
        for k in range(5):
            file = io.BytesIO()
            np.save(file, np.zeros(2**23))
            packed.writestr(f"x{k}.npy", file.getvalue())
    assert (tmp_path / "t.npz").stat().st_size < 2**20
    refused(blocks, tmp_path / "t.npz", match="bomb")


@pytest.mark.parametrize("claimed", [2**31, 2**32 - 2])
def test_a_wav_file_that_claims_gigabytes_is_refused(tmp_path, claimed):
    head = b"RIFF" + struct.pack("<I", claimed) + b"WAVEfmt "
    head += struct.pack("<IHHIIHH", 16, 1, 1, 8000, 24000, 3, 24)  # 24 bits are never mapped
    (tmp_path / "t.wav").write_bytes(head + b"data" + struct.pack("<I", claimed) + b"\0" * 300)
    refused(blocks, tmp_path / "t.wav", match="claims")


def test_a_parquet_footer_that_claims_too_many_rows_is_refused(tmp_path, monkeypatch):
    pl.DataFrame({"a": [1.0, 2.0]}).write_parquet(tmp_path / "t.parquet")
    schema = pa.schema({"a": pa.float64()})
    monkeypatch.setattr(ArrowSource, "_footer", lambda self: (schema, [2**62]))
    refused(blocks, tmp_path / "t.parquet", match="claims 4611686018427387904 rows")


def test_a_line_that_never_ends_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(text_bytes, "LONGEST_RECORD", 2**16)
    monkeypatch.setattr(text_tables, "CHUNK", 2**12)
    (tmp_path / "t.csv").write_bytes(b"a,y\n1,2\n" + b"1," * 2**17)
    with pytest.raises(DataError, match="line 3 is longer than 65536 bytes"):
        list(blocks(tmp_path / "t.csv"))


@pytest.mark.parametrize(("name", "content", "words"), CLAIMS.values(), ids=CLAIMS)
def test_a_small_table_that_claims_much_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    refused(blocks, tmp_path / name, match=words)
