"""The page of commands, filled from the commands themselves when the site is built."""

from typing import Any

from movers.cli import app as command_line

PAGE = "docs/commands"
FIRST = "## movers compare"


def fill(_: Any, page: str, source: list[str]) -> None:
    """Put the reference behind what the page says already."""
    if page == PAGE:
        text = command_line.generate_docs()
        source[0] += "\n" + text[text.index(FIRST) :]


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
