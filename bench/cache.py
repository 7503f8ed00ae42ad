"""A semantic cache beside one that goes by cosine alone: wrong hits at equal right hits.

    python bench/cache.py [--report results/cache.md]

Labelled pairs: the first sentence is stored, the second asked. A hit is right if the two say the
same by the label. A cosine cache answers where the sentence vectors are near enough; ours where the
similarity is high enough and no guard objects (`movers.cache`), or where a judge finds them the
same. "same" has learned from PAWS-Wiki dev; for that set, every pair is judged by a judge that was
learned from the other folds alone, pairs that share a sentence being in one fold. Needs evaluation
data: MOVERS_DATA, or the folder beside the checkout.
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
from movers.judge.learning import split
from movers.judge.logistic_fit import Labelled, blank, fit
from movers.measures.evidence import names_of
from movers.measures.judge import bound_judge, evidence_of
from movers.search.keep_apart import objections

SETS = {
    "PAWS-Wiki, development split": ("PAWSWiki/dev.tsv", False),
    "PAWS-QQP, questions of the training split": ("PAWSQQP/train_sample.tsv", True),
}
"""Tables, and whether "same" has never seen their labels."""
RIDGE = 0.1
"""Variance that a weight is expected to have: that of "same"."""
JUDGES = {
    True: 'The judge is "same", which has seen none of these pairs.',
    False: 'The judge is cross-validated: five grouped folds, none of them seen, "same" not used.',
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


def odds(scorer: movers.Scorer, pairs: list[tuple[str, str]], same: np.ndarray) -> Floats:
    """Log-odds of every pair by a judge that was learned from the other folds."""
    numbers = evidence_of(scorer.encoder, pairs)
    labelled = Labelled(pairs, same.astype(float), numbers, np.ones(len(pairs)))
    names = names_of(bound_judge(scorer.encoder))
    start, found = blank(scorer.encoder.fingerprint, names, numbers), np.zeros(len(pairs))
    for train, test in split(labelled, graded=False):
        found[test] = fit(labelled.take(train), start, ridge=RIDGE).odds(numbers[test])
    return found


def shown(value: float, form: str = ".1%") -> str:
    """A number, or a dash for none."""
    return format(value, form) if np.isfinite(value) else "–"


def table(name: str, path: Path, *, unseen: bool) -> str:
    """The curve of one set, as a table."""
    pairs, same = read(path)
    scorer = movers.load()
    cosine, alike = cosines(scorer, pairs), scorer.similarities(pairs)
    reasons = objections(scorer, GUARDS)(pairs)
    kept_apart = np.array([reason is not None for reason in reasons])
    guarded = np.where(kept_apart, -np.inf, alike)
    judge = movers.load(judge="same").similarities(pairs) if unseen else odds(scorer, pairs, same)
    rows = []
    for right in RIGHT:
        plain, _ = wrong_hits(cosine, same, right)
        bare, _ = wrong_hits(alike, same, right)
        ours, least = wrong_hits(guarded, same, right)
        judged, _ = wrong_hits(judge, same, right)
        shares = (part / plain if plain else np.nan for part in (ours, judged))
        told = [shown(part) for part in (plain, bare, ours, judged)]
        told += [shown(share, ".2f") for share in shares]
        rows.append(f"| {right:.0%} | {' | '.join(told)} | {shown(least, '.2f')} |")
    objected = (f"{kept_apart[same].mean():.1%}", f"{kept_apart[~same].mean():.1%}")
    return f"""## {name}

{len(pairs):,} pairs, {same.mean():.0%} of which say the same. Guards ({", ".join(GUARDS)})
object to {objected[0]} of these and to {objected[1]} of the others.
{JUDGES[unseen]}

| right hits | wrong hits: cosine | similarity alone | with guards | a judge | guards / cosine \
| judge / cosine | `least` with guards |
|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}
"""


def main() -> None:
    """Print the tables, and write them where asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--report", type=Path)
    options = parser.parse_args()
    tables = [table(name, DATA / path, unseen=unseen) for name, (path, unseen) in SETS.items()]
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    made = f"`python bench/cache.py` — {machine}, the embedded model.\n"
    text = "\n".join(["# Wrong hits of a semantic cache\n", made, READING, *tables])
    print(text)
    if options.report is not None:
        options.report.write_text(f"# Wrong hits of a semantic cache\n\n{text}", "utf-8")


if __name__ == "__main__":
    main()
