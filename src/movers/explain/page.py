"""The page as one file: style, scripts and data inside, and nothing else allowed to load."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

MODULES = ("elements", "reading", "layout", "stage", "verdict", "cause", "heatmaps", "heads",
           "curve", "alignment", "lighting", "swapping", "asking", "sharing", "live",
           "page")  # fmt: skip
"""The scripts, each after those it imports."""
TEXTS = ("elements", "asking", "texts")
"""Those of the page of two texts."""
TITLE = "<title>movers</title>"
LIVE_LINK = re.compile(r"\n *(?:<p[^>]*>)?<a [^>]*href=[^>]*>.*?</a>(?:</p>)?")
"""A link to another page of the server, on a line of its own."""
UNSAFE = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
"""Characters that could end the data or the script early."""


def export_page(payload: dict[str, Any]) -> str:
    """Write an explanation as an HTML file that needs neither server nor network.

    Under its policy only this style and this script run, and nothing is loaded.
    """
    first = payload.get("first", payload)  # of a contrast
    sentences = [first["source"], first["target"]]
    sentences += [payload["second"]["target"]] if "second" in payload else []
    return _export("page", MODULES, payload, " | ".join(sentences))


def export_texts(payload: dict[str, Any]) -> str:
    """Write a comparison of two texts as such a file: side by side, with lines between them."""
    first, second = (payload[side].split() for side in ("source", "target"))
    return _export("texts", TEXTS, payload, f"{' '.join(first[:6])} | {' '.join(second[:6])}")


def _export(name: str, modules: tuple[str, ...], payload: dict[str, Any], title: str) -> str:
    style, script = _read(f"{name}.css"), bundle(modules)
    rules = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
    data = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    held = f'<script type="application/json" id="payload">{data.translate(UNSAFE)}</script>'
    page = LIVE_LINK.sub("", _read(f"{name}.html"))
    linked_style = f'<link rel="stylesheet" href="static/{name}.css">'
    linked_script = f'<script type="module" src="static/{name}.js"></script>'
    for linked, inlined in (
        (TITLE, f"{policy}\n<title>{escape(title)}</title>"),
        (linked_style, f"<style>{style}</style>"),
        (linked_script, f'{held}\n<script type="module">{script}</script>'),
    ):
        before, there, after = page.partition(linked)
        assert there, f"{name}.html has no {linked}"
        page = before + inlined + after
    return page


@cache
def bundle(modules: tuple[str, ...]) -> str:
    """Join scripts into one module: they share no names, so imports and exports just go."""
    text = "\n".join(_read(f"{name}.js") for name in modules)
    return re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE)


@cache
def _read(name: str) -> str:
    return (files("movers.explain") / "static" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def html_table(heads: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "") -> str:
    """Return a table of texts."""
    head = "".join(f"<th>{escape(one)}</th>" for one in heads)
    cells = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<tr>{head}</tr>{body}</table>"
