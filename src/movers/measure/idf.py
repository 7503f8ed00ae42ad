"""Inverse document frequency, fitted on sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log

from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe
from movers.measure.wordtable import WordTable, spelled

CODED_TOKEN = re.compile(r"(?u)\b\w\w+\b")


def count_words(encodings: Encodings, counts: Sequence[int], recipe: Recipe) -> Counter[str]:
    """Count in how many sentences each word occurs.

    ``"paper"`` counts the words as they are compared; ``"reference"`` what scikit-learn's
    ``TfidfVectorizer`` counts.
    """
    if recipe == "paper":
        return count_documents(
            (spelled(encodings, row, recipe) for row in range(len(encodings))), counts
        )
    documents = (CODED_TOKEN.findall(text.lower()) for text in encodings.sentences)
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
