"""The sentences of a corpus, read one by one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from pathlib import Path

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError
from movers.io.pairs import check_sentence
from movers.io.tables import decoded_lines


def read_sentences(sentences: Iterable[str] | Path) -> Iterator[str]:
    """Sentences one by one, or the lines of a text file, blank ones and repeats included."""
    if isinstance(sentences, str):
        raise InputError("sentences must be a list or a Path of a file, got one string")
    if not isinstance(sentences, Path):
        for number, text in enumerate(sentences):
            yield check_sentence(text, f"sentence {number}")
        return
    if not sentences.is_file():
        raise InputError(f"no file {str(sentences)!r}")
    with sentences.open("rb") as stream:
        for line in decoded_lines(stream, sentences):
            yield line.strip()


def distinct(sentences: Iterator[str], known: set[bytes]) -> Iterator[str]:
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
