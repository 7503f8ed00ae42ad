"""Two corrections to what autodoc and napoleon make of signatures and docstrings."""

import re
from typing import Any

from sphinx.application import Sphinx

VALUES = {"attribute", "data", "property"}
ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def _keep_colons(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Hide the first line of a value from napoleon, which takes what ends in a colon for a type."""
    if what in VALUES:
        lines.insert(0, "")


def _name_aliases(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, given: str | None, back: str | None
) -> tuple[str | None, str | None]:
    """Write an alias by its name also where it is part of a union."""
    return given and ALIAS.sub(r"\1", given), back and ALIAS.sub(r"\1", back)


def setup(app: Sphinx) -> dict[str, Any]:
    """Come before napoleon, whose priority is 500."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", _keep_colons, priority=400)
    app.connect("autodoc-process-signature", _name_aliases)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
