"""Texts that an index holds by their sentences, for the model cannot read them whole.

A text is as far from a query as the nearest of its sentences; from a query that is itself too long,
as far as the sentences of the query are from their nearest ones, in the mean over words.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, islice
from pathlib import Path

import numpy as np

from movers.arrays import Ints
from movers.errors import InputError
from movers.results import Match
from movers.scorer import Scorer
from movers.search.corpus import Corpus, key, read_sentences
from movers.search.search_ranking import SearchRanking, SearchResult

LOOKED_UP = 1024
"""Texts looked up at a time."""
Table = list[tuple[str, list[list[int]]]]
"""Texts, each with where its sentences begin and end; one that is read whole is its only one."""
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
class IndexedTexts:
    """The texts of an index by number, whether it holds them whole or by their sentences.

    ``table`` has all texts, each with the places of its sentences, where some are longer than the
    model reads; None where every sentence of the corpus is a text.
    """

    corpus: Corpus
    table: Table | None = None

    def __len__(self) -> int:
        return len(self.corpus if self.table is None else self.table)

    @property
    def texts(self) -> list[str]:
        """All texts."""
        return self.corpus.sentences if self.table is None else [text for text, _ in self.table]

    def text(self, number: int) -> str:
        """Return a text."""
        if self.table is None:
            return self.corpus.sentence(number)
        if not 0 <= number < len(self.table):
            raise InputError(f"no text {number}; the index has {len(self.table)}")
        return self.table[number][0]

    def sentences(self, number: int) -> list[str]:
        """Return the sentences of a text."""
        text, spans = (self.text(number), None) if self.table is None else self.table[number]
        return [text] if spans is None else [text[start:end] for start, end in spans]

    def rows(self, numbers: Ints) -> Ints:
        """Return rows of all sentences of some texts."""
        if self.table is None:
            return self.corpus.rows(numbers)
        parts = chain.from_iterable(map(self.sentences, numbers.tolist()))
        return np.asarray(np.unique(self.corpus.find(list(dict.fromkeys(parts)))))

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {text: number for number, text in enumerate(self.texts)}

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        holders: dict[str, list[int]] = defaultdict(list)
        for number in range(len(self)):
            for sentence in dict.fromkeys(self.sentences(number)):
                holders[sentence].append(number)
        return holders

    def holders(self, sentence: str) -> Sequence[int]:
        """Return the numbers of the texts that have a sentence."""
        if self.table is not None:
            return self._holders[sentence]
        return [int(row) for row in self.corpus.numbers(self.corpus.find([sentence]))]

    def hold(self, texts: Sequence[str]) -> list[bool]:
        """Tell whether texts are there."""
        if self.table is not None:
            return [text in self._numbers for text in texts]
        return [row >= 0 for row in self.corpus.find(texts).tolist()]

    def without(self, texts: Sequence[str]) -> tuple[Table | None, Ints]:
        """Return the table without some texts, and the rows of all deleted sentences."""
        table, lost = self.table, list(texts)
        if table is not None:
            gone = {self._numbers[text] for text in texts}
            held = dict.fromkeys(chain.from_iterable(map(self.sentences, sorted(gone))))
            lost = [sentence for sentence in held if gone.issuperset(self._holders[sentence])]
            table = [row for number, row in enumerate(table) if number not in gone]
        return table, np.union1d(self.corpus.hidden, self.corpus.find(lost))


class Cutter:
    """A cutter of the texts of a corpus, as they come, that the model does not read whole.

    Parameters
    ----------
    scorer
        Says which texts it takes sentence by sentence.
    known
        What is in the index already.
    """

    def __init__(self, scorer: Scorer, known: IndexedTexts | None = None) -> None:
        self.scorer, self.known = scorer, known or IndexedTexts(Corpus(()))
        self.read = self.count = 0  # texts, and those that are new
        self._seen: set[bytes] = set()
        self._sentences: set[bytes] | None = None if self.known.table is None else set()
        self._whole = 0
        self._rows: Table = []

    def sentences(self, texts: Iterable[str] | Path) -> Iterator[str]:
        """Yield what has to be indexed for distinct texts that are not there yet, each once."""
        left = read_sentences(texts)
        while some := list(islice(left, LOOKED_UP)):
            self.read += len(some)
            for text, there in zip(some, self.known.hold(some), strict=True):
                if text.strip() and not there and key(text) not in self._seen:
                    yield from self._cut(text)
                    self._seen.add(key(text))
                    self.count += 1

    def _cut(self, text: str) -> Iterator[str]:
        long = self.scorer.takes_sentences(text)
        if self._sentences is None and not long:
            yield text
            return
        if self._sentences is None:  # all texts so far are sentences of the index
            self._sentences = set(self._seen)
            self._whole = self.count + len(self.known)
        sentences = self.scorer.document(text).sentences if long else ()
        spans = [[sentence.start, sentence.end] for sentence in sentences] or [[0, len(text)]]
        self._rows.append((text, spans))
        parts = list(dict.fromkeys(text[start:end] for start, end in spans))
        for part, row in zip(parts, self.known.corpus.find(parts).tolist(), strict=True):
            if row < 0 and key(part) not in self._sentences:
                self._sentences.add(key(part))
                yield part

    def table(self, sentences: Iterable[str]) -> Table | None:
        """Return all texts, given all sentences of the index; None while none was cut."""
        if self._sentences is None:
            return None
        whole = islice(sentences, self._whole)
        before = self.known.table or [(text, [[0, len(text)]]) for text in whole]
        return [*before, *self._rows]


def nearest_texts(
    scorer: Scorer,
    texts: IndexedTexts,
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
    texts
        The texts of the index.
    query
        Any text; one that the model does not read whole is cut into sentences.
    find
        Gives the nearest sentences for queries, a number of them, and a largest distance.
    align
        How many of the first matches are compared with the query.
    """
    started, asked = time.process_time(), _asked(scorer, query)
    limit, count = within if len(asked) == 1 else np.inf, WIDER * top_k
    while True:
        results = find([*asked], count, limit)
        near = [
            dict(zip(map(texts.corpus.text, found.rows), found.distances.tolist(), strict=True))
            for found in results
        ]
        every = dict.fromkeys(chain.from_iterable(near))
        numbers = {number for sentence in every for number in texts.holders(sentence)}
        ranked = sorted(
            (_match(scorer, texts, number, asked, near) for number in numbers),
            key=lambda match: (np.nan_to_num(match.distance, nan=np.inf), match.index),
        )[:top_k]
        ends = [result.distances[-1] if len(result.rows) else np.inf for result in results]
        enough = len(ranked) == top_k and ranked[-1].distance <= [*asked.values()] @ np.array(ends)
        if enough or all(len(result.rows) < count for result in results):
            break
        count *= WIDER
    matches = tuple(match for match in ranked if not match.distance > within)
    best = (match.passages[0] if len(asked) == 1 else match for match in matches[:align])
    return SearchRanking(
        query,
        matches,
        scorer.signature,
        replace(results[0].pruning, seconds=time.process_time() - started),
        tuple(scorer.compare(query, match.text) for match in best),
        certified=all(result.certified for result in results),
    )


def _asked(scorer: Scorer, query: str) -> dict[str, float]:
    """Return a query, or the sentences of one that is too long, with their shares of its words."""
    if not scorer.takes_sentences(query):
        return {query: 1.0}
    counts: dict[str, float] = defaultdict(float)
    for sentence in scorer.document(query).sentences:
        counts[sentence.text] += sentence.words
    return {text: count / sum(counts.values()) for text, count in counts.items()}


def _match(
    scorer: Scorer,
    texts: IndexedTexts,
    number: int,
    asked: Mapping[str, float],
    near: Sequence[Mapping[str, float]],
) -> TextMatch:
    """Return how far a text is, with its nearest sentences; what no list holds is compared."""
    text, sentences = texts.text(number), texts.sentences(number)
    distance, shown = 0.0, dict[str, Match]()
    for (query, share), known in zip(asked.items(), near, strict=True):
        places = [place for place, sentence in enumerate(sentences) if sentence in known]
        distances = np.array([known[sentences[place]] for place in places])
        if not places:
            places = [*range(len(sentences))]
            distances = scorer.distances([(query, sentence) for sentence in sentences])
        order = np.argsort(distances, kind="stable")[:SHOWN]
        best = scorer.matches(np.array(places)[order], distances[order], sentences.__getitem__)
        distance += share * best[0].distance
        shown |= {match.text: match for match in best}
    nearest = sorted(shown.values(), key=lambda match: np.nan_to_num(match.distance, nan=np.inf))
    scaled = scorer.scaled(np.array([distance]))
    similarity = None if scaled is None else float(scaled[0])
    unread = scorer.encoder.unread(text) if sentences == [text] else ""
    passages = tuple(nearest[:SHOWN])
    return TextMatch(number, text, distance, similarity, len(unread.split()), passages)
