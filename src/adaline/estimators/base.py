"""Base classes of all learners: validation, delivered weights, prediction, and what errors change.

Called by every module of this package. Inside, weights are always W (K, p) and b (K,); only this
module and `streams` convert them to scikit-learn's shapes. Predictions use `coef_` and
`intercept_`: assigning them takes effect, and voids the certificate, which spoke of other numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from adaline import parameters
from adaline._names import handed_down
from adaline.certificates.statements import delivered
from adaline.estimators.labels import accuracy
from adaline.estimators.registry import Declared, Effect, Scatter, Score, Target, demand
from adaline.parameters import Advises, Expected, ParameterError, is_sparse
from adaline.procedures.steps import Hear
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import as_csr, check_finite, is_dask, linear_values

Method = TypeVar("Method", bound=Callable[..., Any])

COEF = ("coef_", "intercept_", "_dtype")  # what `_deliver` makes of fit_
WRITTEN = Certificate(
    "unproven", "coef_ or intercept_ was changed after the fit; nothing is proven of these weights."
)


def unchanged_on_error(method: Method) -> Method:
    """Decorate a method that learns: an exception leaves the learner with its old attributes.

    Attributes are restored, not copied: methods assign new arrays, or undo what they have written
    into old ones. KeyboardInterrupt passes: an interrupted `fit` keeps its last complete pass.
    Rows that Dask holds are learned by `adaline.data`.
    """

    @wraps(method)
    def learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.copy()
        try:
            if not is_dask(args[0] if args else kwargs.get("X")):
                return method(self, *args, **kwargs)
            if method.__name__ == "fit":
                return handed_down("fit_collection")(self, *args, **kwargs)
            raise TypeError(
                f"{method.__name__} takes rows that are in memory, and X is of Dask; fit learns "
                "from X as it is, and X.compute() brings it into memory."
            )
        except Exception:
            self.__dict__ = before
            raise

    return cast(Method, learn)


def lazy_for_dask(method: Method) -> Method:
    """Decorate a prediction: rows of Dask give an array of Dask, or the score of all blocks."""

    @wraps(method)
    def predict(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        if not is_dask(X):
            return method(self, X, *args, **kwargs)
        from adaline.distributed import collections  # which loads Dask

        if method.__name__ == "score":
            return collections.score(self, X, *args, **kwargs)
        return collections.predict_lazily(self, method, X, *args, **kwargs)

    return cast(Method, predict)


class Audience:
    """Hears of every step of a fit, for `trace`; scikit-learn's callbacks, of complete ones."""

    def __init__(self, look: Hear | None, report: Callable[[], Any] | None = None) -> None:
        self.look, self.report, self.done, self.heard, self.asked = look, report, 0, 0, False

    def __call__(self, done: int, state: Any) -> bool:
        if self.look is not None:
            self.look(done, state)
        if self.report is not None and done > self.done:
            self.done, self.heard = done, self.heard + 1
            self.asked = bool(self.report())
        return self.asked


@contextmanager
def callbacks(learner: Learner, most: int, name: str = "pass") -> Iterator[Audience]:
    """The audience of a fit of at most so many passes, which callbacks see as tasks of this name.

    They are called after each pass, never for each sample.
    """
    if not getattr(learner, "_skl_callbacks", None):
        yield Audience(learner._look)
        return
    fit: Any = learner._init_callback_context(max_subtasks=most)
    fit.call_on_fit_task_begin(estimator=learner)

    def report() -> Any:
        task = fit.subcontext(task_name=name)
        task.call_on_fit_task_begin(estimator=learner)
        return task.call_on_fit_task_end(estimator=learner)

    yield Audience(learner._look, report)
    fit.call_on_fit_task_end(estimator=learner)


class Learner(Advises, Declared, BaseEstimator):
    """Checks rows and parameters, and delivers weights as coef_ and intercept_."""

    fit_: Fit
    coef_: Array
    intercept_: Any
    n_features_in_: int
    _parameters: Mapping[str, Expected] = {}  # what each parameter may be
    _look: Any = None  # set by `trace`: is called with each step
    _dtype: Any  # of coef_ and intercept_ as they were learned
    _derived: tuple[str, ...] = COEF

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        """Raise for parameters that make no sense, alone or, in subclasses, together."""
        parameters.check(self._parameters, self)

    def _rows(self, X: Any, *, reset: bool, finite: bool = True) -> Any:
        """X as float64, float32 or CSR of either; with `finite`, free of NaN and infinities.

        A fit whose sums would show what is not finite passes finite=False, which saves a pass.
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
        W, b = (round_to(part, X.dtype) for part in self._current_weights())
        many = self._learns == "classes" and len(b) > 1
        return linear_values(X, W, b, comparable=many, names=self._names)

    def _check_fitted(self) -> None:
        check_is_fitted(self, None if hasattr(self, "__sklearn_is_fitted__") else "fit_")

    def _current_weights(self) -> tuple[Any, Any]:
        """W (K, p) and b (K,) of coef_ and intercept_, which predictions use."""
        K, p = self.fit_.W.shape
        return as_shape("coef_", self.coef_, (K, p)), as_shape("intercept_", self.intercept_, (K,))

    def _is_written(self) -> bool:
        """Whether coef_ or intercept_ is no longer what was learned."""
        # Values are compared, because copies and files keep values, and no array's identity.
        current, fit = self._current_weights(), self.fit_
        return not all(
            np.array_equal(new, round_to(learned, self._dtype), equal_nan=True)
            for new, learned in zip(current, (fit.W, fit.b), strict=True)
        )

    def _refuse_written(self, what: str) -> None:
        """Raise ValueError where something needs the learned weights, and others were assigned."""
        if self._is_written():
            raise ValueError(
                f"coef_ or intercept_ was changed after the fit, and {what}. Fit again, or set "
                "them back to what fit_ holds."
            )

    def _deliver(self, fit: Fit, dtype: Any) -> None:
        """Set fit_, and coef_ and intercept_ in scikit-learn's shapes and the dtype of the rows."""
        self.fit_, self._dtype = fit, np.dtype(dtype)
        self.coef_, self.intercept_ = (read_only(part, dtype) for part in (fit.W, fit.b))

    def _accept(self, fit: Fit, dtype: Any) -> None:
        """Deliver weights, with a certificate that speaks of them as rounded to dtype."""
        self._deliver(delivered(fit, dtype), dtype)

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        """Deliver what was learned from sums as rows of this dtype, and a column y, would."""
        self._accept(self.fit_, dtype)

    def _restored(self, dtype: Any) -> None:
        self._deliver(self.fit_, dtype)

    def _exported_weights(self) -> tuple[Any, Any] | None:
        W, b = self._current_weights()
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
        Y = real_targets(y, X.shape[0], finite=finite)
        self._one_target = Y.ndim == 1
        return Y.reshape(len(Y), -1)

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        self._one_target = self._one_target and not column
        super()._take_dtype(dtype, column)

    def _deliver(self, fit: Fit, dtype: Any) -> None:
        super()._deliver(fit, dtype)
        if self._one_target:
            self.coef_, self.intercept_ = self.coef_[0], self.intercept_[0]

    def _restored(self, dtype: Any) -> None:
        demand(not self._one_target or len(self.fit_.b) == 1, "several targets and one.")
        super()._restored(dtype)

    @lazy_for_dask
    def predict(self, X: Any) -> Array:
        """v = W x + b for each row; infinite where it is beyond the range of X's dtype."""
        V = self._values(X)
        return V[:, 0] if self._one_target else V

    @lazy_for_dask
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict(X)`, the mean over the targets where there are several."""
        predicted = self.predict(X)
        Y = real_targets(y, len(predicted))
        omega = parameters.weights_of("sample_weight", sample_weight, len(predicted))
        if Y.reshape(len(Y), -1).shape != predicted.reshape(len(Y), -1).shape:
            raise ValueError(f"y has shape {Y.shape}; predictions have {predicted.shape}.")
        from sklearn.metrics import r2_score  # slow to import, and seldom needed

        with np.errstate(over="ignore"):
            return float(r2_score(Y, predicted.reshape(Y.shape), sample_weight=omega))


class Classifier(ClassifierMixin, Learner):
    """Two classes or many, any labels: one neuron for two, one a class for more."""

    _learns = "classes"
    _scored_by = "accuracy"
    _effect: Effect | None = "score"
    classes_: NDArray[Any]

    @lazy_for_dask
    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two.

        Beyond the range of X's dtype it is infinite; of more than two classes the values of that
        row are divided by one number, so that the largest is the right one.
        """
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V

    @lazy_for_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; a tie of two goes to `classes_[0]`."""
        v = self.decision_function(X)
        winner = (v > 0).astype(int) if v.ndim == 1 else np.argmax(v, axis=1)
        return np.asarray(self.classes_[winner])

    @lazy_for_dask
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples decided rightly; a rejected sample is not."""
        return accuracy(self.predict(X), y, sample_weight)


def checked_rows(learner: Any, X: Any, *, reset: bool = True, **options: Any) -> Any:
    """X by scikit-learn's validation, whose messages get to name X; it may not be finite.

    Number and names of columns are those of the learner, unless that is None.
    """
    parameters.refuse("X", X)
    options = {"accept_sparse": "csr", "dtype": [np.float64, np.float32], **options}
    options["ensure_all_finite"] = False
    try:
        X = as_csr(X) if is_sparse(X) else X
        if learner is None:
            return check_array(X, **options)
        return validate_data(learner, X, reset=reset, **options)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        texts = [str(name) for name in getattr(X, "columns", ()) if not is_numeric(X[name])]
        if texts and "could not convert string to float" in str(error):
            raise ValueError(
                f"X cannot be used: text in {', '.join(map(repr, texts[:5]))} ({error}). Convert "
                "it to numbers, for instance by scikit-learn's OneHotEncoder in a "
                "ColumnTransformer; adaline.data.fit does so by itself."
            ) from None
        raise parameters.named(error, "X") from None


def is_numeric(column: Any) -> bool:
    """Whether a column of a table converts to numbers."""
    try:
        return np.asarray(column, dtype=np.float64) is not None
    except (ValueError, TypeError):
        return False


def real_targets(y: Any, n: int, *, finite: bool = True) -> Array:
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


def starting_weights(coef: Any, intercept: Any, K: int, p: int) -> tuple[Array, Array] | None:
    """coef_init and intercept_init as W (K, p) and b (K,), zero where one is missing."""
    if coef is None and intercept is None:
        return None
    W, b = np.zeros((K, p)), np.zeros(K)
    for name, value, part in (("coef_init", coef, W), ("intercept_init", intercept, b)):
        values = np.zeros(part.shape) if value is None else parameters.numbers(name, value)
        if values.size != part.size or not np.isfinite(values).all():
            raise ParameterError(
                f"{name} has shape {values.shape}; expected {part.size} finite numbers, in the "
                f"shape {part.shape}."
            )
        part[...] = values.reshape(part.shape)
    return W, b


def as_shape(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """Weights that may have been assigned, in the shape that they are used in."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {array.dtype}; expected real numbers.")
    one_output = array.ndim == len(shape) - 1 and shape[0] == 1
    if ((1, *array.shape) if one_output else array.shape) != shape:
        raise ValueError(
            f"{name} has shape {array.shape}; expected {shape}, as learned. To change the number "
            "of columns or outputs, fit again."
        )
    return array.reshape(shape)


def round_to(weights: Array, dtype: Any) -> Any:
    """The weights in another dtype; what is too large for it becomes infinite, silently."""
    with np.errstate(over="ignore"):
        return weights.astype(dtype, copy=False)


def read_only(weights: Array, dtype: Any) -> Any:
    """A read-only copy in this dtype: writing into it raises, instead of being overlooked."""
    array = np.array(round_to(weights, dtype))
    array.flags.writeable = False
    return array


def as_delivered(W: Array, b: Array, dtype: Any) -> tuple[Array, Array]:
    """The numbers that coef_ and intercept_ will have in this dtype, as float64, for proofs."""
    W, b = (round_to(part, dtype).astype(np.float64) for part in (W, b))
    return W, b
