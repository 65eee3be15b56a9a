"""A page to play with every learner in a browser, and the same board in notebooks.

`serve` opens the page on this machine (extra `play`), and `Board` shows its board in Jupyter,
marimo, VS Code or Colab (extra `notebook`). What the page shows is what `trace`, `fit` and
`separability` return; the browser draws, and computes nothing.

Each tab of the page is a module with `start() -> state` and `step(state, event) -> (state,
drawing)`; a `Session` holds the states of one page. `scene` generates the signals of its filters.

Every name loads on first use.
"""

from __future__ import annotations

from adaline._names import lazily

_HOME = {
    "Board": "adaline.play.notebook",
    "Scene": "adaline.play.scenes",
    "Session": "adaline.play.session",
    "scene": "adaline.play.scenes",
    "serve": "adaline.play.server",
}

__all__ = sorted(_HOME)

__getattr__, __dir__ = lazily(globals(), _HOME)
