"""`Index`: a corpus made ready for exact search."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from tqdm.auto import tqdm

from movers.atomic import sweep
from movers.encode.models import EMBEDDED
from movers.errors import InputError
from movers.loading import load
from movers.measure.costs import COSTS
from movers.methods import Method
from movers.pairs import check_sentence
from movers.results import Match
from movers.scorer import Scorer
from movers.search.cascade import Cascade
from movers.search.lower import Query
from movers.search.manifest import NAME, STATISTICS, Manifest, Part
from movers.search.results import SearchRanking
from movers.search.shards import Shard, make_shard, open_shard, read_header, write_shard

SHARD = 4096
"""Sentences of a shard: about 100 MB, and what a broken-off build loses at most."""


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
        self,
        scorer: Scorer,
        shards: Sequence[Shard],
        *,
        folder: Path | None = None,
        manifest: Manifest | None = None,
    ) -> None:
        self.scorer = scorer
        self.shards = list(shards)
        self.folder = folder
        self._manifest = manifest
        self._checked = manifest is None

    def __len__(self) -> int:
        return sum(map(len, self.shards))

    def __repr__(self) -> str:
        place = "in memory" if self.folder is None else str(self.folder)
        return f"Index({len(self):,} sentences, {self.scorer.method.name}, {place})"

    @property
    def sentences(self) -> list[str]:
        """All sentences, in the order of their first occurrence."""
        return [text for shard in self.shards for text in shard.sentences]

    def sentence(self, number: int) -> str:
        """One sentence by its number."""
        for shard in self.shards:
            if number < len(shard):
                return shard.sentence(number)
            number -= len(shard)
        raise InputError(f"no sentence {number + len(self)}; the index has {len(self)}")

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
            Build anew over an index that is there already.
        progress
            Show a progress bar.
        """
        check_method(scorer)
        if folder is not None and replace:
            (Path(folder) / NAME).unlink(missing_ok=True)
        index = cls(scorer, []) if folder is None else cls._begun(scorer, Path(folder))
        index._extend(_lines(sentences), set(), progress=progress)
        if not len(index):
            raise InputError("there is no sentence to index")
        return index

    @classmethod
    def _begun(cls, scorer: Scorer, folder: Path) -> Index:
        if (folder / NAME).exists():
            raise InputError(
                f"{str(folder)!r} holds an index already; open it and add to it, or pass "
                "replace=True"
            )
        folder.mkdir(parents=True, exist_ok=True)
        sweep(folder)
        return cls(scorer, [], folder=folder, manifest=_described(scorer))

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
            Check every byte against its checksum, not only sizes and headers.
        """
        folder = Path(folder)
        manifest = Manifest.read(folder)
        shards = [part.open(folder, verify=verify) for part in manifest.parts]
        if scorer is None:
            scorer = load(**manifest.settings, statistics=folder / STATISTICS)
        return cls(scorer, shards, folder=folder, manifest=manifest)

    def save(self, folder: str | Path) -> None:
        """Write an index that is in memory, or a copy of one on disk, to a folder."""
        copy = self._begun(self.scorer, Path(folder))
        copy._extend(iter(self.sentences), set(), ready=self.shards)

    def add(self, sentences: Iterable[str] | Path, *, progress: bool = False) -> int:
        """Add sentences that are not there yet, and return how many were.

        On disk the index keeps its old state until all of them are in.
        """
        self._check_scorer()
        if self.folder is not None:
            sweep(self.folder)
        before = len(self)
        known = {_key(text) for text in self.sentences}
        self._extend(_lines(sentences), known, progress=progress)
        return len(self) - before

    def _extend(
        self,
        sentences: Iterator[str],
        known: set[bytes],
        *,
        ready: Sequence[Shard] = (),
        progress: bool = False,
    ) -> None:
        """Cut new sentences into shards, and make them part of the index when all are done."""
        shards: list[Shard] = []
        parts: list[Part] = []
        waiting = list(ready)
        fresh = _distinct(sentences, known)
        with tqdm(desc="indexing", unit="sent", disable=not progress) as bar:
            while chunk := list(islice(fresh, len(waiting[0]) if waiting else SHARD)):
                number = len(self.shards) + len(shards)
                shard = waiting.pop(0) if waiting else None
                shard, part = self._stored(chunk, number, shard)
                shards.append(shard)
                parts += part
                bar.update(len(chunk))
        if self.folder is not None:
            assert self._manifest is not None
            self.scorer.statistics.save(self.folder / STATISTICS)
            self._manifest = self._manifest.extended(parts)
            self._manifest.write(self.folder)
        self.shards += shards

    def _stored(
        self, chunk: list[str], number: int, shard: Shard | None
    ) -> tuple[Shard, list[Part]]:
        """Encode some sentences, unless they are given or lie finished on disk."""
        if self.folder is None:
            return shard or self._encoded(chunk), []
        path = self.folder / f"shard-{number:05d}.safetensors"
        facts = {"signature": str(self.scorer.signature), "sentences": _digest(chunk)}
        if not _finished(path, facts):
            write_shard(shard or self._encoded(chunk), path, facts)
        return open_shard(path), [Part.of(path, len(chunk))]

    def _encoded(self, chunk: list[str]) -> Shard:
        return make_shard(self.scorer.measure(chunk), chunk, self.scorer.method)

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
        matches = tuple(
            Match(int(row), self.sentence(row), float(distance))
            for row, distance in zip(rows.tolist(), distances, strict=True)
        )
        recall = None
        if exact and candidates is not None:
            truth = {match.index for match in self.search(query, top_k, within=within)}
            recall = len(truth & set(rows.tolist())) / len(truth) if truth else 1.0
        first = [match.text for match in matches[:align]]
        return SearchRanking(
            query,
            matches,
            self.scorer.signature,
            pruning,
            tuple(self.scorer.compare(query, text) for text in first),
            recall,
        )

    def search_many(
        self, queries: Iterable[str], top_k: int = 10, *, progress: bool = False, **options: Any
    ) -> list[SearchRanking]:
        """Search for every query; `search` explains the options."""
        texts = [check_sentence(query, "query") for query in queries]
        self._check_scorer()
        self.scorer.measure(texts)  # all of them in a few batches
        bar = tqdm(texts, desc="searching", unit="query", disable=not progress)
        return [self.search(text, top_k, **options) for text in bar]

    def _cascade(self, query: str, top_k: int, within: float | None) -> Cascade:
        if top_k < 1:
            raise InputError(f"top_k must be at least 1, got {top_k}")
        limit = np.inf if within is None else within
        if not limit >= 0:
            raise InputError(f"within must be a distance of at least 0, got {within}")
        own = self._encoded([check_sentence(query, "query")])
        made = Query.of(own, self.scorer)
        return Cascade(self.scorer, made, self.shards, wanted=top_k, within=limit)

    def _candidates(self, cascade: Cascade, wanted: int | Iterable[int]) -> np.ndarray[Any, Any]:
        if not isinstance(wanted, int):
            rows = np.unique(np.fromiter(wanted, np.int64))
            if len(rows) and not (rows[0] >= 0 and rows[-1] < len(self)):
                raise InputError(
                    f"candidates {rows[0]} to {rows[-1]}, but the index has {len(self)} sentences"
                )
            return rows
        if not self.scorer.method.needs_vectors:
            raise InputError(
                f"{self.scorer.method.name} has no word vectors to pick candidates by; pass their "
                "numbers, or search exactly"
            )
        return nearest_means(cascade.query, self.shards, wanted)

    def _check_scorer(self) -> None:
        """Refuse a model or statistics other than those of the index, once."""
        signature = str(self.scorer.signature)
        if self._checked or self._manifest is None:
            return
        if signature != self._manifest.signature:
            raise InputError(
                f"the index was built with {self._manifest.signature}, but the scorer at hand is "
                f"{signature}; build the index again"
            )
        self._checked = True


def nearest_means(query: Query, shards: Sequence[Shard], wanted: int) -> np.ndarray[Any, Any]:
    """Sentences whose mean vectors have the highest cosine with that of the query."""
    own = query.shard.centroids[0]
    found = []
    for shard in shards:
        means = shard.centroids
        lengths = np.maximum(np.linalg.norm(means, axis=1), 1e-30)
        found.append(-np.nan_to_num(means @ own / lengths))
    return np.argsort(np.concatenate(found), kind="stable")[:wanted]


def check_method(scorer: Scorer) -> None:
    """Refuse measures that bounds know nothing about."""
    method: Method = scorer.method
    if method.transport is None:
        raise InputError(
            f"{method.name} is not one transport problem, so no bound holds for it; use "
            "Scorer.rank, which compares every sentence, or wmd, wrd, smd, wsmd, lambda"
        )
    if method.cost is not None and COSTS[method.cost].trees:
        raise InputError(
            f"{method.name} needs the dependency trees of every sentence, which an index does not "
            "keep; use Scorer.rank, or synwmd-cos"
        )
    if scorer.settings.empty == "raise":
        raise InputError("an index cannot raise for single pairs; pass empty='nan' or 'keep'")


def _described(scorer: Scorer) -> Manifest:
    settings, encoder = scorer.settings, scorer.encoder
    stopwords = None if settings.stopwords is None else sorted(settings.stopwords)
    return Manifest(
        str(scorer.signature),
        {
            "method": settings.method.name,
            "model": _model(scorer),
            "embedding": settings.embedding,
            "layers": sorted({layer for layer, _ in scorer.heads}) or None,
            "heads": sorted({head for _, head in scorer.heads}) or "all",
            "mix": float(settings.mix),
            "recipe": settings.recipe,
            "whitening": settings.whitening,
            "stopwords": stopwords,
            "subwords": settings.subwords,
            "empty": settings.empty,
            "frequencies": None if settings.frequencies is None else str(settings.frequencies),
            "dtype": encoder.dtype,
        },
    )


def _model(scorer: Scorer) -> str:
    """The model by a name that holds wherever the index is opened from."""
    encoder = scorer.encoder
    if encoder.folder is None or encoder.name == EMBEDDED:
        return encoder.name
    return str(encoder.folder.resolve())


def _lines(sentences: Iterable[str] | Path) -> Iterator[str]:
    if isinstance(sentences, str):
        raise InputError("sentences must be a list or a Path of a file, got one string")
    if not isinstance(sentences, Path):
        for number, text in enumerate(sentences):
            yield check_sentence(text, f"sentence {number}")
        return
    if not sentences.is_file():
        raise InputError(f"no file {str(sentences)!r}")
    with sentences.open("rb") as stream:
        for number, line in enumerate(stream, 1):
            try:
                yield line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
            except UnicodeDecodeError as error:
                raise InputError(f"{sentences}, line {number}: not UTF-8 ({error})") from error


def _distinct(sentences: Iterator[str], known: set[bytes]) -> Iterator[str]:
    for text in sentences:
        if text.strip() and (key := _key(text)) not in known:
            known.add(key)
            yield text


def _key(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=16).digest()


def _digest(chunk: list[str]) -> str:
    return blake2b("\n".join(chunk).encode()).hexdigest()


def _finished(path: Path, facts: dict[str, str]) -> bool:
    """Whether a shard with these sentences, made in this way, is there."""
    if not path.is_file():
        return False
    try:
        return bool(read_header(path)[1].get("__metadata__") == facts)
    except InputError:
        return False
