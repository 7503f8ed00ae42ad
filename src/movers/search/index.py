"""`Index`: a corpus made ready for exact search."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from itertools import chain, islice
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from movers.errors import Do, InputError
from movers.io.pairs import check_sentence
from movers.loading import load
from movers.scorer import Scorer
from movers.search.cascade import Cascade
from movers.search.folder import EMPTY, Folder, Piece
from movers.search.lower import Query
from movers.search.measures import check_method, describe
from movers.search.results import SearchRanking
from movers.search.sentences import distinct, key, read_sentences
from movers.search.shards import Shard, joined, make_shard

SHARD = 4096
"""Sentences of a shard: about 100 MB, and what a broken-off build loses at most."""
GROWTH = 8
"""How many times what follows it a shard may hold and still be joined with it."""


class Index:
    """Distinct sentences of a corpus, encoded once, searched exactly.

    Make one with `Index.build` or `Index.open`. Distances, ties included, are those of
    `Scorer.rank` over `sentences`.

    Examples
    --------
    >>> import movers
    >>> corpus = ["the president greets the press", "the press greets the president"]
    >>> index = movers.Index.build(movers.load("wsmd"), [*corpus, "a dog barks at the moon"])
    >>> index.search("the press greets the president", top_k=1)[0].index
    1
    """

    def __init__(
        self, scorer: Scorer, shards: Sequence[Shard] = (), *, files: Folder | None = None
    ) -> None:
        self._scorer = scorer.using()  # its own: fitting the other changes nothing here
        self._shards = list(shards)
        self._files = files
        self._agrees = files is None

    def __len__(self) -> int:
        if self._files is None:
            return sum(map(len, self._shards))
        return sum(part.sentences for part in self._files.manifest.parts)

    def __repr__(self) -> str:
        place = "in memory" if self.folder is None else str(self.folder)
        return f"Index({len(self):,} sentences, {self._scorer.method.name}, {place})"

    @property
    def folder(self) -> Path | None:
        """Where the index lies; None if in memory."""
        return None if self._files is None else self._files.path

    @property
    def scorer(self) -> Scorer:
        """The measure: a copy, for an index keeps its own statistics whatever is fitted later."""
        return self._scorer.using()

    @property
    def shards(self) -> list[Shard]:
        """Sentences with all that comparing them needs, checked when they are first used."""
        return self._shards if self._files is None else self._files.shards

    @property
    def sentences(self) -> list[str]:
        """All sentences, in the order of their first occurrence."""
        return [text for shard in self.shards for text in shard.sentences]

    def sentence(self, number: int) -> str:
        """One sentence by its number."""
        return _sentence(self.shards, number)

    @classmethod
    def build(
        cls,
        scorer: Scorer,
        sentences: Iterable[str] | Path,
        folder: str | Path | None = None,
        *,
        replace: bool = False,
        progress: bool = False,
    ) -> Index:
        """Encode a corpus for search.

        Parameters
        ----------
        scorer
            The measure: any of word transport, structure or both.
        sentences
            Sentences, read one by one, or a text file with one on each line. Repeated and
            empty ones are left out.
        folder
            Where to write the index as it grows; None keeps it in memory. A build that was
            broken off is resumed: parts that are finished are used as they are.
        replace
            Build anew over an index that is there already, which stays until the new one is
            complete.
        progress
            Show a progress bar.
        """
        check_method(scorer)
        index = cls(scorer, files=None if folder is None else Folder(Path(folder)))
        pieces = index._pieces(read_sentences(sentences), set(), progress=progress)
        if index._files is not None:
            index._fill(index._files, pieces, replace=replace)
            return index
        index._shards = [make() for _, make in pieces]
        if not index._shards:
            raise InputError(EMPTY)
        return index

    @classmethod
    def open(
        cls, folder: str | Path, *, scorer: Scorer | None = None, verify: bool = False
    ) -> Index:
        """Map an index from disk; neither model nor sentences are read before they are needed.

        Parameters
        ----------
        folder
            What `build` or `save` wrote.
        scorer
            The scorer it was built with, if it cannot be made from names alone; None makes it.
        verify
            Compare every byte with its checksum now, not each file when it is first used.
        """
        files = Folder.opened(Path(folder))
        if verify or scorer is None:
            statistics = files.load_statistics()
        if scorer is None:
            scorer = load(**files.manifest.settings, statistics=statistics)
        index = cls(scorer, files=files)
        if verify:
            _ = index.shards
        return index

    def save(self, folder: str | Path) -> None:
        """Write an index that is in memory, or a copy of one on disk, to a folder."""
        pieces = ((shard.sentences, partial(_itself, shard)) for shard in self.shards)
        self._fill(Folder(Path(folder)), pieces)

    def _fill(self, files: Folder, pieces: Iterable[Piece], *, replace: bool = False) -> None:
        scorer = self._scorer
        signature, settings = str(scorer.signature), describe(scorer)
        files.fill(pieces, signature, settings, scorer.statistics, replace=replace)

    def add(self, sentences: Iterable[str] | Path, *, progress: bool = False) -> int:
        """Add sentences that are not there yet, and return how many were.

        On disk the index keeps its old state until all of them are in. What others added since
        it was opened is seen; while another process adds, this is refused. Small shards are
        joined, so that an index filled sentence by sentence stays as quick as another.
        """
        with nullcontext() if self._files is None else self._files.writing():
            if self._files is not None:
                self._files.refresh()
                self._files.clear()
            self._check_scorer()
            before, shards = len(self), self.shards
            known = {key(text) for shard in shards for text in shard.sentences}
            pieces = self._pieces(read_sentences(sentences), known, progress=progress)
            if (first := next(pieces, None)) is None:
                return 0
            small = _small(shards, len(first[0]))
            pieces = chain([_joined(small, first)], pieces)
            if self._files is not None:
                self._files.extend(pieces, len(small))
            else:
                self._shards[len(shards) - len(small) :] = [make() for _, make in pieces]
            return len(self) - before

    def _pieces(
        self, sentences: Iterator[str], known: set[bytes], *, progress: bool
    ) -> Iterator[Piece]:
        """Cut new sentences into shards."""
        fresh = distinct(sentences, known)
        with tqdm(desc="indexing", unit="sent", disable=not progress) as bar:
            while chunk := list(islice(fresh, SHARD)):
                yield chunk, partial(self._encoded, chunk)
                bar.update(len(chunk))

    def _encoded(self, chunk: list[str]) -> Shard:
        return make_shard(self._scorer.measure(chunk), chunk, self._scorer.method)

    def search(
        self,
        query: str,
        top_k: int = 10,
        *,
        within: float | None = None,
        candidates: int | Iterable[int] | None = None,
        exact: bool = False,
        align: int = 0,
    ) -> SearchRanking:
        """Find the nearest sentences.

        Parameters
        ----------
        query
            Any sentence.
        top_k
            How many to find.
        within
            Leave out sentences that are farther away, however few remain. What is known to lie
            beyond need not be looked at, so this also makes the search quicker.
        candidates
            Look only at so many sentences, those whose mean vectors have the highest cosine with
            the query's; or at the sentences with these numbers, from wherever they come. The
            result is then approximate. None searches all of them, exactly.
        exact
            Also search exactly, and report the recall of the candidates.
        align
            Give alignments for so many of the first matches.
        """
        if not check_sentence(query, "query").strip():
            raise InputError(f"the query is blank ({query!r}); pass a sentence")
        if self._files is not None:
            self._files.refresh()
        self._check_scorer()  # loads the model
        started = time.process_time()
        cascade = self._cascade(query, top_k, within)
        if candidates is None:
            pruning = cascade.run()
        else:
            pruning = cascade.some(self._candidates(cascade, candidates))
        rows, distances = cascade.best.ranked()
        if within is not None:
            rows, distances = rows[distances <= within], distances[distances <= within]
        pruning = dataclasses.replace(pruning, seconds=time.process_time() - started)
        matches = self._scorer.matches(rows, distances, partial(_sentence, cascade.shards))
        recall = None
        if exact and candidates is not None:
            truth = {match.index for match in self.search(query, top_k, within=within)}
            recall = len(truth & set(rows.tolist())) / len(truth) if truth else 1.0
        first = [match.text for match in matches[:align]]
        return SearchRanking(
            query,
            matches,
            self._scorer.signature,
            pruning,
            tuple(self._scorer.compare(query, text) for text in first),
            recall,
        )

    def search_many(
        self, queries: Iterable[str], top_k: int = 10, *, progress: bool = False, **options: Any
    ) -> list[SearchRanking]:
        """Search for every query; `search` explains the options."""
        texts = [check_sentence(query, "query") for query in queries]
        self._check_scorer()
        self._scorer.measure(texts)  # all of them in a few batches
        bar = tqdm(texts, desc="searching", unit="query", disable=not progress)
        return [self.search(text, top_k, **options) for text in bar]

    def _cascade(self, query: str, top_k: int, within: float | None) -> Cascade:
        _check_count(top_k, "top_k")
        limit = np.inf if within is None else within
        if not limit >= 0:
            raise InputError(f"within must be a distance of at least 0, got {within}")
        made = Query.of(self._encoded([query]), self._scorer)
        return Cascade(self._scorer, made, self.shards, wanted=top_k, within=limit)

    def _candidates(self, cascade: Cascade, wanted: int | Iterable[int]) -> np.ndarray[Any, Any]:
        if isinstance(wanted, Iterable):
            rows, count = np.unique(np.asarray(list(wanted))), int(cascade.starts[-1])
            if len(rows) and not (rows.dtype.kind in "iu" and 0 <= rows[0] <= rows[-1] < count):
                raise InputError(
                    f"candidates {rows[0]} to {rows[-1]}, but the index has {count} sentences, "
                    "numbered from 0"
                )
            return rows.astype(np.int64)
        _check_count(wanted, "candidates")
        if not self._scorer.method.needs_vectors:
            raise InputError(
                f"{self._scorer.method.name} has no word vectors to pick candidates by",
                Do("pick candidates"),
                Do("search exactly"),
            )
        return nearest_means(cascade.query, cascade.shards, wanted)

    def _check_scorer(self) -> None:
        """Refuse a model or statistics other than those of the index, once."""
        if self._agrees or self._files is None:
            return
        signature, expected = str(self._scorer.signature), self._files.manifest.signature
        if signature != expected:
            raise InputError(
                f"the index was built with {expected}, but the scorer at hand is {signature}; "
                "build the index again"
            )
        self._agrees = True


def _check_count(value: Any, name: str) -> None:
    if not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be at least 1, a whole number, got {value!r}")


def _sentence(shards: Sequence[Shard], number: int) -> str:
    place = number
    for shard in shards:
        if 0 <= place < len(shard):
            return shard.sentence(place)
        place -= len(shard)
    raise InputError(f"no sentence {number}; the index has {number - place}")


def _itself(shard: Shard) -> Shard:
    return shard


def _small(shards: Sequence[Shard], new: int) -> list[Shard]:
    """The last shards that are small enough to be joined with so many new sentences.

    Each that is left alone is many times larger than what follows it, so there are never many,
    and no sentence is copied often.
    """
    count, total = 0, new
    for shard in reversed(shards):
        if len(shard) > GROWTH * total or len(shard) + total > SHARD:
            break
        count, total = count + 1, total + len(shard)
    return list(shards[len(shards) - count :])


def _joined(small: list[Shard], piece: Piece) -> Piece:
    """A piece with the sentences of some shards before it."""
    chunk, make = piece
    texts = [text for shard in small for text in shard.sentences]
    return ([*texts, *chunk], lambda: joined([*small, make()])) if small else piece


def nearest_means(query: Query, shards: Sequence[Shard], wanted: int) -> np.ndarray[Any, Any]:
    """Sentences whose mean vectors have the highest cosine with that of the query."""
    own = query.shard.centroids[0]
    found = []
    for shard in shards:
        means = shard.centroids
        lengths = np.maximum(np.linalg.norm(means, axis=1), 1e-30)
        found.append(-np.nan_to_num(means @ own / lengths))
    return np.argsort(np.concatenate(found), kind="stable")[:wanted]
