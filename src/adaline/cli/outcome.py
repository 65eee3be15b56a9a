"""What `adaline fit` says and writes: verdict, coefficients, warnings, model file and report."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import adaline
from adaline.cli.errors import describe_error
from adaline.cli.fit import FitRequest
from adaline.cli.models import Measured
from adaline.cli.printing import Answer, pick, strict
from adaline.cli.python_code import write_code
from adaline.cli.tables import StudiedTable, hash_file, title
from adaline.evaluation.cross_validation import CrossValidated
from adaline.evaluation.fit_evidence import chosen_penalty, reconciled
from adaline.evaluation.trial import Trial
from adaline.evaluation.verdict import Verdict, judge
from adaline.evaluation.words import HOLD_OUT, detail_sentence, file, name, number, plural

if TYPE_CHECKING:
    from adaline.cli.fitting import Learned, Plan

FEW_TIMES = 20  # different dates from which their order is noticed


@dataclass(frozen=True, eq=False)
class FitResult:
    """A fit with all that led to it."""

    request: FitRequest
    table: StudiedTable
    plan: Plan
    learned: Learned
    tested: Measured
    is_held_out: bool
    folded: CrossValidated | None = None

    @cached_property
    def trial(self) -> Trial:
        """The model, its training rows, and the rows that measure its quality."""
        learned, tested = self.learned, self.tested
        return Trial.of(
            learned.model,
            tested.X,
            tested.y,
            held_out=self.is_held_out,
            names=learned.encoding.labels,
            target=self.table.target,
            separability=learned.separability,
            converged=learned.converged,
            quality=tested.quality,
            cross_validated=self.folded,
            learned=learned.X,
            learned_y=learned.y,
            learned_weight=learned.omega,
        )

    @cached_property
    def verdict(self) -> Verdict:
        """How good the model is, and what to doubt."""
        return judge(self.trial)

    @property
    def base_levels(self) -> dict[str, str]:
        """The level of each column of text that has no indicator."""
        inputs = self.learned.encoding.inputs
        return {entry.name: entry.levels[0] for entry in inputs if entry.levels}

    @cached_property
    def doubts(self) -> list[str]:
        """What reading and learning warned about, with advice."""
        messages = [describe_error(text) for text in self.learned.messages]
        return [*self.table.doubts(), *self._doubts_of_time(), *messages]

    def _doubts_of_time(self) -> list[str]:
        """Whether rows in order of time were held out at random."""
        X, options = self.learned.X, self.request.options
        is_random = self.is_held_out and options.by_time is None and options.group is None
        if not is_random or X is None or hasattr(X, "toarray") or len(X) < FEW_TIMES:
            return []
        names = self.learned.encoding.names
        dates = [entry.name for entry in self.learned.encoding.inputs if entry.is_date]
        for date_ in [column for column in dates if column in names]:
            steps = np.diff(X[:, names.index(date_)])
            is_sorted = np.all(steps >= 0) or np.all(steps <= 0)
            if is_sorted and np.count_nonzero(steps) >= FEW_TIMES - 1:
                return [
                    f"The rows are in order of {name(date_)!r} and were held out at random. To "
                    "predict later rows from earlier ones is harder; measure that with --by-time "
                    f"{name(shlex.quote(date_))}."
                ]
        return []


def write_files(result: FitResult) -> dict[str, str]:
    """Write the model and the report where they are asked for; their paths."""
    learned, table, plan = result.learned, result.table, result.plan
    options = result.request.options
    files, fingerprint = {}, None
    if options.out or options.report:
        fingerprint = hash_file(table.source)
    if options.out is not None:
        optional = {"fingerprint": fingerprint, "exposure": options.exposure}
        metadata = {
            "target": table.target,
            "data": title(table.source),
            "learned_from": learned.rows,
            "held_out_share": plan.share,
            "seed": plan.seed,
            "quality": strict(result.verdict.quality),
            **{key: value for key, value in optional.items() if value is not None},
        }
        adaline.save(learned.model, options.out, learned.encoding, metadata)
        files["model"] = options.out
    if options.report is not None:
        report = adaline.Report(
            result.trial,
            title=f"{table.target} from {os.path.basename(title(table.source))}",
            data=_describe_data(result, fingerprint),
            warnings=result.doubts,
            code=write_code(result),
            gaps=table.gaps(),
        )
        report.write(options.report)
        files["report"] = options.report
    return files


def _describe_data(result: FitResult, fingerprint: str | None) -> dict[str, Any]:
    """What a report says of the data: where from, when, which bytes, and what was done."""
    table, learned = result.table, result.learned
    bases = ", ".join(f"{column}={level}" for column, level in result.base_levels.items())
    facts = {
        "source": title(table.source),
        "read on": date.today().isoformat(),
        "rows": table.look.rows,
        "rows learned from": learned.rows or "many",
        "rows left out": learned.left_out or None,
        "SHA-256": fingerprint,
        "noticed": "; ".join(table.source.notes) or None,
        "base levels": bases or None,
    }
    for line in table.sentences():
        what, _, how = line.partition(": ")
        facts[what.lower()] = how
    return {key: value for key, value in facts.items() if value is not None}


def describe_fit(result: FitResult, files: dict[str, str]) -> Answer:
    """The answer of `adaline fit`."""
    learned, table, plan, verdict = result.learned, result.table, result.plan, result.verdict
    options, answer = result.request.options, Answer("fit", result.request.common)
    certificate, proof = reconciled(learned.model, learned.separability)
    answer.say(_describe_rows(result))
    table.describe(answer)
    answer.say(_describe_learner(result))
    answer.say()
    answer.verdict(str(verdict))
    if (more := detail_sentence(verdict.quality)) != "":
        answer.say(more)
    if certificate is not None:
        answer.say(f"Certificate, {describe_error(str(certificate))}")
    shown = verdict.coefficients
    is_full = options.coefficients == "full"
    # What the weighted sum is: the target, that two classes are the second, or a log.
    classes: Any = getattr(learned.model, "classes_", ())
    output = f"{table.target}={classes[1]}" if len(classes) == 2 else table.target
    output = f"log {output}" if plan.choice.kind._takes_exposure else output
    answer.coefficients(shown.in_full if is_full else shown, name(output))
    bases = ", ".join(f"{name(c)}={name(level)}" for c, level in result.base_levels.items())
    if bases and shown.heads:
        answer.say(f"Base levels, which the other levels are compared with: {bases}.", "note")
    answer.say()
    answer.warn(*result.doubts, *map(describe_error, verdict.warnings))
    answer.say()
    rows = "" if learned.rows is None else f", learned from all {number(learned.rows)} rows"
    rows = rows.replace("all", "the") + " that were not held out" if plan.share else rows
    for what, path in files.items():
        answer.say(f"Wrote the {what}{rows if what == 'model' else ''}: {Path(path)}")
    use = "The model was not kept; --out model.adaline writes it."
    if options.out is not None:
        use = f"To use it: adaline predict {shlex.quote(options.out)} MORE_ROWS.csv"
    answer.say(use, "note")
    is_apart = result.is_held_out and (result.folded is None or result.folded.way == HOLD_OUT)
    answer.facts = {
        "adaline": adaline.__version__,
        "data": {
            "source": title(table.source),
            "columns": list(table.source.names),
            "notes": list(table.source.notes),
            "rows_learned_from": learned.rows,
            "rows_held_out": result.tested.quality.n if is_apart else 0,
            "in_memory": plan.in_memory,
            "base_levels": result.base_levels,
            **table.facts(),
        },
        "target": table.target,
        "model": {
            "name": plan.choice.model,
            "class": type(learned.model).__name__,
            "why": plan.choice.why,
            "shuffled": learned.shuffled,
            "parameters": learned.model.get_params(deep=False),
            "alpha": getattr(learned.model, "alpha_", None),
        },
        "verdict": str(verdict),
        **pick(verdict, "quality converged condition"),
        "stopped": str(getattr(getattr(learned.model, "fit_", None), "stopped", "")) or None,
        "certificate": certificate and pick(certificate, "kind statement"),
        "separability": proof
        and {"verdict": proof.verdict, "sentence": proof.explain(), "margin": proof.margin},
        "checks": [pick(c, "key fine sentence") | dict(c.numbers) for c in verdict.checks],
        "coefficients": verdict.coefficients.rows,
        "files": files,
    }
    return answer


def _describe_rows(result: FitResult) -> str:
    """What was read, and how the quality is measured with it."""
    table, learned, folded = result.table, result.learned, result.folded
    text = sum(kind == "text" for kind in table.source.kinds)
    columns = plural(len(table.source.names), "column") + (f", {text} of text" if text else "")
    rows = "" if learned.rows is None else f"; {number(learned.rows)} rows to learn from"
    left_out = learned.left_out
    if folded is None:
        measured = f", {number(result.tested.quality.n)} held out" if result.is_held_out else ""
        left_out += result.tested.left_out * result.is_held_out
    elif folded.way == HOLD_OUT:
        measured = f", {folded.quality.n:,} of them held out to measure the quality"
    else:
        n, models = folded.quality.n, len(folded.per_fold)
        which = "each" if n == learned.rows else f"{number(n)} of them"
        measured = f", {which} predicted by one of {models} models that have not seen it"
    why = "without a target" if result.request.columns.missing == "auto" else "with missing values"
    gone = f"; {plural(left_out, 'row')} {why} left out" if left_out else ""
    return f"Read {file(title(table.source))}: {columns}{rows}{measured}{gone}."


def _describe_learner(result: FitResult) -> str:
    """The learner, why it was taken, and what was asked of it."""
    model, choice, threshold = (
        result.learned.model,
        result.plan.choice,
        result.request.options.threshold,
    )
    parts = [f"Learner: {choice.model}, {choice.why}"]
    if threshold is not None:
        second = name(model.classes_[1])
        parts.append(f"answers {second!r} where its probability exceeds {threshold:g}")
    if result.learned.shuffled:
        parts.append(f"rows sorted by class, so shuffled first (--seed {result.plan.seed})")
    alpha = chosen_penalty(model)
    return "; ".join(parts) + ("." if alpha is None else f". Penalty: alpha = {alpha}.")
