"""Write the pages under examples/ and the pictures of the page under docs/.

python scripts/draw_page.py   (the pictures need Chromium)
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Browser, sync_playwright

import movers

ROOT = Path(__file__).parent.parent
FLAGS = ["--no-sandbox", "--disable-gpu"]
COLOURS = 256
"""Enough for flat colours and smooth letters, in a third of the bytes."""
OBAMA = (
    "Obama speaks to the media in Illinois.",
    "The President greets the press in Chicago.",
    "The press greets the President in Chicago.",
)
PRESS = (
    "The judge questioned the lawyer.",
    "The lawyer was interrogated by the judge.",
    "The lawyer questioned the judge.",
)
FORTY = (
    "When the committee that the mayor had appointed finally published its long report last week, "
    "several residents of the old harbour district complained that the engineers had ignored the "
    "warnings about flooding which local fishermen had repeatedly sent to the council before "
    "construction began.",
    "Several residents of the old harbour district complained that the local fishermen had ignored "
    "the warnings about flooding which the engineers had repeatedly sent to the council before "
    "construction began, when the mayor that the committee had appointed finally published its "
    "long report last week.",
)
EXAMPLES = {"obama": ("wsmd", OBAMA), "word_swap": ("movers", PRESS)}
SENTENCES = ("source", "target", "other")
Picture = tuple[dict[str, str], tuple[str, ...], int, Literal["light", "dark"], str]
PICTURES: dict[str, Picture] = {
    "explain": ({"look": "C"}, PRESS, 1280, "light", ""),
    "explain_dark": ({"look": "C"}, PRESS, 1280, "dark", "flow"),
    "explain_phone": ({}, PRESS, 390, "light", ""),
    "explain_forty": ({}, FORTY, 1280, "light", ""),
    "explain_links": (
        {"show": "links"},
        (
            "Before the rain came, the farmer closed the barn.",
            "The farmer shut the barn before it rained.",
        ),
        1280,
        "light",
        "",
    ),
    "explain_head": (
        {"method": "wsmd", "mix": "0.9", "view": "4.9"},
        ("A dog bites a man.", "A man bites a dog."),
        1280,
        "light",
        "",
    ),
}
"""By name: the state of the page, the sentences, width, paper, and what is clicked."""
POINTED = {"flow": "#stage .flow >> nth=-1"}


@contextmanager
def serving() -> Iterator[str]:
    """The address of a server."""
    command = [sys.executable, "-m", "movers", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            yield next(m[1] for line in lines if (m := re.search(r"serving on (\S+)", line)))
        finally:
            server.terminate()


def draw(browser: Browser, address: str, name: str) -> None:
    """Take a picture of the whole page."""
    state, texts, width, paper, click = PICTURES[name]
    tab = browser.new_page(
        viewport={"width": width, "height": 900},
        color_scheme=paper,
        reduced_motion="reduce",
        device_scale_factor=1.5 if width > 1000 else 2,
    )
    query = {**dict(zip(SENTENCES, texts, strict=False)), **state}
    tab.goto(f"{address}?{urlencode(query)}")
    tab.wait_for_selector("#found[aria-busy=false]:not([hidden])")
    if "method" in state:
        tab.wait_for_selector("#curve-part:not([hidden])")
    if click:
        tab.click(POINTED[click])
    path = ROOT / "docs" / f"{name}.png"
    tab.screenshot(path=path, full_page=True)
    tab.close()
    with Image.open(path) as picture:
        flat = picture.convert("RGB").quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
        flat.save(path, optimize=True)


def main() -> None:
    scorer = movers.load()
    for name, (method, texts) in EXAMPLES.items():
        page = scorer.using(method).contrast(*texts).to_html()
        (ROOT / "examples" / f"{name}.html").write_text(page, "utf-8")
    with serving() as address, sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        for name in PICTURES:
            draw(browser, address, name)
        browser.close()


if __name__ == "__main__":
    main()
