"""Draw docs/plans.svg: the paper's example under words alone and under words with structure.

python scripts/draw_plans.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

import movers
from movers import Comparison

TARGET = Path(__file__).parent.parent / "docs" / "plans.svg"
SOURCE = "Obama speaks to the media in Illinois."
PARAPHRASE = "The President greets the press in Chicago."
SWAPPED = "The press greets the President in Chicago."
INK, FLOW = "#1b1f24", "#0969da"


def draw(axes: Axes, comparison: Comparison, paraphrase: Comparison, title: str) -> None:
    farther = comparison.distance / paraphrase.distance - 1
    rows = (comparison.source_words, comparison.target_words)
    places = [[(k + 0.5) / len(words) for k in range(len(words))] for words in rows]
    for i, j in zip(*comparison.plan.nonzero(), strict=True):
        share = comparison.plan[i, j] * min(map(len, rows))
        axes.plot(
            [places[0][i], places[1][j]], [1, 0], color=FLOW, alpha=0.15 + 0.75 * share,
            linewidth=9 * share, solid_capstyle="round",
        )  # fmt: skip
    for words, spots, height, align in zip(
        rows, places, (1.04, -0.04), ("bottom", "top"), strict=True
    ):
        for word, spot in zip(words, spots, strict=True):
            axes.text(spot, height, word, ha="center", va=align, fontsize=12, color=INK)
    axes.set(xlim=(0, 1), ylim=(-0.25, 1.3))
    title = f"{title}\n{farther:.0%} farther than “{PARAPHRASE}”"
    axes.set_title(title, fontsize=11, color=INK)
    axes.axis("off")


def main() -> None:
    words = movers.load("wrd")
    matplotlib.rcParams["svg.hashsalt"] = "movers"
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.2))
    for panel, scorer, title in (
        (axes[0], words, "words alone (wrd)"),
        (axes[1], words.using("wsmd"), "words and structure (wsmd)"),
    ):
        pair = [scorer.compare(SOURCE, other) for other in (SWAPPED, PARAPHRASE)]
        draw(panel, *pair, title)
    figure.tight_layout(w_pad=3)
    figure.savefig(TARGET, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
