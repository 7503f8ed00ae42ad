"""Long texts: what comparing costs beside encoding, many texts deduplicated, a book revised.

    python bench/long_texts.py [--texts 1000] [--book 10000]

Sentences are those of made-up agreements (movers_research.long_texts); times are those of all
processors together.
"""

import argparse
import random
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import movers
from movers.encode.encodings import Request
from movers.search.dedupe import dedupe_file
from movers_research.long_texts import PARTIES, THINGS, clauses

RUNS = 5
"""How often two texts are compared."""


def sentences(rng: random.Random, count: int) -> dict[str, str]:
    """Distinct sentences."""
    rows, things = clauses(), [" ".join(thing.split()) for thing in THINGS.split(";")]
    found: dict[str, str] = {}
    while len(found) < count:
        row, (a, b) = rng.choice(rows), rng.choice(PARTIES)
        told = {"a": a, "b": b, "x": rng.choice(things), "n": rng.randrange(2, 10_000)}
        found[row["text"].format(**told)] = row["reworded"].format(**told)
    return found


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What work returns, and the seconds of processors it took: others may use the machine."""
    started = time.process_time()
    out = work()
    return out, time.process_time() - started


def compare(scorer: movers.Scorer, old: list[str], new: list[str]) -> float:
    return scorer.compare_texts(tuple(old), tuple(new)).distance


def compare_two(scorer: movers.Scorer, rng: random.Random) -> None:
    """Two texts of 200 sentences: a revision, and one of other sentences."""
    made = sentences(rng, 400)
    old, others = list(made)[:200], list(made)[200:]
    revised = [made[one] if place % 5 == 0 else one for place, one in enumerate(old)]
    compare(scorer, old, others)  # reads word lists, once in a process
    for name, new in (("a fifth reworded", revised), ("all others", others)):
        every, seconds = list(dict.fromkeys([*old, *new])), list[tuple[float, float]]()
        for _ in range(RUNS):
            scorer.forget()
            _, encoding = timed(partial(scorer.weigh, every))
            scorer.forget()
            _, whole = timed(partial(compare, scorer, old, new))
            seconds.append((encoding, whole))
        ratios = sorted(whole / encoding for encoding, whole in seconds)
        encoding, whole = map(median, zip(*seconds, strict=True))
        print(
            f"2 x 200 sentences, {name}: encoding {encoding:.2f} s, comparing {whole:.2f} s, "
            f"ratio {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}, {RUNS} runs)"
        )


def dedupe(scorer: movers.Scorer, rng: random.Random, count: int) -> None:
    """Texts of 50 sentences, a tenth of them near copies of others."""
    pool = sentences(rng, count * 45)
    left = iter(pool.items())
    texts: list[list[str]] = []
    copies = count // 10
    for number in range(count):
        if number < count - copies:
            texts.append([next(left)[0] for _ in range(50)])
        else:
            texts.append(
                [pool[x] if k == 7 else x for k, x in enumerate(texts[number % (count - copies)])]
            )
    given = [" ".join(text) for text in texts]
    every = list(dict.fromkeys(one for text in texts for one in text))
    _, encoding = timed(lambda: scorer.encoder.encode(every, Request(pooled=True)))
    scorer.forget()

    def run() -> Any:
        index = movers.Index.build(scorer, given)
        with tempfile.TemporaryDirectory() as folder:
            return dedupe_file(index, 0.05, Path(folder) / "kept.txt", lines=given, guards=())

    found, whole = timed(run)
    print(
        f"{count} texts of 50 sentences: encoding {encoding:.1f} s, deduplicating {whole:.1f} s, "
        f"ratio {whole / encoding:.2f}; {found}"
    )


def book(scorer: movers.Scorer, rng: random.Random, count: int) -> None:
    """A book against its revision."""
    made = sentences(rng, count + count // 100)
    old = list(made)[:count]
    new: list[str] = []
    fates = {"reworded": 0, "number": 0, "removed": 0, "moved": 0, "added": 0}
    later = []
    for place, one in enumerate(old):
        fate = rng.random()
        if fate < 0.02:
            new.append(made[one])
            fates["reworded"] += 1
        elif fate < 0.03 and any(letter.isdigit() for letter in one):
            new.append("".join("7" if x == "3" else "3" if x.isdigit() else x for x in one))
            fates["number"] += 1
        elif fate < 0.04:
            fates["removed"] += 1
        elif fate < 0.05:
            later.append(one)
            fates["moved"] += 1
        else:
            new.append(one)
        if place % 100 == 99:
            new.append(list(made)[count + place // 100])
            fates["added"] += 1
    new += later
    found, seconds = timed(lambda: scorer.compare_texts(tuple(old), tuple(new), progress=True))
    counts = found.counts
    told, telling = timed(lambda: dict(counts))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"a book of {count} sentences: {seconds + telling:.1f} s, peak {peak:.2f} GB\n"
        f"  made {fates}\n  found {told}"
    )


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--book", type=int, default=10_000)
    given = parser.parse_args()
    scorer, rng = movers.load(), random.Random(0)
    scorer.compare_texts("A dog barks. It rains.", "A dgo barked. It snows.")  # loads all there is
    print(scorer.signature)
    compare_two(scorer, rng)
    if given.book:
        book(scorer, rng, given.book)
    if given.texts:
        dedupe(scorer, rng, given.texts)


if __name__ == "__main__":
    main()
