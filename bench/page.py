"""How long the live page takes to answer, in a real browser: from the event to the new drawing.

    python bench/page.py [--moves 50]

Starts a server, opens its page in Chromium, moves the slider and types sentences never seen
before. Typing counts from the end of the pause that the page waits for.
"""

import argparse
import re
import shutil
import statistics
import subprocess
import sys

from playwright.sync_api import Page, sync_playwright

PAUSE = 150
CHANGE = """async ([name, value, done, pause]) => {
  const field = document.querySelector(`[name=${name}]`);
  const said = () => document.querySelector(done[0]).textContent;  // may be another element later
  const started = performance.now();
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
  while (!said().includes(done[1])) await new Promise((wake) => setTimeout(wake, 1));
  return performance.now() - started - pause;
}"""


def slide(tab: Page, moves: int) -> list[float]:
    """Milliseconds of each move of the slider, along the curve that the page has."""
    mixes = [str((k * 7 % 19 + 1) / 20) for k in range(moves)]
    return [tab.evaluate(CHANGE, ["mix", mix, ["#signature", f"mix:{mix}|"], 0]) for mix in mixes]


def write(tab: Page, moves: int) -> list[float]:
    """Milliseconds of each new sentence."""
    texts = [f"The president greets guest {k} of the press." for k in range(moves)]
    return [tab.evaluate(CHANGE, ["target", text, ["#target", text], PAUSE]) for text in texts]


def report(name: str, times: list[float]) -> None:
    times.sort()
    middle, late = statistics.median(times), times[int(0.9 * len(times))]
    print(f"{name}: median {middle:.0f} ms, 90 % within {late:.0f} ms, {len(times)} times")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--moves", type=int, default=50)
    moves = parser.parse_args().moves
    command = [sys.executable, "-m", "movers", "serve", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            lines = iter(server.stderr.readline, "")
            address = next(m[1] for line in lines if (m := re.search(r"serving on (\S+)", line)))
            with sync_playwright() as playwright:
                chromium = shutil.which("chromium")
                browser = playwright.chromium.launch(
                    executable_path=chromium, args=["--no-sandbox", "--disable-gpu"]
                )
                tab = browser.new_page(viewport={"width": 1280, "height": 900})
                tab.goto(f"{address}?method=wsmd")
                tab.wait_for_selector("#curve-part:not([hidden])")
                report("moving the slider", slide(tab, moves))
                report("a new sentence", write(tab, moves))
                browser.close()
        finally:
            server.terminate()


if __name__ == "__main__":
    main()
