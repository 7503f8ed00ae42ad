"""The table of aligners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from movers.align.alignment import Scores
from movers.align.reading import Words
from movers.align.shares import link_by_shares
from movers.arrays import Floats
from movers.errors import InputError, no_such
from movers.runtime.entry_points import add_rows


@dataclass(frozen=True)
class Aligner:
    """One way of linking words.

    ``link`` gets the words of both sentences and the model's mean word vector; links weaker than
    the threshold are not made.
    """

    link: Callable[[Words, Words, Floats], Scores]
    threshold: float


ALIGNERS = {"shares": Aligner(link_by_shares, 0.33)}
DEFAULT = "shares"
GROUP = "movers.aligners"
"""Entry points of this group lead to more rows."""


def find_aligner(name: str) -> Aligner:
    """Look an aligner up by name, at last among those of installed packages."""
    if name not in ALIGNERS:
        add_rows(ALIGNERS, GROUP, Aligner)
    if name not in ALIGNERS:
        known = no_such("aligner", name, ALIGNERS)
        more = "" if "argmax" in ALIGNERS else "; those of the literature come with movers-research"
        raise InputError(known + more)
    return ALIGNERS[name]
