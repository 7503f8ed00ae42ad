"""Numbers of words: document frequencies fitted on sentences, and frequencies of the language."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, lru_cache
from hashlib import sha256
from importlib.metadata import version
from math import log
from pathlib import Path
from unicodedata import category

import numpy as np

from movers.arrays import Floats
from movers.encode.encodings import Encodings
from movers.encode.tokens import Recipe
from movers.errors import InputError, missing

CODED_TOKEN = re.compile(r"(?u)\b\w\w+\b")
SIF_A = 1e-3
SENTENCE_LENGTH = 11
"""Words in an average sentence, the one constant taken from outside the table (uSIF's)."""


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


@dataclass(frozen=True)
class Frequencies:
    """The share of each word among all words of a language.

    ``name`` says in signatures where it comes from; ``shares`` are by lower-case word.
    """

    name: str
    shares: dict[str, float]

    @cached_property
    def least(self) -> float:
        """Share of the rarest word."""
        return min(self.shares.values())

    @cached_property
    def most(self) -> float:
        """Share of the most frequent word."""
        return max(self.shares.values())

    def of(self, words: Sequence[str], missing: float) -> Floats:
        """Look words up as they are spelled; ``missing`` stands for unknown ones."""
        return np.array([self.shares.get(word, missing) for word in words], np.float64)

    def sif(self, words: Sequence[str]) -> Floats:
        """SIF weights: 1 for an unknown word."""
        return np.asarray(SIF_A / (SIF_A + self.of(words, 0.0)))

    def idf(self, words: Sequence[str], missing: float = 0.0) -> Floats:
        """Inverse document frequencies ``ln((N + 1) / (df + 1))`` by the language itself.

        A document is a sentence of average length whose words come independently, and there are
        just so many of them that the rarest word of the table occurs in one. Punctuation, which
        no such table holds, counts as occurring in all; ``missing`` is the share of other
        unknown words.
        """
        shares = self.of(words, missing)
        shares[[word not in self.shares and _is_punctuation(word) for word in words]] = 1.0
        rarest = _chance(np.array(self.least))
        return np.asarray(np.log((1 / rarest + 1) / (_chance(shares) / rarest + 1)))


def _chance(shares: Floats) -> Floats:
    """Return the chance of words to turn up in an average sentence."""
    return np.asarray(-np.expm1(SENTENCE_LENGTH * np.log1p(-np.minimum(shares, 1 - 1e-16))))


def _is_punctuation(word: str) -> bool:
    return all(category(character).startswith("P") for character in word)


@lru_cache(maxsize=4)
def load_frequencies(path: str | Path | None = None) -> Frequencies:
    """Read a file with ``word count`` on each line; None is English by the wordfreq package.

    The package knows numbers of several digits by their shape alone; they count as unknown.
    """
    if path is not None:
        return _read(Path(path))
    try:
        from wordfreq import get_frequency_dict
    except ImportError as error:
        what = "weighing words by how frequent they are without a file of frequencies"
        raise missing("wordfreq", what) from error

    every = get_frequency_dict("en", wordlist="best")
    shares = {word: share for word, share in every.items() if "00" not in word}
    return Frequencies(f"wordfreq-{version('wordfreq')}", shares)


def _read(path: Path) -> Frequencies:
    try:
        content = path.read_bytes()
        lines = content.decode("utf-8").splitlines()
    except OSError as error:
        raise InputError(f"no file of word frequencies {str(path)!r}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 (byte {error.start})") from error
    counts: dict[str, float] = {}
    for number, line in enumerate(lines, 1):
        word, count = "", 0.0
        with suppress(ValueError):
            word, text = line.split()
            count = float(text)
        if 0 < count < float("inf"):
            counts[word] = counts.get(word, 0.0) + count
        elif line.strip():
            raise InputError(
                f"{path}, line {number}: expected 'word count' with a positive count, got {line!r}"
            )
    if not counts:
        raise InputError(f"{path} holds no word; expected 'word count' on every line")
    total = sum(counts.values())
    name = f"{path.name}@{sha256(content).hexdigest()[:8]}"
    return Frequencies(name, {word: count / total for word, count in counts.items()})
