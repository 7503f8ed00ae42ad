"""From texts, or words, to alignments: many pairs at a time, in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path

import numpy as np

from movers.align.aligners import DEFAULT, Aligner, find_aligner
from movers.align.reading import Words, middle, read_words
from movers.align.results import Alignment, Link, make_links
from movers.align.sentences import Given, Sentence, read_sentences
from movers.encode.transformer import TransformerEncoder
from movers.runtime.progress import progress_bar
from movers.version import __version__

CHUNK = 512
"""Pairs read at a time."""


def align_pairs(
    encoder: TransformerEncoder,
    pairs: Sequence[tuple[Given, Given]],
    *,
    aligner: str = DEFAULT,
    progress: bool = False,
) -> Iterator[Alignment]:
    """Align pairs of sentences one after another, each given as text or as a list of words.

    Parameters
    ----------
    aligner
        Row of `movers.align.aligners.ALIGNERS`.
    progress
        Show a progress bar on standard error.
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
    with progress_bar("aligning", "pairs", len(pairs), progress=progress) as bar:
        for start in range(0, len(pairs), CHUNK):
            chunk = pairs[start : start + CHUNK]
            sentences = read_sentences(encoder, list(chain.from_iterable(chunk)))
            words = read_words(encoder, sentences)
            for k in range(0, len(sentences), 2):
                two = slice(k, k + 2)
                yield [_align(encoder, one, sentences[two], words[two], s) for one, s in chosen]
            bar.update(len(chunk))


def signature(encoder: TransformerEncoder, aligner: str) -> str:
    """Everything that changes a link, on one line."""
    model = f"{Path(encoder.name).name}@{encoder.fingerprint}"
    return f"movers:{__version__}|aligner:{aligner}|model:{model}|dtype:{encoder.dtype}"


def _align(
    encoder: TransformerEncoder,
    aligner: Aligner,
    sentences: list[Sentence],
    words: list[Words],
    signature: str,
) -> Alignment:
    (source, target), (left, right) = sentences, words
    links: tuple[Link, ...] = ()
    if len(left) and len(right):
        typical = encoder.typical(middle(encoder)).astype(np.float64)
        linking = aligner.link(left, right, typical)
        places = left.places, right.places
        links = make_links(source, target, linking, threshold=aligner.threshold, places=places)
    return Alignment(source.text, target.text, source.spans, target.spans, links, signature)
