"""Links by mutual shares: similarity fused with word order and attention, no solver, no training.

Word i of one sentence and word j of the other attract each other by similarity, and by the links
of the words related to them. Looked for are shares P, high where the fused objective ::

    <S, P>  +  sum over relations (F, G) of  w <F P Gᵀ, P>  +  τ · (mass that stays at home)

is high: S the cosines, one relation "stands shortly before" with weight `ORDER` and one "attends
to" with weight `ATTENTION` for every layer, as a fused Gromov–Wasserstein problem has it with
products in place of squares. Its gradient at P is the attraction ::

    S' = S + w · (F P Gᵀ + Fᵀ P G),

and a step answers it with entropy at temperature `WARMTH` on each side by itself: row shares R
say where i would go, column shares Q where j would, home being an option with attraction τ in
both, and P = sqrt(R ∘ Q) is what both agree on (mean-field steps; the constraints of transport
are replaced by agreement, which keeps links many-to-many and costs no solver). A word at home
with similarity below τ needs no partner: transport is partial. At last, a word without
a partner of its own follows the words it attends to: an article goes with its noun.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from movers.align.alignment import Scores
from movers.align.reading import Words, centred_cosines
from movers.arrays import Floats

ORDER = 0.15
"""Weight of agreement in word order."""
REACH = 2.0
"""Words over which that agreement fades by a factor e."""
ITSELF = 0.5
"""Weight of the word itself beside its neighbours, so that many may go to one."""
ATTENTION = 1.0
"""Weight of agreement in attention."""
WARMTH = 0.1
"""Temperature of shares."""
FIRST_WARMTH = 0.05
"""Temperature before anything is known of other words."""
ROUNDS = 3
HOME = 0.45
"""Attraction of staying at home: the cosine below which two words alone are no pair."""
FOLLOW = 2.0
"""How much a word without a partner follows the words it attends to."""


def link_by_shares(source: Words, target: Words, typical: Floats) -> Scores:
    """Link words by what both sides agree on; ``typical`` is the model's mean word vector."""
    similarity = centred_cosines(source, target, typical)
    plan = mutual_shares(similarity, FIRST_WARMTH)
    for _ in range(ROUNDS):
        plan = mutual_shares(similarity + support(plan, source.attention, target.attention))
    strength = plan + followed(plan, source.attention, target.attention)
    return np.minimum(strength, 1.0), plan, 1.0 - np.minimum(similarity, 1.0)


def mutual_shares(attraction: Floats, warmth: float = WARMTH, home: float = HOME) -> Floats:
    """Return the geometric mean of j's share among the options of i, and of i's among those of j.

    Staying at home is one more option on either side.
    """
    rows, columns = _shares(attraction, warmth, home), _shares(attraction.T, warmth, home)
    return np.asarray(np.sqrt(rows * columns.T))


def _shares(attraction: Floats, warmth: float, home: float) -> Floats:
    """Return the softmax of every row, with staying at home among its options."""
    top = np.maximum(attraction.max(axis=1, keepdims=True), home)
    shares = np.exp((attraction - top) / warmth)
    return np.asarray(shares / (shares.sum(axis=1, keepdims=True) + np.exp((home - top) / warmth)))


def support(plan: Floats, source: Floats, target: Floats) -> Floats:
    """Return what the links so far say for each pair of words: gradient of the structural terms."""
    before, after = precedence(len(plan)), precedence(len(plan.T))
    attraction = ORDER * (before @ plan @ after.T + before.T @ plan @ after)
    if len(source):
        related = source @ plan @ target.mT + source.mT @ plan @ target
        attraction += ATTENTION * related.mean(axis=0)
    return np.asarray(attraction)


@lru_cache(maxsize=256)
def precedence(words: int) -> Floats:
    """Return how shortly words stand before others: 1 for the next, fading over `REACH`."""
    ahead = np.arange(words)[None] - np.arange(words)[:, None]
    fading = np.where(ahead > 0, np.exp((1 - np.maximum(ahead, 1)) / REACH), 0.0)
    return np.asarray(fading + ITSELF * np.eye(words))


def followed(plan: Floats, source: Floats, target: Floats) -> Floats:
    """Return links of the words that a word without a partner attends to, as far as it has none."""
    if not len(source):
        return np.zeros_like(plan)
    lonely = np.maximum(0.0, 1.0 - plan.sum(axis=1, keepdims=True))
    left = np.maximum(0.0, 1.0 - plan.sum(axis=0, keepdims=True))
    following = lonely * (_leaning(source) @ plan) + left * (plan @ _leaning(target).T)
    return np.asarray(FOLLOW * following)


def _leaning(attention: Floats) -> Floats:
    """Return attention to other words beyond what each of them gets from all: sinks get nothing."""
    others = attention.mean(axis=0)
    usual = others.sum(axis=0) / max(1, len(others) - 1)
    return np.asarray(np.maximum(others - usual, 0.0))
