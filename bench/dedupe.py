"""What deduplication drops of 5,000 labelled sentences, threshold by threshold.

    python bench/dedupe.py DATA

DATA is a folder with ``PAWSWiki/dev.tsv`` and ``PAWSX/en_test_ids.txt``. Takes the first 5,000
distinct sentences of the development set, less the pairs that are a test set of PAWS-X. A labelled
pair counts when one of its sentences was dropped because of the other.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

import movers
from movers.io.tables import open_table
from movers.search.mining import Pair, mine

SENTENCES = 5_000
THRESHOLDS = (0.02, 0.03, 0.04, 0.05, 0.06, 0.09, 0.12)


def duplicates(pairs: Iterable[Pair], count: int) -> list[int]:
    """For every sentence the earlier one it repeats, or itself if it is to be kept.

    In corpus order, a sentence is kept unless it lies near one that is kept already; dropped
    sentences drop nothing themselves, so no chain of small steps joins what is far apart.
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


def labelled(data: Path) -> Iterator[tuple[str, str, bool]]:
    """Pairs of the development set in its order, and whether they are paraphrases."""
    tests = set((data / "PAWSX" / "en_test_ids.txt").read_text("utf-8").split())
    with open_table(data / "PAWSWiki" / "dev.tsv") as table:
        for chunk in table.chunks:
            for number, first, second, label in zip(*chunk.values(), strict=True):
                if number not in tests:
                    yield " ".join(first.split()), " ".join(second.split()), label == "1"


def outcome(pairs: list[Pair], rows: dict[frozenset[int], bool], threshold: float) -> str:
    """A row of the table: what is dropped within a threshold, and how much of that is right."""
    kept = duplicates((pair for pair in pairs if pair.distance <= threshold), SENTENCES)
    gone = [(row, first) for row, first in enumerate(kept) if row != first]
    told = [rows[pair] for one in gone if (pair := frozenset(one)) in rows]
    wrong = told.count(False)
    share = f"{wrong / len(told):.1%}" if told else "–"
    return f"| {threshold} | {len(gone):,} | {len(told):,} | {wrong:,} | {share} |"


def main(data: Path) -> None:
    given = list(labelled(data))
    every = dict.fromkeys(chain.from_iterable((first, second) for first, second, _ in given))
    places = {text: place for place, text in enumerate(islice(every, SENTENCES))}
    rows = {
        frozenset((places[first], places[second])): label
        for first, second, label in given
        if first in places and second in places and first != second
    }
    right = sum(rows.values())
    print(f"{len(places):,} sentences, {len(rows):,} labelled pairs, {right:,} paraphrases\n")
    index = movers.Index.build(movers.load(), list(places), progress=True)
    pairs = list(chain.from_iterable(mine(index, max(THRESHOLDS), progress=True)))
    print("| threshold | dropped | labelled among them | not paraphrases | share |")
    print("|---|---|---|---|---|")
    for threshold in THRESHOLDS:
        print(outcome(pairs, rows, threshold))
    print(f"\n{index.scorer.signature}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
