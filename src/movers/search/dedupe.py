"""A corpus without the sentences that repeat an earlier one, and what became of every line."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain, repeat
from pathlib import Path

from movers.difference.finder import differences
from movers.difference.guards import DEFAULT
from movers.errors import InputError
from movers.io.tables import format_of, table_writer
from movers.io.texts import Texts, write_some
from movers.runtime.atomic import replacing
from movers.runtime.locks import locked
from movers.scorer import Scorer
from movers.search.corpus import read_sentences
from movers.search.index import Index
from movers.search.keep_apart import Objections, objections
from movers.search.mining import Blocks, Pair, check_threshold, mine, mine_file

AROUND = 5
"""Pairs shown on either side of a threshold."""
BEYOND = 1.2
"""How many times the threshold the farthest of them may be apart."""


@dataclass(frozen=True)
class Dropped:
    """A line that was not kept: ``repeated`` word by word, ``near`` one that is kept, ``blank``.

    ``of_line`` and ``repeats`` are the kept line that stands for it; lines count from 1.
    ``unread`` counts its words that the model did not read: the other has the same. ``why`` says
    what the two differ in.
    """

    line: int
    reason: str
    sentence: str
    of_line: int | None = None
    repeats: str | None = None
    distance: float | None = None
    unread: int = 0
    why: str | None = None


@dataclass(frozen=True)
class Deduplicated:
    """A count of lines, by what became of them.

    ``guarded`` of those kept lie near others, and a guard keeps them. A preview has the ``pairs``
    within the threshold, too, and ``around`` are those next to it, on either side, nearest first.
    """

    lines: int
    kept: int
    repeated: int = 0
    near: int = 0
    blank: int = 0
    guarded: int = 0
    pairs: int | None = None
    around: tuple[Pair, ...] = ()

    def __str__(self) -> str:
        spared = f", {self.guarded:,} of them by a guard" if self.guarded else ""
        return (
            f"kept {self.kept:,} of {self.lines:,} lines{spared}; dropped {self.near:,} near "
            f"others, {self.repeated:,} repeated, {self.blank:,} blank"
        )


def dedupe_file(
    index: Index,
    threshold: float,
    output: Path,
    dropped: Path | None = None,
    *,
    lines: Iterable[str] | Path | None = None,
    groups: Iterable[object] | None = None,
    guards: str | Sequence[str] = DEFAULT,
    blocks: Blocks = mine,
    progress: bool = False,
) -> Deduplicated:
    """Write the sentences to keep, and account for the others.

    A table is written where the name of the output says so, with all columns of the one that the
    sentences come from, and any other file with one sentence on each line.

    Parameters
    ----------
    index
        The corpus.
    threshold
        Largest distance of a duplicate.
    dropped
        Table for all other lines, with the reason and what they repeat; None writes none.
    lines
        What the index was built from, repeats and blank lines included, to be read twice; None
        is the index itself.
    groups
        What each line belongs to, in their order: lines of two groups never stand for each other,
        not even if they are the same. None puts all in one.
    guards
        Name or names of `movers.difference.guards.GUARDS`, or "unread": sentences that differ in
        these are kept, however near they are. So are those that a judge is not sure of,
        ``same>=0.9``.
    blocks
        What mines the near pairs, as in `mine_file`.
    """
    check_threshold(threshold)
    kind = None if dropped is None else format_of(dropped)
    near = output.with_name(output.name + ".pairs.jsonl")
    every = _every(index, lines)
    with locked(output.with_name(output.name + ".lock"), repr(str(output))):
        mine_file(index, threshold, near, blocks=blocks, progress=progress)
        with near.open(encoding="utf-8") as stream:
            rows = map(json.loads, stream)
            pairs = [Pair(*(row[name] for name in Pair.__dataclass_fields__)) for row in rows]
        object_to = objections(index.scorer, guards)
        gone, kept, counts = _decide(every, index.sentences, pairs, object_to, groups)
        if dropped is not None and kind is not None:
            records = [asdict(_explained(row, index.scorer)) for row in gone]
            columns = list(Dropped.__dataclass_fields__)
            with replacing(dropped) as temporary, table_writer(temporary, kind, columns) as write:
                write({name: [row[name] for row in records] for name in columns})
        write_some(every, kept, output)
        near.unlink()
    return counts


def preview(
    index: Index,
    threshold: float,
    *,
    lines: Iterable[str] | Path | None = None,
    groups: Iterable[object] | None = None,
    guards: str | Sequence[str] = DEFAULT,
    around: int = AROUND,
    progress: bool = False,
) -> Deduplicated:
    """Return what a deduplication would drop, and the pairs on either side of the threshold.

    Parameters
    ----------
    index, threshold, lines, groups, guards
        As `dedupe_file` takes them.
    around
        How many pairs to show on either side; those beyond lie within a fifth of the threshold.
    """
    blocks = mine(index, BEYOND * threshold, progress=progress)
    pairs = list(chain.from_iterable(blocks))
    object_to, every = objections(index.scorer, guards), _every(index, lines)
    pairs.sort(key=lambda pair: pair.distance)
    inside = bisect_right(pairs, threshold, key=lambda pair: pair.distance)
    _, _, counts = _decide(every, index.sentences, pairs[:inside], object_to, groups)
    shown = tuple(pairs[max(0, inside - around) : inside + around])
    return replace(counts, pairs=inside, around=shown)


def _every(index: Index, lines: Iterable[str] | Path | None) -> Iterable[str]:
    if lines is None:
        return index.sentences
    return Texts(lines) if isinstance(lines, Path) else lines


def _decide(
    lines: Iterable[str],
    texts: list[str],
    pairs: list[Pair],
    object_to: Objections,
    groups: Iterable[object] | None,
) -> tuple[list[Dropped], set[int], Deduplicated]:
    """Return what is dropped, the numbers of the lines that are kept, and counts.

    In order, a line is kept unless it lies near one of its group that is kept already; dropped
    lines drop nothing themselves, so no chain of small steps joins what is far apart.
    """
    near, spared = _neighbours(pairs, object_to)
    rows = {text: row for row, text in enumerate(texts)}
    kept: dict[tuple[int, object], int] = {}
    gone: list[Dropped] = []
    guarded = 0
    number, belongs = 0, repeat(None) if groups is None else iter(groups)
    every = zip(read_sentences(lines), belongs, strict=False)
    for number, (text, group) in enumerate(every, 1):
        if not text.strip():
            gone.append(Dropped(number, "blank", text))
            continue
        if (row := rows.get(text, -1)) < 0:
            raise InputError(f"line {number} ({text!r}) is not in the index; was the file changed?")
        if (row, group) in kept:
            gone.append(Dropped(number, "repeated", text, kept[row, group], text, 0.0))
            continue
        standing = [one for one in near.get(row, ()) if (one[1], group) in kept]
        if standing:
            distance, first = min(standing)
            gone.append(Dropped(number, "near", text, kept[first, group], texts[first], distance))
            continue
        kept[row, group] = number
        guarded += any((other, group) in kept for other in spared.get(row, ()))
    stay = {*range(1, number + 1)} - {one.line for one in gone}
    reasons = Counter(one.reason for one in gone)
    counts = reasons["repeated"], reasons["near"], reasons["blank"]
    return gone, stay, Deduplicated(number, len(stay), *counts, guarded=guarded)


def _neighbours(
    pairs: list[Pair], object_to: Objections
) -> tuple[dict[int, list[tuple[float, int]]], dict[int, list[int]]]:
    """Return by sentence those that may stand for it, and those that a guard keeps it from."""
    near: dict[int, list[tuple[float, int]]] = {}
    spared: dict[int, list[int]] = {}
    reasons = object_to([(pair.source, pair.target) for pair in pairs])
    for pair, reason in zip(pairs, reasons, strict=True):
        for one, other in ((pair.first, pair.second), (pair.second, pair.first)):
            if reason is None:
                near.setdefault(one, []).append((pair.distance, other))
            else:
                spared.setdefault(one, []).append(other)
    return near, spared


def _explained(row: Dropped, scorer: Scorer) -> Dropped:
    """Add what a line differs in from the one that stands for it, and what was not read."""
    row = replace(row, unread=len(scorer.unread(row.sentence).split()))
    if row.reason != "near" or row.repeats is None:
        return row
    changes = differences(row.repeats, row.sentence)
    return replace(row, why=" ".join(one.text for one in changes) or "the same words")
