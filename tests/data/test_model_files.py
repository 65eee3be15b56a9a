"""Saving and loading: what is stored, what is refused, and in which words."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import adaline
from adaline import load, save
from adaline.data import Encoding, blocks, fit
from adaline.data.storing.container import pack, unpack
from adaline.data.storing.model_files import Prepared, describe, packed, unpacked
from adaline.data.storing.records import same
from adaline.data.storing.schema import ALONE, PROOFS, RECORDS
from adaline.errors import ModelFileError
from adaline.estimators.registry import estimator_named
from adaline.filters import FILTERS
from model_zoo import MODELS, X, made, three, two, y


def public_classes() -> dict[str, type]:
    found = {name: getattr(adaline, name) for name in adaline.__all__}
    return {name: value for name, value in found.items() if inspect.isclass(value)}


def test_every_public_estimator_can_be_stored():
    for name, cls in public_classes().items():
        if hasattr(cls, "fit") and hasattr(cls, "get_params"):
            assert estimator_named(name) is cls, (
                f"{name} has no model file: say what it learns in `_stored` of the class (see "
                "adaline/estimators/registry.py), and put one into tests/model_zoo.py."
            )
            assert any(key.split(",")[0] == name for key in MODELS), (
                f"tests/model_zoo.py has no {name}."
            )


def test_every_name_of_the_tables_is_where_they_say():
    homes = {name: home for name, (home, _) in RECORDS.items()} | FILTERS | PROOFS
    for name, home in homes.items():
        assert hasattr(importlib.import_module(home), name), f"{home} has no {name}."
    assert set(ALONE) <= set(RECORDS)


# What cannot be stored.


def line() -> Any:
    return adaline.LeastSquares().fit(X, y)


class Descendant(adaline.LeastSquares):
    pass


def with_attribute() -> Any:
    model = line()
    model.comment = "mine"
    return model


def with_other_margins() -> Any:
    model = adaline.HoKashyap().fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    model.margins_ = model.margins_ * 2.0
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
    "margins changed by hand": (with_other_margins, "'margins_' of this HoKashyap would not"),
}


@pytest.mark.parametrize(("make", "words"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_stored_is_told_and_nothing_is_written(make, words, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = make()
    with pytest.raises(ModelFileError, match=words):
        save(model, tmp_path / "m.adaline")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("metadata", [{"x": float("nan")}, {"x": {1, 2}}, {1: "x"}])
def test_metadata_that_json_cannot_hold_are_refused(metadata, tmp_path):
    with pytest.raises(ModelFileError, match=r"header"):
        save(line(), tmp_path / "m.adaline", metadata=metadata)


def test_callbacks_are_left_out(tmp_path):
    callback = pytest.importorskip("sklearn.callback")
    model = adaline.Perceptron(max_iter=3).set_callbacks(callback.ProgressBar())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, two)
    assert same(unpacked(packed(model)).coef_, model.coef_)


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


def test_labels_that_are_no_plain_values_are_refused():
    # Dates are numpy's own type, which files do not hold.
    days = np.array(["2020-01-01", "2020-01-02"], dtype="datetime64[D]")
    model = adaline.BayesClassifier().fit(X, days[(two == "yes").astype(int)])
    with pytest.raises(ModelFileError, match="datetime64"):
        packed(model)


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
    with pytest.raises(ModelFileError, match="header has"):
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
        return header["model"]["content"]["learned"]

    def larger(header: Any, arrays: Any) -> None:
        learned(header)["_state"]["fields"]["recipe"]["fields"]["p"] = 10**9

    def more_neurons(header: Any, arrays: Any) -> None:
        arrays["Perceptron._state.head"][7] = 50.0

    def codes(header: Any, arrays: Any) -> None:
        learned(header)["_state"]["fields"]["recipe"]["fields"]["criterion"] = 6

    def shorter(header: Any, arrays: Any) -> None:
        arrays["Perceptron._state.theta"] = arrays["Perceptron._state.theta"][..., :2]

    def labels(header: Any, arrays: Any) -> None:
        arrays["Perceptron.classes_"] = np.arange(7)

    for change in (larger, more_neurons, codes, shorter, labels):
        with pytest.raises(ModelFileError):
            unpacked(changed("Perceptron, pocket", change))


def test_filters_never_get_a_memory_that_contradicts_itself():
    def filled(header: Any, arrays: Any) -> None:
        for pair in header["model"]["content"]["dict"]:
            if pair[0] == "memory.filled":
                pair[1] = 16.0  # a block of 16 that never ends

    def taps(header: Any, arrays: Any) -> None:
        for pair in header["model"]["content"]["dict"]:
            if pair[0] == "taps":
                pair[1] = 10**12

    for name, change in (("BlockLMS, block", filled), ("RLS", taps), ("LMS", taps)):
        with pytest.raises(ModelFileError):
            unpacked(changed(name, change))


@pytest.mark.parametrize("degree", [1, 4, 10**9, 0, "x", None])
def test_a_polynomial_of_another_degree_is_refused_at_once(degree):
    def change(header: Any, arrays: Any) -> None:
        header["model"]["content"]["params"]["degree"] = degree

    with pytest.raises(ModelFileError):
        unpacked(changed("PolynomialLeastSquares", change))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("name", ["W", "b"])
def test_numbers_that_cannot_be_are_refused(name, bad):
    def change(header: Any, arrays: Any) -> None:
        arrays[f"Ridge.fit_.{name}"].fill(bad)

    with pytest.raises(ModelFileError, match="does not fit"):
        unpacked(changed("Ridge", change))


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("LogisticRegression", "alpha", -1),
        ("Perceptron", "mode", "backwards"),
        ("Adaline", "max_iter", 0),
        ("KernelPerceptron", "kernel", "sigmoid"),
        ("GaussianClassifier", "covariance", "diagonal"),
        ("Ridge", "alpha", "most"),
    ],
)
def test_parameters_that_cannot_be_are_refused(name, key, value):
    def change(header: Any, arrays: Any) -> None:
        header["model"]["content"]["params"][key] = value

    with pytest.raises(ModelFileError):
        unpacked(changed(name, change))


# Columns prepared, and what a file says of itself.


def prepared() -> tuple[Any, Any, Any]:
    table = pl.DataFrame(
        {"size": X[:, 0], "colour": np.array(["red", "blue", "x"])[three // 10 - 1]}
    )
    encoding = Encoding.learn(table)
    rows = np.concatenate([encoding.encode(block) for block in blocks(table)])
    return table, encoding, rows


def test_a_model_is_saved_with_the_preparation_of_its_columns(tmp_path):
    table, encoding, rows = prepared()
    model = adaline.LogisticRegression().fit(rows, two)
    save(model, tmp_path / "m.adaline", encoding=encoding)
    back = load(tmp_path / "m.adaline")
    assert isinstance(back, Prepared)
    assert back.encoding == encoding
    for method in ("predict", "predict_proba", "decision_function"):
        assert same(getattr(back, method)(table), getattr(model, method)(rows))
    assert not hasattr(back, "transform")
    assert packed(back) == packed(model, encoding)


def test_an_encoding_of_other_columns_is_refused():
    _, encoding, _ = prepared()
    with pytest.raises(ModelFileError, match="gives 3 columns and the model takes 1"):
        packed(adaline.LeastSquares().fit(X[:, :1], y), encoding)


def test_rows_that_an_encoding_leaves_out_have_no_answers():
    table = pl.DataFrame({"size": [1.0, None, 3.0]})
    encoding = Encoding.learn(table, missing="drop")
    model = Prepared(encoding, adaline.LeastSquares().fit([[1.0], [3.0], [4.0]], [1.0, 2.0, 4.0]))
    with pytest.raises(ValueError, match="1 row has missing values"):
        model.predict(table)


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


def test_a_proof_that_was_loaded_still_has_to_hold_for_the_data():
    back = unpacked(packed(made("Separability")))
    assert back.check(X, three)
    assert not back.check(X[::-1], three)


def test_a_model_that_was_fitted_on_a_table_is_saved_with_its_encoding(tmp_path):
    colours = ["red", "blue", "red", "green"] * 5
    table = pl.DataFrame({"colour": colours, "y": [1.0, 2.0, 1.5, 3.0] * 5})
    model = fit(adaline.LeastSquares(), table, "y")
    save(model, tmp_path / "m.adaline")
    assert model.encoding_ is not None  # saving changes nothing
    back = load(tmp_path / "m.adaline")
    np.testing.assert_array_equal(back.model.coef_, model.coef_)
    np.testing.assert_allclose(back.predict(table[["colour"]])[:2], [1.25, 2.0])


@pytest.mark.parametrize("value", [[], 10**400, {"x": 1}, "nan", None])
def test_a_strange_number_in_a_sealed_file_is_a_model_file_error(value):
    def change(header, arrays):
        header["model"]["content"]["learned"]["alpha_"]["value"] = value

    with pytest.raises(ModelFileError):
        unpacked(changed("Ridge", change))
