"""Labels of every dtype: the same classes, the same weights, or a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from adaline import LeastSquaresClassifier, LogisticRegression
from adaline.estimators.registry import public_estimators

EVERY = [kind for kind in public_estimators() if kind._learns == "classes"]
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
CODES = np.array([0, 1, 0, 1, 1, 0, 1, 0, 0, 1])

LABELS = {
    "int8": np.where(CODES, 100, -100).astype(np.int8),
    "int8, its ends": np.where(CODES, 127, -128).astype(np.int8),
    "int16": np.where(CODES, 32767, -32768).astype(np.int16),
    "int32": np.where(CODES, 2**31 - 1, -(2**31)).astype(np.int32),
    "int64": np.where(CODES, 2**63 - 1, -(2**63)).astype(np.int64),
    "uint8": np.where(CODES, 255, 0).astype(np.uint8),
    "uint64": np.uint64(2**64 - 2) + CODES.astype(np.uint64),
    "bool": CODES.astype(bool),
    "float": CODES * 2.0 - 1.0,
    "float32": (CODES * 2.0 - 1.0).astype(np.float32),
    "text": np.where(CODES, "yes", "no"),
    "objects": np.where(CODES, "yes", "no").astype(object),
    "numbers as objects": CODES.astype(object),
    "categories": pd.Categorical(np.where(CODES, "yes", "no")),
    "categories of numbers": pd.Series(pd.Categorical(np.where(CODES, 20, 10))),
    "nullable integers": pd.Series(CODES, dtype="Int64"),
    "nullable booleans": pd.Series(CODES.astype(bool), dtype="boolean"),
    "nullable text": pd.Series(np.where(CODES, "yes", "no"), dtype="string"),
    "dates": np.datetime64("2020-01-01") + CODES,
}


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.__name__)
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_dtype_are_learned_as_their_codes_are(learner, kind, rng):
    X = rng.standard_normal((10, 2)) + CODES[:, None]
    y = LABELS[kind]
    expected = learner().fit(X, CODES).predict(X)
    model = learner().fit(X, y)
    assert np.array_equal(model.predict(X) == model.classes_[1], expected == 1)
    assert list(model.classes_) == sorted(set(np.asarray(y).tolist())) or kind == "dates"
    assert model.score(X, y) == np.mean(expected == CODES)


MIXED = {
    "texts and numbers": (["a", 1] * 5, "mixture"),
    "NaN": ([0.0, np.nan] * 5, "NaN"),
    "objects": ([object(), object()] * 5, "Unknown label type"),
    "bytes": (np.array([b"a", b"b"] * 5), "dtype"),
    "masked": (np.ma.masked_array(CODES, mask=CODES == 1), "masked"),
    "complex": (CODES + 1j, "y cannot be used: Complex"),
    "NaT": (np.array(["2020", "NaT"] * 5, dtype="datetime64[D]"), "NaN"),
    "fractions": ([0.5, 1.0] * 5, "continuous"),
}


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.__name__)
@pytest.mark.parametrize("kind", MIXED)
def test_labels_without_an_order_are_refused_in_a_sentence(learner, kind, rng):
    y, sentence = MIXED[kind]
    with pytest.raises((ValueError, TypeError), match=sentence):
        learner().fit(rng.standard_normal((10, 2)), y)


@pytest.mark.parametrize("gone", [np.nan, None, pd.NA, pd.NaT, float("nan")])
@pytest.mark.parametrize("make", [list, pd.Series, lambda y: np.array(y, dtype=object)])
def test_a_missing_label_is_named_by_its_row(gone, make):
    with pytest.raises(ValueError, match="no label in row 3: contains NaN"):
        LogisticRegression().fit(np.arange(6.0)[:, None], make(["a", "b", "a", gone, "b", "a"]))


def test_a_stream_of_whole_floats_keeps_its_classes(rng):
    X = rng.standard_normal((6, 2))
    model = LeastSquaresClassifier()
    model.partial_fit(X, np.array([0.0, 2.0] * 3, dtype=np.float32), classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, np.array([0.0, 3.0] * 3))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("labels", [(-1.0, 1.0), (-0.0, 1.0), (-7.0, 300.0), (0.0, 2.0, 5.0)])
def test_whole_floats_are_labels_as_integers_are(rng, labels, dtype):
    y = np.array(labels)[rng.permutation(np.arange(60) % len(labels))].astype(dtype)
    model = LeastSquaresClassifier().fit(rng.standard_normal((60, 2)), y)
    assert model.classes_.dtype == dtype
    assert not np.signbit(model.classes_[model.classes_ == 0]).any()
    np.testing.assert_array_equal(model.classes_, np.unique(y.astype(int)))
