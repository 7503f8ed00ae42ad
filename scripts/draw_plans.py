"""Draw docs/plans.svg: the paper's example under words alone and under words with structure.

python scripts/draw_plans.py
"""

from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt

import movers

TARGET = Path(__file__).parent.parent / "docs" / "plans.svg"
SOURCE = "Obama speaks to the media in Illinois."
PARAPHRASE = "The President greets the press in Chicago."
SWAPPED = "The press greets the President in Chicago."


def main() -> None:
    words = movers.load("wrd")
    matplotlib.rcParams["svg.hashsalt"] = "movers"
    figure, axes = plt.subplots(1, 2, figsize=(11, 3.2))
    for panel, scorer, title in (
        (axes[0], words, "words alone (wrd)"),
        (axes[1], words.using("wsmd"), "words and structure (wsmd)"),
    ):
        swapped, paraphrase = (scorer.compare(SOURCE, other) for other in (SWAPPED, PARAPHRASE))
        farther = swapped.distance / paraphrase.distance - 1
        swapped.plot(panel).set_title(
            f"{title}\n{farther:.0%} farther than “{PARAPHRASE}”", fontsize=11
        )
    figure.tight_layout(w_pad=3)
    figure.savefig(TARGET, metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
