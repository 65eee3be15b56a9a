"""What there is to tell of a fit: the verdict and the numbers, for people or machines."""

from __future__ import annotations

import shlex
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import adaline
from adaline.cli.files import column_options
from adaline.cli.files.column_options import Columns
from adaline.cli.files.file_options import Reading, tell_notes
from adaline.cli.files.sources import title
from adaline.cli.learning.folds import facts_of, rows_text
from adaline.cli.learning.learning import Learned, Plan
from adaline.cli.learning.python_code import code
from adaline.cli.learning.weights_and_costs import said
from adaline.cli.predicting.predictions import Measured
from adaline.cli.printing.errors import sentence
from adaline.cli.printing.printer import Out, strict
from adaline.data import Look, Source
from adaline.evaluation.answers import answers
from adaline.evaluation.checks import Rows
from adaline.evaluation.coefficients import spreads_of
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.evidence import chosen_penalty, reconciled
from adaline.evaluation.quality import beside
from adaline.evaluation.verdict import judged
from adaline.evaluation.words import HOLD_OUT, file, name, number, plural

_FEW_TIMES = 20  # different dates from which their order is noticed


class FitOutcome:
    """What there is to tell of a fit, for people or machines."""

    def __init__(
        self,
        data: str,
        source: Source,
        plan: Plan,
        found: Learned,
        tested: Measured,
        is_held_out: bool,
        out: Out,
        reading: Reading | None = None,
        seen: Look | None = None,
        columns: Columns | None = None,
        folded: CrossValidated | None = None,
    ) -> None:
        self.data, self.source, self.plan, self.found = data, source, plan, found
        self.tested, self.is_held_out, self.out = tested, is_held_out, out
        self.options = {} if reading is None else reading.options()
        self.seen, self.columns = seen, columns or Columns()
        self.folded = folded
        self.files: dict[str, str] = {}
        self.verdict = judged(
            found.model,
            tested.quality,
            held_out=is_held_out,
            names=found.encoding.labels,
            separability=found.separability,
            converged=found.converged,
            spreads=None if found.X is None else spreads_of(found.X),
            X=found.X,
            learned=None if found.X is None else Rows(found.X, found.y, found.omega),
            tested=_tried(found.model, tested, folded),
            target=plan.target,
            **facts_of(folded),
        )

    def printable_quality(self) -> dict[str, Any]:
        plain: dict[str, Any] = strict(self.verdict.quality)
        return plain

    def doubts(self) -> list[str]:
        """What reading and learning said, with advice."""
        said = [] if self.seen is None else column_options.doubts(self.seen)
        said += self._doubts_of_time()
        return said + [sentence(text) for text in self.found.said]

    def _doubts_of_time(self) -> list[str]:
        """Whether rows in order of time were held out at random."""
        X, plan = self.found.X, self.plan
        random = self.is_held_out and plan.by_time is None and plan.group is None
        if not random or X is None or hasattr(X, "toarray") or len(X) < _FEW_TIMES:
            return []
        for entry in self.found.encoding.inputs:
            if entry.is_date and entry.name in self.found.encoding.names:
                steps = np.diff(X[:, self.found.encoding.names.index(entry.name)])
                moves = np.count_nonzero(steps) >= _FEW_TIMES - 1
                if moves and (np.all(steps >= 0) or np.all(steps <= 0)):
                    column = shlex.quote(entry.name)
                    return [
                        f"The rows are in order of {name(entry.name)!r} and were held out at "
                        "random, so that each was predicted from rows before and after it. To "
                        "predict later rows from earlier ones is harder; measure that with "
                        f"--by-time {name(column)}."
                    ]
        return []

    def data_facts(self, mark: str | None) -> dict[str, Any]:
        """What a report tells of the data: where from, when, which bytes, and what was done."""
        facts: dict[str, Any] = {
            "source": title(self.source),
            "read on": date.today().isoformat(),
            **({} if self.seen is None or self.seen.rows is None else {"rows": self.seen.rows}),
            "rows learned from": self.found.rows or "many",
        }
        if self.found.left_out:
            facts["rows left out"] = self.found.left_out
        if mark is not None:
            facts["SHA-256"] = mark
        if self.source.notes:
            facts["noticed"] = "; ".join(self.source.notes)
        bases = [f"{column}={level}" for column, level in self._base_levels().items()]
        if bases:
            facts["base levels"] = ", ".join(bases)
        for line in [] if self.seen is None else column_options.lines(self.seen):
            what, _, how = line.partition(": ")
            facts[what.lower()] = how
        return facts

    def gaps(self) -> dict[str, Any]:
        """Missing values by column, and what was done about them."""
        return {} if self.seen is None else column_options.gaps(self.seen)

    def warnings(self) -> list[str]:
        """Doubts with advice, each once."""
        said = self.doubts()
        said += [sentence(text) for text in self.verdict.warnings]
        return list(dict.fromkeys(said))

    def code(self) -> str:
        """Python that does it again."""
        folded, shuffled = self.folded is not None, self.found.shuffled
        folds = self.plan.cv if folded else 0
        said = self.columns, self.options, folds, folded and self.plan.apart, shuffled
        return code(title(self.source), self.source, self.plan, self.found.model, *said)

    def tell(self, kept: str | None, full: bool = False) -> None:
        """Print; `full` shows odds ratios and standardised coefficients, too."""
        out, found, plan = self.out, self.found, self.plan
        out.say(self._read())
        tell_notes(self.source, out)
        if self.seen is not None:
            column_options.tell(self.seen, out)
        alpha = chosen_penalty(found.model)
        penalty = "" if alpha is None else f" Penalty: alpha = {alpha}."
        mixed = f"; rows sorted by class, so shuffled first (--seed {plan.seed})" * found.shuffled
        why = f"{plan.choice.why}{said(plan, found.model)}{mixed}"
        out.say(f"Learner: {plan.choice.model}, {why}.{penalty}")
        out.say()
        out.verdict(str(self.verdict))
        more = beside(self.verdict.quality)
        if more:
            out.say(more)
        certificate, _ = reconciled(found.model, found.separability)
        if certificate is not None:
            out.say(f"Certificate, {sentence(str(certificate))}")
        shown = self.verdict.coefficients
        out.coefficients(shown.in_full if full else shown, self._left_side())
        bases = self._base_levels()
        if bases and shown.heads:
            listed = ", ".join(f"{name(column)}={name(level)}" for column, level in bases.items())
            out.say(f"Base levels, which the other levels are compared with: {listed}.", "dim")
        warnings = self.warnings()
        if warnings:
            out.say()
        for text in warnings:
            out.warn(text)
        self._next(kept)
        out.json(self._facts(warnings))

    def _left_side(self) -> str:
        """What the weighted sum tells: the target, that two classes are the second, or a log."""
        classes: Any = getattr(self.found.model, "classes_", ())
        target = name(self.plan.target)
        if self.plan.choice.counts:
            return f"log {target}"
        return f"{target}={name(classes[1])}" if len(classes) == 2 else target

    def _read(self) -> str:
        text = sum(kind == "text" for kind in self.source.kinds)
        columns = plural(len(self.source.names), "column") + (f", {text} of text" if text else "")
        n = "" if self.found.rows is None else f"; {number(self.found.rows)} rows to learn from"
        held = f", {number(self.tested.quality.n)} held out" if self.is_held_out else ""
        gone = self.found.left_out + self.tested.left_out * self.is_held_out
        if self.folded is not None:
            held, gone = rows_text(self.folded), self.found.left_out
        why = "without a target" if self.plan.missing == "auto" else "with missing values"
        left = f"; {plural(gone, 'row')} {why} left out" if gone else ""
        return f"Read {file(title(self.source))}: {columns}{n}{held}{left}."

    def _next(self, kept: str | None) -> None:
        out = self.out
        out.say()
        for what, path in self.files.items():
            of = self._learned_from() if what == "model" else ""
            out.say(f"Wrote the {what}{of}: {Path(path)}")
        if kept is None:
            out.say("The model was not kept; --out model.adaline writes it.", "dim")
        else:
            out.say(f"To use it: adaline predict {shlex.quote(kept)} MORE_ROWS.csv", "dim")

    def _base_levels(self) -> dict[str, str]:
        """The level of each column of text that has no indicator."""
        inputs = self.found.encoding.inputs
        return {entry.name: entry.levels[0] for entry in inputs if entry.levels}

    def _is_apart(self) -> bool:
        """Whether some rows were held out, once, and measure the quality."""
        return self.is_held_out and (self.folded is None or self.folded.way == HOLD_OUT)

    def _learned_from(self) -> str:
        """Which rows the kept model has learned from."""
        rows = self.found.rows
        if self.plan.share:
            n = "" if rows is None else f" {number(rows)}"
            return f", learned from the{n} rows that were not held out (--test 0 takes all)"
        return "" if rows is None else f", learned from all {number(rows)} rows"

    def _facts(self, warnings: list[str]) -> dict[str, Any]:
        found, plan, model = self.found, self.plan, self.found.model
        certificate, proof = reconciled(model, found.separability)
        return {
            "command": "fit",
            "adaline": adaline.__version__,
            "data": {
                "source": title(self.source),
                "columns": list(self.source.names),
                "notes": list(self.source.notes),
                "rows_learned_from": found.rows,
                "rows_held_out": self.tested.quality.n if self._is_apart() else 0,
                "in_memory": plan.in_memory,
                "base_levels": self._base_levels(),
                **({} if self.seen is None else column_options.facts(self.seen)),
            },
            "target": plan.target,
            "model": {
                "name": plan.choice.model,
                "class": type(model).__name__,
                "why": plan.choice.why,
                "shuffled": found.shuffled,
                "parameters": model.get_params(deep=False),
                "alpha": getattr(model, "alpha_", None),
            },
            "verdict": str(self.verdict),
            "quality": self.verdict.quality,
            "converged": self.verdict.converged,
            "stopped": str(getattr(getattr(model, "fit_", None), "stopped", "")) or None,
            "certificate": None
            if certificate is None
            else {"kind": certificate.kind, "statement": certificate.statement},
            "separability": None
            if proof is None
            else {"verdict": proof.verdict, "sentence": proof.explain(), "margin": proof.margin},
            "condition": self.verdict.condition,
            "checks": [
                {"key": c.key, "fine": c.fine, "sentence": c.sentence, **c.numbers}
                for c in self.verdict.checks
            ],
            "coefficients": self.verdict.coefficients.rows,
            "warnings": warnings,
            "files": self.files,
        }


def _tried(model: Any, tested: Measured, folded: CrossValidated | None) -> Rows | None:
    """The rows that were predicted, where some are at hand, and what was predicted."""
    if tested.X is None or tested.y is None:
        return None
    if folded is not None:
        return Rows(tested.X[folded.rows], tested.y[folded.rows], said=folded.answers)
    return Rows(tested.X, tested.y, said=answers(model, tested.X))
