"""A new learner, a new loss and a new filter by the recipes of CONTRIBUTING, in a copy of the tree.

CONTRIBUTING shows the same steps. The source files that a test adds or edits here are all that the
recipe asks for; beside them a public name needs its line in docs/reference, and an example in
tests/model_zoo.py and tests/bad_values_table.py, where other tests miss it by name.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import adaline
from adaline._names import classes_in
from test_architecture import (
    find_upward_imports,
    imports_of,
    lazy_table,
)

SOURCE = Path(adaline.__file__).parent

# Recipe 1, a learner: a file that says what it is, ...
LEARNER = '''"""Ridge regression of a given penalty: squared error × closed form × linear output."""

from __future__ import annotations

from adaline.estimators.least_squares import ClosedFormRegressor
from adaline.sums.moments import Moments
from adaline.parameters import FLAG, NOT_NEGATIVE
from adaline.procedures.least_squares import least_squares
from adaline.results import ClosedFit
from adaline.sums.rows import Rows


class FixedRidge(ClosedFormRegressor):
    """min |y - Xw - b|^2 + alpha |w|^2."""

    _command = "fixed-ridge"
    _streams = "moments"
    _exports = "values"
    _parameters = {"alpha": NOT_NEGATIVE, "fit_intercept": FLAG}

    def __init__(self, alpha: float = 1.0, fit_intercept: bool = True):
        self.alpha = alpha
        self.fit_intercept = fit_intercept

    def _solve(self, m: Moments | None, rows: Rows | None) -> ClosedFit:
        return least_squares(m, rows, intercept=self.fit_intercept, ridge=float(self.alpha))
'''

USED = """
import numpy as np

import adaline
from adaline import FixedRidge, Ridge
from adaline.cli.learners import find_learner
from adaline.data import export, fit

X = np.random.default_rng(0).standard_normal((20, 3))
model = FixedRidge(alpha=2.0).fit(X[:, :2], X[:, 2])
assert np.allclose(model.coef_, Ridge(alpha=2.0).fit(X[:, :2], X[:, 2]).coef_, rtol=1e-12)
assert model.certificate_.kind != "unproven", model.certificate_
adaline.save(model, "model.adaline")
assert (adaline.load("model.adaline").coef_ == model.coef_).all()
assert np.allclose(fit(FixedRidge(alpha=2.0), X, "x2").coef_, model.coef_, rtol=1e-9)
assert b'"FixedRidge"' in export(model, to="json")
assert find_learner("fixed-ridge") is FixedRidge
"""


# Recipe 2, a loss: its numbers, and what its targets are, ...
LOSS = '''

class Geometric(LogLink):
    """(t + 1) log(1 + exp(v)) - t v for counts t that scatter more than Poisson's."""

    endless = "weights grow without bound: on some rows of count 0 the mean can shrink for ever"
    name = "geometric"

    def parts(self, v: Array, t: Array) -> Parts:
        share = expit(v)
        slope = (t + 1.0) * share
        return Parts(
            (t + 1.0) * np.logaddexp(0.0, v) - t * v, slope - t, slope * expit(-v), slope + t
        )

    def rate(self, rows: Rows) -> float:
        """Where the slopes add up to nothing."""
        offset = rows.offset if len(rows.offset) else np.zeros(rows.n)
        slope = lambda b: rows.weights @ self.parts(offset + b, rows.Y).slope
        return float(np.exp(brentq(slope, -700.0, 700.0)))

    def saturated(self, rows: Rows) -> float:
        """Loss where every mean is its count."""
        return float(rows.weights @ (xlogy(rows.Y + 1.0, rows.Y + 1.0) - xlogy(rows.Y, rows.Y)))

    def constant(self, rows: Rows) -> float:
        """Nothing: the loss is minus the log likelihood."""
        return 0.0

    def deviance(self, t: Array, mean: Array) -> Array:
        with np.errstate(divide="ignore"):
            above = xlogy(t, t) - xlogy(t, mean) + (t + 1.0) * (np.log1p(mean) - np.log1p(t))
        return np.asarray(2.0 * above)

    def expected(self, v: Array) -> Array:
        return expit(v)
'''

# ... and an estimator.
ESTIMATOR = '''"""Regression of counts: the geometric loss × Newton × exponential output."""

from __future__ import annotations

from adaline.estimators.glm import LogLinkRegression
from adaline.sums.losses import Geometric


class GeometricRegression(LogLinkRegression):
    """Counts y of mean exp(w'x + b + offset) and variance mean + mean^2."""

    _learns = "counts"
    _scatter = "relative"
    _effect = "rate"
    _command = "geometric"
    _title = "Geometric regression"
    _loss = Geometric()
'''

TRIED = """
import numpy as np
import statsmodels.api as sm
from scipy.sparse import csr_array

import adaline
from adaline import GeometricRegression
from adaline.cli import run_command
from adaline.data import blocks, export, fit

rng = np.random.default_rng(0)
X = rng.standard_normal((90, 2)) * [1.0, 50.0]
years = rng.uniform(0.5, 3.0, 90)
y = rng.negative_binomial(1, 1 / (1 + years * np.exp(X @ [0.5, -0.01] + 0.3)))
model = GeometricRegression(alpha=0).fit(X, y, exposure=years)
family = sm.families.NegativeBinomial(alpha=1.0)
theirs = sm.GLM(y, sm.add_constant(X), family, exposure=years).fit(tol=1e-13)
table = model.summary()
for name, value in {"coef": "params", "std err": "bse", "deviance": "deviance"}.items():
    np.testing.assert_allclose(table[name], getattr(theirs, value), rtol=1e-6)
assert model.certificate_.kind == "optimal", model.certificate_
again = GeometricRegression(alpha=0).fit(csr_array(X), y, exposure=years)
np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-6)

# From memory and by the command, which reads the file in passes: the weights are the same.
inside = GeometricRegression(alpha=1.0).fit(X, y)
rows = np.column_stack([X, y])
np.savetxt("counts.csv", rows, delimiter=",", header="a,b,y", comments="", fmt="%.17g")
passed = fit(GeometricRegression(alpha=1.0), blocks("counts.csv", rows=20), "y")
assert run_command("fit counts.csv -t y -m geometric --set alpha=1 -o model.adaline".split()) == 0
loaded = adaline.load("model.adaline")
for other in (passed, getattr(loaded, "model", loaded)):
    assert other.certificate_.kind == "optimal", other.certificate_
    np.testing.assert_allclose(other.coef_, inside.coef_, rtol=1e-6)
assert b'"GeometricRegression"' in export(inside, to="json")
"""


# Recipe 3, a filter: its loop, ...
KERNEL = '''"""NLMS with a variable step: eta p / q, where p correlates successive errors."""

from __future__ import annotations

import numpy as np

from adaline.jit import sum_kernel


@sum_kernel
def variable_step(line, d, learns, w, eta, smoothing, p, q, last, y):
    """Filter and adapt: writes y and w; returns the number of samples, p, q and the last error."""
    for n in range(d.shape[0]):
        x = line[:, n : n + w.shape[1]]
        y[n] = np.sum(np.conj(w) * x)
        if not np.isfinite(y[n]):
            return n, p, q, last
        e = d[n] - y[n]
        p = smoothing * p + (1.0 - smoothing) * abs(e) * abs(last)
        q = smoothing * q + (1.0 - smoothing) * abs(e) ** 2
        if learns[n] and q > 0.0:
            w += eta * p / q * np.conj(e) / (1e-9 + np.sum(np.abs(x) ** 2)) * x
        last = abs(e)
    return d.shape[0], p, q, last
'''

# ... and its class.
FILTER = '''"""The normalised LMS filter with a variable step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from adaline.filters.filter import Filter, Learns
from adaline.filters.signals import STEP, Signal
from adaline.kernels.filters.variable_step import variable_step
from adaline.parameters import number


class Errors(NamedTuple):
    """Averages that the step depends on."""

    p: float = 0.0
    q: float = 0.0
    last: float = 0.0


@dataclass(eq=False, repr=False)
class VariableStepNLMS(Filter):
    """NLMS whose step is large while successive errors are alike."""

    eta: float = 0.5
    smoothing: float = 0.9

    _parameters: ClassVar = {"eta": STEP, "smoothing": number(0.0, 1.0, below=True)}
    _numbers: ClassVar = Errors

    def _adapt(self, line: Signal, d: Signal, learns: Learns, y: Signal) -> int:
        w, (p, q, last) = self._memory["w"], self._level
        went, *errors = variable_step(
            line, d, learns, w, self.eta, self.smoothing, p, q, last, y
        )
        self._level = Errors(*errors)
        return int(went)
'''

FILTERED = """
import copy, sys
import numpy as np

import adaline
from adaline import VariableStepNLMS
from adaline.filters import identify

sys.path.insert(0, TESTS)
from filter_zoo import MAKERS
from model_zoo import made

rng = np.random.default_rng(0)
x = rng.standard_normal(600)
d = np.convolve(x, [1.0, -0.5])[:600]
assert abs(identify(x, d, filter=VariableStepNLMS(taps=3)).signal - [1.0, -0.5, 0.0]).max() < 1e-3

# Blocks, copies and files come with the base class; tests of all filters find the new one.
f, parts = MAKERS["VariableStepNLMS"](), VariableStepNLMS(8)
y, e = f.process(x, d)
first = parts.process(x[:77], d[:77])
adaline.save(parts, "filter.adaline")
for twin in (copy.deepcopy(parts), adaline.load("filter.adaline")):
    y_twin, e_twin = twin.process(x[77:], d[77:])
    assert (np.append(first[0], y_twin) == y).all() and (twin.weights == f.weights).all()
assert type(made("VariableStepNLMS")) is VariableStepNLMS
"""


@pytest.fixture
def tree(tmp_path):
    """A copy of the package to change, with the byte code of the files that stay as they are."""
    return Path(shutil.copytree(SOURCE, tmp_path / "src" / "adaline"))


def edited(path: Path, *changes: tuple[str, str]) -> None:
    text = path.read_text(encoding="utf-8")
    for old, new in changes:
        assert text.count(old) == 1, f"{path.name} has {old!r} {text.count(old)} times."
        text = text.replace(old, new)
    path.write_text(text, encoding="utf-8")


def made_public(tree: Path, name: str, home: str) -> None:
    """A line in the table of adaline/__init__.py, and an import for type checkers."""
    edited(
        tree / "__init__.py",
        ("_HOME = {\n", f'_HOME = {{\n    "{name}": "{home}",\n'),
        ("if TYPE_CHECKING:\n", f"if TYPE_CHECKING:\n    from {home} import {name}\n"),
    )


def ran(tree: Path, code: str) -> None:
    """The code in a process of its own, on the changed tree; kernels run without a compiler."""
    folder = tree.parents[1]
    environment = {**os.environ, "PYTHONPATH": str(tree.parent), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr


def keeps_the_rules(tree: Path) -> None:
    types = {
        name: home
        for found in imports_of(tree / "__init__.py", tree)
        if found.for_types
        for home, _, name in [found.name.rpartition(".")]
    }
    assert types | classes_in(str(tree / "filters" / "__init__.py"), "Filter") == lazy_table(tree)
    assert not list(find_upward_imports(tree))


def test_a_learner_is_a_file_and_a_line_in_the_table(tree):
    (tree / "estimators" / "fixed_ridge.py").write_text(LEARNER, encoding="utf-8")
    made_public(tree, "FixedRidge", "adaline.estimators.fixed_ridge")
    keeps_the_rules(tree)
    ran(tree, USED)


def test_a_loss_is_a_class_and_an_estimator_that_names_it(tree):
    losses = tree / "sums" / "losses.py"
    edited(
        losses,
        (
            "from scipy.special import gammaln, xlogy\n",
            "from scipy.optimize import brentq\nfrom scipy.special import expit, gammaln, xlogy\n",
        ),
    )
    losses.write_text(losses.read_text(encoding="utf-8") + LOSS, encoding="utf-8")
    (tree / "estimators" / "geometric.py").write_text(ESTIMATOR, encoding="utf-8")
    made_public(tree, "GeometricRegression", "adaline.estimators.geometric")
    keeps_the_rules(tree)
    ran(tree, TRIED)


def test_a_filter_is_a_module_and_a_kernel_and_no_table_names_it(tree):
    (tree / "kernels" / "filters" / "variable_step.py").write_text(KERNEL, encoding="utf-8")
    (tree / "filters" / "variable_step_nlms.py").write_text(FILTER, encoding="utf-8")
    keeps_the_rules(tree)
    ran(tree, f"TESTS = {str(Path(__file__).parent)!r}\n" + FILTERED)
