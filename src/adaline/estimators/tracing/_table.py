"""Tables of steps, by columns: text, data frame and HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from adaline.errors import MissingExtra
from adaline.results import Fit, Result
from adaline.summaries import aligned

if TYPE_CHECKING:
    import pandas as pd


class Table(Result):
    """A table by columns, and the fit at its end: text, data frame and HTML."""

    fit: Fit

    def columns(self) -> dict[str, NDArray[Any]]:
        raise NotImplementedError

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas data frame."""
        try:
            import pandas as pd
        except ImportError:
            raise MissingExtra(
                "to_frame() needs pandas; install it with `pip install pandas`."
            ) from None
        return pd.DataFrame(self.columns())

    def to_html(self) -> str:
        """The table as HTML."""
        head, *rows = self._cells()
        top = "".join(f"<th>{escape(cell)}</th>" for cell in head)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
        )
        end = escape(self.fit.stopped)
        return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table><p>{end}</p>"

    def _repr_html_(self) -> str:
        return self.to_html()

    def __str__(self) -> str:
        return "\n".join([*aligned(self._cells()), self.fit.stopped])

    def _cells(self) -> list[list[str]]:
        table = self.columns()
        rows = zip(*table.values(), strict=True)
        return [list(table), *([cell("", value, False) for value in row] for row in rows)]


def cell(name: str, value: Any, later: bool) -> str:
    """Six significant digits; in batch mode, what belongs to the pass stands in its first row."""
    if isinstance(value, str):
        return value
    if later and name[0] in "wbd":
        return ""
    return f"{value:.6g}" if value else "0"
