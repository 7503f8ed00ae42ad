"""Sentence pairs for the benches: PAWS-Wiki where it is at hand, made-up sentences elsewhere."""

import os
import random
from itertools import pairwise
from pathlib import Path

Pair = tuple[str, str]

DATA = Path(os.environ.get("MOVERS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
PEOPLE = ["doctor", "singer", "farmer", "judge", "painter", "sailor", "teacher", "minister"]
VERBS = ["praised", "followed", "invited", "ignored", "painted", "defeated", "called", "taught"]
PLACES = ["Lisbon", "the old harbour", "Nairobi", "a small village", "the museum", "Oslo"]
TIMES = ["in spring", "after the war", "on Monday", "before the election", "during the storm"]


def swapped_pairs(count: int, *, split: bool = False) -> tuple[str, list[Pair]]:
    """Pairs with the same words in another order, and where they come from.

    ``split`` draws from the paper's development split, the 1500 shortest pairs.
    """
    if (DATA / "PAWSWiki" / "dev.tsv").is_file():
        return "PAWS-Wiki dev", _paws(split)[:count]
    rng = random.Random(0)
    return "made-up", [_made_up(rng) for _ in range(count)]


def unrelated_pairs(count: int) -> tuple[str, list[Pair]]:
    """Pairs of sentences that have nothing to do with each other."""
    origin, pairs = swapped_pairs(count + 1)
    sentences = [source for source, _ in pairs]
    random.Random(0).shuffle(sentences)
    return origin, list(pairwise(sentences))[:count]


def _paws(split: bool) -> list[Pair]:
    lines = (DATA / "PAWSWiki" / "dev.tsv").read_text("utf-8").splitlines()[1:]
    rows = [line.split("\t") for line in lines]
    if split:
        rows.sort(key=lambda row: (len(row[1].split()), len(row[2].split()), row[3]))
        rows = rows[:1500]
    random.Random(0).shuffle(rows)
    return [(" ".join(row[1].split()), " ".join(row[2].split())) for row in rows]


def _made_up(rng: random.Random) -> Pair:
    a, b, c = rng.sample(PEOPLE, 3)
    first, second = rng.sample(VERBS, 2)
    place, time = rng.choice(PLACES), rng.choice(TIMES)
    pattern = (
        f"{time.capitalize()} the {{}} {first} the {{}} in {place} and the {{}} {second} them."
    )
    return pattern.format(a, b, c), pattern.format(b, a, c)
