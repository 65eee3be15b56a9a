"""The page: a template in which everything is escaped but our own pictures."""

from __future__ import annotations

from typing import Any

from adaline import MissingExtra


def _unbroken(value: Any) -> Any:
    """Text in which no line ends between a number and its per cent."""
    return value.replace(" %", "\N{NO-BREAK SPACE}%") if type(value) is str else value


def rendered(**parts: Any) -> str:
    """report.html.j2 with these parts; pictures are trusted, all else is text."""
    try:
        import jinja2
    except ImportError:
        raise MissingExtra.of("report", "a report", "jinja2") from None
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("adaline.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=_unbroken,
    )
    # Drawn first: the size of some pictures is decided while they are drawn.
    drawn = [(picture, [Markup(svg) for svg in picture.svgs]) for picture in parts.pop("pictures")]
    pictures = [{"svgs": svgs, "picture": picture} for picture, svgs in drawn]
    return environment.get_template("report.html.j2").render(pictures=pictures, **parts)
