"""All pairs of a corpus that lie near each other, exactly: paraphrases and near-duplicates.

Every unordered pair is looked at once, from the sentence that comes first, as in the upper
triangle of `Scorer.matrix`. Sentences are taken in blocks; a finished block is written to a
journal beside the output and synced, so that a run that was killed goes on behind it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

import numpy as np
from tqdm.auto import tqdm

from movers.errors import InputError
from movers.io.tables import format_of, table_writer
from movers.runtime.atomic import naming, replacing
from movers.runtime.locks import locked
from movers.search.cascade import Cascade
from movers.search.exact import HeadOrder
from movers.search.folder import digest
from movers.search.index import Index
from movers.search.lower import Query
from movers.search.shards import Shard

BLOCK = 64
"""Sentences compared with all that follow between two entries of the journal."""
CHECKSUM = 9
"""Bytes before the text of a line of the journal."""


@dataclass(frozen=True)
class Pair:
    """Two sentences of a corpus and their distance; ``first`` comes before ``second``."""

    first: int
    second: int
    distance: float
    source: str
    target: str


def mine(
    index: Index, threshold: float, *, start: int = 0, progress: bool = False
) -> Iterator[list[Pair]]:
    """Yield block by block all pairs at a distance of at most the threshold.

    Parameters
    ----------
    index
        The corpus.
    threshold
        Largest distance of interest.
    start
        First block; those before are done already.
    progress
        Show a progress bar.
    """
    check_threshold(threshold)
    total, order = len(index), HeadOrder(max(1, len(index.scorer.heads)))
    with tqdm(total=total, initial=start * BLOCK, desc="mining", disable=not progress) as bar:
        for low in range(start * BLOCK, total, BLOCK):
            rows = range(low, min(low + BLOCK, total))
            yield [pair for row in rows for pair in _near(index, row, threshold, order)]
            bar.update(len(rows))


def check_threshold(threshold: float) -> None:
    """Refuse a threshold that is no distance."""
    if not 0 <= threshold < np.inf:
        raise InputError(f"threshold must be a finite distance of at least 0, got {threshold}")


def _near(index: Index, row: int, threshold: float, order: HeadOrder) -> Iterator[Pair]:
    """Pairs of a sentence with those behind it."""
    own, *behind = _from(index.shards, row)
    query = Query.of(own.take(np.array([0])), index.scorer)
    shards = [*([own.since(1)] if len(own) > 1 else []), *behind]
    cascade = Cascade(index.scorer, query, shards, wanted=len(index), within=threshold, order=order)
    cascade.run()
    for place, distance in zip(*cascade.best.ranked(), strict=True):
        if distance <= threshold:
            second = row + 1 + int(place)
            yield Pair(row, second, float(distance), own.sentence(0), index.sentence(second))


def _from(shards: list[Shard], row: int) -> Iterator[Shard]:
    """The sentences from a row on."""
    for shard in shards:
        if row < len(shard):
            yield shard.since(max(row, 0))
        row -= len(shard)


def mine_file(
    index: Index, threshold: float, output: Path, *, progress: bool = False
) -> tuple[int, int]:
    """Write all near pairs to a table, by name TSV, CSV, JSON lines or Parquet.

    A run that was broken off is resumed from ``OUTPUT.journal``; the table itself appears when
    all is done. A second run at the same time is refused.

    Returns
    -------
    The number of pairs, and of blocks that an earlier run had finished.
    """
    kind = format_of(output)
    check_threshold(threshold)
    journal = output.with_name(output.name + ".journal")
    task = {
        "signature": str(index.scorer.signature),
        "sentences": digest(index.sentences),
        "threshold": threshold,
        "block": BLOCK,
    }
    with locked(output.with_name(output.name + ".lock"), repr(str(output))):
        with _journal(journal, task) as (stream, finished):
            for pairs in mine(index, threshold, start=finished, progress=progress):
                _record(stream, [asdict(pair) for pair in pairs])
        count = _tabulate(journal, output, kind)
        journal.unlink()
    return count, finished


def _tabulate(journal: Path, output: Path, kind: str) -> int:
    """Write the pairs of a complete journal as a table, and count them."""
    columns = list(Pair.__dataclass_fields__)
    count = 0
    with replacing(output) as temporary, table_writer(temporary, kind, columns) as write:
        for pairs in islice(_records(journal), 1, None):
            count += len(pairs)
            if pairs:
                write({name: [pair[name] for pair in pairs] for name in columns})
        if not count:
            write({name: [] for name in columns})
    return count


@contextmanager
def _journal(path: Path, task: dict[str, Any]) -> Iterator[tuple[BinaryIO, int]]:
    """Open the journal of a task behind its last whole line."""
    lines = [*_lines(path)] if path.exists() else []
    if lines and json.loads(lines[0][CHECKSUM:]) != task:
        raise InputError(
            f"{str(path)!r} belongs to a run with other sentences or settings; remove it to "
            "start anew, or finish that run first"
        )
    with naming(path), path.open("ab") as stream:
        stream.truncate(sum(map(len, lines)))
        if not lines:
            _record(stream, task)
        yield stream, max(0, len(lines) - 1)


def _record(stream: BinaryIO, value: Any) -> None:
    """Write a line that tells whether it is whole, and wait until it is on the disk."""
    text = json.dumps(value).encode()
    stream.write(b"%08x %s\n" % (crc32(text), text))
    stream.flush()
    os.fsync(stream.fileno())


def _lines(path: Path) -> Iterator[bytes]:
    """The lines of a journal up to the first that is not as it was written."""
    with path.open("rb") as stream:
        for line in stream:
            if line[:CHECKSUM] != b"%08x " % crc32(line[CHECKSUM:-1]) or line[-1:] != b"\n":
                return
            yield line


def _records(path: Path) -> Iterator[Any]:
    return (json.loads(line[CHECKSUM:]) for line in _lines(path))


def duplicates(pairs: Iterable[Pair], count: int) -> list[int]:
    """For every sentence the earlier one it repeats, or itself if it is to be kept.

    In corpus order, a sentence is kept unless it lies near one that is kept already; dropped
    sentences drop nothing themselves, so no chain of small steps joins what is far apart.

    Examples
    --------
    >>> chain = [Pair(0, 1, 0.1, "", ""), Pair(1, 2, 0.1, "", "")]
    >>> duplicates(chain, 3)
    [0, 0, 2]
    """
    nearest: dict[int, list[tuple[float, int]]] = {}
    for pair in pairs:
        nearest.setdefault(pair.second, []).append((pair.distance, pair.first))
    kept = list(range(count))
    for second in sorted(nearest):
        near = [(distance, first) for distance, first in nearest[second] if kept[first] == first]
        if near:
            kept[second] = min(near)[1]
    return kept
