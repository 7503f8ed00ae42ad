"""Texts that an index holds by their sentences, for the model cannot read them whole.

A text is as far from a query as the nearest of its sentences; from a query that is itself too long,
as far as the sentences of the query are from their nearest ones, in the mean over words.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.results import Match
from movers.scorer import Scorer
from movers.search.corpus import LOOKED_UP, Corpus
from movers.search.search_ranking import SearchRanking, SearchResult
from movers.search.shards import key

Spans = list[list[int]]
"""Where the sentences of a text begin and end."""
Find = Callable[[Sequence[str], int, float], list[SearchResult]]
"""Gives the nearest sentences for queries, a number of them, and a largest distance."""
WIDER = 4
"""How many times as many sentences are looked for until no text that is left out can belong."""
SHOWN = 3
"""Sentences shown of a text."""


@dataclass(frozen=True)
class TextMatch(Match):
    """A text that was found, with the sentences that are nearest to the query."""

    passages: tuple[Match, ...] = ()


@dataclass(frozen=True)
class TextTable:
    """All texts of an index, some of them longer than the model reads, and their sentences.

    A text that the model reads whole is its own and only sentence.
    """

    texts: tuple[str, ...]
    spans: tuple[Spans, ...]

    @classmethod
    def of(cls, rows: Iterable[tuple[str, Spans]]) -> TextTable:
        """Make a table of texts, each with the places of its sentences."""
        texts, spans = zip(*rows, strict=True)
        return cls(texts, spans)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def rows(self) -> Iterator[tuple[str, Spans]]:
        """Every text with the places of its sentences."""
        return zip(self.texts, self.spans, strict=True)

    def passages(self, number: int) -> list[str]:
        """Return the sentences of a text."""
        return [self.texts[number][start:end] for start, end in self.spans[number]]

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of every text."""
        return {text: number for number, text in enumerate(self.texts)}

    @cached_property
    def holders(self) -> dict[str, list[int]]:
        """The texts that hold each sentence, by number."""
        found: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self)):
            for passage in dict.fromkeys(self.passages(number)):
                found[passage].append(number)
        return found

    def without(self, texts: Iterable[str]) -> tuple[TextTable, list[str]]:
        """Return the table without some texts, and the sentences that no text has any more."""
        gone = {self.numbers[text] for text in texts}
        held = self.holders
        lost = dict.fromkeys(
            passage
            for number in sorted(gone)
            for passage in self.passages(number)
            if gone.issuperset(held[passage])
        )
        rest = [row for number, row in enumerate(self.rows) if number not in gone]
        return TextTable.of(rest), list(lost)

    def encoded(self) -> bytes:
        """Return the table as lines of JSON, a text with its spans on each."""
        return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in self.rows)

    @classmethod
    def decoded(cls, raw: bytes) -> TextTable:
        """Return what `encoded` wrote."""
        return cls.of(map(json.loads, raw.split(b"\n")[:-1]))


class Cutter:
    """Cuts the texts of a corpus that the model does not read whole, as they come.

    Parameters
    ----------
    scorer
        Says which texts it takes sentence by sentence.
    known, table
        What is in the index already: its sentences, and its texts if some are longer.
    """

    def __init__(
        self, scorer: Scorer, known: Corpus[Any] | None = None, table: TextTable | None = None
    ) -> None:
        self.scorer, self.known, self.old = scorer, known, table
        self.count = 0
        self._seen: set[bytes] = set()
        self._sentences: set[bytes] | None = None if table is None else set()
        self._whole = 0
        self._rows: list[tuple[str, Spans]] = []

    def sentences(self, texts: Iterable[str]) -> Iterator[str]:
        """Yield what has to be indexed for distinct texts that are not there yet, each once."""
        left, size = iter(texts), 1 if self.known is None else LOOKED_UP
        while held := list(islice(left, size)):
            for text, there in zip(held, self._there(held), strict=True):
                own = key(text)
                if text.strip() and not there and own not in self._seen:
                    yield from self._cut(text)
                    self._seen.add(own)
                    self.count += 1

    def _there(self, texts: Sequence[str]) -> Sequence[bool]:
        """Whether texts are in the index already."""
        if self.old is not None:
            return [text in self.old.numbers for text in texts]
        return [False] * len(texts) if self.known is None else self.known.holds(texts)

    def _cut(self, text: str) -> Iterator[str]:
        long = self.scorer.takes_sentences(text)
        if self._sentences is None and not long:
            yield text
            return
        if self._sentences is None:  # all texts so far are sentences of the index
            self._sentences = set(self._seen)
            self._whole = self.count + (0 if self.known is None else len(self.known))
        sentences = self.scorer.document(text).sentences if long else ()
        spans = [[one.start, one.end] for one in sentences] or [[0, len(text)]]
        self._rows.append((text, spans))
        parts = list(dict.fromkeys(text[start:end] for start, end in spans))
        held = [False] * len(parts) if self.known is None else self.known.holds(parts)
        for part, there in zip(parts, held, strict=True):
            if not there and (own := key(part)) not in self._sentences:
                self._sentences.add(own)
                yield part

    def table(self, sentences: Iterable[str]) -> TextTable | None:
        """Return all texts, given all sentences of the index; None while none was cut."""
        if self._sentences is None:
            return None
        whole = ((text, [[0, len(text)]]) for text in islice(sentences, self._whole))
        return TextTable.of(chain(whole if self.old is None else self.old.rows, self._rows))


def nearest_texts(
    scorer: Scorer,
    corpus: Corpus[Any],
    table: TextTable | None,
    query: str,
    top_k: int,
    within: float,
    find: Find,
    *,
    align: int = 0,
) -> SearchRanking:
    """Find the texts nearest to a query by their sentences: none that is left out is nearer.

    Parameters
    ----------
    corpus, table
        The sentences, and the texts they belong to; None where each is a text.
    query
        Any text; one that the model does not read whole is cut into sentences.
    find
        Gives the nearest sentences for queries, a number of them, and a largest distance.
    align
        How many of the first matches are compared with the query.
    """
    started, asked = time.process_time(), _asked(scorer, query)
    queries, shares = list(asked), np.array([*asked.values()])
    limit, count = within if len(asked) == 1 else np.inf, WIDER * top_k
    while True:
        results = find(queries, count, limit)
        near = [_by_text(corpus, one) for one in results]
        numbers = {
            number
            for one in near
            for text, (row, _) in one.items()
            for number in (_number(corpus, row) if table is None else table.holders[text])
        }
        parts = {n: [corpus.sentence(n)] if table is None else table.passages(n) for n in numbers}
        found = {n: _nearest(scorer, queries, near, parts[n], shares) for n in numbers}
        order = sorted(found, key=lambda n: (np.nan_to_num(found[n][0], nan=np.inf), n))[:top_k]
        beyond = shares @ [one.distances[-1] if len(one.rows) else np.inf for one in results]
        enough = len(order) == top_k and found[order[-1]][0] <= beyond
        if enough or all(len(one.rows) < count for one in results):
            break
        count *= WIDER
    order = [number for number in order if not found[number][0] > within]
    scaled = scorer.scaled(np.array([found[number][0] for number in order]))
    matches = []
    for place, number in enumerate(order):
        text = corpus.sentence(number) if table is None else table.texts[number]
        end = scorer.encoder.unread(text) if parts[number] == [text] else ""
        alike = None if scaled is None else float(scaled[place])
        match = TextMatch(number, text, found[number][0], alike, len(end.split()), found[number][1])
        matches.append(match)
    best = (one.passages[0].text if len(asked) == 1 else one.text for one in matches[:align])
    seconds = time.process_time() - started
    return SearchRanking(
        query,
        tuple(matches),
        scorer.signature,
        replace(results[0].pruning, seconds=seconds),
        tuple(scorer.compare(query, text) for text in best),
        certified=all(one.certified for one in results),
    )


def _asked(scorer: Scorer, query: str) -> dict[str, float]:
    """Return a query, or the sentences of one that is too long, with their shares of its words."""
    if not scorer.takes_sentences(query):
        return {query: 1.0}
    counts: dict[str, float] = defaultdict(float)
    for sentence in scorer.document(query).sentences:
        counts[sentence.text] += sentence.words
    return {text: count / sum(counts.values()) for text, count in counts.items()}


def _by_text(corpus: Corpus[Any], found: SearchResult) -> dict[str, tuple[int, float]]:
    """Return row and distance of every sentence that was found."""
    both = zip(found.rows.tolist(), found.distances.tolist(), strict=True)
    return {corpus.text(row): (row, distance) for row, distance in both}


def _number(corpus: Corpus[Any], row: int) -> list[int]:
    return [int(corpus.numbers(np.array([row]))[0])]


def _nearest(
    scorer: Scorer,
    queries: Sequence[str],
    near: Sequence[dict[str, tuple[int, float]]],
    parts: Sequence[str],
    shares: Floats,
) -> tuple[float, tuple[Match, ...]]:
    """Return how far a text is, and its nearest sentences; what no list holds is compared."""
    least, shown = [], dict[str, Match]()
    for query, known in zip(queries, near, strict=True):
        places = [place for place, part in enumerate(parts) if part in known]
        distances = np.array([known[parts[place]][1] for place in places])
        if not places:
            places, distances = (
                list(range(len(parts))),
                scorer.distances([(query, p) for p in parts]),
            )
        order = np.argsort(distances, kind="stable")[:SHOWN]
        best = scorer.matches(np.array(places)[order], distances[order], parts.__getitem__)
        least.append(best[0].distance)
        shown |= {match.text: match for match in best}
    nearest = sorted(shown.values(), key=lambda match: np.nan_to_num(match.distance, nan=np.inf))
    return float(shares @ least), tuple(nearest[:SHOWN])
