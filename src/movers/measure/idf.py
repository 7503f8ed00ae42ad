"""Inverse document frequency, fitted on sentences and frozen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe

CODED_TOKEN = re.compile(r"(?u)\b\w\w+\b")


@dataclass(frozen=True)
class DocumentFrequency:
    """How rare words are: ``ln((1 + N) / (1 + df)) + 1`` for a word in ``df`` of ``N`` sentences.

    Parameters
    ----------
    values
        Inverse document frequency by word.
    missing
        What a word outside the table weighs.
    recipe
        ``"paper"`` counts and looks up the words as compared, in lower case, and treats an
        unseen word as rarer than any seen one. ``"reference"`` counts what scikit-learn's
        ``TfidfVectorizer`` counts, looks pieces up as the tokenizer spells them, and gives
        whatever it does not find the smallest value in the table.
    """

    values: dict[str, float]
    missing: float
    recipe: Recipe

    @classmethod
    def fit(cls, encodings: Encodings, counts: Sequence[int], recipe: Recipe) -> DocumentFrequency:
        """Count the words of sentences, each sentence as often as its count says."""
        if recipe == "paper":
            documents: Iterable[Iterable[str]] = (
                (word.lower() for word in encodings.surface(row)) for row in range(len(encodings))
            )
        else:
            documents = (CODED_TOKEN.findall(text.lower()) for text in encodings.sentences)
        frequency: Counter[str] = Counter()
        for words, count in zip(documents, counts, strict=True):
            frequency.update(dict.fromkeys(words, count))
        total = sum(counts)
        values = {word: log((1 + total) / (1 + df)) + 1 for word, df in frequency.items()}
        unseen = log(1 + total) + 1
        missing = unseen if recipe == "paper" else min(values.values(), default=unseen)
        return cls(values, missing, recipe)

    def of(self, encodings: Encodings, row: int) -> list[float]:
        """Look up the kept words of one sentence."""
        if self.recipe == "paper":
            words = [word.lower() for word in encodings.surface(row)]
        else:
            words = encodings.spellings[row]
        return [self.values.get(word, self.missing) for word in words]
