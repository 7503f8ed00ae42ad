"""From texts, or words, to alignments: many pairs at a time, in bounded memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from movers.align.aligners import DEFAULT, find_aligner
from movers.align.alignment import Alignment, Link, make_links
from movers.align.reading import Given, Words, middle, read_words, words_of
from movers.encode.encoder import Encoder
from movers.runtime.progress import progress_bar
from movers.version import __version__

CHUNK = 512
"""Pairs read at a time."""
ROOM = 1 << 28
"""Bytes for sentences that come again later, so that the model need not read them again."""


def align_pairs(
    encoder: Encoder,
    pairs: Sequence[tuple[Given, Given]],
    *,
    aligner: str = DEFAULT,
    progress: bool = False,
) -> Iterator[Alignment]:
    """Align pairs of sentences one after another, each given as text or as a list of words.

    The aligner is a row of `movers.align.aligners.ALIGNERS`.
    """
    for (alignment,) in align_with(encoder, pairs, [aligner], progress=progress):
        yield alignment


def align_with(
    encoder: Encoder,
    pairs: Sequence[tuple[Given, Given]],
    aligners: Sequence[str],
    *,
    progress: bool = False,
) -> Iterator[list[Alignment]]:
    """Read pairs once and align each with several aligners; see `align_pairs`."""
    chosen = [(find_aligner(name), signature(encoder, name)) for name in aligners]
    for source, target in _read(encoder, pairs, progress=progress):
        words = words_of(source.text, source.spans), words_of(target.text, target.spans)
        spans, places = (source.spans, target.spans), (source.places, target.places)
        alignments = []
        for aligner, signed in chosen:
            links: tuple[Link, ...] = ()
            if len(source) and len(target):
                typical = encoder.typical(middle(encoder)).astype(np.float64)
                scores, least = aligner.link(source, target, typical), aligner.threshold
                links = make_links(words, spans, scores, threshold=least, places=places)
            alignments.append(Alignment(source.text, target.text, *spans, links, signed))
        yield alignments


def _read(
    encoder: Encoder, pairs: Sequence[tuple[Given, Given]], *, progress: bool
) -> Iterator[tuple[Words, Words]]:
    """Read pairs chunk by chunk, and every sentence once as far as there is room."""
    given = [one if isinstance(one, str) else tuple(one) for one in chain.from_iterable(pairs)]
    ahead, known = Counter(given), dict[str | tuple[str, ...], Words]()
    with progress_bar("aligning", "pairs", len(pairs), progress=progress) as bar:
        for start in range(0, len(given), 2 * CHUNK):
            chunk = given[start : start + 2 * CHUNK]
            fresh = [one for one in dict.fromkeys(chunk) if one not in known]
            known |= zip(fresh, read_words(encoder, fresh), strict=True)
            sides = zip(chunk[::2], chunk[1::2], strict=True)
            yield from ((known[source], known[target]) for source, target in sides)
            ahead.subtract(chunk)
            room = ROOM
            coming = ((one, read) for one, read in known.items() if ahead[one])
            known = {one: read for one, read in coming if (room := room - read.nbytes) >= 0}
            bar.update(len(chunk) // 2)


def signature(encoder: Encoder, aligner: str) -> str:
    """Return everything that changes a link, on one line."""
    model = f"{Path(encoder.name).name}@{encoder.fingerprint}"
    return f"movers:{__version__}|aligner:{aligner}|model:{model}|dtype:{encoder.dtype}"
