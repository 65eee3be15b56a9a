"""Every parameter of every filter, task and measure, given every kind of wrong value.

Each answer is one of four: "right" (the value makes sense and is taken), "clear" (a ValueError or
TypeError that names the parameter and says what came), "obscure" (any other error), "silent"
(nonsense was taken). There must be none of the last two, and what is refused changes nothing.
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

WRONG = {
    "None": None,
    "text": "abc",
    "no text": "",
    "'auto'": "auto",
    "'True'": "True",
    "bytes": b"ab",
    "NaN": np.nan,
    "inf": np.inf,
    "-inf": -np.inf,
    "-1": -1,
    "-0.5": -0.5,
    "0": 0,
    "True": True,
    "numpy bool": np.True_,
    "2.5": 2.5,
    "3.0": 3.0,
    "1e300": 1e300,
    "2**40": 2**40,
    "2**63": 2**63,
    "-2**70": -(2**70),
    "10**400": 10**400,
    "complex": 1 + 2j,
    "fraction": Fraction(1, 3),
    "empty": [],
    "list": [1.0, 2.0],
    "ragged": [[1.0], [1.0, 2.0]],
    "strings": ["a", "b"],
    "3-d": np.zeros((2, 2, 2)),
    "no columns": np.zeros((3, 0)),
    "0-d": np.array(1.0),
    "object array": np.array([object(), object()]),
    "None in a list": [1.0, None],
    "NaN in a list": [1.0, np.nan, 2.0],
    "dates": np.array(["2020-01-01"], "datetime64[D]"),
    "dict": {"a": 1},
    "set": {1.0},
    "object": object(),
    "class": int,
    "function": len,
    "np.int16": np.int16,
}

NUMBERS = {
    *("-1", "-0.5", "0", "True", "numpy bool", "2.5", "3.0", "1e300", "2**40", "2**63", "-2**70"),
    *("complex", "fraction", "0-d"),
}
# What makes sense for a parameter, of the values above.
RIGHT: dict[str, set[str]] = {
    "eta": {"'auto'", "fraction"},
    "leak": {"fraction", "2.5", "3.0", "1e300", "0", "2**40", "2**63"},
    "sign": {"None"},
    "weights": {"None"},
    "dtype": {"None"},
    "on_nan": set(),
    "history": {"None", "2**40"},
    "allow_unstable": {"True", "numpy bool"},
    "eps": {"'auto'", "fraction", "0", "2.5", "3.0", "1e300", "2**40", "2**63"},
    "forgetting": {"fraction"},
    "delta": {"'auto'", "fraction", "2.5", "3.0", "1e300", "2**40", "2**63"},
    "order": set(),
    "block": {"None"},
    "latency": {"None"},
    "secondary_path": {"list"},
    "estimate": {"None", "list"},
    "taps": set(),
    "error": {"NaN", "fraction", "0", "2.5", "3.0", "1e300", "2**40", "2**63"},
    "rank": {"None", "0"},
    "filter": {"None"},
}

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
    "noise_filter": (noise_filter, {"taps": 3}),
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
RIGHT_OF = {
    ("LMS", "eta"): {"'auto'", "fraction", "1e300", "2.5", "3.0", "2**40", "2**63"},
    ("NLMS", "eta"): {"fraction"},
    ("AffineProjection", "eta"): {"fraction"},
    ("BlockLMS", "eta"): {"fraction"},
    ("WienerFilter", "weights"): {"list"},
    ("WienerFilter", "dtype"): {"None"},
    ("from_correlations", "r"): {"list"},
    ("from_correlations", "power"): {"None", "2.5", "3.0", "1e300", "2**40", "2**63"},
    ("identify", "taps"): set(),
    ("cancel", "taps"): {"None"},
    ("cancel", "algorithm"): {"'auto'"},
    ("cancel", "passes"): {"None"},
    ("cancel", "delay"): {"None", "0", "-1"},  # negative: advanced
    ("cancel_echo", "delay"): {"None", "0"},
    ("noise_reduction", "taps"): {"2**40"},  # more than samples: it cannot be told
    ("noise_reduction", "start"): {"0"},
    ("noise_filter", "algorithm"): {"'auto'"},
    ("noise_filter", "eta"): {"None", "fraction"},
    ("noise_filter", "level"): {"fraction", "0", "2.5", "3.0", "1e300", "2**40", "2**63"},
    ("noise_filter", "channels"): set(),
    ("noise_filter", "passes"): {"2**40"},  # the trial takes two of them at most
    ("noise_filter", "after"): {"None"},
    ("noise_filter", "heard"): {"None"},
    ("predict", "taps"): {"None"},
    ("enhance_line", "taps"): {"None"},
    ("equalise", "taps"): {"None"},
    ("cancel_echo", "taps"): {"None"},
    ("equalise", "delay"): {"None", "0"},
    ("equalise", "alphabet"): {"None", "list"},
    ("equalise", "training"): {"list"},
    ("predict", "x"): {"list"},
    ("enhance_line", "x"): {"list"},
    ("learning_curve", "e"): {"list"},
    ("learning_curve", "window"): {"2**40"},
    ("learning_curve", "db"): {"True", "numpy bool"},
    ("misalignment", "w"): {"list"},
    ("misalignment", "h"): {"list"},
    ("erle", "window"): {"None", "2**40"},
    ("max_step", "x"): {"list"},
    ("theory", "x"): {"list"},
    ("theory", "eta"): {"fraction", "2.5", "3.0", "1e300", "2**40", "2**63"},
    ("theory", "noise"): {"fraction", "0", "2.5", "3.0", "1e300", "2**40", "2**63"},
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


def judged(call, name, right):
    """The class of an answer, and the answer."""
    try:
        with np.errstate(all="ignore"):
            answer = call()
    except Exception as error:
        return ("clear" if told(error, name) else "obscure"), error
    return ("right" if right else "silent"), answer


def parameters(call):
    kinds = inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL
    return [p.name for p in inspect.signature(call).parameters.values() if p.kind not in kinds]


CASES = [(name, p) for name, (call, _) in MAKERS.items() for p in parameters(call)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "parameter"), CASES, ids=lambda v: str(v))
def test_every_parameter_takes_what_makes_sense_and_names_what_does_not(name, parameter):
    call, good = MAKERS[name]
    right = RIGHT_OF.get((name, parameter), RIGHT.get(parameter, set()))
    bad = {}
    for kind, value in WRONG.items():
        settings = good | {parameter: value}
        if name == "BlockLMS" and parameter == "latency":
            settings.pop("block", None)
        verdict, answer = judged(lambda s=settings: call(**s), parameter, kind in right)
        if verdict in ("obscure", "silent") or (verdict == "clear" and kind in right):
            bad[kind] = f"{verdict}: {answer!r}"[:160]
    assert bad == {}


STARTED = {name: MAKERS[name] for name in list(MAKERS)[:7]}
TWO, ROWS = [1.0, 2.0], np.ones((4, 3))


def bits(f):
    """All that a filter is."""
    return {
        name: value.tobytes() if isinstance(value, np.ndarray) else repr(value)
        for name, value in f.state().items()
    }


def calls(f, value):
    """What a wrong value may be given to, and the parameter that is to be named."""
    yield "x", lambda: f.process(value, TWO)
    yield "d", lambda: f.process(TWO, value)
    yield "history", lambda: f.process(TWO, TWO, history=value)
    yield "adapting", lambda: setattr(f, "adapting", value)
    if f.taps == 3:
        yield "weights", lambda: setattr(f, "weights", value)
    if isinstance(f, LMS | NLMS | RLS | AffineProjection) and not f.samples:
        yield "U", lambda: f.process_rows(value, np.ones(4))
        yield "d", lambda: f.process_rows(ROWS, value)


def makes_sense(f, name, kind):
    fixed = isinstance(f, WienerFilter)
    if name == "adapting":
        return kind in ("True", "numpy bool") and not fixed
    if name == "history":
        return kind in RIGHT["history"]
    return (name in "xd" and kind == "list") or (name == "d" and fixed and kind == "None")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", STARTED)
@pytest.mark.parametrize("fresh", [True, False])
def test_signals_that_are_none_are_refused_and_change_nothing(name, fresh):
    call, good = STARTED[name]
    f = call(**good)
    if not fresh:
        f.process(X, D)
    before, memory, bad = bits(f), f.state(), {}
    for kind, value in WRONG.items():
        for at in range(len(list(calls(f, value)))):
            f = type(f).from_state(memory)
            parameter, run = list(calls(f, value))[at]
            verdict, answer = judged(run, parameter, makes_sense(f, parameter, kind))
            if verdict in ("obscure", "silent"):
                bad[f"{parameter} {kind}"] = f"{verdict}: {answer!r}"[:160]
            if verdict not in ("right", "silent"):
                assert bits(f) == before, (parameter, kind)
        f = type(f).from_state(memory)
        for parameter in ("x", "d") if kind not in NUMBERS else ():
            given = {"x": 1.0, "d": 1.0} | {parameter: value}
            verdict, answer = judged(lambda g=given: f.step(**g), parameter, kind == "list")  # noqa: B023
            if verdict in ("obscure", "silent"):
                bad[f"step {parameter} {kind}"] = f"{verdict}: {answer!r}"[:160]
            f = type(f).from_state(memory)
    assert bad == {}


@pytest.mark.parametrize("name", STARTED)
@pytest.mark.parametrize("fresh", [True, False])
def test_a_state_with_any_part_wrong_is_refused_by_name(name, fresh):
    call, good = STARTED[name]
    f = call(**good)
    if not fresh:
        f.process(X, D)
    state, bad = f.state(), {}
    cls = type(f)
    for key in state:
        parameter = key.removeprefix("memory.")
        for kind, value in WRONG.items():
            right = RIGHT_OF.get((name, key), RIGHT.get(key, set()))
            if key in ("adapting",):
                right = {"True", "numpy bool"}
            if key == "filter" or key == "format":
                right = set()
            if key == "count":
                right = {"2**40", "0"}
            if key == "memory.weights" and name == "WienerFilter":
                right = {"list"}
            if key.startswith("memory.") and isinstance(state[key], float):
                right = NUMBERS  # of which those below zero are refused, but for an excess
            if key == "rank":
                right = {"0", "None"}
            if key == "error":
                right = right | {"None"}
            verdict, answer = judged(
                lambda s=state | {key: value}: cls.from_state(s), parameter, kind in right
            )
            # A setting that contradicts the memory is told as such.
            if verdict == "obscure" and isinstance(answer, ValueError) and "state" in str(answer):
                verdict = "clear"
            if verdict in ("obscure", "silent"):
                bad[f"{key} {kind}"] = f"{verdict}: {answer!r}"[:160]
    for missing in state:
        rest = {key: value for key, value in state.items() if key != missing}
        optional = missing in parameters(cls) and missing not in (
            "taps",
            "weights",
            "secondary_path",
        )
        optional |= missing == "memory.weights"
        verdict, answer = judged(lambda s=rest: cls.from_state(s), "state", optional)
        if verdict in ("obscure", "silent"):
            bad[f"no {missing}"] = f"{verdict}: {answer!r}"[:160]
    for kind, value in WRONG.items():
        verdict, answer = judged(lambda v=value: cls.from_state(v), "state", False)
        if verdict != "clear":
            bad[f"state {kind}"] = f"{verdict}: {answer!r}"[:160]
    assert bad == {}


@pytest.mark.parametrize(
    "make",
    [
        lambda: NLMS(2**40),
        lambda: LMS(2**40),
        lambda: RLS(2**20),
        lambda: BlockLMS(2**40),
        lambda: AffineProjection(4, 2**25),
        lambda: BlockLMS(8, block=2**40),
        lambda: identify(X, D, taps=2**40),
        lambda: max_step(X, 2**30),
        lambda: WienerFilter.from_signals(X, D, 2**30),
    ],
)
def test_what_does_not_fit_into_memory_is_refused_before_it_is_asked_for(make):
    with pytest.raises(ValueError, match=r"(taps|order|block) is .*(GB|at most|memory)"):
        make()


@pytest.mark.parametrize("name", ["LMS", "NLMS", "RLS", "AffineProjection"])
def test_rows_know_no_history_and_no_gaps(name):
    cls, good = MAKERS[name]
    rows = np.ones((5, 3))
    with pytest.raises(ValueError, match="history"):
        cls(**good, history=2).process_rows(rows, np.ones(5))
    for how in ("hold", "skip"):
        with pytest.raises(ValueError, match="on_nan"):
            cls(**good, on_nan=how).process_rows(rows, np.ones(5))


@pytest.mark.parametrize("name", ["BlockLMS", "FilteredXLMS", "WienerFilter"])
def test_filters_without_rows_say_so(name):
    cls, good = MAKERS[name]
    f = cls(**good)
    with pytest.raises(TypeError, match=f"{name} .* takes no rows"):
        f.process_rows(np.ones((5, f.taps)), np.ones(5))


@pytest.mark.parametrize("kind", [LMS, NLMS, RLS])
def test_signals_that_lie_in_one_row_are_told_how_to_stand(kind, rng):
    x = rng.standard_normal(50)
    with pytest.raises(ValueError, match=r"shape \(1, 50\).*transpose it, and x alike"):
        kind(taps=4).process(x[None], x[None])
