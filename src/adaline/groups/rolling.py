"""`rolling` and `expanding`: a least-squares fit for each window of rows, in one pass.

Rows are added to the sums of a window and subtracted from them, with their rounding counted
(`kernels.group_fits.roll`), so that every window has its own proven bounds.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.least_squares import LeastSquares
from adaline.estimators.ridge import Ridge
from adaline.groups.fits import GroupFits
from adaline.groups.fitting import (
    NOTHING,
    STATUS,
    has_moderate_weights,
    make_fits,
    set_std_errors,
)
from adaline.groups.tables import encode_keys, read_columns, sort_codes, to_numpy
from adaline.kernels import group_fits as kernels
from adaline.parameters import ParameterError, count, is_number, numbers
from adaline.sums.threads import share_out

if TYPE_CHECKING:
    from adaline.estimators.base import Learner

PIECE = 16  # windows' lengths of windows in a thread's piece, which begins with sums made anew
MILLISECONDS = {"d": 86_400_000, "h": 3_600_000, "min": 60_000, "s": 1000, "ms": 1}


def rolling(
    model: Learner,
    X: Any,
    y: Any = None,
    *,
    window: int | str | None,
    step: int = 1,
    min_rows: int | None = None,
    times: Any = None,
    **columns: Any,
) -> GroupFits:
    """Least squares over the last `window` rows, for every `step`-th row, in one pass.

    Parameters
    ----------
    model : LeastSquares or Ridge
        A ridge needs a number as alpha.
    X, y
        As in `fit_groups`.
    window : int, str or None
        How many rows, or how much time: "90d", "12h", "30min", "5s", "10ms". A window of time ends
        with its last row, and does not hold the row that is just as long before. None: all rows so
        far (`expanding`).
    step : int
        Fit at every row, every second, ...
    min_rows : int, optional
        The least rows of a window; by default the window, or two more than columns.
    times : array of shape (n,)
        Times of the rows, never falling; only for a window of time.
    **columns
        groups, target, by and sample_weight, as in `fit_groups`; windows never cross from one
        group to another.

    Returns
    -------
    GroupFits
        `keys["row"]` is the last row of each window.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, rolling
    >>> x = np.arange(6.0)
    >>> fits = rolling(LeastSquares(), x[:, None], np.abs(x - 2.0), window=3)
    >>> fits.keys["row"], fits.coef_.ravel().round(12) + 0.0
    (array([2, 3, 4, 5]), array([-1.,  0.,  1.,  1.]))
    """
    if type(model) not in (LeastSquares, Ridge) or not is_number(getattr(model, "alpha", 0.0)):
        raise ParameterError("model is not LeastSquares(), nor a Ridge with a number as alpha.")
    model._check_parameters()
    rows = read_columns(X, y, **columns)
    targets = numbers("y", rows.y)
    rows.require_finite(targets)
    if not has_moderate_weights(rows):
        raise ParameterError("sample_weight is outside 1e-50 to 1e50; measure it in other units.")
    n, p = rows.X.shape
    codes, keys = encode_keys(rows.keys) if rows.keys else (np.zeros(n, np.int64), {})
    order = np.arange(n)[sort_codes(codes)]
    codes, targets, rows = codes[order], targets[order], rows.take(order)
    begins = np.flatnonzero(np.diff(codes, prepend=-1))[codes]  # of each row's group
    place = np.arange(n) - begins
    if isinstance(window, str):
        begins = begin_by_time(window, times, order, codes)
    elif window is not None:
        count()("window", window)
        begins = np.maximum(begins, np.arange(n) - (window - 1))
    count()("step", step)
    if min_rows is None:
        min_rows = window if isinstance(window, int) else p + 2
    count()("min_rows", min_rows)
    ends = np.arange(1, n + 1)
    wanted = ((place + 1) % step == 0) & (ends - begins >= min_rows)
    begins, ends = begins[wanted], ends[wanted]
    N, alpha, intercept = len(ends), float(getattr(model, "alpha", 0.0)), float(model.fit_intercept)
    out, status, squares = np.empty((N, 3, p + 1)), np.zeros(N, np.int64), np.zeros(N)
    # A piece's first sums are a window long: many windows share that work.
    piece = max(N if window is None else PIECE * -(-int((ends - begins).max(initial=1)) // step), 1)

    def work(first: int, last: int) -> int:
        return int(
            kernels.roll(
                rows.X, targets, rows.weight, begins, ends, alpha, intercept, first, last,
                out, status, squares,
            )
        )  # fmt: skip

    renewed: list[int] = []
    if N:
        cuts = [(first, min(first + piece, N)) for first in range(0, N, piece)]
        share_out(work, cuts, renewed.append)
    out[status != kernels.SOLVED] = NOTHING
    summed = np.append(0.0, np.cumsum(rows.weight if len(rows.weight) else np.ones(n)))
    size = summed[ends] - summed[begins]
    set_std_errors(out, squares, size - p - intercept, alpha)
    keys = {name: values[codes[ends - 1]] for name, values in keys.items()}
    keys["row"] = order[ends - 1]
    dof = size - p - intercept
    return make_fits(model, rows, keys, out, size, dof, STATUS[status], renewed=sum(renewed))


def expanding(model: Learner, X: Any, y: Any = None, **options: Any) -> GroupFits:
    """Least squares over all rows so far, for every `step`-th row: `rolling` with window=None.

    Examples
    --------
    >>> from adaline import LeastSquares, expanding
    >>> fits = expanding(LeastSquares(), [[0.0], [1.0], [2.0], [3.0]], [0.0, 1.0, 2.0, 7.0])
    >>> fits.coef_.ravel().round(12)
    array([1. , 2.2])
    """
    return rolling(model, X, y, window=None, **options)


def begin_by_time(
    window: str, times: Any, order: NDArray[np.intp], codes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The first row of each row's window of time; times never fall within a group."""
    said = re.fullmatch(r"(\d+)\s*(d|h|min|s|ms)", window)
    if said is None or times is None:
        raise ParameterError(
            f"window is {window!r}; a time is a number and d, h, min, s or ms, and needs times."
        )
    try:
        values = to_numpy(times).astype("datetime64[ns]")
    except (ValueError, TypeError) as error:
        raise ParameterError(f"times are no dates: {error}.") from None
    if values.shape != order.shape or np.isnat(values).any():
        raise ParameterError(f"times has shape {values.shape} or gaps; give {len(order)} times.")
    moments = values[order]
    back = np.flatnonzero((moments[1:] < moments[:-1]) & (codes[1:] == codes[:-1]))
    if len(back):
        raise ParameterError(f"times go back at row {order[back[0] + 1]}; sort the rows by time.")
    length = np.timedelta64(int(said[1]) * MILLISECONDS[said[2]], "ms")
    begins = np.zeros(len(order), dtype=np.int64)
    for part in np.split(np.arange(len(order)), np.flatnonzero(np.diff(codes)) + 1):
        own = moments[part]
        begins[part] = part[:1] + np.searchsorted(own, own - length, side="right")
    return begins
