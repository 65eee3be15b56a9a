"""`adaline demo`: seven short stations on built-in data, printed as a new user would meet them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import adaline

Array = NDArray[np.float64]

# Wampler's disturbance: large, and orthogonal to every polynomial of degree five on 0, 1, ..., 20.
_WAMPLER = [759, -2048, 2048, -2048, 2523, -2048, 2048, -2048, 1838, -2048, 2048]
_WAMPLER += _WAMPLER[-2::-1]


def demo() -> None:
    """Walk through the stations."""
    stations = [digits, coefficients, streams, verdicts, corrections, boundaries, two_boxes]
    for number, station in enumerate(stations, start=1):
        title = (station.__doc__ or "").splitlines()[0]
        print(f"\n{number}. {title}\n")
        station()


def digits() -> None:
    """Least squares keeps its digits, and says how many are proven."""
    x = np.arange(21.0)
    powers = np.column_stack([x**k for k in range(1, 6)])
    y = 1.0 + powers.sum(axis=1) + 1e4 * np.array(_WAMPLER)
    print("Wampler's fifth problem: y = 1 + x + ... + x^5, disturbed so that the answer")
    print("is still exactly (1, 1, 1, 1, 1, 1).")

    usual = np.linalg.lstsq(np.column_stack([np.ones(21), powers]), y, rcond=None)[0]
    ours = adaline.LeastSquares().fit(powers, y)
    _row("numpy.linalg.lstsq", usual)
    _row("adaline.LeastSquares", np.append(ours.intercept_, ours.coef_))
    print(f"certificate: {ours.certificate_}")


def coefficients() -> None:
    """What the data say of each coefficient: summary(), on Anscombe's first set."""
    x = np.array([10.0, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5])
    y = np.array([8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68])
    print(adaline.LeastSquares().fit(x[:, None], y).summary())


def streams() -> None:
    """Rows may come in blocks, and leave again."""
    rng = np.random.default_rng(1)
    X = rng.normal(loc=1e6, size=(3000, 3))
    y = X @ [1.0, -2.0, 3.0] + rng.normal(size=3000)

    stream = adaline.LeastSquares()
    for block in np.split(np.arange(3000), 3):
        stream.partial_fit(X[block], y[block])
    _row("three blocks of 1000", stream.coef_)
    _row("all 3000 at once", adaline.LeastSquares().fit(X, y).coef_)
    stream.forget(X[:1000], y[:1000])
    _row("first block forgotten", stream.coef_)
    _row("never seen it", adaline.LeastSquares().fit(X[1000:], y[1000:]).coef_)

    together = adaline.Moments.of(X[:1500], y[:1500]) + adaline.Moments.of(X[1500:], y[1500:])
    print("The sums of two halves add up to the sums of the whole; any closed form takes them:")
    _row("Ridge from moments", adaline.Ridge().fit_moments(together).coef_)


def verdicts() -> None:
    """Minimum squared error, Ya = b, on the lecture's examples: which of them separates?"""
    first = np.array([[6.0, 9.0], [5.0, 7.0], [5.0, 9.0], [0.0, 4.0]])
    second = np.array([[6.0, 9.0], [5.0, 7.0], [5.0, 9.0], [0.0, 10.0]])
    y = np.array([1, 1, -1, -1])
    for X, b in [(first, [1, 1, 1, 1]), (second, [1, 1, 1, 1]), (second, [1, 1, 1, 10])]:
        classifier = adaline.LeastSquaresClassifier().fit(X, y, margins=b)
        Ya = y * classifier.decision_function(X)
        verdict = "separates" if Ya.min() > 0 else "does not separate"
        _row(f"b = {b}, Ya", Ya, end=f"  {verdict}\n")


def corrections() -> None:
    """A perceptron corrects its errors: every step of the lecture's modified OR."""
    X = np.array([[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]])
    y = np.array([-1, 1, 1, 1])
    print(adaline.trace(adaline.Perceptron(), X, y))
    print(adaline.Perceptron().fit(X, y).certificate_)


def boundaries() -> None:
    """Priors and costs move a Gaussian boundary."""
    rng = np.random.default_rng(2)
    x = np.concatenate([rng.normal(0.0, 1.0, 500), rng.normal(3.0, 1.0, 500)])[:, None]
    sick = np.repeat([0, 1], 500)
    grid = np.linspace(-2.0, 5.0, 7001)[:, None]
    # costs[i, j] is what it costs to decide i when j is true: missing a sick one costs tenfold.
    missing_is_dear = np.array([[0.0, 10.0], [1.0, 0.0]])
    for words, priors, costs in [
        ("as the data are, half and half", None, None),
        ("one in a hundred is sick", [0.99, 0.01], None),
        ("and missing one costs tenfold", [0.99, 0.01], missing_is_dear),
    ]:
        classifier = adaline.GaussianClassifier(priors=priors, costs=costs).fit(x, sick)
        boundary = grid[np.argmax(classifier.predict(grid) == 1), 0]
        print(f"  {words:32} 'sick' from x = {boundary:.2f}")


def two_boxes() -> None:
    """Bishop's two boxes: which one did the orange come from?"""
    boxes = {"red": {"orange": 6, "apple": 2}, "blue": {"orange": 1, "apple": 3}}
    classifier = adaline.BayesClassifier.from_counts(boxes, priors={"red": 0.4, "blue": 0.6})
    for name, chance in zip(
        classifier.classes_, classifier.predict_proba(["orange"])[0], strict=True
    ):
        print(f"  p({name} | orange) = {chance:.4f}")


def _row(words: str, numbers: Array, end: str = "\n") -> None:
    print(f"  {words:24}", *(f"{number:12.8f}" for number in np.ravel(numbers)), end=end)
