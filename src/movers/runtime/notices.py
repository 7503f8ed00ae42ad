"""Warnings that point at the caller's line, wherever in the library they arise."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from movers.errors import Advised, Remedy

PACKAGE = str(Path(__file__).parents[1])
IMPORTS = "<frozen importlib"
"""How the files of Python's own code for imports begin; warnings do not count its calls."""


class Notice(Advised, UserWarning):
    """Base of the warnings of movers; like an error, it carries what can be done about it."""


class TruncationWarning(Notice):
    """Some sentences were longer than the model allows and were cut."""


class UnknownWarning(Notice):
    """Most of a sentence consists of words that the model has no pieces for."""


class ForeignWarning(Notice):
    """Stop words of one language are taken from sentences in another."""


class UnfittedWarning(Notice):
    """A measure goes without what it would learn from sentences, for want of a fit."""


class UndefinedWarning(Notice):
    """Some pairs have no distance, and NaN stands in their place."""


class ConvergenceWarning(Notice):
    """Some transport problems were given up at the bound on their effort."""


def notify(message: str | Notice, category: type[Notice] = Notice, *remedies: Remedy) -> None:
    """Warn with the first line outside the library as the place."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith((PACKAGE, IMPORTS)):
        frame = frame.f_back
        depth += not frame.f_code.co_filename.startswith(IMPORTS)
    notice = category(message, *remedies) if isinstance(message, str) else message
    warnings.warn(notice, stacklevel=depth)
