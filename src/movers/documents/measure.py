"""The measure of texts: sentences moved onto each other, what moved among them, what changed.

    d = far (x + (1 - x) (ORDER b + MEANING (1 - exp(-n)))),   x = T / far

T is what matching the sentences costs for every word (`movers.documents.matching`), from 0 to
``far``, what unrelated sentences are apart. Of the sentences with a counterpart that follow each
other in one text, a share b does not in the other; and n sentences say something else: one denies
it, has another number, name or role, or is there in one text alone (`Change.weight`). So a text in
other words is nearer than one whose sentences were shuffled, and that is nearer than one that says
something else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from movers.arrays import Floats, Ints, Singles
from movers.documents.changes import COUNTERPART, Change, judge_pair, terms_of
from movers.documents.matching import equal_pairs, kept_order, match
from movers.documents.splitting import Document
from movers.runtime.threads import end_if_unwanted
from movers.scale import similarity_of

ORDER = 0.25
"""What a text costs of which no two sentences follow each other any more, in units of far."""
MEANING = 0.5
"""What a text costs of which many sentences say something else, in units of far."""


Vectors = Callable[[Sequence[str]], Singles]
"""Gives the vectors of sentences, ``(sentences, dimension)``."""
Price = Callable[[Sequence[tuple[str, str]]], Floats]
"""Gives the distances of pairs of sentences."""


@dataclass(frozen=True)
class Matched:
    """Two texts compared: the pairs of sentences with their distances, and what follows from them.

    Parameters
    ----------
    source, target
        The texts.
    pairs, costs
        Sentences that go together by number, ``(pairs, 2)``, and how far they are apart.
    far
        Distance of unrelated sentences.
    """

    source: Document
    target: Document
    pairs: Ints
    costs: Floats
    far: float

    @cached_property
    def counterparts(self) -> tuple[Ints, Floats]:
        """The pairs that are about the same thing, and their similarities."""
        alike = similarity_of(self.costs, self.far)
        return self.pairs[alike >= COUNTERPART], alike[alike >= COUNTERPART]

    @cached_property
    def sentences(self) -> float:
        """What the sentences cost, for every word: T."""
        words = [
            np.array([one.words for one in side.sentences], float)
            for side in (self.source, self.target)
        ]
        total = words[0].sum() + words[1].sum()
        moved = words[0][self.pairs[:, 0]] + words[1][self.pairs[:, 1]]
        home = total - moved.sum()
        return float(((moved * self.costs).sum() + self.far * home) / total)

    @cached_property
    def order(self) -> float:
        """Share of the neighbours that are none in the other text: b."""
        places = np.argsort(np.argsort(self.counterparts[0][:, 1]))
        if len(places) < 2:
            return 0.0
        return float((np.diff(places) != 1).mean())

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What became of every sentence, as the target has them; what is missing where it was."""
        pairs, alike = self.counterparts
        stay, terms = kept_order(pairs[:, 1].tolist()), terms_of(self.source.text, self.target.text)
        placed: list[tuple[float, int, Change]] = []
        for number, (i, j) in enumerate(pairs.tolist()):
            end_if_unwanted()
            one, other = self.source.sentences[i], self.target.sentences[j]
            words = max(one.words, other.words)
            near = float(alike[number])
            fate, verdict, differing = judge_pair(one.text, other.text, near, terms)
            apart, moved = self.far * (1.0 - near), number not in stay
            change = Change(fate, i, j, words, apart, near, verdict, differing, moved)
            placed.append((j, -1, change))
        partner, behind = dict(pairs.tolist()), -1.0
        for i, one in enumerate(self.source.sentences):
            if i in partner:
                behind = partner[i] + 0.5
            else:
                placed.append((behind, i, Change("missing", i, None, one.words)))
        met = {*partner.values()}
        placed += [
            (j, -1, Change("new", None, j, other.words))
            for j, other in enumerate(self.target.sentences)
            if j not in met
        ]
        return tuple(change for *_, change in sorted(placed, key=lambda one: one[:2]))

    @cached_property
    def parts(self) -> dict[str, float]:
        """What the distance adds up from."""
        x = min(1.0, self.sentences / self.far)
        other = sum(one.weight for one in self.changes)
        room = self.far * (1.0 - x)
        meaning = MEANING * (1.0 - np.exp(-other))
        return {
            "sentences": self.sentences,
            "order": room * ORDER * self.order,
            "meaning": float(room * meaning),
        }

    @property
    def distance(self) -> float:
        """How far the texts are apart: small means similar."""
        return sum(self.parts.values())


def blocks_of(
    pairs: Sequence[tuple[Document, Document]], most: int
) -> Iterator[tuple[range, list[str]]]:
    """Yield stretches of pairs, and what sentences, ``most`` at a time, are encoded for each."""
    start, held = 0, dict[str, None]()
    for number, (source, target) in enumerate(pairs):
        _, rows, columns = _apart(source, target)
        more = [source.sentences[row].text for row in rows.tolist()]
        more += [target.sentences[row].text for row in columns.tolist()]
        fresh = [text for text in more if text not in held]
        if held and len(held) + len(fresh) > most:
            yield range(start, number), list(held)
            start, held = number, {}
        held.update(dict.fromkeys(more if len(rows) and len(columns) else []))
    yield range(start, len(pairs)), list(held) if len(held) <= most else []


def compare_documents(
    source: Document, target: Document, vectors: Vectors, price: Price, far: float
) -> Matched:
    """Match the sentences of two texts; ``far`` is the distance of unrelated ones."""
    pairs, rows, columns = _apart(source, target)
    costs = np.zeros(len(pairs))
    if len(rows) and len(columns):
        first = [source.sentences[row] for row in rows.tolist()]
        second = [target.sentences[column] for column in columns.tolist()]
        both = vectors([one.text for one in (*first, *second)])
        units = both / np.maximum(np.linalg.norm(both, axis=1, keepdims=True), 1e-12)
        words = [np.array([one.words for one in side], float) for side in (first, second)]

        def priced(pairs: Ints) -> Floats:
            return price([(first[i].text, second[j].text) for i, j in pairs.tolist()])

        sides = units[: len(first)], units[len(first) :]
        found, paid = match(sides, (words[0], words[1]), priced, far)
        found = np.stack([rows[found[:, 0]], columns[found[:, 1]]], axis=1)
        pairs, costs = np.concatenate([pairs, found]), np.concatenate([costs, paid])
        order = np.argsort(pairs[:, 0], kind="stable")
        pairs, costs = pairs[order], costs[order]
    return Matched(source, target, pairs, costs, far)


def _apart(source: Document, target: Document) -> tuple[Ints, Ints, Ints]:
    """Return the pairs of equal sentences, and the numbers of the others in either text."""
    texts = [[one.text for one in side.sentences] for side in (source, target)]
    equal = np.array(equal_pairs(*texts), np.int64).reshape(-1, 2)
    first, second = (
        np.setdiff1d(np.arange(len(side)), equal[:, k]).astype(np.int64)
        for k, side in enumerate(texts)
    )
    return equal, first, second
