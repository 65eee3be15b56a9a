"""The lecture's weight of a word in a document."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from adaline.estimators.base import checked_rows, unchanged_on_error
from adaline.estimators.registry import SEEN, Declared, demand
from adaline.parameters import is_sparse
from adaline.sums.rows import check_finite

OUTPUT_FORMATS = ("default", "pandas", "polars")


class TfDf(Declared, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """W(i, d) = tf(i, d) / df(i): how often word i is in document d, over how many have it.

    It comes after scikit-learn's CountVectorizer or HashingVectorizer, whose rows are documents
    and whose entries are tf. Sparse rows stay sparse, with the same stored entries. df counts the
    documents with an entry that is not zero, and grows by `partial_fit`: any cutting of the
    documents gives the same df. tf of either sign is taken, as hashing gives it.

    Lecture: 002, document classification.

    Attributes
    ----------
    df_ : ndarray of shape (p,)
        In how many documents each word is, of those seen. A word that was in none is taken to be
        in one: its weight is tf.
    n_documents_ : int
        How many documents were seen.

    Examples
    --------
    >>> from adaline import TfDf
    >>> counts = [[2, 1, 0], [0, 1, 0], [0, 4, 0]]
    >>> TfDf().fit_transform(counts).round(3)
    array([[2.   , 0.333, 0.   ],
           [0.   , 0.333, 0.   ],
           [0.   , 1.333, 0.   ]])
    """

    _exports = "frequencies"
    _stored = SEEN | {"df_": "int+ p", "n_documents_": "count", "_sklearn_output_config?": "facts"}
    df_: NDArray[np.int64]
    n_documents_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @unchanged_on_error
    def fit(self, X: Any, y: Any = None) -> Self:
        """Count the documents of each word: X (n, p) dense or CSR, one row a document."""
        X = self._documents(X, reset=True)
        self.df_, self.n_documents_ = _document_frequency(X), X.shape[0]
        return self

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Count these documents too."""
        if not hasattr(self, "df_"):
            return self.fit(X)
        X = self._documents(X, reset=False)
        self.df_ = self.df_ + _document_frequency(X)
        self.n_documents_ += X.shape[0]
        return self

    def transform(self, X: Any) -> Any:
        """tf / df of each entry, in the layout of X and its precision."""
        check_is_fitted(self, "df_")
        X = self._documents(X, reset=False)
        df = np.maximum(self.df_, 1).astype(X.dtype)
        if not is_sparse(X):
            return X / df
        weighted = X.copy()
        weighted.data /= df[X.indices]
        return weighted

    def _restored(self, dtype: Any) -> None:
        demand(bool((self.df_ <= self.n_documents_).all()), "words in more documents than seen.")
        config = getattr(self, "_sklearn_output_config", {})
        known = set(config) <= {"transform"} and all(v in OUTPUT_FORMATS for v in config.values())
        demand(known, "an output that is none.")

    def _documents(self, X: Any, *, reset: bool) -> Any:
        X = checked_rows(self, X, reset=reset)
        check_finite(X)
        return X


def _document_frequency(X: Any) -> NDArray[np.int64]:
    """Rows with an entry that is not zero, a column."""
    if is_sparse(X):
        return np.bincount(X.indices[X.data != 0], minlength=X.shape[1]).astype(np.int64)
    return np.asarray(np.count_nonzero(X, axis=0), dtype=np.int64)
