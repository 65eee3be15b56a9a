"""coef_ and intercept_ are what a learner predicts with, and what a user writes there counts.

Federated averaging, pruning and the average of folds write weights. Then the writer is obeyed, and
the certificate of the fit, which spoke of other weights, is void.
"""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from adaline.parameters import check_sample
from adaline.results import Array, Certificate, Fit
from adaline.sums.rows import linear_values

if TYPE_CHECKING:
    from adaline.procedures.sequential import State

WRITTEN = Certificate(
    "unproven",
    "coef_ or intercept_ was changed after the fit; nothing is proven of these weights.",
)


def as_shape(name: str, value: Any, shape: tuple[int, ...]) -> Any:
    """Weights that a user may have written, in the shape that they are used in."""
    array = np.asarray(value)
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{name} has dtype {array.dtype}; expected real numbers.")
    bare = array.ndim == len(shape) - 1 and shape[0] == 1  # one output needs no axis of outputs
    if ((1, *array.shape) if bare else array.shape) != shape:
        raise ValueError(
            f"{name} has shape {array.shape}; expected {shape}, as learned. To change the number "
            "of columns or outputs, fit again."
        )
    return array.reshape(shape)


def is_as_learned(shown: Any, learned: Array, dtype: Any) -> Any:
    """For each weight, whether it is what was learned, rounded to dtype; NaN is NaN."""
    return (shown == rounded_to(learned, dtype)) | (np.isnan(shown) & np.isnan(learned))


def rounded_to(weights: Array, dtype: Any) -> Any:
    """The weights in another dtype; what is too large for it becomes infinite, silently."""
    if dtype == weights.dtype:
        return weights
    with np.errstate(over="ignore"):
        return weights.astype(dtype, copy=False)


def as_delivered(W: Array, b: Array, dtype: Any) -> tuple[Array, Array]:
    """The numbers that coef_ and intercept_ will have in this dtype, as float64, for proofs."""
    W, b = (rounded_to(part, dtype).astype(np.float64) for part in (W, b))
    return W, b


class StreamWeights:
    """coef_ and intercept_ of learners whose weights move with every sample.

    They are made when someone asks for them, or after fit and partial_fit, and hold until the next
    sample is learned. What is written into them, by assignment or in place, is what `predict`
    uses, and where learning goes on.
    """

    _state: State | None = None
    _known: Any = None  # the Fit; None after learn_one, until someone asks
    _shown: tuple[Any, Any] | None = None  # coef_ and intercept_, made of _known
    _dtype: Any

    def _made_fit(self) -> Fit:
        """The Fit of the weights as they are, kept in _known; AttributeError before learning."""
        raise NotImplementedError  # pragma: no cover

    def _bent(self, W: Any, b: Any) -> tuple[Any, Any]:
        """W (K, p) and b (K,) in the shapes of coef_ and intercept_."""
        return W, b

    def _rewrite(self, W: Array, b: Array) -> None:
        """Go on from these weights, which nothing is proven of."""
        raise NotImplementedError  # pragma: no cover

    def _show(self) -> tuple[Any, Any]:
        if self._shown is None:
            fit = self._made_fit()
            W, b = (np.array(rounded_to(part, self._dtype)) for part in (fit.W, fit.b))
            self._shown = self._bent(W, b)
        return self._shown

    def _weights_shown(self) -> tuple[Any, Any]:
        coef, intercept = self._show()
        shape = self._made_fit().W.shape
        return as_shape("coef_", coef, shape), as_shape("intercept_", intercept, shape[:1])

    def _heed(self) -> None:
        """Take over what was written into coef_ or intercept_ since they were made."""
        if self._shown is None:
            return
        (W, b), fit = self._weights_shown(), self._made_fit()
        same_W, same_b = (
            is_as_learned(shown, learned, self._dtype)
            for shown, learned in ((W, fit.W), (b, fit.b))
        )
        if not (same_W.all() and same_b.all()):
            # Weights that nobody wrote keep digits that float32 does not show.
            self._rewrite(np.where(same_W, fit.W, W), np.where(same_b, fit.b, b))

    def _write(self, name: str, value: Any) -> None:
        self._heed()
        shape = self._made_fit().W.shape
        at = 0 if name == "coef_" else 1
        new = as_shape(name, value, shape if at == 0 else shape[:1])
        parts = list(self._weights_shown())
        parts[at] = np.array(rounded_to(new, self._dtype))
        self._shown = self._bent(*parts)
        self._heed()

    def _outputs(self, x: Array) -> Any:
        """v = w'x + b of each neuron for one sample: with coef_ and intercept_ where these are.

        A NaN or infinity in x reaches v, so that looking at v is enough.
        """
        shown: Any = self._shown
        if shown is None and self._dtype.itemsize < 8:
            shown = self._show()
        with np.errstate(over="ignore", invalid="ignore"):
            if shown is not None:
                v: Any = np.atleast_1d(shown[0] @ x + shown[1])
            else:
                state: Any = self._state
                v = state.outputs(x)
        return v if all(map(isfinite, v)) else self._far_outputs(x)

    def _far_outputs(self, x: Array) -> Array:
        """`_outputs` where they leave the range; x that is not finite is refused."""
        check_sample(x)
        W, b = self._weights_shown()
        return np.asarray(linear_values(x[None], W, b, comparable=len(b) > 1)[0])

    def _begin_stream(self) -> None:
        """Forget what was learned: `data.fit` is about to give the rows in their order."""
        self._state = self._known = self._shown = None

    def _stream_memory(self) -> tuple[Array, Array]:
        """All that a checkpoint keeps of this learner: counters, and weights."""
        state: Any = self._state
        return state.head.copy(), state.theta.copy()

    def _resume_stream(self, memory: tuple[Array, Array]) -> None:
        """Go on from such a memory; one row must have been learned, which makes the rest."""
        state: Any = self._state
        state.restore(memory)
        self._known = self._shown = None
        self._made_fit()

    @property
    def _stream_corrections(self) -> int:
        """Corrections so far; learners that correct at every row have made one for each."""
        state: Any = self._state
        return 0 if state is None else int(getattr(self.fit_, "corrections", state.seen))

    def _settled(self) -> None:
        self._heeded_fit()
        self._show()

    def __sklearn_is_fitted__(self) -> bool:
        return self._state is not None or self._known is not None

    def _heeded_fit(self) -> Any:
        self._heed()
        return self._made_fit()

    fit_: Any = property(_heeded_fit)
    coef_: Any = property(
        lambda self: self._show()[0], lambda self, value: self._write("coef_", value)
    )
    intercept_: Any = property(
        lambda self: self._show()[1], lambda self, value: self._write("intercept_", value)
    )
