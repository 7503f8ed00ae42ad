"""Draw what the default measure trades away: prices, and shares of the grammar's contrasts.

    MOVERS_DATA=… python scripts/draw_frontier.py docs/frontier.svg

Weights are fitted on the fitting half of the contrasts for every share; PAWS-Wiki dev without the
pairs of PAWS-X, STS-B dev, the choosing half of the triples and the reporting half of the contrasts
and of the swaps with one more change are compared with them. Nothing is read from test sets.
"""

import sys
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata, spearmanr

import movers
from movers.difference.orders import effects_of_order
from movers.measures import calibration, default
from movers.measures.calibration import Calibration, contrasts, to_fit
from movers.measures.parts.shifts import shifts
from movers.measures.sentences import sentence_distances
from movers_research.datasets import read_dataset

SHARES = (0.2, 0.4, 0.67, 1.3, 2.6)
PRICES = (0.15, 0.22, 0.28, 0.33, 0.38)
PAIRS = 1500


@dataclass
class Evidence:
    """Numbers of pairs that a distance is made of."""

    apart: np.ndarray
    signs: np.ndarray
    words: np.ndarray
    moved: np.ndarray
    effects: np.ndarray

    def distances(self, known: Calibration, price: float) -> np.ndarray:
        """Return the distances under weights and a price."""
        changed = default.meaning_changed(known, self.signs, self.words, self.effects)
        gate = default.gates(self.apart, known.chance)
        return np.asarray(self.apart + price * known.chance * gate * changed * self.moved)


class Row(NamedTuple):
    """What a share and a price reach, × 100."""

    wiki: float
    grammar: float
    graded: float
    triples: float
    changes: float


def look(
    every: default.DefaultMeasure, directions: np.ndarray, pairs: list[tuple[str, str]]
) -> Evidence:
    """Encode pairs, and keep what heads see and how words shift."""
    parts = []
    for start in range(0, len(pairs), default.SAMPLE):
        texts = [text for pair in pairs[start : start + default.SAMPLE] for text in pair]
        encodings = every.context.encoder.encode(list(dict.fromkeys(texts)), every.requirements)
        rows = encodings.numbers(texts).reshape(-1, 2)
        sentences = every.weigh(encodings)
        assert sentences.vectors is not None
        problems, solution, broken = every.relations(sentences, rows)
        along = shifts(directions, sentences.vectors, rows, problems.shapes, solution.plan)
        moved = np.ones(len(rows))
        moved[default._in_place(problems.shapes, solution.plan)] = 0.0
        effects = effects_of_order(sentences.sentences, rows)
        words = sentences.weights.lengths[rows].sum(axis=1)
        apart = sentence_distances(sentences.pooled, rows)
        parts.append((apart, np.hstack([broken, along]), words, moved, effects))
    return Evidence(*map(np.concatenate, zip(*parts, strict=True)))


def area(distances: np.ndarray, same: np.ndarray) -> float:
    """Area under the curve, × 100."""
    ranks, count = rankdata(-distances), same.sum()
    return float(100 * (ranks[same].sum() - count * (count + 1) / 2) / (count * (~same).sum()))


def main(target: str) -> None:
    """Fit, measure and draw."""
    encoder = movers.load().encoder
    every, chance = default._with_all_heads(encoder), default.calibrate(encoder).chance
    seen, directions = default._look(every, to_fit())
    known_pairs = {*read_dataset("paws-x-en-test").pairs}
    wiki = read_dataset("paws-wiki-dev")
    rows = [i for i, pair in enumerate(wiki.pairs) if pair not in known_pairs][::4][:PAIRS]
    wiki_pairs, wiki_same = (
        [wiki.pairs[i] for i in rows],
        np.array([wiki.gold[i] for i in rows]) > 0,
    )
    graded = read_dataset("stsb-dev")
    given = contrasts()
    grammar = np.array([calibration._family(kind) == "grammar" for kind in given.kinds])
    held = given.take(grammar & ~given.fit)
    changes = given.take((np.array(given.kinds) == "change") & ~given.fit)
    triples = given.take(np.array(given.kinds) == "paraphrase")
    see = partial(look, every, directions)
    seen_wiki, seen_graded, seen_held, seen_triples, seen_changes = map(
        see, (wiki_pairs, list(graded.pairs), held.pairs, triples.pairs, changes.pairs)
    )
    gold, kinds = np.array(graded.gold), np.array(held.kinds)
    cosine = spearmanr(-seen_graded.apart, gold)[0]
    print("share price PAWS-Wiki grammar STS-B triples changes")
    lines: dict[float, list[Row]] = {}
    for share in SHARES:
        calibration.SHARES["grammar"] = share
        network = calibration.fit_network(seen)
        known = Calibration(chance, every.heads, network, 1.0, directions=directions)
        for price in PRICES:
            told = seen_held.distances(known, price)
            areas = [
                area(told[kinds == kind], held.same[kinds == kind])
                for kind in sorted(set(held.kinds))
                if 0 < held.same[kinds == kind].sum() < (kinds == kind).sum()
            ]
            threes = seen_triples.distances(known, price)
            swaps = seen_changes.distances(known, price)
            row = Row(
                area(seen_wiki.distances(known, price), wiki_same),
                float(np.mean(areas)),
                100 * (spearmanr(-seen_graded.distances(known, price), gold)[0] - cosine),
                100 * float((threes[triples.same] < threes[~triples.same]).mean()),
                100 * float((swaps[changes.same] <= swaps[~changes.same]).mean()),
            )
            lines.setdefault(price, []).append(row)
            print(share, price, *(f"{value:.2f}" for value in row), flush=True)
    draw(lines, target)


def draw(lines: dict[float, list[Row]], target: str) -> None:
    """Draw three frontiers; the row that was taken has a ring."""
    import matplotlib as mpl

    mpl.use("svg")
    mpl.rcParams["svg.hashsalt"] = "movers"
    from matplotlib import pyplot

    names = {
        "wiki": "PAWS-Wiki dev, AUC",
        "grammar": "contrasts of the grammar, mean AUC",
        "graded": "STS-B dev, ρ against the cosine",
        "triples": "triples chosen on, %",
        "changes": "swaps with one more change as far, %",
    }
    pairs = [("wiki", "grammar"), ("graded", "triples"), ("graded", "changes")]
    figure, all_axes = pyplot.subplots(1, 3, figsize=(13, 3.9))
    taken = lines[default.PRICE][SHARES.index(0.67)]
    for axes, (across, up) in zip(all_axes, pairs, strict=True):
        for price, rows in lines.items():
            x, y = ([getattr(row, name) for row in rows] for name in (across, up))
            axes.plot(x, y, marker="o", label=f"price {price}")
        ring = getattr(taken, across), getattr(taken, up)
        axes.plot(*ring, "o", markersize=14, fillstyle="none", color="black")
        axes.set(xlabel=names[across], ylabel=names[up])
        axes.grid(alpha=0.3)
    all_axes[0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main(sys.argv[1])
