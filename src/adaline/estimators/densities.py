"""Class densities f(x | C_j): given, learned from rows, or tables of symbols. Used by `bayes`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from adaline.decisions import checked_priors
from adaline.errors import IllConditionedWarning, warn_caller
from adaline.parameters import NOT_NEGATIVE, ParameterError, named, shown
from adaline.results import Array, Result

# Least eigenvalue of a learned correlation matrix: below, its inverse has lost half the digits.
EIGENVALUE_FLOOR = float(np.sqrt(np.finfo(np.float64).eps))


@dataclass(frozen=True)
class Density(Result):
    """One class density, whatever library it comes from: source with logpdf or logpmf.

    dimension is None where the source does not tell; then it gets X[:, 0] of one feature and X
    of more.
    """

    source: Any
    dimension: int | None
    discrete: bool
    label: Any

    @classmethod
    def of(cls, source: Any, label: Any) -> Density:
        if not (hasattr(source, "logpdf") or hasattr(source, "logpmf")):
            raise TypeError(
                f"the density of class {label!r} is {source!r}, which has neither logpdf nor logpmf"
                ". Give a frozen scipy.stats distribution, or a table {symbol: probability}."
            )
        kinds = {kind.__name__ for kind in type(source).__mro__}
        discrete = not hasattr(source, "logpdf") or "DiscreteDistribution" in kinds
        dimension: Any = (
            source.d if isinstance(source, gaussian_kde) else getattr(source, "dim", None)
        )
        if hasattr(source, "ppf") or hasattr(source, "icdf"):  # quantiles: a line
            dimension = 1
        if not isinstance(dimension, int | np.integer):
            return cls(source, None, discrete, label)
        return cls(source, int(dimension), discrete, label)

    def log(self, X: Array) -> Array:
        """ln f(x | C_j) of the rows of X."""
        n, p = X.shape
        if self.dimension not in (None, p):
            raise ValueError(
                f"X has {p} features and the density of class {self.label!r} has {self.dimension}. "
                "Give densities of all features together, or the one column they describe."
            )
        source, rows = self.source, X[:, 0] if p == 1 else X
        if isinstance(source, gaussian_kde):
            # scipy's compiled loop asks for arrays that it could write, although it does not.
            source, rows = deepcopy(source), X.T
        values = np.asarray(
            source.logpmf(rows) if self.discrete else source.logpdf(rows), dtype=np.float64
        )
        if values.size != n or values.ndim > 1:
            raise ValueError(
                f"the density of class {self.label!r} gave shape {values.shape} for {n} rows of "
                f"{p} features; logpdf must give one number a row."
            )
        return values.reshape(n)

    @property
    def can_draw(self) -> bool:
        return any(hasattr(self.source, name) for name in ("rvs", "resample", "sample"))

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """n random rows."""
        if isinstance(self.source, gaussian_kde):
            rows = deepcopy(self.source).resample(n, seed=rng).T
        elif hasattr(self.source, "rvs"):
            rows = self.source.rvs(size=n, random_state=rng)
        else:
            rows = self.source.sample(n, rng=rng)
        return np.asarray(rows, dtype=np.float64).reshape(n, -1)


def as_densities(sources: Iterable[Any], labels: Sequence[Any]) -> tuple[Density, ...]:
    """Densities of one kind: a density and a probability cannot be compared."""
    densities = tuple(Density.of(f, label) for f, label in zip(sources, labels, strict=True))
    if len({density.discrete for density in densities}) > 1:
        raise ValueError(
            "some classes have a probability (logpmf) and some a density (logpdf), which cannot be "
            "compared. Give all classes the same kind."
        )
    return densities


@dataclass(frozen=True)
class Gaussian(Result):
    """N(m, C) with C = D (Q diag(l) Q') D, where D = diag(unit) are the columns' own units.

    l and Q are those of the correlation matrix, to whose diagonal a ridge may have been added.
    """

    mean: Array
    unit: Array
    eigenvalues: Array
    axes: Array
    ridge: float

    @classmethod
    def of(cls, X: Array, other_unit: Array) -> Gaussian:
        """Maximum likelihood from the rows of one class, with the least ridge that inverts.

        A column that is constant in this class is measured in other_unit.
        """
        mean, own = X.mean(axis=0), deviations(X)
        unit = np.where(own > 0.0, own, other_unit)
        Z = np.where(own > 0.0, (X - mean) / unit, 0.0)
        eigenvalues, axes = np.linalg.eigh(Z.T @ Z / len(X))
        ridge = max(0.0, EIGENVALUE_FLOOR - float(eigenvalues[0]))
        return cls(mean, unit, np.maximum(eigenvalues + ridge, EIGENVALUE_FLOOR), axes, ridge)

    @property
    def dim(self) -> int:
        return len(self.mean)

    @property
    def covariance(self) -> Array:
        root = (self.axes * np.sqrt(self.eigenvalues)) * self.unit[:, None]
        return np.asarray(root @ root.T)

    def logpdf(self, X: Array) -> Array:
        X = np.reshape(X, (-1, self.dim))
        with np.errstate(over="ignore", invalid="ignore"):  # too far for a float: density zero
            Z = ((X - self.mean) / self.unit) @ (self.axes / np.sqrt(self.eigenvalues))
        log_volume = 0.5 * np.log(self.eigenvalues).sum() + np.log(self.unit).sum()
        constant = 0.5 * self.dim * np.log(2.0 * np.pi) + log_volume
        return np.asarray(-0.5 * np.einsum("ij,ij->i", Z, Z) - constant)

    def rvs(self, size: int, random_state: np.random.Generator) -> Array:
        z = random_state.standard_normal((size, self.dim)) * np.sqrt(self.eigenvalues)
        return np.asarray(self.mean + self.unit * (z @ self.axes.T))


def deviations(X: Array) -> Array:
    """Standard deviation of the columns, zero where it is only rounding; no overflow."""
    centred = X - X.mean(axis=0)
    largest = np.abs(centred).max(axis=0)
    largest[largest <= 4.0 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)] = 0.0
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.mean((centred / unit) ** 2, axis=0)))


def learn_densities(recipe: Any, groups: list[Array], labels: list[Any]) -> tuple[Density, ...]:
    """Densities of the classes, each from its rows, by "gaussian", "kde" or a function."""
    if recipe == "gaussian":
        return as_densities(learn_gaussians(groups, labels), labels)
    if recipe == "kde":
        return as_densities(map(kernel_estimate, groups, labels), labels)
    if not callable(recipe):
        raise ValueError(f"densities is {recipe!r}; the names known are 'gaussian' and 'kde'.")
    try:
        return as_densities([recipe(X) for X in groups], labels)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"densities is {shown(recipe)}, which gave no density for the rows of a class: {error}"
        ) from error


def learn_gaussians(groups: list[Array], labels: list[Any]) -> list[Gaussian]:
    """A Gaussian with its own full covariance for each class; a singular one gets a ridge."""
    within = deviations(np.concatenate([X - X.mean(axis=0) for X in groups]))
    overall = deviations(np.concatenate(groups))
    unit = np.where(within > 0.0, within, np.where(overall > 0.0, overall, 1.0))
    densities = [Gaussian.of(X, unit) for X in groups]
    singular = [k for k, density in enumerate(densities) if density.ridge > 0.0]
    if singular:
        k = singular[0]
        n, p = groups[k].shape
        warn_caller(
            f"{len(singular)} of {len(groups)} classes have a singular covariance, first class "
            f"{labels[k]!r} ({n} rows, {p} columns); a ridge of {densities[k].ridge:.1e} of the "
            "columns' variance makes it invertible (ridge_). Give more rows or fewer columns, or "
            "use GaussianClassifier, which shares one covariance.",
            IllConditionedWarning,
        )
    return densities


def kernel_estimate(X: Array, label: Any) -> gaussian_kde:
    """A Gaussian kernel density estimate (Scott's bandwidth)."""
    try:
        return gaussian_kde(X.T)
    except (np.linalg.LinAlgError, ValueError) as error:
        raise ValueError(
            f"no kernel density for class {label!r}: {len(X)} rows in {X.shape[1]} columns have a "
            "singular covariance. Give more rows, or use densities='gaussian'."
        ) from error


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
            if not np.all(np.isfinite(row)) or np.any(row < 0.0) or abs(row.sum() - 1.0) > 1e-9:
                raise ValueError(
                    f"the probabilities of class {label!r} are {row.tolist()} and sum to "
                    f"{row.sum():.10g}; they must not be negative and must sum to one. "
                    "For counts, use BayesClassifier.from_counts."
                )
        return cls(symbols, P / P.sum(axis=1, keepdims=True))

    @property
    def tables(self) -> list[dict[Any, float]]:
        """{symbol: probability} of each class."""
        return [dict(zip(self.symbols, row.tolist(), strict=True)) for row in self.probabilities]

    def places(self, X: Any) -> NDArray[np.intp]:
        """Index of each symbol of a column; an unknown symbol is an error."""
        column = np.asarray(X, dtype=object)
        if column.ndim == 2 and column.shape[1] == 1:
            column = column[:, 0]
        if column.ndim != 1 or not column.size:
            shape = column.shape
            raise ValueError(f"X has shape {shape}; expected one column of at least one symbol.")
        place = {symbol: s for s, symbol in enumerate(self.symbols)}
        places = np.array([place.get(symbol, -1) for symbol in column], dtype=np.intp)
        if (places < 0).any():
            row = int(np.argmax(places < 0))
            raise ValueError(
                f"symbol {column[row]!r} in row {row} is in no table; the symbols known are "
                f"{list(self.symbols)}."
            )
        return places

    def log(self, X: Any) -> Array:
        """ln P(symbol | C_k), shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities.T[self.places(X)]))


def probabilities_of_counts(counts: Any) -> dict[Any, dict[Any, float]]:
    """{label: {symbol: probability}} from {label: {symbol: how many}}."""
    if not isinstance(counts, Mapping) or not all(isinstance(t, Mapping) for t in counts.values()):
        raise ParameterError(
            f"counts is {shown(counts)}; expected {{label: {{symbol: how many}}}}."
        )
    tables = {}
    for label, table in counts.items():
        for symbol, many in table.items():
            NOT_NEGATIVE(f"counts[{label!r}][{symbol!r}]", many)
        total = sum(table.values())
        if not total > 0:
            raise ValueError(
                f"counts of class {label!r}: there are no counts above zero; leave it out."
            )
        tables[label] = {symbol: many / total for symbol, many in table.items()}
    return tables


def is_fixed(densities: Any) -> bool:
    """Whether densities are given, not learned; one density for all classes is a mistake."""
    if hasattr(densities, "logpdf") or hasattr(densities, "logpmf"):
        raise TypeError(
            f"densities is one density, {densities!r}; each class needs its own. Give "
            "{label: density}, or 'gaussian' or 'kde' to learn them."
        )
    return not (isinstance(densities, str) or callable(densities))


def fixed_densities(densities: Any) -> tuple[NDArray[Any], tuple[Density, ...] | Table]:
    """Labels and densities of {label: density}, or of a sequence for the labels 0, 1, ..."""
    try:
        if not isinstance(densities, Mapping | Sequence | np.ndarray):
            raise TypeError(
                f"densities is {densities!r}; give {{label: density}}, 'gaussian' or 'kde'."
            )
        if not isinstance(densities, Mapping):
            densities = dict(enumerate(densities))
        labels, sources = list(densities), list(densities.values())
        require_two_classes(labels)
        classes = np.array(labels) if len({type(label) for label in labels}) == 1 else np.empty(0)
        if classes.shape != (len(labels),):  # labels of mixed types, or that are not scalars
            classes = np.empty(len(labels), dtype=object)
            classes[:] = labels
        tables = sum(isinstance(source, Mapping) for source in sources)
        if tables == len(sources):
            return classes, Table.of(sources, labels)
        if tables:
            raise ValueError("some classes have a table, some a density; give the same kind.")
        return classes, as_densities(sources, labels)
    except (ValueError, TypeError) as error:
        raise named(error, "densities") from None


def require_two_classes(labels: Sequence[Any]) -> None:
    if len(labels) < 2:
        raise ValueError(
            f"y has only {len(labels)} class, {list(labels)}; deciding needs at least two classes."
        )


def priors_of(priors: Any, labels: Sequence[Any], shares: Array | None = None) -> Array:
    """p_j in the order of the labels: as given, by position or by label, else the shares."""
    chosen: Any = shares if priors is None else priors
    if isinstance(chosen, Mapping):
        if set(chosen) != set(labels):
            raise ValueError(f"priors are for {list(chosen)}; the classes are {list(labels)}.")
        chosen = [chosen[label] for label in labels]
    return checked_priors(chosen, len(labels))
