"""From errors that balance to a proof: Ho-Kashyap's lambda in whole numbers, or no claim.

Called by `HoKashyap`. lambda holds sum lambda_i y_i = 0 only to rounding. The samples it rests on
are given to the search in integers, which ends with exact multipliers of some of them, or with
none.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.checking import TooLarge, span
from adaline.certificates.separation.data import Data, as_float64
from adaline.certificates.separation.rows import SignedRows
from adaline.procedures.separability import decide_data
from adaline.results import Array, Certificate, Kind

SECONDS = 3.0  # for one attempt: what integers have not decided by then stays undecided
FIRST = 20  # times the number of weights: rows of largest lambda that are tried before all
SMALL = 1e-9  # of the largest lambda: what is below is left out, and the proof must do without


class Balance:
    """Samples that no hyperplane can have on their right sides, as rows with whole multipliers."""

    def __init__(self, X: Any, t: Array, intercept: bool) -> None:
        self.X, self.t, self.intercept = X, t, intercept
        self.rows: NDArray[np.int64] = np.empty(0, dtype=np.int64)
        self.multipliers: tuple[int, ...] = ()

    @cached_property
    def data(self) -> Data:
        """The samples, made ready for proofs; most fits need none."""
        codes = (self.t > 0).astype(np.int64)
        return Data(as_float64(self.X), codes, (0, 1), np.arange(len(codes)))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def prove(self, balance: Array) -> bool:
        """Whether the samples with a positive lambda are proven to have no hyperplane."""
        support = np.flatnonzero(balance > SMALL * balance.max(initial=0.0))
        few = FIRST * (self.X.shape[1] + 1)
        attempts = [support]
        if len(support) > 2 * few:
            largest = np.argpartition(-balance[support], few)[:few]
            attempts = [np.sort(support[largest]), support]
        for rows in attempts:
            if len(rows) < 2:
                return False
            part = replace(self.data, X=self.data.X[rows], codes=self.data.codes[rows])
            proof = decide_data(replace(part, numbers=rows), self.intercept, SECONDS)
            if proof.multipliers:
                self.rows = np.array([row for row, _ in proof.rows])
                self.multipliers = proof.multipliers
            if proof.verdict != "separable":  # proven; or undecided, as more rows would be
                break
        return bool(self)

    def certificate(self) -> Certificate:
        """What the multipliers prove of all samples."""
        m, n, row = len(self.rows), len(self.data.codes), "(1, x)" if self.intercept else "x"
        evidence = {"rows": self.rows, "multipliers": self.multipliers, "samples": n}
        statement = (
            f"{m} of {n} samples, each as t {row} times a positive whole number, sum to zero: "
            "no hyperplane has them all on its right side"
        )
        signed = SignedRows(self.data.X, self.data.codes, 2, self.intercept)
        kind: Kind = "undecided"
        try:
            spans = span(signed, self.rows.tolist(), np.arange(n), orthogonal=False)
        except TooLarge:
            spans = False
        if spans:
            kind = "overlapping"
        else:
            verdict = decide_data(self.data, self.intercept, SECONDS).verdict
            if verdict in ("overlapping", "quasi-separable"):
                kind = verdict
            else:
                statement += ", while it is undecided whether the classes overlap or only touch"
        return Certificate(kind, f"{statement}.", evidence)
