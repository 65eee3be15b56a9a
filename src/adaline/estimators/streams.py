"""Learners whose weights change with every sample: coef_ and intercept_ are views of a State.

Base classes of `online` and of LogisticRegression. `fit_` is the Fit of the last `fit` or
`partial_fit` as long as no sample came since; after that it is made from the State. Weights that a
user assigns are those that `predict` uses, and learning continues from them.
"""

from __future__ import annotations

from copy import deepcopy
from math import isfinite
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from adaline.estimators.base import WRITTEN, Classifier, Learner, as_shape, read_only, round_to
from adaline.estimators.labels import check_stream_classes
from adaline.estimators.registry import demand, same_bits
from adaline.parameters import check_sample, one_row, one_sample
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import linear_values

if TYPE_CHECKING:
    from adaline.procedures.sequential import State

STREAM = Certificate("undecided", "a stream does not remember its samples; nothing is proven.")
EACH_ONCE = "rows of a stream, each learned once."


class StreamWeights(Learner):
    """Weights in a State that kernels change in place."""

    _state: State | None = None
    _known: Fit | None = None  # None once a sample has been learned since
    _shape: tuple[int]  # of a sample
    _derived: tuple[str, ...] = ("_shape",)

    def _stream_fit(self, state: State) -> Fit:
        """The Fit of the weights as a stream has left them."""
        return Fit(*state.kept(), EACH_ONCE, STREAM)

    @property
    def fit_(self) -> Any:  # type: ignore[override]
        if self._known is not None:
            return self._known
        if self._state is None:
            raise AttributeError("not fitted yet")
        return self._stream_fit(self._state)

    def _output_shape(self, part: Any) -> Any:
        """W (K, p) or b (K,) in the shape of coef_ or intercept_."""
        return part

    @property
    def coef_(self) -> Any:
        return self._output_shape(read_only(self.fit_.W, self._dtype))

    @coef_.setter
    def coef_(self, value: Any) -> None:
        self._assign("coef_", value, 0)

    @property
    def intercept_(self) -> Any:
        return self._output_shape(read_only(self.fit_.b, self._dtype))

    @intercept_.setter
    def intercept_(self, value: Any) -> None:
        self._assign("intercept_", value, 1)

    def _assign(self, name: str, value: Any, part: int) -> None:
        """Predict and learn with these weights, of which nothing is proven if they are new."""
        weights = [self.fit_.W, self.fit_.b]
        old = weights[part]
        shown = round_to(old, self._dtype)
        new = round_to(as_shape(name, value, old.shape), self._dtype)
        same = (new == shown) | (np.isnan(new) & np.isnan(shown))
        if same.all():
            return
        weights[part] = np.where(same, old, new)  # those that are the same keep their digits
        if self._state is not None:
            self._state.go_on_from(*weights)
        stopped = "coef_ or intercept_ was assigned after learning."
        self._known = Fit(weights[0], weights[1], stopped, WRITTEN)

    def _is_written(self) -> bool:
        return bool(self.fit_.certificate == WRITTEN)

    def _current_weights(self) -> tuple[Any, Any]:
        fit = self.fit_
        return round_to(fit.W, self._dtype), round_to(fit.b, self._dtype)

    def _learn_block(self, state: State, X: Any, Y: Array, omega: Array) -> None:
        """Learn rows whole or not at all: an error or Ctrl-C leaves the state as it was."""
        from adaline.procedures.sequential import learn

        saved = state.copy()
        try:
            learn(state, X, Y, omega)
        except BaseException:
            state.restore(saved)
            raise

    def _outputs(self, x: Array) -> Any:
        """v = w'x + b of each neuron for one sample.

        A NaN or infinity in x reaches v, so that looking at v is enough.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            if self._state is None or self._dtype.itemsize < 8:
                W, b = self._current_weights()
                v: Any = W @ x + b
            else:
                v = self._state.outputs(x)
        if all(map(isfinite, v)):
            return v
        check_sample(x)
        W, b = self._current_weights()
        return np.asarray(linear_values(x[None], W, b, comparable=len(b) > 1)[0])

    def _one(self, x: Any) -> Array:
        if self._state is None:
            check_is_fitted(self)
        return one_sample(x, self._shape)

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None or self._known is not None

    def __copy__(self) -> Self:
        """A copy that learns on its own."""
        twin = type(self).__new__(type(self))
        twin.__dict__ |= self.__dict__ | {"_state": deepcopy(self._state)}
        return twin

    def _restored(self, dtype: Any) -> None:
        demand(self._known is not None or self._state is not None, "nothing is learned.")
        if self._state is not None and self._known is not None:
            parts = zip((self._known.W, self._known.b), self._state.kept(), strict=True)
            demand(all(same_bits(a, b) for a, b in parts), "two versions of the weights.")
        self._shape = (self.n_features_in_,)

    # What `adaline.data.fit` needs to learn rows in their order, and to checkpoint that.

    def _begin_stream(self) -> None:
        """Forget what was learned."""
        self._state = self._known = None

    def _stream_memory(self) -> tuple[Array, Array]:
        """All that a checkpoint keeps of this learner: counters, and weights."""
        assert self._state is not None
        return self._state.copy()

    def _resume_stream(self, memory: tuple[Array, Array]) -> None:
        """Continue from such a memory; one row must have been learned, which makes the rest."""
        assert self._state is not None
        self._state.restore(memory)
        self._known = None

    @property
    def _stream_corrections(self) -> int:
        """Corrections so far; learners that correct at every row have made one for each."""
        state: Any = self._state
        return 0 if state is None else int(getattr(self.fit_, "corrections", state.seen))


class StreamClassifier(StreamWeights, Classifier):
    """learn_one and predict_one, for two classes by one neuron and K by K."""

    _codes: dict[Any, float]  # by label
    _derived = ("_codes", *StreamWeights._derived)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        raise NotImplementedError  # pragma: no cover

    def _takes_single_samples(self) -> bool:
        """Whether a sample can be learned without the checks of partial_fit."""
        return True

    def _set_classes(self, classes: NDArray[Any]) -> None:
        self.classes_ = classes
        self._codes = {label: float(k) for k, label in enumerate(classes.tolist())}

    def _restored(self, dtype: Any) -> None:
        self._set_classes(self.classes_)
        super()._restored(dtype)

    def learn_one(self, x: Any, y: Any, classes: Any = None) -> Self:
        """Learn one sample x (p,) with label y: a thin call; NaN and infinities are refused.

        The very first sample of a stream needs `classes`, all labels that will come.
        """
        state = self._state
        if state is None or not self._takes_single_samples():
            return self.partial_fit(one_row(x), [y], classes)
        if classes is not None:
            check_stream_classes(classes, self.classes_)
        try:
            code = self._codes[y]
        except (KeyError, TypeError):
            raise ValueError(
                f"y is {y!r}, which is not among the classes {self.classes_.tolist()}."
            ) from None
        sample = one_sample(x, self._shape)
        if not state.learn_one(sample, code):
            return self.partial_fit(one_row(sample), [y])
        self._known = None
        return self

    def predict_one(self, x: Any) -> Any:
        """The label of one sample x (p,), as `predict` would give it: a thin call."""
        v = self._outputs(self._one(x))
        return self.classes_[int(v[0] > 0.0) if len(v) == 1 else int(np.argmax(v))]
