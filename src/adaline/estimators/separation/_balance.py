"""From errors that balance to a proof: Ho-Kashyap's lambda in whole numbers, or no claim."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.claims import TooLarge, span
from adaline.certificates.separation.rows import SignedRows
from adaline.procedures.separability import decide
from adaline.results import Array, Certificate, Kind
from adaline.tiles import is_sparse

_SECONDS = 3.0  # for one attempt: what integers have not decided by then stays undecided
_FIRST = 20  # times the number of weights: rows of largest lambda that are tried before all
_SMALL = 1e-9  # of the largest lambda: what is below is left out, and the proof must do without


class Balance:
    """Samples that no hyperplane can have on their right sides, as rows with whole multipliers.

    Lambda holds sum lambda_i y_i = 0 only to rounding. The samples it rests on are given to the
    search in integers, which ends with exact multipliers of some of them, or with none.
    """

    def __init__(self, X: Any, t: Array, intercept: bool) -> None:
        self.X, self.codes, self.intercept = X, (t > 0).astype(np.int64), intercept
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.multipliers: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def prove(self, balance: Array) -> bool:
        """Whether the samples with a positive lambda are proven to have no hyperplane."""
        support = np.flatnonzero(balance > _SMALL * balance.max(initial=0.0))
        few = _FIRST * (self.X.shape[1] + 1)
        if len(support) > 2 * few:
            largest = support[np.argpartition(-balance[support], few)[:few]]
            verdict = self._verdict(np.sort(largest))
            if verdict != "separable":  # proven; or undecided, as more rows would be
                return bool(self)
        return len(support) > 1 and self._verdict(support) != "separable" and bool(self)

    def _verdict(self, support: NDArray[np.int64]) -> str:
        X, codes = self.X[support], self.codes[support]
        if len(np.unique(codes)) == 1:
            if self.intercept:
                return "separable"
            X, codes = _one_turned(X), codes.copy()  # -x of the other class is the same row y
            codes[0] = 1 - codes[0]
        found = decide(X, codes, self.intercept, _SECONDS)
        if found.multipliers:
            self.rows = support[[row for row, _ in found.rows]]
            self.multipliers = found.multipliers
        return found.verdict

    def certificate(self) -> Certificate:
        """What the multipliers prove of all samples."""
        m, n, row = len(self.rows), len(self.codes), "(1, x)" if self.intercept else "x"
        evidence = {"rows": self.rows, "multipliers": self.multipliers, "samples": n}
        said = (
            f"{m} of {n} samples, each as t {row} times a positive whole number, sum to zero: "
            "no hyperplane has them all on its right side"
        )
        if self._spans():
            kind: Kind = "overlapping"
        else:
            verdict = decide(self.X, self.codes, self.intercept, _SECONDS).verdict
            if verdict not in ("overlapping", "quasi-separable"):
                said += ", while it is undecided whether the classes overlap or only touch"
            kind = verdict if verdict != "separable" else "undecided"
        return Certificate(kind, f"{said}.", evidence)

    def _spans(self) -> bool:
        signed = SignedRows(self.X.astype(np.float64), self.codes, 2, self.intercept)
        try:
            return span(signed, self.rows.tolist(), np.arange(len(self.codes)), orthogonal=False)
        except TooLarge:
            return False


def _one_turned(X: Any) -> Any:
    X = X.tolil() if is_sparse(X) else X.copy()
    X[0] = -X[0]
    return X.tocsr() if is_sparse(X) else X
