"""Sizes are checked before memory is asked for: a small file never costs gigabytes."""

from __future__ import annotations

import copy
import json
import struct
import tracemalloc

import numpy as np
import pytest

import adaline as A
from adaline.data import blocks
from adaline.data._binary import pack, unpack
from adaline.data.model_files import packed, unpacked
from adaline.errors import DataError, ModelFileError

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
FILTERS = {
    "LMS": lambda: A.LMS(3),
    "NLMS": lambda: A.NLMS(3),
    "RLS": lambda: A.RLS(3),
    "AffineProjection": lambda: A.AffineProjection(3),
    "BlockLMS": lambda: A.BlockLMS(8),
}


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("name", FILTERS)
def test_a_filter_in_a_file_is_no_larger_than_its_file(name, sizes, rng):
    filter = FILTERS[name]()
    filter.process(rng.standard_normal((50, 2)), rng.standard_normal(50))
    header, arrays = unpack(packed(filter))
    claimed = dict(zip(("taps", "channels", "order", "block"), sizes, strict=True))
    state = copy.deepcopy(header)
    for pair in state["model"]["content"]["dict"]:
        pair[1] = claimed.get(pair[0], pair[1])
    last = sorted(arrays)[-1]
    arrays[last] = np.resize(arrays[last].ravel(), 6500).astype(arrays[last].dtype)
    refused(unpacked, pack(state, arrays))


def test_text_in_a_file_is_not_much_larger_in_memory(rng):
    model = A.Perceptron(max_iter=1).fit(rng.standard_normal((8, 2)), ["a", "b"] * 4)
    header, arrays = unpack(packed(model))
    node = {"text": ["x" * 1024, *[""] * 16_000], "shape": [16_001], "width": 65_536}
    header["model"]["content"]["learned"]["classes_"] = node
    bomb = pack(header, arrays)
    assert len(bomb) < 60_000
    refused(unpacked, bomb, match="strings of width")
    many = {"tuple": [{**node, "text": node["text"][:1000], "shape": [1000]}] * 3}
    header["model"]["content"]["learned"]["classes_"] = many
    refused(unpacked, pack(header, arrays), match="strings of width")


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


@pytest.mark.parametrize(("name", "content", "words"), CLAIMS.values(), ids=CLAIMS)
def test_a_small_table_that_claims_much_is_refused(tmp_path, name, content, words):
    (tmp_path / name).write_bytes(content)
    refused(blocks, tmp_path / name, match=words)
