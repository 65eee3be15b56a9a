"""Labels of every dtype: the same classes, the same weights, or a sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
