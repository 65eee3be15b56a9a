"""Base classes of all learners: validation, labels, delivered weights, and what errors change.

Called by every module of this package. Weights are W (K, p) and b (K,) of `fit_`; coef_ and
intercept_ are the same in scikit-learn's shapes and the dtype of the rows. Assigning them takes
effect, and voids the certificate, which spoke of other numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from adaline import parameters
from adaline._names import handed_down
from adaline.certificates.digits import delivered
from adaline.estimators.registry import Declared, Effect, Scatter, Score, Target, demand
from adaline.parameters import Advises, ParameterError, is_number, is_sparse, shown
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import as_csr, check_finite, is_dask
from adaline.sums.values import linear_values

if TYPE_CHECKING:
    from adaline.sums.class_moments import Codes

Method = TypeVar("Method", bound=Callable[..., Any])

FLOATS = [np.float64, np.float32]
WRITTEN = Certificate(
    "unproven", "coef_ or intercept_ was changed after the fit; nothing is proven of these weights."
)


def unchanged_on_error(method: Method) -> Method:
    """Decorate a method that learns: an exception leaves the learner with its old attributes.

    KeyboardInterrupt passes: an interrupted `fit` keeps its last complete pass. Rows that Dask
    holds are learned by `adaline.data`.
    """

    @wraps(method)
    def learn(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = self.__dict__.copy()  # methods assign new arrays, or undo what they have written
        try:
            if not is_dask(args[0] if args else kwargs.get("X")):
                return method(self, *args, **kwargs)
            if method.__name__ == "fit":
                return handed_down("fit_collection")(self, *args, **kwargs)
            raise TypeError(f"{method.__name__} takes no rows of Dask; use fit.")
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


def assignable(name: str, part: str) -> Any:
    """The property of W or b of fit_, in scikit-learn's shape and the dtype of the rows."""
    return property(
        lambda self: self._output_shape(read_only(getattr(self.fit_, part), self._dtype)),
        lambda self, value: self._assign(name, part, value),
    )


class Learner(Advises, Declared, BaseEstimator):
    """Checks rows and parameters, and delivers weights as coef_ and intercept_."""

    fit_: Fit
    n_features_in_: int
    _look: Any = None  # set by `trace`: is called with each step
    _dtype: Any  # of coef_ and intercept_ as they were learned

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        parameters.check(self._parameters, self)

    def _rows(self, X: Any, *, reset: bool) -> Any:
        """X as float64, float32 or CSR of either, free of NaN and infinities."""
        X = checked_rows(self, X, reset=reset)
        check_finite(X, self._names)
        return X

    def _weights(self, sample_weight: Any, X: Any) -> Array | None:
        return parameters.weights_of("sample_weight", sample_weight, X.shape[0])

    def _names(self) -> list[str]:
        """Column names: those of the table that was fitted, or x0, x1, ..."""
        plain = [f"x{j}" for j in range(self.n_features_in_)]
        return [str(name) for name in getattr(self, "feature_names_in_", plain)]

    def _values(self, X: Any) -> Array:
        """v = W x + b for each row, (n, K), in the dtype of X; see `linear_values`."""
        self._check_fitted()
        X = checked_rows(self, X, reset=False)  # `linear_values` refuses what is not finite
        W, b = self._exported_weights()
        W, b = round_to(W, X.dtype), round_to(b, X.dtype)
        many = self._learns == "classes" and len(b) > 1
        return linear_values(X, W, b, comparable=many, names=self._names)

    def _check_fitted(self) -> None:
        if not hasattr(self, "fit_"):  # check_is_fitted alone takes longer than to predict a row
            check_is_fitted(self, "fit_")

    def _output_shape(self, part: Any) -> Any:
        """W (K, p) or b (K,) in the shape of coef_ or intercept_."""
        return part

    coef_, intercept_ = assignable("coef_", "W"), assignable("intercept_", "b")

    def _assign(self, name: str, part: str, value: Any) -> None:
        """Predict and learn with these weights, of which nothing is proven if they are new."""
        array, old = np.asarray(value), round_to(getattr(self.fit_, part), self._dtype)
        array = array[None] if len(old) == 1 and array.ndim == old.ndim - 1 else array
        if array.dtype.kind not in "fiub" or array.shape != old.shape:
            what = f"{name} has shape {np.shape(value)} and dtype {array.dtype}"
            raise ValueError(f"{what}; expected real numbers of shape {old.shape}, as learned.")
        new = round_to(array, self._dtype)
        if not np.array_equal(new, old, equal_nan=True):
            changes: Any = {part: new.astype(np.float64), "certificate": WRITTEN}
            self.fit_ = replace(self.fit_, **changes, stopped=WRITTEN.statement)

    def _is_written(self) -> bool:
        fit = getattr(self, "fit_", None)
        return fit is not None and fit.certificate.statement == WRITTEN.statement

    def _refuse_written(self, what: str) -> None:
        if self._is_written():
            raise ValueError(f"coef_ or intercept_ was changed after the fit, and {what}.")

    def _accept(self, fit: Fit, dtype: Any) -> Any:
        """Deliver weights, with a certificate that speaks of them as rounded to dtype."""
        fit = delivered(fit, dtype)
        self.fit_, self._dtype = fit, np.dtype(dtype)
        return fit

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        """Deliver what was learned from sums as rows of this dtype, and a column y, would."""
        self._accept(self.fit_, dtype)

    def _exported_weights(self) -> Any:
        return as_delivered(self.fit_.W, self.fit_.b, self._dtype)

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit: it speaks of coef_ and intercept_ as they are."""
        self._check_fitted()
        return self.fit_.certificate


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

    def _targets(self, y: Any, X: Any) -> Array:
        """y as float64 (n, k); remembers whether it came as a vector."""
        Y = real_targets(y, X.shape[0])
        self._one_target = Y.ndim == 1
        return Y.reshape(len(Y), -1)

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        if column:
            self._one_target = False
        super()._take_dtype(dtype, column)

    def _output_shape(self, part: Any) -> Any:
        return part[0] if self._one_target else part

    def _restored(self) -> None:
        super()._restored()
        demand(not self._one_target or len(self.fit_.b) == 1, "several targets and one.")

    @lazy_for_dask
    def predict(self, X: Any) -> Array:
        """v = W x + b for each row; infinite where it is beyond the range of X's dtype."""
        V = self._values(X)
        return V[:, 0] if self._one_target else V

    @lazy_for_dask
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """R^2 of `predict(X)`, the mean over the targets where there are several."""
        predicted = self.predict(X)
        Y, omega = real_targets(y, len(predicted)), self._weights(sample_weight, predicted)
        with np.errstate(over="ignore"):
            return float(r2_score(Y, predicted, sample_weight=omega))


class Classifier(ClassifierMixin, Learner):
    """Two classes or many, any labels: one neuron for two, one a class for more."""

    _learns = "classes"
    _scored_by = "accuracy"
    _effect: Effect | None = "score"
    classes_: NDArray[Any]

    def _labelled_rows(
        self, X: Any, y: Any, sample_weight: Any, classes: Any = None, *, reset: bool
    ) -> tuple[Any, NDArray[Any], Codes, Array | None]:
        """X, the classes (those given, or of y), the code of each row, and weights; all checked."""
        X = self._rows(X, reset=reset)
        weights = self._weights(sample_weight, X)
        return X, *encode(check_labels(y, X.shape[0]), classes, weights), weights

    @lazy_for_dask
    def decision_function(self, X: Any) -> Array:
        """w'x + b: positive for `classes_[1]`; one column a class when there are more than two.

        Beyond the range of X's dtype it is infinite; of more than two classes, that row is scaled.
        """
        V = self._values(X)
        return V[:, 0] if len(self.classes_) == 2 else V

    @lazy_for_dask
    def predict(self, X: Any) -> NDArray[Any]:
        """The class on whose side each row lies; a tie of two goes to `classes_[0]`."""
        return winners(self.decision_function(X), self.classes_)

    @lazy_for_dask
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples decided rightly; a rejected sample is not."""
        predicted = self.predict(X)
        labels = check_labels(y, len(predicted))
        omega = parameters.weights_of("sample_weight", sample_weight, len(predicted))
        # An array of objects may hold "reject" beside labels of any type.
        families = {"U": "texts", "O": "texts", "M": "dates", "m": "durations"}
        kinds = {families.get(part.dtype.kind, "numbers") for part in (predicted, labels)}
        if len(kinds) > 1 and predicted.dtype != object:
            a, b = labels.tolist()[0], predicted.tolist()[0]
            raise ParameterError(f"y has labels such as {a!r}, which no prediction ({b!r}) equals.")
        return float(np.average(predicted == labels, weights=omega))


def winners(V: Array, classes: NDArray[Any]) -> NDArray[Any]:
    """classes[1] where v > 0, or the class of the largest of many scores."""
    return np.asarray(classes[(V > 0).astype(int) if V.ndim == 1 else V.argmax(axis=1)])


def checked_rows(learner: Any, X: Any, *, reset: bool = True, **options: Any) -> Any:
    """X by scikit-learn's validation, compared with the learner's columns; it may not be finite."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype in FLOATS and X.size and not options:
        plain = not hasattr(learner, "feature_names_in_")
        if plain and (reset or getattr(learner, "n_features_in_", None) == X.shape[1]):
            # Nothing is left to check, which would take longer than to predict a row.
            learner.n_features_in_ = X.shape[1]
            return X
    parameters.refuse("X", X)
    options = {"accept_sparse": "csr", "dtype": FLOATS, **options}
    options["ensure_all_finite"] = False  # `check_finite` names the row and the column
    try:
        return validate_data(learner, as_csr(X) if is_sparse(X) else X, reset=reset, **options)
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        texts = [repr(name) for name in getattr(X, "columns", ()) if not is_numeric(X[name])]
        if texts and "could not convert string to float" in str(error):
            what = f"X cannot be used: text in {', '.join(texts[:5])} ({error})"
            advice = "Convert it to numbers, as by OneHotEncoder, or use adaline.data.fit."
            raise ValueError(f"{what}. {advice}") from None
        raise parameters.named(error, "X") from None


def is_numeric(column: Any) -> bool:
    try:
        return np.asarray(column, dtype=np.float64) is not None
    except (ValueError, TypeError):
        return False


def real_targets(y: Any, n: int) -> Array:
    """y as float64 (n,) or (n, k), free of NaN and infinities."""
    if y is None:
        raise ParameterError("a regressor requires y to be passed, but the target y is None.")
    Y = parameters.numbers("y", y, "numbers; a classifier takes labels")
    if Y.ndim not in (1, 2) or len(Y) != n or 0 in Y.shape:
        raise ParameterError(f"X has {n} rows and y has shape {Y.shape}; expected (n,) or (n, k).")
    check_finite(Y.reshape(n, -1), what="y")
    return Y


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Labels of n rows as a vector of one type that has an order."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    try:
        labels = parameters.array("y", y)
        plain = labels.ndim == 1 and labels.dtype.kind in "iubU"
        labels = labels if plain else column_or_1d(labels, warn=True)
    except (ValueError, TypeError) as error:
        raise parameters.named(error, "y") from None
    if len(labels) != n:
        raise ParameterError(f"X has {n} rows and y has {len(labels)} labels; give one a row.")
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy converts ["a", 1] to two texts; predictions would be "1" instead of 1.
        require_order(np.ravel(np.array(y, dtype=object)), "y")
    return require_order(labels, "y")


def require_order(labels: NDArray[Any], name: str) -> NDArray[Any]:
    """Labels of one type that has an order; objects become the numbers or texts that they are."""
    if labels.dtype == object:
        values = labels.tolist()
        if all(isinstance(a, str) for a in values):
            return labels
        for i, a in enumerate(values):
            if a is None or type(a).__name__ in ("NAType", "NaTType") or a != a:
                raise ParameterError(f"{name} has no label in row {i}: contains NaN, None or NA.")
        odd = [a for a in values if not (isinstance(a, bool | np.bool_ | float) or is_number(a))]
        numbers = labels if odd else np.array(values)
        if numbers.dtype == object:  # fractions and integers beyond 64 bits, too
            odd = odd or values
            what = f"{name} holds {type(odd[0]).__name__} objects such as {shown(odd[0])}"
            raise ParameterError(f"{what} (Unknown label type); expected no such mixture.")
        labels = numbers
    kind = labels.dtype.kind
    if (kind == "f" and not np.isfinite(labels).all()) or (kind in "mM" and np.isnat(labels).any()):
        raise ParameterError(f"{name} contains NaN or infinity, which are no labels.")
    if kind not in "iubUfmM":
        raise ParameterError(f"{name} has dtype {labels.dtype}; expected labels: texts or numbers.")
    return labels


def encode(
    y: NDArray[Any], classes: NDArray[Any] | None, omega: Array | None = None
) -> tuple[NDArray[Any], Codes]:
    """Sorted classes (those given, or those of y), and the index among them of each label.

    Two classes at least; without a stream's classes, two with rows of positive weight omega.
    """
    labels = np.unique(y)  # hashes; to return the inverse it would sort all rows
    if labels.dtype.kind == "f" and (labels != np.rint(labels)).any():
        raise ValueError("y holds fractions (Unknown label type: continuous); expected labels.")
    codes = np.asarray(y == labels[-1] if len(labels) == 2 else np.searchsorted(labels, y))
    if labels.dtype.kind == "f":
        labels = labels + labels.dtype.type(0.0)  # minus zero becomes zero
    if classes is not None:
        place = {label: k for k, label in enumerate(classes.tolist())}
        if unknown := [label for label in labels.tolist() if label not in place]:
            known = f"the classes {classes.tolist()}"
            raise ValueError(f"y has the label {unknown[0]!r}, which is not among {known}.")
        codes = np.array([place[label] for label in labels.tolist()])[codes.astype(np.int64)]
        labels = classes
    codes, present = codes.astype(np.int64, copy=False), labels.tolist()
    if classes is None and omega is not None:
        present = labels[np.bincount(codes[omega > 0], minlength=len(labels)) > 0].tolist()
    if len(present) < 2:
        where = "y has" if len(labels) < 2 else "rows of positive sample_weight are of"
        advice = "In a stream, give all labels in `classes` at the first partial_fit."
        raise ValueError(f"{where} one class, {present}; two are needed. {advice}")
    return labels, codes


def round_to(weights: Array, dtype: Any) -> Any:
    """The weights in another dtype; what is too large for it becomes infinite, silently."""
    if weights.dtype == dtype:  # as always but for float32: errstate takes longer than this
        return weights
    with np.errstate(over="ignore"):
        return weights.astype(dtype)


def read_only(weights: Array, dtype: Any) -> Any:
    """A read-only copy in this dtype: writing into it raises, instead of being overlooked."""
    array = np.array(round_to(weights, dtype))
    array.flags.writeable = False
    return array


def as_delivered(W: Array, b: Array, dtype: Any) -> tuple[Array, Array]:
    """The numbers that coef_ and intercept_ will have in this dtype, as float64, for proofs."""
    W, b = round_to(W, dtype), round_to(b, dtype)
    return W.astype(np.float64, copy=False), b.astype(np.float64, copy=False)
