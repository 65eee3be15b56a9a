"""The Gaussian classifier: one normal density a class, Bayes' theorem, and decisions by cost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from adaline import decisions
from adaline.errors import warn_caller
from adaline.estimators.base import (
    WRITTEN,
    Classifier,
    as_shape,
    lazy_for_dask,
    read_only,
    round_to,
    unchanged_on_error,
)
from adaline.estimators.costs import PosteriorClassifier
from adaline.estimators.labels import check_labels, check_stream_classes, encode, labels_of_moments
from adaline.estimators.registry import SEEN, demand, same_bits
from adaline.parameters import NONE, number, words
from adaline.procedures.gaussian import fourth_powers, gaussians, over_blocks, shrinkages, troubles
from adaline.results import Array, Certificate
from adaline.sums.class_moments import COVARIANCE, ClassMoments, Codes, Covariance
from adaline.sums.rows import check_finite


class GaussianClassifier(PosteriorClassifier, Classifier):
    """Bayes' theorem with Gaussian classes, p(x | k) = N(m_k, S), by maximum likelihood.

    With a shared covariance the log-odds of two classes are linear, w'x + w0, with the lectures'
    w = S^-1 (m1 - m2) and w0 = -m1'S^-1 m1 / 2 + m2'S^-1 m2 / 2 + ln p1 / p2; the lectures'
    class 1 is `classes_[1]`, class 2 is `classes_[0]`. Means and covariances are those of
    greatest likelihood (sums divided by N, not N - 1), priors are N_k / N.

    Lecture: 5.8, the linear Gaussian classifier; posterior = logistic(w'x + w0).

    Parameters
    ----------
    covariance : {"shared", "full", "diagonal"}, default="shared"
        One covariance for all classes (linear boundaries), one a class (quadratic), or variances
        alone for each class (naive Bayes).
    priors : array of shape (K,), optional
        p_k in the order of `classes_`. Default: the share of each class.
    costs : array of shape (K, K), optional
        **costs[i, j] is the cost of deciding class i when class j is true.** Default: 1 - I.
    shrinkage : None, float in [0, 1] or "auto", default=None
        a in S <- (1 - a) S + a diag(S), whatever the units. "auto" is Ledoit and Wolf's estimate
        on standardised rows, one a class if covariance is "full". `partial_fit`, `forget` and
        `fit_moments` use what it is on average over Gaussian rows (Chen et al. 2010).
    reject_cost : float, optional
        Where every decision is expected to cost more than this, `predict` answers "reject", and
        always gives an array of objects. Default: never.

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (K,)
    means_ : ndarray of shape (K, p)
        NaN for a class of which no row was seen.
    covariance_ : ndarray of shape (p, p), (K, p, p) or (K, p)
        As used, with shrinkage and ridge.
    coef_, intercept_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,)
        Shared covariance only. Two classes: w and w0 above. More: the discriminants
        w_k = S^-1 (m_k - m) and w0_k, with m the mean of all rows.
    shrinkage_, ridge_ : float, or ndarray of shape (K,)
        The a that was used, and what was added to the diagonal of the correlation matrix: zero,
        unless rounding cannot tell it from a singular one; then the least that leaves no
        eigenvalue below 2**-20, and a RankDeficientWarning names the columns.
    moments_ : ClassMoments
    certificate_ : Certificate
        "optimal" where these are the maximum-likelihood densities, with bounds on what rounding
        changed; "unproven" with a ridge or shrinkage.

    Notes
    -----
    Features that are the same in every row tell nothing and are left out (weight zero).

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import GaussianClassifier
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [4.0, 4.0], [6.0, 4.0], [4.0, 6.0]])
    >>> model = GaussianClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.coef_.round(6), model.intercept_.round(6)
    (array([[9., 9.]]), array([-48.]))
    >>> model.predict([[1.0, 2.0], [4.0, 2.0]])
    array(['a', 'b'], dtype='<U1')
    >>> model.certificate_.kind
    'optimal'
    """

    _command = "gaussian"
    _streams = "class_moments"
    _exports = "gaussians"
    _effect = "odds"
    _stored = SEEN | {
        "classes_": "labels",
        "model_": "Gaussians",
        "moments_": "ClassMoments",
        "priors_": "float+ C",
        "means_": "float~ C p",
        "coef_?": "real K p",
        "_dtype?": "dtype",
        "intercept_?": "real~ K",
        "shrinkage_": "number | float+ C",
        "covariance_": "float p p | float C p p | float C p",
        "ridge_": "number | float+ C",
    }
    _derived = ()
    _parameters = {
        "covariance": COVARIANCE,
        "shrinkage": replace(
            NONE | number(0.0, 1.0) | words("auto"), says="give None, a number in [0, 1] or 'auto'"
        ),
        "reject_cost": decisions.REJECT_COST,
    }

    def __init__(
        self,
        covariance: Covariance = "shared",
        priors: ArrayLike | None = None,
        costs: ArrayLike | None = None,
        shrinkage: float | str | None = None,
        reject_cost: float | None = None,
    ) -> None:
        self.covariance = covariance
        self.priors = priors
        self.costs = costs
        self.shrinkage = shrinkage
        self.reject_cost = reject_cost

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, labels y (n,)."""
        self._check_parameters()
        X, codes, classes, omega = self._coded(X, y, sample_weight, None, reset=True)
        m = self._moments(X, codes, len(classes), omega)
        shrinkage: Any = self.shrinkage
        if isinstance(shrinkage, str):
            shrinkage = shrinkages(m, fourth_powers(X, codes, omega, m))
        return self._learn(m, classes, X.dtype, shrinkage)

    @unchanged_on_error
    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn more rows. `classes` names all labels at the first call, if y lacks some."""
        self._check_parameters()
        first = not hasattr(self, "moments_")
        if not first:
            self._refuse_written("partial_fit would lose that: it solves anew from moments_")
        stream = check_stream_classes(classes, None if first else self.classes_)
        X, codes, known, omega = self._coded(X, y, sample_weight, stream, reset=first)
        m = self._moments(X, codes, len(known), omega)
        return self._learn(m if first else self.moments_ + m, known, X.dtype, self.shrinkage)

    @unchanged_on_error
    def forget(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Unlearn rows that were learned, to rounding as if they had never been seen."""
        check_is_fitted(self, "moments_")
        self._refuse_written("forget would lose that: it solves anew from moments_")
        X, codes, known, omega = self._coded(X, y, sample_weight, self.classes_, reset=False)
        m = self.moments_ - self._moments(X, codes, len(known), omega)
        if not m.rows.any():
            raise ValueError("forgetting these rows would leave none; make a new classifier.")
        return self._learn(m, known, X.dtype, self.shrinkage)

    @unchanged_on_error
    def fit_moments(self, m: ClassMoments, classes: ArrayLike | None = None) -> Self:
        """Learn from moments alone; `classes` are the labels of the codes 0..K-1."""
        self._check_parameters()
        if not isinstance(m, ClassMoments):
            raise TypeError(
                f"m is {type(m).__name__}; expected ClassMoments, see ClassMoments.of(X, codes, K)."
            )
        labels = labels_of_moments(classes, m.K)
        if m.covariance != self.covariance:
            raise ValueError(
                f"the moments are for {m.covariance!r} covariance; this classifier has "
                f"covariance={self.covariance!r}."
            )
        if not m.rows.any():
            raise ValueError("the moments are of no rows; there is nothing to learn from.")
        self.n_features_in_ = m.p
        return self._learn(m, labels, np.dtype(np.float64), self.shrinkage)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.covariance == "diagonal" and self.shrinkage is not None:
            raise ValueError(
                f"shrinkage is {self.shrinkage!r}, which pulls a covariance towards its diagonal; "
                "covariance='diagonal' is there already. Leave shrinkage=None."
            )

    def _coded(
        self, X: Any, y: Any, sample_weight: Any, stream: Any, *, reset: bool
    ) -> tuple[Any, Codes, NDArray[Any], Array | None]:
        """Rows, the code of each, the labels of the codes, and weights; all checked."""
        X = self._rows(X, reset=reset, finite=False)
        omega = self._weights(sample_weight, X)
        classes, codes = encode(check_labels(y, X.shape[0]), stream, omega)
        return X, codes, classes, omega

    def _moments(self, X: Any, codes: Codes, K: int, omega: Array | None) -> ClassMoments:
        try:
            return ClassMoments.of(X, codes, K, omega, self.covariance)
        except ValueError:
            check_finite(X, self._names)
            raise

    def _learn(self, m: ClassMoments, classes: NDArray[Any], dtype: Any, shrinkage: Any) -> Self:
        """Set what follows from moments, in scikit-learn's shapes and the dtype of the samples."""
        share = m.weight / m.weight.sum() if self.priors is None else self.priors
        priors = decisions.checked_priors(share, m.K)
        decisions.checked_costs(self.costs, m.K)
        unseen = classes[(m.weight == 0) & (priors > 0)]
        if len(unseen):
            raise ValueError(f"classes {unseen.tolist()} have a prior but no rows; give rows.")
        g, e, shared = gaussians(m, priors, shrinkage), m.exponent, m.covariance == "shared"
        self.model_, self.moments_, self.classes_, self.priors_ = g, m, classes, priors
        self.means_ = np.where(m.weight[:, None] > 0, m.means, np.nan)
        within = np.stack([metric.covariance for metric in g.metrics])
        with np.errstate(over="ignore"):
            C = np.ldexp(within, 2 * e if m.covariance == "diagonal" else e[:, None] + e)
        lost = (np.abs(C) < np.finfo(np.float64).tiny) & (within != 0.0) | ~np.isfinite(C)
        a, ridge = np.array([(metric.shrinkage, metric.ridge) for metric in g.metrics]).T
        for linear in ("coef_", "intercept_", "_dtype"):  # of an earlier fit
            self.__dict__.pop(linear, None)
        if shared:
            C, a, ridge, self._dtype = C[0], a[0], ridge[0], np.dtype(dtype)
            self.coef_, self.intercept_ = (read_only(part, dtype) for part in self._linear())
        self.covariance_, self.shrinkage_, self.ridge_ = C, a, ridge
        if lost.any() or not np.isfinite(vars(self).get("coef_", 0.0)).all():
            # No claim about numbers that float64 cannot hold in the units of X.
            what = (
                "coef_ or covariance_ leave the range of float64 in the units of X, though "
                "`predict` does without them; rescale the columns."
            )
            none = Certificate("unproven", what, g.certificate.evidence)
            self.model_ = replace(g, certificate=none)
        for trouble in troubles(g, m, classes.tolist(), self._names()):
            warn_caller(trouble)
        return self

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        self._learn(self.moments_, self.classes_, dtype, self.shrinkage)

    def _restored(self, dtype: Any) -> None:
        g, m = self.model_, self.moments_
        decisions.checked_priors(g.priors, m.K)
        known = same_bits(g.priors, self.priors_) and same_bits(g.exponent, m.exponent)
        demand(known and m.covariance == self.covariance, "densities are not of these moments.")
        shared = m.covariance == "shared"
        demand(len(g.metrics) == (1 if shared else m.K), "metrics are not one a density.")
        axes = 1 if m.covariance == "diagonal" else 2
        demand(all(metric.A.ndim == axes for metric in g.metrics), "metrics of another covariance.")
        demand(len(g.W) == (m.K if shared else 0), "weights of no linear classifier.")
        linear = [hasattr(self, name) for name in ("coef_", "intercept_", "_dtype")]
        demand(linear == [shared] * 3, "weights of no linear classifier, or none of one.")

    def _exported_weights(self) -> tuple[Any, Any] | None:
        return super()._exported_weights() if hasattr(self, "coef_") else None

    def _linear(self) -> tuple[Array, Array]:
        """W and b of the linear discriminants that were learned, in the units of X."""
        g = self.model_
        W, b = (g.W[1:] - g.W[:1], g.b[1:] - g.b[:1]) if len(g.W) == 2 else (g.W, g.b)
        with np.errstate(over="ignore"):  # columns of 1e-300
            return np.ldexp(W, -g.exponent), b - W @ g.centre

    def _current_weights(self) -> tuple[Any, Any]:
        shapes = (part.shape for part in self._linear())
        values = ("coef_", self.coef_), ("intercept_", self.intercept_)
        W, b = (as_shape(*value, shape) for value, shape in zip(values, shapes, strict=True))
        return W, b

    def _is_written(self) -> bool:
        if "_dtype" not in vars(self):  # quadratic boundaries have no coef_
            return False
        return not all(
            np.array_equal(new, round_to(learned, self._dtype), equal_nan=True)
            for new, learned in zip(self._current_weights(), self._linear(), strict=True)
        )

    def _from_scores(self, X: Any, function: Callable[[Array], Any]) -> tuple[Any, Any]:
        """Computed by blocks; V follows from the densities, unless coef_ was assigned."""
        check_is_fitted(self, "model_")
        X = self._rows(X, reset=False, finite=False)
        check = partial(check_finite, X, self._names)
        if self._is_written():
            check()
            W, b = (part.astype(np.float64) for part in self._current_weights())
            with np.errstate(over="ignore", invalid="ignore"):
                V = np.asarray(X @ W.T + b, dtype=np.float64)
            return function(V[:, 0] if V.shape[1] == 1 else V), X.dtype
        values = over_blocks(self.model_, X, lambda s: function(log_odds(s)), check)
        return values, X.dtype

    @lazy_for_dask
    def mahalanobis(self, X: Any) -> Array:
        """Squared Mahalanobis distances (x - m_k)' S^-1 (x - m_k), (n, K), as in the lecture."""
        check_is_fitted(self, "model_")
        X = self._rows(X, reset=False, finite=False)
        check = partial(check_finite, X, self._names)
        D = over_blocks(self.model_, X, np.copy, check, distances=True)
        D[:, self.moments_.weight == 0] = np.nan
        return D.astype(X.dtype, copy=False)

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the last fit."""
        check_is_fitted(self, "model_")
        return WRITTEN if self._is_written() else self.model_.certificate


def log_odds(scores: Array) -> Array:
    """ln p_1 f_1 - ln p_0 f_0 of two classes, else the scores; every row needs one above -inf."""
    if not np.isfinite(scores).all() and not (scores.max(axis=1) > -np.inf).all():
        raise ValueError(
            "a row is so far from every class that it has no posterior; all its densities are "
            "zero, and its mahalanobis(X) distances infinite. Leave it out."
        )
    with np.errstate(over="ignore"):
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)
