"""All pairs of a corpus that lie near each other, exactly: paraphrases and near-duplicates.

Every unordered pair is looked at once, from the sentence that comes first, as in the upper
triangle of `Scorer.matrix`. Sentences are taken in blocks; a finished block is written to a
journal beside the output and synced, so that a run that was killed goes on behind it.

Texts longer than the model are told apart by their sentences: the distance of two is at least what
their sentences would cost if each went to the nearest one of the other text. The longest sentences
of a text, together a few times the threshold of its words, tell of most others that they are too
far; what is left is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.documents.splitting import Document
from movers.errors import InputError
from movers.io.tables import format_of, table_writer
from movers.runtime.atomic import replacing
from movers.runtime.journal import open_journal, record, records
from movers.runtime.locks import locked
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import Corpus
from movers.search.folder import digest
from movers.search.index import Index
from movers.search.keep_apart import listed, objections
from movers.search.vectors import unit_vectors

PROBES = 4.0
"""Share of the words of a text in the sentences that are looked at first, in thresholds."""
BLOCK = 256
"""Sentences compared with all others at once."""
SLACK = 1e-5
"""Rounding of single precision."""


@dataclass(frozen=True)
class Pair:
    """Two sentences of a corpus and their distance; ``first`` comes before ``second``."""

    first: int
    second: int
    distance: float
    source: str
    target: str


COLUMNS = [*Pair.__dataclass_fields__, "unread"]
"""Columns of a table of pairs; the last counts the words that no number depends on."""


def mine(
    index: Index,
    threshold: float,
    *,
    start: int = 0,
    miner: Miner | None = None,
    progress: bool = False,
) -> Iterator[list[Pair]]:
    """Yield block by block all pairs at a distance of at most the threshold.

    Near pairs of texts longer than the model are a block of their own, the last.

    Parameters
    ----------
    index
        The corpus.
    threshold
        Largest distance of interest.
    start
        First block; those before are done already.
    miner
        What mines blocks of texts that the model reads whole; None is this process.
    progress
        Show a progress bar.
    """
    check_threshold(threshold)
    whole = WholeTexts.of(index)
    blocks, done = whole.blocks[start:], start * index.layout.block
    here = (whole.mine(threshold, block, progress=progress) for block in blocks)
    mined = here if miner is None else miner(whole, threshold, blocks)
    with progress_bar("mining", "sentences", len(index), progress=progress, initial=done) as bar:
        for block, pairs in zip(blocks, mined, strict=True):
            yield pairs
            bar.update(len(block))
    if whole.long and start <= len(whole.blocks):
        vectors = partial(index.vectors, progress=progress)
        near = near_texts(index.scorer, whole.long, threshold, vectors, progress=progress)
        yield [Pair(a, b, distance, whole.long[a], whole.long[b]) for a, b, distance in near]


@dataclass(frozen=True)
class WholeTexts:
    """The texts of an index that the model reads whole, which are compared with each other.

    ``numbers`` are theirs in the index, in the order of the ``corpus``; ``long`` the other texts.
    """

    index: Index
    corpus: Corpus
    numbers: Ints
    long: dict[int, str]

    @classmethod
    def of(cls, index: Index) -> WholeTexts:
        """Tell the texts of an index apart."""
        scorer, texts, corpus = index.scorer, index.sentences, index.corpus
        long = {n: text for n, text in enumerate(texts) if scorer.takes_sentences(text)}
        numbers = np.array([n for n in range(len(texts)) if n not in long], np.int64)
        if long:
            rows = corpus.find([texts[number] for number in numbers])
            order = np.argsort(rows)
            numbers = numbers[order]
            corpus = Corpus(corpus.shards, np.delete(np.arange(corpus.starts[-1]), rows[order]))
        return cls(index, corpus, numbers, long)

    @property
    def blocks(self) -> list[range]:
        """The texts of every block, by place."""
        total, size = len(self.numbers), self.index.layout.block
        return [range(low, min(low + size, total)) for low in range(0, total, size)]

    def mine(self, threshold: float, block: range, *, progress: bool = False) -> list[Pair]:
        """Return near pairs of the texts of a block with all that follow them."""
        index, pairs = self.index, []
        near = index.layout.near(index.scorer, self.corpus, block, threshold, progress=progress)
        for *ends, distance in near:
            a, b = sorted(int(self.numbers[end]) for end in ends)
            pairs.append(Pair(a, b, distance, index.sentence(a), index.sentence(b)))
        return pairs


Miner = Callable[[WholeTexts, float, Sequence[range]], Iterator[list[Pair]]]
"""Mines blocks of texts under a threshold, and yields the pairs of each in order."""


def near_texts(
    scorer: Scorer,
    texts: Mapping[int, str],
    threshold: float,
    vectors: Callable[[list[str]], Singles],
    *,
    progress: bool = False,
) -> list[tuple[int, int, float]]:
    """Return all pairs of texts, by their numbers, that lie within a threshold, with distances.

    Parameters
    ----------
    scorer
        The measure.
    texts
        Texts longer than the model reads, by number.
    threshold
        Largest distance of a pair.
    vectors
        Gives the vectors of sentences.
    progress
        Show progress bars.
    """
    numbers, given = list(texts), list(texts.values())
    far = scorer.far
    if len(given) < 2 or far is None:
        return []
    documents = [scorer.document(text) for text in given]
    sentences = [one.text for document in documents for one in document.sentences]
    units, _ = unit_vectors(vectors(sentences))
    candidates = _candidates(documents, units, far, threshold, progress=progress).tolist()
    pairs = [(given[a], given[b]) for a, b in candidates]
    distances = scorer.distances(pairs, progress=progress) if pairs else np.zeros(0)
    return [
        (numbers[a], numbers[b], distance)
        for (a, b), distance in zip(candidates, distances.tolist(), strict=True)
        if distance <= threshold
    ]


def _candidates(
    documents: Sequence[Document], vectors: Singles, far: float, threshold: float, *, progress: bool
) -> Ints:
    """Return pairs of documents that their longest sentences do not tell apart."""
    counts = [len(document.sentences) for document in documents]
    owner = np.repeat(np.arange(len(documents)), counts)
    words = np.array([one.words for document in documents for one in document.sentences], float)
    totals = np.bincount(owner, words, minlength=len(documents)).astype(np.float64)
    probes = _probes(owner, words, totals, threshold / far)
    starts = np.cumsum([0, *counts[:-1]])
    cost = np.zeros((len(documents), len(documents)))
    with progress_bar("looking for", "sentences", len(probes), progress=progress) as bar:
        for low in range(0, len(probes), BLOCK):
            some = probes[low : low + BLOCK]
            cosines = np.maximum.reduceat(vectors[some] @ vectors.T, starts, axis=1)
            nearest = np.clip(1.0 - cosines.astype(np.float64), 0.0, far)  # of every document
            np.add.at(cost, owner[some], words[some][:, None] * nearest)
            bar.update(len(some))
    lower = (cost + cost.T) / (totals[:, None] + totals)
    near = np.triu(lower <= threshold + SLACK, 1)
    return np.argwhere(near)


def _probes(owner: Ints, words: Floats, totals: Floats, share: float) -> Ints:
    """Return the longest sentences of every document, so many thresholds of its words."""
    order = np.lexsort((-words, owner))
    before = np.cumsum(words[order]) - words[order]
    first = np.r_[True, np.diff(owner[order]) != 0]
    begun = np.maximum.accumulate(np.where(first, before, 0))
    wanted = np.minimum(1.0, PROBES * share + 0.05) * totals[owner[order]]
    return np.asarray(order[before - begun < wanted])


Blocks = Callable[..., Iterator[list[Pair]]]
"""Mines an index block by block, as `mine` does."""


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that is no distance."""
    if not 0 <= threshold < np.inf:
        raise InputError(f"threshold must be a finite distance of at least 0, got {threshold}")


def mine_file(
    index: Index,
    threshold: float,
    output: Path,
    *,
    guards: str | Sequence[str] = (),
    blocks: Blocks = mine,
    progress: bool = False,
) -> tuple[int, int]:
    """Write all near pairs to a table, by name TSV, CSV, JSON lines or Parquet.

    A run that was broken off is resumed from ``OUTPUT.journal``; the table itself appears when
    all is done. A second run at the same time is refused.

    Parameters
    ----------
    guards
        Name or names of `movers.difference.guards.GUARDS`: pairs that differ in these are left
        out. Or a judge and the probability that it must find at least, ``same>=0.9``.
    blocks
        What mines them, block by block: `mine`, or the same on many machines.

    Returns
    -------
    The number of pairs, and of blocks that an earlier run had finished.
    """
    kind = format_of(output)
    check_threshold(threshold)
    object_to = objections(index.scorer, guards)
    journal = output.with_name(output.name + ".journal")
    task: dict[str, object] = {
        "signature": str(index.scorer.signature),
        "sentences": digest(index.sentences),
        "threshold": threshold,
        "block": index.layout.block,
        "columns": COLUMNS,
        **({"guards": [*listed(guards)]} if guards else {}),
    }
    differing = (
        f"{str(journal)!r} belongs to a run with other sentences or settings; remove it to "
        "start anew, or finish that run first"
    )
    with locked(output.with_name(output.name + ".lock"), repr(str(output))):
        with open_journal(journal, task, lambda _: differing) as (stream, finished):
            for pairs in blocks(index, threshold, start=finished, progress=progress):
                if guards:
                    reasons = object_to([(one.source, one.target) for one in pairs])
                    both = zip(pairs, reasons, strict=True)
                    pairs = [one for one, reason in both if reason is None]
                unread = index.scorer.unread_words([(one.source, one.target) for one in pairs])
                rows = zip(pairs, unread.tolist(), strict=True)
                record(stream, [asdict(pair) | {"unread": count} for pair, count in rows])
        count = _tabulate(journal, output, kind)
        journal.unlink()
    return count, finished


def _tabulate(journal: Path, output: Path, kind: str) -> int:
    """Write the pairs of a complete journal as a table, and count them."""
    count = 0
    with replacing(output) as temporary, table_writer(temporary, kind, COLUMNS) as write:
        for pairs in islice(records(journal), 1, None):
            count += len(pairs)
            if pairs:
                write({name: [pair[name] for pair in pairs] for name in COLUMNS})
        if not count:
            write({name: [] for name in COLUMNS})
    return count
