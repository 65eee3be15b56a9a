"""The learners of the board: classes of the library, their controls, and a line of words.

Each makes a `Call`: the class or function of `adaline` and its arguments. The page runs it, and
shows it as code.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import adaline
from adaline.play.settings import Setting, Value, choice, show, slider

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

    def estimator(self) -> Any:
        """A new estimator."""
        return self.learner(**self.arguments)

    def text(self) -> str:
        """The estimator as code."""
        return f"{self.name}({format_arguments(self.arguments)})"

    def fit_arguments(self) -> str:
        """Further arguments of `fit` or `trace`, as code."""
        return f", {format_arguments(self.fitting)}" if self.fitting else ""


def format_arguments(arguments: Mapping[str, Any]) -> str:
    """Arguments as code.

    >>> format_arguments({"eta": 0.5, "mode": "batch"})
    "eta=0.5, mode='batch'"
    """
    return ", ".join(f"{name}={value!r}" for name, value in arguments.items())


@dataclass(frozen=True)
class Learner:
    """A learner of the board.

    Attributes
    ----------
    name, title, words : str
        Words describe it, with its equation.
    settings : tuple of Setting
    call : function from the values of the settings and the number of classes to a Call
    max_classes : int
    """

    name: str
    title: str
    words: str
    settings: tuple[Setting, ...]
    call: Callable[[Values, int], Call]
    max_classes: int = 4

    def defaults(self) -> dict[str, Value]:
        """The initial settings."""
        return {setting.name: setting.default for setting in self.settings}

    def describe(self) -> dict[str, Any]:
        """The learner and its controls for the page."""
        shown = {"name": self.name, "title": self.title, "words": self.words}
        return {**shown, "settings": [setting.describe() for setting in self.settings]}


# Arguments that equal a class's default are left out of the code.
DEFAULTS: dict[str, tuple[Value, ...]] = {
    "fit_intercept": (True,),
    "mode": ("incremental", "online"),
    "keep": ("last",),
    "multiclass": ("machine",),
}


def _arguments(values: Values, *names: str) -> dict[str, Any]:
    """The settings of these names as arguments."""
    kept = {name: values[name] for name in names if values[name] not in DEFAULTS.get(name, ())}
    return {k: int(v) if k in ("max_iter", "degree") else v for k, v in kept.items()}


def _perceptron(values: Values, classes: int) -> Call:
    eta = "absolute" if values["step"] == "absolute" else values["eta"]
    more = _arguments(values, "max_iter", "mode", "keep", "fit_intercept")
    return Call(adaline.Perceptron, {"eta": eta, **more})


def _machine(values: Values, classes: int) -> Call:
    names = "max_iter", "multiclass", "keep", "fit_intercept"
    return Call(adaline.Perceptron, _arguments(values, *names))


def _kernel(values: Values, classes: int) -> Call:
    names = {"linear": (), "poly": ("degree", "gamma"), "rbf": ("gamma",)}[str(values["kernel"])]
    return Call(adaline.KernelPerceptron, _arguments(values, "kernel", *names, "max_iter"))


def _squared_error(learner: Any, *first: str) -> Callable[[Values, int], Call]:
    def call(values: Values, classes: int) -> Call:
        eta = values["eta"] if values["rate"] == "number" else "auto"
        more = _arguments(values, "max_iter", "mode", "fit_intercept")
        return Call(learner, {**_arguments(values, *first), "eta": eta, **more})

    return call


def _simple(learner: Any) -> Callable[[Values, int], Call]:
    return lambda values, classes: Call(learner, _arguments(values, "fit_intercept"))


def _ho_kashyap(values: Values, classes: int) -> Call:
    fitting: dict[str, Any] = {}
    if values["begin"] == "ones" and classes == 2:
        fitting = {"coef_init": [1.0, 1.0]}
        fitting |= {"intercept_init": 1.0} if values["fit_intercept"] else {}
    return Call(adaline.HoKashyap, _arguments(values, "eta", "max_iter", "fit_intercept"), fitting)


def _logistic(values: Values, classes: int) -> Call:
    kind = values["penalty"]
    alpha = {"number": values["alpha"], "none": 0.0}.get(str(kind), kind)
    return Call(adaline.LogisticRegression, {"alpha": alpha, **_arguments(values, "fit_intercept")})


def _gaussian(values: Values, classes: int) -> Call:
    arguments: dict[str, Any] = {"covariance": values["covariance"]}
    if classes == 2 and values["prior"] == "given":
        share = float(values["share"])
        arguments["priors"] = [round(1.0 - share, 6), share]
    if classes == 2 and values["cost"] != 1.0:
        arguments["costs"] = [[0.0, float(values["cost"])], [1.0, 0.0]]
    if values["reject"]:
        arguments["reject_cost"] = values["reject_cost"]
    return Call(adaline.GaussianClassifier, arguments)


BIAS = Setting("fit_intercept", "Bias b", True)
PASSES = slider("max_iter", "Maximum passes", 100, 1, 1000, scale="whole")
RATE = choice("rate", "Rate", {"number": "a number η", "auto": "automatic"})
ETA = slider("eta", "Rate η", 0.1, 0.001, 5.0, scale="log", when={"rate": "number"})
MODE = choice("mode", "Update", {"online": "after each sample", "batch": "after each pass"})
KEEP = choice("keep", "Weights", {"last": "last", "average": "averaged", "pocket": "pocket"})

_LIST = (
    Learner(
        "perceptron",
        "Perceptron rule",
        "Correct each error: w ← w + η t x where t (w′x + b) ≤ 0.",
        (
            choice("mode", "Update", {"incremental": "each error", "batch": "each pass"}),
            choice("step", "Correction", {"fixed": "fixed step η", "absolute": "until corrected"}),
            slider("eta", "Rate η", 1.0, 0.01, 10.0, scale="log", when={"step": "fixed"}),
            KEEP,
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
            choice("kernel", "Kernel", {"rbf": "Gaussian", "poly": "polynomial", "linear": "x′y"}),
            slider("degree", "Degree", 2, 1, 8, scale="whole", when={"kernel": "poly"}),
            slider("gamma", "γ", 1.0, 0.01, 50.0, scale="log"),
            PASSES,
        ),
        _kernel,
    ),
    Learner(
        "adaline",
        "Adaline (Widrow-Hoff)",
        "Follow the squared error before the threshold: w ← w + η (t − w′x − b) x.",
        (RATE, ETA, MODE, PASSES, BIAS),
        _squared_error(adaline.Adaline),
    ),
    Learner(
        "sigmoid",
        "Sigmoid perceptron",
        "Follow the squared error of its own output: w ← w + η (t − φ(v)) φ′(v) x.",
        (
            choice("phi", "φ", {"tanh": "tanh", "logistic": "logistic"}),
            *(RATE, ETA, MODE, PASSES, BIAS),
        ),
        _squared_error(adaline.SigmoidPerceptron, "phi"),
    ),
    Learner(
        "mse",
        "Minimum squared error",
        "Solve Ya = b by least squares. Drag the bars: the margins b that the points should have.",
        (BIAS,),
        _simple(adaline.LeastSquaresClassifier),
    ),
    Learner(
        "ho-kashyap",
        "Ho-Kashyap",
        "Weights and margins together: e = Ya − b, b ← b + η (e + |e|), a ← Y⁺b.",
        (
            slider("eta", "Step η", 0.9, 0.05, 0.99),
            choice(
                "begin", "Start", {"pseudoinverse": "a = Y⁺b", "ones": "a = (1, 1, 1)"}, classes=2
            ),
            slider("max_iter", "Maximum iterations", 200, 1, 1000, scale="whole"),
            BIAS,
        ),
        _ho_kashyap,
    ),
    Learner(
        "logistic",
        "Logistic regression",
        "Newton's method on p(B | x) = 1 / (1 + exp(−w′x − b)), with the penalty α/2 |w|².",
        (
            choice(
                "penalty",
                "Penalty",
                {
                    "number": "a number α",
                    "none": "none: maximum likelihood",
                    "auto": "automatic: leave one out",
                    "firth": "Firth's",
                },
            ),
            slider("alpha", "α", 1.0, 1e-4, 1e3, scale="log", when={"penalty": "number"}),
            BIAS,
        ),
        _logistic,
    ),
    Learner(
        "gaussian",
        "Gaussian classes",
        "Bayes' theorem with Gaussian densities: the decision of least expected cost.",
        (
            choice(
                "covariance",
                "Covariance",
                {"shared": "shared", "full": "one per class", "diagonal": "variances only"},
            ),
            choice("prior", "Priors", {"counted": "class shares", "given": "set here"}, classes=2),
            slider(
                "share", "Prior of class 2", 0.5, 0.01, 0.99, when={"prior": "given"}, classes=2
            ),
            slider("cost", "Cost of missing class 2", 1.0, 0.02, 50.0, scale="log", classes=2),
            Setting("reject", "May reject", False),
            slider("reject_cost", "Cost of rejecting", 0.2, 0.0, 0.5, when={"reject": True}),
        ),
        _gaussian,
    ),
    Learner(
        "machine",
        "Linear machine",
        "One neuron per class, the largest decides: raise the true one, lower its rival.",
        (
            choice(
                "multiclass",
                "Several classes",
                {"machine": "linear machine", "ovr": "each against the rest"},
            ),
            *(KEEP, PASSES, BIAS),
        ),
        _machine,
    ),
    Learner(
        "max-margin",
        "Largest margin",
        "The line farthest from both classes, midway between the nearest points of their hulls.",
        (BIAS,),
        _simple(adaline.max_margin),
        max_classes=2,
    ),
)
LEARNERS = {learner.name: learner for learner in _LIST}


def find_learner(name: Any) -> Learner:
    """The learner of that name."""
    if not isinstance(name, str) or name not in LEARNERS:
        raise ValueError(f"there is no learner {show(name)}.")
    return LEARNERS[name]
