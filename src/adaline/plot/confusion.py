"""How often each class is decided as each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from adaline.plot import _canvas, _given
from adaline.plot._canvas import Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WRITTEN = 12  # classes up to which every cell has its number


@dataclass(eq=False, repr=False)
class ConfusionMatrixDisplay(Display):
    """How often each class is decided as each.

    Attributes
    ----------
    counts : ndarray of int, shape (K, K) or (K, K + 1)
        Rows of true class i that were decided as j; the last column for "reject", if there is any.
    labels : list of str
    model : str

    Examples
    --------
    >>> from adaline import Perceptron
    >>> from adaline.plot import ConfusionMatrixDisplay
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    >>> ConfusionMatrixDisplay.from_estimator(Perceptron().fit(X, y), X, [0, 1, 1, 1]).counts
    array([[1, 0],
           [1, 2]])
    """

    counts: NDArray[np.int64]
    labels: list[str]
    model: str = "The classifier"
    beside = 11

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any) -> Self:
        """Decide these rows, and count."""
        R, codes = _given.labelled(model, X, y)
        return cls._counted(
            codes, _given.ask(model, "predict", R), model.classes_, type(model).__name__
        )

    @classmethod
    def from_predictions(
        cls, y: Any, predicted: Any, *, classes: Any = None, name: str = "The classifier"
    ) -> Self:
        """Count labels and predictions that are known already; what is no class is "reject"."""
        truth, found = np.asarray(y), np.asarray(predicted)
        _given.same_length(len(truth), found, "predicted")
        known = np.unique(np.concatenate([truth, found])) if classes is None else classes
        return cls._counted(_given.codes(truth, known, len(truth)), found, known, name)

    @classmethod
    def _counted(cls, codes: Any, predicted: Any, classes: Any, model: str) -> Self:
        known = _given.listed(classes)
        places = {label: k for k, label in enumerate(known)}
        K = len(known)
        decided = [places.get(label, K) for label in np.asarray(predicted).tolist()]
        counts = np.zeros((K, K + 1), dtype=np.int64)
        np.add.at(counts, (codes, decided), 1)
        labels = [str(label) for label in known]
        if counts[:, K].any():
            return cls(counts, [*labels, "reject"], model)
        return cls(counts[:, :K].copy(), labels, model)

    @property
    def claim(self) -> str:
        right, total = int(np.trace(self.counts)), int(self.counts.sum())
        said = f"{self.model} decides {right} of {total} rows rightly"
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        if wrong.any():
            i, j = np.unravel_index(int(wrong.argmax()), wrong.shape)
            names = [_canvas.short(self.labels[int(k)], 16) for k in (i, j)]
            said += f"; most often {names[0]} is decided as {names[1]} ({wrong[i, j]})"
        return said

    def _axes(self, ax: Any) -> list[Axes]:
        K = len(self.counts)
        self.size = (min(3.7 + 0.22 * K, 7.5), min(2.8 + 0.24 * K, 6.5))
        return super()._axes(ax)

    def _draw(self, axes: list[Axes]) -> None:
        (ax,) = axes
        totals = self.counts.sum(axis=1, keepdims=True)
        share = self.counts / np.maximum(totals, 1)
        image = ax.imshow(share, cmap="Blues", vmin=0.0, vmax=1.0, aspect="auto")
        bar = ax.figure.colorbar(image, ax=ax)
        bar.set_label("share of the true class")
        bar.solids.set_rasterized(True)  # type: ignore[union-attr]
        K, L = self.counts.shape
        if K <= _WRITTEN:
            for (i, j), count in np.ndenumerate(self.counts):
                # Not black and white, which follow the page: the cells stay as they are.
                ink = "#f7f7f7" if share[i, j] > 0.55 else "#111111"
                ax.text(j, i, f"{count}", ha="center", va="center", color=ink)
        names = [_canvas.plain(label, 14) for label in self.labels]
        turn = 90 if L > _WRITTEN else 30 if L > 3 or max(map(len, names)) > 8 else 0
        every = max(1, K // 25)
        ax.set_xticks(
            range(0, L, every),
            names[::every],
            rotation=turn,
            ha="right" if turn == 30 else "center",
        )
        ax.set_yticks(range(0, K, every), names[:K:every])
        ax.set(xlabel="decided", ylabel="true")
