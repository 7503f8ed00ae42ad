"""The sentences of a corpus, read one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from operator import length_hint
from pathlib import Path

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError
from movers.io.pairs import check_sentence
from movers.io.texts import Texts


class Reader:
    """Sentences as they are read: counts them, and knows roughly how many there are."""

    def __init__(self, sentences: Iterable[str] | Path) -> None:
        self.given = Texts(sentences) if isinstance(sentences, Path) else sentences
        self.count = 0

    @property
    def total(self) -> int | None:
        """How many there are; None if that is not known beforehand."""
        return length_hint(self.given, 0) or None

    def __iter__(self) -> Iterator[str]:
        for text in read_sentences(self.given):
            self.count += 1
            yield text


def read_sentences(sentences: Iterable[str] | Path) -> Iterator[str]:
    """Sentences one by one, or those of a file, blank ones and repeats included."""
    if isinstance(sentences, str):
        raise InputError("sentences must be a list or a Path of a file, got one string")
    if isinstance(sentences, Path):
        sentences = Texts(sentences)
    if isinstance(sentences, Texts):
        yield from sentences
        return
    for number, text in enumerate(sentences):
        yield check_sentence(text, f"sentence {number}")


def distinct(sentences: Iterable[str], known: set[bytes]) -> Iterator[str]:
    """Sentences that are neither blank nor known by their keys, which become known."""
    for text in sentences:
        if text.strip() and (own := key(text)) not in known:
            known.add(own)
            yield text


def key(text: str) -> bytes:
    """What a sentence is known by."""
    return blake2b(text.encode(), digest_size=16).digest()


def keys_of(texts: Sequence[str]) -> Ints:
    """Short keys to find sentences by; two sentences may share one, though hardly ever do."""
    return np.frombuffer(b"".join(key(text)[:8] for text in texts), np.int64)
