"""What is found in the labelled pairs, and in pairs of others, as the tables of docs/behaviour.md.

python scripts/differences_table.py report
python scripts/differences_table.py others [folder of evaluation data]
"""

import csv
import os
import sys
from collections import Counter
from pathlib import Path

import movers
from movers.difference.kinds import KINDS
from movers.difference.polarity import polarity_differences, share_words
from movers.difference.verdicts import HEADLINES, judge

PAIRS = Path(__file__).parents[1] / "tests" / "difference" / "labelled_pairs.tsv"
NOTHING = "–"
DATA = Path(os.environ.get("MOVERS_DATA", Path(__file__).parents[2] / "shared" / "data"))
DENIED = {"negation", "opposite"}
ORDERED = {"roles", "reordered", "name", "number"}


def read(half):
    """Kinds (None if not judged), verdict and texts of the pairs of a half."""
    for line in PAIRS.read_text("utf-8").splitlines()[1:]:
        which, kinds, verdict, source, target = line.split("\t")
        if which == half:
            judged = None if kinds == "*" else {*filter(None, kinds.split(","))}
            yield judged, verdict, source, target


def confusion(rows):
    """How often a kind was found, missed and found where it is not, and what stood in its place."""
    counts: Counter = Counter()
    instead: dict[str, Counter] = {kind: Counter() for kind in KINDS}
    for wanted, _, source, target in rows:
        if wanted is None:
            continue
        found = {one.kind for one in movers.differences(source, target)}
        for kind in KINDS:
            counts[kind, kind in wanted, kind in found] += 1
        for kind in wanted - found:
            instead[kind].update(found - wanted or {NOTHING})
    return counts, instead


def kinds_table(rows):
    counts, instead = confusion(rows)
    yield "| kind | labelled | found | missed | found wrongly | in its place |"
    yield "|---|---|---|---|---|---|"
    for kind in KINDS:
        right, missed, wrong = (counts[kind, *case] for case in ((1, 1), (1, 0), (0, 1)))
        other = ", ".join(f"{name} {count}" for name, count in instead[kind].items())
        yield f"| {kind} | {right + missed} | {right} | {missed} | {wrong} | {other} |"
    cases = ((1, 1), (1, 0), (0, 1))
    right, missed, wrong = (sum(counts[kind, *case] for kind in KINDS) for case in cases)
    yield (
        f"| all | {right + missed} | {right} | {missed} | {wrong} | precision "
        f"{100 * right / (right + wrong):.1f}, recall {100 * right / (right + missed):.1f} |"
    )


def verdicts_table(rows):
    alike = movers.load().similarities([row[2:] for row in rows])
    given: Counter = Counter()
    for (_, verdict, source, target), similarity in zip(rows, alike, strict=True):
        found = movers.differences(source, target)
        own = judge(found, float(similarity), shared=share_words(source, target))
        given[verdict, own] += 1
    right = sum(count for (wanted, own), count in given.items() if wanted == own)
    yield "| verdict due | pairs | given | otherwise |"
    yield "|---|---|---|---|"
    for verdict in HEADLINES:
        total = sum(count for (wanted, _), count in given.items() if wanted == verdict)
        other = ", ".join(
            f"{own} {count}" for (wanted, own), count in given.items() if wanted == verdict != own
        )
        if total:
            yield f"| {HEADLINES[verdict]} | {total} | {given[verdict, verdict]} | {other} |"
    yield f"| all | {len(rows)} | {right} | {100 * right / len(rows):.1f} % |"


def pairs_of(path, label, columns=(1, 2)):
    """Pairs of a table without quotes whose ``label`` holds."""
    with path.open(encoding="utf-8") as stream:
        rows = [*csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [tuple(row[column] for column in columns) for row in rows if label(row)]


def others_table(data):
    sick, wiki = data / "SICK" / "SICK_train.txt", data / "PAWSWiki" / "dev.tsv"
    contradicted, entailed = (
        pairs_of(sick, lambda row, label=label: row[4].strip() == label)
        for label in ("CONTRADICTION", "ENTAILMENT")
    )
    different, same = (
        pairs_of(wiki, lambda row, label=label: row[3].strip() == label) for label in "01"
    )
    graded = data / "STSB" / "sts-dev.csv"
    near = pairs_of(graded, lambda row: float(row[4]) >= 4.5, (5, 6))
    yield "| pairs | count | what is told | share |"
    yield "|---|---|---|---|"
    for name, pairs, kinds in (
        ("SICK train, contradiction", contradicted, DENIED),
        ("SICK train, entailment", entailed, DENIED),
        ("PAWS-Wiki dev, labelled different", different, ORDERED),
        ("PAWS-Wiki dev, labelled different", different, {"roles"}),
        ("PAWS-Wiki dev, same", same, {"roles"}),
        ("SICK train, entailment", entailed, {"roles"}),
    ):
        told = sum(any(one.kind in kinds for one in movers.differences(*pair)) for pair in pairs)
        share = f"{100 * told / len(pairs):.1f} %"
        yield f"| {name} | {len(pairs)} | {', '.join(sorted(kinds))} | {share} |"
    for name, pairs in (("STS-B dev, graded 4.5 or more", near), ("PAWS-Wiki dev, same", same)):
        share = f"{100 * polarity_differences(pairs).any(axis=1).mean():.1f} %"
        yield f"| {name} | {len(pairs)} | flagged by `polarity_differences` | {share} |"


def main(half, data=DATA):
    if half == "others":
        print(*others_table(Path(data)), sep="\n")
        return
    rows = [*read(half)]
    print(*kinds_table(rows), "", *verdicts_table(rows), sep="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
