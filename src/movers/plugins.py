"""Measures and commands of other packages, found by their entry points."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from movers.runtime.entry_points import load_entries

MEASURES = "movers.measures"
"""Entry points of this group lead to measures; the registry reads them."""
COMMANDS = "movers.commands"
"""Entry points of this group lead to functions that become commands, by their own names."""


def add_outside_measures() -> list[str]:
    """Add the measures of installed packages to the table of methods, and name them.

    A package offers one by an entry point of the group ``movers.measures`` that leads to a
    `Measure`; see "Adding a measure" in the documentation. The command line calls this.
    """
    if not entry_points(group=MEASURES):
        return []
    from movers.measures import registry

    return registry.add_outside_measures()


def command_places() -> dict[str, tuple[Path, str]]:
    """Return file and function of commands of installed packages, without importing these."""
    places = {}
    for entry in entry_points(group=COMMANDS):
        spec = find_spec(entry.module)
        if spec is not None and spec.origin is not None:
            places[entry.name] = Path(spec.origin), entry.attr
    return places


def outside_commands() -> list[Callable[..., Any]]:
    """Return the functions that installed packages offer as commands."""
    return [command for _, _, command in load_entries(COMMANDS)]
