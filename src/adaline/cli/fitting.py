"""The work of `adaline fit`: plan, learn, measure the quality, write files, and print the answer.

`run_fit` is called by `adaline fit` and `adaline demo`. A report ends with the command that fits
the same model again, to the last bit.
"""

from __future__ import annotations

import os
import re
import shlex
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from datetime import date
from typing import Any

import numpy as np

import adaline
from adaline.cli.errors import LIBRARIES_ONLY, TOKENS, describe_error, refuse_conflicts
from adaline.cli.learners import choose_learner, cost_matrix, make_learner
from adaline.cli.models import Measured, measure
from adaline.cli.options import FitOptions
from adaline.cli.printing import Answer, Progress, pick, strict
from adaline.cli.tables import StudiedTable, hash_file, study_table, title
from adaline.data import cluster, workers
from adaline.data import fit as fit_blocks
from adaline.data import table as read_table
from adaline.data.sharing import Spread
from adaline.data.tables import SCRATCH, counted_rows, kept_in
from adaline.evaluation import cross_validation
from adaline.evaluation.fit_evidence import chosen_penalty, reconciled
from adaline.evaluation.trial import Trial
from adaline.evaluation.verdict import judge
from adaline.evaluation.words import (
    HOLD_OUT,
    DateColumn,
    detail_sentence,
    file,
    name,
    number,
    plural,
)

MEMORY = 5_000_000  # numbers that are learned from at once: 40 MB
REPORTED = 2_000_000  # numbers of held-out rows that checks and a report look at


def run_fit(data: str, options: FitOptions) -> Answer:
    """Learn, measure, write files, and print what the result is worth."""
    with ExitStack() as stack:
        jobs: Any = options.jobs
        scratch = None
        if options.cluster is not None:
            patience = max(min(options.timeout, 30.0), 0.1)
            client = stack.enter_context(cluster(options.cluster, patience))
            jobs = workers(client, options.timeout)
        else:
            scratch = stack.enter_context(kept_in(SCRATCH, jobs))
        named = {**options.evaluation.named, "--exposure": options.exposure}
        fit = Fit(study_table(data, options.columns, named, jobs, scratch), options, jobs)
        fit.learn()
        fit.measure()
        return fit.describe(fit.write_files())


class Fit:
    """A run of `adaline fit`: what was asked and decided, the model, and its quality."""

    X: Any = None  # the training rows and their weights, if they are in memory
    y: Any = None
    omega: Any = None
    trained_on: int | None = None
    left_out = 0
    shuffled = False
    separability: Any = None
    folded: cross_validation.CrossValidated | None = None

    def __init__(self, table: StudiedTable, options: FitOptions, jobs: Any) -> None:
        self.table, self.options, self.jobs = table, options, jobs
        self.evaluation, self.common = options.evaluation, options.columns.common
        self.target, self.seed = table.target, self.common.seed
        model = options.model or ("poisson" if options.exposure is not None else None)
        self.kind, self.why = choose_learner(model, table.source, self.target)
        self.is_classifier = self.kind._learns == "classes"
        rows, numbers = table.rows, table.numbers
        fits = numbers is not None and numbers <= MEMORY and options.checkpoint is None
        self.is_small = fits and jobs == 1
        self.in_memory = self.is_small and options.exposure is None
        self.share = 0.0  # of the rows, held out permanently
        self.folds = 0  # of a cross-validation; 1 is a fifth of the rows, predicted by the others
        if options.test is not None:
            self.share = options.test
        elif not self.in_memory or rows is None or numbers is None:
            # Below 50 rows, those held out would be too few to measure with.
            self.share = 0.0 if rows is not None and rows < 50 else 0.2
        elif self.evaluation.asks_for_folds or rows < 500:
            self.folds = self.evaluation.cv or usual_folds(rows, numbers)
        else:
            self.folds = 1
        self._refuse_useless_options()
        # Of many rows, each class is held out alike by chance.
        stratified = self.is_classifier and rows is not None and rows <= 100_000
        sharing: dict[str, Any] = {"share": self.share, "seed": self.seed, "jobs": jobs}
        sharing |= {"stratified": stratified, "encoding": table.encoding}
        self.rows = read_table(table.source, self.target, **sharing)
        searched = numbers if self.in_memory else None  # for the penalty
        self.model = make_learner(self.kind, options.set_ or (), self.seed, searched)

    def learn(self) -> None:
        """Fit the model, with the warnings of learning as messages."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if self.in_memory:
                self._learn_at_once()
            else:
                self._learn_by_blocks()
        texts = [str(w.message) for w in caught if not issubclass(w.category, LIBRARIES_ONLY)]
        # Rows in memory are an array, whose columns are x0, x1, ...; blocks have names already.
        names = self.rows.names if self.in_memory else ()
        # Whether it converged is left to the verdict, which knows the certificate, too.
        self.messages = [name_columns(t, names) for t in texts if "did not converge" not in t]

    def _learn_at_once(self) -> None:
        options, rows, model = self.options, self.rows, self.model
        X, y, self.left_out = rows.X, rows.y, rows.left_out
        if not self.is_classifier and y.dtype.kind == "U":
            text = f"the target {self.target!r} is text such as {y[0]!r}"
            raise ValueError(f"{text}; use a classifier, such as --model logistic.")
        self.groups, self.times, self.omega = self.evaluation.columns_of(rows)
        if options.threshold is not None or options.costs is not None:
            costs = cost_matrix(np.unique(y).tolist(), options.threshold, options.costs)
            model.set_params(costs=costs)
        try:
            self.shuffled = cross_validation.fit_in_order(model, X, y, self.omega, self.seed)
        except ValueError as error:
            raise ValueError(name_columns(str(error), rows.names)) from error
        model.feature_names_in_ = np.array(rows.names, dtype=object)
        if self.is_classifier and len(model.classes_) <= 30:
            # For at most 2 s of CPU time; `adaline separable` takes longer.
            how = {"sample_weight": self.omega, "time_limit": 2.0, "pairwise": False}
            self.separability = adaline.separability(X, y, **how)
        self.X, self.y, self.trained_on = X, y, len(y)

    def _learn_by_blocks(self) -> None:
        options, model, rows = self.options, self.model, self.rows
        if self.is_small:  # counts with exposures; at once, the fit knows how uncertain it is
            read = (rows.learned, rows.encoding, self.target, options.exposure, model._loss)
            X, y, offset = counted_rows(*read)
            model.fit(X, y, offset=offset)
            model.feature_names_in_ = np.array(rows.names, dtype=object)
            self.trained_on = len(y)
            return
        total = None if self.table.rows is None else int(self.table.rows * (1 - self.share))
        given = pick(options, "passes exposure checkpoint") | {"seed": self.seed}
        given |= {"jobs": 1 if self.kind._streams == "order" else self.jobs}
        with Progress(self.common, total, "learning") as progress:
            given |= {"encoding": rows.encoding, "progress": progress}
            fit_blocks(model, rows.learned, self.target, **given)
        self.trained_on = progress.rows or None

    def measure(self) -> None:
        """Measure the quality, by folds or on the rows that are held out."""
        if self.folds:
            self._cross_validate()
        if self.folded is not None:
            self.tested = Measured(self.folded.quality, self.X, self.y)
        else:
            self.tested = self._measure_rows()
            if self.tested.quality.n == 0:  # no row is held out, of very few
                self.share, self.rows = 0.0, self.table.all_rows
                self.tested = self._measure_rows()
        self.is_held_out = self.folded is not None or self.share > 0
        known: dict[str, Any] = {"held_out": self.is_held_out, "names": self.rows.encoding.labels}
        known |= {"quality": self.tested.quality, "cross_validated": self.folded}
        known |= {"learned": self.X, "learned_y": self.y, "learned_weight": self.omega}
        known |= pick(self, "target separability")
        self.trial = Trial.of(self.model, self.tested.X, self.tested.y, **known)
        self.verdict = judge(self.trial)
        doubts = [*self.table.doubts(), *self._doubt_order()]
        self.doubts = [*doubts, *map(describe_error, self.messages)]

    def _cross_validate(self) -> None:
        """Each row is predicted by a fit without it, unless that fails and nobody asked for it."""
        y, seed = self.y, self.seed
        try:
            if self.folds == 1:
                parts = cross_validation.hold_out(y, seed=seed)
            else:
                beside = {"groups": self.groups, "times": self.times}
                parts = cross_validation.folds(y, self.folds, **beside, seed=seed)
            with Progress(self.common, len(y), "cross-validation") as progress:
                after = lambda done, count: progress(len(y) * done // count)  # noqa: E731
                what = (self.model, self.model, self.X, y, parts, self.omega)
                self.folded = cross_validation.predict_folds(*what, after, seed)
        except ValueError as error:
            if self.evaluation.asks_for_folds:
                raise
            self.messages.append(f"too few rows for cross-validation: {describe_error(error)}")

    def _measure_rows(self) -> Measured:
        rows = self.rows.held_out or self.rows.learned
        if not isinstance(self.jobs, int):  # of a cluster: this process reads no more than it can
            rows = Spread(rows, 64)
        # Without a report, rows of unknown number are not collected: there may be too many.
        numbers, every = self.table.numbers, 0
        if numbers is not None or self.options.report is not None:
            every = max(1, round((numbers or MEMORY) * (self.share or 1) / REPORTED))
        what = (self.model, self.rows.encoding, rows, self.target)
        with Progress(self.common, doing="measuring the quality") as progress:
            return measure(*what, progress, self.options.exposure, every)

    def _refuse_useless_options(self) -> None:
        """Refuse options that this learner or rows in blocks have no use for."""
        options, by, kind, model = self.options, self.evaluation, self.kind, self.kind._command
        counts, weighs = options.exposure is not None, by.weights is not None or by.balanced
        decides = options.threshold is not None or options.costs is not None
        for_classes = (decides or by.balanced) and not self.is_classifier
        lacks_costs = decides and "costs" not in kind().get_params()
        in_memory = weighs or decides or by.asks_for_folds
        fewer = "all rows in memory; use fewer, without --jobs and --checkpoint."
        refuse_conflicts(
            (counts and not kind._takes_exposure, f"--exposure is for poisson, not {model}."),
            (for_classes, f"--balanced, --threshold and --costs are for classes, not {model}."),
            (lacks_costs, f"--threshold and --costs need probabilities, which {model} lacks."),
            (in_memory and not self.in_memory, f"folds, weights and costs need {fewer}"),
            (kind._streams is None and not self.in_memory, f"{model} needs {fewer}"),
        )

    def _doubt_order(self) -> list[str]:
        """A warning for each column of times in whose order the rows are, if that is ignored."""
        by, X, doubts = self.evaluation, self.X, []
        if not self.is_held_out or by.by_time or by.group or not isinstance(X, np.ndarray):
            return []
        for column, values in zip(self.rows.encoding.labels, X.T, strict=True):
            if isinstance(column, DateColumn) and len(np.unique(values)) >= 20:
                steps = np.diff(values)
                if np.all(steps >= 0) or np.all(steps <= 0):
                    doubts.append(
                        f"the rows are in order of {name(column)!r} and were held out at random, "
                        "which is easier than predicting later rows from earlier ones; see "
                        f"--by-time {name(shlex.quote(column))}."
                    )
        return doubts

    def write_files(self) -> dict[str, str]:
        """Write the model and the report if they are asked for; their paths."""
        options, table, files = self.options, self.table, {}
        source = title(table.source)
        fingerprint = hash_file(table.source) if options.out or options.report else None
        if options.out is not None:
            metadata: dict[str, Any] = pick(self, "target seed")
            metadata |= {"data": source, "learned_from": self.trained_on}
            metadata |= {"held_out_share": self.share, "quality": strict(self.verdict.quality)}
            beside = {"fingerprint": fingerprint, "exposure": options.exposure}
            metadata |= {key: value for key, value in beside.items() if value is not None}
            adaline.save(self.model, options.out, self.rows.encoding, metadata)
            files["model"] = options.out
        if options.report is not None:
            report = adaline.Report(
                self.trial,
                title=f"Predicting {self.target!r} from {os.path.basename(source)}",
                data=self._describe_data(fingerprint),
                warnings=self.doubts,
                code=shlex.join(["adaline", *TOKENS]) + "\n",
                gaps=table.gaps(),
            )
            report.write(options.report)
            files["report"] = options.report
        return files

    def _describe_data(self, fingerprint: str | None) -> dict[str, Any]:
        """What a report says of the data: where from, when, which bytes, and what was done."""
        table = self.table
        bases = ", ".join(f"{column}={level}" for column, level in self.base_levels.items())
        facts = {
            "source": title(table.source),
            "read on": date.today().isoformat(),
            "rows": table.look.rows,
            "training rows": self.trained_on or "many",
            "rows skipped": self.left_out or None,
            "SHA-256": fingerprint,
            "file format": "; ".join(table.source.notes) or None,
            "reference categories": bases or None,
        }
        for what, _, how in (sentence.partition(": ") for sentence in table.sentences()):
            facts[what.lower()] = how
        return {key: value for key, value in facts.items() if value is not None}

    @property
    def base_levels(self) -> dict[str, str]:
        """The category of each column of text that has no indicator."""
        return {entry.name: entry.levels[0] for entry in self.rows.encoding.inputs if entry.levels}

    def describe(self, files: dict[str, str]) -> Answer:
        """The answer of `adaline fit`: the result, then the doubts, then what was proven."""
        model, table, verdict, options = self.model, self.table, self.verdict, self.options
        answer = Answer("fit", self.common)
        certificate, proof = reconciled(model, self.separability)
        fit = getattr(model, "fit_", None)
        answer.verdict(verdict.sentence)
        if more := detail_sentence(verdict.quality):
            answer.say(more)
        # The last warnings of a verdict are about the quality, which matters most.
        answer.warn(*map(describe_error, reversed(verdict.warnings)), *self.doubts)
        answer.say(verdict.evidence)
        if certificate is not None:
            answer.say(f"Certificate, {describe_error(str(certificate))}", "detail")
        answer.say(self._describe_learner())
        answer.say(self._describe_rows())
        table.describe(answer)
        if options.coefficients is not None or self.common.verbose:
            self._describe_coefficients(answer)
        rows = "" if self.trained_on is None else f", fitted to all {number(self.trained_on)} rows"
        rows = rows.replace("all", "the") + " that were not held out" if self.share else rows
        for what, path in files.items():
            answer.say(f"Wrote the {what}{rows if what == 'model' else ''}: {path}")
        use = "Model not saved (use --out model.adaline)."
        if options.out is not None:
            use = f"To use it: adaline predict {shlex.quote(options.out)} MORE_ROWS.csv"
        answer.say(use, "note")
        is_apart = self.is_held_out and (self.folded is None or self.folded.way == HOLD_OUT)
        answer.facts = {
            "adaline": adaline.__version__,
            "data": {
                **table.facts(),
                **pick(self, "in_memory base_levels"),
                "rows_learned_from": self.trained_on,
                "rows_held_out": self.tested.quality.n if is_apart else 0,
            },
            "target": self.target,
            "model": {
                **pick(self, "why shuffled"),
                "name": self.kind._command,
                "class": type(model).__name__,
                "parameters": model.get_params(deep=False),
                "alpha": getattr(model, "alpha_", None),
            },
            "verdict": str(verdict),
            **pick(verdict, "quality converged condition"),
            "stopped": str(getattr(fit, "stopped", "")) or None,
            "certificate": certificate and pick(certificate, "kind statement"),
            "separability": proof and pick(proof, "verdict margin") | {"sentence": proof.explain()},
            "checks": [pick(c, "key fine sentence") | dict(c.numbers) for c in verdict.checks],
            "coefficients": verdict.coefficients.rows,
            "files": files,
        }
        return answer

    def _describe_coefficients(self, answer: Answer) -> None:
        # What the weighted sum is: the target, that two classes are the second, or a log.
        classes: Any = getattr(self.model, "classes_", ())
        output = f"{self.target}={classes[1]}" if len(classes) == 2 else self.target
        output = f"log {output}" if self.kind._takes_exposure else output
        table = self.verdict.coefficients
        table = table.in_full if self.options.coefficients == "full" else table
        answer.coefficients(table, name(output))
        bases = ", ".join(f"{name(c)}={name(level)}" for c, level in self.base_levels.items())
        if bases and table.heads:
            answer.say(f"Reference categories: {bases}.", "note")

    def _describe_rows(self) -> str:
        """What was read, and how many rows were used."""
        table, left_out = self.table, self.left_out
        text = sum(kind == "text" for kind in table.source.kinds)
        columns = plural(len(table.source.names), "column") + (f" ({text} of text)" if text else "")
        rows = "" if self.trained_on is None else f", {number(self.trained_on)} training rows"
        if self.folded is None and self.is_held_out:
            rows += f", {number(self.tested.quality.n)} held-out rows"
            left_out += self.tested.left_out
        is_auto = self.options.columns.missing == "auto"
        why = "without a target" if is_auto else "with missing values"
        verb = "was" if left_out == 1 else "were"
        gone = f"; {plural(left_out, 'row')} {why} {verb} skipped" if left_out else ""
        return f"Data: {file(title(table.source))}, {columns}{rows}{gone}."

    def _describe_learner(self) -> str:
        """The learner, why it was taken, and what was asked of it."""
        threshold, alpha = self.options.threshold, chosen_penalty(self.model)
        parts = [f"Model: {self.kind._command}, {self.why}"]
        if threshold is not None:
            second = name(self.model.classes_[1])
            parts.append(f"predicts {second!r} if its probability exceeds {threshold:g}")
        if self.shuffled:
            parts.append(f"rows sorted by class, so shuffled first (--seed {self.seed})")
        if alpha is not None:
            parts.append(f"penalty alpha = {alpha}")
        return f"{'; '.join(parts)}."


def usual_folds(rows: int, numbers: int) -> int:
    """As many folds as are quick: of more numbers, ten would take long."""
    return max(2, min(10 if numbers <= 200_000 else 5, rows))


def name_columns(text: str, names: Sequence[str]) -> str:
    """A sentence about x0, x1, ... with the names of the columns.

    >>> name_columns("x1 is a combination of x0.", ["age", "size"])
    "'size' is a combination of 'age'."
    """
    known = {f"x{j}": repr(name(column)) for j, column in enumerate(names)}
    return re.sub(r"(?<![\w=])x\d+\b", lambda match: known.get(match[0], match[0]), text)
