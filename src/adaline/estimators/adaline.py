"""The Adaline: squared error × sequential or batch × schedule × sign."""

from __future__ import annotations

from adaline.estimators.online import OnlineClassifier
from adaline.kernels import codes
from adaline.procedures.sequential import Recipe


class Adaline(OnlineClassifier):
    """LMS on targets ±1, the error taken before the threshold: w + eta (t - w'x - b) x.

    Lecture: the Adaline. Its weights approach those of `LeastSquaresClassifier` with margins 1,
    from samples that come one by one. K > 2 classes: one neuron each, +1 on its own samples and
    -1 on the others; the largest decides.

    Parameters
    ----------
    eta : "auto", float or schedule, default="auto"
        The learning rate. "auto" measures each feature in its own units while it learns, cannot
        diverge, and predicts with an average of the weights (see `Auto`). A number is the
        lectures' LMS; above the bound 2/tr[R] (`stable_rate`) it warns.
    max_iter : int, default=1000
        Passes at most.
    tol : float, default=1e-3
        Stop when the error of a pass is not smaller by this fraction, twice in a row. 0 never.
    mode : {"online", "batch"}, default="online"
        Update after every sample, or by the mean gradient after every pass.
    fit_intercept : bool, default=True
    shuffle : bool, default=False
        Whether each pass of `fit` takes all rows in a new random order.
    random_state : int, RandomState or None, default=None

    Attributes
    ----------
    coef_ : ndarray of shape (1, p) or (K, p)
    intercept_ : ndarray of shape (1,) or (K,)
    classes_ : ndarray
    n_iter_ : int
    certificate_ : Certificate
        "separable" when every training sample is provably on its right side, else "undecided".
    fit_ : SequentialFit

    Examples
    --------
    >>> from adaline import Adaline
    >>> model = Adaline().fit([[0.0], [1.0], [10.0], [11.0]], ["a", "a", "b", "b"])
    >>> model.predict([[2.0], [9.0]])
    array(['a', 'b'], dtype='<U1')
    """

    _command = "adaline"

    def _recipe(self, K: int, p: int) -> Recipe:
        return self._squared_errors(codes.SQUARED, codes.SIGNS, K, p)
