"""Every parameter of every filter, task and measure, given every kind of wrong value.

An answer is "clear" (a ValueError or TypeError that names the parameter and says what came),
"obscure" (any other error), or "taken". Nothing may be obscure, and nonsense may not be taken. What
is refused changes nothing.
"""

from __future__ import annotations

import inspect
import re
from fractions import Fraction

import numpy as np
import pytest

from adaline import LMS, NLMS, RLS, AffineProjection, BlockLMS, FilteredXLMS, WienerFilter
from adaline.filters import (
    cancel,
    cancel_echo,
    enhance_line,
    equalise,
    erle,
    identify,
    learning_curve,
    max_step,
    misalignment,
    noise_filter,
    noise_reduction,
    predict,
    theory,
)

N = 40
X = np.random.default_rng(0).standard_normal(N)
D = np.convolve(X, [0.5, -0.2])[:N]

# What makes sense for no parameter, and what does for some.
NONSENSE = {
    "text": "abc",
    "bytes": b"ab",
    "inf": np.inf,
    "-inf": -np.inf,
    "-0.5": -0.5,
    "10**400": 10**400,
    "complex": 1 + 2j,
    "ragged": [[1.0], [1.0, 2.0]],
    "strings": ["a", "b"],
    "3-d": np.zeros((2, 2, 2)),
    "no columns": np.zeros((3, 0)),
    "object array": np.array([object(), object()]),
    "NaN in a list": [1.0, np.nan, 2.0],
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "dict": {"a": 1},
    "object": object(),
    "function": len,
}
OTHERS = (None, "auto", np.nan, -1, 0, True, 2.5, 1e300, 2**40, 2**63, Fraction(1, 3), [])
ODD = NONSENSE | {repr(value): value for value in (*OTHERS, [1.0, 2.0], np.array(1.0))}

MAKERS = {
    "LMS": (LMS, {"taps": 3, "eta": 0.01}),
    "NLMS": (NLMS, {"taps": 3}),
    "RLS": (RLS, {"taps": 3}),
    "AffineProjection": (AffineProjection, {"taps": 3}),
    "BlockLMS": (BlockLMS, {"taps": 3}),
    "FilteredXLMS": (FilteredXLMS, {"taps": 3, "secondary_path": [0.0, 1.0]}),
    "WienerFilter": (WienerFilter, {"weights": [1.0, 2.0]}),
    "from_signals": (WienerFilter.from_signals, {"x": X, "d": D, "taps": 3}),
    "from_correlations": (
        WienerFilter.from_correlations,
        {"R": [2.0, 0.5], "r": [1.0, 0.5], "power": 5.0},
    ),
    "identify": (identify, {"x": X, "d": D, "taps": 3}),
    "cancel": (cancel, {"primary": D, "reference": X, "taps": 3}),
    "predict": (predict, {"x": X, "taps": 3}),
    "enhance_line": (enhance_line, {"x": X, "taps": 3}),
    "equalise": (
        equalise,
        {"received": X, "training": np.sign(D[:20]), "taps": 3, "alphabet": [-1.0, 1.0]},
    ),
    "cancel_echo": (cancel_echo, {"microphone": D, "far_end": X, "taps": 3}),
    "noise_filter": (noise_filter, {"reference": X, "primary": D, "taps": 3}),
    "noise_reduction": (
        noise_reduction,
        {"primary": D, "reference": X, "signal": D, "taps": 3},
    ),
    "learning_curve": (learning_curve, {"e": D}),
    "misalignment": (misalignment, {"w": [1.0, 2.0], "h": [1.0, 1.5]}),
    "erle": (erle, {"d": D, "e": X}),
    "max_step": (max_step, {"x": X, "taps": 3}),
    "theory": (theory, {"x": X, "taps": 3, "eta": 0.01, "noise": 0.1}),
}


def told(error, name):
    """Whether the error names the parameter, in a sentence."""
    text = str(error)
    return (
        isinstance(error, ValueError | TypeError)
        and re.search(rf"\b{re.escape(name)}\b", text) is not None
        and len(text) > 25
        and "array element with a sequence" not in text
    )


def judged(call, name):
    """The class of an answer, and the answer."""
    try:
        with np.errstate(all="ignore"):
            return "taken", call()
    except Exception as error:
        return ("clear" if told(error, name) else "obscure"), error


def parameters(call):
    kinds = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
    return [p.name for p in inspect.signature(call).parameters.values() if p.kind not in kinds]


CASES = [(name, p) for name, (call, _) in MAKERS.items() for p in parameters(call)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter"), CASES, ids=lambda v: str(v))
def test_nonsense_is_refused_by_the_name_of_the_parameter(name, parameter):
    call, good = MAKERS[name]
    bad = {}
    for kind, value in ODD.items():
        verdict, answer = judged(lambda s=good | {parameter: value}: call(**s), parameter)
        if verdict == "obscure" or (verdict == "taken" and kind in NONSENSE):
            bad[kind] = f"{verdict}: {answer!r}"[:160]
    assert bad == {}


STARTED = {name: MAKERS[name] for name in list(MAKERS)[:7]}
TWO = [1.0, 2.0]


def bits(f):
    """All that a filter is."""
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else repr(value)
        for name, value in f.state().items()
    }


CALLS = {
    "x": lambda f, value: f.process(value, TWO),
    "d": lambda f, value: f.process(TWO, value),
    "history": lambda f, value: f.process(TWO, TWO, history=value),
    "adapting": lambda f, value: setattr(f, "adapting", value),
    "weights": lambda f, value: setattr(f, "weights", value),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STARTED)
@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("parameter", CALLS)
def test_nonsense_in_a_call_is_refused_and_changes_nothing(name, fresh, parameter):
    call, good = STARTED[name]
    f = call(**good)
    if not fresh:
        f.process(X, D)
    before, memory, bad = bits(f), f.state(), {}
    for kind, value in ODD.items():
        verdict, answer = judged(lambda f=f, v=value: CALLS[parameter](f, v), parameter)
        if verdict == "obscure" or (verdict == "taken" and kind in NONSENSE):
            bad[kind] = f"{verdict}: {answer!r}"[:160]
        if verdict == "taken":
            f = type(f).from_state(memory)
        assert bits(f) == before, (parameter, kind)
    assert bad == {}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STARTED)
@pytest.mark.parametrize("fresh", [True, False])
def test_a_state_with_any_part_wrong_is_refused_or_taken_as_it_is(name, fresh):
    call, good = STARTED[name]
    f = call(**good)
    if not fresh:
        f.process(X, D)
    state, cls, bad = f.state(), type(f), {}
    damaged = {f"{key} {kind}": state | {key: v} for key in state for kind, v in ODD.items()}
    damaged |= {f"no {key}": {k: v for k, v in state.items() if k != key} for key in state}
    for kind, given in (damaged | ODD).items():
        verdict, answer = judged(lambda s=given: cls.from_state(s), "state")
        if verdict == "taken" and bits(cls.from_state(answer.state())) != bits(answer):
            bad[kind] = "taken and changed"
        if verdict == "obscure":
            bad[kind] = repr(answer)[:160]
    for value in ODD.values():
        with pytest.raises(ValueError, match="state"):
            cls.from_state(state | {"more": value})
    assert bad == {}
