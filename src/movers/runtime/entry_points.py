"""What installed packages offer by entry points: rows of tables, and commands."""

from __future__ import annotations

from importlib.metadata import entry_points
from typing import Any, TypeVar

from movers.errors import DependencyError, InputError

Row = TypeVar("Row")


def add_rows(table: dict[str, Row], group: str, kind: type[Row]) -> list[str]:
    """Add the rows of installed packages to a table, and name them.

    Parameters
    ----------
    table
        Rows by name; a name that is there already stays what it is.
    group
        Entry points of this group lead to one row, whose entry has its name, or to rows by name.
    kind
        What a row has to be.
    """
    names = []
    for entry, place, loaded in load_entries(group):
        for name, row in (loaded if isinstance(loaded, dict) else {entry: loaded}).items():
            if not isinstance(row, kind):
                raise InputError(f"{place} is {row!r}, not a row of kind {kind.__name__}")
            table.setdefault(name, row)
            names.append(name)
    return names


def load_entries(group: str) -> list[tuple[str, str, Any]]:
    """Return name and description of every entry point of a group, and what it leads to."""
    loaded = []
    for entry in entry_points(group=group):
        place = f"entry point {entry.name!r} ({entry.value}) of {group}"
        try:
            loaded.append((entry.name, place, entry.load()))
        except Exception as error:
            raise DependencyError(
                f"{place} cannot be loaded: {error}; mend or uninstall the package it comes from"
            ) from error
    return loaded
