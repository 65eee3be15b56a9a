"""What `adaline fit` says and writes: verdict, coefficients, warnings, model file and report."""

from __future__ import annotations

import os
import shlex
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import adaline
from adaline.cli.errors import describe_error
from adaline.cli.printing import Answer, pick, strict
from adaline.cli.python_code import write_code
from adaline.cli.tables import hash_file, title
from adaline.evaluation.fit_evidence import chosen_penalty, reconciled
from adaline.evaluation.words import HOLD_OUT, detail_sentence, file, name, number, plural

if TYPE_CHECKING:
    from adaline.cli.fitting import Fit

FEW_TIMES = 20  # different dates from which their order is noticed


def base_levels(fit: Fit) -> dict[str, str]:
    """The level of each column of text that has no indicator."""
    return {entry.name: entry.levels[0] for entry in fit.encoding.inputs if entry.levels}


def find_doubts(fit: Fit) -> list[str]:
    """What reading and learning warned about; and whether times were held out at random."""
    doubts, X, names, options = fit.table.doubts(), fit.X, fit.encoding.names, fit.options
    is_random = fit.is_held_out and options.by_time is None and options.group is None
    is_dense = X is not None and not hasattr(X, "toarray")
    for entry in fit.encoding.inputs if is_random and is_dense else ():
        if entry.is_date and entry.name in names:
            steps = np.diff(X[:, names.index(entry.name)])
            is_sorted = np.all(steps >= 0) or np.all(steps <= 0)
            if is_sorted and np.count_nonzero(steps) >= FEW_TIMES - 1:
                doubts.append(
                    f"The rows are in order of {name(entry.name)!r} and were held out at random. "
                    "To predict later rows from earlier ones is harder; measure that with "
                    f"--by-time {name(shlex.quote(entry.name))}."
                )
    return [*doubts, *map(describe_error, fit.messages)]


def write_files(fit: Fit) -> dict[str, str]:
    """Write the model and the report where they are asked for; their paths."""
    options, table, files, fingerprint = fit.options, fit.table, {}, None
    if options.out or options.report:
        fingerprint = hash_file(table.source)
    if options.out is not None:
        optional = {"fingerprint": fingerprint, "exposure": options.exposure}
        metadata = {
            "target": fit.target,
            "data": title(table.source),
            "learned_from": fit.rows,
            "held_out_share": fit.share,
            "seed": fit.seed,
            "quality": strict(fit.verdict.quality),
            **{key: value for key, value in optional.items() if value is not None},
        }
        adaline.save(fit.model, options.out, fit.encoding, metadata)
        files["model"] = options.out
    if options.report is not None:
        report = adaline.Report(
            fit.trial,
            title=f"{fit.target} from {os.path.basename(title(table.source))}",
            data=_describe_data(fit, fingerprint),
            warnings=find_doubts(fit),
            code=write_code(fit),
            gaps=table.gaps(),
        )
        report.write(options.report)
        files["report"] = options.report
    return files


def _describe_data(fit: Fit, fingerprint: str | None) -> dict[str, Any]:
    """What a report says of the data: where from, when, which bytes, and what was done."""
    table = fit.table
    bases = ", ".join(f"{column}={level}" for column, level in base_levels(fit).items())
    facts = {
        "source": title(table.source),
        "read on": date.today().isoformat(),
        "rows": table.look.rows,
        "rows learned from": fit.rows or "many",
        "rows left out": fit.left_out or None,
        "SHA-256": fingerprint,
        "noticed": "; ".join(table.source.notes) or None,
        "base levels": bases or None,
    }
    for line in table.sentences():
        what, _, how = line.partition(": ")
        facts[what.lower()] = how
    return {key: value for key, value in facts.items() if value is not None}


def describe_fit(fit: Fit, files: dict[str, str]) -> Answer:
    """The answer of `adaline fit`."""
    model, table, verdict, choice = fit.model, fit.table, fit.verdict, fit.choice
    options, answer = fit.options, Answer("fit", fit.common)
    certificate, proof = reconciled(model, fit.separability)
    answer.say(_describe_rows(fit))
    table.describe(answer)
    answer.say(_describe_learner(fit))
    answer.say()
    answer.verdict(str(verdict))
    if (more := detail_sentence(verdict.quality)) != "":
        answer.say(more)
    if certificate is not None:
        answer.say(f"Certificate, {describe_error(str(certificate))}")
    shown = verdict.coefficients
    is_full = options.coefficients == "full"
    # What the weighted sum is: the target, that two classes are the second, or a log.
    classes: Any = getattr(model, "classes_", ())
    output = f"{table.target}={classes[1]}" if len(classes) == 2 else table.target
    output = f"log {output}" if choice.kind._takes_exposure else output
    answer.coefficients(shown.in_full if is_full else shown, name(output))
    bases = ", ".join(f"{name(c)}={name(level)}" for c, level in base_levels(fit).items())
    if bases and shown.heads:
        answer.say(f"Base levels, which the other levels are compared with: {bases}.", "note")
    answer.say()
    answer.warn(*find_doubts(fit), *map(describe_error, verdict.warnings))
    answer.say()
    rows = "" if fit.rows is None else f", learned from all {number(fit.rows)} rows"
    rows = rows.replace("all", "the") + " that were not held out" if fit.share else rows
    for what, path in files.items():
        answer.say(f"Wrote the {what}{rows if what == 'model' else ''}: {Path(path)}")
    use = "The model was not kept; --out model.adaline writes it."
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
            "rows_learned_from": fit.rows,
            "rows_held_out": fit.tested.quality.n if is_apart else 0,
            "in_memory": fit.in_memory,
            "base_levels": base_levels(fit),
            **table.facts(),
        },
        "target": table.target,
        "model": {
            "name": choice.model,
            "class": type(model).__name__,
            "why": choice.why,
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
    """What was read, and how the quality is measured with it."""
    table, folded = fit.table, fit.folded
    text = sum(kind == "text" for kind in table.source.kinds)
    columns = plural(len(table.source.names), "column") + (f" ({text} of text)" if text else "")
    rows = "" if fit.rows is None else f", {number(fit.rows)} training rows"
    left_out = fit.left_out
    if folded is None:
        measured = f", {number(fit.tested.quality.n)} rows held out" if fit.is_held_out else ""
        left_out += fit.tested.left_out * fit.is_held_out
    elif folded.way == HOLD_OUT:
        measured = f", {folded.quality.n:,} of them held out to measure the quality"
    else:
        n, models = folded.quality.n, len(folded.per_fold)
        which = "" if n == fit.rows else f" on {number(n)} of them"
        measured = f"; measured by {models}-fold cross-validation{which}"
    why = "without a target" if fit.request.columns.missing == "auto" else "with missing values"
    gone = f"; {plural(left_out, 'row')} {why} left out" if left_out else ""
    return f"Read {file(title(table.source))}: {columns}{rows}{measured}{gone}."


def _describe_learner(fit: Fit) -> str:
    """The learner, why it was taken, and what was asked of it."""
    model, choice, threshold = (
        fit.model,
        fit.choice,
        fit.options.threshold,
    )
    parts = [f"Learner: {choice.model}, {choice.why}"]
    if threshold is not None:
        second = name(model.classes_[1])
        parts.append(f"answers {second!r} where its probability exceeds {threshold:g}")
    if fit.shuffled:
        parts.append(f"rows sorted by class, so shuffled first (--seed {fit.seed})")
    alpha = chosen_penalty(model)
    return "; ".join(parts) + ("." if alpha is None else f". Penalty: alpha = {alpha}.")
