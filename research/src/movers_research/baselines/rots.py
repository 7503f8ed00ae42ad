"""Recursive optimal transport similarity: sentences compared level by level down their trees.

Wang et al. (2020), the variant "ROTS + SWC + mean". Level 0 compares the sentences as wholes,
each further level the spans of the next sub-trees; the plan of a level is the prior of the next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from movers.arrays import Bools, Floats, Ints, Ragged, boundaries
from movers.encode.kernels import product
from movers.encode.tokens import PUNCTUATION, START_MARKERS
from movers.measures.base import Measure
from movers.measures.parts.costs import norms_of, pair_costs
from movers.measures.pooled import cosine_distances
from movers.measures.sentences import WeightedSentences, renumbered
from movers.solve.batch import Problems
from movers_research.baselines.opwd import Grid
from movers_research.baselines.vectors import moments_in_use, negation
from movers_research.entropic import sinkhorn_batch
from movers_research.parsers import parse
from movers_research.trees import Tree

LEVELS = 5
PRIOR = 10.0
TINY = 1e-10
SMALL = 1e-3
MARKERS = "".join(START_MARKERS)


@dataclass(frozen=True)
class RecursiveTransport(Measure):
    """One minus the mean similarity of five levels."""

    parsed: bool = True

    @property
    def fitted(self) -> Floats | None:
        """The moments in use are those of conceptor negation."""
        return moments_in_use(self.context, self.embedding)

    def distances(self, sentences: WeightedSentences, rows: Ints) -> Floats:
        """Compare sentences level by level down their trees."""
        picked, pairs = renumbered(rows)
        words, trees = self._words(sentences, picked)
        levels = _levels(words, trees)
        wholes = levels[0].vectors.data
        lengths = np.linalg.norm(wholes, axis=1)[pairs].prod(axis=1)
        scores = np.zeros((LEVELS, len(pairs)))
        plan = np.ones(len(pairs))
        for depth, level in enumerate(levels):
            above = levels[depth - 1] if depth else None
            plan, scores[depth] = _compare(level, above, plan, pairs, self.context.threads)
            # How much longer the segments are together than the sentence.
            scores[depth] *= level.totals[pairs].prod(axis=1) / (lengths + SMALL)
        single = (words.lengths[pairs] == 1).any(axis=1)
        return np.where(single, cosine_distances(wholes, pairs), 1 - scores.mean(axis=0))

    def _words(self, sentences: WeightedSentences, picked: Ints) -> tuple[Ragged, list[Tree]]:
        """Return weighted word vectors of some sentences, and the trees over the words.

        The vectors are plain by the published code, or else without punctuation (unless there is
        nothing else), negated, and every dimension divided by its length over the words of the
        sentence.
        """
        assert sentences.vectors is not None and sentences.totals is not None
        encodings, context = sentences.encoded, self.context
        spans = encodings.spans.take(picked)
        vectors = Ragged(sentences.vectors.take(picked).data.astype(np.float64), spans.starts)
        scale = np.repeat(sentences.totals[picked] / np.maximum(spans.lengths, 1), spans.lengths)
        weights = sentences.weights.take(picked).data * scale
        if context.recipe == "paper":
            words = [word for row in picked for word in encodings.surface(row)]
            kept = np.array([not PUNCTUATION.issuperset(word) for word in words], bool)
            some = Ragged(kept.astype(np.int64), spans.starts).sums() > 0
            kept |= ~np.repeat(some, spans.lengths)
            bounds = np.append(0, np.cumsum(kept))[spans.starts]
            damping = negation(context, self.embedding, vectors.data.shape[1])
            negated = product(vectors.data[kept], damping, context.threads)
            lengths = np.sqrt(Ragged(negated**2, bounds).sums())
            vectors = Ragged(negated / (np.repeat(lengths, np.diff(bounds), axis=0) + TINY), bounds)
            spans, weights = Ragged(spans.data[kept], bounds), weights[kept]
        trees = self._trees([encodings.sentences[row] for row in picked], spans)
        return Ragged(vectors.data * weights[:, None], vectors.starts), trees

    def _trees(self, texts: list[str], spans: Ragged) -> list[Tree]:
        """Return trees over the words compared.

        The published code parses what is left of a sentence without its stop words: the first
        pieces of the others, in lower case. Where trees are only looked up there is none of that,
        and the tree of the sentence is cut to the words left.
        """
        context, places = self.context, [row.astype(np.int64) for row in spans]
        if context.recipe == "reference" and not getattr(context.parser, "lookup", False):
            pieces, ranges = context.locate(texts)
            first = [
                [row[place].lstrip(MARKERS).lower() for place in words[:, 0]]
                for row, words in zip(pieces, ranges, strict=True)
            ]
            texts, places = [" ".join(row) for row in first], [_places(row) for row in first]
        return [tree.over(row) for tree, row in zip(parse(context, texts), places, strict=True)]


@dataclass(frozen=True)
class Level:
    """The segments of all sentences at one level of their trees.

    ``vectors`` are sums of weighted word vectors, rows of segments by sentence, and ``sizes`` their
    lengths, the masses of the transport; ``parents`` the segments of the level above that each
    begins in.
    """

    vectors: Ragged
    sizes: Floats
    parents: Ints

    @property
    def totals(self) -> Floats:
        """Total mass of every sentence."""
        return Ragged(self.sizes, self.vectors.starts).sums()


def _compare(
    level: Level, above: Level | None, plan: Floats, rows: Ints, threads: int | None
) -> tuple[Floats, Floats]:
    """The plan of a level, and one minus what it costs, for every pair."""
    costs = pair_costs("cosine", level.vectors, level.sizes, *rows.T, threads=threads)
    if above is None:
        return plan, 1 - Ragged(plan * costs.data, costs.starts).sums()
    masses = level.sizes / np.repeat(level.totals, level.vectors.lengths)
    problems = Problems.between(Ragged(masses, level.vectors.starts), rows, costs)
    prior = _prior(level, above, plan, rows, Grid.of(problems.shapes))
    found = sinkhorn_batch(problems, np.log(prior + TINY) - costs.data / PRIOR, threads=threads)
    return found.plan, 1 - found.value[:, 0]


def _prior(level: Level, above: Level, plan: Floats, rows: Ints, grid: Grid) -> Floats:
    """What the plan above says about the segments, in proportion to their masses."""
    starts, upper = level.vectors.starts, above.vectors.starts
    inherited = np.repeat(upper[:-1], level.vectors.lengths) + level.parents
    together = np.bincount(inherited, level.sizes, int(upper[-1]))[inherited]
    share = level.sizes / np.where(together > 0, together, 1)
    i = starts[rows[grid.pair, 0]] + grid.row
    j = starts[rows[grid.pair, 1]] + grid.column
    blocks = above.vectors.lengths[rows]
    cells = boundaries(blocks.prod(axis=1))[grid.pair]
    cells = cells + level.parents[i] * blocks[grid.pair, 1] + level.parents[j]
    return np.asarray(plan[cells] * share[i] * share[j])


def _levels(words: Ragged, trees: list[Tree]) -> list[Level]:
    cuts = [segmentations(tree) for tree in trees]
    levels = []
    for depth in range(LEVELS):
        begins = [cut[depth].begins for cut in cuts]
        own = np.concatenate([np.zeros(0, bool), *(cut[depth].own for cut in cuts)])
        bounds = boundaries(len(rows) for rows in begins)
        every = np.concatenate([np.zeros(0, np.int64), *begins])
        first = every + np.repeat(words.starts[:-1], np.diff(bounds))
        data = np.where(own[:, None], words.data, 0.0)
        sums = np.add.reduceat(data, first, axis=0) if len(first) else data[:0]
        vectors = Ragged(sums, bounds)
        above = (cut[max(depth - 1, 0)].begins for cut in cuts)
        parents = (np.searchsorted(*two, "right") - 1 for two in zip(above, begins, strict=True))
        levels.append(Level(vectors, norms_of(vectors), np.concatenate([every[:0], *parents])))
    return levels


@dataclass(frozen=True)
class TreeCut:
    """A sentence cut into segments.

    Segments end where the next begins; ``own`` tells whether each word belongs to the one around
    it.
    """

    begins: Ints
    own: Bools


def segmentations(tree: Tree, levels: int = LEVELS) -> list[TreeCut]:
    """The segments of every level.

    Level 0 is the whole sentence. A sub-tree whose top is d edges below the root gives the
    segment of level d, from its first to its last word; words in none stand alone. Where a
    sub-tree leaves out words in between, those belong to no segment of the level. Several roots
    count as dependents of one above them.
    """
    size = len(tree)
    depths = tree.depths + (np.count_nonzero(tree.heads < 0) > 1)
    found = [TreeCut(np.arange(min(size, 1)), np.ones(size, bool))]
    for level in range(1, levels):
        top = np.arange(size)
        while (deeper := depths[top] > level).any():
            top = np.where(deeper, tree.heads[top], top)
        inside = depths >= level
        low, high = np.arange(size), np.arange(size)  # first and last word of each sub-tree
        np.minimum.at(low, top[inside], np.flatnonzero(inside))
        np.maximum.at(high, top[inside], np.flatnonzero(inside))
        begins, own, place = [], np.zeros(size, bool), 0
        while place < size:
            begins.append(place)
            last = int(high[top[place]]) if low[top[place]] == place else place
            own[place : last + 1] = top[place : last + 1] == top[place]
            place = last + 1
        found.append(TreeCut(np.array(begins, np.int64), own))
    return found


def _places(words: list[str]) -> Ints:
    """Character ranges of words joined by single blanks."""
    lengths = np.array([len(word) for word in words], np.int64)
    ends = np.cumsum(lengths + 1) - 1
    return np.stack([ends - lengths, ends], axis=1)
