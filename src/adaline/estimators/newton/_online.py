"""Logistic regression one sample at a time: w + eta (y - p(x)) x, for streams.

The rates are those of `Auto`: they cannot diverge, and predictions use an average of the weights.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adaline.estimators._base import check_finite
from adaline.estimators._labels import announced, encode, labels_of_rows, weights_by_class
from adaline.kernels.codes import BITS, CROSS_ENTROPY, LATE_AVERAGE, SOFTMAX
from adaline.procedures.sequential import Recipe, State, learn
from adaline.schedules import Auto

_TOO_LARGE = (
    "X has values beyond 1e154, whose squares overflow; nothing was learned. Measure those columns "
    "in larger units."
)


def learn_rows(model: Any, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
    """Let the model learn these rows, each once; a block is learned whole or not at all."""
    first = not model.__sklearn_is_fitted__()
    if not first:
        model._heed()
    X = model._rows(X, reset=first, finite=False)
    weights = model._weights(sample_weight, X)
    if weights is not None:  # those of weight zero are not looked at later
        check_finite(X, model._names)
    stream = announced(classes, None if first else model.classes_)
    known, codes = encode(labels_of_rows(y, X), stream, weights)
    model._check_costs(len(known))
    if isinstance(model.class_weight, str):
        raise ValueError(
            "class_weight='balanced' needs all rows at once; in a stream give a dict of weights."
        )
    weights = weights_by_class(model.class_weight, known, codes, weights)
    if model._state is None:
        _begin(model, X, codes, weights, known)
    else:
        _go_on(model, X, codes, weights)
    model._dtype, model._known, model._shown = X.dtype, None, None
    model._show()  # now, so that predicting changes nothing


def _begin(model: Any, X: Any, codes: Any, weights: Any, classes: Any) -> None:
    """A new stream, from the weights of the last fit where there is one."""
    K = 1 if len(classes) == 2 else len(classes)
    criterion = CROSS_ENTROPY if K == 1 else SOFTMAX
    keep, bias = LATE_AVERAGE, bool(model.fit_intercept)
    state = State(Recipe(criterion, BITS, Auto(), keep, bias, K, X.shape[1]))
    if model._known is not None:
        state.go_on_from(model._known.W, model._known.b)
    _learn(model, state, X, codes, weights)
    model._know(classes)
    model.alpha_, model._information = 0.0, None
    model.n_iter_ = np.array([1], dtype=np.int32)
    model._state = state


def _go_on(model: Any, X: Any, codes: Any, weights: Any) -> None:
    saved = model._state.copy()
    try:
        _learn(model, model._state, X, codes, weights)
    except BaseException:  # Ctrl-C too
        model._state.restore(saved)
        raise


def _learn(model: Any, state: State, X: Any, codes: Any, weights: Any) -> None:
    Y = codes.astype(np.float64).reshape(-1, 1)
    learn(state, X, Y, np.empty(0) if weights is None else weights)
    if not np.isfinite(state.counters.inputs):
        check_finite(X, model._names)
        raise ValueError(_TOO_LARGE)
