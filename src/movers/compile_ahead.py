"""Compile every kernel ahead of the first use: for images, continuous integration and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.encode.products import product
from movers.encode.subword_kernels import PooledAttention, WordRanges, pool_attention
from movers.measures.parts import kernels
from movers.measures.parts.costs import COSTS, norms_of, pair_costs
from movers.runtime import compiling
from movers.search.vector_kernels import halves_products, integer_products
from movers.solve.batch import Problems, broken_batch, emd_batch, fgw_batch, price_batch
from movers.solve.bounds import word_bounds

WORDS = 2
"""Of either sentence in the pair that everything is tried with."""
ROWS: Ints = np.array([[0, 1]])
WORD_VECTORS = Ragged(np.ones((2 * WORDS, 1), np.float32), np.array([0, WORDS, 2 * WORDS]))


def _problems() -> Problems:
    weights = Ragged.from_rows([np.ones(WORDS)] * 2)
    costs = Ragged.from_rows([np.ones(WORDS * WORDS)])
    structure = Ragged.from_rows([np.zeros(WORDS * WORDS, np.float32)] * 2)
    return Problems.between(weights, ROWS, costs, structure, np.ones((1, 1)))


def _costs() -> None:
    for kind in COSTS:
        pair_costs(kind, WORD_VECTORS, norms_of(WORD_VECTORS), *ROWS.T, threads=1)


def _cutting() -> None:
    one, room = np.zeros(1, np.int64), np.ones((1, 1))
    words = WordRanges(np.array([0, 1]), np.array([[0, 1]]), 1)
    matrices = np.ones((1, 1, 1, 1), np.float32)
    kept = PooledAttention(one, matrices.ravel(), room, room)
    pool_attention(
        matrices, np.ones((1, 1), bool), one, one, words, kept, True, np.ones(1, np.float32)
    )


def _pooling() -> None:
    words, picked = WORD_VECTORS, np.arange(2)
    kernels.pool(words.data, np.ones(2 * WORDS), words.starts, picked, np.zeros((2, 1)))


def _matching() -> None:
    words, places = WORD_VECTORS, np.zeros(2, np.int64)
    room = np.zeros(2 * WORDS), np.zeros(2 * WORDS), np.zeros(2 * WORDS, np.int64)
    scale: Floats = np.ones(2 * WORDS)
    kernels.match(0, 1, words.data, scale, words.starts, ROWS, places, places, *room)


def _bounds() -> None:
    single = np.full(WORDS, 1 / WORDS, np.float32)
    cost, starts = np.ones((WORDS, WORDS), np.float32), np.array([0, WORDS])
    word_bounds(cost, starts, single, single)


def _scanning() -> None:
    query, out = np.ones(1, np.float32), np.zeros(1, np.float32)
    halves, integers = np.ones((1, 1), np.int16), np.ones((1, 1), np.int8)
    for _ in ("in memory", "mapped from a file"):
        halves_products(halves, query, out)
        integer_products(integers, query, out)
        halves.flags.writeable = integers.flags.writeable = False


STEPS: dict[str, Callable[[], object]] = {
    "attention": _cutting,
    "costs": _costs,
    "partial transport": lambda: emd_batch(_problems(), null=1.0, threads=1),
    "broken relations": lambda: broken_batch(_problems(), np.ones(WORDS * WORDS), threads=1),
    "prices": lambda: price_batch(_problems(), np.ones(WORDS * WORDS), threads=1),
    "transport": lambda: emd_batch(_problems(), threads=1),
    "whitening": lambda: product(np.ones((1, 1)), np.ones((1, 1)), 1),
    "structure": lambda: fgw_batch(_problems(), mix=0.5, threads=1),
    "bounds": _bounds,
    "partial structure": lambda: fgw_batch(_problems(), mix=0.5, null=1.0, threads=1),
    "pooling": _pooling,
    "matching": _matching,
    "scanning": _scanning,
}
"""What there is to compile; the default measure needs the first four."""


def warm_up() -> Iterator[str]:
    """Compile, or load, every kernel; yields the name of each step before it is taken."""
    for name, step in STEPS.items():
        yield name
        step()


def missing() -> list[str]:
    """Kernels that no step has compiled."""
    return [one.name for one in compiling.entries if not one.calls]
