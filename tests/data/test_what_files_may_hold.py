"""Values of a model file, one by one: what is never written is refused with a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from adaline.data.storing.records import Reader
from adaline.errors import ModelFileError

CSR = {
    "sparse": "csr_array",
    "shape": [2, 3],
    "data": {"array": "m.data"},
    "indices": {"array": "m.indices"},
    "indptr": {"array": "m.indptr"},
}
ARRAYS = {
    "m.data": np.array([1.0, 2.0]),
    "m.indices": np.array([0, 2], dtype=np.int32),
    "m.indptr": np.array([0, 1, 2], dtype=np.int32),
}


def read(node, **arrays):
    return Reader({key.replace("_", "."): a for key, a in arrays.items()}).node(node, "m")


@pytest.mark.parametrize(
    ("node", "value"),
    [
        ({"int": "0x8000000000000000"}, 2**63),
        ({"int": "-0x8000000000000001"}, -(2**63) - 1),
        ({"float": "-inf"}, -np.inf),
        ({"complex": [1.0, {"float": "inf"}]}, complex(1.0, np.inf)),
        ({"tuple": [1, {"tuple": []}]}, (1, ())),
        ({"dict": [["a", 1], [{"tuple": [1, None]}, 2]]}, {"a": 1, (1, None): 2}),
        ({"dtype": "float32"}, np.dtype(np.float32)),
        ({"scalar": "float32", "value": 0.5}, np.float32(0.5)),
    ],
)
def test_what_is_written_is_read(node, value):
    assert read(node) == value


@pytest.mark.parametrize(
    "node",
    [
        2**63,
        -(2**63),
        {"strange": 1},
        {"int": "0x7fffffffffffffff"},  # would be a plain number
        {"int": "12"},
        {"int": 12},
        {"float": "1.0"},
        {"float": ["nan"]},
        {"complex": [1.0, 2]},
        {"complex": {"float": "nan"}},
        {"tuple": {"tuple": []}},
        {"dict": [["a", 1, 2]]},
        {"dict": ["ab"]},
        {"dict": [["a", 1], ["a", 2]]},
        {"dict": [[["a"], 1]]},
        {"dict": [[{"float": "nan"}, 1]]},
        {"dict": [[{"tuple": [["a"]]}, 1]]},
        {"dtype": "object"},
        {"dtype": 8},
        {"scalar": "int8", "value": 300},
        {"scalar": "int8", "value": "a"},
        {"scalar": "float32", "value": 0.1},  # no float32
        {"scalar": "float64", "value": 1},
        {"scalar": "object", "value": 1},
        {"text": ["a", 1]},
        {"objects": ["a"], "shape": [2]},
        {"objects": ["a"], "shape": [-1]},
        {"objects": ["a"], "shape": 1},
        {"objects": ["a", {"tuple": []}], "shape": [2]},
        {"record": 1, "fields": {}},
        {"record": "Fit", "fields": []},
    ],
    ids=str,
)
def test_what_is_never_written_is_refused(node):
    with pytest.raises(ModelFileError, match=r"^m\S* cannot be read: the file has "):
        read(node)


@pytest.mark.parametrize(
    ("node", "sentence"),
    [
        ({"array": "m"}, "m has no array of its own"),
        ({"record": "os.system", "fields": {}}, "m is a 'os.system', which is nothing a file may"),
        ({"record": "State", "fields": {"head": 1}}, r"a State with the fields \['head'\]"),
        ({"record": "gaussian_kde", "fields": {}}, r"expected \['dataset'\]"),
    ],
)
def test_records_and_arrays_are_those_of_the_tables(node, sentence):
    with pytest.raises(ModelFileError, match=sentence):
        read(node)


@pytest.mark.parametrize(
    "letters",
    [np.array([[0x110000]], dtype=np.uint32), np.array([[97]]), np.zeros((2, 0), dtype=np.uint32)],
)
def test_texts_that_are_none_are_refused(letters):
    assert read({"text": "m"}, m=np.array([[97, 0]], dtype=np.uint32)).tolist() == ["a"]
    with pytest.raises(ModelFileError, match="cannot be read"):
        read({"text": "m"}, m=letters)


def test_nests_have_a_bottom():
    node = 1
    for _ in range(40):
        node = [node]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        read(node)


def test_arrays_that_nothing_uses_are_refused():
    with pytest.raises(ModelFileError, match=r"arrays that nothing uses: \['spare'\]"):
        Reader({"spare": np.ones(2)}).done()


def test_sparse_rows_are_read():
    found = Reader(ARRAYS).node(CSR, "m")
    assert found.toarray().tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 2.0]]


@pytest.mark.parametrize(
    ("change", "arrays"),
    [
        ({"shape": [2]}, {}),
        ({"shape": [2, 3.0]}, {}),
        ({"shape": [-2, 3]}, {}),
        ({"shape": [3, 3]}, {}),
        ({"shape": [2, 2**62]}, {}),
        ({"shape": [2, 2]}, {}),  # an index beyond the columns
        ({"sparse": "coo_array"}, {}),
        ({"sparse": ["csr_array"]}, {}),
        ({}, {"m.data": np.ones((2, 1))}),
        ({}, {"m.data": np.array([1, 2])}),
        ({}, {"m.indices": np.array([0.0, 2.0])}),
        ({}, {"m.indptr": np.array([0, 2, 1], dtype=np.int32)}),
        ({}, {"m.indices": np.array([0, 2], dtype=np.int8)}),
    ],
    ids=str,
)
def test_sparse_rows_that_are_none_are_refused(change, arrays):
    with pytest.raises(ModelFileError, match="cannot be read"):
        Reader(ARRAYS | arrays).node(CSR | change, "m")


@pytest.mark.parametrize(
    "dataset",
    [
        np.ones((1, 1)),
        np.ones(4),
        np.ones((1, 4), dtype=np.float32),
        np.array([[1.0, np.nan, 2.0]]),
        np.ones((1, 4)),  # all equal: no spread
    ],
    ids=str,
)
def test_densities_that_are_none_are_refused(dataset):
    node = {"record": "gaussian_kde", "fields": {"dataset": {"array": "m.dataset"}}}
    with pytest.raises(ModelFileError):
        read(node, m_dataset=dataset)
