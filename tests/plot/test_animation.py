"""Films show the right numbers in every frame, and are files that others can read."""

from __future__ import annotations

import io
import json
import re
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet
from PIL import Image

import adaline
from adaline import plot

CORNERS, OR = np.array([[-1.0, -1], [1, -1], [-1, 1], [1, 1]]), np.array([-1, 1, 1, 1])


@pytest.fixture(scope="module")
def corners():
    return plot.DecisionDisplay.from_estimator(adaline.Perceptron().fit(CORNERS, OR), CORNERS, OR)


@pytest.fixture(scope="module")
def film(corners):
    return corners.animate(adaline.trace(adaline.Perceptron(), CORNERS, OR))


def line(film):
    """Points of the line that is drawn now, (m, 2); none where there is no line."""
    drawn = [c for c in film.ax_.collections if isinstance(c, QuadContourSet)]
    paths = [path.vertices for one in drawn for path in one.get_paths()]
    return np.vstack(paths) if paths else np.empty((0, 2))


def artist(ax, label):
    """What is drawn under this label of the legend."""
    (one,) = [a for a in [*ax.lines, *ax.collections] if a.get_label() == label]
    return one


def places(ax, label):
    """Points drawn under this label, without those that are hidden."""
    at = np.asarray(artist(ax, label).get_offsets())
    return at[np.isfinite(at).all(axis=1)]


def on_line(film, w, b):
    points = line(film)
    # The contour of a plane is interpolated linearly: exact but for rounding.
    return len(points) > 10 and np.abs(points @ w + b).max() < 1e-9 * (1 + np.abs(w).sum() + abs(b))


def test_the_line_of_frame_k_has_the_weights_of_correction_k(film):
    table = adaline.trace(adaline.Perceptron(), CORNERS, OR)
    at = np.flatnonzero(table.updated)
    assert len(film) == 1 + len(at) == 4
    assert len(line(film.show(0))) == 0  # w = 0 is no line
    for k, i in enumerate(at, start=1):
        w, b = table.W_after[i, 0], table.b_after[i, 0]
        film.show(k)
        assert on_line(film, w, b)
        assert not on_line(film, w, b + 0.1)
        assert np.array_equal(places(film.ax_, "learned from"), CORNERS[[table.samples[i]]])
        wrong = np.flatnonzero(OR * (CORNERS @ w + b) <= 0)
        assert np.array_equal(places(film.ax_, "misclassified"), CORNERS[wrong])
        claim = film.claims[k]
        assert claim.startswith(f"Correction {k} of 3: ")
        said = f"{len(wrong)} of 4 rows" if len(wrong) else "all 4 rows are on the correct side"
        assert said in claim
    assert film.claims[0] == "Before learning: 4 of 4 rows are misclassified"


@pytest.mark.parametrize(
    ("model", "start"),
    [
        (adaline.Perceptron(mode="batch"), {}),
        (adaline.HoKashyap(), {"coef_init": [-1, 1], "intercept_init": 0}),
        (adaline.LogisticRegression(alpha=1.0), {}),
        (adaline.WidrowHoff(eta=0.1, max_iter=3, tol=0), {}),
    ],
    ids=lambda thing: type(thing).__name__,
)
def test_every_trace_of_one_neuron_moves_a_line_that_ends_where_fit_ends(corners, model, start):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        steps = adaline.trace(model, CORNERS, OR, **start)
        film = corners.animate(steps, frames=10)
    assert 2 <= len(film) <= 10
    film.show(-1)
    assert on_line(film, steps.fit.W[0], steps.fit.b[0])


def test_priors_move_the_boundary_that_each_model_has(rng):
    X = np.vstack([rng.normal(0, 1, (30, 2)), rng.normal(2, 1, (30, 2))])
    y = np.repeat(["no", "yes"], 30)
    shares = [0.1, 0.5, 0.9]
    models = [adaline.GaussianClassifier(priors=[1 - q, q]).fit(X, y) for q in shares]
    picture = plot.DecisionDisplay.from_estimator(models[1], X, y)
    film = picture.animate(models, captions=[f"P(yes) = {q}" for q in shares])
    for k, model in enumerate(models):
        film.show(k)
        assert on_line(film, np.ravel(model.coef_), float(np.ravel(model.intercept_)[0]))
        wrong = int((model.predict(X) != y).sum())
        verb = "is" if wrong == 1 else "are"
        assert film.claims[k] == (f"P(yes) = {shares[k]}: {wrong} of 60 rows {verb} misclassified")
    quadratic = adaline.GaussianClassifier(covariance="full").fit(X, y)
    film = picture.animate([models[1], quadratic]).show(1)
    assert np.abs(quadratic.decision_function(line(film))).max() < 0.01  # between points of a grid


def test_a_filter_is_seen_following_a_system_that_changes(rng):
    h = np.array([1.0, -0.5])
    x = rng.standard_normal(400)
    d = np.convolve(x, h)[:400] * np.where(np.arange(400) < 200, 1, -1)
    lms = adaline.LMS(taps=2, eta=0.1, history=20)
    lms.process(x, d)
    truth = np.where(lms.history_at[:, None] <= 200, h, -h)
    picture = plot.ResponseDisplay.from_filter(lms)
    film = picture.animate(lms.history, truth=truth, at=lms.history_at)
    assert len(film) == 20
    for k in (0, 10, 19):
        film.show(k)
        assert np.array_equal(artist(film.ax_[0], "LMS").get_ydata(), lms.history[k])
        assert np.array_equal(artist(film.ax_[0], "true system").get_ydata(), truth[k])
        off = 100 * np.linalg.norm(lms.history[k] - truth[k]) / np.linalg.norm(h)
        assert film.claims[k].startswith(f"LMS, sample {20 * (k + 1)}: ")
        assert float(film.claims[k].split()[3].rstrip("%")) == pytest.approx(off, rel=0.06)


def test_the_title_and_the_axes_stay_where_they_are(film):
    places = set()
    for k in range(len(film)):
        film.pixels(k)
        places.add(film.ax_.get_position().bounds)
        assert film.ax_.get_title("left").replace("\n", " ").strip() == film.claims[k]
        assert film.ax_._left_title.get_window_extent().x1 <= film.figure_.bbox.x1
    assert len(places) == 1


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_a_page_holds_every_frame_and_fetches_nothing(film, tmp_path):
    text = film.save(tmp_path / "film.html").read_text(encoding="utf-8")
    tags = Tags(text).found
    figure = next(attrs for tag, attrs in tags if tag == "figure")
    frames, claims = json.loads(figure["data-frames"]), json.loads(figure["data-claims"])
    assert tuple(claims) == film.claims
    assert len(frames) == len(film)
    still = next(attrs for tag, attrs in tags if tag == "img")
    assert still["alt"] == film.claims[-1]
    base = opened(still["src"]).convert("RGBA")
    for k, frame in enumerate(frames):
        shown = Image.alpha_composite(base, opened(frame).convert("RGBA")).convert("RGB")
        assert np.array_equal(np.asarray(shown), film.pixels(k))
    words = re.sub(r"data:image/webp;base64,[\w+/=]+", "", text)
    assert not re.findall(r"(?:https?:)?//\w", words)
    assert "setInterval" in text
    assert "onload" not in text  # it plays when it is asked to


def opened(url):
    import base64

    return Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))


def test_hostile_names_stay_text_in_a_film(tmp_path):
    X, y = np.vstack([CORNERS, CORNERS + 1]), np.repeat(["</script><b>", '"&'], 4)
    models = [adaline.GaussianClassifier(priors=[q, 1 - q]).fit(X, y) for q in (0.2, 0.8)]
    picture = plot.DecisionDisplay.from_estimator(models[0], X, y, names=["$a", "_b"])
    film = picture.animate(models, captions=["</script><b>$x$", '"&'])
    tags = Tags(film.save(tmp_path / "film.html").read_text(encoding="utf-8")).found
    assert "b" not in [tag for tag, _ in tags]
    figure = next(attrs for tag, attrs in tags if tag == "figure")
    assert tuple(json.loads(figure["data-claims"])) == film.claims


def test_what_cannot_be_a_film_is_refused(corners, film, tmp_path):
    steps = adaline.trace(adaline.Perceptron(), CORNERS, OR)
    model = adaline.GaussianClassifier().fit(CORNERS, OR)
    other = adaline.GaussianClassifier().fit(CORNERS, OR > 0)
    wide = adaline.trace(adaline.Perceptron(), np.column_stack([CORNERS, OR]), OR)
    more = adaline.trace(adaline.Perceptron(), np.vstack([CORNERS, 9 * CORNERS]), [*OR, *OR])
    response = plot.ResponseDisplay.from_weights([1.0, 0.5])
    for make, words in [
        (lambda: corners.animate(steps, frames=1), "frames == 1, must be >= 2"),
        (lambda: corners.animate(steps, interval=19), "interval == 19, must be >= 20"),
        (lambda: film.save(tmp_path / "film.avi"), r"expected a name that ends in \.html"),
        (lambda: film.show(4), "frame 4 does not exist; there are 4"),
        (lambda: corners.animate([]), "expected the result of adaline.trace"),
        (lambda: corners.animate([model, model], captions=["a"]), "there are 1 captions"),
        (lambda: corners.animate([other]), "the model knows"),
        (lambda: corners.animate(wide), "3 weights; a line in the plane has two"),
        (lambda: corners.animate(more), "make both from the same X"),
        (lambda: plot.MarginsDisplay.from_trace(steps), "adaline.trace for HoKashyap"),
        (lambda: response.animate([1.0, 2.0]), "expected numbers, .records, taps."),
        (lambda: response.animate([[1.0, 0.5]] * 2, truth=[[1.0, 0.5]] * 3), "truth 3"),
    ]:
        with pytest.raises((ValueError, TypeError, IndexError), match=words):
            make()


def test_a_browser_plays_the_film_when_it_is_asked_to(film, browser, tmp_path):
    file = film.save(tmp_path / "film.html")
    page = browser.new_context(offline=True, viewport={"width": 700, "height": 600}).new_page()
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(file.as_uri())
    bar, drawn = page.locator("input"), page.locator("canvas")
    assert bar.input_value() == "3"
    assert not drawn.is_visible()  # it stands still
    for button, at in [("back", "2"), ("back", "1"), ("on", "2")]:
        page.locator(f"[data-do={button}]").click()
        assert bar.input_value() == at
    drawn.wait_for(state="visible")
    page.wait_for_timeout(100)  # a frame is decoded before it is drawn
    shown = opened(page.evaluate("document.querySelector('canvas').toDataURL()"))
    assert np.array_equal(np.asarray(shown.convert("RGB")), film.pixels(2))
    page.locator("[data-do=play]").click()
    page.wait_for_function("document.querySelector('[data-do=play]').textContent === 'Play'")
    assert bar.input_value() == "3"  # it plays to the end, once
    assert page.locator("img").get_attribute("alt") == film.claims[-1]
    assert wrong == []
