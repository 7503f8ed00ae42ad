"""Texts found by their sentences: an index of sentences that answers with texts.

A text is as far from a query as the nearest of its sentences; from a query of several sentences,
as far as these are from their nearest ones, in the mean over words.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Floats
from movers.errors import InputError
from movers.results import Match
from movers.runtime.atomic import replacing
from movers.scorer import Scorer
from movers.search.corpus import CorpusReader
from movers.search.index import Index
from movers.search.queries import check_count
from movers.search.search_ranking import SearchRanking

TEXTS, SENTENCES = "texts.jsonl", "sentences"
"""What lies in the folder: the texts with the places of their sentences, and the index of these."""
WIDER = 4
"""How many times as many sentences are looked for until no text that is left out can belong."""
SHOWN = 3
"""Sentences shown of a text."""


@dataclass(frozen=True)
class TextMatch(Match):
    """A text that was found, with the sentences that are nearest to the query."""

    passages: tuple[Match, ...] = ()


class PassageIndex:
    """Texts of any length, searched by their sentences, exactly.

    Make one with `PassageIndex.build` or `PassageIndex.open`.

    Examples
    --------
    >>> import movers
    >>> from movers.search.passages import PassageIndex
    >>> texts = ["It rains. A dog barks at the moon.", "The press greets the president. It snows."]
    >>> found = PassageIndex.build(movers.load(), texts).search("the president is greeted")[0]
    >>> found.index, found.passages[0].text
    (1, 'The press greets the president.')
    """

    def __init__(self, index: Index, texts: list[str], spans: list[list[list[int]]]) -> None:
        self.index, self.texts, self.spans = index, texts, spans

    def __len__(self) -> int:
        return len(self.texts)

    def __repr__(self) -> str:
        return f"PassageIndex({len(self):,} texts of {len(self.index):,} sentences)"

    @property
    def scorer(self) -> Scorer:
        """The measure."""
        return self.index.scorer

    @classmethod
    def build(
        cls,
        scorer: Scorer,
        texts: Iterable[str] | Path,
        folder: str | Path | None = None,
        **options: Any,
    ) -> PassageIndex:
        """Cut texts into sentences and encode these for search.

        Takes the options of `Index.build`; without a folder the index is in memory.
        """
        kept = list(dict.fromkeys(text for text in CorpusReader(texts) if text.strip()))
        cut = [[[one.start, one.end] for one in scorer.document(text).sentences] for text in kept]
        sentences = [_part(text, span) for text, spans in zip(kept, cut, strict=True)
                     for span in spans]  # fmt: skip
        if folder is None:
            return cls(Index.build(scorer, sentences, **options), kept, cut)
        root = Path(folder)
        root.mkdir(parents=True, exist_ok=True)
        index = Index.build(scorer, sentences, root / SENTENCES, **options)
        with replacing(root / TEXTS) as temporary, temporary.open("w", encoding="utf-8") as stream:
            for text, spans in zip(kept, cut, strict=True):
                stream.write(json.dumps([text, spans], ensure_ascii=False) + "\n")
        return cls(index, kept, cut)

    @classmethod
    def open(cls, folder: str | Path) -> PassageIndex:
        """Open what `build` left in a folder."""
        file = Path(folder) / TEXTS
        if not file.is_file():
            raise InputError(f"{str(folder)!r} is no index of texts: there is no {TEXTS} in it")
        with file.open(encoding="utf-8") as stream:
            texts, spans = map(list, zip(*map(json.loads, stream), strict=True))
        return cls(Index.open(Path(folder) / SENTENCES), texts, spans)

    @cached_property
    def _holders(self) -> dict[str, list[int]]:
        """The texts that hold each sentence."""
        found: dict[str, list[int]] = defaultdict(list)
        for number, (text, spans) in enumerate(zip(self.texts, self.spans, strict=True)):
            for span in spans:
                found[_part(text, span)].append(number)
        return found

    def search(self, query: str, top_k: int = 10) -> SearchRanking:
        """Find the texts nearest to a query, exactly: no text that is left out is nearer."""
        check_count("top_k", top_k)
        asked = self.scorer.document(query).sentences
        if not asked:
            raise InputError(f"the query is empty ({query!r}); pass a sentence")
        words = np.array([one.words for one in asked], float)
        shares, count = words / words.sum(), WIDER * top_k
        while True:
            lists = self.index.search_many([one.text for one in asked], count)
            seen = {
                holder for one in lists for match in one for holder in self._holders[match.text]
            }
            distances = self._distances([one.text for one in asked], lists, sorted(seen), shares)
            order = sorted(distances, key=lambda number: (distances[number][0], number))[:top_k]
            beyond = sum(s * one[-1].distance for s, one in zip(shares, lists, strict=True))
            enough = len(order) == top_k and distances[order[-1]][0] <= beyond
            if enough or count >= len(self.index):
                break
            count *= WIDER
        scaled = self.scorer.scaled(np.array([distances[number][0] for number in order]))
        matches = tuple(
            TextMatch(number, self.texts[number], distances[number][0],
                      None if scaled is None else float(scaled[place]), 0, distances[number][1])
            for place, number in enumerate(order)
        )  # fmt: skip
        return SearchRanking(query, matches, self.scorer.signature, lists[0].pruning)

    def _distances(
        self, asked: list[str], lists: list[SearchRanking], texts: list[int], shares: Floats
    ) -> dict[int, tuple[float, tuple[Match, ...]]]:
        """How far texts are, and their nearest sentences; what no list holds is compared."""
        scorer, known = self.scorer, [{match.text: match for match in one} for one in lists]
        found = {}
        for number in texts:
            parts = [_part(self.texts[number], span) for span in self.spans[number]]
            nearest, shown = [], dict[str, Match]()
            for query, near in zip(asked, known, strict=True):
                held = [near[part] for part in parts if part in near]
                if not held:
                    values = scorer.distances([(query, part) for part in parts])
                    held = [*scorer.matches(np.arange(len(parts)), values, parts.__getitem__)]
                best = sorted(held, key=lambda match: match.distance)
                nearest.append(best[0].distance)
                shown |= {match.text: match for match in best[:SHOWN]}
            some = sorted(shown.values(), key=lambda match: match.distance)[:SHOWN]
            found[number] = float(shares @ np.array(nearest)), tuple(some)
        return found


def _part(text: str, span: list[int]) -> str:
    return text[span[0] : span[1]]
