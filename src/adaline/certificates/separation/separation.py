"""Whether a hyperplane separates classes, with a proof that anyone can check in integers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from adaline.certificates.separation import _json_text, _words, integer_claims
from adaline.certificates.separation.exact_rows import over_root
from adaline.certificates.separation.given import Given, Label, fingerprint, given
from adaline.certificates.separation.signed_rows import SignedRows
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
        return self._floats()[0] if self.weights else None

    @property
    def intercept(self) -> Any:
        """The intercept that belongs to `coef`: a number for two classes, else (K,)."""
        return self._floats()[1] if self.weights else None

    def _floats(self) -> tuple[Array, Any]:
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
            return _words.explained(self, [f"x{j}" for j in range(p)])
        listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
        if len(listed) != p or not all(isinstance(name, str) for name in listed):
            raise ParameterError(
                f"names={shown(names)}; expected a list of {p} texts, one a column."
            )
        return _words.explained(self, listed)

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
            data = given(X, y, sample_weight)
        except (ValueError, TypeError) as error:
            return Checked(False, f"these are no data to check: {error}")
        return self._check(data)

    def _check(self, data: Given) -> Checked:
        if self.is_part:
            if not set(self.labels) <= set(data.labels):
                return Checked(False, f"the proof is about {self.labels}, not {data.labels}.")
            data = data.only(*self.labels)
        complaint = self._difference(data) or self.gap(data)
        if complaint:
            return Checked(False, complaint)
        for pair, part in self.pairwise.items():
            found = part._check(data) if part.is_part else Checked(False, "it is no part.")
            if not found:
                return Checked(False, f"classes {pair[0]!r} and {pair[1]!r}: {found.sentence}")
        return Checked(True, f"the proof holds: {self.explain()}")

    def _difference(self, data: Given) -> str:
        """How the data differ from those the proof was made for; empty where they do not."""
        n, p = data.X.shape
        if (n, p) != (self.n_rows, self.n_features):
            return (
                f"the proof is about {self.n_rows} rows and {self.n_features} columns; these data "
                f"have {n} rows and {p} columns."
            )
        if data.labels != self.labels:
            return f"the proof is about the labels {self.labels}; these data have {data.labels}."
        if fingerprint(data) != self.fingerprint:
            return "these are not the numbers and labels the proof was made for."
        return ""

    def gap(self, data: Given) -> str:
        """What the proof does not prove; empty where it proves its verdict."""
        rows = SignedRows(data.X, data.codes, len(self.labels), self.fit_intercept)
        for i, j in self.duplicates:
            if not _equal_and_opposite(data, i, j):
                return f"rows {i} and {j} are not equal with different labels."
        try:
            if self.verdict == "separable":
                return self._separates(rows)
            return self._obstructs(rows, data)
        except integer_claims.TooLarge as error:
            return f"it is too large to check: {error}."

    def _separates(self, rows: SignedRows) -> str:
        if self._shapeless():
            return "its weights do not have one number a column."
        signs, closest = rows.sides(self.weights)
        if signs.min() <= 0:
            i, _ = rows.pair(int(np.argmin(signs)))
            return f"its {_words.boundary(self)} does not have row {i} on the right side."
        found = rows.distance(closest, self.weights)
        if self.margin is None or not _close(self.margin, found):
            return f"the closest row is at {found:.6g}, not {self.margin}."
        if self.margin_is_maximum:
            return "that the margin is the largest is not proven here."
        return ""

    def _obstructs(self, rows: SignedRows, data: Given) -> str:
        if not self.multipliers:
            return "" if self.verdict == "undecided" else "it has no multipliers."
        support = supported(data, self.rows, rows)
        if support is None or len(support) != len(self.multipliers):
            return "its rows are not rows of these data."
        if not integer_claims.sum_to_zero(rows, support, self.multipliers):
            return "its rows with their multipliers do not sum to zero."
        if self.verdict == "undecided":
            return ""
        members = np.arange(rows.count)
        if self.verdict == "quasi-separable":
            if self._shapeless():
                return "its weights do not have one number a column."
            signs, _ = rows.sides(self.weights)
            if signs.min() < 0 or signs.max() <= 0:
                what = _words.boundary(self)
                return f"its {what} does not have the rows on the right side, or on it."
            members = np.flatnonzero(signs == 0)
            if signs[support].any():
                return f"rows with multipliers are not on its {_words.boundary(self)}."
        if not integer_claims.span(rows, support, members, self.verdict == "quasi-separable"):
            return "the rows with multipliers do not span the others."
        return ""

    def _shapeless(self) -> bool:
        width = self.n_features + self.fit_intercept
        return len(self.weights) != len(self.labels) - 1 or any(
            len(w) != width for w in self.weights
        )

    def to_json(self) -> str:
        """The proof as JSON, whole numbers as strings, to be sent and checked elsewhere."""
        return _json_text.written(self)

    @classmethod
    def from_json(cls, text: str) -> Separability:
        """The proof that `to_json` wrote, still to be checked; ValueError for any other text."""
        return cls(**_json_text.read(text, cls))


def supported(
    data: Given, pairs: Sequence[tuple[int, Label]], rows: SignedRows
) -> list[int] | None:
    """Numbers of signed rows for (row of the data that came, other label); None for strangers."""
    codes = {label: code for code, label in enumerate(data.labels)}
    numbers = [number for number, _ in pairs]
    places = np.searchsorted(data.numbers, numbers)
    support = []
    for (number, label), i in zip(pairs, places.tolist(), strict=True):
        other = codes.get(label)
        if i >= rows.n or data.numbers[i] != number or other in (None, int(data.codes[i])):
            return None
        support.append(rows.row_of(i, codes[label]))
    return support


def _equal_and_opposite(data: Given, i: int, j: int) -> bool:
    a, b = np.searchsorted(data.numbers, [i, j]).tolist()
    inside = max(a, b) < len(data.numbers) and data.numbers[a] == i and data.numbers[b] == j
    if not inside or data.codes[a] == data.codes[b]:
        return False
    difference = data.X[[a]] != data.X[[b]]
    return not (difference.nnz if hasattr(difference, "nnz") else difference.any())


def _close(a: float, b: float) -> bool:
    """Equal to ten digits, or both beyond what float64 holds."""
    return a == b or abs(a - b) <= 1e-10 * abs(b) + 1e-300
