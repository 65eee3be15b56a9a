"""Regression of positive numbers: the gamma loss × Newton × exponential output."""

from __future__ import annotations

from adaline.estimators.newton.log_link import LogLinkRegression
from adaline.sums.losses import Gamma


class GammaRegression(LogLinkRegression):
    """Gamma regression by Newton's procedure: positive y of mean mu = exp(w'x + b + offset).

    For amounts whose scatter grows with their mean: costs, durations, sizes of claims. Minimises
    sum_i (y_i / mu_i + log mu_i) + alpha/2 |w|^2; the intercept is not penalised. scikit-learn's
    GammaRegressor divides the sum by the number of rows: its alpha is ours by n.

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        The penalty; 0 is maximum likelihood.
    fit_intercept : bool, default=True
    max_iter : int, default=100
        Steps, at most.
    tol : float, default=1e-8
        As in `LogisticRegression`: how far weights may be from the minimum, in standard errors.

    Attributes
    ----------
    coef_, intercept_ : ndarray of shape (p,), and float
    n_iter_ : int
    certificate_ : Certificate
        "optimal" with a proven bound on the distance to the minimum, else "unproven".
    fit_ : Fit

    Notes
    -----
    The variance is phi mu^2. `summary` estimates the dispersion phi from the residuals (Pearson),
    and standard errors are multiplied by its root; the weights do not depend on it.

    Examples
    --------
    Repairs cost twice as much where x = 1:

    >>> from adaline import GammaRegression
    >>> X, y = [[0.0], [0.0], [1.0], [1.0]], [80.0, 120.0, 150.0, 250.0]
    >>> model = GammaRegression(alpha=0).fit(X, y)
    >>> model.coef_.round(6), model.predict([[1.0]]).round(6)
    (array([0.693147]), array([200.]))
    >>> model.certificate_.kind
    'optimal'
    """

    _learns = "positive"
    _scatter = "relative"
    _effect = "mean"
    _command = "gamma"
    _title = "Gamma regression"
    _loss = Gamma()
