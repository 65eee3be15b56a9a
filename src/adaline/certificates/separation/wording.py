"""Proofs of separability in sentences. Called by `Separability.explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adaline.certificates.separation.separation import Separability

SHOWN = 6  # rows and columns that are listed


def explain(proof: Separability, names: Sequence[str]) -> str:
    """The verdict and its proof in a sentence or two, with the names of the columns."""
    if proof.verdict == "separable":
        return explain_weights(proof, names)
    if proof.verdict == "undecided" and not proof.multipliers:
        return (
            f"it is not decided whether a {boundary(proof)} separates the classes: "
            f"{proof.sentence}."
        )
    words = explain_multipliers(proof)
    if proof.verdict == "undecided":
        return (
            f"{words} So they are not separable. If rows may lie on the boundary, it is not "
            f"decided whether a boundary works that not every row lies on: {proof.sentence}."
        )
    if proof.verdict == "overlapping":
        return (
            f"{words} Even if rows may lie on the boundary, no boundary works, except one that "
            "every row lies on."
        )
    if len(proof.labels) == 2:
        these = "this row is" if len(proof.rows) == 1 else "these rows are"
        return (
            f"{words} A hyperplane with no row on its wrong side exists, but {these} on it: "
            "the classes touch."
        )
    # Two of the classes may well overlap, and share one output: that they touch is not known.
    return (
        f"{words} A linear machine that puts no row on a wrong side exists, but it leaves these "
        "rows undecided: their classes touch or overlap."
    )


def boundary(proof: Separability) -> str:
    """What would separate these classes."""
    return "hyperplane" if len(proof.labels) == 2 else "linear machine"


def explain_weights(proof: Separability, names: Sequence[str]) -> str:
    margin = f"the closest at distance {proof.margin:.6g}"
    if len(proof.labels) == 2:
        formula = write_formula(proof, names)
        rows = f"all {proof.n_rows} rows on their right side"
        return f"the hyperplane {formula} = 0 has {rows}, {margin}."
    return (
        f"a linear machine gives each of the {proof.n_rows} rows to its own one of "
        f"{len(proof.labels)} classes, {margin} from where another would win."
    )


def write_formula(proof: Separability, names: Sequence[str]) -> str:
    if proof.n_features > SHOWN:
        return "w'x + b" if proof.fit_intercept else "w'x"
    coef = proof.coef
    assert coef is not None
    terms = [f"{a:+.4g} {name}" for a, name in zip(coef.tolist(), names, strict=True) if a != 0]
    if proof.fit_intercept and proof.intercept != 0:
        terms.append(f"{proof.intercept:+.4g}")
    text = " ".join(terms) or "0"
    return text[1:] if text[0] == "+" else text


def explain_multipliers(proof: Separability) -> str:
    """What prevents a hyperplane from having every row on its right side."""
    rows, multipliers = proof.rows, proof.multipliers
    twins = [pair for pair in proof.duplicates if {i for i, _ in rows} == set(pair)]
    if proof.duplicates and (twins or len(proof.labels) == 2):
        i, j = (twins or proof.duplicates)[0]
        equal = f"rows {i} and {j} are equal with different labels"
        first = f"{equal}, so no {boundary(proof)} separates them"
        if len(rows) == 2 and twins:
            return f"{first}."
        return f"{first}; and {write_sum(rows, multipliers)}."
    side = "its right side" if len(proof.labels) == 2 else "their right sides"
    them = "it" if len(rows) == 1 else "them all"
    return f"{write_sum(rows, multipliers)}, so no {boundary(proof)} can have {them} on {side}."


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
