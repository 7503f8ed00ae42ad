"""`Index`: a corpus made ready for exact search."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, compress, islice
from operator import length_hint
from pathlib import Path

import numpy as np

from movers.arrays import Ints, Singles
from movers.encode.encoder import Encoder
from movers.errors import InputError
from movers.io.pairs import check_count, check_queries
from movers.io.texts import Texts
from movers.loading import load
from movers.runtime.progress import progress_bar
from movers.scorer import Scorer
from movers.search.corpus import NOTHING, Corpus, Piece, Shard, join_small, read_sentences
from movers.search.cosine import CosineLayout, Keep, pooled_vectors, stored_vectors
from movers.search.folder import EMPTY, Folder, MakeTable
from movers.search.keep_apart import Objections, objections
from movers.search.layouts import Layout, find_layout, make_layout
from movers.search.passages import Cutter, Find, IndexedTexts, nearest_texts
from movers.search.search_ranking import SearchRanking, SearchResult
from movers.search.vectors import Precision

WIDER = 4
"""How many times as many sentences are looked for where guards left too few."""


class Index:
    """Distinct sentences of a corpus, encoded once, searched exactly.

    Make one with `Index.build` or `Index.open`. Distances, ties included, are those of
    `Scorer.rank` over `sentences`; ``layout`` is how these are kept and searched.

    Examples
    --------
    >>> import movers
    >>> corpus = ["the president greets the press", "the press greets the president"]
    >>> index = movers.Index.build(movers.load("wsmd"), [*corpus, "a dog barks at the moon"])
    >>> index.search("the press greets the president", top_k=1)[0].index
    1
    """

    def __init__(self, scorer: Scorer, layout: Layout, files: Folder | None = None) -> None:
        self._scorer = scorer.using()  # its own: fitting the other changes nothing here
        self.layout, self.files = layout, files
        self._in_memory = IndexedTexts(Corpus(()))
        self._agrees = False

    def __len__(self) -> int:
        return len(self.texts) if self.files is None else self.files.manifest.sentences

    def __repr__(self) -> str:
        size = f"{len(self):,} sentences"
        if self.texts.table is not None:
            size = f"{len(self):,} texts of {len(self.corpus):,} sentences"
        place = "in memory" if self.folder is None else str(self.folder)
        return f"Index({size}, {self._scorer.settings.measure.name}, {place})"

    @property
    def folder(self) -> Path | None:
        """Where the index lies; None if in memory."""
        return None if self.files is None else self.files.path

    @property
    def state(self) -> str:
        """What tells one state of the index on disk from another; empty in memory."""
        return "" if self.files is None else self.files.manifest.digest

    def refresh(self) -> None:
        """Take in what others wrote to the folder; every search does."""
        if self.files is not None:
            self.files.refresh()

    @property
    def scorer(self) -> Scorer:
        """The measure: a copy, for an index keeps its own statistics whatever is fitted later."""
        return self._scorer.using()

    @property
    def corpus(self) -> Corpus:
        """What is compared, as one list: sentences, those of longer texts one by one."""
        return self.texts.corpus

    @property
    def texts(self) -> IndexedTexts:
        """All texts by number, those that are longer than the model reads with their sentences."""
        return self._in_memory if self.files is None else self.files.texts

    @property
    def shards(self) -> list[Shard]:
        """Sentences with all that comparing them needs, checked when they are first used."""
        return self.corpus.shards

    @property
    def sentences(self) -> list[str]:
        """All sentences, in the order of their first occurrence; their places are their numbers.

        A text that is longer than the model reads stands here whole.
        """
        return self.texts.texts

    def sentence(self, number: int) -> str:
        """Return a sentence by its number."""
        return self.texts.text(number)

    def vectors(self, sentences: Sequence[str], *, progress: bool = False) -> Singles:
        """Return vectors of sentences: those of the index where it has them, or encoded."""
        corpus, layout = self.corpus, self.layout
        rows = corpus.find(sentences)
        if isinstance(layout, CosineLayout) and layout.precision == "float32" and rows.min() >= 0:
            return stored_vectors(corpus, rows)
        places = {text: place for place, text in enumerate(dict.fromkeys(sentences))}
        encoded = pooled_vectors(self._scorer, list(places), progress=progress)
        return encoded[[places[text] for text in sentences]]

    @classmethod
    def build(
        cls,
        scorer: Scorer,
        sentences: Iterable[str] | Path,
        folder: str | Path | None = None,
        *,
        keep: Keep | None = None,
        vectors: Precision | None = None,
        replace: bool = False,
        progress: bool = False,
    ) -> Index:
        """Encode a corpus for search.

        Parameters
        ----------
        scorer
            The measure: the default one, or any of word transport, structure or both.
        sentences
            Sentences, read one by one, or a file: a text with one on each line, or a table with
            a column of them. Repeated and empty ones are left out. Those that the scorer takes
            sentence by sentence, for the model cannot read them whole, are found by these.
        folder
            Where to write the index as it grows; None keeps it in memory. A build that was
            broken off is resumed: parts that are finished are used as they are.
        keep
            For the default measure: "text" keeps vectors and texts, and encodes the few sentences
            that a search compares when it does; "words" keeps all they need, fifty times as much.
        vectors
            For the default measure: "float32", or "int8" for a quarter of the bytes; the answers
            are the same, after a few more comparisons.
        replace
            Build anew over an index that is there already, which stays until the new one is
            complete.
        progress
            Show a progress bar.
        """
        files = None if folder is None else Folder(Path(folder))
        index = cls(scorer, make_layout(scorer, keep, vectors), files)
        cutter = Cutter(index._scorer)
        pieces = index._pieces(sentences, cutter, progress=progress)
        if files is not None:
            files.fill(pieces, index._scorer, index.layout.name, cutter.table, replace=replace)
            return index
        with index._writing():
            index._change(pieces, NOTHING, cutter.table)
        if not index.shards:
            raise InputError(EMPTY)
        return index

    @classmethod
    def open(
        cls,
        folder: str | Path,
        *,
        scorer: Scorer | None = None,
        encoder: Encoder | None = None,
        verify: bool = False,
    ) -> Index:
        """Map an index from disk; neither model nor sentences are read before they are needed.

        Parameters
        ----------
        folder
            What `build` or `save` wrote.
        scorer
            The scorer it was built with, if it cannot be made from names alone; None makes it.
        encoder
            A loaded model, taken for the new scorer if it is the one the index was built with.
        verify
            Compare every byte with its checksum now, not each file when it is first used.
        """
        files = Folder.opened(Path(folder))
        if verify or scorer is None:
            statistics = files.load_statistics()
        if scorer is None:
            scorer = load(**files.manifest.settings, statistics=statistics)
            wanted = statistics.fingerprint, scorer.settings.dtype
            if encoder is not None and (encoder.fingerprint, encoder.dtype) == wanted:
                scorer.encoder = encoder
        index = cls(scorer, find_layout(files.manifest.layout), files)
        if verify:
            _ = index.shards
        return index

    def save(self, folder: str | Path) -> None:
        """Write an index that is in memory, or a copy of one on disk, to a folder."""
        corpus, table = self.corpus, self.texts.table
        living = (corpus.living([number]) for number in range(len(corpus.shards)))
        pieces = (piece for piece in living if piece[0])
        Folder(Path(folder)).fill(pieces, self._scorer, self.layout.name, lambda _: table)

    def add(self, sentences: Iterable[str] | Path, *, progress: bool = False) -> int:
        """Add sentences that are not there yet, and return how many were.

        On disk the index keeps its old state until all of them are in. What others added since
        it was opened is seen; while another process adds, this is refused. Small shards are
        joined, so that an index filled sentence by sentence stays as quick as another.
        """
        with self._writing():
            corpus, cutter = self.corpus, Cutter(self._scorer, self.texts)
            pieces = self._pieces(sentences, cutter, progress=progress)
            whole, fresh = len(corpus.shards), list[Piece]()
            if (first := next(pieces, None)) is not None:
                whole, first = join_small(corpus.shards, first, self.layout.capacity)
                fresh = [first]
            if fresh or cutter.count:  # a text that is still being cut is not counted yet
                self._change(chain(range(whole), fresh, pieces), corpus.hidden, cutter.table)
            return cutter.count

    def delete(self, sentences: Iterable[str] | Path) -> int:
        """Delete sentences, and return how many were there.

        Those behind move up: numbers are places in `sentences`. What is stored of them stays on
        the disk until `compact` removes it.
        """
        with self._writing():
            texts, given = self.texts, list(dict.fromkeys(read_sentences(sentences)))
            gone = [*compress(given, texts.hold(given))]
            if len(gone) == len(self):
                raise InputError(
                    f"that would delete all {len(self)} sentences; remove the index instead"
                )
            if gone:
                table, hidden = texts.without(gone)
                self._change(range(len(texts.corpus.shards)), hidden, lambda _: table)
            return len(gone)

    def compact(self) -> int:
        """Remove what deleted sentences left behind, and return how many those were."""
        with self._writing():
            corpus, table = self.corpus, self.texts.table
            if len(corpus.hidden):
                groups = [*corpus.groups(self.layout.capacity)]
                whole = [len(g) == 1 and not len(corpus.hidden_in(g[0])) for g in groups]
                both = zip(groups, whole, strict=True)
                every = [group[0] if stays else corpus.living(group) for group, stays in both]
                self._change(every, NOTHING, lambda _: table)
            return len(corpus.hidden)

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only one who writes, starting from what is there now."""
        with nullcontext() if self.files is None else self.files.changing():
            self._check_scorer()
            yield

    def _change(self, shards: Iterable[int | Piece], hidden: Ints, table: MakeTable) -> None:
        """Hold some of the shards, by number, and new ones; ``hidden`` are rows, ascending."""
        if self.files is not None:
            return self.files.change(shards, hidden, table)
        old = self.shards
        corpus = Corpus([old[one] if isinstance(one, int) else one[1]() for one in shards], hidden)
        self._in_memory = IndexedTexts(corpus, table(corpus.sentences))

    def _pieces(
        self, sentences: Iterable[str] | Path, cutter: Cutter, *, progress: bool
    ) -> Iterator[Piece]:
        """Cut a corpus into shards of sentences."""
        given = Texts(sentences) if isinstance(sentences, Path) else sentences
        fresh, total, done = cutter.sentences(given), length_hint(given, 0) or None, 0
        with progress_bar("indexing", "sentences", total, progress=progress) as bar:
            while chunk := list(islice(fresh, self.layout.capacity)):
                yield chunk, partial(self.layout.make, self._scorer, chunk, progress=progress)
                bar.update(cutter.read - done)
                done = cutter.read

    def search(
        self,
        query: str,
        top_k: int = 10,
        *,
        within: float | None = None,
        candidates: int | Iterable[int] | None = None,
        guards: str | Sequence[str] = (),
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
            Look only at so many sentences, those with the lowest bounds; or at the sentences with
            these numbers, from wherever they come. The result is then approximate. None searches
            all of them, exactly.
        guards
            Name or names of `movers.difference.guards.GUARDS`: sentences that differ from the
            query in these are left out, and others follow. Or a judge and the probability that it
            must find at least, ``same>=0.9``.
        align
            Give alignments for so many of the first matches.
        """
        (ranking,) = self.search_many(
            [query],
            top_k,
            within=within,
            candidates=candidates,
            guards=guards,
            align=align,
        )
        return ranking

    def search_many(
        self,
        queries: Iterable[str],
        top_k: int = 10,
        *,
        within: float | None = None,
        candidates: int | Iterable[int] | None = None,
        guards: str | Sequence[str] = (),
        align: int = 0,
    ) -> list[SearchRanking]:
        """Search for every query; `search` explains the options.

        Under the default measure, queries share one product with every block of vectors. All
        answers are of one state of the index.
        """
        asked, limit = check_queries(queries, within, top_k=top_k)
        self.refresh()
        self._check_scorer()  # loads the model
        chosen, corpus = None if candidates is None else self._candidates(candidates), self.corpus
        find: Find = partial(self.layout.search, self._scorer, corpus, candidates=chosen)
        if guards:
            find = partial(_unobjected, find, corpus, objections(self._scorer, guards))
        return self.rank_found(asked, top_k, limit, find, align=align)

    def rank_found(
        self, queries: Sequence[str], top_k: int, within: float, find: Find, *, align: int = 0
    ) -> list[SearchRanking]:
        """Rank what is found for every query, by sentences where texts are held by these.

        Parameters
        ----------
        queries, top_k, within, align
            As in `search`, checked.
        find
            Gives the nearest sentences for queries, a number of them, and a largest distance.
        """
        texts, scorer, started = self.texts, self._scorer, time.process_time()
        unread = scorer.encoder.unread
        if texts.table is not None or any(scorer.takes_sentences(q) for q in queries if unread(q)):
            limits = top_k, within, find
            return [nearest_texts(scorer, texts, query, *limits, align=align) for query in queries]
        results = find(queries, top_k, within)
        seconds = (time.process_time() - started) / max(1, len(queries))
        both = zip(queries, results, strict=True)
        return [self._ranking(*answer, texts.corpus, seconds, align=align) for answer in both]

    def _ranking(
        self, query: str, result: SearchResult, corpus: Corpus, seconds: float, *, align: int
    ) -> SearchRanking:
        """Return the sentences that were found, with similarities and alignments."""
        numbers, unread = corpus.numbers(result.rows), self._scorer.encoder.unread
        texts = dict(zip(numbers.tolist(), map(corpus.text, result.rows.tolist()), strict=True))
        matches = self._scorer.matches(numbers, result.distances, texts.__getitem__, unread)
        cut = unread(query) or any(match.unread for match in matches)
        scorer = self._scorer.using(texts="whole") if cut else self._scorer
        return SearchRanking(
            query,
            matches,
            self._scorer.signature,
            replace(result.pruning, seconds=seconds),
            tuple(scorer.compare(query, match.text) for match in matches[:align]),
            result.certified,
            result.bound,
        )

    def _candidates(self, wanted: int | Iterable[int]) -> int | Ints:
        if not isinstance(wanted, Iterable):
            check_count("candidates", wanted)
            return int(wanted)
        numbers, count = np.unique(np.asarray(list(wanted))), len(self)
        if len(numbers) and not (
            numbers.dtype.kind in "iu" and 0 <= numbers[0] <= numbers[-1] < count
        ):
            raise InputError(
                f"candidates {numbers[0]} to {numbers[-1]}, but the index has {count} sentences, "
                "numbered from 0"
            )
        return self.texts.rows(numbers.astype(np.int64))

    def _check_scorer(self) -> None:
        """Refuse a model or statistics other than those of the index, once."""
        if self._agrees:
            return
        signature = str(self._scorer.signature)
        expected = signature if self.files is None else self.files.manifest.signature
        if any_engine(signature) != any_engine(expected):
            raise InputError(
                f"the index was built with {expected}, but the scorer at hand is {signature}; "
                "build the index again"
            )
        self._agrees = True


def _unobjected(
    find: Find,
    corpus: Corpus,
    object_to: Objections,
    queries: Sequence[str],
    top_k: int,
    within: float,
) -> list[SearchResult]:
    """Find the nearest sentences that nothing is objected to, by row."""
    answers: dict[int, SearchResult] = {}
    left, count = [*range(len(queries))], top_k
    while left:  # too few may be left
        results, short = find([queries[place] for place in left], count, within), []
        for place, result in zip(left, results, strict=True):
            pairs = [(queries[place], corpus.text(row)) for row in result.rows.tolist()]
            free = [row for row, reason in enumerate(object_to(pairs)) if reason is None][:top_k]
            found = result.rows[free], result.distances[free]
            answers[place] = replace(result, rows=found[0], distances=found[1])
            if len(free) < top_k and len(result.rows) == count:
                short.append(place)
        left, count = short, WIDER * count
    return [answers[place] for place in range(len(queries))]


def any_engine(signature: str) -> str:
    """Return a signature without what runs the model: engines agree in all that an index keeps.

    Examples
    --------
    >>> any_engine("dtype:float32|engine:light|scale:1") == any_engine("dtype:float32|scale:1")
    True
    """
    return "|".join(one for one in signature.split("|") if not one.startswith("engine:"))
