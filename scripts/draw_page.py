"""Write the pages under examples/ and the pictures of the page under docs/.

python scripts/draw_page.py   (the pictures need Chromium)
"""

import shutil
from pathlib import Path

from playwright.sync_api import sync_playwright

import movers

ROOT = Path(__file__).parent.parent
OBAMA = "Obama speaks to the media in Illinois."
EXAMPLES = {
    "obama": (OBAMA, "The press greets the President in Chicago."),
    "obama_paraphrase": (OBAMA, "The President greets the press in Chicago."),
    "word_swap": ("The press greets the president.", "The president greets the press."),
}
BITES = "A dog bites a man.", "A man bites a dog."


def main() -> None:
    scorer = movers.load()
    for name, pair in EXAMPLES.items():
        page = scorer.explain(*pair).to_html()
        (ROOT / "examples" / f"{name}.html").write_text(page, "utf-8")
    bites = scorer.using("wsmd", mix=0.9).explain(*BITES).to_html()
    with sync_playwright() as playwright:
        chromium = shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 1180, "height": 800})
        tab.goto((ROOT / "examples" / "word_swap.html").as_uri())
        tab.screenshot(path=ROOT / "docs" / "explain.png", full_page=True)
        tab.emulate_media(color_scheme="dark", reduced_motion="reduce")
        tab.set_content(bites)
        tab.click("[data-head='4.9']")
        tab.hover("#source-attention tbody td >> nth=1")
        tab.screenshot(path=ROOT / "docs" / "explain_head.png", full_page=True)
        browser.close()


if __name__ == "__main__":
    main()
