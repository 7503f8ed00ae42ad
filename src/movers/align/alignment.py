"""What comes back: links between words, and the words that have none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from movers.align.reading import Span, Spans, words_of
from movers.arrays import Floats


@dataclass(frozen=True)
class Link:
    """Two words that go together.

    Parameters
    ----------
    source_index, target_index
        Which words of their sentences these are, counted from 0.
    source, target
        The words.
    source_span, target_span
        Their character ranges in the texts.
    mass
        How much of the two words goes to each other, from 0 to 1: the geometric mean of either's
        share in the other.
    cost
        One minus the cosine of the two words.
    confidence
        From 0 to 1, how sure the link is. For the default aligner about how often people agree.
    """

    source_index: int
    target_index: int
    source: str
    target: str
    source_span: Span
    target_span: Span
    mass: float
    cost: float
    confidence: float

    def __str__(self) -> str:
        return f"{self.source} → {self.target}  {self.confidence:.2f}"


Scores = tuple[Floats, Floats, Floats]
"""Strength, mass and cost of all word pairs of two sentences, ``(n, m)``.

Links as strong as the aligner's threshold are made, with their strength for confidence.
"""


@dataclass(frozen=True, repr=False)
class Alignment:
    """Two sentences and the links between their words.

    Parameters
    ----------
    source, target
        The texts; words that were given ready-made stand with one blank between them.
    source_spans, target_spans
        Character range of every word in its text.
    links
        The links, by source word and then by target word.
    signature
        Everything that changes a link.

    Examples
    --------
    >>> words, spans = (["a", "dog", "barks"], ["dogs"]), (((0, 1), (2, 5), (6, 11)), ((0, 4),))
    >>> scores = np.array([[[0.1], [0.9], [0.0]]] * 3)
    >>> links = make_links(words, spans, scores, threshold=0.5)
    >>> found = Alignment("a dog barks", "dogs", *spans, links)
    >>> found.pharaoh, found.unmatched_source, found.unmatched_target
    ('1-0', (0, 2), ())
    """

    source: str
    target: str
    source_spans: Spans
    target_spans: Spans
    links: tuple[Link, ...]
    signature: str = ""

    def __iter__(self) -> Iterator[Link]:
        return iter(self.links)

    def __len__(self) -> int:
        return len(self.links)

    @property
    def source_words(self) -> tuple[str, ...]:
        """The words of the source as they stand in its text."""
        return words_of(self.source, self.source_spans)

    @property
    def target_words(self) -> tuple[str, ...]:
        """The words of the target as they stand in its text."""
        return words_of(self.target, self.target_spans)

    @cached_property
    def unmatched_source(self) -> tuple[int, ...]:
        """Words of the source that match nothing, by index."""
        return tuple(sorted({*range(len(self.source_spans))} - {i for i, _ in self.pairs}))

    @cached_property
    def unmatched_target(self) -> tuple[int, ...]:
        """Words of the target that match nothing, by index."""
        return tuple(sorted({*range(len(self.target_spans))} - {j for _, j in self.pairs}))

    @property
    def pairs(self) -> frozenset[tuple[int, int]]:
        """The links as pairs of word indices."""
        return frozenset((link.source_index, link.target_index) for link in self.links)

    @property
    def pharaoh(self) -> str:
        """The links in the field's own format, ``0-0 1-2``."""
        return " ".join(f"{link.source_index}-{link.target_index}" for link in self.links)

    def __repr__(self) -> str:
        return f"Alignment({self.source!r}, {self.target!r}, {self.pharaoh!r})"

    def __str__(self) -> str:
        lines = [str(link) for link in self.links]
        lines += [f"{self.source_words[k]} → –" for k in self.unmatched_source]
        lines += [f"– → {self.target_words[k]}" for k in self.unmatched_target]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        return {
            "source": self.source,
            "target": self.target,
            "source_words": list(self.source_words),
            "target_words": list(self.target_words),
            "source_spans": [list(span) for span in self.source_spans],
            "target_spans": [list(span) for span in self.target_spans],
            "links": [asdict(link) for link in self.links],
            "unmatched_source": list(self.unmatched_source),
            "unmatched_target": list(self.unmatched_target),
            "pharaoh": self.pharaoh,
            "signature": self.signature,
        }


def make_links(
    words: tuple[Sequence[str], Sequence[str]],
    spans: tuple[Spans, Spans],
    scores: Scores,
    *,
    threshold: float,
    places: tuple[Any, Any] | None = None,
) -> tuple[Link, ...]:
    """Return the links that are strong enough, of two sentences given as words and their places.

    ``places`` say which words the rows and columns of the scores are; None is all of them.
    """
    rows, columns = places or tuple(range(len(side)) for side in words)
    strength, mass, cost = scores
    links = []
    for place in map(tuple, np.argwhere(strength >= threshold)):
        i, j = int(rows[place[0]]), int(columns[place[1]])
        numbers = (float(array[place]) for array in (mass, cost, strength))
        links.append(Link(i, j, words[0][i], words[1][j], spans[0][i], spans[1][j], *numbers))
    return tuple(links)
