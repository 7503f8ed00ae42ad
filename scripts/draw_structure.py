"""Draw docs/structure.svg and docs/matching.svg: attention, and how a plan matches its cells.

python scripts/draw_structure.py
"""

from pathlib import Path

import matplotlib
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

import movers
from movers.results import Comparison

DOCS = Path(__file__).parent.parent / "docs"
SOURCE = "Obama speaks to the media in Illinois."
PARAPHRASE = "The President greets the press in Chicago."
SWAPPED = "The press greets the President in Chicago."
INK, MARK = "#1b1f24", "#c2410c"
MEANINGS = ("Obama", "President"), ("speaks", "greets"), ("media", "press"), ("Illinois", "Chicago")
CELL = ("speaks", "Obama")


def main() -> None:
    matplotlib.rcParams |= {"svg.hashsalt": "movers", "font.size": 9, "text.color": INK}
    wsmd = movers.load("wsmd")
    pairs = [wsmd.compare(SOURCE, other) for other in (PARAPHRASE, SWAPPED)]
    save(draw_structure(pairs), "structure")
    save(draw_matching(wsmd.using("wrd"), pairs), "matching")


def draw_structure(pairs: list[Comparison]) -> Figure:
    """Attention among the words of the three sentences, one cell marked in each."""
    figure, axes = plt.subplots(1, 3, figsize=(10.2, 3.1), layout="constrained")
    there = dict(MEANINGS)
    draw_attention(axes[0], pairs[0].source_words, mean(pairs[0].source_attention), CELL)
    for panel, pair in zip(axes[1:], pairs, strict=True):
        cell = there[CELL[0]], there[CELL[1]]
        draw_attention(panel, pair.target_words, mean(pair.target_attention), cell)
    for panel, text in zip(axes, (SOURCE, PARAPHRASE, SWAPPED), strict=True):
        panel.set_title(text, fontsize=9)
    return figure


def draw_attention(
    axes: Axes, words: tuple[str, ...], attention: np.ndarray, cell: tuple[str, str]
) -> None:
    """One matrix: the word of a row looks at the word of a column."""
    axes.imshow(attention, cmap="Blues", vmin=0, vmax=0.6)
    axes.set_xticks(range(len(words)), words, rotation=30, ha="right")
    axes.set_yticks(range(len(words)), words)
    for (i, j), value in np.ndenumerate(attention):
        colour = "white" if value > 0.4 else INK
        axes.text(j, i, f"{value:.2f}", ha="center", va="center", color=colour, fontsize=8)
    i, j = words.index(cell[0]), words.index(cell[1])
    axes.add_patch(Rectangle((j - 0.5, i - 0.5), 1, 1, fill=False, edgecolor=MARK, linewidth=2.5))


def draw_matching(words: movers.Scorer, pairs: list[Comparison]) -> Figure:
    """What matching words by meaning costs cell by cell: squared differences of attention."""
    figure, axes = plt.subplots(1, 2, figsize=(8.4, 3.4), layout="constrained")
    for panel, pair, target in zip(axes, pairs, (PARAPHRASE, SWAPPED), strict=True):
        squared = bent(pair)
        panel.imshow(squared, cmap="Oranges", vmin=0, vmax=0.3)
        names = [f"{a}→{b}" for a, b in MEANINGS]
        panel.set_xticks(range(len(names)), names, rotation=30, ha="right")
        panel.set_yticks(range(len(names)), names)
        for (i, j), value in np.ndenumerate(squared):
            colour = "white" if value > 0.2 else INK
            panel.text(j, i, f"{value:.3f}", ha="center", va="center", color=colour, fontsize=8)
        distance = words.compare(SOURCE, target).distance
        panel.set_title(
            f"{target}\nwords {distance:.3f}, mean square {squared.mean():.4f}", fontsize=9
        )
    return figure


def bent(pair: Comparison) -> np.ndarray:
    """Squared differences of attention, head by head, if every word goes where it means to."""
    rows = [pair.source_words.index(word) for word, _ in MEANINGS]
    columns = [pair.target_words.index(word) for _, word in MEANINGS]
    source = pair.source_attention[:, rows][:, :, rows]
    target = pair.target_attention[:, columns][:, :, columns]
    return mean((source - target) ** 2)


def mean(heads: np.ndarray) -> np.ndarray:
    return np.asarray(heads, np.float64).mean(axis=0)


def save(figure: Figure, name: str) -> None:
    figure.savefig(DOCS / f"{name}.svg", metadata={"Date": None}, facecolor="white")


if __name__ == "__main__":
    main()
