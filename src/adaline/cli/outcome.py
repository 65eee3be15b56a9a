"""What `adaline fit` says and writes: result, doubts, evidence, model file and report.

The report ends with the command that fits the same model again, to the last bit.
"""

from __future__ import annotations

import os
import shlex
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import adaline
from adaline.cli.errors import describe_error
from adaline.cli.printing import Answer, pick, strict
from adaline.cli.tables import hash_file, title
from adaline.evaluation.fit_evidence import chosen_penalty, reconciled
from adaline.evaluation.words import HOLD_OUT, detail_sentence, file, name, number, plural

if TYPE_CHECKING:
    from adaline.cli.fitting import Fit

FEW_TIMES = 20  # different dates from which their order is noticed


def find_doubts(fit: Fit) -> list[str]:
    """What reading and learning warned about; and whether times were held out at random."""
    doubts, X, names = fit.table.doubts(), fit.X, fit.rows.names
    by = fit.evaluation
    is_random = fit.is_held_out and by.by_time is None and by.group is None
    is_dense = X is not None and not hasattr(X, "toarray")
    for entry in fit.rows.encoding.inputs if is_random and is_dense else ():
        if entry.is_date and entry.name in names:
            steps = np.diff(X[:, names.index(entry.name)])
            is_sorted = np.all(steps >= 0) or np.all(steps <= 0)
            if is_sorted and np.count_nonzero(steps) >= FEW_TIMES - 1:
                doubts.append(
                    f"the rows are in order of {name(entry.name)!r} and were held out at random, "
                    "which is easier than predicting later rows from earlier ones; see "
                    f"--by-time {name(shlex.quote(entry.name))}."
                )
    return [*doubts, *map(describe_error, fit.messages)]


def write_files(fit: Fit) -> dict[str, str]:
    """Write the model and the report if they are asked for; their paths."""
    options, table, files, fingerprint = fit.options, fit.table, {}, None
    if options.out or options.report:
        fingerprint = hash_file(table.source)
    if options.out is not None:
        metadata = {
            "target": fit.target,
            "data": title(table.source),
            "learned_from": fit.trained_on,
            "held_out_share": fit.share,
            "seed": fit.seed,
            "quality": strict(fit.verdict.quality),
            **({} if fingerprint is None else {"fingerprint": fingerprint}),
            **({} if options.exposure is None else {"exposure": options.exposure}),
        }
        adaline.save(fit.model, options.out, fit.rows.encoding, metadata)
        files["model"] = options.out
    if options.report is not None:
        report = adaline.Report(
            fit.trial,
            title=f"Predicting {fit.target!r} from {os.path.basename(title(table.source))}",
            data=_describe_data(fit, fingerprint),
            warnings=find_doubts(fit),
            code=write_command(fit),
            gaps=table.gaps(),
        )
        report.write(options.report)
        files["report"] = options.report
    return files


def _base_levels(fit: Fit) -> dict[str, str]:
    """The category of each column of text that has no indicator."""
    return {entry.name: entry.levels[0] for entry in fit.rows.encoding.inputs if entry.levels}


def _describe_data(fit: Fit, fingerprint: str | None) -> dict[str, Any]:
    """What a report says of the data: where from, when, which bytes, and what was done."""
    table = fit.table
    facts = {
        "source": title(table.source),
        "read on": date.today().isoformat(),
        "rows": table.look.rows,
        "training rows": fit.trained_on or "many",
        "rows skipped": fit.left_out or None,
        "SHA-256": fingerprint,
        "file format": "; ".join(table.source.notes) or None,
        "reference categories": ", ".join(f"{c}={x}" for c, x in _base_levels(fit).items()) or None,
    }
    facts |= {what.lower(): how for what, _, how in (s.partition(": ") for s in table.sentences())}
    return {key: value for key, value in facts.items() if value is not None}


def describe_fit(fit: Fit, files: dict[str, str]) -> Answer:
    """The answer of `adaline fit`: the result, then the doubts, then what was proven."""
    model, table, verdict, options = fit.model, fit.table, fit.verdict, fit.options
    answer = Answer("fit", fit.common)
    certificate, proof = reconciled(model, fit.separability)
    answer.verdict(verdict.sentence)
    if (more := detail_sentence(verdict.quality)) != "":
        answer.say(more)
    # The last warnings of a verdict are about the quality, which matters most.
    answer.warn(*map(describe_error, reversed(verdict.warnings)), *find_doubts(fit))
    answer.say(verdict.evidence)
    if certificate is not None:
        answer.say(f"Certificate, {describe_error(str(certificate))}", "detail")
    answer.say(_describe_learner(fit))
    answer.say(_describe_rows(fit))
    table.describe(answer)
    if options.coefficients is not None or fit.common.verbose:
        shown = verdict.coefficients
        # What the weighted sum is: the target, that two classes are the second, or a log.
        classes: Any = getattr(model, "classes_", ())
        output = f"{fit.target}={classes[1]}" if len(classes) == 2 else fit.target
        output = f"log {output}" if fit.kind._takes_exposure else output
        shown = shown.in_full if options.coefficients == "full" else shown
        answer.coefficients(shown, name(output))
        bases = ", ".join(f"{name(c)}={name(level)}" for c, level in _base_levels(fit).items())
        if bases and shown.heads:
            answer.say(f"Reference categories: {bases}.", "note")
    rows = "" if fit.trained_on is None else f", fitted to all {number(fit.trained_on)} rows"
    rows = rows.replace("all", "the") + " that were not held out" if fit.share else rows
    for what, path in files.items():
        answer.say(f"Wrote the {what}{rows if what == 'model' else ''}: {Path(path)}")
    use = "Model not saved (use --out model.adaline)."
    if options.out is not None:
        use = f"To use it: adaline predict {shlex.quote(options.out)} MORE_ROWS.csv"
    answer.say(use, "note")
    is_apart = fit.is_held_out and (fit.folded is None or fit.folded.way == HOLD_OUT)
    answer.facts = {
        "adaline": adaline.__version__,
        "data": {
            "source": title(table.source),
            "columns": list(table.source.names),
            "notes": list(table.source.notes),
            "rows_learned_from": fit.trained_on,
            "rows_held_out": fit.tested.quality.n if is_apart else 0,
            "in_memory": fit.in_memory,
            "base_levels": _base_levels(fit),
            **table.facts(),
        },
        "target": fit.target,
        "model": {
            "name": fit.kind._command,
            "class": type(model).__name__,
            "why": fit.why,
            "shuffled": fit.shuffled,
            "parameters": model.get_params(deep=False),
            "alpha": getattr(model, "alpha_", None),
        },
        "verdict": str(verdict),
        **pick(verdict, "quality converged condition"),
        "stopped": str(getattr(getattr(model, "fit_", None), "stopped", "")) or None,
        "certificate": certificate and pick(certificate, "kind statement"),
        "separability": proof
        and {"verdict": proof.verdict, "sentence": proof.explain(), "margin": proof.margin},
        "checks": [pick(c, "key fine sentence") | dict(c.numbers) for c in verdict.checks],
        "coefficients": verdict.coefficients.rows,
        "files": files,
    }
    return answer


def _describe_rows(fit: Fit) -> str:
    """What was read, and how many rows were used."""
    table, left_out = fit.table, fit.left_out
    text = sum(kind == "text" for kind in table.source.kinds)
    columns = plural(len(table.source.names), "column") + (f" ({text} of text)" if text else "")
    rows = "" if fit.trained_on is None else f", {number(fit.trained_on)} training rows"
    if fit.folded is None and fit.is_held_out:
        rows += f", {number(fit.tested.quality.n)} held-out rows"
        left_out += fit.tested.left_out
    why = "without a target" if fit.columns.missing == "auto" else "with missing values"
    verb = "was" if left_out == 1 else "were"
    gone = f"; {plural(left_out, 'row')} {why} {verb} skipped" if left_out else ""
    return f"Data: {file(title(table.source))}, {columns}{rows}{gone}."


def _describe_learner(fit: Fit) -> str:
    """The learner, why it was taken, and what was asked of it."""
    model, threshold, alpha = fit.model, fit.options.threshold, chosen_penalty(fit.model)
    parts = [f"Model: {fit.kind._command}, {fit.why}"]
    if threshold is not None:
        second = name(model.classes_[1])
        parts.append(f"predicts {second!r} if its probability exceeds {threshold:g}")
    if fit.shuffled:
        parts.append(f"rows sorted by class, so shuffled first (--seed {fit.seed})")
    if alpha is not None:
        parts.append(f"penalty alpha = {alpha}")
    return f"{'; '.join(parts)}."


def write_command(fit: Fit) -> str:
    """The command line that fits the same model again, to the last bit."""
    words = ["adaline", "fit", title(fit.table.source)]
    for group in (fit.options, fit.evaluation, fit.columns, fit.common):
        for field in fields(group):
            value, option = getattr(group, field.name), field.name.strip("_").replace("_", "-")
            if value != field.default and option not in ("report", "json", "quiet", "verbose"):
                for one in value if isinstance(value, list) else [value]:
                    words += [f"--{option}"] if one is True else [f"--{option}={one}"]
    return shlex.join(words) + "\n"
