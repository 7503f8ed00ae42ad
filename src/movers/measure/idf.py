"""Inverse document frequency, fitted on sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from math import log

from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe
from movers.measure.wordtable import WordTable, spelled

CODED_TOKEN = re.compile(r"(?u)\b\w\w+\b")


def fit_idf(encodings: Encodings, counts: Sequence[int], recipe: Recipe) -> WordTable:
    """Count in how many sentences each word occurs: ``ln((1 + N) / (1 + df)) + 1``.

    Parameters
    ----------
    encodings
        Distinct sentences.
    counts
        How often each occurs in the corpus.
    recipe
        ``"paper"`` counts the words as they are compared and treats an unseen one as rarer than
        any seen. ``"reference"`` counts what scikit-learn's ``TfidfVectorizer`` counts, and
        gives whatever it does not find the smallest value in the table.
    """
    if recipe == "paper":
        documents: Iterable[Iterable[str]] = (
            spelled(encodings, row, recipe) for row in range(len(encodings))
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
    return WordTable(values, missing, recipe)


def fit_piece_idf(pieces: Iterable[Iterable[str]], counts: Sequence[int]) -> WordTable:
    """Count in how many sentences each piece occurs: ``ln((N + 1) / (df + 1))``.

    That is what BERTScore and MoverScore weigh pieces with. Special tokens occur in every
    sentence and so weigh nothing.
    """
    frequency: Counter[str] = Counter()
    for sentence, count in zip(pieces, counts, strict=True):
        frequency.update(dict.fromkeys(sentence, count))
    total = sum(counts)
    values = {piece: log((total + 1) / (df + 1)) for piece, df in frequency.items()}
    return WordTable(values, log(total + 1), "reference")
