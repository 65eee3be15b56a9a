"""Format numbers, names and facts for people; text from files is escaped, never interpreted.

Used by `evaluation`, reports, plots and the command.

>>> number(1234567), number(0.1 + 0.2), number(float("nan")), number(1234.5), number(999.7, 3)
('1,234,567', '0.3', '–', '1,234.5', '1,000')
>>> percent(0.9876), percent(-0.0001), percent_range(0.5, 0.75), p_value(0.0312), p_value(1e-9)
('98.8%', '0.0%', '50.0 to 75.0%', 'p = 0.0312', 'p < 0.0001')
>>> cell(19775.0, DateColumn("sold")), cell(19775.0, "size"), listed("abc", most=1, quoted=True)
('2024-02-22', '19,775', "'a' and 2 more")
>>> words_for(80, True), words_for(1, False), words_for(80, True, "10-fold cross-validation")
('80 held-out rows', '1 training row', '10-fold cross-validation, 80 rows')
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
    """Names with commas; only the first ones if there are many."""
    texts = [repr(name(one)) if quoted else name(one) for one in names[:most]]
    return ", ".join(texts) + (f" and {len(names) - most} more" if len(names) > most else "")


def file(path: Any) -> str:
    """The name of a file; of a long path its end."""
    escaped = plain(path)
    return escaped if len(escaped) <= LONGEST_NAME else "…" + escaped[1 - LONGEST_NAME :]


def number(value: Any, digits: int = 5) -> str:
    """Counts with thousands separators, other numbers to a few digits, a dash for none."""
    value = value.item() if hasattr(value, "item") else value  # a numpy scalar
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not isinstance(value, int | float):
        return plain(value)
    if isinstance(value, int):
        return f"{value:,}"
    value += 0.0  # no -0
    rounded = abs(float(f"{value:.{digits}g}"))  # 999.7 is 1,000 to three digits
    # No power of ten where the digits before the point suffice.
    return f"{value:,.0f}" if 10**digits <= rounded < 1e9 else f"{value:,.{digits}g}"


def cell(value: float, column: str, digits: int = 5) -> str:
    """A value of a column: a number, or the date of a column of days since 1970."""
    if isinstance(column, DateColumn) and abs(value) < 7e5:  # years 53 to 3886
        return (date(1970, 1, 1) + timedelta(math.floor(value))).isoformat()
    return number(float(value), digits)


def percent(share: float) -> str:
    """A share with one decimal; what rounds to zero has no sign."""
    return f"{100 * share:z.1f}%"


def percent_range(low: float, high: float) -> str:
    """Two shares."""
    return f"{100 * low:z.1f} to {percent(high)}"


def chance(p: float) -> str:
    """A p-value in a table."""
    return "< 0.0001" if p < 1e-4 else number(float(p), 3)


def p_value(p: float) -> str:
    """A p-value in a sentence."""
    return f"p {chance(p)}" if p < 1e-4 else f"p = {chance(p)}"


def capitalised(text: str) -> str:
    """A sentence with its first letter in upper case; the others stay."""
    return text[:1].upper() + text[1:]


def words_for(rows: int, held_out: bool | None, way: str = "") -> str:
    """A description of rows; `way` is how each was predicted by a model without it."""
    if way and way != HOLD_OUT:
        return f"{way}, {plural(rows, 'row')}"
    return plural(rows, {None: "row", True: "held-out row", False: "training row"}[held_out])


def quality_rows(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The numbers of a quality under names for people, as text; what is None is left out."""
    n, folds = facts["rows"], facts.get("folds")

    def between(low: Any, high: Any) -> str | None:
        return None if low is None else f"{number(low, 3)} to {number(high, 3)}"

    rows: dict[str, Any]
    if "rmse" in facts:
        several = f"{facts['targets']}; numbers are means over them"
        rows = {
            "R²": facts["r2"],
            "95% interval of R²": between(facts["r2_low"], facts["r2_high"]),
            "root mean squared error": facts["rmse"],
            "mean absolute error": facts["mae"],
            "largest error": facts["worst"],
            "root mean squared error of the mean": facts["rmse_of_mean"],
            "targets": several if facts["targets"] > 1 else None,
        }
    else:
        right, rejected, auc = facts["right"], facts["rejected"], facts["auc"]
        kept = n - rejected
        rows = {
            "accuracy": f"{percent(facts['accuracy'])}, {number(right)} of {number(n)}",
            "95% interval": percent_range(facts["accuracy_low"], facts["accuracy_high"]),
            f"always {name(facts['most_common'])!r}": percent(facts["most_common_share"]),
            "balanced accuracy": percent(facts["balanced_accuracy"]),
            "rejected": f"{number(rejected)} of {number(n)}" if rejected else None,
            "accuracy where not rejected": percent(right / kept) if rejected and kept else None,
            "area under the ROC curve": None if auc is None else f"{auc:.3f}",
            "mean cost of a decision": facts["mean_cost"],
            f"mean cost of always {name(facts['constant'])!r}": facts["cost_of_constant"],
            "mean log loss": facts["log_loss"],
        }
    if folds:
        show = percent_range if folds["measure"] == "accuracy" else between
        rows[f"{folds['measure']} of single folds"] = show(folds["least"], folds["largest"])
        r2 = facts.get("r2")
        if r2 is not None and not folds["least"] <= r2 <= folds["largest"]:
            why = "the mean of the target differs between folds"
            rows["why R² lies outside that of the folds"] = why
    return [(title, number(value)) for title, value in rows.items() if value is not None]


def detail_sentence(facts: Mapping[str, Any]) -> str:
    """What the sentence of a quality leaves out: AUC, costs, the interval of R², single folds."""
    details = ("area", "mean cost", "95% interval of R²", "accuracy of", "R² of", "why")
    texts = [f"{title}: {text}" for title, text in quality_rows(facts) if title.startswith(details)]
    return f"{capitalised('; '.join(texts))}." if texts else ""


def class_table(facts: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table: precision and recall of each class, with 95% intervals."""
    rows = []
    for one in facts["per_class"]:
        cells = [name(one["label"]), number(one["rows"])]
        for key in ("precision", "recall"):
            low, share, high = (one[f"{key}{end}"] for end in ("_low", "", "_high"))
            ends = "" if share is None else f" ({100 * low:.0f}–{100 * high:.0f})"
            cells.append("–" if share is None else percent(share) + ends)
        rows.append([*cells, number(one["f1"], 3)])
    return ["class", "rows", "precision", "recall", "F1"], rows
