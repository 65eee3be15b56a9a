"""Whether a hyperplane separates classes, with a proof that anyone can check in integers.

Made by procedures/separability; whoever made it, `check` trusts nothing but the data, and JSON is
read back with suspicion: validated, and nothing is run.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from adaline.certificates.separation import checking
from adaline.certificates.separation.checking import Checked
from adaline.certificates.separation.data import Data, Label
from adaline.certificates.separation.rows import over_root
from adaline.parameters import ParameterError, shown
from adaline.results import Array, Result

FORMAT = "adaline separability proof"
VERSION = 1
LONGEST = 2**28  # characters of a proof: 256 MB
LONGEST_NUMBER = 200_000  # hexadecimal digits
LARGEST_COUNT = 2**31  # of rows and columns

SHOWN = 6  # rows and columns that are listed in a sentence

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
            return self._explain([f"x{j}" for j in range(p)])
        listed = list(names) if isinstance(names, Sequence) and not isinstance(names, str) else []
        if len(listed) != p or not all(isinstance(name, str) for name in listed):
            raise ParameterError(
                f"names={shown(names)}; expected a list of {p} texts, one a column."
            )
        return self._explain(listed)

    def __str__(self) -> str:
        return f"{self.verdict}: {self.explain()}"

    def _explain(self, names: Sequence[str]) -> str:
        """The verdict and its proof in a sentence or two, with the names of the columns."""
        if self.verdict == "separable":
            return self._explain_weights(names)
        if self.verdict == "undecided" and not self.multipliers:
            return (
                f"it is not decided whether a {self.boundary} separates the classes: "
                f"{self.sentence}."
            )
        words = self._explain_multipliers()
        if self.verdict == "undecided":
            return (
                f"{words} So they are not separable. If rows may lie on the boundary, it is not "
                f"decided whether a boundary works that not every row lies on: {self.sentence}."
            )
        if self.verdict == "overlapping":
            return (
                f"{words} Even if rows may lie on the boundary, no boundary works, except one that "
                "every row lies on."
            )
        if len(self.labels) == 2:
            these = "this row is" if len(self.rows) == 1 else "these rows are"
            return (
                f"{words} A hyperplane with no row on its wrong side exists, but {these} on it: "
                "the classes touch."
            )
        # Two of the classes may well overlap, and share one output: that they touch is not known.
        return (
            f"{words} A linear machine that puts no row on a wrong side exists, but it leaves "
            "these rows undecided: their classes touch or overlap."
        )

    @property
    def boundary(self) -> str:
        return "hyperplane" if len(self.labels) == 2 else "linear machine"

    def _explain_weights(self, names: Sequence[str]) -> str:
        margin = f"the closest at distance {self.margin:.6g}"
        if len(self.labels) == 2:
            formula = self._write_formula(names)
            return f"the hyperplane {formula} = 0 separates all {self.n_rows} rows, {margin}."
        return (
            f"a linear machine gives each of the {self.n_rows} rows to its own one of "
            f"{len(self.labels)} classes, {margin} from where another would win."
        )

    def _write_formula(self, names: Sequence[str]) -> str:
        if self.n_features > SHOWN:
            return "w'x + b" if self.fit_intercept else "w'x"
        coef = self.coef
        assert coef is not None
        terms = [f"{a:+.4g} {name}" for a, name in zip(coef.tolist(), names, strict=True) if a != 0]
        if self.fit_intercept and self.intercept != 0:
            terms.append(f"{self.intercept:+.4g}")
        text = " ".join(terms) or "0"
        return text[1:] if text[0] == "+" else text

    def _explain_multipliers(self) -> str:
        """Why no hyperplane separates the rows."""
        rows, multipliers = self.rows, self.multipliers
        twins = [pair for pair in self.duplicates if {i for i, _ in rows} == set(pair)]
        if self.duplicates and (twins or len(self.labels) == 2):
            i, j = (twins or self.duplicates)[0]
            equal = f"rows {i} and {j} are equal with different labels"
            first = f"{equal}, so no {self.boundary} separates them"
            if len(rows) == 2 and twins:
                return f"{first}."
            return f"{first}; and {write_sum(rows, multipliers)}."
        separates = "has it on either side" if len(rows) == 1 else "separates them"
        return f"{write_sum(rows, multipliers)}, so no {self.boundary} {separates}."

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
        fields = {"format": FORMAT, "version": VERSION, **to_fields(self)}
        return json.dumps(fields, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Separability:
        """The proof that `to_json` wrote, still to be checked; ValueError for any other text."""
        return cls(**read_json(text))


def write_sum(rows: Sequence[tuple[int, object]], multipliers: Sequence[int]) -> str:
    names = [str(i) for i, _ in rows]
    if len(rows) == 1:
        return f"row {names[0]} is zero in every column"
    if len(rows) > SHOWN:
        some = ", ".join(names[:SHOWN])
        signed = "each times its label's sign and a positive weight"
        return f"{len(rows)} rows ({some}, ...), {signed}, sum to zero"
    total = sum(multipliers)
    short = all(m < 10**6 for m in multipliers)
    weights = [str(m) if short else f"{m / total:.4g}" for m in multipliers]
    listed = f"{', '.join(names[:-1])} and {names[-1]}"
    about = "" if short else "about "
    return (
        f"rows {listed}, each times its label's sign and the positive weights "
        f"{about}{', '.join(weights)}, sum to zero"
    )


def to_fields(proof: Separability) -> dict[str, Any]:
    fields = {name: getattr(proof, name) for name in FIELDS}
    return fields | {
        "weights": [[hex(a) for a in w] for w in proof.weights],
        "multipliers": [hex(a) for a in proof.multipliers],
        "margin": None if proof.margin is None else proof.margin.hex(),
        "pairwise": [[*pair, to_fields(part)] for pair, part in proof.pairwise.items()],
    }


def read_json(text: str) -> dict[str, Any]:
    """Validated fields of a proof."""
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ValueError(f"a proof is a text of at most {LONGEST} characters.")
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"this is no JSON: {error}") from None
    if not isinstance(fields, dict) or fields.pop("format", None) != FORMAT:
        raise ValueError(f"this is not a JSON object of the format {FORMAT!r}.")
    if fields.pop("version", None) != VERSION:
        raise ValueError(f"this proof has another version than {VERSION}.")
    return validate(fields)


def validate(fields: Any, is_part: bool = False) -> dict[str, Any]:
    """Every field as `Separability` takes it; what the sentences speak of has to be there."""
    require(isinstance(fields, dict) and set(fields) == set(FIELDS), "the fields are not those")
    result = {name: read(fields[name], kind, name) for name, kind in FIELDS.items()}
    require(not is_part or not result["pairwise"], "parts have parts")
    parts = {(a, b): Separability(**validate(part, True)) for a, b, part in result["pairwise"]}
    weights, multipliers = result["weights"], result["multipliers"]
    require(len(result["rows"]) == len(multipliers), "rows and multipliers do not match")
    require(all(m > 0 for m in multipliers), "a multiplier is not positive")
    shape = [result["n_features"] + result["fit_intercept"]] * (len(result["labels"]) - 1)
    require(not weights or [len(w) for w in weights] == shape, "weights are not one a column")
    if result["verdict"] == "separable":
        require(weights and result["margin"] is not None, "weights or the margin are missing")
    elif result["verdict"] != "undecided":
        require(multipliers, "multipliers are missing")
    return result | {"pairwise": parts}


def require(condition: Any, complaint: str) -> None:
    if not condition:
        raise ValueError(f"this is not a proof of separability: {complaint}.")


def read(value: Any, kind: Any, name: str) -> Any:
    """The value as a list of one kind, as a row of kinds, or as what a function makes of it."""
    if isinstance(kind, list | tuple):
        kinds = kind * len(value) if isinstance(kind, list) and isinstance(value, list) else kind
        require(isinstance(value, list) and len(kinds) == len(value), f"{name} is not whole")
        return tuple(read(v, k, name) for v, k in zip(value, kinds, strict=True))
    try:
        result, known = kind(value), value is None and kind is as_margin
    except (TypeError, ValueError, OverflowError):
        result, known = None, False
    require(known or result is not None, f"{name} is not valid")
    return result


def as_text(pattern: str, longest: int) -> Callable[[Any], str | None]:
    return lambda a: a if len(a) <= longest and re.fullmatch(pattern, a, re.DOTALL) else None


def as_label(a: Any) -> Any:
    return a if isinstance(a, str) or (isinstance(a, int | float) and math.isfinite(a)) else None


def as_count(a: Any) -> int | None:
    return a if type(a) is int and 0 <= a < LARGEST_COUNT else None


def as_flag(a: Any) -> bool | None:
    return a if isinstance(a, bool) else None


def as_integer(a: Any) -> int:
    return int(as_text(r"-?0x[0-9a-f]+", LONGEST_NUMBER)(a) or "", 16)


def as_margin(a: Any) -> float | None:
    return None if a is None else float.fromhex(as_text(".*", 40)(a) or "")


FIELDS: dict[str, Any] = {
    "verdict": as_text("|".join(get_args(Verdict)), 20),
    "labels": [as_label],
    "n_rows": as_count,
    "n_features": as_count,
    "fit_intercept": as_flag,
    "fingerprint": as_text("[0-9a-f]{64}", 64),
    "weights": [[as_integer]],
    "rows": [(as_count, as_label)],
    "multipliers": [as_integer],
    "margin": as_margin,
    "margin_is_maximum": as_flag,
    "duplicates": [(as_count, as_count)],
    "sentence": as_text(".*", 10_000),
    "is_part": as_flag,
    "pairwise": [(as_label, as_label, dict)],
}
