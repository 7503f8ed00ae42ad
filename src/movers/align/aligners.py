"""The table of aligners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from movers.align import baselines
from movers.align.linking import Linking
from movers.align.reading import Words
from movers.align.shares import link_by_shares
from movers.arrays import Floats
from movers.errors import InputError, no_such

SABET = "Jalili Sabet et al. (2020), SimAlign, Findings of EMNLP"
ARASE = "Arase et al. (2023), Unbalanced optimal transport for unbalanced word alignment, ACL"


@dataclass(frozen=True)
class Aligner:
    """One way of linking words: what it is called, what it does, where it is from.

    ``link`` gets the words of both sentences and the model's mean word vector; links weaker than
    the threshold are not made.
    """

    name: str
    title: str
    paper: str
    link: Callable[[Words, Words, Floats], Linking]
    threshold: float


def _choice(name: str, title: str, choose: baselines.Choose, *, centred: bool = True) -> Aligner:
    link = partial(baselines.link_by_choice, choose, centred=centred)
    return Aligner(name, title, SABET, link, baselines.TINY)


def _transport(name: str, title: str, solve: baselines.Transport, threshold: float) -> Aligner:
    return Aligner(name, title, ARASE, partial(baselines.link_by_transport, solve), threshold)


ALIGNERS: dict[str, Aligner] = {
    aligner.name: aligner
    for aligner in (
        Aligner(
            "shares",
            "mutual shares of similarity, word order and attention",
            "this package: docs/alignment.md",
            link_by_shares,
            0.33,
        ),
        _choice("argmax", "each other's nearest word", baselines.choose_argmax),
        _choice("itermax", "nearest words, twice", baselines.choose_itermax, centred=False),
        _choice("match", "the best matching", baselines.choose_match),
        _transport("balanced", "entropic transport of everything", baselines.balanced, 0.35),
        _transport("partial", "of a share of everything", baselines.partial_transport, 0.24),
        _transport("unbalanced", "of what is worth it", baselines.unbalanced, 0.28),
    )
}
DEFAULT = "shares"


def find_aligner(name: str) -> Aligner:
    """Look an aligner up by name."""
    if name not in ALIGNERS:
        raise InputError(no_such("aligner", name, ALIGNERS))
    return ALIGNERS[name]
