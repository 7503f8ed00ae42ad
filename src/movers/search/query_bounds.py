"""What a query is away from sentences: lower bounds for all of a shard, and exact distances.

A distance is the mean over heads. As soon as the heads solved so far and the bounds of the
others add up to more than the threshold, the rest need not be solved. What is solved goes
through the same functions, in the same precision, as `Scorer.matrix`: the same bits come out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Bools, Floats, Ints, Ragged, Singles
from movers.measures.bounds import TransportBound
from movers.measures.parts.costs import COSTS
from movers.measures.sentences import WeightedSentences
from movers.measures.structural_transport import CONSTANT
from movers.scorer import Scorer
from movers.search.cosine import from_first
from movers.search.shards import Shard
from movers.solve.bounds import Profiles, centroid_bounds, profile_bounds, word_bounds
from movers.solve.rounding import SINGLE

SLACK = 4e-6
"""Rounding of a dot product of normalised vectors in single precision, generously."""
HEADS_AT_ONCE = 2
"""They share the solution of the word cost they all start from."""
HEADS_FOLD = 1.0 - 1e-9
"""Sums of solved heads and bounds are taken a little lower, for their own rounding."""


def transport_bound(scorer: Scorer) -> TransportBound:
    """Return the bound of the measure, which is one of transport."""
    bound = scorer.measure.bound
    assert isinstance(bound, TransportBound)
    return bound


def centroid_lower(scorer: Scorer, query: Shard, shard: Shard) -> Floats:
    """Bound distances by the distance of mean vectors; 0 where that says nothing."""
    bound = transport_bound(scorer)
    share, cost = bound.words, bound.cost
    if cost is None or not share:
        return np.zeros(len(shard))
    errors = query.mean_errors[0] + shard.mean_errors
    found = centroid_bounds(query.centroids[0], shard.centroids, errors, squared=cost != "l2")
    return np.where(np.isfinite(found), share * found, 0.0)


def shard_lower(scorer: Scorer, query: Shard, shard: Shard) -> tuple[Floats, Singles]:
    """Bound the distances to all sentences of a shard; minus infinity where one is undefined.

    The query is a shard of one sentence. Bounds from words alone, ``(sentences,)``, and from words
    and structure, ``(sentences, heads)``, with one column where there is none.
    """
    bound, threads = transport_bound(scorer), scorer.threads
    share = bound.words
    kept = max(1, shard.words.sums.shape[1])
    if not query.counts[0]:
        nothing = np.full((len(shard), kept), -np.inf, np.float32)
        return nothing[:, 0].astype(np.float64), nothing
    u, v = (side.words.weights.data.astype(np.float32) for side in (query, shard))
    cost = lower_costs(bound.cost, query.words, shard.words)
    means = lower_means(bound.cost, query, shard, cost)
    slack, words, odd = SINGLE * share * means, np.zeros(len(shard)), shard.counts == 0
    if share:
        words = share * word_bounds(cost, shard.starts, u, v, threads=threads) - slack
    heads = np.repeat(words[:, None], kept, axis=1)
    if bound.structure is not None:
        factors, sizes, constant = lower_factors(bound, query.words, shard.words, means)
        odd = odd | constant
        if bound.structure:
            own, other = (Profiles(one.profiles.data, one.profile_steps) for one in (query, shard))
            heads = profile_bounds(
                cost, shard.starts, u, v, own, other, factors, share, threads=threads
            )
            heads -= slack[:, None] + SINGLE * factors * sizes
    words[odd], heads[odd] = -np.inf, -np.inf
    single = heads.astype(np.float32)
    lower = np.nextafter(single, np.float32(-np.inf))
    return words, np.where(single > heads, lower, single)


def lower_costs(kind: str | None, own: WeightedSentences, other: WeightedSentences) -> Singles:
    """Costs between the words of the query and of a shard in single precision, never too high."""
    if kind is None:
        return np.zeros((len(own.weights.data), len(other.weights.data)), np.float32)
    assert own.vectors is not None and other.vectors is not None
    assert own.norms is not None and other.norms is not None
    own_norms, norms, vectors = own.norms.data, other.norms.data, other.vectors.data
    if kind == "l2":
        squares = own_norms[:, None] ** 2 + norms**2
        squares *= 1.0 - SLACK
        squares -= 2.0 * (own.vectors.data @ vectors.T)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)), np.float32)
    with np.errstate(divide="ignore"):
        a, b = ((1.0 / side).astype(np.float32) for side in (own_norms, norms))
    scaled = own.vectors.data * np.where(np.isfinite(a), a, 0)[:, None]
    cost: Singles = scaled @ vectors.T
    cost *= -np.where(np.isfinite(b), b, 0)
    cost += np.float32(1.0 - SLACK)
    np.maximum(cost, 0, out=cost)
    cost[~np.isfinite(a)] = 0  # a zero vector costs nothing
    cost[:, ~np.isfinite(b)] = 0
    return cost


def lower_means(kind: str | None, query: Shard, shard: Shard, cost: Singles) -> Floats:
    """Return the mean cost C_M of every sentence, never too high."""
    own, other = query.words, shard.words
    total = Ragged(cost.sum(axis=0, dtype=np.float64), shard.starts).sums()
    if kind is not None:
        assert own.norms is not None and other.norms is not None
        to_zero = COSTS[kind].to_zero
        outward = Ragged(to_zero(np.asarray(other.norms.data)), shard.starts).sums()
        idle, own_idle = other.sizes - shard.counts, own.sizes - query.counts
        total = total + idle * to_zero(np.asarray(own.norms.data)).sum() + own_idle * outward
    return np.asarray(total / np.maximum(other.sizes * own.sizes, 1))


def lower_factors(
    bound: TransportBound,
    own: WeightedSentences,
    other: WeightedSentences,
    means: Floats,
) -> tuple[Singles, Floats, Bools]:
    """Factors of the energy, the scale of its terms, and where two structures are one constant."""
    cells, own_cells = np.maximum(other.sizes, 1)[:, None] ** 2, max(1, int(own.sizes[0])) ** 2
    sizes = other.squares / cells + own.squares / own_cells
    if not bound.scaled:
        return np.ones(sizes.shape, np.float32), sizes, np.zeros(len(sizes), np.bool_)
    errors = sizes - 2 * (other.sums / cells) * (own.sums / own_cells)
    constant = errors <= 2 * CONSTANT * sizes
    factors = (bound.structure or 0.0) * means[:, None] / np.where(constant, np.inf, errors)
    return factors.astype(np.float32), sizes, np.asarray(constant.any(axis=1))


@dataclass
class HeadOrder:
    """In which order to solve heads, learned as we go.

    ``excess`` is by how much the values of a head exceed its bounds, on average.
    """

    heads: int
    excess: Floats | None = None

    @classmethod
    def of(cls, scorer: Scorer) -> HeadOrder:
        """Nothing is known yet."""
        return cls(max(1, len(scorer.heads)))

    def groups(self) -> list[Ints]:
        """Heads to solve one after another; all at once while nothing is known."""
        if self.excess is None:
            return [np.arange(self.heads)]
        groups = np.split(np.arange(self.heads), range(HEADS_AT_ONCE, self.heads, HEADS_AT_ONCE))
        excess = [float(self.excess[heads].mean()) for heads in groups]
        return [groups[place] for place in np.argsort(excess)[::-1]]


def distances_within(
    scorer: Scorer, both: Shard, bounds: Singles, threshold: float, order: HeadOrder
) -> Floats:
    """Return distances from a query to sentences; infinite beyond the threshold.

    ``both`` are the query, then the sentences; ``bounds`` are head by head, minus infinity for
    sentences that may be undefined.
    """
    pairs = from_first(len(both))
    odd = ~np.isfinite(bounds).all(axis=1)
    out = np.empty(len(pairs))
    out[odd] = scorer.between(both.words, pairs[odd])
    out[~odd] = _defined_within(scorer, both.words, pairs[~odd], bounds[~odd], threshold, order)
    return out


def _defined_within(
    scorer: Scorer,
    sentences: WeightedSentences,
    pairs: Ints,
    bounds: Singles,
    threshold: float,
    order: HeadOrder,
) -> Floats:
    """Return distances of pairs that are known to have one."""
    out = np.full(len(pairs), np.inf)
    if not len(pairs):
        return out
    bound = transport_bound(scorer)
    if bound.structure is None:
        return scorer.measure.distances(sentences, pairs)
    problems = bound.pose(sentences, pairs)
    values = np.zeros((len(pairs), order.heads))
    least = bounds.sum(axis=1, dtype=np.float64)
    alive = np.flatnonzero(least * HEADS_FOLD <= threshold * order.heads)
    for heads in order.groups():
        found = bound.move(problems.take(alive, heads))
        values[alive[:, None], heads] = found
        replaced = bounds[alive[:, None], heads].sum(axis=1, dtype=np.float64)
        least[alive] += found.sum(axis=1) - replaced
        alive = alive[least[alive] * HEADS_FOLD <= threshold * order.heads]
    fit = alive[np.isfinite(bounds[alive]).all(axis=1) & np.isfinite(values[alive]).all(axis=1)]
    if order.excess is None and len(fit):
        order.excess = (values[fit] - bounds[fit]).mean(axis=0)
    out[alive] = values[alive].mean(axis=1)
    return out
