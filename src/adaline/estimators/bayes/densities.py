"""Class densities f(x | C_j) of any make behind one face, and tables of symbols."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import gaussian_kde

from adaline.decisions import checked_priors
from adaline.parameters import NOT_NEGATIVE, ParameterError, named, shown
from adaline.results import Array, Result


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
                f"the density of class {label!r} is {source!r}, which has neither logpdf nor "
                "logpmf. Give a frozen scipy.stats distribution such as norm(0, 1), an object "
                "with logpdf, or a table {symbol: probability}."
            )
        kinds = {kind.__name__ for kind in type(source).__mro__}
        discrete = not hasattr(source, "logpdf") or "DiscreteDistribution" in kinds
        return cls(source, _dimension(source), discrete, label)

    def log(self, X: Array) -> Array:
        """ln f(x | C_j) of the rows of X."""
        n, p = X.shape
        if self.dimension not in (None, p):
            raise ValueError(
                f"X has {p} features and the density of class {self.label!r} has "
                f"{self.dimension}. Give densities of all features together, such as "
                "scipy.stats.multivariate_normal, or the one column they describe."
            )
        source = _writeable(self.source)
        evaluate = source.logpmf if self.discrete else source.logpdf
        rows: Any = X[:, 0] if p == 1 else X
        values = np.asarray(
            evaluate(X.T if isinstance(self.source, gaussian_kde) else rows), dtype=np.float64
        )
        if values.size != n or values.ndim > 1:
            raise ValueError(
                f"the density of class {self.label!r} gave shape {values.shape} for {n} rows of "
                f"{p} features; logpdf must give one number a row. A one-dimensional density "
                "needs one feature."
            )
        return values.reshape(n)

    @property
    def can_draw(self) -> bool:
        return any(hasattr(self.source, name) for name in ("rvs", "resample", "sample"))

    def draw(self, n: int, rng: np.random.Generator) -> Array:
        """n random rows."""
        if isinstance(self.source, gaussian_kde):
            rows = _writeable(self.source).resample(n, seed=rng).T
        elif hasattr(self.source, "rvs"):
            rows = self.source.rvs(size=n, random_state=rng)
        else:
            rows = self.source.sample(n, rng=rng)
        return np.asarray(rows, dtype=np.float64).reshape(n, -1)


def _writeable(source: Any) -> Any:
    """The density; a kernel density estimate whose arrays are read-only, with copies of them.

    scipy's compiled loop asks for arrays that it could write, although it does not.
    """
    if not isinstance(source, gaussian_kde):
        return source
    arrays = {key: v for key, v in vars(source).items() if isinstance(v, np.ndarray)}
    if all(array.flags.writeable for array in arrays.values()):
        return source
    source = copy(source)
    vars(source).update({key: np.array(array) for key, array in arrays.items()})
    return source


def _dimension(source: Any) -> int | None:
    if isinstance(source, gaussian_kde):
        return int(source.d)
    if hasattr(source, "ppf") or hasattr(source, "icdf"):  # quantiles: a line
        return 1
    dimension = getattr(source, "dim", None)
    return int(dimension) if isinstance(dimension, (int, np.integer)) else None


def given(sources: Iterable[Any], labels: Sequence[Any]) -> tuple[Density, ...]:
    """Densities as they came, all of one kind: a density and a probability do not compare."""
    found = tuple(Density.of(f, label) for f, label in zip(sources, labels, strict=True))
    if len({density.discrete for density in found}) > 1:
        raise ValueError(
            "some classes have a probability (logpmf) and some a density (logpdf), and the two "
            "cannot be compared. Give all classes the same kind."
        )
    return found


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
            raise ValueError(
                f"X has shape {column.shape}; a table of symbols needs one column of at least "
                "one symbol, such as ['orange', 'apple']."
            )
        place = {symbol: s for s, symbol in enumerate(self.symbols)}
        for row, symbol in enumerate(column):
            if symbol not in place:
                raise ValueError(
                    f"symbol {symbol!r} in row {row} is in no table; the symbols known are "
                    f"{list(self.symbols)}."
                )
        return np.array([place[symbol] for symbol in column], dtype=np.intp)

    def log(self, X: Any) -> Array:
        """ln P(symbol | C_k), shape (n, K)."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities.T[self.places(X)]))


def counted(counts: Any) -> dict[Any, dict[Any, float]]:
    """{label: {symbol: probability}} from {label: {symbol: how many}}."""
    if not isinstance(counts, Mapping) or not all(isinstance(t, Mapping) for t in counts.values()):
        raise ParameterError(
            f"counts is {shown(counts)}; expected {{label: {{symbol: how many}}}}."
        )
    return {label: _shares(table, label) for label, table in counts.items()}


def _shares(counts: Mapping[Any, float], label: Any) -> dict[Any, float]:
    """{symbol: probability} from {symbol: how many}."""
    for symbol, many in counts.items():
        NOT_NEGATIVE(f"counts[{label!r}][{symbol!r}]", many)
    total = sum(counts.values())
    if not total > 0:
        raise ValueError(
            f"counts of class {label!r}: there are no counts above zero; leave it out."
        )
    return {symbol: count / total for symbol, count in counts.items()}


def is_fixed(densities: Any) -> bool:
    """Whether densities are given, not learned; one density for all classes is a mistake."""
    if hasattr(densities, "logpdf") or hasattr(densities, "logpmf"):
        raise TypeError(
            f"densities is one density, {densities!r}; each class needs its own. Give "
            "{label: density}, or 'gaussian' or 'kde' to learn them."
        )
    return not (isinstance(densities, str) or callable(densities))


def fixed(densities: Any) -> tuple[NDArray[Any], tuple[Density, ...] | Table]:
    """Labels and densities of {label: density}, or of a sequence for the labels 0, 1, ..."""
    try:
        return _fixed(densities)
    except (ValueError, TypeError) as error:
        raise named(error, "densities") from None


def _fixed(densities: Any) -> tuple[NDArray[Any], tuple[Density, ...] | Table]:
    if not isinstance(densities, (Mapping, Sequence, np.ndarray)):
        raise TypeError(
            f"densities is {densities!r}; give {{label: density}}, a sequence of densities, "
            "'gaussian', 'kde' or a function."
        )
    if not isinstance(densities, Mapping):
        densities = dict(enumerate(densities))
    labels, sources = list(densities), list(densities.values())
    at_least_two(labels)
    classes = np.array(labels) if len({type(label) for label in labels}) == 1 else np.empty(0)
    if classes.shape != (len(labels),):  # labels of mixed types, or that are not scalars
        classes = np.empty(len(labels), dtype=object)
        classes[:] = labels
    tables = [isinstance(source, Mapping) for source in sources]
    if all(tables):
        return classes, Table.of(sources, labels)
    if any(tables):
        raise ValueError("some classes have a table and some a density; give all the same kind.")
    return classes, given(sources, labels)


def at_least_two(labels: Sequence[Any]) -> None:
    if len(labels) < 2:
        raise ValueError(
            f"y has only {len(labels)} class, {list(labels)}; deciding needs at least two "
            "classes. Give rows, or a density, of another class."
        )


def priors_of(priors: Any, labels: Sequence[Any], shares: Array | None = None) -> Array:
    """p_j in the order of the labels: as given, by position or by label, else the shares."""
    chosen: Any = shares if priors is None else priors
    if isinstance(chosen, Mapping):
        if set(chosen) != set(labels):
            raise ValueError(f"priors are for {list(chosen)}; the classes are {list(labels)}.")
        chosen = [chosen[label] for label in labels]
    return checked_priors(chosen, len(labels))


def as_column(X: Any, family: tuple[Density, ...]) -> Any:
    """A vector as one column, where the densities are of one feature."""
    if any(density.dimension not in (None, 1) for density in family) or np.ndim(X) != 1:
        return X
    return np.asarray(X).reshape(-1, 1)
