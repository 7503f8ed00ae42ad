"""Bags of words: the cosine of word counts."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from movers.arrays import Floats, Ints
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
        squares = np.array([sum(count**2 for count in bag.values()) for bag in bags], np.int64)
        dots = [
            sum(count * bags[target].get(word, 0) for word, count in bags[source].items())
            for source, target in pairs.tolist()
        ]
        scale = np.sqrt(squares[pairs].prod(axis=1))
        cosines = np.array(dots) / np.where(scale > 0, scale, 1.0)
        return np.maximum(0.0, 1.0 - cosines.round(DIGITS))
