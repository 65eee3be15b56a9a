"""Learners whose weights change with every sample: coef_ and intercept_ are views of a State.

Base classes of `online` and of LogisticRegression. `fit_` is the Fit of the last `fit` or
`partial_fit` as long as no sample came since; after that it is made from the State. Weights that a
user assigns are those that `predict` uses, and learning continues from them.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.estimators.base import Classifier, Learner
from adaline.estimators.labels import check_stream_classes
from adaline.estimators.registry import demand
from adaline.parameters import check_sample, one_row, one_sample
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import linear_values

STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")
EACH_ONCE = "rows of a stream, each learned once."


class StreamWeights(Learner):
    """Weights in a State that kernels change in place."""

    _state: Any = None  # of `procedures.sequential`
    _known: Fit | None = None  # None once a sample has been learned since

    def _stream_fit(self, state: Any) -> Fit:
        W, b = state.kept()
        return Fit(W, b, EACH_ONCE, STREAM)

    @property
    def fit_(self) -> Any:
        if self._known is None and self._state is None:
            raise AttributeError("not fitted yet")
        return self._stream_fit(self._state) if self._known is None else self._known

    @fit_.setter
    def fit_(self, fit: Fit) -> None:
        self._known = fit
        if self._state is not None:  # learning continues from weights that were assigned
            self._state.go_on_from(fit.W, fit.b)

    def _learn_block(self, state: Any, X: Any, Y: Array, omega: Array) -> tuple[Array, Array]:
        """Learn rows whole or, after an error or Ctrl-C, not at all; returns the state before."""
        from adaline.procedures.sequential import learn

        saved: tuple[Array, Array] = state.copy()
        try:
            learn(state, X, Y, omega)
        except BaseException:
            state.restore(saved)
            raise
        return saved

    def _outputs(self, x: Any) -> Any:
        self._check_fitted()
        x = one_sample(x, (self.n_features_in_,))
        W, b = self._current_weights()
        with np.errstate(over="ignore", invalid="ignore"):
            v: Any = W @ x + b
        if np.isfinite(v).all():  # a NaN or infinity in x would have reached v
            return v
        check_sample(x)
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
        state = self._state
        return 0 if state is None else int(getattr(self.fit_, "corrections", state.seen))


class StreamClassifier(StreamWeights, Classifier):
    """learn_one and predict_one, for two classes by one neuron and K by K."""

    _codes: dict[Any, float]  # by label
    _derived = ("_codes",)
    partial_fit: Any

    def _set_classes(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._codes = {label: float(k) for k, label in enumerate(classes.tolist())}

    def _restored(self) -> None:
        self._set_classes(self.classes_)
        super()._restored()

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y, with low overhead; NaN and infinities are rejected.

        The very first sample of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        # Batch learners and weights of classes need the checks of partial_fit.
        is_plain = getattr(self, "mode", "") != "batch" and not getattr(self, "class_weight", None)
        if state is None or not is_plain:
            self.partial_fit(one_row(x), [y], classes)
            return self
        if classes is not None:
            check_stream_classes(classes, self.classes_)
        try:
            code = self._codes[y]
        except (KeyError, TypeError):
            known = self.classes_.tolist()
            raise ValueError(f"y is {y!r}, which is not among the classes {known}.") from None
        sample = one_sample(x, (self.n_features_in_,))
        if not state.learn_one(sample, code):
            self.partial_fit(one_row(sample), [y])
            return self
        self._known = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it, with low overhead."""
        v = self._outputs(x)
        return self.classes_[int(v[0] > 0.0) if len(v) == 1 else int(np.argmax(v))]
