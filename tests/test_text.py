"""TfDf, the lecture's weight of a word, and the messages of the spam example."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils.estimator_checks import parametrize_with_checks

from adaline.estimators.text import TfDf

EXAMPLE = Path(__file__).parents[1] / "examples" / "spam.py"
TEXTS = ["a rose is a rose", "a dog is a dog", "no rose without thorns"]
COUNTS = arrays(
    np.float64, st.tuples(st.integers(1, 8), st.integers(1, 5)), elements=st.integers(0, 3)
)


@parametrize_with_checks([TfDf()])
def test_scikit_learn_s_own_checks_pass(estimator, check):
    check(estimator)


def words(**options):
    return CountVectorizer(token_pattern=r"\w+", **options)


def test_the_weight_is_how_often_over_how_many_documents():
    vectorizer = words()
    W = TfDf().fit_transform(vectorizer.fit_transform(TEXTS)).toarray()
    at = vectorizer.vocabulary_
    assert W[0, at["rose"]] == 2 / 2
    assert W[0, at["a"]] == 2 / 2
    assert W[0, at["is"]] == 1 / 2
    assert W[1, at["dog"]] == 2 / 1
    assert W[2, at["thorns"]] == 1.0
    assert W[2, at["dog"]] == 0.0


@given(COUNTS)
def test_dense_and_sparse_give_the_plain_loop_s_weights(tf):
    n, p = tf.shape
    df = [sum(tf[d, i] != 0 for d in range(n)) for i in range(p)]
    slow = [[tf[d, i] / df[i] if df[i] else 0.0 for i in range(p)] for d in range(n)]
    model = TfDf().fit(tf)
    assert model.df_.tolist() == df
    assert model.transform(tf).tolist() == slow
    out = model.transform(sparse.csr_array(tf))
    assert out.toarray().tolist() == slow
    assert out.nnz == np.count_nonzero(tf)


@given(COUNTS, st.lists(st.integers(1, 7), max_size=3))
def test_any_cutting_of_the_documents_gives_the_same_df(tf, cuts):
    whole, parts = TfDf().fit(tf), TfDf()
    edges = sorted({0, len(tf), *(c for c in cuts if c < len(tf))})
    for i, j in pairwise(edges):
        parts.partial_fit(sparse.csr_array(tf[i:j]))
    assert np.array_equal(parts.df_, whole.df_)
    assert parts.n_documents_ == whole.n_documents_ == len(tf)


def test_explicit_zeros_do_not_count_and_entries_stored_twice_count_once():
    X = sparse.csr_array(
        (np.array([1.0, 1.0, 0.0, 5.0]), np.array([1, 1, 0, 0]), np.array([0, 3, 4]))
    )
    before = X.data.copy(), X.indices.copy()
    model = TfDf().fit(X)
    assert model.df_.tolist() == [1, 1]
    assert model.transform(X).toarray().tolist() == [[0.0, 2.0], [5.0, 0.0]]
    assert np.array_equal(X.data, before[0])
    assert np.array_equal(X.indices, before[1])


@pytest.fixture(scope="module")
def spam() -> ModuleType:
    """The example as a module."""
    found = spec_from_file_location("spam", EXAMPLE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_example_learns_to_filter(spam, capsys):
    accuracies = spam.main(400)
    assert set(accuracies) == {"perceptron", "Adaline", "logistic", "linear machine"}
    assert min(accuracies.values()) > 0.6
    assert capsys.readouterr().out.count("spam says") == 4
