"""scikit-learn's manners, once: validation, names, labels, shapes of coef_ and intercept_.

Inside, weights are always W (K, p) and b (K,); only here they bend to scikit-learn's shapes.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from adaline import parameters
from adaline._names import Advises
from adaline.certificates.statements import delivered
from adaline.estimators._delivered import WRITTEN, as_shape, is_as_learned, rounded_to
from adaline.estimators._labels import share_right
from adaline.estimators._refusals import AllOrNothing
from adaline.estimators.declarations import Declared, Effect, Scatter, Score, Target, demand
from adaline.parameters import Expected, ParameterError, is_sparse
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import as_csr, check_finite, linear_values

__all__ = ["COEF", "Classifier", "Learner", "Regressor", "check_finite", "checked_rows"]

COEF = ("coef_", "intercept_", "_dtype")  # what `_deliver` makes of fit_


class Learner(Advises, Declared, AllOrNothing, BaseEstimator):
    """What every learner does with its rows, and with what it has learned."""

    fit_: Fit
    coef_: Array
    intercept_: Any
    n_features_in_: int
    _parameters: Mapping[str, Expected] = {}  # what each parameter may be
    _look: Any = None  # set by `trace`: is called with each step
    _dtype: Any  # of coef_ and intercept_ as they were learned
    _derived: tuple[str, ...] = COEF

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

    def _check_parameters(self) -> None:
        """Refuse parameters that make no sense; a subclass adds what holds of several together."""
        parameters.check(self._parameters, self)

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> Any:
        """X as float64, float32 or CSR of either; with `finite`, free of NaN and infinities.

        A fit asks for finite=False when it can tell from its sums, which saves a pass.
        """
        X = checked_rows(self, X, reset=reset)
        if finite:
            check_finite(X, self._names)
        return X

    def _weights(self, sample_weight: Any, X: Any) -> Array | None:
        """Sample weights as float64 (n,), not negative, not all zero; None stays None."""
        return parameters.weights_of("sample_weight", sample_weight, X.shape[0])

    def _names(self) -> list[str]:
        """Column names: those of the table that was fitted, or x0, x1, ..."""
        names = getattr(self, "feature_names_in_", None)
        if names is not None:
            return [str(name) for name in names]
        return [f"x{j}" for j in range(self.n_features_in_)]

    def _values(self, X: Any) -> Array:
        """v = W x + b for each row, (n, K), in the dtype of X; see `linear_values`."""
        self._check_fitted()
        X = self._rows(X, reset=False, finite=False)
        W, b = (rounded_to(part, X.dtype) for part in self._weights_shown())
        many = self._learns == "classes" and len(b) > 1
        return linear_values(X, W, b, comparable=many, names=self._names)

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

    def _restored(self, dtype: Any) -> None:
        self._deliver(self.fit_, dtype)

    def _exported_weights(self) -> tuple[Any, Any] | None:
        W, b = self._weights_shown()
        return W.astype(np.float64), b.astype(np.float64)

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit: it speaks of coef_ and intercept_ as they are."""
        self._check_fitted()
        return WRITTEN if self._is_written() else self.fit_.certificate


class Regressor(RegressorMixin, Learner):
    """One or many real targets, which scatter evenly about v = W x + b."""

    _learns: Target | None = "numbers"
    _scored_by: Score | None = "R2"
    _scatter: Scatter | None = "constant"
    _effect: Effect | None = "adds"
    _one_target: bool

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _targets(self, y: Any, X: Any, *, finite: bool = True) -> Array:
        """y as float64 (n, k); remembers whether it came as a vector. For `finite` see `_rows`."""
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None"
            )
        Y = _real_targets(y, X.shape[0], finite=finite)
        self._one_target = Y.ndim == 1
        return Y.reshape(len(Y), -1)

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Take what was learned; the certificate speaks of the weights as delivered."""
        self._deliver(delivered(fit, dtype), dtype)

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        """Deliver what was learned from sums as rows of this dtype would; of a column of targets,
        as of several.
        """
        self._one_target = self._one_target and not column
        self._accept(self.fit_, dtype)

    def _deliver(self, fit: Fit, dtype: Any) -> None:
        super()._deliver(fit, dtype)
        if self._one_target:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def _restored(self, dtype: Any) -> None:
        demand(not self._one_target or len(self.fit_.b) == 1, "several targets and one.")
        super()._restored(dtype)

    def predict(self, X: Any) -> Array:
        """v = W x + b for each row; infinite where it is beyond the range of X's dtype."""
        V = self._values(X)
        return V[:, 0] if self._one_target else V

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict(X)`, the mean over the targets where there are several."""
        predicted = self.predict(X)
        Y = _real_targets(y, len(predicted))
        omega = parameters.weights_of("sample_weight", sample_weight, len(predicted))
        if Y.reshape(len(Y), -1).shape != predicted.reshape(len(Y), -1).shape:
            raise ValueError(f"y has shape {Y.shape}; predictions have {predicted.shape}.")
        from sklearn.metrics import r2_score  # takes long to load, and is seldom asked for

        with np.errstate(over="ignore"):
            return float(r2_score(Y, predicted.reshape(Y.shape), sample_weight=omega))


class Classifier(ClassifierMixin, Learner):
    """Two classes or many, any labels: one neuron for two, one a class for more."""

    _learns = "classes"
    _scored_by = "accuracy"
    _effect: Effect | None = "score"
    classes_: NDArray[Any]

    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two.

        Beyond the range of X's dtype it is infinite; of more than two classes the values of that
        row are divided by one number, so that the largest is the right one.
        """
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V

    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; a tie of two goes to `classes_[0]`."""
        v = self.decision_function(X)
        winner = (v > 0).astype(int) if v.ndim == 1 else np.argmax(v, axis=1)
        return np.asarray(self.classes_[winner])

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples decided rightly; a rejected sample is not."""
        return share_right(self.predict(X), y, sample_weight)


def checked_rows(learner: Any, X: Any, *, reset: bool, **options: Any) -> Any:
    """X by scikit-learn's validation, whose complaints come to name X; finite or not."""
    parameters.refuse("X", X)
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **options}
    try:
        X = as_csr(X) if is_sparse(X) else X
        return validate_data(learner, X, ensure_all_finite=False, reset=reset, **options)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        if "could not convert string to float" in str(error) and (names := columns_of_text(X)):
            several = len(names) > 1
            listed = ", ".join(map(repr, names[:5])) + ", ..." * (len(names) > 5)
            raise ValueError(
                f"X cannot be used: the column{'s' * several} {listed} hold{'s' * (not several)} "
                f"text ({error}). Make numbers of it, for instance by OneHotEncoder of "
                "scikit-learn in a ColumnTransformer; adaline.data.fit does so by itself."
            ) from None
        raise parameters.named(error, "X") from None


def columns_of_text(X: Any) -> list[str]:
    """Names of the columns of a table that are no numbers."""
    names = []
    for name in getattr(X, "columns", ()):
        try:
            np.asarray(X[name], dtype=np.float64)
        except (ValueError, TypeError):
            names.append(str(name))
    return names


def _real_targets(y: Any, n: int, *, finite: bool = True) -> Array:
    """y as float64 (n,) or (n, k); with `finite`, free of NaN and infinities."""
    Y = parameters.numbers(
        "y", y, "numbers: a regressor needs numbers, and a classifier takes labels"
    )
    if Y.ndim not in (1, 2) or len(Y) != n or 0 in Y.shape:
        raise ParameterError(
            f"X has {n} rows and y has shape {Y.shape}; y must be (n,) or (n, k), k at least 1."
        )
    if finite:
        check_finite(Y.reshape(n, -1), what="y")
    return Y
