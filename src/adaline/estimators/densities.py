"""Class densities f(x | C_j): given, learned from rows, or tables of symbols. Used by `bayes`.

A density is any object with logpdf or logpmf, such as a frozen distribution of scipy.stats.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from adaline.errors import IllConditionedWarning, warn_caller
from adaline.parameters import named, shown
from adaline.results import Array, Result

# Least eigenvalue of a learned correlation matrix: below, its inverse has lost half the digits.
EIGENVALUE_FLOOR = float(np.sqrt(np.finfo(np.float64).eps))


def is_discrete(source: Any) -> bool:
    return not hasattr(source, "logpdf")


def log_density(source: Any, X: Array) -> Array:
    """ln f(x | C_j) of the rows of X, (n, p); the density gets X[:, 0] if p is 1."""
    n, p = X.shape
    rows = X[:, 0] if p == 1 else X
    if isinstance(source, gaussian_kde):
        # scipy's compiled loop asks for arrays that it could write, although it does not.
        source, rows = deepcopy(source), X.T
    log = source.logpmf if is_discrete(source) else source.logpdf
    values = np.asarray(log(rows), dtype=np.float64)
    if values.size != n or values.ndim > 1:
        what = f"a class density gave shape {values.shape} for {n} rows of {p} features"
        raise ValueError(f"{what}; expected one number a row, from all features together.")
    return values.reshape(n)


def draw(source: Any, n: int, rng: np.random.Generator) -> Array:
    if isinstance(source, gaussian_kde):
        return np.asarray(deepcopy(source).resample(n, seed=rng).T)
    if not hasattr(source, "rvs"):
        raise ValueError(f"{shown(source)} cannot draw; Monte Carlo needs rvs(size, random_state).")
    return np.asarray(source.rvs(size=n, random_state=rng), dtype=np.float64).reshape(n, -1)


@dataclass(frozen=True)
class Gaussian(Result):
    """N(mean, root root'), whose correlation matrix may have a ridge on its diagonal."""

    mean: Array
    root: Array
    ridge: float

    @classmethod
    def of(cls, X: Array, other_unit: Array) -> Gaussian:
        """Maximum likelihood from the rows of one class, with the least ridge that inverts.

        A column that is constant in this class is measured in other_unit.
        """
        mean, own = X.mean(axis=0), deviations(X)
        unit = np.where(own > 0.0, own, other_unit)
        Z = np.where(own > 0.0, (X - mean) / unit, 0.0)
        C = Z.T @ Z / len(X)
        ridge = max(0.0, EIGENVALUE_FLOOR - float(np.linalg.eigvalsh(C)[0]))
        root = np.linalg.cholesky(C + ridge * np.eye(len(C)))
        return cls(mean, unit[:, None] * root, ridge)

    @property
    def covariance(self) -> Array:
        return np.asarray(self.root @ self.root.T)

    def logpdf(self, X: Array) -> Array:
        rows = np.reshape(X, (-1, len(self.mean)))
        unit = np.diagonal(self.root)  # so that columns of any size neither over- nor underflow
        with np.errstate(over="ignore", invalid="ignore"):  # too far for a float: density zero
            rows = (rows - self.mean) / unit
            Z = np.linalg.solve(self.root / unit[:, None], rows.T)
            distances = np.einsum("ij,ij->j", Z, Z)
        log_volume = np.log(unit).sum() + 0.5 * len(unit) * np.log(2.0 * np.pi)
        return np.asarray(-0.5 * distances - log_volume)

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        z = random_state.standard_normal((size, len(self.mean)))
        return np.asarray(self.mean + z @ self.root.T)


def deviations(X: Array) -> Array:
    """Standard deviation of the columns, zero where it is only rounding; no overflow."""
    centred = X - X.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    largest[largest <= 4.0 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)] = 0.0
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.mean((centred / unit) ** 2, axis=0)))


def learn_densities(recipe: Any, groups: list[Array], labels: list[Any]) -> tuple[Any, ...]:
    """Densities of the classes, each from its rows, by "gaussian", "kde" or a function."""
    if recipe == "gaussian":
        return learn_gaussians(groups, labels)
    if isinstance(recipe, str) and recipe != "kde":
        raise ValueError(f"densities is {recipe!r}; the names known are 'gaussian' and 'kde'.")
    try:
        make = (lambda X: gaussian_kde(X.T)) if recipe == "kde" else recipe
        return of_one_kind([make(X) for X in groups])
    except (ValueError, TypeError) as error:  # LinAlgError is a ValueError
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"densities is {shown(recipe)}, which gave no density: {error}") from error


def learn_gaussians(groups: list[Array], labels: list[Any]) -> tuple[Gaussian, ...]:
    """A Gaussian with its own full covariance for each class; a singular one gets a ridge."""
    overall = deviations(np.concatenate(groups))
    densities = tuple(Gaussian.of(X, np.where(overall > 0.0, overall, 1.0)) for X in groups)
    singular = [k for k, density in enumerate(densities) if density.ridge > 0.0]
    if singular:
        n, p = groups[singular[0]].shape
        first = f"first class {labels[singular[0]]!r} ({n} rows, {p} columns)"
        warn_caller(
            f"{len(singular)} of {len(groups)} classes have a singular covariance, {first}; a "
            "ridge makes it invertible. Give more rows, or use GaussianClassifier.",
            IllConditionedWarning,
        )
    return densities


@dataclass(frozen=True)
class Table(Result):
    """Discrete classes: probabilities[k, s] = P(symbol s | C_k)."""

    symbols: tuple[Any, ...]
    probabilities: Array

    @classmethod
    def of(cls, tables: Sequence[Mapping[Any, Any]], labels: Sequence[Any]) -> Table:
        """From {symbol: probability} of each class; a symbol left out has probability zero."""
        symbols = tuple(dict.fromkeys(symbol for table in tables for symbol in table))
        P = np.array([[float(t.get(s, 0.0)) for s in symbols] for t in tables], dtype=np.float64)
        for row, label in zip(P, labels, strict=True):
            if not np.all(row >= 0.0) or not abs(row.sum() - 1.0) <= 1e-9:  # NaN is neither
                what = f"the probabilities of class {label!r} are {row.tolist()}; they must sum to"
                raise ValueError(f"{what} one. For counts, use BayesClassifier.from_counts.")
        return cls(symbols, P / P.sum(axis=1, keepdims=True))

    @property
    def tables(self) -> list[dict[Any, float]]:
        """{symbol: probability} of each class."""
        return [dict(zip(self.symbols, row.tolist(), strict=True)) for row in self.probabilities]

    def log(self, X: Any) -> Array:
        """ln P(symbol | C_k), shape (n, K), of a column of symbols."""
        column = np.asarray(X, dtype=object)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.ndim != 1 or not column.size:
            raise ValueError(f"X has shape {column.shape}; expected one column of symbols.")
        place = {symbol: s for s, symbol in enumerate(self.symbols)}
        for row, symbol in enumerate(column):
            if symbol not in place:
                what = f"symbol {symbol!r} in row {row} is in no table"
                raise ValueError(f"{what}; the symbols known are {list(self.symbols)}.")
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities.T[[place[symbol] for symbol in column]]))


def fixed_densities(densities: Any) -> tuple[NDArray[Any], tuple[Any, ...] | Table]:
    """Labels and densities of {label: density}, or of a sequence for the labels 0, 1, ..."""
    if not isinstance(densities, Mapping | Sequence | np.ndarray):
        what = f"densities is {densities!r}; each class needs its own"
        raise TypeError(f"{what}. Give {{label: density}}, or 'gaussian' or 'kde' to learn them.")
    if not isinstance(densities, Mapping):
        densities = dict(enumerate(densities))
    labels, sources = list(densities), list(densities.values())
    try:
        if len(labels) < 2:
            raise ValueError(f"there are {len(labels)} classes, {labels}; give at least two.")
        classes = np.array(labels, dtype=None if len(set(map(type, labels))) == 1 else object)
        if classes.ndim != 1:
            raise TypeError(f"the labels are {shown(labels)}; expected texts or numbers.")
        if all(isinstance(source, Mapping) for source in sources):
            return classes, Table.of(sources, labels)
        return classes, of_one_kind(sources)
    except (ValueError, TypeError) as error:
        raise named(error, "densities") from None


def of_one_kind(sources: Sequence[Any]) -> tuple[Any, ...]:
    """Densities that can be compared: all have logpdf, or all have logpmf."""
    for source in sources:
        if not (hasattr(source, "logpdf") or hasattr(source, "logpmf")):
            raise TypeError(f"a class density is {source!r}, which has neither logpdf nor logpmf.")
    if len(set(map(is_discrete, sources))) > 1:
        raise ValueError("some classes have logpmf and some logpdf, which cannot be compared.")
    return tuple(sources)
