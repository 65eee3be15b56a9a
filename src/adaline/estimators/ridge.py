"""Ridge regression: squared error with a penalty × closed form × linear output."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri, stdtrit
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from adaline.estimators.base import lazy_for_dask, real_targets, unchanged_on_error
from adaline.estimators.least_squares import ClosedFormRegressor
from adaline.parameters import FLAG, LEVEL, ParameterError, count, numbers, shown
from adaline.procedures import krylov, penalties
from adaline.procedures.inference import rounding_of
from adaline.procedures.krylov import CentredRows
from adaline.procedures.ridge import (
    RULES,
    Spectrum,
    ridge_by_target,
    spectrum_of_moments,
    spectrum_of_rows,
    wide_ridge_by_target,
)
from adaline.results import Array, ClosedFit, Evidence, Posterior
from adaline.summaries import RidgePath, Summary
from adaline.sums.moments import Moments
from adaline.sums.rows import Rows


def require_streaming_rule(model: Ridge) -> bool:
    """Raise AttributeError for alpha="loo", which needs all rows at once."""
    if isinstance(model.alpha, str) and model.alpha == "loo":
        raise AttributeError(
            'alpha="loo" leaves out rows and needs them all; streams: "gcv", "evidence", "auto".'
        )
    return True


class Ridge(ClosedFormRegressor):
    """Ridge regression that finds its penalty: w = (X'X + alpha I)^-1 X'y, the bias unpenalised.

    Lecture: ridge regression and its Bayesian reading; alpha is the lectures' lambda. The penalty
    is searched for columns as they are and in units of their standard deviations; coefficients are
    those of the columns as they are, always.

    Parameters
    ----------
    alpha : float, sequence of float, or {"auto", "loo", "gcv", "evidence"}, default="auto"
        A penalty >= 0, one for each target, or the rule that chooses it: "loo" minimises the exact
        leave-one-out error and needs the rows; "gcv" the generalised cross-validation error and
        "evidence" maximises the marginal likelihood, both from moments alone. "auto" is "loo" in
        `fit`, and "gcv" in streams. More than 3000 large sparse rows are represented by about 1000
        of them.
    fit_intercept : bool, default=True

    Attributes
    ----------
    alpha_ : float or ndarray of shape (k,)
        The penalty, of each target.
    column_scale_ : ndarray of shape (p,) or None
        Where a rule measures columns in units of their standard deviations (without a bias, root
        mean squares): these. The penalty is then sum alpha_ (column_scale_[j] w_j)^2, else alpha_
        |w|^2.
    coef_, intercept_ : ndarray of shape (p,) and float, or (k, p) and (k,)
    certificate_ : Certificate
        The proven number of digits of the solution at `alpha_`.
    moments_ : Moments or None
        The sums that streaming needs; None after a `fit` of more than 1024 columns and fewer rows,
        or of large sparse rows with more than 4096 columns.
    fit_ : ClosedFit
        The same in the lectures' shapes; `fit_.stopped` says how alpha was found.

    Notes
    -----
    A row of weight 2 counts as two rows, each left out alone; one of weight below 1 is left out
    whole. The Bayesian reading: y = w'x + b + noise of variance sigma^2 / weight, w ~ N(0,
    sigma^2/alpha), b flat. `evidence` puts sigma^2 at its most likely value; `posterior` and
    `predict` use |r|^2/(n - dof). At the alpha of greatest evidence they are equal.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 3))
    >>> y = X @ [1.0, 0.5, 0.0] + rng.standard_normal(50)
    >>> model = Ridge().fit(X, y)
    >>> print(model.fit_.stopped)
    alpha minimises the leave-one-out error. Solved in closed form, ...
    >>> model.path([0.0, 1.0, 10.0]).dof.round(2)
    array([4.  , 3.93, 3.4 ])
    """

    moments_: Moments | None
    alpha_: Any
    column_scale_: Array | None = None
    _spectrum: Spectrum | CentredRows | None

    _command = "ridge"
    _streams = "moments"
    _exports = "values"
    _intervals = "values"
    _stored = ClosedFormRegressor._stored | {
        "_spectrum": "Spectrum | None",
        "alpha_": "float | float K",
        "column_scale_?": "float p | None",
    }
    _parameters = {"fit_intercept": FLAG}

    def __init__(self, alpha: Any = "auto", fit_intercept: bool = True):
        self.alpha, self.fit_intercept = alpha, fit_intercept

    partial_fit = available_if(require_streaming_rule)(ClosedFormRegressor.partial_fit)
    forget = available_if(require_streaming_rule)(ClosedFormRegressor.forget)
    fit_moments = available_if(require_streaming_rule)(ClosedFormRegressor.fit_moments)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.alpha, str):
            check_penalties(self.alpha, "alpha")
        elif self.alpha not in ("auto", *RULES):
            raise ValueError(
                f'alpha is "{self.alpha}"; expected numbers, "auto", "loo", "gcv" or "evidence".'
            )

    def _refinement(self) -> tuple[Any, bool] | None:
        return self._penalty(float(self.alpha_)), bool(self.fit_intercept)

    def _penalty(self, alpha: Any) -> Any:
        """The penalty on w^2: a number, or one for each column. Certificates are about it."""
        return alpha if self.column_scale_ is None else alpha * self.column_scale_**2

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        """Choose the penalty of each target, then solve; very wide data through the n x n side."""
        self.moments_, self._spectrum, self.column_scale_ = m, None, None
        k = rows.Y.shape[1] if rows is not None else 0 if m is None else m.targets
        if rows is not None and m is None and krylov.is_large_and_sparse(rows.X):
            # Of 3000 rows an n x n matrix has its eigenvalues within seconds.
            few = rows.n <= min(3000, rows.p)
            if not (isinstance(self.alpha, str) and few):
                return self._solve_by_products(rows, k, few)
        if rows is not None and (m is None or rows.n <= rows.p):
            self._spectrum = CentredRows.of(rows, self.fit_intercept)
        alphas, sentences = self._choose_penalties(rows, k)
        # Columns can be measured in units of their own with a p x p matrix, which keeps more digits
        # than the n x n side, where the largest column drowns the others.
        if m is not None:
            fit = ridge_by_target(m, rows, alphas, self._penalty, self.fit_intercept)
        else:
            assert rows is not None
            if np.any(alphas != alphas[0]):
                self._settled()
            f: Any = self._spectrum
            fit = wide_ridge_by_target(f, rows, alphas, self.column_scale_)
        # A rule has looked at all directions, and knows whether some are missing.
        f = self._spectrum
        if sentences and m is not None and m.rows > m.p and isinstance(f, Spectrum) and not f.full:
            fit = replace(fit, dependent=penalties.dependence(m, self.fit_intercept))
        return self._describe(fit, alphas, sentences)

    def _solve_by_products(self, rows: Rows, k: int, few: bool) -> ClosedFit:
        """Large sparse rows, whose penalty is estimated; of few rows the spectrum can be had."""
        A = CentredRows.of(rows, self.fit_intercept)
        self._spectrum = A if few else None
        if isinstance(self.alpha, str):
            rule = "loo" if self.alpha == "auto" else self.alpha
            choice = penalties.choose_by_sample(rows, rule, self.fit_intercept)
            alphas, sentences = choice.alphas, choice.sentences
        else:
            alphas, sentences = self._choose_penalties(rows, k)
        if np.any(alphas > 0) and not np.all(alphas > 0):
            raise ValueError("alpha is zero for some targets only; on sparse rows fit them apart.")
        return self._describe(krylov.solve_by_products(A, alphas), alphas, sentences)

    def _describe(self, fit: ClosedFit, alphas: Array, sentences: list[str]) -> ClosedFit:
        self.alpha_ = alphas[0] if self._one_target else alphas
        how = fit.stopped[0].upper() + fit.stopped[1:]
        return replace(fit, stopped=" ".join([*dict.fromkeys(sentences), how]))

    def _choose_penalties(self, rows: Rows | None, k: int) -> tuple[Array, list[str]]:
        if isinstance(self.alpha, str):
            rule = self.alpha if self.alpha != "auto" else "gcv" if rows is None else "loo"
            choice, self._spectrum, self.column_scale_ = penalties.in_better_units(
                self._spectral(), rule, rows, self.moments_
            )
            return choice.alphas, choice.sentences
        alphas = check_penalties(self.alpha, "alpha")
        if alphas.ndim == 1 and len(alphas) != k:
            raise ValueError(f"alpha has {len(alphas)} penalties and y {k} targets; give {k}.")
        return np.broadcast_to(alphas, (k,)).copy(), []

    def _settled(self) -> None:
        if isinstance(self._spectrum, CentredRows):
            self._spectrum = spectrum_of_rows(self._spectrum)

    def _speak_up(self) -> None:
        """A rule has seen dependent columns and dealt with them; a number may not have."""
        if not isinstance(self.alpha, str):
            super()._speak_up()

    def _spectral(self) -> Spectrum:
        """What is known of the data, from the last fit or from its moments."""
        check_is_fitted(self, "_spectrum")
        self._settled()
        if isinstance(self._spectrum, Spectrum):
            return self._spectrum
        if self.moments_ is None:
            what = "this fit solved sparse rows by products alone, without eigenvalues"
            raise ValueError(f"{what}. Fit fewer columns or rows.")
        return spectrum_of_moments(self.moments_, self.fit_intercept, self.column_scale_)

    def _by_target(self, *parts: Any) -> Any:
        return tuple(part[0] for part in parts) if self._one_target else parts

    @unchanged_on_error
    def path(
        self, alphas: Any = None, X: Any = None, y: Any = None, sample_weight: Any = None
    ) -> RidgePath:
        """Coefficients, degrees of freedom and errors over a range of penalties.

        By default 50 penalties over the range that the rules search first. The rows of the fit once
        more, which are not kept, add the leave-one-out errors.
        """
        f = self._spectral()
        if alphas is None:
            s, chosen = f.s[f.s > 0], f.in_units(np.atleast_1d(self.alpha_))
            s = s if len(s) else np.ones(1)
            low = np.min(0.1 * chosen, initial=1e-3 * s.min(), where=chosen > 0)
            lam = np.geomspace(low, 1e3 * s.max(), 50)  # enough for a smooth curve
        else:
            lam = f.in_units(check_penalties(alphas, "alphas").ravel())
        grid, units = lam[:, None], np.ones(1) if self.column_scale_ is None else self.column_scale_
        (W, b), loo = f.weights(grid), None
        with np.errstate(divide="ignore", invalid="ignore"):  # 0/0: no degree of freedom is left
            gcv = np.ldexp(penalties.gcv(f, grid), 2 * f.e_y)
        if X is not None:
            X = self._rows(X, reset=False)
            rows = Rows.of(X, real_targets(y, X.shape[0]), self._weights(sample_weight, X))
            k = f.a.shape[1]
            if k != rows.Y.shape[1] or not np.isclose(rows.weight, f.weight):
                raise ValueError(f"the fit saw {k} targets and other rows; give the same.")
            loo = np.ldexp(penalties.leave_one_out(f, rows, grid, units), 2 * f.e_y)
        which: Any = (slice(None), 0) if self._one_target else ...
        curves = W[which] / units, b[which], f.count - f.residual(grid)[1][:, 0], gcv[which]
        loo = None if loo is None else loo[which]
        return RidgePath(np.ldexp(lam, 2 * f.e), *curves, loo, tuple(self._names()))

    def _bayes(self) -> tuple[Spectrum, Array, Array]:
        f = self._spectral()
        self._refuse_written("the posterior is about the weights that were learned")
        lam = f.in_units(np.atleast_1d(self.alpha_))
        squares, free = f.residual(lam[None])
        if np.any(free <= 1e-12 * f.count):
            raise ValueError("no degrees of freedom are left for the noise; give a larger alpha.")
        if not f.full and np.any(lam == 0):
            raise ValueError("alpha is 0 and columns are dependent: there is no proper posterior.")
        size = np.sqrt((f.rest + (f.a**2).sum(axis=0)) / f.weight + f.mean[-f.a.shape[1] :] ** 2)
        return f, lam, np.ldexp(np.maximum((squares / free)[0], rounding_of(size)), 2 * f.e_y)

    def posterior(self) -> Posterior:
        """Mean and covariance of the weights given the data; see Notes for the model."""
        f, lam, noise = self._bayes()
        covariance = f.covariances(lam, noise)
        with np.errstate(over="ignore", divide="ignore"):  # no penalty prefers no weights
            prior = np.ldexp(noise / lam, -2 * f.e)
        if self.column_scale_ is not None:
            covariance /= np.outer(self.column_scale_, self.column_scale_)
            prior = prior[:, None] / self.column_scale_**2
        return Posterior(*self._by_target(self.fit_.W.copy(), covariance, noise, prior))

    def posterior_std(self) -> Array:
        """Standard deviation of each weight given the data, without the matrix of `posterior`."""
        f, lam, noise = self._bayes()
        with np.errstate(over="ignore"):
            spread = np.sqrt(np.ldexp(f.variances(lam) * noise[:, None], -2 * f.e))
        if self.column_scale_ is not None:
            spread /= self.column_scale_
        return spread[0] if self._one_target else spread

    def evidence(self) -> Evidence:
        """ln p(y | alpha) of the fit, and the alpha where it is greatest; see Notes."""
        f = self._spectral()
        best = penalties.choose(f, "evidence", None).alphas
        with np.errstate(invalid="ignore"):
            grid = f.in_units(np.array([np.atleast_1d(self.alpha_), best]))
            value, largest = -penalties.minus_evidence(f, grid)
        return Evidence(*self._by_target(value, best, largest))

    def summary(self, level: float = 0.95, target: int = 0) -> Summary:
        """Coefficients with their posterior spread, the penalty, degrees of freedom and R².

        level is that of the credible intervals; target is one of several. See Notes for the model.
        """
        level = float(LEVEL("level", level))
        f, lam, noise = self._bayes()
        count(0, len(lam) - 1)("target", target)
        squares, free = (part[0, target] for part in f.residual(lam[None]))
        w, std = self.fit_.W[target], np.atleast_2d(self.posterior_std())[target]
        names = self._names()
        if self.fit_intercept:
            spread = f.spread(np.zeros((1, len(w))), lam, self.column_scale_)[0, target]
            std = np.append(np.sqrt(noise[target] * (1 / f.weight + spread)), std)
            w, names = np.append(self.fit_.b[target], w), ["intercept", *names]
        half = ndtri((1 + level) / 2) * std
        total = f.rest[target] + (f.a[:, target] ** 2).sum()
        facts = {
            "samples": f.count,
            "alpha": float(np.atleast_1d(self.alpha_)[target]),
            "effective parameters": float(f.count - free),
            "R²": float(1 - squares / total) if total > 0 else np.nan,
            "residual std dev": float(np.sqrt(noise[target])),
        }
        rule = [self.fit_.stopped.partition(". ")[0] + "."] * isinstance(self.alpha, str)
        ends = f"low and high are {100 * level:g} % credible intervals, the penalty a prior."
        table = {"coef": w, "std err": std}
        table |= {f"low {level:.0%}": w - half, f"high {level:.0%}": w + half}
        notes = str(self.certificate_), *rule, ends
        return Summary("Ridge regression", tuple(names), table, facts, notes)

    @lazy_for_dask
    def predict(self, X: Any, return_std: bool = False) -> Any:
        """v = W x + b for each row; with return_std, also the predictive standard deviation.

        It is that of the noise, the weights and the bias together.
        """
        FLAG("return_std", return_std)
        mean = super().predict(X)
        if not return_std:
            return mean
        f, lam, noise = self._bayes()
        spread = f.spread(self._rows(X, reset=False), lam, self.column_scale_)
        std = np.sqrt(noise * (1.0 + f.intercept / f.weight + spread)).astype(mean.dtype)
        return mean, std[:, 0] if self._one_target else std

    def _interval(self, X: Any, level: float) -> tuple[Any, Any]:
        """Of a new y at each row, by the posterior; Student's t, as the noise is estimated."""
        v, std = self.predict(X, return_std=True)
        f, lam, _ = self._bayes()
        dof = f.residual(lam[None])[1][0]
        half = std * stdtrit(dof[0] if self._one_target else dof, (1 + level) / 2)
        return v - half, v + half


def check_penalties(alpha: Any, name: str) -> Array:
    expected = "numbers >= 0, finite, one for each target, or a rule"
    alphas = numbers(name, alpha, expected)
    if alphas.ndim > 1 or not alphas.size or not np.all((alphas >= 0) & (alphas < np.inf)):
        raise ParameterError(f"{name} is {shown(alpha)}; expected {expected}.")
    return alphas
