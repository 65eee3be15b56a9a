"""Whether a hyperplane separates classes, with a proof that anyone can check in integers.

Made by procedures/separability; whoever made it, `check` trusts nothing but the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from adaline.certificates.separation import json_text, wording
from adaline.certificates.separation.claims import TooLarge, span, sum_to_zero
from adaline.certificates.separation.data import Data, Label
from adaline.certificates.separation.rows import SignedRows, over_root
from adaline.parameters import ParameterError, shown
from adaline.results import Array, Result

Verdict = Literal["separable", "quasi-separable", "overlapping", "undecided"]


@dataclass(frozen=True)
class Checked:
    """Whether a proof holds for some data, and a sentence that says why; true where it holds."""

    holds: bool
    sentence: str

    def __bool__(self) -> bool:
        return self.holds


@dataclass(frozen=True, eq=False)
class Separability(Result):
    """What hyperplanes can do with labelled rows, and the proof.

    Every row is y = t (1, x), t = ±1 (for K classes: one row a sample and other class, with y'w
    = (w_own - w_other)'(1, x)). Weights w with y'w > 0 for all rows prove "separable". Positive
    multipliers of some rows that sum to zero, sum lambda_i y_i = 0, prove that nobody has y'w > 0
    on all of these; where they span all rows, y'w >= 0 everywhere only if all y'w = 0:
    "overlapping". Otherwise weights with y'w >= 0, zero exactly on rows that the multipliers'
    rows span, prove "quasi-separable": two classes touch; of more, some touch or overlap.

    Attributes
    ----------
    verdict : {"separable", "quasi-separable", "overlapping", "undecided"}
    labels : tuple
        The classes, sorted; the last of two is the positive side.
    weights : tuple of tuples of int
        For the classes from the second on the intercept (if any) and the weights, in whole numbers;
        the first class has zeros. Empty where there is no such proof.
    rows : tuple of (int, label)
        Rows with multipliers, and the other class each is told from.
    multipliers : tuple of int
        Their positive multipliers. Empty where there is no such proof.
    margin : float or None
        Distance of the closest row from its hyperplane, where the verdict is "separable".
    margin_is_maximum : bool
        Whether no hyperplane has a larger margin.
    duplicates : tuple of (int, int)
        Some equal rows with different labels.
    sentence : str
        Why it is undecided, where it is.
    pairwise : mapping of (label, label) to Separability
        The same for each two of more than two classes.
    n_rows, n_features, fit_intercept, fingerprint, is_part
        What the proof is about: rows that count, columns, a hash of them and their labels, and
        whether rows of other labels are left out.
    """

    verdict: Verdict
    labels: tuple[Label, ...]
    n_rows: int
    n_features: int
    fit_intercept: bool
    fingerprint: str
    weights: tuple[tuple[int, ...], ...] = ()
    rows: tuple[tuple[int, Label], ...] = ()
    multipliers: tuple[int, ...] = ()
    margin: float | None = None
    margin_is_maximum: bool = False
    duplicates: tuple[tuple[int, int], ...] = ()
    sentence: str = ""
    is_part: bool = False
    pairwise: Mapping[tuple[Label, Label], Separability] = field(default_factory=dict)

    @property
    def coef(self) -> Array | None:
        """The weights in floats: (p,) of unit length for two classes, else (K, p); None without."""
        return self.to_floats()[0] if self.weights else None

    @property
    def intercept(self) -> Any:
        """The intercept that belongs to `coef`: a number for two classes, else (K,)."""
        return self.to_floats()[1] if self.weights else None

    def to_floats(self) -> tuple[Array, Any]:
        """(coef, intercept)."""
        s = int(self.fit_intercept)
        square = max(sum(a * a for a in w[s:]) for w in self.weights) or 1  # forged: all zero
        W = np.array([[over_root(a, square) for a in w] for w in self.weights])
        if len(self.labels) == 2:
            return W[0, s:], float(W[0, 0]) if s else 0.0
        W = np.concatenate([np.zeros((1, W.shape[1])), W])
        return W[:, s:], W[:, 0].copy() if s else np.zeros(len(W))

    def explain(self, names: Sequence[str] | None = None) -> str:
        """The verdict and its proof in a sentence or two; names of the columns, else x0, x1, ..."""
        p = self.n_features
        if names is None:
            return wording.explain(self, [f"x{j}" for j in range(p)])
        listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
        if len(listed) != p or not all(isinstance(name, str) for name in listed):
            raise ParameterError(
                f"names={shown(names)}; expected a list of {p} texts, one a column."
            )
        return wording.explain(self, listed)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.explain()}"

    def check(self, X: Any, y: Any, sample_weight: Any = None) -> Checked:
        """Verify the proof on data, in integers, without trusting whoever made it.

        Parameters
        ----------
        X, y, sample_weight
            As for `separability`: the same rows, labels and rows of weight zero.

        Returns
        -------
        Checked
            True where the verdict and what else is told of the data are proven; else its
            `sentence` says what is wrong.
        """
        try:
            data = Data.of(X, y, sample_weight)
        except (ValueError, TypeError) as error:
            return Checked(False, f"these are no data to check: {error}")
        return self.check_data(data)

    def check_data(self, data: Data) -> Checked:
        """`check` for data that are validated."""
        if self.is_part:
            if not set(self.labels) <= set(data.labels):
                return Checked(False, f"the proof is about {self.labels}, not {data.labels}.")
            data = data.only(*self.labels)
        if complaint := self.compare(data) or self.find_gap(data):
            return Checked(False, complaint)
        for (a, b), part in self.pairwise.items():
            checked = part.check_data(data) if part.is_part else Checked(False, "it is no part.")
            if not checked:
                return Checked(False, f"classes {a!r} and {b!r}: {checked.sentence}")
        return Checked(True, f"the proof holds: {self.explain()}")

    def compare(self, data: Data) -> str:
        """How the data differ from those the proof was made for; empty where they do not."""
        n, p = data.X.shape
        if (n, p) != (self.n_rows, self.n_features):
            return (
                f"the proof is about {self.n_rows} rows and {self.n_features} columns; these data "
                f"have {n} rows and {p} columns."
            )
        if data.labels != self.labels:
            return f"the proof is about the labels {self.labels}; these data have {data.labels}."
        if data.fingerprint != self.fingerprint:
            return "these are not the numbers and labels the proof was made for."
        return ""

    def find_gap(self, data: Data) -> str:
        """What the proof does not prove; empty where it proves its verdict."""
        rows = SignedRows(data.X, data.codes, len(self.labels), self.fit_intercept)
        for pair in self.duplicates:
            i, j = data.places(pair)
            if i is None or j is None or not data.are_equal(i, j):
                return f"rows {pair[0]} and {pair[1]} are not equal with different labels."
        try:
            if self.verdict == "separable":
                return self.find_gap_of_weights(rows)
            return self.find_gap_of_multipliers(rows, data)
        except TooLarge as error:
            return f"it is too large to check: {error}."

    def find_gap_of_weights(self, rows: SignedRows) -> str:
        """Of weights that should have y'w > 0 on every row."""
        if not self.weights_fit:
            return "its weights do not have one number a column."
        signs, closest = rows.sides(self.weights)
        if signs.min() <= 0:
            i, _ = rows.pair(int(np.argmin(signs)))
            return f"its {wording.boundary(self)} does not have row {i} on the right side."
        distance = rows.distance(closest, self.weights)
        # Equal to ten digits, or both beyond what float64 holds.
        if self.margin is None or not (
            self.margin == distance or abs(self.margin - distance) <= 1e-10 * distance + 1e-300
        ):
            return f"the closest row is at {distance:.6g}, not {self.margin}."
        if self.margin_is_maximum:
            return "that the margin is the largest is not proven here."
        return ""

    def find_gap_of_multipliers(self, rows: SignedRows, data: Data) -> str:
        """Of multipliers, with weights where the rows without multipliers can be separated."""
        if not self.multipliers:
            return "" if self.verdict == "undecided" else "it has no multipliers."
        codes = {label: code for code, label in enumerate(data.labels)}
        support = []
        for i, (_, label) in zip(data.places([i for i, _ in self.rows]), self.rows, strict=True):
            if i is None or codes.get(label) in (None, int(data.codes[i])):
                return "its rows are not rows of these data."
            support.append(rows.row_of(i, codes[label]))
        if len(support) != len(self.multipliers):
            return "its rows are not rows of these data."
        if not sum_to_zero(rows, support, self.multipliers):
            return "its rows with their multipliers do not sum to zero."
        if self.verdict == "undecided":
            return ""
        members = np.arange(rows.count)
        if self.verdict == "quasi-separable":
            if not self.weights_fit:
                return "its weights do not have one number a column."
            signs, _ = rows.sides(self.weights)
            what = wording.boundary(self)
            if signs.min() < 0 or signs.max() <= 0:
                return f"its {what} does not have the rows on the right side, or on it."
            if signs[support].any():
                return f"rows with multipliers are not on its {what}."
            members = np.flatnonzero(signs == 0)
        if not span(rows, support, members, self.verdict == "quasi-separable"):
            return "the rows with multipliers do not span the others."
        return ""

    @property
    def weights_fit(self) -> bool:
        """Whether there is one weight for each column and class but the first."""
        shape = [self.n_features + self.fit_intercept] * (len(self.labels) - 1)
        return [len(w) for w in self.weights] == shape

    def to_json(self) -> str:
        """The proof as JSON, whole numbers as strings, to be sent and checked elsewhere."""
        return json_text.write(self)

    @classmethod
    def from_json(cls, text: str) -> Separability:
        """The proof that `to_json` wrote, still to be checked; ValueError for any other text."""
        return cls(**json_text.read(text, cls))
