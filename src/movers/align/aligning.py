"""From texts, or words, to alignments: many pairs at a time, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from movers.align.aligners import DEFAULT, Aligner, find_aligner
from movers.align.linking import Link
from movers.align.reading import Given, Sentence, Words, middle, read_sentences, read_words
from movers.align.results import Alignment, make_links
from movers.encode.transformer import TransformerEncoder
from movers.runtime.progress import progress_bar
from movers.version import __version__

CHUNK = 512
"""Pairs read at a time."""
ROOM = 1 << 28
"""Bytes for sentences that come again later, so that the model need not read them again."""


def align_pairs(
    encoder: TransformerEncoder,
    pairs: Sequence[tuple[Given, Given]],
    *,
    aligner: str = DEFAULT,
    progress: bool = False,
) -> Iterator[Alignment]:
    """Align pairs of sentences one after another, each given as text or as a list of words.

    The aligner is a row of `movers.align.aligners.ALIGNERS`.
    """
    for (found,) in align_with(encoder, pairs, [aligner], progress=progress):
        yield found


def align_with(
    encoder: TransformerEncoder,
    pairs: Sequence[tuple[Given, Given]],
    aligners: Sequence[str],
    *,
    progress: bool = False,
) -> Iterator[list[Alignment]]:
    """Read pairs once and align each with several aligners; see `align_pairs`."""
    chosen = [(find_aligner(name), signature(encoder, name)) for name in aligners]
    reader = _Reader(encoder, pairs)
    with progress_bar("aligning", "pairs", len(pairs), progress=progress) as bar:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            for pair in reader.read(chunk):
                yield [_align(encoder, one, pair, name) for one, name in chosen]
            bar.update(len(chunk))


Read = tuple[Sentence, Words]


class _Reader:
    """Reads pairs chunk by chunk, and every sentence once as far as there is room."""

    def __init__(self, encoder: TransformerEncoder, pairs: Sequence[tuple[Given, Given]]) -> None:
        self.encoder, self.known = encoder, dict[Given, Read]()
        self.ahead = Counter(map(_key, chain.from_iterable(pairs)))

    def read(self, pairs: Sequence[tuple[Given, Given]]) -> Iterator[tuple[Read, Read]]:
        """The sentences of some pairs, and what the model says of their words."""
        keys = [_key(one) for one in chain.from_iterable(pairs)]
        fresh = [key for key in dict.fromkeys(keys) if key not in self.known]
        sentences = read_sentences(self.encoder, fresh)
        words = read_words(self.encoder, sentences)
        self.known |= zip(fresh, zip(sentences, words, strict=True), strict=True)
        yield from (
            (self.known[a], self.known[b]) for a, b in zip(keys[::2], keys[1::2], strict=True)
        )
        self.ahead.subtract(keys)
        self.known = dict(self._coming())

    def _coming(self) -> Iterator[tuple[Given, Read]]:
        """What is known of sentences that come again, up to the room there is for them."""
        room = ROOM
        for key, (sentence, words) in self.known.items():
            if self.ahead[key] and (room := room - words.nbytes) >= 0:
                yield key, (sentence, words)


def _key(given: Given) -> Given:
    return given if isinstance(given, str) else tuple(given)


def signature(encoder: TransformerEncoder, aligner: str) -> str:
    """Everything that changes a link, on one line."""
    model = f"{Path(encoder.name).name}@{encoder.fingerprint}"
    return f"movers:{__version__}|aligner:{aligner}|model:{model}|dtype:{encoder.dtype}"


def _align(
    encoder: TransformerEncoder, aligner: Aligner, pair: tuple[Read, Read], signature: str
) -> Alignment:
    (source, left), (target, right) = pair
    links: tuple[Link, ...] = ()
    if len(left) and len(right):
        typical = encoder.typical(middle(encoder)).astype(np.float64)
        linking = aligner.link(left, right, typical)
        places = left.places, right.places
        links = make_links(source, target, linking, threshold=aligner.threshold, places=places)
    return Alignment(source.text, target.text, source.spans, target.spans, links, signature)
