"""Lower bounds of a query's distances to all sentences of a shard."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Bools, Floats, Ragged, Singles
from movers.measure.costs import COSTS
from movers.measure.gating import CONSTANT
from movers.methods import Method
from movers.scorer import Scorer
from movers.search.shards import Shard
from movers.solve.bounds import Profiles, centroid_bounds, profile_bounds, word_bounds
from movers.solve.rounding import SINGLE

SLACK = 4e-6
"""Rounding of a dot product of normalised vectors in single precision, generously."""


@dataclass(frozen=True)
class Query:
    """A query as bounds see it: a shard of one sentence, the measure, its share of structure."""

    shard: Shard
    method: Method
    mix: float
    threads: int | None

    @classmethod
    def of(cls, shard: Shard, scorer: Scorer) -> Query:
        """Make a query of a sentence that was prepared for search."""
        return cls(shard, scorer.method, float(scorer.settings.mix), scorer.threads)


@dataclass(frozen=True)
class Lower:
    """Lower bounds of the distances to some sentences.

    ``words`` come from the words alone, ``(sentences,)``; ``heads`` from words and structure,
    ``(sentences, heads)``, with one column where there is none.
    """

    words: Floats
    heads: Singles

    @property
    def means(self) -> Floats:
        """Bounds of the distances themselves."""
        return np.asarray(self.heads.mean(axis=1, dtype=np.float64))


def centroid_lower(query: Query, shard: Shard) -> Floats:
    """Bound distances by the distance of mean vectors; 0 where that says nothing."""
    method = query.method
    share = _word_share(query)
    if method.cost is None or not share:
        return np.zeros(len(shard))
    own = query.shard
    found = centroid_bounds(
        own.centroids[0],
        shard.centroids,
        own.mean_errors[0] + shard.mean_errors,
        squared=method.cost != "l2",
    )
    return np.where(np.isfinite(found), share * found, 0.0)


def shard_lower(query: Query, shard: Shard) -> Lower:
    """Bound the distances to all sentences of a shard; minus infinity where one is undefined."""
    own, method = query.shard, query.method
    u, v = (side.words.weights.data.astype(np.float32) for side in (own, shard))
    heads_kept = max(1, shard.words.sums.shape[1])
    if not own.counts[0]:
        return Lower(*_unknown(len(shard), heads_kept))
    cost = lower_costs(query, shard)
    means = lower_means(query, shard, cost)
    share = _word_share(query)
    slack = SINGLE * share * means
    words = np.zeros(len(shard))
    if share:
        words = share * word_bounds(cost, shard.starts, u, v, threads=query.threads) - slack
    odd = shard.counts == 0
    heads = np.repeat(words[:, None], heads_kept, axis=1)
    if method.needs_attention:
        factors, sizes, constant = lower_factors(query, shard, means)
        odd = odd | constant
    if method.needs_attention and method.reports == "value":
        heads = profile_bounds(
            cost,
            shard.starts,
            u,
            v,
            Profiles(own.profiles.data, own.profile_steps),
            Profiles(shard.profiles.data, shard.profile_steps),
            factors,
            share,
            threads=query.threads,
        )
        heads -= slack[:, None] + SINGLE * factors * sizes
    words[odd], heads[odd] = -np.inf, -np.inf
    return Lower(words, _rounded_down(heads))


def _unknown(count: int, heads: int) -> tuple[Floats, Singles]:
    return np.full(count, -np.inf), np.full((count, heads), -np.inf, np.float32)


def _rounded_down(bounds: Floats) -> Singles:
    single = bounds.astype(np.float32)
    lower = np.nextafter(single, np.float32(-np.inf))
    return np.asarray(np.where(single > bounds, lower, single))


def _word_share(query: Query) -> float:
    """Factor of the word cost in the distance that is reported."""
    if query.method.transport == "both" and query.method.reports == "value":
        return 1.0 - query.mix
    return 0.0 if query.method.transport == "structure" else 1.0


def lower_costs(query: Query, shard: Shard) -> Singles:
    """Costs between the words of the query and of a shard in single precision, never too high."""
    own, other = query.shard.words, shard.words
    if query.method.cost is None:
        return np.zeros((len(own.weights.data), len(other.weights.data)), np.float32)
    assert own.vectors is not None and other.vectors is not None
    assert own.norms is not None and other.norms is not None
    own_norms, norms, vectors = own.norms.data, other.norms.data, other.vectors.data
    if query.method.cost == "l2":
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


def lower_means(query: Query, shard: Shard, cost: Singles) -> Floats:
    """The mean cost C_M of every sentence, never too high."""
    own, other, kind = query.shard.words, shard.words, query.method.cost
    total = Ragged(cost.sum(axis=0, dtype=np.float64), shard.starts).sums()
    if kind is not None:
        assert own.norms is not None and other.norms is not None
        to_zero = COSTS[kind].to_zero
        outward = Ragged(to_zero(np.asarray(other.norms.data)), shard.starts).sums()
        idle, own_idle = other.sizes - shard.counts, own.sizes - query.shard.counts
        total = total + idle * to_zero(np.asarray(own.norms.data)).sum() + own_idle * outward
    return np.asarray(total / np.maximum(other.sizes * own.sizes, 1))


def lower_factors(query: Query, shard: Shard, means: Floats) -> tuple[Singles, Floats, Bools]:
    """Factors of the energy, the scale of its terms, and where two structures are one constant."""
    own, other = query.shard.words, shard.words
    cells, own_cells = np.maximum(other.sizes, 1)[:, None] ** 2, max(1, int(own.sizes[0])) ** 2
    sizes = other.squares / cells + own.squares / own_cells
    if query.method.transport == "structure":
        return np.ones(sizes.shape, np.float32), sizes, np.zeros(len(shard), np.bool_)
    errors = sizes - 2 * (other.sums / cells) * (own.sums / own_cells)
    constant = errors <= 2 * CONSTANT * sizes
    factors = query.mix * means[:, None] / np.where(constant, np.inf, errors)
    return factors.astype(np.float32), sizes, np.asarray(constant.any(axis=1))
