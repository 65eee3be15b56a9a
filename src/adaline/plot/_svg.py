"""matplotlib's SVG made ready for a page: lean, without names that other pictures use too."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

_LONG_NUMBER = re.compile(r"-?\d+\.\d{3,}")
_LINK = re.compile(r"url\(#([^)]*)\)")
_FONT = re.compile(r"\s*font-family:[^;]*;?")


def lean(root: Element, key: str) -> None:
    """Drop what a reader never sees, prefix ids with `key`, let colours follow the page.

    Black becomes the page's text colour and white its background, `--paper`. Text is left as it is.
    """
    used = {link for element in root.iter() for link in _links(element)}
    _adapt(root, key, used)


def _links(element: Element) -> list[str]:
    """Ids that the element refers to."""
    found = [link for value in element.attrib.values() for link in _LINK.findall(value)]
    for name, value in element.attrib.items():
        if name.rpartition("}")[2] == "href" and value.startswith("#"):
            found.append(value[1:])
    return found


def _adapt(element: Element, key: str, used: set[str]) -> None:
    for child in list(element):
        if child.tag.rpartition("}")[2] in ("metadata", "style"):
            element.remove(child)
    element.tag = element.tag.rpartition("}")[2]
    if element.tag not in ("text", "tspan"):
        element.text = None  # line breaks between elements
    given, element.attrib = element.attrib, {}
    for name, value in given.items():
        name = name.rpartition("}")[2]
        if name == "id" and value not in used:
            continue
        element.attrib[name] = _attribute(name, value, key)
    for child in element:
        _adapt(child, key, used)
        child.tail = None if element.tag not in ("text", "tspan") else child.tail
    _share_style(element)


def _attribute(name: str, value: str, key: str) -> str:
    if name == "id":
        return f"{key}-{value}"
    if name == "href":
        return f"#{key}-{value[1:]}" if value.startswith("#") else value
    if name in ("d", "x", "y"):
        return _LONG_NUMBER.sub(lambda found: f"{float(found[0]):.2f}", value).strip()
    if name in ("style", "clip-path", "fill", "stroke"):
        value = _FONT.sub("", _LINK.sub(rf"url(#{key}-\1)", value))
        value = value.replace("#000000", "currentColor")
        return value.replace("#ffffff", "var(--paper, #ffffff)")
    return value


def _share_style(group: Element) -> None:
    """Marks of one look tell it once, in their group."""
    looks = {child.get("style", "") for child in group}
    marks = group.tag == "g" and len(group) > 1 and all(child.tag == "use" for child in group)
    if marks and len(looks) == 1 and "" not in looks and "style" not in group.attrib:
        group.set("style", looks.pop())
        for child in group:
            del child.attrib["style"]
