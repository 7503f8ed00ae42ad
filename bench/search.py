"""Exact search beside brute force, gensim and a POT loop; and how it grows with the corpus.

    make bench-search                  # what follows, on the evaluation data
    python bench/search.py compare     # pruning, time and identity with brute force
    python bench/search.py growth      # 1,000 to 100,000 composed sentences

Times are processor time of one thread, the encoding of the query included. The corpus is the
distinct sentences of PAWS-Wiki and STSB, dev and test; queries are drawn from it.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import random
from pathlib import Path

from sentences import DATA

RESULTS = Path(__file__).resolve().parents[1] / "results"
SIZES = (1_000, 5_000, 20_000, 100_000)
SUBSET = 2_000


def sources() -> dict[str, list[str]]:
    """Distinct sentences by where they come from."""
    columns = {"PAWSWiki": ("{}.tsv", 1, (1, 2)), "STSB": ("sts-{}.csv", 0, (5, 6))}
    found = {}
    for name, (pattern, header, places) in columns.items():
        texts: list[str] = []
        for split in ("dev", "test"):
            lines = (DATA / name / pattern.format(split)).read_text("utf-8").splitlines()
            rows = [line.split("\t") for line in lines[header:]]
            texts += [" ".join(row[place].split()) for row in rows for place in places]
        found[name] = list(dict.fromkeys(texts))
    return found


def composed(count: int) -> list[str]:
    """Distinct sentences that start like one real sentence and end like another."""
    rng, pools = random.Random(0), list(sources().values())
    found: dict[str, None] = {}
    while len(found) < count:
        pool = pools[len(found) % len(pools)]
        head, tail = (rng.choice(pool).split() for _ in range(2))
        cut = rng.uniform(0.3, 0.7)
        words = head[: round(cut * len(head))] + tail[round(cut * len(tail)) :]
        found[" ".join(words)] = None
    return list(found)
