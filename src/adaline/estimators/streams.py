"""Learners whose weights change with every sample: coef_ and intercept_ are views of a State.

Base classes of `online` and of LogisticRegression, which loads kernels only for streams.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline import parameters
from adaline.estimators.base import Classifier, Learner, require_order
from adaline.estimators.registry import demand
from adaline.parameters import ParameterError, shown
from adaline.results import Array, Fit
from adaline.sums.values import linear_values


class StreamWeights(Learner):
    """coef_ and intercept_ are views of a State, which kernels change in place.

    `fit_` is the Fit of the last `fit` or `partial_fit` as long as no sample came since; after that
    it is made from the State. Weights that a user assigns are those that `predict` uses, and
    learning continues from them.
    """

    _state: Any = None  # a State of `procedures.sequential`
    _known: Fit | None = None  # None once a sample has been learned since

    @property
    def fit_(self) -> Any:
        if self._known is not None:
            return self._known
        if self._state is None:
            raise AttributeError("not fitted yet")
        from adaline.estimators.online import SequentialFit  # which loads what only streams need

        return SequentialFit.of(self._state)

    @fit_.setter
    def fit_(self, fit: Fit) -> None:
        self._known = fit
        if self._state is not None:  # learning continues from weights that were assigned
            self._state.go_on_from(fit.W, fit.b)

    n_iter_: Any = property(
        lambda self: int(getattr(self.fit_, "passes", 1)), doc="Complete passes."
    )

    def _learn_block(self, X: Any, Y: Array, omega: Array) -> tuple[Array, Array]:
        """Learn all rows or, after an error or Ctrl-C, none; returns the State's numbers before."""
        from adaline.procedures.sequential import learn

        before: tuple[Array, Array] = self._state.copy()
        try:
            learn(self._state, X, Y, omega)
        except BaseException:
            self._state.restore(before)
            raise
        return before

    def _learned_one(self, x: Any, y: float) -> bool:
        """Learn one sample x (p,); False, and nothing is learned, where it needs a closer look."""
        sample = parameters.one_sample(x, (self.n_features_in_,))
        learned: bool = self._state.learn_one(sample, y)
        self._known = None if learned else self._known
        return learned

    def _outputs(self, x: Any) -> Any:
        self._check_fitted()
        x = parameters.one_sample(x, (self.n_features_in_,))
        W, b = self._exported_weights()
        with np.errstate(over="ignore", invalid="ignore"):
            v: Any = W @ x + b
        if np.isfinite(v).all():  # a NaN or infinity in x would have reached v
            return v
        parameters.check_sample(x)
        return np.asarray(linear_values(x[None], W, b, comparable=len(b) > 1)[0])

    def __copy__(self) -> Self:
        twin = type(self).__new__(type(self))
        twin.__dict__ |= self.__dict__ | {"_state": deepcopy(self._state)}
        return twin

    def _restored(self) -> None:
        super()._restored()
        demand(hasattr(self, "fit_"), "nothing is learned.")

    # What `adaline.data.fit` needs to learn rows in their order, and to checkpoint that.

    def _begin_stream(self) -> None:
        self._state = self._known = None

    def _stream_memory(self) -> Any:
        """All that a checkpoint keeps of this learner: counters, and weights."""
        return self._state.copy()

    def _resume_stream(self, memory: tuple[Array, Array]) -> None:
        """Continue from such a memory; one row must have been learned, which makes the rest."""
        self._state.restore(memory)
        self._known = None

    @property
    def _stream_corrections(self) -> int:
        """Corrections so far; learners that correct at every row have made one for each."""
        return 0 if self._state is None else self._state.corrections


class StreamClassifier(StreamWeights, Classifier):
    """learn_one and predict_one, for two classes by one neuron and K by K."""

    partial_fit: Any

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y, with low overhead; NaN and infinities are rejected.

        The very first sample of a stream needs `classes`, all labels that will come.
        """
        # Batch learners and weights of classes need the checks of partial_fit.
        is_plain = getattr(self, "mode", "") != "batch" and not getattr(self, "class_weight", None)
        if self._state is None or not is_plain:
            self.partial_fit(parameters.one_row(x), [y], classes)
            return self
        if classes is not None:
            check_stream_classes(classes, self.classes_)
        known = self.classes_.tolist()
        try:
            code = known.index(y)
        except (ValueError, TypeError):
            what = f"y is {shown(y)}, which is not among the classes {known}."
            raise ValueError(what) from None
        if not self._learned_one(x, float(code)):
            self.partial_fit(parameters.one_row(x), [y])
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it, with low overhead."""
        v = self._outputs(x)
        return self.classes_[int(v[0] > 0.0) if len(v) == 1 else int(np.argmax(v))]


def check_stream_classes(classes: Any, known: NDArray[Any] | None) -> NDArray[Any] | None:
    """The labels of a stream: those of its beginning (known), which cannot change, or those given.

    None without either: then the first labels seen are all there will be.
    """
    if classes is None:
        return known
    labels = parameters.array("classes", classes)
    if labels.ndim != 1 or not labels.size:
        raise ParameterError(f"classes is {shown(classes)}; expected a list of all labels.")
    labels = np.unique(require_order(labels, "classes"))
    if known is not None and not np.array_equal(labels, known):
        now, before = labels.tolist(), known.tolist()
        raise ValueError(f"classes are {now}, were {before} at first, and cannot change.")
    return labels
