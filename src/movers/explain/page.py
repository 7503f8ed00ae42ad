"""The page as one file: style, scripts and data inside, and nothing else allowed to load."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import Any

MODULES = ("elements", "reading", "layout", "stage", "verdict", "cause", "heatmaps", "heads",
           "curve", "alignment", "lighting", "swapping", "asking", "sharing", "live",
           "page")  # fmt: skip
"""The scripts, each after those it imports."""
TITLE = "<title>movers</title>"
LINKED_STYLE = '<link rel="stylesheet" href="static/page.css">'
LINKED_SCRIPT = '<script type="module" src="static/page.js"></script>'
UNSAFE = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
"""Characters that could end the data or the script early."""


def export_page(payload: dict[str, Any]) -> str:
    """Write an explanation as an HTML file that needs neither server nor network.

    Under its policy only this style and this script run, and nothing is loaded.
    """
    style, script = _read("page.css"), _bundle()
    first = payload.get("first", payload)  # of a contrast
    sentences = [first["source"], first["target"]]
    sentences += [payload["second"]["target"]] if "second" in payload else []
    rules = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    policy = f'<meta http-equiv="Content-Security-Policy" content="{rules}">'
    data = json.dumps(payload, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    held = f'<script type="application/json" id="payload">{data.translate(UNSAFE)}</script>'
    page = _read("page.html")
    for linked, inlined in (
        (TITLE, f"{policy}\n<title>{escape(' | '.join(sentences))}</title>"),
        (LINKED_STYLE, f"<style>{style}</style>"),
        (LINKED_SCRIPT, f'{held}\n<script type="module">{script}</script>'),
    ):
        before, found, after = page.partition(linked)
        assert found, f"page.html has no {linked}"
        page = before + inlined + after
    return page


@cache
def _bundle() -> str:
    """Return all scripts as one module: they share no names, so imports and exports just go."""
    text = "\n".join(_read(f"{name}.js") for name in MODULES)
    return re.sub(r"^import .*\n|^export ", "", text, flags=re.MULTILINE)


@cache
def _read(name: str) -> str:
    return (files("movers.explain") / "static" / name).read_text("utf-8")


def _digest(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
