"""`fit_groups`: one small fit for each group of rows, in one call, each with its proof.

Least squares, ridge with a number as penalty, and logistic and Poisson regression run in compiled
loops over the groups (`kernels.group_fits`). What these cannot prove, and every other learner, is
fitted group by group by the estimator itself. Constants: bench/bench_groups.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline.errors import SeparableError
from adaline.estimators.glm import PoissonRegression
from adaline.estimators.least_squares import LeastSquares
from adaline.estimators.logistic import LogisticRegression
from adaline.estimators.ridge import Ridge
from adaline.groups.fits import GroupFits
from adaline.groups.tables import Codes, Columns, Keys, encode_keys, read_columns, sort_codes
from adaline.kernels import group_fits as kernels
from adaline.parameters import ParameterError, is_number, numbers
from adaline.results import Array
from adaline.sums.threads import share_out

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

USEFUL = 1e-8  # largest bound, relative to a coefficient or its standard error: eight digits
# By the kernels' numbers.
STATUS = np.array(["ok", "too few rows", "dependent columns", "separable", "not proven"])
NOTHING = np.array([np.nan, np.inf, np.nan])[:, None]  # coefficients, bounds, standard errors


def fit_groups(
    model: Learner,
    X: Any,
    y: Any = None,
    groups: Any = None,
    *,
    target: str | None = None,
    by: Any = None,
    sample_weight: Any = None,
) -> GroupFits:
    """Fit a model to the rows of every group: thousands of regressions in one call.

    Parameters
    ----------
    model : estimator
        `LeastSquares`, `Ridge`, `LogisticRegression`, `PoissonRegression`, or any other of ours
        that has one `coef_` and `intercept_` for two classes or one target.
    X : array of shape (n, p), or a pandas, polars or Arrow table
    y, groups : array of shape (n,)
        Targets, and the key of each row's group, in any order; a dict of several columns of keys.
    target, by : str, and str or list of str
        Instead of y and groups, columns of the table X; all other columns are features.
    sample_weight : array of shape (n,), or the name of a column
        A weight of 2 counts a row twice.

    Returns
    -------
    GroupFits

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, fit_groups
    >>> X, y = np.array([[0.0], [1.0], [2.0], [0.0], [1.0]]), np.array([1.0, 3.0, 5.0, 2.0, 1.0])
    >>> fits = fit_groups(LeastSquares(), X, y, ["north", "north", "north", "south", "south"])
    >>> fits.coef_.ravel().round(12), fits.status
    (array([ 2., -1.]), array(['ok', 'ok'], dtype=object))
    """
    model._check_parameters()
    columns = read_columns(X, y, groups, target, by, sample_weight)
    if not columns.keys:
        raise ParameterError("give groups, or by, the names of columns of the table X.")
    codes, keys = encode_keys(columns.keys)
    classes, targets = None, columns.y
    if hasattr(model, "predict_proba"):
        classes, targets = np.unique(columns.y, return_inverse=True)
        if len(classes) != 2:
            raise ParameterError(f"y has {len(classes)} classes; fit_groups separates two.")
    order = sort_codes(codes)
    work = _Groups(model, columns.take(order), numbers("y", targets)[order], codes[order])
    work.fit()
    return make_fits(
        model, columns, keys, work.out, work.rows, work.dof, work.status,
        classes_=classes, one_by_one=work.one_by_one,
    )  # fmt: skip


class _Groups:
    """The arrays of one call, rows of a group side by side.

    out[g] are coefficients, bounds and standard errors.
    """

    def __init__(self, model: Learner, columns: Columns, y: Array, codes: Codes):
        self.model, self.columns, self.y, self.p = model, columns, y, columns.X.shape[1]
        self.starts = np.append(np.flatnonzero(np.diff(codes, prepend=-1)), len(codes))
        self.G = G = len(self.starts) - 1
        self.out = np.empty((G, 3, self.p + 1))
        self.out[:] = NOTHING
        weights = np.bincount(codes, columns.weight if len(columns.weight) else None, minlength=G)
        self.rows, self.dof = weights.astype(np.float64), np.full(G, np.inf)
        self.status, self.one_by_one = np.full(G, STATUS[-1], dtype=object), 0
        self.intercept = float(getattr(model, "fit_intercept", True))

    def fit(self) -> None:
        model, alpha, rows = self.model, getattr(self.model, "alpha", 0.0), self.columns
        rows.require_finite(self.y)
        plain = is_number(alpha) and getattr(model, "class_weight", None) is None
        if plain and has_moderate_weights(rows):
            if type(model) in (LeastSquares, Ridge):
                self.fit_squares(float(alpha))
            elif type(model) in (LogisticRegression, PoissonRegression):
                self.fit_likelihood(type(model) is PoissonRegression, float(alpha))
        with np.errstate(invalid="ignore"):
            size = np.maximum(np.abs(self.out[:, 0]), np.nan_to_num(self.out[:, 2]))
            proven = (self.out[:, 1] <= USEFUL * size).all(axis=1)
        hopeless = np.isin(self.status, [STATUS[kernels.TOO_FEW], STATUS[kernels.SEPARABLE]])
        self.fit_one_by_one(np.flatnonzero(~proven & ~hopeless))

    def fit_squares(self, alpha: float) -> None:
        rows, status, squares = self.columns, np.zeros(self.G, np.int64), np.zeros(self.G)

        def work(first: int, last: int) -> None:
            kernels.roll(
                rows.X, self.y, rows.weight, self.starts[:-1], self.starts[1:], alpha,
                self.intercept, first, last, self.out, status, squares,
            )  # fmt: skip

        self.dof = self.rows - self.p - self.intercept
        too_few = (alpha == 0.0) & (np.diff(self.starts) < self.p + self.intercept)
        self.share_groups(work, status, too_few)
        set_std_errors(self.out, squares, self.dof, alpha)

    def fit_likelihood(self, counts: bool, alpha: float) -> None:
        rows, status, y = self.columns, np.zeros(self.G, np.int64), self.y
        if counts and np.any(y < 0):
            raise ParameterError("y is negative; expected counts of zero and more.")

        def work(first: int, last: int) -> None:
            kernels.newton_groups(
                rows.X, y, rows.weight, self.starts, counts, alpha, self.intercept, first, last,
                self.out, status,
            )  # fmt: skip

        highest = np.maximum.reduceat(y, self.starts[:-1])
        lowest = 0.0 if counts else np.minimum.reduceat(y, self.starts[:-1])
        self.share_groups(work, status, highest == lowest)

    def share_groups(
        self, work: Callable[[int, int], None], status: Codes, too_few: NDArray[np.bool_]
    ) -> None:
        """Call work for 256 groups at a time, which sets the status and `out` of each."""
        share_out(work, [(g, min(g + 256, self.G)) for g in range(0, self.G, 256)], lambda _: None)
        status[too_few | (self.rows == 0.0)] = kernels.TOO_FEW
        self.status = STATUS[status].astype(object)
        self.out[status != kernels.SOLVED] = NOTHING

    def fit_one_by_one(self, groups: NDArray[np.intp]) -> None:
        """Fit these groups by the estimator, whose digits and refusals are its own."""
        self.one_by_one, weight = len(groups), self.columns.weight
        for g in groups:
            rows, one = slice(self.starts[g], self.starts[g + 1]), unfitted(self.model)
            omega = {"sample_weight": weight[rows]} if len(weight) else {}
            self.out[g] = NOTHING
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    one.fit(self.columns.X[rows], self.y[rows], **omega)
            except SeparableError:
                self.status[g] = STATUS[kernels.SEPARABLE]
            except (ValueError, ArithmeticError) as error:
                self.status[g] = str(error)
            else:
                self.take(g, one)

    def take(self, g: int, one: Any) -> None:
        """Coefficients, bounds and standard errors of a fitted estimator."""
        weights = np.append(np.ravel(one.coef_), np.ravel(one.intercept_))
        if len(weights) != self.p + 1:
            raise ParameterError(f"{type(one).__name__} has no single row of coefficients.")
        self.out[g, 0] = weights
        if getattr(one.fit_, "dependent", ()):
            self.status[g] = STATUS[kernels.SINGULAR]
            return
        known = one.certificate_.evidence
        if one.certificate_.kind in ("exact", "accurate", "optimal"):
            self.status[g] = STATUS[kernels.SOLVED]
            bounds = np.ravel(known.get("error_bound", known.get("coef_bound", np.inf)))
            self.out[g, 1, : len(bounds)] = bounds
            if "intercept_bound" in known:
                self.out[g, 1, -1] = known["intercept_bound"]
        if hasattr(one, "summary") and type(one) is not Ridge:
            try:
                errors = np.asarray(one.summary()["std err"])
                self.out[g, 2] = np.roll(errors, -1) if self.intercept else np.append(errors, 0.0)
            except ValueError:
                pass  # no degree of freedom: there are none


def make_fits(
    model: Learner, columns: Columns, keys: Keys, out: Array, rows: Array, dof: Array, status: Any,
    **more: Any,
) -> GroupFits:  # fmt: skip
    """The result from the arrays of the kernels."""
    coef, intercept = np.ascontiguousarray(out[:, 0, :-1]), out[:, 0, -1].copy()
    tables = (coef, intercept, out[:, 1], out[:, 2], rows, dof, status, unfitted(model))
    return GroupFits(keys, columns.names, *tables, _kind=columns.kind, **more)


def unfitted(model: Learner) -> Any:
    return type(model)(**model.get_params())


def has_moderate_weights(columns: Columns) -> bool:
    """Whether all weights are zero, or such that the kernels' sums keep their digits."""
    omega = columns.weight
    return bool(np.all((omega == 0.0) | (omega >= 1e-50) & (omega <= 1e50)))


def set_std_errors(out: Array, squares: Array, dof: Array, alpha: float) -> None:
    """Deviations times the noise: sums of squared residuals by degrees of freedom."""
    with np.errstate(invalid="ignore", divide="ignore"):
        variance = np.where((dof > 0) & (alpha == 0.0), squares / dof, np.nan)
    out[:, 2] *= np.sqrt(variance)[:, None]
