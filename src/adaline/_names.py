"""Public names: how they load on first use, and what to use for those of other libraries.

A package is a table, public name to the module it lives in.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

_NO_ZEROS = "Ridge (numbers) and LogisticRegression (classes) shrink weights, but set none to zero"
_OTHERS = {  # names of scikit-learn and statsmodels
    _NO_ZEROS: "Lasso LassoCV ElasticNet ElasticNetCV Lars LassoLars",
    "use Ridge, which finds its penalty by itself": "RidgeCV BayesianRidge ARDRegression",
    "use LeastSquares": "LinearRegression OLS WLS",
    "use LeastSquaresClassifier": "RidgeClassifier RidgeClassifierCV",
    "use LogisticRegression, whose alpha='auto' chooses the penalty": "LogisticRegressionCV Logit",
    "use LogisticRegression, or max_margin where classes are separable": "SVC LinearSVC SVM",
    "use PoissonRegression": "PoissonRegressor Poisson",
    "use GaussianClassifier": "LinearDiscriminantAnalysis LDA",
    "use GaussianClassifier(covariance='full')": "QuadraticDiscriminantAnalysis QDA",
    "use GaussianClassifier(covariance='diagonal')": "GaussianNB",
    "use WidrowHoff (numbers), or Perceptron, Adaline or LogisticRegression (classes), which have "
    "partial_fit": "SGDClassifier SGDRegressor PassiveAggressiveClassifier",
}
_HANDED_DOWN: dict[str, str] = {}
_TABLES: dict[str, dict[str, str]] = {}  # by package


def lazily(
    package: dict[str, Any], home: dict[str, str], down: dict[str, str] | None = None
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` of the package whose globals are given.

    `down` names functions that rooms below their own may ask `handed_down` for.
    """
    _TABLES[package["__name__"]] = home
    _HANDED_DOWN.update(down or {})

    def __getattr__(name: str) -> Any:
        if name not in home:
            use = next((use for use, names in _OTHERS.items() if name in names.split()), None)
            instead = f": {use}." if use and package["__name__"] == "adaline" else ""
            raise AttributeError(
                f"module {package['__name__']!r} has no attribute {name!r}{instead}"
            )
        package[name] = value = getattr(import_module(home[name]), name)
        return value

    return __getattr__, lambda: sorted(package["__all__"])


def classes_in(package: str, base: str) -> dict[str, str]:
    """Classes that derive from `base` in the modules beside a package's `__init__` file, and their
    modules, read from the sources: to import them would load numpy and more.
    """
    found = {}
    for path in sorted(Path(package).parent.glob("*.py")):
        for name in re.findall(rf"^class (\w+)\({base}\):", path.read_text("utf-8"), re.M):
            found[name] = f"adaline.{path.parent.name}.{path.stem}"
    return found


def handed_down(name: str) -> Any:
    """A function of a higher layer, which the table `_HANDED_DOWN` of `adaline` names.

    Dependency inversion for Dask: `estimators` may not import `data`, but `fit` of a Dask array
    calls `data.fitting`.
    """
    return getattr(import_module(_HANDED_DOWN[name]), name)


def public_homes(below: str) -> Mapping[str, str]:
    """Public names of `adaline` whose modules are below this one, and their modules.

    >>> public_homes("adaline.schedules")["Constant"]
    'adaline.schedules'
    """
    table = _TABLES["adaline"]
    inside = {name: home for name, home in table.items() if f"{home}.".startswith(f"{below}.")}
    return MappingProxyType(inside)
