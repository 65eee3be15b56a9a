"""`adaline fit`: learn a column of a table from the others, and say what it is worth."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from adaline.cli._output import Common, Data, Out, Whole
from adaline.cli._reading import Reading


def fit(
    data: Data,
    /,
    *,
    target: Annotated[str, Parameter(name=["--target", "-t"])],
    model: Annotated[str | None, Parameter(name=["--model", "-m"])] = None,
    out: Annotated[str | None, Parameter(name=["--out", "-o"])] = None,
    report: str | None = None,
    ignore: Annotated[list[str] | None, Parameter(negative="")] = None,
    test: float | None = None,
    missing: Literal["refuse", "drop", "mean"] = "refuse",
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    passes: Whole = 1,
    jobs: Annotated[Whole, Parameter(name=["--jobs", "-j"])] = 1,
    checkpoint: str | None = None,
    exposure: str | None = None,
    formula: str | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Learn a column of a table from the others, and say what the result is worth.

    Numbers are used as they are; text becomes one indicator a level. A fifth of the rows is held
    out to measure the quality with: which ones, a hash of the row's place and the seed decides.
    Files may be larger than memory.

    Parameters
    ----------
    data
        A file (CSV and other text tables, Excel, Parquet, Arrow, JSON, NDJSON, LIBSVM, npy, npz;
        text also as .gz, .bz2, .xz or .zst), or - for stdin.
    target
        The column to learn.
    model
        The learner: ridge, least-squares or widrow-hoff for numbers, poisson for counts; logistic,
        gaussian, perceptron, adaline, sigmoid, least-squares-classifier, ho-kashyap or
        kernel-perceptron for classes; --model ? lists them all. Without it the target decides.
    out
        Where to keep the model, such as model.adaline.
    report
        Where to write a page about the fit, such as report.html.
    ignore
        A column to leave out; may be given more than once.
    test
        Share of the rows to hold out: 0.2, and none of fewer than 50 rows. 0 learns from all.
    missing
        What to do with missing values: refuse them, drop their rows, or fill in the mean.
    set_
        A setting of the learner as name=value, such as alpha=0; may be given more than once.
    passes
        How many times to read a large file (learners that go row by row: perceptron, adaline, ...).
    jobs
        Processes that read and sum a large file.
    checkpoint
        A directory that keeps what was learned so far: after Ctrl-C or a crash the same command
        goes on from there.
    exposure
        Of poisson: the column of times, areas or people that the counts are proportional to.
    formula
        Which columns to use, and what to make of them: "log(size) + rooms*garden - floor". It knows
        + - : * ^2 log sqrt poly(x, 3), and . for all columns.
    """
    from adaline.cli._fitting import Asked, run  # with all that learns: not for a help text

    asked = Asked(
        data,
        target,
        model,
        out,
        report,
        ignore or (),
        test,
        missing,
        set_ or (),
        passes,
        jobs,
        checkpoint,
        exposure,
        reading,
        formula,
    )
    return run(asked, Out(common))
