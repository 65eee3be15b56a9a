"""The learners of the page: classes of the library, what can be set of them, and a line of words.

Each makes a `Call`: the class or function of `adaline` and its arguments. The page runs it, and
shows it as code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import adaline
from adaline.play.settings import (
    BIAS,
    ETA_GIVEN,
    MODE,
    PASSES,
    RATE,
    Setting,
    Value,
    choice,
    slider,
)

Values = Mapping[str, Value]


@dataclass(frozen=True)
class Call:
    """A learner as a user would write it: the class, its arguments, and those of `fit`."""

    learner: Any
    arguments: dict[str, Any]
    fitting: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return str(self.learner.__name__)

    def made(self) -> Any:
        """The estimator."""
        return self.learner(**self.arguments)

    def text(self) -> str:
        """The estimator as code."""
        return f"{self.name}({written(self.arguments)})"

    def more(self) -> str:
        """What else `fit` or `trace` is given, as code."""
        return f", {written(self.fitting)}" if self.fitting else ""


def written(arguments: Mapping[str, Any]) -> str:
    """Arguments as code.

    >>> written({"eta": 0.5, "mode": "batch"})
    "eta=0.5, mode='batch'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


@dataclass(frozen=True)
class Learner:
    """A learner of the page.

    Attributes
    ----------
    name, title, words : str
        Words say what it does, with its equation.
    settings : tuple of Setting
    call : function from the values of the settings and the classes to a Call
    most_classes : int
    """

    name: str
    title: str
    words: str
    settings: tuple[Setting, ...]
    call: Callable[[Values, int], Call]
    most_classes: int = 4

    def defaults(self) -> dict[str, Value]:
        """The settings as they are at first."""
        return {setting.name: setting.default for setting in self.settings}

    def described(self) -> dict[str, Any]:
        """The learner and its controls for the page."""
        return {
            "name": self.name,
            "title": self.title,
            "words": self.words,
            "settings": [setting.described() for setting in self.settings],
        }


def _some(values: Values, *names: str) -> dict[str, Any]:
    """The settings of these names as arguments; those that the classes have anyway are left out."""
    found = {name: values[name] for name in names if values[name] not in _ANYWAY.get(name, ())}
    return {name: int(v) if name in _WHOLE else v for name, v in found.items()}


_ANYWAY: dict[str, tuple[Value, ...]] = {
    "fit_intercept": (True,),
    "mode": ("incremental", "online"),
    "keep": ("last",),
    "multiclass": ("machine",),
}
_WHOLE = ("max_iter", "degree")


def _perceptron(values: Values, classes: int) -> Call:
    eta = "absolute" if values["step"] == "absolute" else values["eta"]
    given = {"eta": eta, **_some(values, "max_iter", "mode", "keep", "fit_intercept")}
    return Call(adaline.Perceptron, given)


def _machine(values: Values, classes: int) -> Call:
    given = _some(values, "max_iter", "multiclass", "keep", "fit_intercept")
    return Call(adaline.Perceptron, given)


def _kernel(values: Values, classes: int) -> Call:
    names = {"linear": (), "poly": ("degree", "gamma"), "rbf": ("gamma",)}[str(values["kernel"])]
    return Call(adaline.KernelPerceptron, _some(values, "kernel", *names, "max_iter"))


def _adaline(values: Values, classes: int) -> Call:
    eta = values["eta"] if values["rate"] == "number" else "auto"
    return Call(adaline.Adaline, {"eta": eta, **_some(values, "max_iter", "mode", "fit_intercept")})


def _sigmoid(values: Values, classes: int) -> Call:
    eta = values["eta"] if values["rate"] == "number" else "auto"
    given = {"phi": values["phi"], "eta": eta}
    return Call(
        adaline.SigmoidPerceptron, given | _some(values, "max_iter", "mode", "fit_intercept")
    )


def _mse(values: Values, classes: int) -> Call:
    return Call(adaline.LeastSquaresClassifier, _some(values, "fit_intercept"))


def _ho_kashyap(values: Values, classes: int) -> Call:
    begin: dict[str, Any] = {}
    if values["begin"] == "ones" and classes == 2:
        begin = {"coef_init": [1.0, 1.0], "intercept_init": 1.0}
        if not values["fit_intercept"]:
            del begin["intercept_init"]
    return Call(adaline.HoKashyap, _some(values, "eta", "max_iter", "fit_intercept"), begin)


def _logistic(values: Values, classes: int) -> Call:
    kind = values["penalty"]
    alpha = {"number": values["alpha"], "none": 0.0}.get(str(kind), kind)
    return Call(adaline.LogisticRegression, {"alpha": alpha, **_some(values, "fit_intercept")})


def _gaussian(values: Values, classes: int) -> Call:
    given: dict[str, Any] = {"covariance": values["covariance"]}
    if classes == 2 and values["prior"] == "given":
        share = float(values["share"])
        given["priors"] = [round(1.0 - share, 6), share]
    if classes == 2 and values["cost"] != 1.0:
        given["costs"] = [[0.0, float(values["cost"])], [1.0, 0.0]]
    if values["reject"]:
        given["reject_cost"] = values["reject_cost"]
    return Call(adaline.GaussianClassifier, given)


def _max_margin(values: Values, classes: int) -> Call:
    return Call(adaline.max_margin, _some(values, "fit_intercept"))


_KEEP = choice(
    "keep", "Weights", ("last", "the last"), ("average", "averaged"), ("pocket", "in the pocket")
)
_STEP = choice(
    "step",
    "Correction",
    ("fixed", "fixed increment η"),
    ("absolute", "absolute: until it is right"),
)
_INCREMENTS = choice(
    "mode", "Update", ("incremental", "after each error"), ("batch", "after each pass")
)
_LIST = (
    Learner(
        "perceptron",
        "Perceptron rule",
        "Correct each error: w ← w + η t x where t (w′x + b) ≤ 0.",
        (
            _INCREMENTS,
            _STEP,
            slider("eta", "Rate η", 1.0, 0.01, 10.0, scale="log", when=(("step", "fixed"),)),
            _KEEP,
            PASSES,
            BIAS,
        ),
        _perceptron,
    ),
    Learner(
        "kernel",
        "Kernel perceptron",
        "The perceptron in dual variables: v = Σ λ t (k(x′, x) + 1).",
        (
            choice(
                "kernel", "Kernel", ("rbf", "Gaussian"), ("poly", "polynomial"), ("linear", "x′y")
            ),
            slider("degree", "Degree", 2, 1, 8, scale="whole", when=(("kernel", "poly"),)),
            slider("gamma", "γ", 1.0, 0.01, 50.0, scale="log"),
            PASSES,
        ),
        _kernel,
    ),
    Learner(
        "adaline",
        "Adaline (Widrow-Hoff)",
        "Follow the squared error before the threshold: w ← w + η (t − w′x − b) x.",
        (RATE, ETA_GIVEN, MODE, PASSES, BIAS),
        _adaline,
    ),
    Learner(
        "sigmoid",
        "Sigmoid perceptron",
        "Follow the squared error of its own output: w ← w + η (t − φ(v)) φ′(v) x.",
        (
            choice("phi", "φ", ("tanh", "tanh"), ("logistic", "logistic")),
            RATE,
            ETA_GIVEN,
            MODE,
            PASSES,
            BIAS,
        ),
        _sigmoid,
    ),
    Learner(
        "mse",
        "Minimum squared error",
        "Solve Ya = b by least squares. Drag the bars: the margins b that the points should have.",
        (BIAS,),
        _mse,
    ),
    Learner(
        "ho-kashyap",
        "Ho-Kashyap",
        "Weights and margins together: e = Ya − b, b ← b + η (e + |e|), a ← Y⁺b.",
        (
            slider("eta", "Step η", 0.9, 0.05, 0.99),
            choice(
                "begin",
                "Begin at",
                ("pseudoinverse", "a = Y⁺b"),
                ("ones", "a = (1, 1, 1)"),
                classes=2,
            ),
            slider("max_iter", "Iterations at most", 200, 1, 1000, scale="whole"),
            BIAS,
        ),
        _ho_kashyap,
    ),
    Learner(
        "logistic",
        "Logistic regression",
        "Newton's procedure on p(B | x) = 1 / (1 + exp(−w′x − b)), with the penalty α/2 |w|².",
        (
            choice(
                "penalty",
                "Penalty",
                ("number", "a number α"),
                ("none", "none: maximum likelihood"),
                ("auto", "automatic: leave one out"),
                ("firth", "Firth's"),
            ),
            slider("alpha", "α", 1.0, 1e-4, 1e3, scale="log", when=(("penalty", "number"),)),
            BIAS,
        ),
        _logistic,
    ),
    Learner(
        "gaussian",
        "Gaussian classes",
        "Bayes' theorem with Gaussian densities: decide what is expected to cost least.",
        (
            choice(
                "covariance",
                "Covariance",
                ("shared", "shared: a line"),
                ("full", "one a class: a conic"),
                ("diagonal", "variances only"),
            ),
            choice(
                "prior", "Priors", ("counted", "as counted"), ("given", "set by hand"), classes=2
            ),
            slider(
                "share",
                "Prior of the second class",
                0.5,
                0.01,
                0.99,
                when=(("prior", "given"),),
                classes=2,
            ),
            slider(
                "cost", "Cost of missing the second class", 1.0, 0.02, 50.0, scale="log", classes=2
            ),
            Setting("reject", "May reject", False),
            slider("reject_cost", "Cost of rejecting", 0.2, 0.0, 0.5, when=(("reject", True),)),
        ),
        _gaussian,
    ),
    Learner(
        "machine",
        "Linear machine",
        "One neuron a class, the largest decides: raise the true one, lower the strongest other.",
        (
            choice(
                "multiclass",
                "Several classes",
                ("machine", "linear machine"),
                ("ovr", "each against the rest"),
            ),
            _KEEP,
            PASSES,
            BIAS,
        ),
        _machine,
    ),
    Learner(
        "max-margin",
        "Largest margin",
        "The line farthest from both classes: the middle of the nearest points of their hulls.",
        (BIAS,),
        _max_margin,
        most_classes=2,
    ),
)
LEARNERS = {learner.name: learner for learner in _LIST}


def named(name: Any) -> Learner:
    """The learner of that name."""
    if not isinstance(name, str) or name not in LEARNERS:
        raise ValueError(f"there is no learner {name!r}.")
    return LEARNERS[name]
