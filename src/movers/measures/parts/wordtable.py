"""A number for every word, looked up the way a recipe spells words: idf, fitted on sentences."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from math import log

import numpy as np

from movers.arrays import Floats
from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe

CODED_TOKEN = re.compile(r"(?u)\b\w\w+\b")


@dataclass(frozen=True)
class WordTable:
    """Values by word, fitted and frozen.

    ``"paper"`` looks words up as they stand in the text, in lower case; ``"reference"`` as the
    tokenizer's pieces spell them, in whatever case that is. ``missing`` stands for other words.
    """

    values: dict[str, float]
    missing: float
    recipe: Recipe

    @cached_property
    def digest(self) -> str:
        """Eight hex digits that pin the table."""
        content = json.dumps([self.recipe, self.missing, sorted(self.values.items())])
        return sha256(content.encode()).hexdigest()[:8]

    def of(self, encodings: Encodings) -> Floats:
        """Look up the kept words of all sentences, one after another."""
        words = all_spelled(encodings, self.recipe)
        return np.array([self.values.get(word, self.missing) for word in words])


def spelled(encodings: Encodings, row: int, recipe: Recipe) -> list[str]:
    """Return the kept words of a sentence as a recipe spells them for look-ups."""
    if recipe == "paper":
        return [word.lower() for word in encodings.surface(row)]
    return encodings.spellings[row]


def all_spelled(encodings: Encodings, recipe: Recipe) -> list[str]:
    """Return the kept words of all sentences, one after another."""
    return [word for row in range(len(encodings)) for word in spelled(encodings, row, recipe)]


def count_words(encodings: Encodings, counts: Sequence[int], recipe: Recipe) -> Counter[str]:
    """Count in how many sentences each word occurs.

    ``"paper"`` counts the words as they are compared; ``"reference"`` what scikit-learn's
    ``TfidfVectorizer`` counts.
    """
    documents = (
        (spelled(encodings, row, recipe) for row in range(len(encodings)))
        if recipe == "paper"
        else (CODED_TOKEN.findall(text.lower()) for text in encodings.sentences)
    )
    return count_documents(documents, counts)


def count_documents(documents: Iterable[Iterable[str]], counts: Sequence[int]) -> Counter[str]:
    """Count in how many documents each word occurs; a document occurs as often as it says."""
    frequency: Counter[str] = Counter()
    for words, count in zip(documents, counts, strict=True):
        frequency.update(dict.fromkeys(words, count))
    return frequency


def idf_table(frequency: Mapping[str, int], total: int, recipe: Recipe) -> WordTable:
    """Weigh words by their number of sentences: ``ln((1 + N) / (1 + df)) + 1``.

    ``"paper"`` treats an unseen word as rarer than any seen; ``"reference"`` gives whatever it
    does not find the smallest value in the table.
    """
    values = {word: log((1 + total) / (1 + df)) + 1 for word, df in frequency.items()}
    unseen = log(1 + total) + 1
    missing = unseen if recipe == "paper" else min(values.values(), default=unseen)
    return WordTable(values, missing, recipe)


def piece_idf_table(frequency: Mapping[str, int], total: int) -> WordTable:
    """Weigh pieces by their number of sentences: ``ln((N + 1) / (df + 1))``.

    That is what BERTScore and MoverScore weigh pieces with. Special tokens occur in every
    sentence and so weigh nothing.
    """
    values = {piece: log((total + 1) / (df + 1)) for piece, df in frequency.items()}
    return WordTable(values, log(total + 1), "reference")
