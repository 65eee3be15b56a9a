"""`adaline fit`: learn a column of a table from the others, and say what it is worth."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from adaline.cli._columns import Columns
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
    test: float | None = None,
    set_: Annotated[list[str] | None, Parameter(name="--set", negative="")] = None,
    passes: Whole = 1,
    jobs: Annotated[Whole, Parameter(name=["--jobs", "-j"])] = 1,
    checkpoint: str | None = None,
    exposure: str | None = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    common: Common | None = None,
) -> int:
    """Learn a column of a table from the others, and say what the result is worth.

    Numbers are used as they are, also those written as 12.5%, $3.10 or 1.234,5; dates become days,
    and text one indicator a level. Columns that count or name the rows are left out; see adaline
    look. A fifth of the rows is held out to measure the quality with: which ones, a hash of the
    row's place and the seed decides. Files may be larger than memory.

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
    test
        Share of the rows to hold out: 0.2, and none of fewer than 50 rows. 0 learns from all.
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
    """
    from adaline.cli._fitting import Asked, run  # with all that learns: not for a help text

    asked = Asked(
        data,
        target,
        model,
        out,
        report,
        columns or Columns(),
        test,
        set_ or (),
        passes,
        jobs,
        checkpoint,
        exposure,
        reading,
    )
    return run(asked, Out(common))
