"""Whether a hyperplane separates classes, with a proof that anyone can check in integers.

Made by procedures/separability; whoever made it, `check` trusts nothing but the data.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from adaline.certificates.separation import checking, json_text, wording
from adaline.certificates.separation.checking import Checked
from adaline.certificates.separation.data import Data, Label
from adaline.certificates.separation.rows import over_root
from adaline.parameters import ParameterError, shown
from adaline.results import Array, Result

Verdict = Literal["separable", "quasi-separable", "overlapping", "undecided"]


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
        return checking.check(self, data)

    def to_json(self) -> str:
        """The proof as JSON, whole numbers as strings, to be sent and checked elsewhere."""
        return json_text.write(self)

    @classmethod
    def from_json(cls, text: str) -> Separability:
        """The proof that `to_json` wrote, still to be checked; ValueError for any other text."""
        return cls(**json_text.read(text, cls))
