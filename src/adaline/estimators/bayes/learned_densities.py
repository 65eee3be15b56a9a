"""Class densities learned from the rows of each class: Gaussian, kernels, or a user's recipe."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import gaussian_kde

from adaline.errors import IllConditionedWarning
from adaline.estimators._refusals import GUARD
from adaline.estimators.bayes.densities import Density, given
from adaline.parameters import shown
from adaline.results import Array, Result

FLOOR = float(np.sqrt(np.finfo(np.float64).eps))
"""Smallest eigenvalue a learned correlation matrix may keep: below it, the inverse has lost half
the digits."""


@dataclass(frozen=True)
class Gaussian(Result):
    """N(m, C) with C = D (Q diag(l) Q') D, where D = diag(unit) are the columns' own units.

    Attributes
    ----------
    mean, unit : ndarray of shape (p,)
    eigenvalues, axes : ndarray of shape (p,) and (p, p)
        l and Q of the correlation matrix, ridge included.
    ridge : float
        What was added to the diagonal of the correlation matrix; zero where nothing was needed.
    """

    mean: Array
    unit: Array
    eigenvalues: Array
    axes: Array
    ridge: float

    @classmethod
    def of(cls, X: Array, other_unit: Array) -> Gaussian:
        """Maximum likelihood from the rows of one class, with the least ridge that inverts.

        A column without spread in this class is measured in other_unit.
        """
        mean, own = X.mean(axis=0), _spread(X)
        unit = np.where(own > 0.0, own, other_unit)
        Z = np.where(own > 0.0, (X - mean) / unit, 0.0)
        eigenvalues, axes = np.linalg.eigh(Z.T @ Z / len(X))
        ridge = max(0.0, FLOOR - float(eigenvalues[0]))
        return cls(mean, unit, np.maximum(eigenvalues + ridge, FLOOR), axes, ridge)

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


def _spread(X: Array) -> Array:
    """Standard deviation of the columns, zero where it is only rounding; no overflow."""
    deviation = X - X.mean(axis=0)
    largest = np.abs(deviation).max(axis=0)
    largest[largest <= 4.0 * np.finfo(np.float64).eps * np.abs(X).max(axis=0)] = 0.0
    unit = np.where(largest > 0.0, largest, 1.0)
    return np.asarray(largest * np.sqrt(np.mean((deviation / unit) ** 2, axis=0)))


def gaussians(groups: Sequence[Array], labels: Sequence[Any]) -> list[Gaussian]:
    """A Gaussian with its own full covariance for each class; a needed ridge is told."""
    within = _spread(np.concatenate([X - X.mean(axis=0) for X in groups]))
    overall = _spread(np.concatenate(groups))
    unit = np.where(within > 0.0, within, np.where(overall > 0.0, overall, 1.0))
    found = [Gaussian.of(X, unit) for X in groups]
    singular = [k for k, density in enumerate(found) if density.ridge > 0.0]
    if singular:
        k = singular[0]
        n, p = groups[k].shape
        warnings.warn(
            f"{len(singular)} of {len(groups)} classes have a singular covariance, first class "
            f"{labels[k]!r} ({n} rows, {p} columns); a ridge of {found[k].ridge:.1e} of the "
            "columns' variance makes it invertible (ridge_), and its density is a sharp peak. "
            "More rows, fewer columns, or GaussianClassifier, which shares one covariance, "
            "would be safer.",
            IllConditionedWarning,
            stacklevel=4 + GUARD,
        )
    return found


def kernel_estimates(groups: Sequence[Array], labels: Sequence[Any]) -> list[gaussian_kde]:
    """A Gaussian kernel density estimate for each class (Scott's bandwidth)."""
    found = []
    for X, label in zip(groups, labels, strict=True):
        try:
            found.append(gaussian_kde(X.T))
        except (np.linalg.LinAlgError, ValueError) as error:
            raise ValueError(
                f"no kernel density for class {label!r}: {len(X)} rows in {X.shape[1]} columns "
                "have a singular covariance. Give more rows or fewer columns, or use "
                "densities='gaussian'."
            ) from error
    return found


def learned(recipe: Any, groups: Sequence[Array], labels: Sequence[Any]) -> tuple[Density, ...]:
    """Densities of the classes, each from its rows, by "gaussian", "kde" or a function."""
    sources: Sequence[Any]
    if recipe == "gaussian":
        sources = gaussians(groups, labels)
    elif recipe == "kde":
        sources = kernel_estimates(groups, labels)
    elif callable(recipe):
        return _by_function(recipe, groups, labels)
    else:
        raise ValueError(f"densities is {recipe!r}; the names known are 'gaussian' and 'kde'.")
    return given(sources, labels)


def _by_function(
    recipe: Any, groups: Sequence[Array], labels: Sequence[Any]
) -> tuple[Density, ...]:
    try:
        return given([recipe(X) for X in groups], labels)
    except (ValueError, TypeError) as error:
        raise TypeError(
            f"densities is {shown(recipe)}, which gave no density for the rows of a class: {error}"
        ) from error
