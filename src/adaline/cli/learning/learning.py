"""Learning from a source: in memory where the rows fit, else block by block."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

import adaline
from adaline.cli.files.sources import about_rows
from adaline.cli.learning.learner_choice import Choice, learners
from adaline.cli.learning.weights_and_costs import beside, costs_for, row_weights
from adaline.cli.printing.errors import Usage
from adaline.cli.printing.printer import Out
from adaline.cli.printing.progress import Progress
from adaline.cli.printing.words import with_names
from adaline.data import Encoding, Source
from adaline.data import fit as fit_blocks
from adaline.data.sharing import Share, labels
from adaline.data.tables import counted_rows
from adaline.data.tables import gathered as rows_of
from adaline.evaluation.cross_validation import fit_in_order
from adaline.evaluation.evidence import is_proven

MEMORY = 5_000_000  # numbers that are read into memory, at most
_MOST = 200_000_000  # numbers for what needs all rows
_AUTO = 1_000_000  # and numbers from which the penalty of logistic regression is searched
_FEW = 30  # classes up to which a proof of separability is tried
_PATIENCE = 2.0  # CPU seconds for a verdict on separability; `adaline separable` takes longer


@dataclass(frozen=True)
class Plan:
    """How to learn."""

    target: str
    choice: Choice
    seed: int
    share: float  # of the rows, held out
    missing: Any = "auto"
    jobs: Any = 1  # processes, or the workers of a cluster
    checkpoint: str | None = None
    passes: int = 1
    in_memory: bool = True
    exposure: str | None = None
    cv: int = 0  # folds; 0 for none
    apart: bool = False  # measured on a fifth of the rows, by a model that learned from the others
    group: str | None = None
    by_time: str | None = None
    weights: str | None = None
    balanced: bool = False
    threshold: float | None = None
    costs: str | None = None
    beside: tuple[str, ...] = ()  # columns that are read and not learned from
    stratified: bool = False

    @property
    def options(self) -> dict[str, str]:
        """Columns for folds and weights, by their options."""
        wanted = {"--group": self.group, "--by-time": self.by_time, "--weights": self.weights}
        return {option: named for option, named in wanted.items() if named is not None}


@dataclass(frozen=True, eq=False)
class Learned:
    """A model with what was seen and said on the way; X and y where they fit in memory."""

    model: Any
    encoding: Encoding
    rows: int | None
    left_out: int
    said: list[str]
    converged: bool | None  # None: not known
    separability: Any = None
    X: Any = field(default=None, repr=False)
    y: Any = field(default=None, repr=False)
    omega: Any = field(default=None, repr=False)  # weights of the rows
    beside: dict[str, Any] = field(default_factory=dict, repr=False)
    shuffled: bool = False  # before learning, as labels came in runs


def with_means(encoding: Encoding, source: Source, plan: Plan) -> Encoding:
    """Means that stand for gaps are of the rows learned."""
    return encoding.with_means(learned_rows(source, plan), plan.jobs) if plan.share else encoding


def learned_rows(source: Source, plan: Plan) -> Source:
    """The rows that are not held out."""
    return shared(source, plan, out=False) if plan.share else source


def shared(source: Source, plan: Plan, out: bool) -> Source:
    """The rows that are held out, or the others."""
    return Share(source, plan.seed, plan.share, out, plan.target if plan.stratified else None)


def fits_in_memory(source: Source, encoding: Encoding) -> None:
    """Refuse what would not fit: some gigabytes."""
    rows = about_rows(source)
    if rows is not None and rows * len(encoding.names) > _MOST:
        raise ValueError(
            f"{source.name}: about {rows:,} rows of {len(encoding.names)} numbers are too many to "
            "have in memory at once, which this needs; take some of the rows."
        )


def gathered(
    source: Source, encoding: Encoding, target: str, classes: bool, counts: bool = False
) -> Any:
    """X, y and the number of rows left out, all rows in memory."""
    X, values, left_out = rows_of(source, encoding, target, counts=counts)
    return X, _target(values, target, classes), left_out


def _target(values: Any, target: str, classes: bool) -> Any:
    if classes:
        return labels(values)
    if values.dtype.kind == "O":
        raise ValueError(
            f"the target {target!r} holds text such as {values[0]!r}; a regressor needs numbers. "
            "Take a classifier, such as --model logistic, or another target."
        )
    y = values.astype(np.float64)
    if not np.isfinite(y).all():
        raise ValueError(
            f"the target {target!r} has an infinite value; correct it, or leave such rows out: "
            "--na inf."
        )
    return y


def learned(
    estimator: Any, source: Source, encoding: Encoding, plan: Plan, out: Out, about: int | None
) -> Learned:
    """The fitted model; warnings are collected, and Ctrl-C says where the checkpoint is."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if plan.in_memory:
            found = _at_once(estimator, source, encoding, plan)
        else:
            found = _by_blocks(estimator, source, encoding, plan, out, about)
    # What an iterative learner says of its end, the verdict says with all that is known by then.
    tells = hasattr(getattr(found.model, "fit_", None), "converged")
    kinds = set() if tells else {w.category.__name__ for w in caught}
    ours = [w for w in caught if _is_news(w) and "did not converge" not in str(w.message)]
    # Rows in memory are an array, whose columns are x0, x1, ...; blocks have names already.
    names = encoding.names if plan.in_memory else ()
    said = list(dict.fromkeys(with_names(str(w.message), names) for w in ours))
    converged: bool | None = "ConvergenceWarning" not in kinds
    in_order = not plan.in_memory and plan.choice.in_order
    if in_order and not is_proven(getattr(found.model, "certificate_", None)):
        converged = None  # the passes were done as asked: nobody has looked whether more would help
    return replace(found, said=said, converged=converged)


def _is_news(warning: Any) -> bool:
    """Whether a user can do something about it: not what libraries tell each other."""
    return not issubclass(warning.category, DeprecationWarning | FutureWarning | ResourceWarning)


def _at_once(estimator: Any, source: Source, encoding: Encoding, plan: Plan) -> Learned:
    rows, classes = learned_rows(source, plan), plan.choice.classes
    X, y, left_out = gathered(rows, encoding, plan.target, classes, plan.choice.counts)
    if classes and len(np.unique(y)) < 2:
        raise ValueError(f"the target {plan.target!r} has one class among the rows to learn from.")
    values = beside(rows, encoding, plan.target, plan.options) if plan.options else {}
    omega = row_weights(y, values.get("--weights"), plan.weights, plan.balanced)
    if plan.threshold is not None or plan.costs is not None:
        prices = costs_for(np.unique(y).tolist(), plan.threshold, plan.costs)
        estimator.set_params(costs=prices)
    try:
        mixed = fit_in_order(estimator, X, y, omega, plan.seed % 2**63)
    except ValueError as error:
        raise ValueError(with_names(str(error), encoding.names)) from error
    estimator.feature_names_in_ = np.array(encoding.names, dtype=object)
    proof = None
    if classes and y.dtype.kind in "iubUO" and len(estimator.classes_) <= _FEW:
        proof = adaline.separability(
            X, y, sample_weight=omega, time_limit=_PATIENCE, pairwise=False
        )
    seen = X, y, omega, values, mixed
    return Learned(estimator, encoding, len(y), left_out, [], True, proof, *seen)


def _by_blocks(
    estimator: Any, source: Source, encoding: Encoding, plan: Plan, out: Out, about: int | None
) -> Learned:
    if not plan.choice.streams:
        others = sorted(kind._command for kind in learners() if kind._streams)
        raise Usage(
            f"{plan.choice.model} needs all rows in memory; use a smaller file, no --checkpoint "
            f"and --jobs 1, or one of {', '.join(others)}."
        )
    small = about is not None and about * (len(encoding.names) + 1) <= MEMORY
    if small and plan.exposure is not None and plan.jobs == 1 and plan.checkpoint is None:
        return _with_exposures(estimator, learned_rows(source, plan), encoding, plan)
    rows = None if about is None else int(about * (1 - plan.share))
    # Others sum in one pass, or take steps until one is small enough: nobody knows how many.
    count = plan.passes if plan.choice.in_order else None
    progress = Progress(out, rows, passes=count, doing="learning")
    with progress:
        model = fit_blocks(
            estimator,
            learned_rows(source, plan),
            plan.target,
            encoding=encoding,
            jobs=1 if plan.choice.in_order else plan.jobs,
            checkpoint=plan.checkpoint,
            progress=progress,
            passes=plan.passes,
            seed=plan.seed % 2**64,
            exposure=plan.exposure,
        )
    return Learned(model, encoding, progress.rows or None, 0, [], True)


def _with_exposures(estimator: Any, source: Source, encoding: Encoding, plan: Plan) -> Learned:
    """Few counts with exposures, at once: the fit then knows how uncertain its weights are."""
    X, y, offset = counted_rows(source, encoding, plan.target, plan.exposure, estimator._loss)
    estimator.fit(X, y, offset=offset)
    estimator.feature_names_in_ = np.array(encoding.names, dtype=object)
    return Learned(estimator, encoding, len(y), 0, [], True)


def penalised(estimator: Any, plan: Plan, settings: Any, numbers: int) -> Any:
    """Logistic regression looks for its penalty where the rows are few enough to try."""
    free = not any(str(setting).partition("=")[0].strip() == "alpha" for setting in settings)
    tries = isinstance(estimator, adaline.LogisticRegression)
    if tries and free and plan.in_memory and numbers <= _AUTO:
        estimator.set_params(alpha="auto")
    return estimator
