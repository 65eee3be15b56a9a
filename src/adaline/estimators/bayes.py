"""The Bayes classifier: known or learned class densities, priors and costs, least risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from adaline import decisions
from adaline.decisions import REJECT_COST
from adaline.estimators.base import checked_rows, lazy_for_dask, unchanged_on_error
from adaline.estimators.bayes_risk import Risk, Rule, average_loss
from adaline.estimators.costs import PosteriorClassifier
from adaline.estimators.densities import (
    Density,
    Table,
    fixed_densities,
    is_fixed,
    learn_densities,
    priors_of,
    probabilities_of_counts,
    require_two_classes,
)
from adaline.estimators.labels import accuracy, check_labels
from adaline.estimators.registry import Declared, demand
from adaline.parameters import COUNT, count, named
from adaline.results import Array, Result
from adaline.sums.rows import check_finite

__all__ = ["BayesClassifier", "Risk"]


@dataclass(frozen=True)
class BayesModel(Result):
    """All that a decision needs: labels, their densities and their priors."""

    classes: NDArray[Any]
    family: tuple[Density, ...] | Table
    priors: Array


class BayesClassifier(PosteriorClassifier, Declared, ClassifierMixin, BaseEstimator):
    """Decide the class of least expected cost: posterior p(j | x) from densities and priors.

    p(j | x) = f_j(x) p_j / p(x), and the decision is argmin_i sum_j costs[i, j] p(j | x). For two
    classes this is the lecture's rule, likelihood ratio against the threshold xi.

    Lecture: 3.10, Bayes classifier; Bayes' theorem, decision regions and p(error).

    Parameters
    ----------
    densities : "gaussian", "kde", callable, mapping or sequence
        How f_j is found. "gaussian": mean and full covariance of each class, by maximum
        likelihood. "kde": kernel density estimate. A callable gets the rows of one class and
        returns an object with `logpdf`. A mapping {label: density}, or a sequence for the labels
        0, 1, ..., fixes them: frozen scipy.stats distributions, objects with `logpdf` or
        `logpmf` (a row a number), or tables {symbol: probability}.
    priors : array of shape (K,) or mapping {label: probability}, optional
        p_j, in the order of `classes_`. Default: the share of each class in y.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject", and
        always gives an array of objects. Default: never.

    Attributes
    ----------
    classes_ : ndarray of shape (K,)
        Sorted labels; with fixed densities the labels in the order given.
    priors_ : ndarray of shape (K,)
    densities_ : dict
        Density of each label.
    ridge_ : ndarray of shape (K,)
        With "gaussian": what was added to the diagonal of each class's correlation matrix, the
        least that leaves no eigenvalue below 1.5e-8; an IllConditionedWarning tells when.

    Notes
    -----
    With fixed densities and given priors nothing is left to learn, and every method works without
    `fit`; with one feature X may then have shape (n,). `fit` learns the priors if they are None.
    A row that no class can produce is refused: it has no posterior.

    Examples
    --------
    A red box holds 6 oranges and 2 apples, a blue one 1 orange and 3 apples.

    >>> boxes = BayesClassifier(
    ...     {"red": {"orange": 3 / 4, "apple": 1 / 4}, "blue": {"orange": 1 / 4, "apple": 3 / 4}},
    ...     priors={"red": 0.4, "blue": 0.6},
    ... )
    >>> boxes.evidence(["apple"]).round(4)
    array([0.55])
    >>> boxes.predict_proba(["orange"]).round(4)
    array([[0.6667, 0.3333]])
    >>> from scipy.stats import norm
    >>> BayesClassifier([norm(-1, 1), norm(1, 1)], priors=[0.5, 0.5]).error_probability().value
    0.158655...
    """

    _learns = "classes"
    _scored_by = "accuracy"
    _effect = "score"
    _stored = {
        "n_features_in_?": "count =p",
        "feature_names_in_?": "names p",
        "model_?": "BayesModel",
    }

    def __init__(
        self,
        densities: str | Callable[[Array], Any] | Mapping[Any, Any] | Sequence[Any] = "gaussian",
        priors: ArrayLike | Mapping[Any, float] | None = None,
        costs: ArrayLike | None = None,
        reject_cost: float | None = None,
    ) -> None:
        self.densities = densities
        self.priors = priors
        self.costs = costs
        self.reject_cost = reject_cost

    @classmethod
    def from_counts(
        cls, counts: Mapping[Any, Mapping[Any, float]], **parameters: Any
    ) -> BayesClassifier:
        """Tables of symbols from counts: {label: {symbol: how many}}.

        >>> boxes = {"red": {"orange": 6, "apple": 2}, "blue": {"orange": 1, "apple": 3}}
        >>> BayesClassifier.from_counts(boxes, priors=[0.4, 0.6]).predict(["orange", "apple"])
        array(['red', 'blue'], dtype='<U4')
        """
        return cls(probabilities_of_counts(counts), **parameters)

    @unchanged_on_error
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the densities (unless fixed) and the priors (unless given).

        X is (n, p), or with tables a column of symbols; y is (n,).
        """
        REJECT_COST("reject_cost", self.reject_cost)
        if is_fixed(self.densities):
            self.model_ = self._fit_priors(X, y)
        else:
            X, y = self._check_rows(X, y)
            classes, index = np.unique(y, return_inverse=True)
            labels = classes.tolist()
            require_two_classes(labels)
            groups = [X[index == k] for k in range(len(classes))]
            family = learn_densities(self.densities, groups, labels)
            priors = priors_of(self.priors, labels, np.bincount(index) / len(X))
            self.model_ = BayesModel(classes, family, priors)
        decisions.checked_costs(self.costs, len(self.classes_))
        return self

    def _fit_priors(self, X: Any, y: Any) -> BayesModel:
        """The given densities, and the priors from the labels unless they are given too."""
        classes, family = fixed_densities(self.densities)
        if isinstance(family, Table):
            self.n_features_in_ = 1
            n, y = len(family.places(X)), column_or_1d(y, warn=True)
            if len(y) != n:
                raise ValueError(f"X has {n} rows and y has {len(y)} labels; give one a row.")
        else:
            X, y = self._check_rows(as_column(X, family), y)
            for density in family:
                density.log(X[:1])  # raises where it does not take so many features
        labels = classes.tolist()
        unknown = [label for label in np.unique(y).tolist() if label not in labels]
        if unknown:
            raise ValueError(f"y has classes {unknown} without a density; known are {labels}.")
        share = np.array([np.count_nonzero(y == label) for label in labels]) / len(y)
        return BayesModel(classes, family, priors_of(self.priors, labels, share))

    def _check_rows(self, X: Any, y: Any) -> tuple[Array, NDArray[Any]]:
        """Finite rows and their labels, to learn from."""
        X = checked_rows(self, X, accept_sparse=False, dtype=np.float64)
        check_finite(X)
        y = check_labels(y, len(X))
        try:
            check_classification_targets(y)
        except (ValueError, TypeError) as error:
            raise named(error, "y") from None
        return X, y

    def _densities_and_priors(self, X: Any) -> tuple[Array, Array]:
        """ln f_j(x), shape (n, K), and p_j."""
        model = self._model
        if isinstance(model.family, Table):
            return model.family.log(X), model.priors
        if is_fixed(self.densities):
            X = as_column(X, model.family)
        # Never fitted: there are no column names to compare with.
        learner = self if hasattr(self, "model_") else None
        X = checked_rows(learner, X, reset=False, accept_sparse=False, dtype=np.float64)
        check_finite(X)
        return np.column_stack([density.log(X) for density in model.family]), model.priors

    def _from_scores(self, X: Any, function: Callable[[Array], Any]) -> tuple[Any, Any]:
        log_p = decisions.log_posterior(*self._densities_and_priors(X))
        V = log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p
        return function(V), V.dtype

    def evidence(self, X: Any) -> Array:
        """p(x) = sum_j f_j(x) p_j: how probable the sample is, whatever its class."""
        log_density, priors = self._densities_and_priors(X)
        return np.asarray(np.exp(log_density) @ priors)

    @lazy_for_dask
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of samples decided rightly; a rejected sample is not."""
        return accuracy(self.predict(X), y, sample_weight)

    def risk(self, draws: int = 200_000, random_state: int = 0) -> Risk:
        """Average risk of the decisions if the model is true.

        R = sum_j p_j sum_i costs[i, j] P(decide i | j), plus what rejects cost: in closed form for
        two Gaussians of equal covariance, a sum for tables, by quadrature for one feature, else by
        Monte Carlo, with its standard error, from so many draws and this seed.
        """
        costs = decisions.checked_costs(self.costs, len(self.classes_))
        reject = decisions.checked_reject_cost(self.reject_cost)
        row = np.full((1, len(costs)), 0.0 if reject is None else reject)
        return self._average(np.vstack([costs, row]), draws, random_state)

    def error_probability(self, draws: int = 200_000, random_state: int = 0) -> Risk:
        """p(error): probability that the decision is a wrong class, if the model is true.

        The decisions are those of `predict`, costs included; a reject is not an error. Parameters
        and answer as in `risk`.
        """
        K = len(self.classes_)
        return self._average(np.vstack([1.0 - np.eye(K), np.zeros((1, K))]), draws, random_state)

    def _average(self, loss: Array, draws: int, random_state: int) -> Risk:
        COUNT("draws", draws)
        count(0)("random_state", random_state)
        model, reject = self._model, decisions.checked_reject_cost(self.reject_cost)
        densities = () if isinstance(model.family, Table) else model.family
        costs = decisions.checked_costs(self.costs, len(model.classes))
        rule = Rule(densities, model.priors, costs, reject, loss)
        return average_loss(model.family, rule, draws, random_state)

    @property
    def _model(self) -> BayesModel:
        check_is_fitted(
            self, msg="%(name)s is not fitted yet: call fit, or give fixed densities and priors."
        )
        if hasattr(self, "model_"):
            model: BayesModel = self.model_
            return model
        classes, family = fixed_densities(self.densities)
        return BayesModel(classes, family, priors_of(self.priors, classes.tolist()))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_") or (is_fixed(self.densities) and self.priors is not None)

    @property
    def classes_(self) -> NDArray[Any]:  # type: ignore[override]
        return self._model.classes

    @property
    def priors_(self) -> Array:
        return self._model.priors

    @property
    def densities_(self) -> dict[Any, Any]:
        family, labels = self._model.family, self._model.classes.tolist()
        sources = family.tables if isinstance(family, Table) else [f.source for f in family]
        return dict(zip(labels, sources, strict=True))

    @property
    def ridge_(self) -> Array:
        try:
            return np.array([density.ridge for density in self.densities_.values()])
        except AttributeError:
            raise AttributeError("ridge_ exists with densities='gaussian' only.") from None

    def _restored(self, dtype: Any) -> None:
        model = self._model  # of fixed tables: raises where they are wrong
        decisions.checked_priors(model.priors, len(model.classes))
        if not hasattr(self, "model_"):
            return
        if isinstance(model.family, tuple):
            labels = [f.label for f in model.family]
            demand(labels == model.classes.tolist(), "densities are not one a class.")
            demand(not any(f.discrete for f in model.family), "discrete densities.")
            demand(isinstance(self.densities, str), "densities learned and given.")
        else:
            sums = model.family.probabilities.sum(axis=1)
            demand(bool(np.abs(sums - 1.0).max() < 1e-9), "probabilities that do not sum to one.")
            symbols, columns = model.family.symbols, model.family.probabilities.shape[1]
            demand(len(set(symbols)) == len(symbols) == columns, "symbols are not one a column.")


def as_column(X: Any, family: tuple[Density, ...]) -> Any:
    """A vector as one column, where the densities are of one feature."""
    if any(density.dimension not in (None, 1) for density in family) or np.ndim(X) != 1:
        return X
    return np.asarray(X).reshape(-1, 1)
