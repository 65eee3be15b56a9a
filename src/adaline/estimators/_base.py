"""scikit-learn's manners, once: validation, names, labels, shapes of coef_ and intercept_.

Inside, weights are always W (K, p) and b (K,); only here they bend to scikit-learn's shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import (
    _check_sample_weight,
    _num_samples,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from adaline.certificates.delivery import delivered
from adaline.estimators._delivered import WRITTEN, as_shape, is_as_learned, rounded_to
from adaline.estimators._refusals import AllOrNothing
from adaline.results import Array, Certificate, Fit
from adaline.tiles import is_sparse


class Learner(AllOrNothing, BaseEstimator):
    """What every learner does with its rows, and with what it has learned."""

    fit_: Fit
    coef_: Array
    intercept_: Any
    n_features_in_: int
    _dtype: Any  # of coef_ and intercept_ as they were learned

    def __copy__(self) -> Self:
        """A copy that learns, and is written to, on its own."""
        twin = type(self).__new__(type(self))
        twin.__dict__.update(self.__dict__)
        for name in ("coef_", "intercept_", "_state", "_shown"):
            if name in twin.__dict__:
                twin.__dict__[name] = deepcopy(twin.__dict__[name])
        return twin

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
            X,
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
        self._check_fitted()
        X = self._rows(X, reset=False)
        W, b = (rounded_to(part, X.dtype) for part in self._weights_shown())
        return np.asarray(X @ W.T + b)

    def _check_fitted(self) -> None:
        check_is_fitted(self, None if hasattr(self, "__sklearn_is_fitted__") else "fit_")

    def _weights_shown(self) -> tuple[Any, Any]:
        """W (K, p) and b (K,) that coef_ and intercept_ show, and that predictions use."""
        shape = self.fit_.W.shape
        return (
            as_shape("coef_", self.coef_, shape),
            as_shape("intercept_", self.intercept_, shape[:1]),
        )

    def _is_written(self) -> bool:
        """Whether coef_ or intercept_ is no longer what was learned."""
        (W, b), fit = self._weights_shown(), self.fit_
        return not (
            is_as_learned(W, fit.W, self._dtype).all()
            and is_as_learned(b, fit.b, self._dtype).all()
        )

    def _refuse_written(self, what: str) -> None:
        """Raise ValueError where something rests on the learned weights, and others are there."""
        if self._is_written():
            raise ValueError(
                f"coef_ or intercept_ was changed after the fit, and {what}. Fit again, or set "
                "them back to what fit_ holds."
            )

    def _deliver(self, fit: Fit, dtype: Any) -> None:
        """Take what was learned, in scikit-learn's shapes and the dtype of the samples."""
        self.fit_, self._dtype = fit, np.dtype(dtype)
        self.coef_, self.intercept_ = (np.array(rounded_to(part, dtype)) for part in (fit.W, fit.b))

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit: it speaks of coef_ and intercept_ as they are."""
        self._check_fitted()
        return WRITTEN if self._is_written() else self.fit_.certificate


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
        """Take what was learned; the certificate speaks of the weights as delivered."""
        self._deliver(delivered(fit, dtype), dtype)

    def _deliver(self, fit: Fit, dtype: Any) -> None:
        super()._deliver(fit, dtype)
        if self._one_target:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def predict(self, X: Any) -> Array:
        """v = W x + b for each row."""
        V = self._values(X)
        return V[:, 0] if self._one_target else V

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of the predictions, as scikit-learn has it: 1 - (squares left) / (squares of y)."""
        check_lengths(_num_samples(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))


class Classifier(ClassifierMixin, Learner):
    """Two classes or many, any labels: one neuron for two, one a class for more."""

    classes_: NDArray[Any]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples decided rightly."""
        check_lengths(_num_samples(X), y, sample_weight)
        return float(super().score(X, y, sample_weight))

    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two."""
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V

    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; a tie of two goes to `classes_[0]`."""
        v = self.decision_function(X)
        winner = (v > 0).astype(int) if v.ndim == 1 else np.argmax(v, axis=1)
        return np.asarray(self.classes_[winner])


def share_right(decided: NDArray[Any], y: Any, sample_weight: Any = None) -> float:
    """Share of decisions that are the labels y, by weight."""
    check_lengths(len(decided), y, sample_weight)
    right = np.asarray(decided == column_or_1d(y), dtype=np.float64)
    return float(np.average(right, weights=sample_weight))


def check_lengths(n: int, y: Any, sample_weight: Any = None) -> None:
    """Raise ValueError where y or the weights of a score are not one a row."""
    for name, given in (("y", y), ("sample_weight", sample_weight)):
        if given is None and name == "sample_weight":
            continue
        shape = np.shape(given)
        if not shape or shape[0] != n:
            raise ValueError(
                f"X has {n} rows and {name} has shape {shape}; expected one value a row."
            )


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
