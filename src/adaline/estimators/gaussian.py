"""The Gaussian classifier: one normal density a class, Bayes' theorem, and decisions by cost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from adaline import decisions
from adaline.errors import warn_caller
from adaline.estimators.base import lazy_for_dask, unchanged_on_error
from adaline.estimators.costs import PosteriorClassifier
from adaline.estimators.least_squares import MomentClassifier
from adaline.estimators.registry import WEIGHTS, demand
from adaline.parameters import NONE, ParameterError, number, words
from adaline.procedures.gaussian import (
    Gaussians,
    fourth_powers,
    gaussians,
    over_blocks,
    shrinkages,
    troubles,
)
from adaline.results import Array, Certificate, Fit
from adaline.sums.centred import Covariance
from adaline.sums.class_moments import COVARIANCE, ClassMoments


class GaussianClassifier(PosteriorClassifier, MomentClassifier):
    """Bayes' theorem with Gaussian classes, p(x | k) = N(m_k, S), by maximum likelihood.

    With a shared covariance the log-odds of two classes are linear, w'x + w0, with the lectures' w
    = S^-1 (m1 - m2) and w0 = -m1'S^-1 m1 / 2 + m2'S^-1 m2 / 2 + ln p1 / p2; the lectures' class 1
    is `classes_[1]`, class 2 is `classes_[0]`. Sums are divided by N, not N - 1.

    Lecture: 5.8, the linear Gaussian classifier; posterior = logistic(w'x + w0).

    Parameters
    ----------
    covariance : {"shared", "full", "diagonal"}, default="shared"
        One covariance for all classes (linear boundaries), one a class (quadratic), or variances
        alone for each class (naive Bayes).
    priors : array of shape (K,), optional
        p_k in the order of `classes_`. Default: the share of each class.
    costs, reject_cost : array of shape (K, K), and float, optional
        As in `BayesClassifier`: **costs[i, j] is the cost of deciding class i when class j is
        true.**
    shrinkage : None, float in [0, 1] or "auto", default=None
        a in S <- (1 - a) S + a diag(S), whatever the units. "auto" is Ledoit and Wolf's estimate on
        standardised rows; in streams what it is on average over Gaussian rows (Chen et al. 2010).

    Attributes
    ----------
    classes_, priors_ : ndarray of shape (K,)
    means_, covariance_ : ndarray of shape (K, p), and (p, p), (K, p, p) or (K, p)
        NaN for a class of which no row was seen; as used, with shrinkage and ridge.
    coef_, intercept_, fit_ : ndarray of shape (1, p) and (1,), or (K, p) and (K,), and Fit
        Shared covariance only. Two classes: w and w0 above. More: the discriminants
        w_k = S^-1 (m_k - m) and w0_k, with m the mean of all rows.
    shrinkage_, ridge_ : float, or ndarray of shape (K,)
        The a that was used, and what was added to the diagonal of a singular correlation matrix:
        the least that leaves no eigenvalue below 2**-20.
    moments_ : ClassMoments
    certificate_ : Certificate
        "optimal" where these are the maximum-likelihood densities, with bounds on what rounding
        changed; "unproven" with a ridge or shrinkage.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import GaussianClassifier
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [4.0, 4.0], [6.0, 4.0], [4.0, 6.0]])
    >>> model = GaussianClassifier().fit(X, ["a", "a", "a", "b", "b", "b"])
    >>> model.coef_.round(6), model.intercept_.round(6), model.certificate_.kind
    (array([[9., 9.]]), array([-48.]), 'optimal')
    """

    _command = "gaussian"
    _streams = "class_moments"
    _exports = "gaussians"
    _effect = "odds"
    _stored = WEIGHTS | {"classes_": "labels", "model_": "Gaussians", "moments_": "ClassMoments"}
    _stored["_assigned?"] = "Fit"
    _derived = ("fit_", "priors_", "means_", "covariance_", "shrinkage_", "ridge_")
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
        self.covariance, self.shrinkage = covariance, shrinkage
        self.priors, self.costs, self.reject_cost = priors, costs, reject_cost

    @unchanged_on_error
    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, labels y (n,)."""
        self._check_parameters()
        X, self.classes_, codes, omega = self._labelled_rows(X, y, sample_weight, reset=True)
        m = ClassMoments.of(X, codes, len(self.classes_), omega, self.covariance)
        if self.shrinkage != "auto":
            return self._learn(m, X.dtype)
        return self._learn(m, X.dtype, shrinkages(m, fourth_powers(X, codes, omega, m)))

    @unchanged_on_error
    def fit_moments(self, m: ClassMoments, classes: ArrayLike | None = None) -> Self:
        """Learn from moments alone; `classes` are the labels of the codes 0..K-1."""
        self._check_parameters()
        if not isinstance(m, ClassMoments) or m.covariance != self.covariance:
            kind = f" for covariance={m.covariance!r}" if isinstance(m, ClassMoments) else ""
            expected = f"ClassMoments.of(X, codes, K, covariance={self.covariance!r})"
            raise ParameterError(f"m is {type(m).__name__}{kind}; expected {expected}.")
        if not m.rows.any():
            raise ValueError("the moments are of no rows; there is nothing to learn from.")
        return self._take_moments(m, m.K, classes)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.covariance == "diagonal" and self.shrinkage is not None:
            raise ValueError(f"shrinkage is {self.shrinkage!r}; covariance='diagonal' needs None.")

    def _sums(self, X: Any, y: Any, omega: Any, classes: Any, *, reset: bool) -> tuple[Any, Any]:
        X, self.classes_, codes, weights = self._labelled_rows(X, y, omega, classes, reset=reset)
        return ClassMoments.of(X, codes, len(self.classes_), weights, self.covariance), X.dtype

    def _learn(self, m: ClassMoments, dtype: Any, shrinkage: Any = None) -> Self:
        share = m.weight / m.weight.sum() if self.priors is None else self.priors
        priors = decisions.checked_priors(share, m.K)
        decisions.checked_costs(self.costs, m.K)
        unseen = self.classes_[(m.weight == 0) & (priors > 0)]
        if len(unseen):
            raise ValueError(f"classes {unseen.tolist()} have a prior but no rows; give rows.")
        g = gaussians(m, priors, self.shrinkage if shrinkage is None else shrinkage)
        self._describe(g, m, dtype)
        for trouble in troubles(g, m, self.classes_.tolist(), self._names()):
            warn_caller(trouble)
        return self

    def _describe(self, g: Gaussians, m: ClassMoments, dtype: Any) -> None:
        self.model_, self.moments_, self.priors_ = g, m, g.priors
        self.means_ = np.where(m.weight[:, None] > 0, m.means, np.nan)
        e, self._dtype = m.exponent, np.dtype(dtype)
        within = np.stack([metric.covariance for metric in g.metrics])
        with np.errstate(over="ignore"):
            C = np.ldexp(within, 2 * e if m.covariance == "diagonal" else e[:, None] + e)
        lost = (np.abs(C) < np.finfo(np.float64).tiny) & (within != 0.0) | ~np.isfinite(C)
        a, ridge = np.array([(metric.shrinkage, metric.ridge) for metric in g.metrics]).T
        for earlier in ("fit_", "_assigned"):
            self.__dict__.pop(earlier, None)
        if m.covariance == "shared":
            C, a, ridge = C[0], a[0], ridge[0]
            W, b = (g.W[1:] - g.W[:1], g.b[1:] - g.b[:1]) if len(g.W) == 2 else (g.W, g.b)
            with np.errstate(over="ignore"):  # columns of 1e-300
                W, b = np.ldexp(W, -e), b - W @ g.centre
            self._accept(Fit(W, b, "solved in closed form.", g.certificate), dtype)
        self.covariance_, self.shrinkage_, self.ridge_ = C, a, ridge
        if lost.any() or not np.isfinite(getattr(self, "coef_", 0.0)).all():
            # No claim about numbers that float64 cannot hold; `predict` does without them.
            what = "coef_ or covariance_ leave the range of float64; rescale the columns."
            none = Certificate("unproven", what, g.certificate.evidence)
            self.model_ = replace(g, certificate=none)

    @property
    def certificate_(self) -> Certificate:
        """Evidence for the densities, which any covariance has."""
        self._check_fitted()
        return self.fit_.certificate if self._is_written() else self.model_.certificate

    def _assign(self, name: str, part: str, value: Any) -> None:
        super()._assign(name, part, value)
        if self._is_written():  # else weights follow from the densities
            self._assigned = self.fit_

    def _take_dtype(self, dtype: Any, column: bool) -> None:
        self._describe(self.model_, self.moments_, dtype)

    def _restored(self) -> None:
        g, m, assigned = self.model_, self.moments_, vars(self).get("_assigned")
        decisions.checked_priors(g.priors, m.K)
        shared, axes = m.covariance == "shared", 1 if m.covariance == "diagonal" else 2
        known = np.array_equal(g.exponent, m.exponent) and m.covariance == self.covariance
        demand(known and len(self.classes_) == m.K, "densities are not of these moments.")
        demand(len(g.metrics) == (1 if shared else m.K), "metrics are not one a density.")
        demand(all(metric.A.ndim == axes for metric in g.metrics), "metrics of another covariance.")
        demand(len(g.W) == (m.K if shared else 0), "weights of no linear classifier.")
        self._describe(g, m, self._dtype)
        if assigned is not None:
            self.fit_ = self._assigned = assigned
            demand(shared and self._is_written(), "weights that do not follow from densities.")

    def _exported_weights(self) -> Any:
        if not hasattr(self, "fit_"):
            return None
        # In float64, whatever type the rows had: unless written, predictions do not use coef_.
        return super()._exported_weights() if self._is_written() else (self.fit_.W, self.fit_.b)

    def _check_fitted(self) -> None:
        check_is_fitted(self, "model_")  # fit_ is there for a shared covariance only

    def _scores(self, X: Any) -> tuple[Any, Any]:
        """V follows from the densities, unless coef_ was assigned."""
        self._check_fitted()
        if self._is_written():
            return super()._scores(X)
        X = self._rows(X, reset=False)
        return over_blocks(self.model_, X, log_odds), X.dtype

    @lazy_for_dask
    def mahalanobis(self, X: Any) -> Array:
        """Squared Mahalanobis distances (x - m_k)' S^-1 (x - m_k), (n, K), as in the lecture."""
        self._check_fitted()
        X = self._rows(X, reset=False)
        D = over_blocks(self.model_, X, np.copy, distances=True)
        D[:, self.moments_.weight == 0] = np.nan
        return D.astype(X.dtype, copy=False)


def log_odds(scores: Array) -> Array:
    """ln p_1 f_1 - ln p_0 f_0 of two classes, else the scores; every row needs one above -inf."""
    if not np.isfinite(scores).all() and not (scores.max(axis=1) > -np.inf).all():
        what = "a row is so far from every class that it has no posterior"
        raise ValueError(f"{what}; its mahalanobis(X) distances are infinite. Leave it out.")
    with np.errstate(over="ignore"):
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)
