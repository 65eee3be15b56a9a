"""What least squares on columns and on monomials share: rank, condition and summary."""

from __future__ import annotations

from sklearn.utils.validation import check_is_fitted

from adaline.estimators.closed_forms.closed_form import ClosedFormRegressor
from adaline.parameters import LEVEL, count
from adaline.procedures.standard_errors import inference
from adaline.summaries import Summary


class LeastSquaresRegressor(ClosedFormRegressor):
    """Squared error × closed form × linear output, and its classical statistics."""

    fit_intercept: bool

    @property
    def rank_(self) -> int:
        """Independent columns of X."""
        check_is_fitted(self, "fit_")
        return self.fit_.rank

    @property
    def condition_(self) -> float:
        """Condition number of the scaled columns."""
        check_is_fitted(self, "fit_")
        return self.fit_.condition

    def summary(self, level: float = 0.95, target: int = 0) -> Summary:
        """Coefficients with standard errors, t, p and intervals; R², F, condition, AIC and VIF.

        Sample weights count rows: a row of weight 2 is two observations. The log-likelihood is
        -n/2 (ln(2 pi SSE / n) + 1); AIC and BIC are -2 of it and 2, or ln n, for each coefficient,
        the bias included: statsmodels' definitions. R counts the variance as well, so that its AIC
        is 2 more and its BIC ln n.

        Parameters
        ----------
        level : float
            Confidence level of the intervals.
        target : int
            Which target, where there are several.

        Returns
        -------
        Summary
            Prints as a table; `to_frame()` and `to_html()` too.
        """
        check_is_fitted(self, "fit_")
        self._check_moments()
        self._refuse_written("standard errors are those of the least-squares weights")
        m = self.moments_
        LEVEL("level", level)
        count(0, m.targets - 1)("target", target)
        mean, scatter = m.mean_and_squares(about_zero=not self.fit_intercept)
        chosen = [*range(m.p), m.p + target]
        return inference(
            self.fit_,
            n=m.weight,
            rows=m.rows,
            mean=mean[chosen],
            scatter=scatter[chosen],
            names=self._names(),
            intercept=self.fit_intercept,
            level=float(level),
            target=target,
        )
