"""Warnings that point at the caller's line, wherever in the library they arise."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

PACKAGE = str(Path(__file__).parents[1])


class TruncationWarning(UserWarning):
    """Some sentences were longer than the model allows and were cut; it holds them."""

    def __init__(self, message: str, sentences: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.sentences = tuple(sentences)


class UnwhitenedWarning(UserWarning):
    """Word vectors are used as the model gives them, for lack of statistics."""


class UnfittedWarning(UserWarning):
    """A measure goes without what it would learn from sentences, for want of a fit."""


class UndefinedWarning(UserWarning):
    """Some pairs have no distance, and NaN stands in their place."""


class ConvergenceWarning(UserWarning):
    """Some transport problems were given up at the bound on their effort."""


class HeaderWarning(UserWarning):
    """A first line was taken as the header of a table, for lack of anything better."""


class ClusterWarning(UserWarning):
    """A cluster has no room for what was asked of it, and the work waits."""


class DatasetWarning(UserWarning):
    """A data set has another size or balance than the one that its name stands for."""


def notify(message: str | Warning, category: type[Warning] | None = None) -> None:
    """Warn with the first line outside the library as the place."""
    depth, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=depth)
