"""`adaline fit`: learn a column of a table from the others, and say what it is worth."""

from __future__ import annotations

from typing import Annotated, Literal

from cyclopts import Parameter

from adaline.cli.files.column_options import Columns
from adaline.cli.files.file_options import Reading
from adaline.cli.printing.printer import Data, Drawing, Out, Whole


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
    cluster: str | None = None,
    timeout: float = 300.0,
    checkpoint: str | None = None,
    exposure: str | None = None,
    columns: Columns | None = None,
    reading: Reading | None = None,
    cv: Whole | None = None,
    group: str | None = None,
    by_time: str | None = None,
    weights: str | None = None,
    balanced: Annotated[bool, Parameter(negative="")] = False,
    threshold: float | None = None,
    costs: str | None = None,
    coefficients: Literal["short", "full"] = "short",
    common: Drawing | None = None,
) -> int:
    """Learn a column of a table from the others, and say what the result is worth.

    Numbers are used as they are, also those written as 12.5%, $3.10 or 1.234,5; dates become days,
    and text one indicator a level. Columns that count or name the rows are left out; see adaline
    look. The quality is measured by cross-validation below 500 rows, and on a fifth of more rows,
    by models that have not seen the rows that they predict; then the model learns from all rows. Of
    rows that do not fit in memory a fifth is held out for good. Files may be larger than memory.

    Parameters
    ----------
    data
        A file (CSV and other text tables, Excel, Parquet, Arrow, JSON, NDJSON, LIBSVM, npy, npz;
        text also as .gz, .bz2, .xz or .zst), a folder or a pattern in quotes ('data/*.parquet'), a
        URL, or - for stdin.
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
        Share of the rows to hold out once, for good: the model that is kept does not learn from
        them. 0 learns from all, and measures the quality on rows that were learned from.
    set_
        A setting of the learner as name=value, such as alpha=0; may be given more than once.
    passes
        How many times to read a large file (learners that go row by row: perceptron, adaline, ...).
    jobs
        Processes that read and sum a large file.
    cluster
        A Dask cluster whose workers read and sum the files: tcp://HOST:8786 or tls://HOST:8786, the
        path of a scheduler file, or local:4 for four processes of this machine.
    timeout
        Seconds without any worker of the cluster after which the command gives up; its scheduler
        must answer within them, too, and within 30.
    checkpoint
        A directory that keeps what was learned so far: after Ctrl-C or a crash the same command
        goes on from there.
    exposure
        Of poisson: the column of times, areas or people that the counts are proportional to.
    cv
        Cross-validate with so many folds: each row is predicted by a model that has not seen it,
        and the model that is kept learns from all rows. 10 is the default below 500 rows.
    group
        A column whose equal values stay together in cross-validation: patients, shops, sites. It
        is not learned from.
    by_time
        A column of times: in cross-validation, each span is predicted from what came before it.
    weights
        A column of weights of the rows; a row of weight 2 counts twice in learning. It is not
        learned from, and the quality counts every row once.
    balanced
        Let every class count the same in learning, however many rows it has.
    threshold
        Of two classes: answer the second (in the order of the alphabet, or of numbers) where its
        probability exceeds this; 0.5 otherwise.
    costs
        What an error costs on rows of each class, such as yes=5,no=1; those not named cost 1.
    coefficients
        full shows odds ratios, and coefficients per standard deviation of the column.
    """
    from adaline.cli.learning.fitting import (
        FitRequest,
        run,
    )  # with all that learns: not for a help text

    request = FitRequest(
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
        cluster,
        timeout,
        checkpoint,
        exposure,
        reading,
        cv,
        group,
        by_time,
        weights,
        balanced,
        threshold,
        costs,
        coefficients == "full",
    )
    return run(request, Out(common))
