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
    max_iter, tol, mode, fit_intercept, shuffle, random_state
        As in `WidrowHoff`.

    Attributes
    ----------
    coef_, intercept_, classes_, n_iter_, certificate_, fit_
        As in `Perceptron`.

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
