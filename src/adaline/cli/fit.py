"""`adaline fit`: learn a column of a table from the others, and say what the result is worth."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from adaline.cli.options import FitOptions


def fit(
    data: Annotated[str, Parameter(allow_leading_hyphen=True)],
    /,
    *,
    options: FitOptions = FitOptions(),
) -> int:
    """Fit a model that predicts a column of a table from the others, and evaluate it.

    Numbers may be written as 12.5%, $3.10 or 1.234,5; dates become days, and text is one-hot
    encoded. Columns with numbers or names of the rows are ignored; see adaline look. Below 500 rows
    the model is evaluated by cross-validation, from 500 on by a hold-out of 20%, and then fitted to
    all rows; if they do not fit into memory, the hold-out is permanent.

    Parameters
    ----------
    data
        A file (CSV and other text tables, Excel, Parquet, Arrow, JSON, NDJSON, LIBSVM, npy, npz;
        text also as .gz, .bz2, .xz or .zst), a folder or a pattern in quotes ('data/*.parquet'), a
        URL, or - for stdin.
    """
    options.check(data)
    if options.by or options.rolling:  # modules with all that learns: not for a help text
        from adaline.cli.groups import fit_many

        return fit_many(data, options)
    from adaline.cli.fitting import run_fit

    return run_fit(data, options).finish()
