"""Labels of every dtype: the same classes, the same weights, or a sentence."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.multiclass import check_classification_targets

from adaline import (
    Adaline,
    BayesClassifier,
    GaussianClassifier,
    HoKashyap,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    SigmoidPerceptron,
)
from adaline.estimators.labels import encode

EVERY = [
    Adaline,
    BayesClassifier,
    GaussianClassifier,
    HoKashyap,
    KernelPerceptron,
    LeastSquaresClassifier,
    LogisticRegression,
    Perceptron,
    SigmoidPerceptron,
]
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
    "texts and numbers": (["a", 1] * 5, "mixes texts and"),
    "None": ([None, "a"] * 5, "no label in row 0"),
    "NA": (pd.Series([0, 1, None] * 3 + [1], dtype="Int64"), "NaN"),
    "NaN": ([0.0, np.nan] * 5, "NaN"),
    "objects": ([object(), object()] * 5, "Unknown label type"),
    "bytes": (np.array([b"a", b"b"] * 5), "bytes"),
    "masked": (np.ma.masked_array(CODES, mask=CODES == 1), "masked"),
    "complex": (CODES + 1j, "y cannot be used: Complex"),
    "NaT": (np.array(["2020", "NaT"] * 5, dtype="datetime64[D]"), "y has dtype"),
}


@pytest.mark.parametrize("learner", EVERY, ids=lambda learner: learner.__name__)
@pytest.mark.parametrize("kind", MIXED)
def test_labels_without_an_order_are_refused_in_a_sentence(learner, kind, rng):
    y, sentence = MIXED[kind]
    with pytest.raises((ValueError, TypeError), match=sentence):
        learner().fit(rng.standard_normal((10, 2)), y)


WHOLE = np.array([0.0, 1.0, 2.0] * 10)
VERDICTS = {
    "whole numbers": WHOLE,
    "whole numbers of float32": WHOLE.astype(np.float32),
    "whole numbers of float16": WHOLE.astype(np.float16),
    "below zero, and minus zero": np.array([-0.0, 0.0, -3.0] * 10),
    "fractions": WHOLE + 0.5,
    "one fraction": np.append(WHOLE, 0.25),
    "far apart": WHOLE * 1e12,
    "too large for an integer": WHOLE * 1e300,
    "nearly all different": np.arange(30.0),
    "all different": np.arange(30.0) * 1e6,
    "half of them different": np.repeat(np.arange(15.0), 2),
    "texts, nearly all different": np.arange(30).astype(str),
    "truth values": WHOLE > 1.0,
    "a column apart": np.column_stack([WHOLE, WHOLE])[:, 0],
}


@pytest.mark.filterwarnings("default::UserWarning")
@pytest.mark.parametrize("kind", VERDICTS)
def test_labels_are_refused_and_warned_of_as_by_scikit_learn(kind, rng):
    y = VERDICTS[kind]
    X = rng.standard_normal((len(y), 2))

    def verdict(learn):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", UserWarning)
            try:
                learn()
            except ValueError:
                return "refused"
        return any("unique classes" in str(t.message) for t in told)

    model = LeastSquaresClassifier()
    ours = verdict(lambda: model.fit(X, y))
    assert ours == verdict(lambda: check_classification_targets(y))
    if ours != "refused":
        np.testing.assert_array_equal(model.classes_, np.unique(y))
        assert model.classes_.dtype == y.dtype


def test_a_stream_of_whole_floats_keeps_its_classes(rng):
    X = rng.standard_normal((6, 2))
    model = LeastSquaresClassifier()
    model.partial_fit(X, np.array([0.0, 2.0] * 3, dtype=np.float32), classes=[0, 1, 2])
    assert model.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="not among the classes"):
        model.partial_fit(X, np.array([0.0, 3.0] * 3))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("labels", [(-1.0, 1.0), (-0.0, 1.0), (-7.0, 300.0), (0.0, 2.0, 5.0)])
def test_whole_floats_are_encoded_as_their_integers_are(rng, labels, dtype):
    drawn = rng.permutation(np.arange(60) % len(labels))
    y = np.array(labels)[drawn].astype(dtype)
    classes, codes = encode(y, None)
    assert classes.dtype == dtype
    assert not np.signbit(classes[classes == 0]).any()
    np.testing.assert_array_equal(classes, np.unique(y.astype(int)))
    np.testing.assert_array_equal(codes, drawn)
    assert codes.dtype == np.int64


@pytest.mark.parametrize("pair", [(0.5, 1.0), (1.0, 2.5)])
def test_two_floats_that_are_not_whole_are_refused(rng, pair):
    with pytest.raises(ValueError, match="continuous"):
        encode(rng.permutation(np.repeat(pair, 5)), None)


def test_floats_beyond_whole_numbers_are_still_two_classes():
    y = np.array([2.0**60, -(2.0**60), 2.0**60])
    classes, codes = encode(y, None)
    assert (classes.tolist(), codes.tolist()) == ([-(2.0**60), 2.0**60], [1, 0, 1])
