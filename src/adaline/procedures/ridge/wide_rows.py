"""Rows whose columns outnumber them, or that are large and sparse: which procedure solves them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from adaline.procedures.iterative.minimum_norm import iterative_least_squares
from adaline.procedures.iterative.penalties import estimated_penalties
from adaline.procedures.iterative.ridge import iterative_ridge
from adaline.procedures.iterative.sparse_rows import SparseRows, is_large_and_sparse
from adaline.procedures.ridge.dual import dual_ridge
from adaline.procedures.ridge.spectrum import Later, Spectrum, centred_rows
from adaline.procedures.ridge.wide import wide_ridge
from adaline.results import Array, ClosedFit
from adaline.tiles import Rows, is_sparse

SPECTRUM_UP_TO = 3000  # rows of which an n x n matrix has its eigenvalues within seconds


class WideRows:
    """Decides among products alone, one Cholesky factor and a spectrum, and keeps what is used.

    products_only: the penalty is found and the weights are solved for without an n x n matrix.
    spectrum: what path, posterior and evidence will need: a Spectrum, rows to make it of later, or
    None where that is out of reach.
    """

    def __init__(self, rows: Rows, intercept: bool, *, by_rule: bool) -> None:
        n, p = rows.X.shape
        self.rows, self.intercept = rows, intercept
        self.sparse = is_large_and_sparse(rows.X)
        few = n <= SPECTRUM_UP_TO and n <= p
        self.products_only = self.sparse and not (by_rule and few)
        self.centred = None
        self.spectrum: Spectrum | Later | None = None
        if self.products_only:
            self.spectrum = Later(_own(rows), intercept) if few else None
            return
        if by_rule:
            self.spectrum = centred_rows(rows, intercept).spectrum()
        elif p > _FEW:
            self.centred = centred_rows(rows, intercept)
            self.spectrum = Later(_without_x(rows), intercept, self.centred)
        else:
            self.spectrum = Later(_own(rows), intercept)

    def chosen(self, rule: str) -> tuple[Array, list[str]]:
        """The penalty of each target by a rule, and a sentence for each."""
        return estimated_penalties(SparseRows.of(self.rows, self.intercept), rule)

    def solved(
        self, alphas: Array, spectrum: Spectrum | Later | None, units: Array | None
    ) -> ClosedFit:
        """Weights at these penalties, of which one is positive unless rows are large and sparse.

        spectrum is that of the columns in these units, where a rule has chosen them.
        """
        self.spectrum = spectrum
        if self.products_only:
            s = SparseRows.of(self.rows, self.intercept)
            if np.all(alphas > 0):
                return iterative_ridge(s, alphas)
            if np.any(alphas > 0):
                raise ValueError(
                    "alpha is zero for some targets and positive for others; on sparse rows this "
                    "large give either, and fit the others on their own."
                )
            return iterative_least_squares(s)
        if self.centred is not None and units is None and np.all(alphas == alphas[0]):
            found = dual_ridge(self.centred, self.rows, float(alphas[0]))
            if found is not None:
                return found
        if not isinstance(self.spectrum, Spectrum):
            assert self.spectrum is not None
            self.spectrum = self.spectrum.spectrum()
        return wide_ridge(self.spectrum, self.rows, alphas, units)


_FEW = 1024  # columns up to which moments, which are at hand, solve for the weights


def _own(rows: Rows) -> Rows:
    """Copies, which the caller's changes of X do not reach."""
    return replace(rows, X=rows.X.copy(), Y=rows.Y.copy(), omega=rows.omega.copy())


def _without_x(rows: Rows) -> Rows:
    """Rows whose centred copy is kept instead."""
    X = rows.X[:0] if is_sparse(rows.X) else np.empty((0, 0))
    return replace(rows, X=X, Y=np.empty((0, 0)), omega=np.empty(0))
