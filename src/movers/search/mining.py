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
from hashlib import sha256
from pathlib import Path
from typing import IO, Any

import numpy as np
from tqdm.auto import tqdm

from movers.atomic import replacing
from movers.errors import InputError
from movers.search.cascade import Cascade
from movers.search.exact import HeadOrder
from movers.search.index import Index
from movers.search.lower import Query
from movers.search.shards import Shard
from movers.tables import format_of, table_writer

BLOCK = 64
"""Sentences compared with all that follow between two entries of the journal."""


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
    all is done.

    Returns
    -------
    The number of pairs, and of blocks that an earlier run had finished.
    """
    kind = format_of(output)
    check_threshold(threshold)
    journal = output.with_name(output.name + ".journal")
    task = {
        "signature": str(index.scorer.signature),
        "sentences": sha256("\n".join(index.sentences).encode()).hexdigest(),
        "threshold": threshold,
        "block": BLOCK,
    }
    with _journal(journal, task) as (stream, finished):
        for pairs in mine(index, threshold, start=finished, progress=progress):
            stream.write(json.dumps([asdict(pair) for pair in pairs], ensure_ascii=False) + "\n")
            stream.flush()
            os.fsync(stream.fileno())
    columns = list(Pair.__dataclass_fields__)
    count = 0
    with replacing(output) as temporary, table_writer(temporary, kind, columns) as write:
        for pairs in _blocks(journal):
            count += len(pairs)
            if pairs:
                write({name: [getattr(pair, name) for pair in pairs] for name in columns})
        if not count:
            write({name: [] for name in columns})
    journal.unlink()
    return count, finished


@contextmanager
def _journal(path: Path, task: dict[str, Any]) -> Iterator[tuple[IO[str], int]]:
    """Open the journal of a task behind its last whole line."""
    finished = 0
    if path.exists():
        lines = path.read_bytes().splitlines(keepends=True)
        whole = [line for line in lines if line.endswith(b"\n")]
        if whole and json.loads(whole[0]) != task:
            raise InputError(
                f"{str(path)!r} belongs to a run with other sentences or settings; remove it to "
                "start anew, or finish that run first"
            )
        finished = max(0, len(whole) - 1)
        os.truncate(path, sum(map(len, whole)))
    with path.open("a", encoding="utf-8") as stream:
        if not stream.tell():
            stream.write(json.dumps(task) + "\n")
        yield stream, finished


def _blocks(path: Path) -> Iterator[list[Pair]]:
    with path.open(encoding="utf-8") as stream:
        next(stream)
        for line in stream:
            yield [Pair(**pair) for pair in json.loads(line)]


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
