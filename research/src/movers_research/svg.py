"""SVG as the report wants it: described, repeatable, and able to change colours with the page."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from zlib import crc32

PALETTE = {
    **{"ground": "#ffffff", "ink": "#1c1e21", "soft": "#5f6670", "faint": "#d9dce1"},
    **{"blue": "#0072b2", "orange": "#d55e00", "green": "#009e73"},
    **{"purple": "#aa4499", "gold": "#b58900", "sky": "#56b4e9"},
}
"""Colours by name, told apart by readers of any colour vision; `report.css` gives each of them a
second value for the dark."""
FONTS = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
LINK = "http://www.w3.org/1999/xlink"


def slug(name: str) -> str:
    """A name that a file can have on any system; where that alters it, a sum keeps it apart.

    >>> slug("stsb-test"), slug("stsb test?")
    ('stsb-test', 'stsb-test-c1c90c45')
    """
    plain = re.sub(r"[^A-Za-z0-9.]+", "-", name).strip("-.")
    return plain if plain == name else f"{plain}-{crc32(name.encode()):08x}".lstrip("-")


def finished(source: bytes, name: str, title: str, description: str) -> str:
    """The SVG that matplotlib wrote, with a title, unique ids and no style sheet of its own."""
    root = ElementTree.fromstring(source)
    definitions = root[0]
    definitions.remove(definitions[0])  # a style sheet inside a page would rule all of it
    for element in root.iter():
        _rename(element, name)
    root.attrib |= {"xmlns": "http://www.w3.org/2000/svg", "xmlns:xlink": LINK}
    root.attrib |= {"role": "img", "aria-labelledby": f"{name}-title {name}-desc"}
    root.attrib |= {"font-family": FONTS, "stroke-linejoin": "round", "stroke-linecap": "butt"}
    for tag, text in (("desc", description), ("title", title)):
        element = ElementTree.Element(tag, id=f"{name}-{tag}")
        element.text, element.tail = text, "\n"
        root.insert(0, element)
    return ElementTree.tostring(root, encoding="unicode") + "\n"


def _rename(element: ElementTree.Element, name: str) -> None:
    """Write tags without their space, give ids the figure's name, leave the font to the root."""
    element.tag = element.tag.rpartition("}")[2]
    target = element.attrib.pop(f"{{{LINK}}}href", None)
    for key, value in element.attrib.items():
        if key == "id":
            element.set(key, f"{name}-{value}")
        elif key == "style":
            element.set(key, re.sub(r"font-family: [^;]*;? ?", "", value))
        else:
            element.set(key, value.replace("url(#", f"url(#{name}-"))
    if target is not None:
        element.set("xlink:href", target.replace("#", f"#{name}-", 1))


def inlined(svg: str) -> str:
    """A finished SVG for the middle of a page: colours follow the page, the width follows too."""

    def follow_page(style: re.Match[str]) -> str:
        return re.sub("#[0-9a-f]{6}", lambda colour: names.get(colour[0], colour[0]), style[0])

    names = {colour: f"var(--{name})" for name, colour in PALETTE.items()}
    bare = re.sub(r' (xmlns|xmlns:xlink|height)="[^"]*"', "", svg.rstrip("\n"), count=3)
    return re.sub(' style="[^"]*"', follow_page, bare)
