"""`Audit`: the answer of `audit`, as text, HTML, a table and JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.certificates.separation.separation import Separability
from adaline.results import Array, Result
from adaline.summaries import data_frame, html_table

CODES = {
    "ADA001": "not converged",
    "ADA002": "separable classes",
    "ADA003": "quasi-separable classes",
    "ADA004": "dependent columns",
    "ADA005": "ill-conditioned columns",
    "ADA006": "another criterion",
    "ADA007": "standard errors are void",
    "ADA008": "reported numbers are off",
}


@dataclass(frozen=True, order=True)
class Check(Result):
    """A finding with a stable code; the guide has a section about each."""

    code: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.code} {CODES[self.code]}: {self.sentence}"


@dataclass(frozen=True, eq=False)
class Audit(Result):
    """What was proven of fitted weights."""

    #: "proven": every coefficient is within a thousandth of itself, or of its standard error, of
    #: the minimiser's. "not the minimiser": it is proven that one is not. "refused": there is no
    #: minimiser, or nothing can be proven.
    verdict: str
    sentence: str
    names: tuple[str, ...]
    #: The audited coefficients and, last, intercepts, (K, p + 1); with K classes without what they
    #: share. So are all tables below.
    weights: Array
    minimiser: Array | None = None  #: Of the criterion.
    #: Proven bounds on the distance of the audited numbers from the exact minimiser.
    distance: Array | None = None
    bound: Array | None = None  #: Proven bounds on the error of `minimiser`.
    std_errors: Array | None = None  #: At the minimum.
    #: Whether the sign of a coefficient is proven to be that of the minimiser.
    signs: NDArray[np.bool_] | None = None
    checks: tuple[Check, ...] = ()
    #: gain (how much the criterion can still decrease), condition, log-likelihood, R².
    facts: dict[str, float] = field(default_factory=dict)
    #: Of classes that can be separated: `check` and `to_json` are its own.
    proof: Separability | None = None
    #: Coefficients proven to grow without bound, with their signs.
    infinite: tuple[tuple[str, int], ...] = ()
    #: Fractions d (p + 1,), the bias last: the loss falls for ever along d, which proves that.
    direction: tuple[str, ...] = ()
    #: Of one output and few rows: numbers from which checkers/check_optimality.py computes
    #: distances from the minimiser in exact arithmetic.
    optimality: dict[str, Any] | None = None
    rows: int = 0
    intercept: bool = True

    @property
    def digits(self) -> Array | None:
        """Proven digits of each audited number, (K, p + 1)."""
        if self.distance is None or self.minimiser is None:
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            digits = -np.log10(self.distance / np.abs(self.minimiser))
        return np.asarray(np.clip(np.nan_to_num(digits, nan=0.0), 0.0, 16.0))

    def _counted(self, table: Any) -> Any:
        return table if self.intercept else table[:, :-1]

    def _lines(self) -> list[str]:
        lines = [f"{self.verdict}: {self.sentence}."]
        p = len(self.names)
        lines.append(f"Data: {self.rows:,} rows, {p:,} column{'s' * (p != 1)}")
        condition = self.facts.get("condition", np.nan)
        lines[-1] += f", condition number {condition:.1e}." if np.isfinite(condition) else "."
        if self.distance is not None and self.digits is not None and self.signs is not None:
            far, digits, signs = map(self._counted, (self.distance, self.digits, self.signs))
            names = [*self.names, "intercept"]
            worst = names[int(np.argmin(digits.min(axis=0)))] if digits.size else "-"
            if np.isfinite(far).all():
                least, middle = digits.min(initial=16.0), np.median(digits)
                lines += [
                    f"Distance from the minimiser: at most {far.max(initial=0.0):.1e} (proven).",
                    f"Digits: at least {least:.1f} ({worst}), median {middle:.1f} (proven).",
                ]
            lines.append(f"Signs: {int(signs.sum())} of {signs.size} are proven.")
            lines.append(f"The criterion can decrease by {self.facts['gain']:.2g}.")
        return lines

    def __str__(self) -> str:
        return "\n".join([*self._lines(), *map(str, self.checks)])

    def to_frame(self) -> Any:
        """One line a coefficient, as a pandas data frame: numbers, distance, digits, sign."""
        K, q = self.weights.shape
        columns: dict[str, Any] = {"output": np.repeat(np.arange(K), q)} if K > 1 else {}
        columns["coef"] = self.weights.ravel()
        tables: dict[str, Any] = {"minimiser": self.minimiser, "distance": self.distance}
        tables |= {"digits": self.digits, "sign proven": self.signs, "std err": self.std_errors}
        columns |= {name: np.ravel(t) for name, t in tables.items() if t is not None}
        return data_frame(columns, index=[*self.names, "intercept"] * K)

    def to_html(self) -> str:
        """The findings and the table as HTML, names escaped."""
        text = "".join(f"<p>{escape(line)}</p>" for line in str(self).split("\n"))
        frame = self.to_frame()
        cells = [["", *frame.columns]]
        for name, row in zip(frame.index, frame.to_numpy(), strict=True):
            cells.append([str(name), *(f"{float(value):.6g}" for value in row)])
        return text + html_table(cells, left=1)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_json(self) -> str:
        """All of it for programs; numbers as the shortest text that gives the same float64."""
        fields = {name: getattr(self, name) for name in ("verdict", "sentence", "names", "rows")}
        for name in ("weights", "minimiser", "distance", "std_errors", "signs"):
            table = getattr(self, name)
            fields[name] = None if table is None else table.tolist()
        fields["checks"] = [{"code": c.code, "sentence": c.sentence} for c in self.checks]
        more = ("facts", "infinite", "direction", "optimality")
        fields |= {name: getattr(self, name) for name in more}
        proof = None if self.proof is None else json.loads(self.proof.to_json())
        return json.dumps(fields | {"proof": proof}, default=float)
