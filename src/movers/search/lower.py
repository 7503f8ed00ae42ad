"""Lower bounds of a query's distances to all sentences of a shard."""

from __future__ import annotations

import numpy as np

from movers.arrays import Bools, Floats, Ragged, Singles
from movers.measure.costs import COSTS
from movers.measure.gating import CONSTANT
from movers.measure.measured import Bags
from movers.scorer import Scorer
from movers.search.shards import Shard
from movers.solve.bounds import Profiles, centroid_bounds, profile_bounds, word_bounds
from movers.solve.rounding import SINGLE

SLACK = 4e-6
"""Rounding of a dot product of normalised vectors in single precision, generously."""


def centroid_lower(scorer: Scorer, query: Shard, shard: Shard) -> Floats:
    """Bound distances by the distance of mean vectors; 0 where that says nothing."""
    share, cost = _word_share(scorer), scorer.method.cost
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
    method, share, threads = scorer.method, _word_share(scorer), scorer.threads
    kept = max(1, shard.words.sums.shape[1])
    if not query.counts[0]:
        nothing = np.full((len(shard), kept), -np.inf, np.float32)
        return nothing[:, 0].astype(np.float64), nothing
    u, v = (side.words.weights.data.astype(np.float32) for side in (query, shard))
    cost = lower_costs(method.cost, query.words, shard.words)
    means = lower_means(method.cost, query, shard, cost)
    slack, words, odd = SINGLE * share * means, np.zeros(len(shard)), shard.counts == 0
    if share:
        words = share * word_bounds(cost, shard.starts, u, v, threads=threads) - slack
    heads = np.repeat(words[:, None], kept, axis=1)
    if method.needs_attention:
        factors, sizes, constant = lower_factors(scorer, query.words, shard.words, means)
        odd = odd | constant
        if method.reports == "value":
            own, other = (Profiles(one.profiles.data, one.profile_steps) for one in (query, shard))
            heads = profile_bounds(
                cost, shard.starts, u, v, own, other, factors, share, threads=threads
            )
            heads -= slack[:, None] + SINGLE * factors * sizes
    words[odd], heads[odd] = -np.inf, -np.inf
    single = heads.astype(np.float32)
    lower = np.nextafter(single, np.float32(-np.inf))
    return words, np.where(single > heads, lower, single)


def _word_share(scorer: Scorer) -> float:
    """Factor of the word cost in the distance that is reported."""
    method = scorer.method
    if method.transport == "both" and method.reports == "value":
        return 1.0 - float(scorer.settings.mix)
    return 0.0 if method.transport == "structure" else 1.0


def lower_costs(kind: str | None, own: Bags, other: Bags) -> Singles:
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
    """The mean cost C_M of every sentence, never too high."""
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
    scorer: Scorer, own: Bags, other: Bags, means: Floats
) -> tuple[Singles, Floats, Bools]:
    """Factors of the energy, the scale of its terms, and where two structures are one constant."""
    cells, own_cells = np.maximum(other.sizes, 1)[:, None] ** 2, max(1, int(own.sizes[0])) ** 2
    sizes = other.squares / cells + own.squares / own_cells
    if scorer.method.transport == "structure":
        return np.ones(sizes.shape, np.float32), sizes, np.zeros(len(sizes), np.bool_)
    errors = sizes - 2 * (other.sums / cells) * (own.sums / own_cells)
    constant = errors <= 2 * CONSTANT * sizes
    factors = float(scorer.settings.mix) * means[:, None] / np.where(constant, np.inf, errors)
    return factors.astype(np.float32), sizes, np.asarray(constant.any(axis=1))
