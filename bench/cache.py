"""A semantic cache beside one that goes by cosine alone: wrong hits at equal right hits.

    python bench/cache.py [--report results/cache.md]

Labelled pairs: the first sentence is stored, the second asked. A hit is right if the two say the
same by the label. A cosine cache answers where the sentence vectors are near enough; ours where the
similarity is high enough and no guard objects (`movers.cache`). Needs evaluation data: MOVERS_DATA,
or the folder beside the checkout.
"""

import argparse
import csv
import os
import platform
from pathlib import Path

import numpy as np
from sentences import DATA

import movers
from movers.arrays import Floats
from movers.cache import GUARDS
from movers.search.keep_apart import objection_of

SETS = {
    "PAWS-Wiki, development split": "PAWSWiki/dev.tsv",
    "PAWS-QQP, questions of the training split": "PAWSQQP/train_sample.tsv",
}
RIGHT = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Shares of the pairs that say the same to be answered."""
READING = """Right hits are the share of the pairs that say the same which are answered, wrong hits
the share of the others. A dash: guards object to more of the right pairs than that leaves.
"""


def read(path: Path) -> tuple[list[tuple[str, str]], np.ndarray]:
    """Pairs and labels."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [*csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    pairs = [(row["sentence1"], row["sentence2"]) for row in rows]
    return pairs, np.array([row["label"] == "1" for row in rows])


def cosines(scorer: movers.Scorer, pairs: list[tuple[str, str]]) -> Floats:
    """Cosine of the sentence vectors of every pair."""
    sides = []
    for side in zip(*pairs, strict=True):
        vectors = scorer.weigh_each(side).pooled.astype(np.float64)
        sides.append(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
    return np.asarray((sides[0] * sides[1]).sum(axis=1))


def wrong_hits(scores: Floats, same: np.ndarray, right: float) -> tuple[float, float]:
    """Share of wrong hits at a share of right ones, and the least score; NaN out of reach."""
    ordered = np.sort(scores[same])[::-1]
    least = float(ordered[int(np.ceil(right * len(ordered))) - 1])
    reached = np.isfinite(least)
    return (float((scores[~same] >= least).mean()) if reached else np.nan), least


def shown(value: float, form: str = ".1%") -> str:
    """A number, or a dash for none."""
    return format(value, form) if np.isfinite(value) else "–"


def table(name: str, path: Path) -> str:
    """The curve of one set, as a table."""
    pairs, same = read(path)
    scorer = movers.load()
    cosine, alike = cosines(scorer, pairs), scorer.similarities(pairs)
    objection = objection_of(scorer, GUARDS)
    kept_apart = np.array([objection(*pair) is not None for pair in pairs])
    guarded = np.where(kept_apart, -np.inf, alike)
    rows = []
    for right in RIGHT:
        plain, _ = wrong_hits(cosine, same, right)
        bare, _ = wrong_hits(alike, same, right)
        ours, least = wrong_hits(guarded, same, right)
        share = ours / plain if plain else np.nan
        told = (shown(plain), shown(bare), shown(ours), shown(share, ".2f"))
        rows.append(f"| {right:.0%} | {' | '.join(told)} | {shown(least, '.2f')} |")
    objected = (f"{kept_apart[same].mean():.1%}", f"{kept_apart[~same].mean():.1%}")
    return f"""## {name}

{len(pairs):,} pairs, {same.mean():.0%} of which say the same. Guards ({", ".join(GUARDS)})
object to {objected[0]} of these and to {objected[1]} of the others.

| right hits | wrong hits: cosine | similarity alone | with guards | guards / cosine | `least` |
|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


def main() -> None:
    """Print the tables, and write them where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    tables = [table(name, DATA / path) for name, path in SETS.items()]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    text = "\n".join(
        [f"`python bench/cache.py` — {machine}, the embedded model.\n", READING, *tables]
    )
    print(text)
    if options.report is not None:
        options.report.write_text(f"# Wrong hits of a semantic cache\n\n{text}", "utf-8")


if __name__ == "__main__":
    main()
