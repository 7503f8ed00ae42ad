"""A corpus without the sentences that repeat an earlier one, and what became of every line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from movers.errors import InputError
from movers.io.tables import format_of, table_writer
from movers.runtime.atomic import replacing
from movers.runtime.locks import locked
from movers.scorer import Scorer
from movers.search.index import Index
from movers.search.mining import Blocks, Pair, duplicates, mine, mine_file
from movers.search.sentences import read_sentences


@dataclass(frozen=True)
class Dropped:
    """A line that was not kept: ``repeated`` word by word, ``near`` one that is kept, ``blank``.

    ``of_line`` and ``repeats`` are the kept line that stands for it; lines count from 1.
    ``alignment`` says which word of the kept line went where, on request.
    """

    line: int
    reason: str
    sentence: str
    of_line: int | None = None
    repeats: str | None = None
    distance: float | None = None
    alignment: str | None = None


@dataclass(frozen=True)
class Deduplicated:
    """How many lines there were, and what became of them."""

    lines: int
    kept: int
    repeated: int = 0
    near: int = 0
    blank: int = 0

    def __str__(self) -> str:
        return (
            f"kept {self.kept:,} of {self.lines:,} lines; dropped {self.near:,} near others, "
            f"{self.repeated:,} repeated, {self.blank:,} blank"
        )


def dedupe_file(
    index: Index,
    threshold: float,
    output: Path,
    dropped: Path | None = None,
    *,
    lines: Iterable[str] | Path | None = None,
    align: bool = False,
    blocks: Blocks = mine,
    progress: bool = False,
) -> Deduplicated:
    """Write the sentences to keep, one on each line, and account for the others.

    Parameters
    ----------
    index
        The corpus.
    threshold
        Largest distance of a duplicate.
    dropped
        Table for all other lines, with the reason and what they repeat; None writes none.
    lines
        What the index was built from, repeats and blank lines included; None is the index itself.
    align
        Whether the table says which word went where in sentences that are near.
    blocks
        What mines the near pairs, as in `mine_file`.
    """
    kind = None if dropped is None else format_of(dropped)
    near = output.with_name(output.name + ".pairs.jsonl")
    with locked(output.with_name(output.name + ".lock"), repr(str(output))):
        mine_file(index, threshold, near, blocks=blocks, progress=progress)
        with near.open(encoding="utf-8") as stream:
            pairs = [Pair(**json.loads(line)) for line in stream]
        texts = index.sentences
        every = texts if lines is None else [*read_sentences(lines)]
        gone = list(_gone(every, texts, pairs))
        if dropped is not None and kind is not None:
            told = [_aligned(row, index.scorer) for row in gone] if align else gone
            columns = list(Dropped.__dataclass_fields__)[: None if align else -1]
            rows = [asdict(row) for row in told]
            with replacing(dropped) as temporary, table_writer(temporary, kind, columns) as write:
                write({name: [row[name] for row in rows] for name in columns})
        numbers = {row.line for row in gone}
        left = [text for number, text in enumerate(every, 1) if number not in numbers]
        with replacing(output) as temporary:
            temporary.write_text("".join(f"{text}\n" for text in left), "utf-8", newline="\n")
        near.unlink()
    return Deduplicated(len(every), len(left), **Counter(row.reason for row in gone))


def _aligned(row: Dropped, scorer: Scorer) -> Dropped:
    """The same, with the moves of its words if it is near another sentence."""
    if row.reason != "near" or row.repeats is None:
        return row
    flows = scorer.compare(row.repeats, row.sentence).alignment
    moves = " ".join(f"{flow.source}→{flow.target}" for flow in flows)
    return replace(row, alignment=moves)


def _gone(lines: Iterable[str], texts: list[str], pairs: list[Pair]) -> Iterator[Dropped]:
    """All lines but those to keep, in order."""
    kept = duplicates(pairs, len(texts))
    distances = {(pair.first, pair.second): pair.distance for pair in pairs}
    rows = {text: row for row, text in enumerate(texts)}
    seen: dict[int, int] = {}
    for number, text in enumerate(lines, 1):
        if not text.strip():
            yield Dropped(number, "blank", text)
            continue
        if (row := rows.get(text, -1)) < 0:
            raise InputError(f"line {number} ({text!r}) is not in the index; was the file changed?")
        first = kept[row]
        if first != row:
            distance = distances[first, row]
            yield Dropped(number, "near", text, seen[first], texts[first], distance)
        elif row in seen:
            yield Dropped(number, "repeated", text, seen[row], text, 0.0)
        seen.setdefault(row, number)
