"""Format numbers, names and facts for people; text from files is escaped, never interpreted.

Used by `evaluation`, reports, plots and the command.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date, timedelta
from typing import Any

from adaline.errors import DateColumn as DateColumn
from adaline.errors import plural as plural

LONGEST_TEXT = 2000  # characters; any round number
LONGEST_NAME = 60  # characters, so that a name fits on a line
FOLDS_DIFFER = "the mean of the target differs between folds"
HOLD_OUT = "a hold-out test"  # `Folds.way` where some rows are predicted once


def plain(text: Any, most: int = LONGEST_TEXT, lines: bool = False) -> str:
    """A text with escaped control characters, so that no terminal or page obeys them.

    With `lines`, line breaks stay.

    >>> print(plain("a\\x1b[31mb\\n"))
    a\\x1b[31mb\\n
    """
    escaped = "".join(
        c if c.isprintable() or (lines and c == "\n") else repr(c)[1:-1] for c in str(text)
    )
    return escaped if len(escaped) <= most else escaped[: most - 1] + "…"


def name(text: Any) -> str:
    """The name of a column, label or file, escaped and short enough for a line."""
    return plain(text, LONGEST_NAME)


def listed(names: Any, most: int = 5, quoted: bool = False) -> str:
    """Names with commas; only the first ones if there are many.

    >>> listed(["a", "b"]), listed("abc", most=1, quoted=True)
    ('a, b', "'a' and 2 more")
    """
    texts = [repr(name(one)) if quoted else name(one) for one in names[:most]]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")


def file(path: Any) -> str:
    """The name of a file; of a long path its end.

    >>> file("/one/two/three/" + 50 * "x" + "/penguins.csv")
    '…xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx/penguins.csv'
    """
    escaped = plain(path)
    return escaped if len(escaped) <= LONGEST_NAME else "…" + escaped[1 - LONGEST_NAME :]


def number(value: Any, digits: int = 5) -> str:
    """Counts with thousands separators, other numbers to a few digits, a dash for none.

    >>> number(1234567), number(0.1 + 0.2), number(float("nan")), number(1234.5), number(999.7, 3)
    ('1,234,567', '0.3', '–', '1,234.5', '1,000')
    """
    value = value.item() if hasattr(value, "item") else value  # a numpy scalar
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return plain(value)
    value += 0.0  # no -0
    rounded = abs(float(f"{value:.{digits}g}"))  # 999.7 is 1,000 to three digits
    # No power of ten where the digits before the point suffice.
    return f"{value:,.0f}" if 10**digits <= rounded < 1e9 else f"{value:,.{digits}g}"


def cell(value: float, column: str, digits: int = 5) -> str:
    """A value of a column: a number, or the date of a column of days since 1970.

    >>> cell(19775.0, DateColumn("sold")), cell(19775.0, "size")
    ('2024-02-22', '19,775')
    """
    if isinstance(column, DateColumn) and math.isfinite(value):
        try:
            return (date(1970, 1, 1) + timedelta(math.floor(value))).isoformat()
        except OverflowError:
            pass
    return number(float(value), digits)


def change(step: float, column: str) -> str:
    """An increase of a column.

    >>> change(365.25, DateColumn("sold")), change(1.5, "size")
    ('365 days more', '1.5 more')
    """
    return f"{number(step, 3)}{' days' * isinstance(column, DateColumn)} more"


def percent(share: float) -> str:
    """A share with one decimal; what rounds to zero has no sign.

    >>> percent(0.9876), percent(-0.0001)
    ('98.8%', '0.0%')
    """
    return f"{100 * share:z.1f}%"


def percent_range(low: float, high: float) -> str:
    """Two shares.

    >>> percent_range(0.5, 0.75)
    '50.0 to 75.0%'
    """
    return f"{100 * low:z.1f} to {percent(high)}"


def chance(p: float) -> str:
    """A p-value.

    >>> chance(0.0312), chance(1e-9)
    ('0.0312', '< 0.0001')
    """
    return "< 0.0001" if p < 1e-4 else number(float(p), 3)


def p_value(p: float) -> str:
    """A p-value in a bracket of a sentence.

    >>> p_value(0.0312), p_value(1e-9)
    ('p = 0.0312', 'p < 0.0001')
    """
    return f"p {chance(p)}" if p < 1e-4 else f"p = {chance(p)}"


def capitalised(text: str) -> str:
    """A sentence with its first letter in upper case; the others stay."""
    return text[:1].upper() + text[1:]


def words_for(rows: int, held_out: bool | None, way: str = "") -> str:
    """A description of rows; `way` is how each was predicted by a model without it.

    >>> words_for(80, True), words_for(1, False), words_for(80, None)
    ('80 held-out rows', '1 training row', '80 rows')
    >>> words_for(80, True, "10-fold cross-validation")
    '10-fold cross-validation, 80 rows'
    """
    if way and way != HOLD_OUT:
        return f"{way}, {plural(rows, 'row')}"
    return plural(rows, {None: "row", True: "held-out row", False: "training row"}[held_out])


def quality_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a quality under names for people, as text."""
    rows = _error_rows(facts) if "rmse" in facts else _decision_rows(facts)
    if folds := facts.get("folds"):
        write = (lambda v: number(v, 3)) if "rmse" in facts else percent
        ends = f"{write(folds['least'])} to {write(folds['largest'])}"
        rows.append((f"{folds['measure']} of single folds", ends))
        if _is_outside_folds(facts):
            rows.append(("why R² lies outside that of the folds", FOLDS_DIFFER))
    return rows


def _is_outside_folds(facts: Mapping[str, Any]) -> bool:
    """Whether R² of all rows, about one mean, is not between those of folds, about their own."""
    folds = facts.get("folds")
    if not folds or folds["measure"] != "R²" or facts.get("r2") is None:
        return False
    return not folds["least"] <= facts["r2"] <= folds["largest"]


def _error_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    rows = []
    for key, title in (("r2", "R²"), ("rmse", "root mean squared error")):
        rows.append((title, number(facts[key])))
        if (low := facts.get(f"{key}_low")) is not None:
            ends = f"{number(low, 3)} to {number(facts[f'{key}_high'], 3)}"
            rows.append((f"95% interval of {title}", ends))
    rows += [
        ("mean absolute error", number(facts["mae"])),
        ("largest error", number(facts["worst"])),
        ("root mean squared error of the mean", number(facts["rmse_of_mean"])),
    ]
    if facts["targets"] > 1:
        rows.append(("targets", f"{facts['targets']}; numbers are means over them"))
    return rows


def _decision_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    n, rejected, right = facts["rows"], facts["rejected"], facts["right"]
    rows = [
        ("accuracy", f"{percent(facts['accuracy'])}, {number(right)} of {number(n)}"),
        ("95% interval", percent_range(facts["accuracy_low"], facts["accuracy_high"])),
        (f"always {name(facts['most_common'])!r}", percent(facts["most_common_share"])),
        ("balanced accuracy", percent(facts["balanced_accuracy"])),
    ]
    if rejected:
        rows.append(("rejected", f"{number(rejected)} of {number(n)}"))
    if 0 < rejected < n:
        rows.append(("accuracy where not rejected", percent(right / (n - rejected))))
    if facts.get("auc") is not None:
        ends = f"95% interval {facts['auc_low']:.3f} to {facts['auc_high']:.3f}"
        rows.append(("area under the ROC curve", f"{facts['auc']:.3f} ({ends})"))
    if facts.get("mean_cost") is not None:
        rows.append(("mean cost of a decision", number(facts["mean_cost"])))
        constant = f"mean cost of always {name(facts['constant'])!r}"
        rows.append((constant, number(facts["cost_of_constant"])))
    if facts["log_loss"] is not None:
        rows.append(("mean log loss", number(facts["log_loss"])))
        rows.append(("log loss of the class shares", number(facts["log_loss_of_shares"])))
    return rows


def detail_sentences(facts: Mapping[str, Any]) -> str:
    """What the sentence leaves out: AUC, costs, the interval of R², and single folds.

    >>> detail_sentences({"rmse": 1.0, "r2_low": 0.8, "r2_high": 0.9})
    'Explained variance: 95% interval 80.0 to 90.0%.'
    """
    texts = []
    if facts.get("auc") is not None:
        ends = f"{facts['auc_low']:.3f} to {facts['auc_high']:.3f}"
        texts.append(f"Area under the ROC curve: {facts['auc']:.3f} (95% interval {ends}).")
    if facts.get("mean_cost") is not None:
        texts.append(
            f"Mean cost of a decision: {number(facts['mean_cost'], 3)}; always predicting "
            f"{name(facts['constant'])!r} would cost {number(facts['cost_of_constant'], 3)}."
        )
    if facts.get("r2_low") is not None and facts["r2_high"] > 0:
        ends = percent_range(max(facts["r2_low"], 0.0), facts["r2_high"])
        texts.append(f"Explained variance: 95% interval {ends}.")
    folds = facts.get("folds")
    if folds and folds["measure"] != "root mean squared error":
        ends = percent_range(folds["least"], folds["largest"])
        texts.append(f"Single folds: {folds['measure']} {ends}.")
        if _is_outside_folds(facts):
            texts.append(f"R² of all rows lies outside that of the folds: {FOLDS_DIFFER}.")
    return " ".join(texts)


def class_table(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: precision and recall of each class, with 95% intervals."""

    def share(one: Mapping[str, Any], key: str) -> str:
        if one[key] is None:
            return "–"
        return f"{percent(one[key])} ({100 * one[f'{key}_low']:.0f}–{100 * one[f'{key}_high']:.0f})"

    rows = [
        [
            name(one["label"]),
            number(one["rows"]),
            share(one, "precision"),
            share(one, "recall"),
            number(one["f1"], 3),
        ]
        for one in facts["per_class"]
    ]
    return ["class", "rows", "precision", "recall", "F1"], rows
