"""What trees add to word transport: words weighed by how central they are, compared by sub-trees.

Wei, Wang and Kuo (2023), SynWMD: Syntax-aware Word Mover's Distance for Sentence Similarity
Evaluation. Syntax-aware word flow (SWF) has a word that is central in the trees of a corpus count
less; syntax-aware word distance (SWD) compares words together with the sub-trees they stand in.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from movers.arrays import Floats, Ints, Ragged, boundaries
from movers.encode.encodings import Encodings, Request
from movers.encode.tokens import Recipe
from movers.errors import Choose, Do, InputError
from movers.measures.bounds import Bound
from movers.measures.parts.context import Context
from movers.measures.parts.costs import COSTS, Cost, norms_of, pair_costs
from movers.measures.parts.kernels import CostCells, cosine
from movers.measures.parts.statistics import Statistics
from movers.measures.parts.word_tables import WordTable, spelled
from movers.measures.sentences import WEIGHTS, FitCorpus, WeightedSentences
from movers.measures.structural_transport import StructuralTransport
from movers.measures.word_transport import WordTransport
from movers.runtime.threads import share_out
from movers_research.baselines.subtree_kernels import Between, fill_subtrees
from movers_research.parsers import parse
from movers_research.trees import Tree

EDGES = 3
HOPS = 3
DAMPING = 0.2
CODED_TOLERANCE = 1e-6
TOLERANCE = 1e-12
NOT_BLANK = re.compile(r"\S+")


def swf(encodings: Encodings, norms: Floats | None, context: Context) -> Floats:
    """One over the word's PageRank in the trees of a corpus (Wei et al., 2023)."""
    if (table := context.statistics.tables.get("swf")) is None:
        raise InputError(
            "swf weights need the trees of a corpus",
            Do("fit", "with a parser first"),
            Choose("statistics", then="made by 'movers fit --parser'"),
        )
    return table.of(encodings)


WEIGHTS["swf"] = swf
COSTS["swd"] = Cost("swd", cosine, np.zeros_like)  # to which sub-trees add, see `Syntactic.costs`


@dataclass(frozen=True, kw_only=True)
class ParsedSentences(WeightedSentences):
    """Weighted sentences with the sub-trees around their words."""

    subtrees: SubTrees


@dataclass(frozen=True)
class Syntactic(WordTransport):
    """Transport of words weighed by their place in trees, of a cost with sub-trees if it is swd."""

    weights: str = "swf"
    stopwords: bool = False
    parsed: bool = True

    def missing(self, context: Context) -> str | None:
        """Name what a context lacks for it: "attention", "parser" or "statistics"."""
        lacking = super().missing(context)
        return lacking or (None if "swf" in context.statistics.tables else "statistics")

    def fit(self, corpus: FitCorpus) -> Statistics:
        """Return the statistics with the weights that the trees of a corpus give."""
        context, statistics = self.context, self.context.statistics
        encodings = context.encoder.encode(list(corpus.counts), Request(rules=context.rules))
        trees = parse(context, encodings.sentences)
        times = [corpus.counts[text] for text in encodings.sentences]
        table = fit_swf(encodings, times, trees, context.recipe)
        return replace(statistics, tables={**statistics.tables, "swf": table})

    def _fitted(self) -> dict[str, str]:
        return {name: value for name, value in super()._fitted().items() if name != "fitted"}

    def weigh(self, encodings: Encodings) -> WeightedSentences:
        """Weigh the words, and find the sub-trees around them where the cost looks at these."""
        sentences = super().weigh(encodings)
        if self.cost != "swd":
            return sentences
        vectors, norms, context = sentences.vectors, sentences.norms, self.context
        assert vectors is not None and norms is not None
        trees = parse(context, encodings.sentences)
        pieces = None  # tokens of every word
        if context.recipe == "reference":
            first, end = context.locate(encodings.sentences)[1].data.T
            pieces = np.asarray(end - first, np.int64)
        weights = sentences.weights.data
        subtrees = find_subtrees(encodings, trees, vectors, norms.data, weights, pieces)
        known = {part.name: getattr(sentences, part.name) for part in fields(sentences)}
        return ParsedSentences(**known, subtrees=subtrees)

    def costs(self, sentences: WeightedSentences, rows: Ints) -> tuple[Ragged, Floats | float]:
        """Return what moving each word costs, and what tokens without a row would add in sum."""
        costs, apart = super().costs(sentences, rows)
        if not isinstance(sentences, ParsedSentences):
            return costs, apart
        (sources, targets), threads = rows.T, self.context.threads
        return costs, add_subtree_costs(costs, sentences.subtrees, sources, targets, threads)

    @property
    def bound(self) -> Bound:
        """What every distance is at least; refused where trees enter the cost."""
        if self.cost == "swd":
            raise InputError(
                f"{self.name} needs the dependency trees of every sentence, which an index does "
                "not keep",
                Do("rank"),
                Choose("method", "synwmd-cos"),
            )
        return super().bound


@dataclass(frozen=True)
class SyntacticStructure(Syntactic, StructuralTransport):
    """The same fused with attention, or the words alone under that plan."""


def fit_swf(
    encodings: Encodings, counts: Sequence[int], trees: Sequence[Tree], recipe: Recipe
) -> WordTable:
    """Weigh words by one over their PageRank among the words they stand near in trees.

    Two words are linked by ``1 / hops`` for every time they stand within three hops. ``counts``
    tells how often each of the sentences occurs in the corpus; 0 leaves it out.

    The recipe ``"paper"`` links the words as they are compared, in lower case, and weighs an unseen
    word like the rarest. ``"reference"`` links what stands between blanks, in whatever case, stops
    PageRank where networkx does, and gives whatever it does not find the smallest weight, to names
    under an uncased model for instance.
    """
    numbers: dict[str, int] = {}
    cells, shares = [np.zeros((0, 2), np.int64)], [np.zeros(0)]
    for words, tree, count in _sentences(encodings, counts, trees, recipe):
        ids = np.array([numbers.setdefault(word, len(numbers)) for word in words], np.int64)
        near = nearness(tree)
        places = np.argwhere(near > 0)
        cells.append(ids[places])
        shares.append(count * near[tuple(places.T)])
    if not numbers:
        raise InputError("swf weights need sentences with words, got none")
    tolerance = CODED_TOLERANCE if recipe == "reference" else TOLERANCE
    links = np.concatenate(cells)
    rank = pagerank(links, np.concatenate(shares), len(numbers), tolerance=tolerance)
    values = dict(zip(numbers, (1 / rank).tolist(), strict=True))
    pick = min if recipe == "reference" else max
    return WordTable(values, pick(values.values()), recipe)


def _sentences(
    encodings: Encodings, counts: Sequence[int], trees: Sequence[Tree], recipe: Recipe
) -> Iterator[tuple[list[str], Tree, int]]:
    """Words to link, the tree over them, and how often the sentence occurs."""
    for row, (text, count, tree) in enumerate(zip(encodings.sentences, counts, trees, strict=True)):
        if not count:
            continue
        if recipe == "paper":
            words, spans = spelled(encodings, row, recipe), encodings.spans[row]
        else:
            found = list(NOT_BLANK.finditer(text))
            words = [match[0] for match in found]
            spans = np.array([match.span() for match in found])
        if len(words) > (recipe == "reference"):  # one word alone links nothing as coded
            yield words, tree.over(spans.astype(np.int64)), count


def nearness(tree: Tree, hops: int = HOPS) -> Floats:
    """One over the hops between two words, 0 beyond ``hops`` and on the diagonal."""
    size = len(tree)
    step = np.zeros((size, size))
    inner = np.flatnonzero(tree.heads >= 0)
    step[inner, tree.heads[inner]] = step[tree.heads[inner], inner] = 1
    reached, out = np.eye(size), np.zeros((size, size))
    for hop in range(1, hops + 1):
        further = (reached @ step > 0) | (reached > 0)
        out[further & (reached == 0)] = 1 / hop
        reached = further.astype(float)
    return out


def pagerank(
    links: Ints,
    shares: Floats,
    size: int,
    *,
    damping: float = DAMPING,
    tolerance: float = TOLERANCE,
    iterations: int = 100,
) -> Floats:
    """PageRank by power iteration, as networkx does it.

    ``links`` lead from one node to another, ``(links, 2)``, and repeated ones add up; ``tolerance``
    is the largest mean change of a node's rank to stop at.
    """
    out = np.bincount(links[:, 0], shares, size)
    dangling = out == 0
    shares = shares / np.where(dangling, 1, out)[links[:, 0]]
    rank = np.full(size, 1 / size)
    for _ in range(iterations):
        last = rank
        rank = np.bincount(links[:, 1], shares * last[links[:, 0]], size)
        rank = damping * (rank + last[dangling].sum() / size) + (1 - damping) / size
        if np.abs(rank - last).sum() < size * tolerance:
            break
    return rank


@dataclass(frozen=True)
class SubTrees:
    """The sub-trees of many sentences.

    ``vectors`` and ``norms`` are of every sub-tree of every sentence; ``members`` lists for every
    word the sub-trees of its sentence it belongs to, ``words`` where the words of each sentence
    start, and ``pieces`` how many tokens every word has.
    """

    vectors: Ragged
    norms: Floats
    members: Ragged
    words: Ints
    pieces: Ints


def find_subtrees(
    encodings: Encodings,
    trees: Sequence[Tree],
    vectors: Ragged,
    norms: Floats,
    weights: Floats,
    pieces: Ints | None = None,
) -> SubTrees:
    """Find the sub-trees of all sentences and the vector of each.

    A sub-tree's vector is the weighted mean of the unit vectors of its words.

    ``vectors``, ``norms`` and ``weights`` are of all words; so are ``pieces``, their tokens, where
    None counts a word as one.
    """
    starts = encodings.spans.starts
    units = vectors.data / np.where(norms > 0, norms, 1)[:, None]
    units *= weights[:, None]
    means, members, belongs = [], [], []
    for row, tree in enumerate(trees):
        inside = subtree_members(tree.over(encodings.spans[row].astype(np.int64)))
        means.append(inside @ units[starts[row] : starts[row + 1]])
        members.append(np.nonzero(inside.T)[1])
        belongs.append(inside.sum(axis=0))
    every = Ragged(
        np.concatenate([np.zeros((0, units.shape[1])), *means]).astype(np.float32),
        boundaries(len(rows) for rows in means),
    )
    counts = np.concatenate([np.zeros(0), *belongs]).astype(np.int64)
    return SubTrees(
        vectors=every,
        norms=norms_of(every),
        members=Ragged(np.concatenate([np.zeros(0, np.int64), *members]), boundaries(counts)),
        words=starts,
        pieces=np.ones(len(counts), np.int64) if pieces is None else pieces,
    )


def subtree_members(tree: Tree, edges: int = EDGES) -> Floats:
    """Which words belong to which sub-tree, a 0-1 matrix of shape ``(sub-trees, words)``.

    Every word with dependents gives the sub-trees of its descendants within 1, 2, … ``edges``
    edges, as long as they grow.
    """
    size = len(tree)
    child = np.zeros((size, size))
    inner = np.flatnonzero(tree.heads >= 0)
    child[tree.heads[inner], inner] = 1
    reached = np.eye(size)
    found = [reached[:0]]
    for _ in range(edges):
        further = reached + child @ reached > 0
        found.append(further[(further != reached).any(axis=1)])
        reached = further.astype(float)
    return np.concatenate(found)


def add_subtree_costs(
    costs: Ragged, subtrees: SubTrees, sources: Ints, targets: Ints, threads: int | None = None
) -> Floats:
    """Add to every cost the mean distance between the sub-trees around the two words.

    Returns
    -------
    What the tokens that stand for no word of their own, the further pieces of words, would add
    to the sum of each pair's costs: the reference recipe averages over them too.
    """
    trees, members = subtrees.vectors, subtrees.members
    found = pair_costs("cosine", trees, subtrees.norms, sources, targets, threads=threads)
    widths, words = trees.lengths[targets], (members.data, members.starts, subtrees.pieces)
    between = Between(found.data, found.starts, widths, *words)
    starts, lengths = subtrees.words, np.diff(subtrees.words)
    shapes = np.stack([lengths[sources], lengths[targets]], axis=1)
    cells = CostCells(starts[sources], starts[targets], shapes, costs.starts, costs.data)
    apart = np.zeros(len(sources))
    share_out(
        lambda low, high: fill_subtrees(low, high, between, cells, apart),
        costs.lengths * EDGES**2,
        threads,
    )
    return apart
