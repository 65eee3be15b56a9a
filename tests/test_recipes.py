"""A new learner and a new loss, by the recipes of CONTRIBUTING, in a copy of the tree.

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
from test_architecture import (
    complaints_about_direction,
    imports_of,
    lazy_table,
)

SOURCE = Path(adaline.__file__).parent

# Recipe 1, a learner: a file that says what it is, ...
LEARNER = '''"""Ridge regression of a given penalty: squared error × closed form × linear output."""

from __future__ import annotations

from adaline.estimators.closed_forms._closed import ClosedFormRegressor
from adaline.moments import Moments
from adaline.parameters import FLAG, NOT_NEGATIVE
from adaline.procedures.least_squares.closed_form import least_squares
from adaline.results import ClosedFit
from adaline.tiles import Rows


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
from adaline.cli.learning.learner_choice import spelled
from adaline.data import export, fit

rng = np.random.default_rng(0)
X = rng.standard_normal((20, 2))
y = X @ [2.0, -1.0] + 3.0 + 0.1 * rng.standard_normal(len(X))
model = FixedRidge(alpha=2.0).fit(X, y)
np.testing.assert_allclose(model.coef_, Ridge(alpha=2.0).fit(X, y).coef_, rtol=1e-12)
assert model.certificate_.kind != "unproven", model.certificate_

adaline.save(model, "model.adaline")
again = adaline.load("model.adaline")
assert (again.coef_ == model.coef_).all() and again.fit_.stopped == model.fit_.stopped

streamed = fit(FixedRidge(alpha=2.0), np.column_stack([X, y]), "x2")
np.testing.assert_allclose(streamed.coef_, model.coef_, rtol=1e-9)
assert b'"FixedRidge"' in export(model, to="json")
assert spelled("fixed-ridge") is FixedRidge
"""


# Recipe 2, a loss: its slopes and curvature by a code in the kernel, ...
LINK = '''
@kernel
def _log_cosh(v, y, omega, start, stop, r, root, work):
    """2 log cosh(d / 2), d = v - y: slope tanh(d / 2), curvature (1 - tanh^2) / 2."""
    a, whole, e = work[0], work[1], work[2]
    a[:] = 0.0
    for i in range(stop - start):
        a[i] = abs(v[i] - y[start + i])
    exponentials(a, whole, e)
    loss = 0.0
    weighted = omega.shape[0] > 0
    for i in range(stop - start):
        o = omega[start + i] if weighted else 1.0
        loss += o * (a[i] + 2.0 * np.log(0.5 * (1.0 + e[i])))
        tanh = (1.0 - e[i]) / (1.0 + e[i])
        r[i] = o * (tanh if v[i] > y[start + i] else -tanh)
        if root.shape[0] > 0:
            root[start + i] = np.sqrt(2.0 * o * e[i]) / (1.0 + e[i])
    return loss, -np.inf


@kernel
def link('''

# ... a criterion with its rounding errors, ...
LOSS = '''"""Squared near zero, absolute far away: 2 log cosh((v - y) / 2).

    dloss/dv = tanh,    d2loss/dv2 = (1 - tanh^2) / 2,    |d3loss/dv3| = tanh d2loss/dv2

It is minus the log likelihood of noise with a logistic distribution of scale 1, up to log 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import brentq

from adaline.kernels.losses.links import LOG_COSH
from adaline.linalg import UNIT
from adaline.objective import Extent, Objective, Part, reach
from adaline.results import Array


@dataclass(frozen=True)
class LogCosh:
    """The criterion; see `objective.Loss`. Its rounding depends on the largest |y|."""

    largest: float
    endless: ClassVar[str] = "weights grow without bound"

    def parts(self, rows: Objective, theta: Array, slopes: Array) -> list[Part]:
        """Sums over pieces of the rows."""
        return rows.neuron(LOG_COSH, theta, slopes)

    def size(self, rows: Extent, theta: Array, f: float, slopes: float) -> float:
        """All terms are positive; each is a difference of two that are at most |v| + |y| + 2."""
        return f + rows.weight * (reach(rows, theta) + self.largest + 2.0)

    def rounding(self, rows: Extent, theta: Array, slopes: float) -> Array:
        """Slopes are at most 1 and change by half of what v changes by."""
        values = 0.5 * (len(rows.top) + 4) * (reach(rows, theta) + self.largest)
        each = rows.depth() + values + 8.0
        return np.asarray(1.01 * UNIT * each * np.sqrt(rows.weight) * rows.length)

    def start(self, rows: Objective) -> Array:
        """The median, where there is a bias."""
        theta = np.zeros((1, len(rows.top)))
        if rows.intercept:
            theta[0, -1] = np.median(rows.target)
        return theta

    def null(self, rows: Objective) -> float:
        """Loss of the best constant, or of zero without a bias."""
        y = rows.target
        omega = rows.omega if len(rows.omega) else np.ones(len(y))
        low, high = float(y.min()), float(y.max())
        c = 0.0
        if rows.intercept:
            c = low if low == high else brentq(lambda c: omega @ np.tanh((c - y) / 2), low, high)
        d = np.abs(c - y)
        return float(omega @ (d + 2.0 * np.log1p(np.exp(-d)) - 2.0 * np.log(2.0)))

    def saturated(self, rows: Objective) -> float:
        """No loss at all."""
        return 0.0

    def constant(self, rows: Objective) -> float:
        """log 4, from the density of the logistic distribution."""
        return rows.weight * float(np.log(4.0))


def log_cosh_loss(
    X: Any, y: Array, omega: Array, alpha: float, intercept: bool
) -> Objective:
    """The penalised loss of rows with targets y, in units that fit the columns."""
    return Objective.of(LogCosh(float(np.abs(y).max())), X, y, omega, alpha, intercept)
'''

# ... and an estimator.
ESTIMATOR = '''"""Regression with outliers: the log cosh loss × Newton × linear output."""

from __future__ import annotations

from typing import Any, Self

from adaline.estimators._base import Regressor
from adaline.estimators.declarations import SEEN
from adaline.losses.log_cosh import log_cosh_loss
from adaline.parameters import COUNT, FLAG, NOT_NEGATIVE, POSITIVE
from adaline.procedures.newton.newton import newton
from adaline.tiles import as_rows


class LogCoshRegression(Regressor):
    """min sum_i 2 log cosh((w'x_i + b - y_i) / 2) + alpha/2 |w|^2."""

    _command = "log-cosh"
    _exports = "values"
    _stored = SEEN | {"_one_target": "truth", "fit_": "NewtonFit"}
    _parameters = {
        "alpha": NOT_NEGATIVE,
        "fit_intercept": FLAG,
        "max_iter": COUNT,
        "tol": POSITIVE,
    }

    def __init__(
        self,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        max_iter: int = 100,
        tol: float = 1e-8,
    ):
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from all rows: X (n, p) dense or CSR, numbers y (n,)."""
        self._check_parameters()
        X = self._rows(X, reset=True)
        Y = self._targets(y, X)
        if Y.shape[1] != 1:
            raise ValueError(f"y has {Y.shape[1]} columns; LogCoshRegression learns one.")
        X, _, omega = as_rows(X, None, self._weights(sample_weight, X))
        loss = log_cosh_loss(X, Y[:, 0].copy(), omega, float(self.alpha), bool(self.fit_intercept))
        self._accept(newton(loss, self.max_iter, self.tol), X.dtype)
        return self
'''

TRIED = """
import numpy as np
from scipy.optimize import minimize
from scipy.sparse import csr_array

import adaline
from adaline import LogCoshRegression
from adaline.cli.learning.learner_choice import spelled
from adaline.data import export

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 2)) * [1.0, 50.0]
y = X @ [2.0, -0.1] + 3.0 + 0.1 * rng.standard_normal(len(X))
y[:6] += 40.0  # outliers


def loss(theta):
    d = np.abs(X @ theta[:2] + theta[2] - y)
    return np.sum(d + 2 * np.log1p(np.exp(-d)) - 2 * np.log(2)) + 0.25 * theta[:2] @ theta[:2]


model = LogCoshRegression(alpha=0.5).fit(X, y)
theta = np.append(model.coef_, model.intercept_)
best = minimize(loss, np.zeros(3), method="Nelder-Mead", options={"fatol": 1e-13, "maxiter": 9999})
assert loss(theta) <= best.fun + 1e-9, (loss(theta), best.fun)
assert model.certificate_.kind == "optimal", model.certificate_
np.testing.assert_allclose(model.coef_, [2.0, -0.1], atol=0.2)
sparse = LogCoshRegression(alpha=0.5).fit(csr_array(X), y)
np.testing.assert_allclose(sparse.coef_, model.coef_, rtol=1e-6)

adaline.save(model, "model.adaline")
assert (adaline.load("model.adaline").predict(X) == model.predict(X)).all()
assert b'"LogCoshRegression"' in export(model, to="json")
assert spelled("log_cosh") is LogCoshRegression
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
    """A line in each of the three lists of adaline/__init__.py."""
    edited(
        tree / "__init__.py",
        ("_HOME = {\n", f'_HOME = {{\n    "{name}": "{home}",\n'),
        ("__all__ = [\n", f'__all__ = [\n    "{name}",\n'),
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
    assert types == lazy_table(tree)
    assert not list(complaints_about_direction(tree))


def test_a_learner_is_a_file_and_a_line_in_the_table(tree):
    (tree / "estimators" / "closed_forms" / "fixed_ridge.py").write_text(LEARNER, encoding="utf-8")
    made_public(tree, "FixedRidge", "adaline.estimators.closed_forms.fixed_ridge")
    keeps_the_rules(tree)
    ran(tree, USED)


def test_a_loss_is_a_file_a_code_in_the_kernel_and_an_estimator(tree):
    edited(
        tree / "kernels" / "losses" / "links.py",
        ("LOGISTIC, POISSON = range(2)", "LOGISTIC, POISSON, LOG_COSH = range(3)"),
        ("\n@kernel\ndef link(", LINK),
        (
            "    return _poisson(",
            "    if code == LOG_COSH:\n"
            "        return _log_cosh(v, target, omega, start, stop, r, root, work)\n"
            "    return _poisson(",
        ),
    )
    (tree / "losses" / "log_cosh.py").write_text(LOSS, encoding="utf-8")
    (tree / "estimators" / "newton" / "log_cosh.py").write_text(ESTIMATOR, encoding="utf-8")
    made_public(tree, "LogCoshRegression", "adaline.estimators.newton.log_cosh")
    keeps_the_rules(tree)
    ran(tree, TRIED)
