"""Measures of other packages, found by their entry points."""

from __future__ import annotations

from importlib.metadata import entry_points

from movers.errors import DependencyError, InputError

GROUP = "movers.measures"
"""Entry points of this group name rows of the table of methods."""


def add_outside_measures() -> list[str]:
    """Add the measures of installed packages to the table of methods, and name them.

    A package offers one by an entry point of the group ``movers.measures`` that leads to a
    `Measure`; see "Adding a measure" in the documentation. The command line calls this.
    """
    found = entry_points(group=GROUP)
    if not found:
        return []
    from movers.measures.base import Measure
    from movers.measures.registry import METHODS

    for entry in found:
        try:
            row = entry.load()
        except Exception as error:
            raise DependencyError(
                f"the measure {entry.name!r} ({entry.value}) cannot be loaded: {error}; mend or "
                "uninstall the package it comes from"
            ) from error
        if not isinstance(row, Measure):
            raise InputError(
                f"the measure {entry.name!r} ({entry.value}) is {row!r}, not a Measure"
            )
        METHODS.setdefault(row.name, row)
    return [entry.name for entry in found]
