"""scikit-learn's manners, once: validation, names, labels, shapes of coef_ and intercept_.

Inside, weights are always W (K, p) and b (K,); only here they bend to scikit-learn's shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from adaline.results import Array, Certificate, Fit
from adaline.tiles import as_csr, is_sparse


class Learner(BaseEstimator):
    """What every learner does with its rows, and with what it has learned."""

    fit_: Fit
    coef_: Array
    intercept_: Any
    n_features_in_: int

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> Any:
        """X as float64, float32 or CSR of either; with `finite`, free of NaN and infinities.

        A fit asks for finite=False when it can tell from its sums, which saves a pass.
        """
        X = validate_data(
            self,
            as_csr(X) if is_sparse(X) else X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            ensure_all_finite=False,
            reset=reset,
        )
        if finite:
            check_finite(X, self._names)
        return X

    def _weights(self, sample_weight: Any, X: Any) -> Array | None:
        """Sample weights as float64 (n,), not negative, not all zero; None stays None."""
        if sample_weight is None:
            return None
        if not np.any(np.asarray(sample_weight)):
            raise ValueError(
                "sample_weight is zero for every row; give at least one row a positive weight."
            )
        omega = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return np.asarray(omega)

    def _names(self) -> list[str]:
        """Column names: those of the table that was fitted, or x0, x1, ..."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _values(self, X: Any) -> Array:
        """v = W x + b for each row, (n, K), in the dtype of X."""
        check_is_fitted(self, "fit_")
        X = self._rows(X, reset=False)
        W, b = self.fit_.W.astype(X.dtype), self.fit_.b.astype(X.dtype)
        return np.asarray(X @ W.T + b)

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit."""
        check_is_fitted(self, "fit_")
        return self.fit_.certificate


class Regressor(RegressorMixin, Learner):
    """One or many real targets."""

    _one_target: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _targets(self, y: Any, X: Any) -> Array:
        """y as float64 (n, k); remembers whether it came as a vector."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        y = np.asarray(y)
        if y.dtype == object:
            try:
                y = y.astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"y holds {type(y.flat[0]).__name__} objects; a regressor needs numbers. "
                    "Convert y to float, or use a classifier."
                ) from None
        if np.iscomplexobj(y):
            raise ValueError("Complex data not supported: y is complex; give real targets.")
        if y.dtype.kind not in "fiub":
            raise ValueError(
                f"y has dtype {y.dtype}; a regressor needs numbers. Use a classifier for labels."
            )
        if y.ndim not in (1, 2) or len(y) != X.shape[0]:
            raise ValueError(
                f"X has {X.shape[0]} rows and y has shape {y.shape}; y must be (n,) or (n, k)."
            )
        Y = np.asarray(y, dtype=np.float64)
        check_finite(Y.reshape(len(Y), -1), what="y")
        self._one_target = Y.ndim == 1
        return Y.reshape(len(Y), -1)

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Take what was learned, in scikit-learn's shapes and the dtype of the samples."""
        self.fit_ = fit
        one = self._one_target
        self.coef_ = (fit.W[0] if one else fit.W).astype(dtype)
        self.intercept_ = dtype.type(fit.b[0]) if one else fit.b.astype(dtype)

    def predict(self, X: Any) -> Array:
        """v = W x + b for each row."""
        V = self._values(X)
        return V[:, 0] if self._one_target else V


class Classifier(ClassifierMixin, Learner):
    """Two classes or many, any labels: one neuron for two, one a class for more."""

    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two."""
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V

    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; a tie of two goes to `classes_[0]`."""
        v = self.decision_function(X)
        winner = (v > 0).astype(int) if v.ndim == 1 else np.argmax(v, axis=1)
        return np.asarray(self.classes_[winner])


def check_finite(X: Any, names: Callable[[], list[str]] | None = None, what: str = "X") -> None:
    """Raise ValueError that names the first NaN or infinity by row and column.

    names is asked only then: those of 10^5 columns take as long to make as the rows to learn.
    """
    values = X.data if is_sparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind not in "fc" or np.isfinite(np.sum(values, dtype=np.float64)):
            return  # one NaN or infinity would have reached the sum
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    if is_sparse(X):
        q = int(np.argmax(bad))
        row = int(np.searchsorted(X.indptr, q, side="right")) - 1
        column, value = int(X.indices[q]), values[q]
    else:
        row = int(np.argmax(bad.any(axis=1)))
        column = int(np.argmax(bad[row]))
        value = X[row, column]
    kind = "NaN" if np.isnan(value) else "infinity"
    column_name = f" ({names()[column]})" if names else ""
    raise ValueError(
        f"{what} contains {kind} (inf or NaN is not a number to learn from), first at row {row}, "
        f"column {column}{column_name}; {int(bad.sum())} such values in all. "
        "Drop those rows or fill the values in first."
    )
