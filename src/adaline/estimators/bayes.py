"""The Bayes classifier: known or learned class densities, priors and costs, least risk."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from adaline import decisions
from adaline.estimators.base import (
    Classifier,
    check_labels,
    checked_rows,
    encode,
    unchanged_on_error,
)
from adaline.estimators.bayes_risk import Risk, average_loss
from adaline.estimators.costs import PosteriorClassifier
from adaline.estimators.densities import Table, fixed_densities, learn_densities, log_density
from adaline.estimators.registry import Declared, demand
from adaline.parameters import COUNT, count
from adaline.results import Array, Result
from adaline.sums.rows import check_finite

__all__ = ["BayesClassifier", "Risk"]


@dataclass(frozen=True)
class BayesModel(Result):
    """All that a decision needs: labels, their densities and their priors."""

    classes: NDArray[Any]
    family: Any  # a Table, or a tuple of densities
    priors: Array


class BayesClassifier(PosteriorClassifier, Declared, ClassifierMixin, BaseEstimator):
    """Decide the class of least expected cost: posterior p(j | x) from densities and priors.

    p(j | x) = f_j(x) p_j / p(x), and the decision is argmin_i sum_j costs[i, j] p(j | x). For two
    classes this is the lecture's rule, likelihood ratio against the threshold xi.

    Lecture: 3.10, Bayes classifier; Bayes' theorem, decision regions and p(error).

    Parameters
    ----------
    densities : "gaussian", "kde", callable, mapping or sequence
        "gaussian": mean and covariance of each class by maximum likelihood; "kde": kernel density
        estimates; a callable gets the rows of a class and returns an object with `logpdf`. A
        mapping {label: density}, or a sequence for the labels 0, 1, ..., fixes them: objects with
        `logpdf` or `logpmf`, as of scipy.stats, or tables {symbol: probability}.
    priors : array of shape (K,) or mapping {label: probability}, optional
        p_j, in the order of `classes_`. Default: the share of each class in y.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject", and
        always gives an array of objects. Default: never.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (K,)
        Sorted labels (with fixed densities in the order given), and their priors.
    densities_ : dict
        Density of each label.
    ridge_ : ndarray of shape (K,)
        With "gaussian": what was added to the diagonal of each class's correlation matrix, the
        least that leaves no eigenvalue below 1.5e-8, with an IllConditionedWarning.

    Notes
    -----
    With fixed densities and given priors every method works without `fit`; with one feature X may
    then have shape (n,). A row that no class can produce is refused: it has no posterior.

    Examples
    --------
    A red box holds 6 oranges and 2 apples, a blue one 1 orange and 3 apples.

    >>> boxes = BayesClassifier(
    ...     {"red": {"orange": 3 / 4, "apple": 1 / 4}, "blue": {"orange": 1 / 4, "apple": 3 / 4}},
    ...     priors={"red": 0.4, "blue": 0.6},
    ... )
    >>> boxes.evidence(["apple"]).round(4), boxes.predict_proba(["orange"]).round(4)
    (array([0.55]), array([[0.6667, 0.3333]]))
    >>> from scipy.stats import norm
    >>> BayesClassifier([norm(-1, 1), norm(1, 1)], priors=[0.5, 0.5]).error_probability().value
    0.158655...
    """

    _learns = "classes"
    _scored_by = "accuracy"
    _effect = "score"
    _stored = {
        "n_features_in_?": "int =p",
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
        tables = {}
        for label, table in counts.items():
            total = sum(table.values())
            if not total > 0:
                raise ValueError(f"class {label!r} has no counts above zero; leave it out.")
            tables[label] = {symbol: many / total for symbol, many in table.items()}
        return cls(tables, **parameters)

    @unchanged_on_error
    def fit(self, X: Any, y: Any) -> Self:
        """Learn the densities (unless fixed) and the priors (unless given).

        X is (n, p), or with tables a column of symbols; y is (n,).
        """
        decisions.checked_reject_cost(self.reject_cost)
        if self._learns_densities:
            X = self._matrix(X, self, reset=True)
            y = check_labels(y, len(X))
            classes, codes = encode(y, None)
            groups = [X[codes == k] for k in range(len(classes))]
            family: Any = learn_densities(self.densities, groups, classes.tolist())
        else:
            classes, family = fixed_densities(self.densities)
            if isinstance(family, Table):
                self.n_features_in_, n = 1, len(family.log(X))
            else:
                X = self._matrix(X, self, reset=True)
                n = len(X)
                for source in family:
                    log_density(source, X[:1])  # raises where it does not take so many features
            y = check_labels(y, n)
        labels = classes.tolist()
        unknown = [label for label in np.unique(y).tolist() if label not in labels]
        if unknown:
            raise ValueError(f"y has classes {unknown} without a density; known are {labels}.")
        shares = [np.mean(y == label) for label in labels]
        priors = priors_of(shares if self.priors is None else self.priors, labels)
        decisions.checked_costs(self.costs, len(classes))
        self.model_ = BayesModel(classes, family, priors)
        return self

    @property
    def _learns_densities(self) -> bool:
        return isinstance(self.densities, str) or callable(self.densities)

    def _matrix(self, X: Any, learner: Any, *, reset: bool) -> Array:
        if not self._learns_densities and np.ndim(X) == 1:
            X = np.asarray(X).reshape(-1, 1)
        X = checked_rows(learner, X, reset=reset, accept_sparse=False, dtype=np.float64)
        check_finite(X)
        return np.asarray(X)

    def _densities_and_priors(self, X: Any) -> tuple[Array, Array]:
        model = self._model
        if isinstance(model.family, Table):
            return model.family.log(X), model.priors
        fitted = hasattr(self, "model_")  # else there are no columns to compare with
        X = self._matrix(X, self if fitted else BaseEstimator(), reset=not fitted)
        return np.column_stack([log_density(source, X) for source in model.family]), model.priors

    def _scores(self, X: Any) -> tuple[Any, Any]:
        log_p = decisions.log_posterior(*self._densities_and_priors(X))
        return log_p[:, 1] - log_p[:, 0] if log_p.shape[1] == 2 else log_p, log_p.dtype

    def evidence(self, X: Any) -> Array:
        """p(x) = sum_j f_j(x) p_j: how probable the sample is, whatever its class."""
        log_density, priors = self._densities_and_priors(X)
        return np.asarray(np.exp(log_density) @ priors)

    score = Classifier.score

    def risk(self, draws: int = 200_000, random_state: int = 0) -> Risk:
        """Average risk R = sum_j p_j sum_i costs[i, j] P(decide i | j) if the model is true.

        What rejects cost is added. In closed form for two Gaussians of equal covariance, a sum for
        tables, by quadrature for one feature, else by Monte Carlo with so many draws and this seed.
        """
        costs = decisions.checked_costs(self.costs, len(self.classes_))
        return self._average(costs, self.reject_cost or 0.0, draws, random_state)

    def error_probability(self, draws: int = 200_000, random_state: int = 0) -> Risk:
        """p(error): probability that the decision is a wrong class, if the model is true.

        The decisions are those of `predict`, costs included; a reject is not an error. Parameters
        and answer as in `risk`.
        """
        return self._average(1.0 - np.eye(len(self.classes_)), 0.0, draws, random_state)

    def _average(self, loss: Array, reject_loss: float, draws: int, random_state: int) -> Risk:
        COUNT("draws", draws)
        count(0)("random_state", random_state)
        model, reject = self._model, decisions.checked_reject_cost(self.reject_cost)
        costs = decisions.checked_costs(self.costs, len(model.classes))
        loss = np.vstack([loss, np.full((1, len(costs)), reject_loss)])
        how = draws, random_state
        return average_loss(model.family, model.priors, costs, reject, loss, how)

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
        given = not self._learns_densities and self.priors is not None
        return hasattr(self, "model_") or given

    classes_: Any = property(lambda self: self._model.classes)
    priors_ = property(lambda self: self._model.priors)

    @property
    def densities_(self) -> dict[Any, Any]:
        family, labels = self._model.family, self._model.classes.tolist()
        sources = family.tables if isinstance(family, Table) else family
        return dict(zip(labels, sources, strict=True))

    @property
    def ridge_(self) -> Array:
        try:
            return np.array([density.ridge for density in self.densities_.values()])
        except AttributeError:
            raise AttributeError("ridge_ exists with densities='gaussian' only.") from None

    def _restored(self) -> None:
        model = self._model  # of fixed tables: raises where they are wrong
        decisions.checked_priors(model.priors, len(model.classes))
        if not hasattr(self, "model_"):
            return
        if isinstance(model.family, tuple):
            demand(len(model.family) == len(model.classes), "densities are not one a class.")
            demand(isinstance(self.densities, str), "densities learned and given.")
        else:
            sums = model.family.probabilities.sum(axis=1)
            demand(bool(np.abs(sums - 1.0).max() < 1e-9), "probabilities that do not sum to one.")
            symbols, columns = model.family.symbols, model.family.probabilities.shape[1]
            demand(len(set(symbols)) == len(symbols) == columns, "symbols are not one a column.")


def priors_of(priors: Any, labels: Sequence[Any]) -> Array:
    """p_j in the order of the labels, given by position or by label."""
    if isinstance(priors, Mapping):
        if set(priors) != set(labels):
            raise ValueError(f"priors are for {list(priors)}; the classes are {list(labels)}.")
        priors = [priors[label] for label in labels]
    return decisions.checked_priors(priors, len(labels))
