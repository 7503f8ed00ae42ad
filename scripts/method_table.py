"""Write results/methods_dev.md: every measure on development sets, both recipes, both vectors.

    python scripts/method_table.py DATA

DATA is a folder with ``PAWSWiki/dev.tsv``, ``STSB/sts-dev.csv``, the dependency trees of both in
``parses`` and word counts in ``sif``. Statistics are fitted on the set that is scored, as in the
paper; pairs that word mover's distance cannot compare are dropped for every measure.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

import movers
from movers.evaluate.labelled import Dataset
from movers.evaluate.metrics import score
from movers.measures.registry import METHODS
from movers.plugins import add_outside_measures
from movers.runtime.notices import UndefinedWarning
from movers_research.datasets import read_dataset

TARGET = Path(__file__).parent.parent / "results" / "methods_dev.md"
HEADING = """# Every measure on development sets, embedded model

`make methods-table`. PAWS-Wiki: the paper's development split (1500 shortest pairs), AUC × 100.
STS-B: development set, Spearman's ρ × 100 over the {pairs} pairs that have words on both sides.
Structural measures use the twelve heads of attention layer 2, λ = 0.5. Statistics are fitted on
the set itself; word counts are the English Wikipedia's of SIF; trees come from the CoNLL-U files
beside the data. “input” and “last” are the layers of the word vectors; `bow` and `smd` ignore
vectors, `cls` always takes the last layer. “Reference, input” whitens rounding noise
([why](../docs/methods.md)) and differs from processor to processor.

| measure {columns}
|{rule}
"""
NAMES = ("PAWS paper", "PAWS reference", "STS-B paper", "STS-B reference")


def column(data: Path, dataset: Dataset, **settings) -> tuple[dict[str, float], int]:
    """The score of every measure under one recipe and one layer of vectors."""
    pairs = dataset.pairs
    # Pair by pair, shortest first: the order in which the published code averages tokens.
    sentences = [text for pair in pairs for text in pair]
    counts = data / "sif" / "enwiki_vocab_min200.txt"
    base = movers.load(
        "wsmd", **settings, frequencies=counts, parser=f"conllu:{data / 'parses'}"
    ).fit(sentences)
    defined = np.isfinite(base.using("wmd").distances(pairs))
    scores = {}
    for name in sorted(METHODS, key=lambda name: str(base.using(name).settings.rules)):
        scorer = base.using(name).fit(sentences)
        distances = scorer.distances(np.array(pairs)[defined].tolist())
        scores[name] = 100 * score(dataset.metric, dataset.gold[defined], distances)
    return scores, int(defined.sum())


def main(data: Path) -> None:
    warnings.simplefilter("ignore", UndefinedWarning)
    add_outside_measures()  # those of movers-research
    columns, kept = [], 0
    for dataset in (read_dataset(name, data) for name in ("paws-wiki-dev", "stsb-dev")):
        for recipe in ("paper", "reference"):
            for embedding in (0, -1):
                started = time.monotonic()
                found, kept = column(data, dataset, recipe=recipe, embedding=embedding)
                columns.append(found)
                print(f"{dataset.name} {recipe} {embedding}: {time.monotonic() - started:.0f} s")
    rows = [
        f"| `{name}` | " + " | ".join(f"{found[name]:.2f}" for found in columns) + " |"
        for name in METHODS
    ]
    heads = [f"| {name}, {layer} " for name in NAMES for layer in ("input", "last")]
    heading = HEADING.format(pairs=kept, columns="".join(heads) + "|", rule="---|" * 9)
    print("\n".join(rows))
    TARGET.write_text(heading + "\n".join(rows) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
