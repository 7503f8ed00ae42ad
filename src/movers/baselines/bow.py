"""Bags of words: the cosine of word counts."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from movers.arrays import Ints, Ragged
from movers.baselines import Scores, kernels, renumbered
from movers.measure.measured import Context, Measured
from movers.measure.wordtable import spelled

WORD = re.compile(r"\b\w+\b")
DIGITS = 9
"""Decimals kept: equal bags must tie, whatever the order of summation."""


def distances(measured: Measured, rows: Ints, context: Context, *, plans: bool = False) -> Scores:
    """Compare how often each word occurs."""
    picked, pairs = renumbered(rows)
    sentences = (spelled(measured.encodings, int(row), context.recipe) for row in picked)
    bags = [Counter(WORD.findall(" ".join(words).lower())) for words in sentences]
    order = {word: number for number, word in enumerate(sorted(set().union(*bags)))}
    items = [sorted((order[word], count) for word, count in bag.items()) for bag in bags]
    table = Ragged.from_rows([np.array(bag, np.int64).reshape(-1, 2) for bag in items])
    words, counts = np.ascontiguousarray(table.data.reshape(-1, 2).T.astype(np.int64))
    dots = np.zeros(len(pairs))
    kernels.overlap(words, counts, table.starts, np.ascontiguousarray(pairs), dots)
    squares = Ragged(counts**2, table.starts).sums()
    scale = np.sqrt(squares[pairs].prod(axis=1))
    cosines = dots / np.where(scale > 0, scale, 1.0)
    return Scores(np.maximum(0.0, 1.0 - cosines.round(DIGITS)))
