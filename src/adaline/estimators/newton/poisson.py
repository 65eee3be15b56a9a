"""Regression of counts: the Poisson loss × Newton × exponential output."""

from __future__ import annotations

from adaline.estimators.newton.log_link import LogLinkRegression
from adaline.sums.losses import Poisson


class PoissonRegression(LogLinkRegression):
    """Poisson regression by Newton's procedure: counts y of mean exp(w'x + b + offset).

    Minimises sum_i (mu_i - y_i log mu_i) + alpha/2 |w|^2; the intercept is not penalised.
    scikit-learn's PoissonRegressor divides the sum by the number of rows: its alpha is ours by n.

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

    Examples
    --------
    Failures in years of service, twice as many where x = 1:

    >>> from adaline import PoissonRegression
    >>> X, y, years = [[0.0], [0.0], [1.0], [1.0]], [3, 1, 4, 4], [2.0, 2.0, 2.0, 2.0]
    >>> model = PoissonRegression(alpha=0).fit(X, y, exposure=years)
    >>> model.coef_.round(6), model.predict([[1.0]], exposure=[10.0]).round(6)
    (array([0.693147]), array([20.]))
    >>> model.certificate_.kind
    'optimal'
    """

    _learns = "counts"
    _scatter = "counts"
    _effect = "rate"
    _command = "poisson"
    _title = "Poisson regression"
    _loss = Poisson()
