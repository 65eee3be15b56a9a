"""Proofs of separability in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability

_SHOWN = 6


def explained(found: Separability, names: Sequence[str]) -> str:
    """The verdict and its proof in a sentence or two, with the names of the columns."""
    if found.verdict == "separable":
        return _separable(found, names)
    if found.verdict == "undecided" and not found.multipliers:
        return (
            f"it is not decided whether a {boundary(found)} separates the classes: "
            f"{found.sentence}."
        )
    words = _obstacle(found)
    if found.verdict == "undecided":
        return (
            f"{words} So they are not separable. If rows may lie on the boundary, it is not "
            f"decided whether a boundary works that not every row lies on: {found.sentence}."
        )
    if found.verdict == "overlapping":
        return (
            f"{words} Even if rows may lie on the boundary, no boundary works, except one that "
            "every row lies on."
        )
    if len(found.labels) == 2:
        these = "this row is" if len(found.rows) == 1 else "these rows are"
        return (
            f"{words} A hyperplane with no row on its wrong side exists, but {these} on it: "
            "the classes touch."
        )
    # Two of the classes may well overlap, and share one output: that they touch is not known.
    return (
        f"{words} A linear machine that puts no row on a wrong side exists, but it leaves these "
        "rows undecided: their classes touch or overlap."
    )


def boundary(found: Separability) -> str:
    """What would separate these classes."""
    return "hyperplane" if len(found.labels) == 2 else "linear machine"


def _separable(found: Separability, names: Sequence[str]) -> str:
    margin = f"the closest at distance {found.margin:.6g}"
    if len(found.labels) == 2:
        formula = _formula(found, names)
        rows = f"all {found.n_rows} rows on their right side"
        return f"the hyperplane {formula} = 0 has {rows}, {margin}."
    return (
        f"a linear machine gives each of the {found.n_rows} rows to its own one of "
        f"{len(found.labels)} classes, {margin} from where another would win."
    )


def _formula(found: Separability, names: Sequence[str]) -> str:
    if found.n_features > _SHOWN:
        return "w'x + b" if found.fit_intercept else "w'x"
    coef = found.coef
    assert coef is not None
    terms = [f"{a:+.4g} {name}" for a, name in zip(coef.tolist(), names, strict=True) if a != 0]
    if found.fit_intercept and found.intercept != 0:
        terms.append(f"{found.intercept:+.4g}")
    text = " ".join(terms) or "0"
    return text[1:] if text[0] == "+" else text


def _obstacle(found: Separability) -> str:
    """What prevents a hyperplane from having every row on its right side."""
    rows, multipliers = found.rows, found.multipliers
    twins = [pair for pair in found.duplicates if {i for i, _ in rows} == set(pair)]
    if found.duplicates and (twins or len(found.labels) == 2):
        i, j = (twins or found.duplicates)[0]
        equal = f"rows {i} and {j} are equal with different labels"
        first = f"{equal}, so no {boundary(found)} separates them"
        if len(rows) == 2 and twins:
            return f"{first}."
        return f"{first}; and {_sum(rows, multipliers)}."
    side = "its right side" if len(found.labels) == 2 else "their right sides"
    them = "it" if len(rows) == 1 else "them all"
    return f"{_sum(rows, multipliers)}, so no {boundary(found)} can have {them} on {side}."


def _sum(rows: Sequence[tuple[int, object]], multipliers: Sequence[int]) -> str:
    names = [str(i) for i, _ in rows]
    if len(rows) == 1:
        return f"row {names[0]} is zero in every column"
    if len(rows) > _SHOWN:
        some = ", ".join(names[:_SHOWN])
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
