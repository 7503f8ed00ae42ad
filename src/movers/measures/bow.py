"""Bags of words: the cosine of word counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints, Ragged
from movers.measures import baseline_kernels as kernels
from movers.measures.base import Measure
from movers.measures.parts.wordtable import spelled
from movers.measures.sentences import WeightedSentences, renumbered

WORD = re.compile(r"\b\w+\b")
DIGITS = 9
"""Decimals kept: equal bags must tie, whatever the order of summation."""


@dataclass(frozen=True)
class WordCounts(Measure):
    """One minus the cosine of how often each word occurs."""

    reads_vectors = False

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Return one minus the cosine of the word counts of every pair."""
        picked, pairs = renumbered(rows)
        spellings = (spelled(sentences.encoded, int(row), self.context.recipe) for row in picked)
        bags = [Counter(WORD.findall(" ".join(words).lower())) for words in spellings]
        order = {word: number for number, word in enumerate(sorted(set().union(*bags)))}
        items = [sorted((order[word], count) for word, count in bag.items()) for bag in bags]
        table = Ragged.from_rows([np.array(bag, np.int64).reshape(-1, 2) for bag in items])
        words, counts = np.ascontiguousarray(table.data.reshape(-1, 2).T.astype(np.int64))
        dots = np.zeros(len(pairs))
        kernels.overlap(words, counts, table.starts, np.ascontiguousarray(pairs), dots)
        squares = Ragged(counts**2, table.starts).sums()
        scale = np.sqrt(squares[pairs].prod(axis=1))
        cosines = dots / np.where(scale > 0, scale, 1.0)
        return np.maximum(0.0, 1.0 - cosines.round(DIGITS))
