"""The page of commands, filled from the commands themselves when the site is built."""

from collections.abc import Iterator
from typing import Any

from movers.cli import command_named, command_names
from movers.cli.parameters import Command, described

PAGE = "docs/commands"


def reference(command: Command) -> Iterator[str]:
    """What the page says of a command, block by block."""
    yield f"## movers {command.name}"
    yield f"```console\n{command.usage}\n```"
    yield described(command.function)[0]
    for section in dict.fromkeys(row.section for row in command.rows):
        rows = [row for row in command.rows if row.section is section]
        yield f"**{section.title}**:" + f"\n\n{section.help}" * bool(section.help)
        yield "\n".join(f"* `{row.names}`: {row.help}" for row in rows)


def fill(_: Any, page: str, source: list[str]) -> None:
    """Put the reference behind what the page says already."""
    if page == PAGE:
        for name in command_names():
            source[0] += "\n" + "\n\n".join(reference(command_named(name))) + "\n"


def setup(app: Any) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
