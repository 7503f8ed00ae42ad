"""Thin plug-ins for other libraries, each in the file that bears the library's name.

Each needs its library: ``pip install movers[plugins]`` brings them all.
"""

from __future__ import annotations

from movers.errors import DependencyError


def missing(library: str) -> DependencyError:
    """Return the error for a library that is not installed."""
    return DependencyError(
        f"movers.integrations needs {library}, which is not installed: pip install movers[plugins]"
    )
