"""How far a prediction may be off: intervals, where a theory has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from adaline.evaluation._rows import model_and_rows
from adaline.evaluation.answers import asked
from adaline.parameters import LEVEL
from adaline.results import Result

_OF = {
    "values": "a new value",
    "means": "the mean count",
    "probabilities": "the probability of each class",
}


@dataclass(frozen=True, eq=False)
class Interval(Result):
    """Low and high for each row.

    Attributes
    ----------
    low, high : ndarray of shape (n,), (n, k) for several targets, or (n, K) for classes
    level : float
        The share of such intervals that hold what they are of, where the model is right.
    of : str
        "a new value", "the mean count" or "the probability of each class".
    """

    low: NDArray[Any]
    high: NDArray[Any]
    level: float
    of: str


def interval(model: Any, X: Any, level: float = 0.95) -> Interval:
    """Intervals of predictions.

    - `LeastSquares`: a new y lies in it with probability `level`, if the noise is normal with one
      variance; Student's t, exact for any number of rows.
    - `Ridge`: the same by the posterior of the weights, for which the penalty is a prior.
    - `LogisticRegression`: the probability of each class; normal on the scale of log-odds, for
      many rows. The penalty counts as a prior. Of three classes or more every difference of two
      scores is at the end of its interval: low of a class and high of another are 1 at most.
    - `PoissonRegression`: the mean count (at exposure 1), in the same way.

    Parameters
    ----------
    model : fitted estimator, or Prepared
    X : array-like or CSR of shape (n, p); for Prepared, a table or a file
    level : float, default=0.95

    Returns
    -------
    Interval

    Raises
    ------
    ValueError
        Where no theory gives one, or the fit kept too little.

    Examples
    --------
    >>> import numpy as np
    >>> from adaline import LeastSquares, interval
    >>> x = np.arange(20.0)[:, None]
    >>> y = 2 * x[:, 0] + np.tile([1.0, -1.0], 10)
    >>> found = interval(LeastSquares().fit(x, y), [[10.0], [30.0]])
    >>> found.low.round(1), found.high.round(1)
    (array([17.7, 56.8]), array([22.3, 62.6]))
    """
    level = float(LEVEL("level", level))
    model, X, _ = model_and_rows(model, X)
    kind = getattr(model, "_intervals", None)
    if kind is None:
        raise ValueError(
            f"{type(model).__name__} has no theory of how far its predictions may be off; "
            "LeastSquares, Ridge, LogisticRegression and PoissonRegression have one."
        )
    low, high = asked(model, "_interval", X, level)
    return Interval(np.asarray(low), np.asarray(high), level, _OF[kind])
