"""The learners of the board: classes of the library, their controls, and their equations.

The page shows the repr of the estimator as code.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import adaline
from adaline.play.settings import Setting, Values, choice, slider

GIVEN = "number"  # the choice that leaves the argument to a slider


@dataclass(frozen=True)
class Learner:
    """A learner of the board: a class or function of adaline, and its controls."""

    name: str
    title: str
    kind: Any
    settings: tuple[Setting, ...]

    @property
    def max_classes(self) -> int:
        """How many classes it separates."""
        return 2 if self.kind is adaline.max_margin else 4

    def arguments(self, values: Values) -> dict[str, Any]:
        """The arguments of `kind` that these values set."""
        arguments: dict[str, Any] = {}
        for setting in self.settings:
            name, value = setting.name, values[setting.name]
            if value != GIVEN and setting.is_shown(values):
                arguments |= ARGUMENTS[name](value) if name in ARGUMENTS else {name: value}
        return arguments

    def describe(self) -> dict[str, Any]:
        """The learner and its controls for the page."""
        shown = {"name": self.name, "title": self.title, "words": EQUATIONS[self.name]}
        return {**shown, "settings": [setting.describe() for setting in self.settings]}


# Of settings that are not arguments of the same name and value.
ARGUMENTS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "rate": lambda rule: {"eta": rule},
    "step": lambda rule: {"eta": rule},
    "penalty": lambda rule: {"alpha": 0.0 if rule == "none" else rule},
    "share": lambda share: {"priors": [round(1.0 - share, 6), share]} if share else {},
    "cost": lambda cost: {} if cost == 1.0 else {"costs": [[0.0, cost], [1.0, 0.0]]},
    "reject": lambda reject: {},
}
BIAS = Setting("fit_intercept", "Bias b", True)
PASSES = slider("max_iter", "Maximum passes", 100, 1, 1000, scale="whole")
RATE = choice("rate", "Rate", {GIVEN: "a number η", "auto": "automatic"})
ETA = slider("eta", "Rate η", 0.1, 0.001, 5.0, scale="log", when={"rate": (GIVEN,)})
MODE = choice("mode", "Update", {"online": "after each sample", "batch": "after each pass"})
KEEP = choice("keep", "Weights", {"last": "last", "average": "averaged", "pocket": "pocket"})
STEPS = {GIVEN: "fixed step η", "absolute": "until corrected"}
KERNELS = {"rbf": "Gaussian", "poly": "polynomial", "linear": "x′y"}
PENALTIES = {
    GIVEN: "a number α",
    "none": "none: maximum likelihood",
    "auto": "automatic: leave one out",
    "firth": "Firth's",
}
COVARIANCES = {"shared": "shared", "full": "one per class", "diagonal": "variances only"}

PERCEPTRON = (
    choice("mode", "Update", {"incremental": "each error", "batch": "each pass"}),
    choice("step", "Correction", STEPS),
    slider("eta", "Rate η", 1.0, 0.01, 10.0, scale="log", when={"step": (GIVEN,)}),
    KEEP,
    PASSES,
    BIAS,
)
KERNEL = (
    choice("kernel", "Kernel", KERNELS),
    slider("degree", "Degree", 2, 1, 8, scale="whole", when={"kernel": ("poly",)}),
    slider("gamma", "γ", 1.0, 0.01, 50.0, scale="log", when={"kernel": ("rbf", "poly")}),
    PASSES,
)
ADALINE = (RATE, ETA, MODE, PASSES, BIAS)
SIGMOID = (choice("phi", "φ", {"tanh": "tanh", "logistic": "logistic"}), *ADALINE)
HO_KASHYAP = (
    slider("eta", "Step η", 0.9, 0.05, 0.99),
    slider("max_iter", "Maximum iterations", 200, 1, 1000, scale="whole"),
    BIAS,
)
LOGISTIC = (
    choice("penalty", "Penalty", PENALTIES),
    slider("alpha", "α", 1.0, 1e-4, 1e3, scale="log", when={"penalty": (GIVEN,)}),
    BIAS,
)
GAUSSIAN = (
    choice("covariance", "Covariance", COVARIANCES),
    slider("share", "Prior of class 2 (0: its share)", 0.0, 0.0, 0.99),
    slider("cost", "Cost of missing class 2", 1.0, 0.02, 50.0, scale="log"),
    Setting("reject", "May reject", False),
    slider("reject_cost", "Cost of rejecting", 0.2, 0.0, 0.5, when={"reject": (True,)}),
)
MACHINE = choice(
    "multiclass", "Several classes", {"machine": "linear machine", "ovr": "each against the rest"}
)
EQUATIONS = {
    "perceptron": "Correct each error: w ← w + η t x where t (w′x + b) ≤ 0.",
    "kernel": "The perceptron in dual variables: v = Σ λ t (k(x′, x) + 1).",
    "adaline": "Follow the squared error before the threshold: w ← w + η (t − w′x − b) x.",
    "sigmoid": "Follow the squared error of its own output: w ← w + η (t − φ(v)) φ′(v) x.",
    "mse": "Solve Ya = b by least squares. Drag the bars: the margins b that points should have.",
    "ho-kashyap": "Weights and margins together: e = Ya − b, b ← b + η (e + |e|), a ← Y⁺b.",
    "logistic": "Newton's method on p(B | x) = 1 / (1 + exp(−w′x − b)), penalty α/2 |w|².",
    "gaussian": "Bayes' theorem with Gaussian densities: the decision of least expected cost.",
    "machine": "One neuron per class, the largest decides: raise the true one, lower its rival.",
    "max-margin": "The line farthest from both classes, midway between the hulls' nearest points.",
}
LEARNERS = {
    learner.name: learner
    for learner in (
        Learner("perceptron", "Perceptron rule", adaline.Perceptron, PERCEPTRON),
        Learner("kernel", "Kernel perceptron", adaline.KernelPerceptron, KERNEL),
        Learner("adaline", "Adaline (Widrow-Hoff)", adaline.Adaline, ADALINE),
        Learner("sigmoid", "Sigmoid perceptron", adaline.SigmoidPerceptron, SIGMOID),
        Learner("mse", "Minimum squared error", adaline.LeastSquaresClassifier, (BIAS,)),
        Learner("ho-kashyap", "Ho-Kashyap", adaline.HoKashyap, HO_KASHYAP),
        Learner("logistic", "Logistic regression", adaline.LogisticRegression, LOGISTIC),
        Learner("gaussian", "Gaussian classes", adaline.GaussianClassifier, GAUSSIAN),
        Learner("machine", "Linear machine", adaline.Perceptron, (MACHINE, KEEP, PASSES, BIAS)),
        Learner("max-margin", "Largest margin", adaline.max_margin, (BIAS,)),
    )
}
