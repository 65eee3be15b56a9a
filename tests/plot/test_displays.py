"""Every display: numbers with names, pictures without global state, errors in sentences."""

from __future__ import annotations

import subprocess
import sys
import warnings
from xml.etree import ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import adaline
from adaline import plot

HOSTILE = ["<script>alert(1)</script>", "a $b$ \"c\" 'd' & \x00\u202e", "_hidden", "日本語"]


def two_clouds(rng, n=40, apart=3.0, p=2):
    X = rng.standard_normal((n, p))
    y = np.repeat([0, 1], n // 2)
    X[y == 1] += apart
    return X, y


def lines(rng, n=60, p=3):
    X = rng.standard_normal((n, p))
    return X, X @ np.arange(1.0, p + 1) + rng.standard_normal(n)


@pytest.fixture(scope="module")
def every_display():
    """One of each, by name."""
    rng = np.random.default_rng(0)
    X, y = two_clouds(rng)
    Z, t = lines(rng)
    least, logistic = adaline.LeastSquares().fit(Z, t), adaline.LogisticRegression().fit(X, y)
    gaussian, ridge = adaline.GaussianClassifier().fit(X, y), adaline.Ridge().fit(Z, t)
    margins = adaline.trace(adaline.HoKashyap(), X, y)
    x = rng.standard_normal(600)
    e = x * np.exp(-np.arange(600) / 100)
    lms = adaline.WidrowHoff(eta=0.01, max_iter=3, tol=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three passes are not meant to converge
        path = plot.WeightPathDisplay.from_estimator(lms, Z[:, :2], t)
    return {
        "CalibrationDisplay": plot.CalibrationDisplay.from_estimator(logistic, X, y, n_bins=4),
        "CoefficientsDisplay": plot.CoefficientsDisplay.from_estimator(least),
        "ConfusionMatrixDisplay": plot.ConfusionMatrixDisplay.from_estimator(logistic, X, y),
        "CoverDisplay": plot.CoverDisplay.from_dimensions([2, 5], n=8),
        "DecisionDisplay": plot.DecisionDisplay.from_estimator(logistic, X, y),
        "EffectDisplay": plot.EffectDisplay.from_estimator(logistic, X, 0),
        "EigenvalueDisplay": plot.EigenvalueDisplay.from_data(Z),
        "GaussianDisplay": plot.GaussianDisplay.from_estimator(gaussian, X, y),
        "LearningCurveDisplay": plot.LearningCurveDisplay.from_errors({"LMS": e}, floor=1e-3),
        "MarginsDisplay": plot.MarginsDisplay.from_trace(margins),
        "PredictionDisplay": plot.PredictionDisplay.from_estimator(least, Z, t),
        "ResidualsDisplay": plot.ResidualsDisplay.from_estimator(least, Z, t),
        "ResponseDisplay": plot.ResponseDisplay.from_weights([1.0, -0.5], truth=[1.0, -0.4]),
        "RidgePathDisplay": plot.RidgePathDisplay.from_estimator(ridge, Z, t),
        "RocCurveDisplay": plot.RocCurveDisplay.from_estimator(logistic, X, y),
        "SeparabilityDisplay": plot.SeparabilityDisplay.from_data(X, y),
        "SpectrogramDisplay": plot.SpectrogramDisplay.from_signals(x, e),
        "ThresholdDisplay": plot.ThresholdDisplay.from_estimator(logistic, X, y),
        "WeightPathDisplay": path,
    }


def test_every_display_draws_states_a_claim_and_leaves_no_trace(every_display):
    before = dict(mpl.rcParams)
    assert set(every_display) == set(plot.__all__) - {"Animation", "Display"}
    for name, display in every_display.items():
        assert display.plot() is display, name
        assert isinstance(display.figure_, Figure)
        axes = np.ravel(np.asarray(display.ax_, dtype=object))
        assert all(ax.get_xlabel() for ax in axes), name
        assert display.claim in _text(display.figure_), name
    assert dict(mpl.rcParams) == before
    # pyplot keeps a list of its figures; ours are not on it, because it was never asked.
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )


def _text(figure):
    titles = [ax.get_title("left") for ax in figure.axes]
    titles += [figure.get_suptitle()]
    return " ".join(titles).replace("\n", " ")


def test_svg_is_the_same_each_time_and_shares_no_ids(every_display):
    pages = [every_display["ResidualsDisplay"].svg(key) for key in ("a", "a", "b")]
    assert pages[0] == pages[1]
    first, second = ({e.get("id") for e in ElementTree.fromstring(p).iter()} for p in pages[1:])
    assert first & second == {None}
    assert "Date" not in pages[0]
    assert "#000000" not in pages[0]  # follows the page


def test_links_inside_an_svg_lead_somewhere(every_display):
    for key, display in every_display.items():
        root = ElementTree.fromstring(display.svg(key))
        ids = {e.get("id") for e in root.iter()}
        links = {e.get("href")[1:] for e in root.iter() if (e.get("href") or "").startswith("#")}
        clips = {e.get("clip-path")[5:-1] for e in root.iter() if e.get("clip-path")}
        assert links | clips <= ids, key
        assert not [e.tag for e in root.iter() if e.tag in ("script", "style", "metadata")]


def test_hostile_names_stay_text(rng):
    X, y = two_clouds(rng, p=4)
    labels = np.array(HOSTILE[:2])[y]
    model = adaline.LogisticRegression().fit(X, labels)
    for display in (
        plot.CoefficientsDisplay.from_estimator(model, names=HOSTILE),
        plot.DecisionDisplay.from_estimator(model, X, labels, names=HOSTILE),
        plot.ConfusionMatrixDisplay.from_estimator(model, X, labels),
        plot.RocCurveDisplay.from_estimator(model, X, labels),
    ):
        page = display.svg()
        assert "<script" not in page
        assert "\x00" not in page
        assert "\u202e" not in page
        page.encode("utf-8")
    shown = plot.CoefficientsDisplay.from_estimator(model, names=HOSTILE).svg()
    for part in ("&lt;script&gt;", "a $b$", "_hidden", "日本語"):
        assert part in shown


def test_many_points_become_pixels(rng):
    X, y = lines(rng, n=5000)
    model = adaline.LeastSquares().fit(X, y)
    page = plot.PredictionDisplay.from_estimator(model, X, y).svg()
    assert "<image" in page
    assert len(page) < 120_000
    few = plot.PredictionDisplay.from_estimator(model, X[:100], y[:100]).svg()
    assert "<image" not in few


def test_a_display_draws_on_axes_that_are_given(rng):
    X, y = lines(rng)
    model = adaline.LeastSquares().fit(X, y)
    figure = Figure()
    axes = figure.subplots(1, 3)
    display = plot.ResidualsDisplay.from_estimator(model, X, y).plot(axes)
    assert display.figure_ is figure
    assert list(display.ax_) == list(axes)
    with pytest.raises(ValueError, match="3 panels and got 1 axes"):
        display.plot(axes[0])


def test_without_matplotlib_one_sentence_says_what_to_install():
    hide = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import adaline\nfrom adaline.plot import CoverDisplay\n"
        "picture = CoverDisplay.from_dimensions(2)\n"
        "try:\n    picture.plot()\n"
        "except adaline.MissingExtra as error:\n    print(error)\n"
    )
    answer = subprocess.run(
        [sys.executable, "-c", hide], capture_output=True, text=True, check=True
    )
    assert adaline.MissingExtra.how_to_install("plot") in answer.stdout


X, Y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]], [0, 0, 1, 1]
WIDE = [[0.0, 1.0, 2.0], [1.0, 0.0, 1.0], [2.0, 3.0, 1.0], [3.0, 2.0, 0.0]]
GAPS = [[0.0, np.nan], [1.0, 0.0], [2.0, 3.0], [3.0, 2.0]]


def fitted():
    return adaline.Perceptron().fit(X, Y)


D, C, R = plot.DecisionDisplay, plot.ConfusionMatrixDisplay, plot.ResidualsDisplay
LINEAR, THRESHOLD = adaline.LeastSquares, plot.ThresholdDisplay.from_predictions
WRONG = {
    "not fitted": lambda: D.from_estimator(adaline.Perceptron(), X, Y),
    "NaN": lambda: D.from_estimator(fitted(), GAPS, Y),
    "expecting 2": lambda: D.from_estimator(fitted(), WIDE, Y),
    "no column 'age'": lambda: plot.EffectDisplay.from_estimator(LINEAR().fit(X, Y), X, "age"),
    "mahalanobis": lambda: plot.GaussianDisplay.from_estimator(fitted(), X, Y),
    "label 7": lambda: C.from_estimator(fitted(), X, [0, 0, 1, 7]),
    "inconsistent numbers": lambda: plot.RocCurveDisplay.from_estimator(fitted(), X, [0, 1]),
    "one class": lambda: plot.RocCurveDisplay.from_estimator(fitted(), X[:2], [0, 0]),
    "is a classifier": lambda: R.from_estimator(fitted(), X, Y),
    "predict_proba": lambda: plot.CalibrationDisplay.from_estimator(fitted(), X, Y),
    "no path": lambda: plot.RidgePathDisplay.from_estimator(LINEAR().fit(X, Y)),
    "no error surface": lambda: plot.WeightPathDisplay.from_estimator(LINEAR(), X, Y),
    "a path is of two": lambda: plot.WeightPathDisplay.from_estimator(fitted(), WIDE, Y),
    "diverged": lambda: plot.ResponseDisplay.from_weights([np.inf, 1.0]),
    "expected a vector": lambda: plot.LearningCurveDisplay.from_errors({"LMS": []}),
    "rate == 0.0": lambda: plot.SpectrogramDisplay.from_signals([1.0], [1.0], rate=0.0),
    "ratio == 0.0": lambda: THRESHOLD([0, 1], [0.5, 0.7], ratio=0.0),
    "no coef_": lambda: plot.CoefficientsDisplay.from_estimator(LINEAR()),
}


@pytest.mark.parametrize(("words", "make"), WRONG.items(), ids=WRONG)
def test_wrong_input_is_told_in_a_sentence(words, make):
    with pytest.raises((ValueError, TypeError), match=words):
        make()


def test_names_of_tables_are_used_and_nobody_is_warned(rng):
    pd = pytest.importorskip("pandas")
    X, y = two_clouds(rng)
    table = pd.DataFrame(X, columns=["age", "dose"])
    model = adaline.LogisticRegression().fit(table, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        display = plot.DecisionDisplay.from_estimator(model, table, y).plot()
    assert display.names == ("age", "dose")
    assert display.ax_.get_xlabel() == "age"


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_huge_and_tiny_scales_can_be_drawn(rng, scale):
    X, y = lines(rng)
    X, y = X * scale, y * scale
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = adaline.LeastSquares().fit(X, y)
    for make in (plot.PredictionDisplay.from_estimator, plot.ResidualsDisplay.from_estimator):
        display = make(model, X, y).plot()
        assert "nan" not in display.claim
        assert "inf" not in display.claim
    unit = adaline.LeastSquares().fit(X / scale, y / scale)
    expected = plot.ResidualsDisplay.from_estimator(unit, X / scale, y / scale)
    # Scaling rounds every entry once; leverage and quotients keep all but a few digits.
    np.testing.assert_allclose(display.leverage, expected.leverage, rtol=1e-9)
    np.testing.assert_allclose(display.standardised, expected.standardised, rtol=1e-9, atol=1e-9)
