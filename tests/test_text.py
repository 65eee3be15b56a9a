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
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer
from sklearn.pipeline import make_pipeline
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


def test_a_word_not_seen_yet_counts_as_in_one_document():
    model = TfDf().fit([[1.0, 0.0], [1.0, 0.0]])
    assert model.transform([[2.0, 3.0]]).tolist() == [[1.0, 3.0]]
    assert model.transform(sparse.csr_array([[2.0, 3.0]])).toarray().tolist() == [[1.0, 3.0]]


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


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_precision_is_kept_and_input_is_not_touched(dtype):
    X = sparse.csr_array(np.array([[2, 0], [2, 1]]), dtype=dtype)
    X.data.setflags(write=False)
    out = TfDf().fit_transform(X)
    assert out.dtype == (np.float32 if dtype == np.float32 else np.float64)
    assert out.toarray().tolist() == [[1.0, 0.0], [1.0, 1.0]]
    assert X.data.tolist() == [2, 2, 1]


def test_it_follows_scikit_learn_s_vectorizers_and_keeps_their_names():
    chain = make_pipeline(words(), TfDf()).fit(TEXTS)
    assert chain.get_feature_names_out().tolist() == chain[0].get_feature_names_out().tolist()
    hashed = make_pipeline(HashingVectorizer(n_features=64, norm=None), TfDf()).fit_transform(TEXTS)
    assert sparse.issparse(hashed)
    assert hashed.shape == (3, 64)


def test_changed_width_and_missing_numbers_are_refused():
    model = TfDf().fit(np.ones((2, 3)))
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(np.ones((2, 4)))
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit([[1.0, np.nan, 0.0]])


@pytest.fixture(scope="module")
def spam() -> ModuleType:
    """The example as a module."""
    found = spec_from_file_location("spam", EXAMPLE)
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_messages_are_the_same_for_the_same_seed_only(spam):
    one, two, other = spam.corpus(40), spam.corpus(40), spam.corpus(40, seed=1)
    assert one == two
    assert one != other


def test_messages_have_three_kinds_and_thousands_of_words(spam):
    texts, kinds = spam.corpus(600)
    assert len(texts) == len(kinds) == 600
    assert set(kinds) == {"home", "work", "spam"}
    assert 0.4 < kinds.count("spam") / 600 < 0.6
    df = TfDf().fit(CountVectorizer().fit_transform(texts)).df_
    assert len(df) > 3000
    assert np.median(df) <= 2  # Zipf: most words are rare


def test_spam_has_words_of_its_own_and_misspells_them(spam):
    texts, kinds = spam.corpus(300)
    vectorizer = CountVectorizer()
    X = vectorizer.fit_transform(texts)
    shares = {
        kind: X[np.array(kinds) == kind][:, vectorizer.vocabulary_["casino"]].mean()
        for kind in ("home", "work", "spam")
    }
    assert shares["spam"] > 5 * max(shares["home"], shares["work"])
    assert any(word in vectorizer.vocabulary_ for word in ("ca5ino", "c4sino", "cas1no", "casin0"))


def test_the_example_learns_to_filter(spam, capsys):
    accuracies = spam.main(400)
    assert set(accuracies) == {"perceptron", "Adaline", "logistic", "linear machine"}
    assert min(accuracies.values()) > 0.6
    assert capsys.readouterr().out.count("spam says") == 4
