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


class TfDf(Declared, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """W(i, d) = tf(i, d) / df(i): how often word i is in document d, over how many have it.

    Use it after scikit-learn's CountVectorizer or HashingVectorizer; sparse rows stay sparse. df
    counts the documents with an entry that is not zero, and grows by `partial_fit`.

    Lecture: 002, document classification.

    Attributes
    ----------
    df_ : ndarray of shape (p,)
        In how many documents each word is, of those seen; a word in none has the weight tf.
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
    _stored = SEEN | {"df_": "int p", "n_documents_": "int", "_sklearn_output_config?": "any"}
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
        self.df_, self.n_documents_ = 0, 0  # type: ignore[assignment]
        return self._count(self._documents(X, reset=True))

    @unchanged_on_error
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Count these documents too."""
        return self._count(self._documents(X, reset=False)) if hasattr(self, "df_") else self.fit(X)

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

    def _restored(self) -> None:
        demand(bool((self.df_ <= self.n_documents_).all()), "words in more documents than seen.")
        config = getattr(self, "_sklearn_output_config", {})
        formats = ("default", "pandas", "polars")
        known = set(config) <= {"transform"} and all(v in formats for v in config.values())
        demand(known, "an output that is none.")

    def _documents(self, X: Any, *, reset: bool) -> Any:
        X = checked_rows(self, X, reset=reset)
        check_finite(X)
        return X

    def _count(self, X: Any) -> Self:
        p = X.shape[1]
        occurrences = X.indices[X.data != 0] if is_sparse(X) else np.nonzero(X)[1]
        self.df_ = self.df_ + np.bincount(occurrences, minlength=p).astype(np.int64)
        self.n_documents_ += X.shape[0]
        return self
