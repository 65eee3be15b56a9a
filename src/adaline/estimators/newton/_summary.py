"""What a logistic fit says of its weights: errors, tests and intervals, Wald's or profiles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from adaline.estimators._delivered import WRITTEN
from adaline.estimators._labels import encode, labels_of_rows
from adaline.estimators.newton._online import OnlineLogistic
from adaline.losses.logistic import logistic_loss
from adaline.objective import MANY, Objective
from adaline.parameters import LEVEL, words
from adaline.procedures.inference.profile import profile_intervals
from adaline.procedures.inference.wald import Information, information, wald_summary
from adaline.procedures.newton.newton_fit import NewtonFit
from adaline.results import Array
from adaline.summaries import Summary
from adaline.tiles import as_rows


class SummarisedLogistic(OnlineLogistic):
    """`summary` of `LogisticRegression`."""

    alpha: Any
    alpha_: float

    def summary(
        self,
        level: float = 0.95,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        intervals: str = "wald",
    ) -> Summary:
        """Standard errors, z, p, intervals, deviance, AIC and BIC.

        Errors come from the inverse curvature of the penalised loss: with alpha = 0 they are the
        usual ones; with alpha > 0 those of the posterior under a Gaussian prior of variance
        1/alpha. After a fit of many rows times features squared (n p^2 > 10^8), which does not
        spend a pass on them, give the training rows again.

        Parameters
        ----------
        level : float, default=0.95
        X, y, sample_weight : optional
            The training rows.
        intervals : {"wald", "profile"}, default="wald"
            Wald's w +- z error, or all values that the (penalised) likelihood ratio test does not
            reject: better where samples are few or events rare, need not be symmetric, and may be
            infinite. They need the training rows, and two classes.
        """
        check_is_fitted(self)
        if self.certificate_ == WRITTEN:
            raise ValueError(
                "coef_ or intercept_ was changed after the fit, and standard errors are those of "
                "the likeliest weights. Fit again."
            )
        level = float(LEVEL("level", level))
        words("wald", "profile")("intervals", intervals)
        known, bounds = self._information, None
        if X is not None:
            X = self._rows(X, reset=False)
            _, codes = encode(labels_of_rows(y, X), self.classes_)
            X, _, omega = as_rows(X, None, self._weights(sample_weight, X))
            loss = self._loss(X, codes, omega, self.alpha_)
            known = self._inform(loss)
            if intervals == "profile":
                bounds = self._profile(loss, level)
        elif intervals == "profile":
            raise ValueError(
                "profile intervals are found by fitting the training rows again; give them: "
                "summary(intervals='profile', X=X, y=y)."
            )
        if known is None:
            raise ValueError(
                "this fit was large and kept no standard errors; give summary(X=X, y=y) the "
                "training rows."
            )
        notes = [str(self.certificate_)]
        if self.alpha_ > 0:
            notes.append(
                f"Errors are those of the penalised fit, alpha = {self.alpha_:.6g}: the inverse "
                "curvature with the penalty. The penalty pulls coefficients towards zero."
            )
        if bounds is not None:
            kind = "penalised likelihood" if self._penalised else "likelihood"
            notes.append(f"Intervals are those of the profile {kind}; z and p are Wald's.")
        return wald_summary(
            "Logistic regression",
            self.fit_.W,
            self.fit_.b,
            known,
            known.facts("McFadden R²"),
            self._names(),
            [str(label) for label in self.classes_.tolist()],
            intercept=self.fit_intercept,
            level=level,
            notes=tuple(notes),
            bounds=bounds,
        )

    def _loss(self, X: Any, codes: Any, omega: Array, alpha: float) -> Objective:
        return logistic_loss(X, codes, len(self.classes_), omega, alpha, self.fit_intercept)

    @property
    def _penalised(self) -> bool:
        return self.alpha_ > 0 or self.alpha == "firth"

    def _theta(self, loss: Objective) -> Array:
        """The fitted weights in the units of the loss."""
        W, b = self.fit_.W, self.fit_.b
        return np.column_stack([W / loss.scale, b + W @ (loss.shift / loss.scale)])

    def _inform(self, loss: Objective) -> Information:
        return information(loss, self._theta(loss))

    def _profile(self, loss: Objective, level: float) -> tuple[Array, Array]:
        if not isinstance(self.fit_, NewtonFit):
            raise ValueError(
                f"these weights were not found as a maximum of the likelihood by Newton's steps "
                f"({self.fit_.stopped}), so they have no profile intervals; use fit, on dense rows "
                f"or at most {MANY} features."
            )
        return profile_intervals(loss, self._theta(loss)[0], level, firth=self.alpha == "firth")
