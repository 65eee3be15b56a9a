"""`Report`: all that a page says, as plain data; `write_report`: the page in a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np

from adaline.data.outputs import write_atomically
from adaline.evaluation import checks, evidence
from adaline.evaluation.check import Check
from adaline.evaluation.coefficients import spreads_of
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.drivers import drivers
from adaline.evaluation.effects import effects
from adaline.evaluation.quality import Quality, shown
from adaline.evaluation.thresholds import Thresholds, thresholds
from adaline.evaluation.verdict import column_names, judged
from adaline.evaluation.words import name, plain
from adaline.report import _cards
from adaline.report._cards import Card, Table
from adaline.report._limits import Tile, limits, question, tiles
from adaline.report._options import check_options, check_page, checked_warnings, learned_rows
from adaline.report._page import rendered
from adaline.report._pictures import Picture, effect_pictures, pictures
from adaline.report._rows import are_apart, rows_of

LARGEST = 500_000  # bytes of a page: small enough for a letter
_CODE = 20_000


@dataclass(frozen=True)
class Report:
    """What a report says of one fitted model, before it becomes a page.

    Attributes
    ----------
    title : str
    verdict : tuple of str
        Sentences: quality first, then what is proven.
    quality, data_card, model_card, statistics : tuple of (str, str)
        Named facts; `statistics` are those of `summary()`, of the rows learned from.
    tables : tuple of Table
        Coefficients, and the columns of the rows.
    pictures : tuple of Picture
    warnings : tuple of str
        Each with advice.
    drivers : tuple of str
        The columns that move the answers most, a sentence each.
    first : int
        How many sentences of the verdict are about the quality; what is proven comes after them.
    notes : tuple of str
        What is not in the report, and why.
    code : str
        Python that fits the model again.
    asked : str
        What was asked, of which learner, and which rows there were.
    tiles : tuple of (str, str)
        The numbers to take away, the best that does without a model among them.
    checks : tuple of Check
        Probabilities or residuals, drift and single rows, each with a verdict in words.
    limits : tuple of str
        What the model is for, and where what is known of it ends.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, Report
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = X @ [1.0, 2.0] + 0.1 * rng.standard_normal(200)
    >>> model = LeastSquares().fit(X[:100], y[:100])
    >>> report = Report.of(model, X[100:], y[100:], names=["age", "dose"], held_out=True)
    >>> print(report.verdict[0])
    Explains 99.8 % of the variance of 100 held-out rows and is off by 0.0913 ...
    >>> "<svg" in report.html()
    True
    """

    title: str
    verdict: tuple[str, ...]
    quality: Card
    data_card: Card
    model_card: Card
    statistics: Card
    tables: tuple[Table, ...]
    pictures: tuple[Picture, ...]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]
    code: str
    drivers: tuple[str, ...] = ()
    first: int = 1
    asked: str = ""
    tiles: tuple[Tile, ...] = ()
    checks: tuple[Check, ...] = ()
    limits: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        held_out: bool | None = None,
        title: str | None = None,
        names: Sequence[Any] | None = None,
        target: str | None = None,
        data: Mapping[str, Any] | None = None,
        separability: Any = None,
        quality: Quality | None = None,
        cross_validated: CrossValidated | None = None,
        warnings: Iterable[Any] = (),
        verdict: str | None = None,
        code: str | None = None,
        learned: Any = None,
        learned_y: Any = None,
        learned_weight: Any = None,
        gaps: Mapping[str, Any] | None = None,
    ) -> Self:
        """Look at a fitted model, and at rows it has not seen.

        Parameters
        ----------
        model : fitted estimator
            However it was fitted: `fit`, a stream, or moments.
        X, y : array-like or CSR of shape (n, p), and (n,) or (n, k), optional
            Rows to measure the quality with; some thousand are enough. Rows with gaps are left
            out, and told. Without rows the report has no quality.
        held_out : bool, optional
            True where the model has not learned from these rows, False where it has. By default
            `learned` tells, where it is given; otherwise the report claims neither, and says so.
        title : str, optional
        names : sequence of str, optional
            Columns; by default those of the fit, or of X. `Encoding.labels` marks those that are
            days since 1970, which are shown as dates then.
        target : str, optional
            The name of y.
        data : mapping, optional
            Facts for the data card, in their order: file, rows learned from, ...
        separability : Separability, optional
            What `separability` answered on the rows of the fit.
        quality : Decisions or Errors, optional
            Counts of `adaline.evaluation.quality` over more rows than X has, which then is a sample
            of them for the pictures; by default the rows of X are counted.
        cross_validated : CrossValidated, optional
            What `cross_validated` found on the rows X and y, which the model then has learned
            from: quality and pictures are about these predictions.
        warnings : iterable of str or Warning, optional
            What was said while learning.
        verdict : str, optional
            A sentence to put first.
        code : str, optional
            Python that makes the model; by default its constructor and `fit`.
        learned : array-like or CSR of shape (m, p), optional
            The rows that the model has learned from, to tell of its columns; by default X.
        learned_y, learned_weight : array-like of shape (m,), optional
            Their targets and weights, to tell of single rows that decide the fit.
        gaps : mapping, optional
            Missing values by column: how many, or how many and what was done, (12, "mean filled
            in").
        """
        _check_fitted(model)
        texts = {"title": title, "target": target, "verdict": verdict, "code": code}
        check_options(texts, held_out, names, data, separability, quality, cross_validated, gaps)
        held_out = None if held_out is None else bool(held_out)
        warnings = checked_warnings(warnings)
        if X is None and y is not None:
            raise ValueError("y is given and X is not; give the rows that y belongs to.")
        named = column_names(model, X, names)
        way: dict[str, Any] = {}
        if cross_validated is not None and X is not None:
            X, y = _tested(X, y, cross_validated)
            quality, held_out = cross_validated.quality, True
            way = {"way": cross_validated.way, "folds": cross_validated.spread}
        rows = None if X is None else rows_of(model, X, y, cross_validated)
        if quality is None and rows is not None:
            quality = rows.quality(model)
        whole = _whole(rows, held_out, way)
        if learned is not None or learned_y is not None or learned_weight is not None:
            whole = learned_rows(model, learned, learned_y, learned_weight)
            if held_out is None and rows is not None:
                held_out = are_apart(whole.X, rows.X)
        seen = whole.X if whole is not None else None if rows is None else rows.X
        spreads = None if seen is None else spreads_of(seen)
        found = judged(
            model,
            quality,
            held_out=held_out,
            names=named,
            separability=separability,
            spreads=spreads,
            X=seen,
            learned=whole,
            tested=None if rows is None else checks.Rows(rows.X, rows.y, said=rows.said),
            target=target,
            **way,
        )
        counts = _thresholds(model, rows)
        drawn, missing = pictures(model, rows, named, held_out, found.quality, counts)
        curves = () if seen is None else effects(model, found.coefficients, seen, named, target)
        said = [found.sentence] if verdict is None else [plain(verdict), found.sentence]
        count = _rows_learned(data, whole)
        tables = [
            *_tables_of_quality(found.quality, counts, cross_validated),
            _cards.coefficients(found.coefficients),
            _cards.gaps_of(gaps, count),
            _table_of_columns(seen, named, whole is not None, held_out),
        ]
        return cls(
            title=name(title or _title(model, target)),
            verdict=(*said, *evidence.sentences(model, separability)),
            quality=tuple(shown(found.quality)) if found.quality else (),
            data_card=_cards.data_card(data or {}, rows, False if way else held_out, target),
            model_card=_cards.model_card(model, separability),
            statistics=tuple(_cards.facts_of(model).items()),
            tables=tuple(table for table in tables if table is not None),
            pictures=(*drawn, *effect_pictures(curves, seen, named)),
            warnings=_told(warnings, found.warnings, rows),
            notes=tuple(missing),
            first=len(said),
            drivers=drivers(model, found.coefficients, seen, spreads, target, named),
            asked=question(model, target, len(named), found.quality, count),
            tiles=tiles(found.quality),
            checks=found.checks,
            limits=limits(target, found.quality, rows, seen is not None),
            code=plain(_cards.code_for(model) if code is None else code, _CODE, lines=True),
        )

    def html(self) -> str:
        """The page: one file, no network, no script, at most 500 kB."""
        page = self._rendered()
        while len(page.encode()) > LARGEST and self.pictures:
            largest = max(self.pictures, key=lambda picture: picture.bytes)
            left = tuple(p for p in self.pictures if p is not largest)
            note = f"The picture “{largest.title}” was left out to keep this page small."
            self = replace(self, pictures=left, notes=(*self.notes, note))
            page = self._rendered()
        return page

    def write(self, path: Any) -> Path:
        """Write the page; the file is complete or not there."""
        check_page(path)
        place = Path(path)
        write_atomically(place, self.html().encode())
        return place

    def __repr__(self) -> str:
        return f"<Report: {_capital(self.title)[:200]}; write(path) makes a page of it>"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style must not reach the notebook's.
        frame = 'title="report" style="width: 100%; height: 40em; border: 0"'
        return f'<iframe {frame} srcdoc="{escape(self.html())}"></iframe>'

    def _rendered(self) -> str:
        return rendered(
            report=self,
            title=self.title,
            cards=[
                ("Data", self.data_card),
                ("Model", self.model_card),
                ("Statistics of the rows learned from", self.statistics),
            ],
            pictures=self.pictures,
        )


def write_report(path: Any, model: Any, X: Any = None, y: Any = None, **more: Any) -> Path:
    """Write an HTML page about a fitted model; `more` as in `Report.of`.

    Parameters
    ----------
    path : str or Path
    model : fitted estimator
    X, y : array-like, optional
        Rows to measure the quality with, best such as it has not seen (held_out=True).
    **more
        held_out, title, names, target, data, separability, quality, cross_validated, warnings,
        verdict, code, learned, learned_y, learned_weight, gaps.

    Returns
    -------
    Path

    Examples
    --------
    >>> import tempfile
    >>> from adaline import Perceptron, write_report
    >>> X, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]], ["a", "a", "b", "b"]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = write_report(f"{folder}/page.html", Perceptron().fit(X, y), X, y, held_out=False)
    ...     page.read_text(encoding="utf-8")[:15]
    '<!DOCTYPE html>'
    """
    check_page(path)
    return Report.of(model, X, y, **more).write(path)


def _tested(X: Any, y: Any, found: CrossValidated) -> tuple[Any, Any]:
    """The rows that the cross-validation predicted."""
    X = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    truth = np.asarray(y)
    if truth.ndim == 0 or len(truth) != X.shape[0] or found.rows[-1] >= len(truth):
        raise ValueError(
            f"X has {X.shape[0]} rows and y has shape {truth.shape}; the cross-validation is about "
            f"{found.rows[-1] + 1} rows or more. Give the same rows."
        )
    return X[found.rows], truth[found.rows]


def _whole(rows: Any, held_out: bool | None, way: Any) -> checks.Rows | None:
    """The rows of the fit, where those reported on are these."""
    if rows is None or (held_out is not False and not way):
        return None
    return checks.Rows(rows.X, rows.y)


def _rows_learned(data: Mapping[str, Any] | None, whole: checks.Rows | None) -> int | None:
    """How many rows the model has learned from, if anybody says."""
    said = (data or {}).get("rows learned from")
    if isinstance(said, int):
        return said
    return None if whole is None else int(whole.X.shape[0])


def _check_fitted(model: Any) -> None:
    if not hasattr(model, "predict") or not hasattr(model, "n_features_in_"):
        raise ValueError(
            f"{type(model).__name__} is not a fitted estimator; fit it first, then report."
        )


def _tables_of_quality(
    quality: Mapping[str, Any], counts: Thresholds | None, found: CrossValidated | None
) -> list[Table | None]:
    return [_cards.by_class(quality), _cards.by_cost(counts), _cards.by_fold(found)]


def _table_of_columns(
    X: Any, names: list[str], learned: bool, held_out: bool | None
) -> Table | None:
    whose = "rows learned from" if learned else "held-out rows" if held_out else "rows"
    return None if X is None else _cards.columns(X, names, whose)


def _told(given: Iterable[Any], found: Sequence[str], rows: Any) -> tuple[str, ...]:
    """Warnings of the caller, of the verdict, and about gaps; each once."""
    told = [plain(_message(w)) for w in given] + [_capital(w) for w in found]
    if rows is not None and rows.left_out:
        have = "has" if rows.left_out == 1 else "have"
        told.append(
            f"{rows.left_out} of {rows.left_out + len(rows)} rows {have} gaps (NaN or infinity): "
            "left out. Fill them in, or find out why they are there."
        )
    return tuple(dict.fromkeys(told))


def _thresholds(model: Any, rows: Any) -> Thresholds | None:
    """Hits and false alarms at every probability, of two classes."""
    if rows is None or len(getattr(model, "classes_", ())) != 2 or rows.said.log_p is None:
        return None
    label = model.classes_.tolist()[1]
    return thresholds(rows.y == label, rows.said.scores, label)


def _title(model: Any, target: str | None) -> str:
    kind = type(model).__name__
    return f"{kind} for {target}" if target else kind


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def _message(warning: Any) -> str:
    """A text, a Warning, or what `warnings.catch_warnings(record=True)` collects."""
    return str(getattr(warning, "message", warning))
