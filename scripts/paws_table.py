"""Write results/paws_wiki_dev.md: words alone and with structure, layer by layer.

    python scripts/paws_table.py DATA

DATA is a folder with ``PAWSWiki/dev.tsv``. Area under the ROC curve on the paper's development
split (the 1500 shortest pairs), statistics fitted on it, noise directions dropped.
"""

import sys
from pathlib import Path

import movers
from movers.evaluate.metrics import score
from movers_research.datasets import read_dataset

TARGET = Path(__file__).parent.parent / "results" / "paws_wiki_dev.md"
HEADING = """# PAWS-Wiki, development split, embedded model

`make table` (1500 pairs, all-MiniLM-L6-v2, AUC × 100). `W` is words alone; the other columns are
WSMD with the twelve heads of one attention layer, λ = 0.5. Whitening is fitted on the split with
noise directions dropped, in both recipes. The default layer of the embedded model, 2, was chosen
here.

| recipe | vectors | base | W | layer 1 | 2 | 3 | 4 | 5 | 6 |
|---|---|---|---|---|---|---|---|---|---|
"""


def main(data: Path) -> None:
    dataset = read_dataset("paws-wiki-dev", data)
    pairs = dataset.pairs
    sentences = [text for side in zip(*pairs, strict=True) for text in side]
    lines = []
    for recipe in ("paper", "reference"):
        for embedding, vectors in ((0, "input"), (6, "last layer")):
            scorer = movers.load(
                "wsmd", recipe=recipe, embedding=embedding, layers="all", whitening="clean"
            ).fit(sentences, progress=True)
            for base in ("wmd", "wrd"):
                words = scorer.using(base).distances(pairs)
                heads = scorer.using(f"wsmd-{base}").head_values(pairs)
                layers = heads.reshape(len(pairs), 6, 12).mean(axis=2).T
                cells = [f"{100 * score('auc', dataset.gold, row):.2f}" for row in (words, *layers)]
                lines.append(f"| {recipe} | {vectors} | {base} | {' | '.join(cells)} |")
                print(lines[-1])
    TARGET.write_text(HEADING + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
