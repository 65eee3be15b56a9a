"""`Report`: the content of a page about one trial, as plain data; `write_report` writes the page.

`cards` makes its tables, `pictures` its pictures; everything else is quoted from the verdict.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any, Self

import numpy as np

from adaline import MissingExtra
from adaline.data.outputs import refuse_unwritable, write_atomically
from adaline.evaluation import words
from adaline.evaluation.coefficients import describe_effects, effects
from adaline.evaluation.fit_evidence import proof_sentences, summary_of
from adaline.evaluation.quality import Thresholds, thresholds
from adaline.evaluation.trial import FACTS, TEXT, BaseEstimator, Trial
from adaline.evaluation.verdict import judge
from adaline.evaluation.words import capitalised, listed, name, number, percent, plain, plural
from adaline.report import cards
from adaline.report.pictures import pictures

MAX_PAGE_BYTES = 500_000  # small enough for a letter; larger pages lose their largest pictures
MAX_CODE_LENGTH = 20_000  # characters


class Report:
    """What a page says about one trial.

    Parameters
    ----------
    trial : Trial
    title, verdict : str, optional
        A sentence `verdict` is put first.
    data : mapping, optional
        Facts for the data card, in their order: file, training rows, ...
    warnings : iterable of str or Warning, optional
        Warnings during learning.
    code : str, optional
        Python that makes the model; by default its constructor and `fit`.
    gaps : mapping, optional
        Missing values by column: how many, or how many and what was done, (12, "mean filled in").

    Attributes
    ----------
    title, question, code : str
    verdict, proofs, drivers, warnings, notes, limits : tuple of str
        Sentences: on quality, what is proven, the columns that matter most, what to doubt, what is
        not in the report and why, and what the model is for.
    tiles, quality, data_card, model_card, statistics : tuple of (str, str)
        Named facts; `statistics` are those of `summary()`, of the training rows.
    checks, tables, pictures : tuple of Check, Table and Picture

    Examples
    --------
    >>> from adaline import LeastSquares, Report
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 2))
    >>> y = X @ [1.0, 2.0] + 0.1 * rng.standard_normal(200)
    >>> model = LeastSquares().fit(X[:100], y[:100])
    >>> report = Report.of(model, X[100:], y[100:], names=["age", "dose"], held_out=True)
    >>> print(report.verdict[0])
    Explains 99.8% of the variance (100 held-out rows); root mean squared error 0.0913, ...
    >>> "<svg" in report.html()
    True
    """

    def __init__(
        self,
        trial: Trial,
        *,
        title: str | None = None,
        data: Mapping[str, Any] | None = None,
        warnings: Iterable[Any] = (),
        verdict: str | None = None,
        code: str | None = None,
        gaps: Mapping[str, Any] | None = None,
    ) -> None:
        for option, text in (("title", title), ("verdict", verdict), ("code", code)):
            TEXT(option, text)
        data, gaps = FACTS("data", data) or {}, FACTS("gaps", gaps) or {}
        model, X, target, judged = trial.model, trial.seen_X, trial.target, judge(trial)
        facts, counts = judged.quality, _thresholds(trial)
        learned = data.get("training rows")
        if not isinstance(learned, int):
            learned = None if trial.learned is None else int(trial.learned.X.shape[0])
        what = repr(target) if target else "the target"
        source = f" from {data['file']}" if "file" in data else f" by {type(model).__name__}"
        self.title = name(title or f"Predicting {what}{source}")
        self.question = _question(trial, learned)
        self.verdict = (*([plain(verdict)] if verdict else []), judged.sentence)
        self.proofs = tuple(proof_sentences(model, trial.separability))
        self.tiles = _tiles(facts)
        table = judged.coefficients
        curves = () if X is None else effects(model, table, X, trial.names, target)
        self.drivers = describe_effects(curves, table)
        # A text, a Warning, or what `warnings.catch_warnings(record=True)` collects.
        texts = [plain(getattr(w, "message", w)) for w in warnings]
        self.warnings = tuple(dict.fromkeys([*texts, *map(capitalised, judged.warnings)]))
        self.checks = judged.checks
        self.quality = tuple(words.quality_rows(facts)) if facts else ()
        self.limits = _limits(trial, facts)
        self.data_card = cards.data_card(data, trial)
        self.model_card = cards.model_card(trial)
        summary = dict(getattr(summary_of(model), "facts", {}))
        self.statistics = tuple((name(key), number(value)) for key, value in summary.items())
        tables = [cards.class_table(facts), cards.cost_table(counts), cards.fold_table(trial.folds)]
        tables += [cards.coefficient_table(table), cards.gap_table(gaps, learned)]
        self.tables = tuple(filter(None, [*tables, cards.column_table(trial)]))
        self.pictures, self.notes = pictures(trial, facts, counts, curves)
        code = cards.code_for(model) if code is None else code
        self.code = plain(code, MAX_CODE_LENGTH, lines=True)

    @classmethod
    def of(cls, model: BaseEstimator, X: Any = None, y: Any = None, **given: Any) -> Self:
        """A report of a fitted model and of rows, with options of `Report` and of `Trial.of`.

        Without rows the report has no quality.
        """
        own = ("title", "data", "warnings", "verdict", "code", "gaps")
        texts = {key: given.pop(key) for key in own if key in given}
        return cls(Trial.of(model, X, y, **given), **texts)

    def html(self) -> str:
        """The page: one file, no network, no script, at most 500 kB."""
        shown, notes = list(self.pictures), list(self.notes)
        # Drawn first: the size of some pictures is decided while they are drawn.
        sizes = {picture.key: sum(map(len, picture.svgs)) for picture in shown}
        while len((page := self._render(shown, notes)).encode()) > MAX_PAGE_BYTES and shown:
            largest = max(shown, key=lambda picture: sizes[picture.key])
            shown.remove(largest)
            notes.append(f"The picture “{largest.title}” was left out to keep this page small.")
        return page

    def write(self, path: Any) -> Path:
        """Write the page; the file is complete or not there."""
        _check_path(path)
        write_atomically(path, self.html().encode())
        return Path(path)

    def __repr__(self) -> str:
        return f"<Report: {capitalised(self.title)[:200]}; write(path) makes a page of it>"

    def _repr_html_(self) -> str:
        # A frame of its own: the page's style must not reach the notebook's.
        frame = 'title="report" style="width: 100%; height: 40em; border: 0"'
        return f'<iframe {frame} srcdoc="{escape(self.html())}"></iframe>'

    def _render(self, shown: list[Any], notes: list[str]) -> str:
        """report.html.j2 with the content; pictures are trusted, all else is escaped."""
        try:
            import jinja2
        except ImportError:
            raise MissingExtra.of("report", "a report", "jinja2") from None
        environment = jinja2.Environment(
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            loader=jinja2.PackageLoader("adaline.report"),
            trim_blocks=True,
            lstrip_blocks=True,
        )
        page = environment.get_template("report.html.j2")
        return page.render(report=self, pictures=shown, notes=notes)


def write_report(
    path: Any, model: BaseEstimator, X: Any = None, y: Any = None, **more: Any
) -> Path:
    """Write an HTML page about a fitted model.

    Parameters
    ----------
    path : str or Path
    model : fitted estimator
    X, y : array-like, optional
        Rows to measure the quality with, preferably not training rows (held_out=True).
    **more
        title, data, warnings, verdict, code and gaps as in `Report`; held_out, names, target,
        separability, quality, cross_validated, learned, learned_y and learned_weight: whether the
        model was trained on X, names of columns and of y, what `separability` returned, counts of
        more rows than X has, what `cross_validated` returned for X and y, and training rows.

    Returns the path.

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
    _check_path(path)
    return Report.of(model, X, y, **more).write(path)


def _check_path(path: Any) -> None:
    """Refuse, before any work, a path at which no page can be written."""
    if not isinstance(path, str | Path) or not str(path) or "\0" in str(path):
        raise TypeError(f"path is {path!r:.80}; expected a path, such as 'report.html'.")
    refuse_unwritable(path)


def _thresholds(trial: Trial) -> Thresholds | None:
    """Hits and false alarms at every probability, of two classes."""
    log_p = getattr(trial.answers, "log_p", None)
    if trial.rows is None or log_p is None or log_p.shape[1] != 2:
        return None
    label = trial.model.classes_.tolist()[1]
    return thresholds(trial.rows.y == label, np.exp(log_p[:, 1]), label)


def _question(trial: Trial, learned: int | None) -> str:
    """Which column was predicted from how many others, by which learner, and from which rows."""
    model = trial.model
    kind = {"counts": "a count"}.get(getattr(model, "_learns", ""), "a number")
    if (classes := getattr(model, "classes_", None)) is not None:
        kind = f"one of {len(classes)} classes ({listed(classes.tolist(), 6, quoted=True)})"
    text = f"{type(model).__name__} predicts {name(trial.target or 'the target')}, {kind}, from "
    text += plural(len(trial.names), "column")
    text += "" if learned is None else f"; trained on {plural(learned, 'row')}"
    if trial.quality is not None:
        text += f"; measured on {words.words_for(trial.quality.n, trial.held_out, trial.way)}"
    return f"{text}."


def _tiles(facts: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """The most important numbers, one of them without a model."""
    if not facts:
        return ()
    if "rmse" in facts:
        known = facts["r2"] is not None
        return (
            *[(percent(max(facts["r2"] or 0.0, 0.0)), "of the variance explained")] * known,
            (number(facts["rmse"], 3), "root mean squared error"),
            (number(facts["rmse_of_mean"], 3), "the same without a model, always the mean"),
        )
    constant = f"accuracy without a model, always {name(facts['most_common'])!r}"
    third = percent(facts["balanced_accuracy"]), "balanced accuracy"
    if facts["mean_cost"] is not None:
        least = number(facts["cost_of_constant"], 3)
        third = number(facts["mean_cost"], 3), f"mean cost of a decision; without a model {least}"
    elif facts["auc"] is not None:
        third = f"{facts['auc']:.3f}", "area under the ROC curve; 0.5 is guessing"
    shares = percent(facts["accuracy"]), percent(facts["most_common_share"])
    return (shares[0], "accuracy"), (shares[1], constant), third


def _limits(trial: Trial, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """What the model is for, and what is not known of it."""
    texts = [
        f"For predicting {name(trial.target or 'the target')} of rows from the same source, with "
        "columns within the ranges of these rows. How well it extrapolates beyond them, or to "
        "other times and places, is unknown."
    ]
    rows, answers = trial.rows, trial.answers
    if not facts:
        texts.append("Its quality is unknown: there were no rows to measure it with.")
    elif "accuracy" in facts:
        wrong = round(100 * (1 - facts["accuracy"] - facts["rejected"] / facts["rows"]))
        text = f"Expect about {wrong} wrong predictions in 100"
        known = [one for one in facts["per_class"] if one["recall"] is not None]
        if len(known) > 1:
            worst = min(known, key=lambda one: one["recall"])
            share = f"{percent(worst['recall'])} of {plural(worst['rows'], 'row')}"
            text += f"; rows of {name(worst['label'])!r} are recognised least often, {share}"
        texts.append(f"{text}.")
    elif rows is not None and answers is not None and rows.y.ndim == 1 and len(rows.y) >= 20:
        half, most = np.quantile(np.abs(rows.y - answers.predicted), [0.5, 0.95]).tolist()
        ends = f"{number(half, 3)}, and 19 of 20 by at most {number(most, 3)}"
        texts.append(f"Half of the predictions were off by at most {ends}.")
    texts.append(
        "For predictions, not for decisions about causes: that a column goes with the target does "
        "not mean that changing the column changes the target."
    )
    return (*texts, "Not checked: whether predictions are as good for every group of people.")
