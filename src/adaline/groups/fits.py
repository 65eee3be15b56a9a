"""`GroupFits`: what `fit_groups`, `rolling` and `expanding` give."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit

from adaline.estimators.glm import PoissonRegression
from adaline.estimators.least_squares import LeastSquares
from adaline.estimators.ridge import Ridge
from adaline.groups.tables import Keys, encode_keys, make_table, to_numpy
from adaline.parameters import LEVEL, ParameterError, numbers
from adaline.results import Array, Certificate, Result
from adaline.summaries import aligned

if TYPE_CHECKING:
    from adaline.estimators.base import Learner


@dataclass(frozen=True, eq=False)
class GroupFits(Result):
    """One fit a group, groups in the order of their sorted keys; or one a window of rows."""

    keys: Keys  #: The columns that name the groups; for windows "row", the place of the last row.
    names: tuple[str, ...]  #: The columns of X.
    coef_: Array  #: (G, p); NaN where the status says why there is none.
    intercept_: Array  #: (G,)
    #: (G, p + 1), proven bounds on the distance of each coefficient, and last of the intercept,
    #: from the exact minimiser; infinite where nothing is proven.
    errors: Array
    #: Standard errors of the same; NaN for ridge, and where there is no degree of freedom.
    std_errors: Array
    rows: Array  #: Rows of each group (sums of weights).
    dof: Array  #: Degrees of freedom for t; infinite for z.
    #: "ok", "too few rows" (or classes), "dependent columns" (the coefficients, if any, have the
    #: least norm), "separable" (the classes are, so that the likelihood has no maximum), "not
    #: proven", or the message of an error.
    status: NDArray[Any]
    model: Learner  #: What was fitted to each group.
    classes_: Any = None
    one_by_one: int = 0  #: Groups that were fitted by the estimator itself, which takes longer.
    #: Windows summed anew because rounding counted ten times as much as in new sums.
    renewed: int = 0
    _kind: str = field(default="", repr=False)

    def __len__(self) -> int:
        return len(self.rows)

    def __str__(self) -> str:
        names, counts = np.unique(self.status.astype(str), return_counts=True)
        states = ", ".join(f"{n:,} {name}" for name, n in zip(names, counts, strict=True))
        head = f"{len(self):,} fits of {type(self.model).__name__}: {states}"
        good = self._weights[np.isfinite(self._weights).all(axis=1)]
        cells = [["", "lowest", "5%", "median", "95%", "highest"]]
        for name, column in zip([*self.names, "intercept"], good.T, strict=True):
            cells.append([name, *(f"{v:.5g}" for v in np.percentile(column, [0, 5, 50, 95, 100]))])
        return "\n".join([head, "", *aligned(cells, left=1)]) if len(good) else head

    @property
    def _weights(self) -> Array:
        return np.column_stack([self.coef_, self.intercept_])

    @property
    def _intercept(self) -> bool:
        return bool(getattr(self.model, "fit_intercept", True))

    @property
    def digits(self) -> Array:
        """Proven decimal digits of each coefficient and, last, the intercept: (G, p + 1)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            digits = -np.log10(self.errors / np.abs(self._weights))
        digits[self.errors == 0.0] = 16.0
        return np.asarray(np.clip(np.nan_to_num(digits, nan=0.0), 0.0, 16.0))

    @cached_property
    def certificates(self) -> tuple[Certificate, ...]:
        """The certificate of every group."""
        kind: Any = "accurate" if isinstance(self.model, LeastSquares | Ridge) else "optimal"
        return tuple(
            Certificate(kind, f"every coefficient is within {e.max():.1e} of the minimiser's.")
            if np.isfinite(e).all()
            else Certificate("unproven", f"not every coefficient has a bound ({status}).")
            for e, status in zip(self.errors, self.status, strict=True)
        )

    def _flat(self, table: Array) -> Array:
        """One number a coefficient of each group, the intercept first, as one long column."""
        return (np.roll(table, 1, axis=1) if self._intercept else table[:, :-1]).ravel()

    def summary(self, level: float = 0.95) -> Any:
        """One line a coefficient of each group: coef, std err, t (or z), p, interval, digits.

        The table is of the kind that was given: pandas (also for arrays), polars or Arrow.
        """
        LEVEL("level", level)
        names = np.array([*["intercept"] * self._intercept, *self.names], dtype=object)
        k, is_z = len(names), len(self) > 0 and bool(np.isinf(self.dof).all())
        coef, error, dof = self._flat(self._weights), self._flat(self.std_errors), self.dof
        dof = np.repeat(dof, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            t = coef / error
            p = 2.0 * (ndtr(-np.abs(t)) if is_z else stdtr(dof, -np.abs(t)))
            half = error * (ndtri((1 + level) / 2) if is_z else stdtrit(dof, (1 + level) / 2))
        columns = {name: np.repeat(values, k) for name, values in self.keys.items()}
        columns |= {"name": np.tile(names, len(self)), "coef": coef, "std err": error}
        columns |= {"z" if is_z else "t": t, "p": p}
        columns |= {f"low {level:.0%}": coef - half, f"high {level:.0%}": coef + half}
        columns |= {"digits": np.floor(self._flat(self.digits))}
        return make_table(self._kind, columns | {"status": np.repeat(self.status, k)})

    def to_frame(self) -> Any:
        """One line a group: keys, status, rows, intercept, coefficients, least proven digits."""
        columns = dict(self.keys) | {"status": self.status, "rows": self.rows}
        columns |= {"intercept": self.intercept_} if self._intercept else {}
        columns |= {name: self.coef_[:, j] for j, name in enumerate(self.names)}
        return make_table(self._kind, columns | {"digits": np.floor(self.digits.min(axis=1))})

    def predict(self, X: Any, groups: Any = None) -> NDArray[Any]:
        """What the fit of each row's group predicts; NaN (a label: None) where there is none.

        `groups` names the group of each row, as in `fit_groups`; a table has its own columns.
        """
        keys = groups if isinstance(groups, dict) else {next(iter(self.keys)): groups}
        rows = X
        if groups is None:
            try:
                keys = {name: X[name] for name in self.keys}
                rows = np.column_stack([to_numpy(X[name]) for name in self.names])
            except (KeyError, IndexError, TypeError, ValueError) as error:
                message = f"give groups, or a table with all columns: {error}."
                raise ParameterError(message) from None
        keys, rows = {name: to_numpy(values) for name, values in keys.items()}, numbers("X", rows)
        if rows.ndim != 2 or rows.shape[1] != len(self.names):
            raise ParameterError(f"X has shape {rows.shape}; expected (n, {len(self.names)}).")
        codes, unique = encode_keys(keys)
        number = {key: g for g, key in enumerate(zip(*map(list, self.keys.values()), strict=True))}
        numbered = [number.get(key, -1) for key in zip(*map(list, unique.values()), strict=True)]
        place = np.asarray(numbered, dtype=np.int64)[codes]
        v = np.einsum("ij,ij->i", rows, self.coef_[place]) + self.intercept_[place]
        v[place < 0] = np.nan
        if self.classes_ is not None:
            labels = np.where(v > 0, self.classes_[1], self.classes_[0]).astype(object)
            labels[np.isnan(v)] = None
            return np.asarray(labels)
        return np.asarray(np.exp(v) if isinstance(self.model, PoissonRegression) else v)
