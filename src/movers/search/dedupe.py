"""A corpus without the sentences that repeat an earlier one."""

from __future__ import annotations

import json
from pathlib import Path

from movers.atomic import replacing
from movers.search.index import Index
from movers.search.mining import Pair, duplicates, mine_file
from movers.tables import format_of, table_writer

COLUMNS = ["sentence", "repeats", "distance"]


def dedupe_file(
    index: Index,
    threshold: float,
    output: Path,
    dropped: Path | None = None,
    *,
    progress: bool = False,
) -> int:
    """Write the sentences to keep, one on each line, and return their number.

    Parameters
    ----------
    index
        The corpus.
    threshold
        Largest distance of a duplicate.
    dropped
        Table for the other sentences and what they repeat; None writes none.
    """
    kind = None if dropped is None else format_of(dropped)
    near = output.with_name(output.name + ".pairs.jsonl")
    mine_file(index, threshold, near, progress=progress)
    lines = near.read_text("utf-8").splitlines()
    pairs = [Pair(**json.loads(line)) for line in lines]
    kept, texts = duplicates(pairs, len(index)), index.sentences
    if dropped is not None and kind is not None:
        distances = {(pair.first, pair.second): pair.distance for pair in pairs}
        gone = [(row, first) for row, first in enumerate(kept) if row != first]
        columns = (
            [texts[row] for row, _ in gone],
            [texts[first] for _, first in gone],
            [distances[first, row] for row, first in gone],
        )
        with replacing(dropped) as temporary, table_writer(temporary, kind, COLUMNS) as write:
            write(dict(zip(COLUMNS, columns, strict=True)))
    left = [texts[row] for row, first in enumerate(kept) if row == first]
    with replacing(output) as temporary:
        temporary.write_text("".join(f"{text}\n" for text in left), "utf-8")
    near.unlink()
    return len(left)
