"""SVG as the report wants it: described, repeatable, and able to change colours with the page."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from zlib import crc32

PALETTE = {
    "ground": "#ffffff",
    "ink": "#1c1e21",
    "soft": "#5f6670",
    "faint": "#d9dce1",
    "blue": "#0072b2",
    "orange": "#d55e00",
    "green": "#009e73",
    "purple": "#aa4499",
    "gold": "#b58900",
    "sky": "#56b4e9",
}
"""Colours by name, told apart by readers of any colour vision; `report.css` gives each of them a
second value for the dark."""
FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
SPACES = {
    "http://www.w3.org/2000/svg": "xmlns",
    "http://www.w3.org/1999/xlink": "xmlns:xlink",
}


def slug(name: str) -> str:
    """A name that a file can have on any system; where that alters it, a sum keeps it apart.

    >>> slug("stsb-test"), slug("stsb test?")
    ('stsb-test', 'stsb-test-c1c90c45')
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")
    return plain if plain == name else f"{plain}-{crc32(name.encode()):08x}".lstrip("-")


def finished(source: bytes, name: str, title: str, description: str) -> str:
    """The SVG that matplotlib wrote, with a title, unique ids and nothing about its making."""
    root = ElementTree.fromstring(source)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag.endswith(("}metadata", "}style")):
                parent.remove(child)
    _plain(root)
    for element in root.iter():
        _rename(element, name)
    for space, key in SPACES.items():
        root.set(key, space)
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    root.attrib |= {"font-family": FONTS, "stroke-linejoin": "round", "stroke-linecap": "butt"}
    for tag, text in (("desc", description), ("title", title)):
        element = ElementTree.Element(tag, id=f"{name}-{tag}")
        element.text, element.tail = text, "\n"
        root.insert(0, element)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def inlined(svg: str) -> str:
    """A finished SVG for the middle of a page: colours follow the page, the width follows too."""
    root = _plain(ElementTree.fromstring(svg))
    root.attrib.pop("height", None)
    names = {colour: name for name, colour in PALETTE.items()}
    for element in root.iter():
        if style := element.get("style"):
            element.set("style", re.sub("#[0-9a-f]{6}", lambda m: _variable(m[0], names), style))
    return ElementTree.tostring(root, encoding="unicode", short_empty_elements=True)


def _variable(colour: str, names: dict[str, str]) -> str:
    return f"var(--{names[colour]})" if colour in names else colour


def _plain(root: ElementTree.Element) -> ElementTree.Element:
    """Names as they are written in a file, without the spaces they belong to."""
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
        for key in list(element.attrib):
            space, _, short = key.lstrip("{").rpartition("}")
            if space:
                prefix = SPACES[space].partition(":")[2]
                element.set(f"{prefix}:{short}", element.attrib.pop(key))
    return root


def _rename(element: ElementTree.Element, name: str) -> None:
    """Give ids the name of the figure, and leave the font to the root."""
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == "xlink:href":
            element.set(key, value.replace("#", f"#{name}-", 1))
        elif "url(#" in value:
            element.set(key, value.replace("url(#", f"url(#{name}-"))
        elif key == "style":
            element.set(key, re.sub(r"font-family: [^;]*;? ?", "", value))
