"""Saving and loading: what is stored, what is refused, and in which words."""

from __future__ import annotations

import copy
import hashlib
import inspect
import json
import os
import struct
import sys
import tracemalloc
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import adaline
from adaline import load, save
from adaline.data import Encoding
from adaline.data.outputs import read_file
from adaline.data.storing.container import pack, unpack
from adaline.data.storing.model_files import describe, packed, unpacked
from adaline.data.storing.records import decode
from adaline.errors import ModelFileError
from adaline.estimators.registry import estimator_named
from adaline.filters import FILTERS
from bits import same
from filter_zoo import MAKERS
from model_zoo import MODELS, X, made, two, y


def test_every_public_estimator_can_be_stored():
    for name in adaline.__all__:
        cls = getattr(adaline, name)
        if inspect.isclass(cls) and hasattr(cls, "fit") and hasattr(cls, "get_params"):
            assert estimator_named(name) is cls, (
                f"{name} has no model file: say what it learns in `_stored` of the class (see "
                "adaline/estimators/registry.py), and put one into tests/model_zoo.py."
            )
            assert any(key.split(",")[0] == name for key in MODELS), (
                f"tests/model_zoo.py has no {name}."
            )


# What cannot be stored.


def line() -> Any:
    return adaline.LeastSquares().fit(X, y)


class Descendant(adaline.LeastSquares):
    pass


def with_attribute() -> Any:
    model = line()
    model.comment = "mine"
    return model


def _density(rows: Any) -> Any:
    from scipy.stats import multivariate_normal

    return multivariate_normal(rows.mean(axis=0), np.cov(rows.T))


def given_densities() -> Any:
    from scipy.stats import norm

    return adaline.BayesClassifier([norm(-1, 1), norm(1, 1)], priors=[0.5, 0.5])


REFUSED = {
    "nothing learned": (lambda: adaline.Ridge(), "has learned nothing yet"),
    "nothing learned in passes": (lambda: adaline.Perceptron(), "has learned nothing yet"),
    "a recipe": (lambda: adaline.BayesClassifier(_density).fit(X, two), "densities is a function"),
    "somebody else's densities": (given_densities, "rv_continuous_frozen|norm"),
    "a generator": (
        lambda: adaline.Perceptron(random_state=np.random.RandomState(0), max_iter=3).fit(X, two),
        "RandomState",
    ),
    "a subclass": (lambda: Descendant().fit(X, y), "Descendant cannot be stored"),
    "somebody else's model": (lambda: {"w": 1}, "builtins.dict cannot be stored"),
    "an attribute of the user": (with_attribute, "an attribute 'comment'"),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_stored_is_told_and_nothing_is_written(make, words, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
    with pytest.raises(ModelFileError, match=words):
        save(model, tmp_path / "m.adaline")
    assert os.listdir(tmp_path) == []


# Labels of every kind.

LABELS = {
    "int8": np.array([-3, 7], dtype=np.int8),
    "uint64": np.array([1, 2**63], dtype=np.uint64),
    "float": np.array([-1.0, 3.0]),
    "bool": np.array([False, True]),
    "text": np.array(["nein", "ja, 是"]),
    "wide text": np.array(["b", "a"], dtype="<U9"),
    "objects": np.array(["no", "yes"], dtype=object),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("learner", ["LeastSquaresClassifier", "GaussianClassifier", "Perceptron"])
def test_labels_of_any_plain_kind_come_back(labels, learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = getattr(adaline, learner)().fit(X, labels[(two == "yes").astype(int)])
    back = unpacked(packed(model))
    assert back.classes_.dtype == model.classes_.dtype
    assert same(back.predict(X), model.predict(X))


# Files that are none, or that were made to harm.


def changed(name: str, change: Any) -> bytes:
    """The file of a model, changed and sealed again."""
    header, arrays = unpack(packed(made(name)))
    change(header, arrays)
    return pack(header, arrays)


def test_a_file_of_another_kind_or_format_is_refused(tmp_path):
    (tmp_path / "checkpoint").write_bytes(pack({"content": "checkpoint"}, {}))
    with pytest.raises(ModelFileError, match="'checkpoint', not a model"):
        load(tmp_path / "checkpoint")
    newer = changed("LeastSquares", lambda header, _: header.update(format=3))
    with pytest.raises(ModelFileError, match="never written"):
        unpacked(newer)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nothing")


@pytest.mark.parametrize("name", ["os.system", "Pipeline", "SVC", "../../Ridge", "State", ""])
def test_names_outside_the_table_load_nothing(name):
    before = set(sys.modules)
    for kind in ("estimator", "record", "filter", "proof", "module"):
        data = changed("Ridge", lambda h, _, kind=kind: h["model"].update(kind=kind, name=name))
        before |= set(sys.modules)
        with pytest.raises(ModelFileError, match="unknown to this adaline"):
            unpacked(data)
    assert set(sys.modules) == before


def test_kernels_never_get_a_memory_that_contradicts_itself():
    def learned(header: Any) -> Any:
        return dict(dict(header["model"]["content"]["dict"])["learned"]["dict"])

    def larger(header: Any, arrays: Any) -> None:
        learned(header)["_state"]["fields"]["recipe"]["fields"]["p"] = 10**9

    def more_neurons(header: Any, arrays: Any) -> None:
        arrays["Perceptron.learned._state.head"][7] = 50.0

    def codes(header: Any, arrays: Any) -> None:
        learned(header)["_state"]["fields"]["recipe"]["fields"]["criterion"] = 6

    def shorter(header: Any, arrays: Any) -> None:
        name = "Perceptron.learned._state.theta"
        arrays[name] = arrays[name][..., :2]

    def labels(header: Any, arrays: Any) -> None:
        arrays["Perceptron.learned.classes_"] = np.arange(7)

    for change in (larger, more_neurons, codes, shorter, labels):
        with pytest.raises(ModelFileError):
            unpacked(changed("Perceptron, pocket", change))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [("BlockLMS, block", "block", 17), ("RLS", "taps", 10**12), ("LMS", "taps", 10**12)],
)
def test_filters_never_get_a_memory_that_contradicts_itself(name, key, value):
    def change(header: Any, arrays: Any) -> None:
        for pair in header["model"]["content"]["dict"]:
            pair[1] = value if pair[0] == key else pair[1]

    with pytest.raises(ModelFileError):
        unpacked(changed(name, change))


def test_an_encoding_of_other_columns_is_refused():
    encoding = Encoding.learn(
        pl.DataFrame({"size": X[:, 0], "colour": ["red", "blue"] * (len(X) // 2)})
    )
    with pytest.raises(ModelFileError, match="gives 2 columns and the model takes 1"):
        packed(adaline.LeastSquares().fit(X[:, :1], y), encoding)


def test_a_file_tells_what_it_is(tmp_path):
    save(made("LogisticRegression, 3"), tmp_path / "m.adaline", metadata={"title": "Größe"})
    told = describe(tmp_path / "m.adaline")
    assert (told["kind"], told["name"], told["encoded"]) == (
        "estimator",
        "LogisticRegression",
        False,
    )
    assert told["metadata"] == {"title": "Größe"}
    assert told["versions"] == {"adaline": adaline.__version__, "numpy": np.__version__}
    assert told["params"]["alpha"] == "auto"
    assert told["params"]["costs"].shape == (3, 3)
    assert told["bytes"] == (tmp_path / "m.adaline").stat().st_size


# Values that compiled loops or numpy would trust.

CSR = {
    "sparse": "csr_array",
    "shape": [2, 3],
    "parts": [{"array": "m.data"}, {"array": "m.indices"}, {"array": "m.indptr"}],
}
ARRAYS = {
    "m.data": np.array([1.0, 2.0]),
    "m.indices": np.array([0, 2], dtype=np.int32),
    "m.indptr": np.array([0, 1, 2], dtype=np.int32),
    "rows": np.ones((1, 4)),  # all equal: no spread
}
UNREADABLE = [
    {"strange": 1},
    {"tuple": {"tuple": []}},
    {"dict": [[["a"], 1]]},
    {"dtype": "object"},
    {"scalar": "int8", "value": 300},
    {"scalar": "object", "value": 1},
    {"objects": ["a"], "shape": [2], "dtype": "|O"},
    {"objects": ["a"], "shape": [1], "dtype": "<U99999999"},
    {"objects": [1], "shape": [1], "dtype": "<f8"},
    {"array": "n"},
    {"record": "os.system", "fields": {}},
    {"record": "State", "fields": {"head": 1}},
    {
        "record": "gaussian_kde",
        "fields": {"dataset": {"array": "rows"}, "factor": 0.5, "covariance": 1.0},
    },
    CSR | {"shape": [2]},
    CSR | {"shape": [3, 3]},
    CSR | {"shape": [2, 2**62]},
    CSR | {"shape": [2, 2]},  # an index beyond the columns
    CSR | {"sparse": "coo_array"},
    CSR | {"parts": [{"array": "m.data"}, {"array": "m.indptr"}, {"array": "m.indices"}]},
]


@pytest.mark.parametrize("node", UNREADABLE, ids=str)
def test_values_that_cannot_be_are_refused(node):
    with pytest.raises(ModelFileError):
        decode(node, "m", dict(ARRAYS))


# The container: sealed, and suspicious of sizes.


def sealed(header: object, body: bytes = b"", magic: bytes = b"ADALINE2") -> bytes:
    """A file with any header, its digest right."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    whole = struct.pack("<8sQQ", magic, len(text), len(body)) + text + body
    return whole + hashlib.sha256(whole).digest()


def entry(**changes: object) -> list[object]:
    plain = {"name": "w", "dtype": "float64", "shape": [2], "order": "C"}
    return [*{**plain, **changes}.values()]


def test_big_endian_and_strided_arrays_are_written_as_the_numbers_they_are():
    odd = np.arange(10, dtype=">f8")[::3]
    assert unpack(pack({}, {"a": odd}))[1]["a"].tolist() == [0.0, 3.0, 6.0, 9.0]


@pytest.mark.parametrize(
    ("header", "arrays", "words"),
    [
        ({"x": float("nan")}, {}, "strict JSON"),
        ({"x": object()}, {}, "strict JSON"),
        ({"x": "\ud800"}, {}, "strict JSON"),
        ({}, {"w": np.array([None])}, "dtype object"),
        ({}, {"w": np.array(["a"])}, "dtype <U1"),
        ({}, {"w": np.zeros((1,) * 9)}, "9 axes"),
        ({}, {"w": np.zeros(200)}, "limits are 1000"),
    ],
)
def test_what_a_file_cannot_hold_is_told_before_it_is_written(header, arrays, words):
    with pytest.raises(ModelFileError, match=words):
        pack(header, arrays, limit=1000)


WHOLE = pack({"kind": "x"}, {"w": np.array([1.0, -2.0]), "t": np.array([True, False])})
PAIR = np.zeros(2).tobytes()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not an adaline file"),
        (b"PK\x03\x04 and more", "not an adaline file"),
        (WHOLE[:30], "cut short"),
        (WHOLE[:-1], "cut short: .* of"),
        (WHOLE + b"\0", "too long"),
        (b"ADALINE3" + WHOLE[8:], "newer adaline"),
        (WHOLE[:60] + b"?" + WHOLE[61:], "damaged"),
        (sealed(b"{"), "header"),
        (sealed(b"\xff"), "header"),
        (sealed(b'{"a": NaN, "arrays": []}'), "header"),
        (sealed(b'{"a": 1, "a": 2, "arrays": []}'), "header"),
        (sealed(b"[" * 100_000), "header"),
        (sealed({}), "header"),
        (sealed({"arrays": [entry(dtype="object")]}, PAIR), "header"),
        (sealed({"arrays": [entry(order="K")]}, PAIR), "header"),
        (sealed({"arrays": [entry(shape=[3])]}, PAIR), "header"),
        (sealed({"arrays": [entry(shape=[-2])]}, PAIR), "header"),
        (sealed({"arrays": [entry(shape=[1] * 9)]}, PAIR), "header"),
        (sealed({"arrays": [entry(shape=[2**40, 2**40])]}, PAIR), "header"),
        (sealed({"arrays": [entry(shape=[0, 2**62, 2**62])]}), "header"),
        (sealed({"arrays": [entry(), entry()]}, PAIR * 2), "header"),
        (sealed({"arrays": [entry(dtype="bool")]}, b"\x01\x02"), "header"),
    ],
)  # fmt: skip
def test_a_file_that_is_none_is_refused_with_a_sentence(data, words):
    with pytest.raises(ModelFileError, match=words) as refusal:
        unpack(data)
    assert len(str(refusal.value)) < 400
    assert str(refusal.value).endswith(".")


def test_a_file_above_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "large"
    with open(path, "wb") as file:
        file.truncate(2**40)  # sparse: no disk is used
    with pytest.raises(ModelFileError, match="limit is 4294967296"):
        read_file(path)
    with pytest.raises(ModelFileError, match="limit is 10"):
        unpack(WHOLE, limit=10)


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
    data = pack(state, arrays)
    tracemalloc.start()
    with pytest.raises(ModelFileError):
        unpacked(data)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 2e8  # bytes, for a file of less than 100 kB
