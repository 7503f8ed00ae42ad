"""Indexing, mining and searching on a Ray cluster, row for row as in one process.

Every node sees the folder of the index under the same path. Workers write shards into it, mine
blocks of it or search some of its shards; the driver puts the parts together in order, and alone
writes the manifest, the journal and the results. What a killed worker was doing is done again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from movers.errors import InputError
from movers.integrations.ray import LIVES, Work, Workers, cluster, import_ray, mapped
from movers.io.pairs import check_queries
from movers.runtime.progress import Bar, progress_bar
from movers.scorer import Scorer
from movers.search.corpus import CorpusReader
from movers.search.cosine import Keep
from movers.search.folder import Folder
from movers.search.index import Index
from movers.search.layouts import find_layout, make_layout
from movers.search.manifest import Part
from movers.search.mining import Pair, WholeTexts, mine
from movers.search.passages import Cutter
from movers.search.search_ranking import STAGES, Pruning, SearchRanking, SearchResult
from movers.search.vectors import Precision

Hits = dict[str, Any]
"""What a share has for a query: numbers within it, distances, texts, and what became of others."""


class Share:
    """Some of the files of an index, which alone are read, and a search of them."""

    def __init__(self, folder: str, number: int, count: int) -> None:
        self.index, self.number, self.count = Index.open(folder), number, count

    def search(self, queries: list[str], top_k: int, within: float) -> dict[str, Any]:
        """Return the state of the index, the sentences of this share, and hits by query."""
        self.index.refresh()
        parts = self.index.parts
        low, high = (round(parts * one / self.count) for one in (self.number, self.number + 1))
        corpus, first = self.index.some(low, high)
        hits: list[Hits] = []
        if len(corpus):
            results = self.index.layout.search(
                self.index.scorer, corpus, queries, top_k=top_k, within=within
            )
            for one in results:
                rows = one.rows.tolist()
                numbers = corpus.numbers(one.rows).tolist()
                texts = [corpus.text(row) for row in rows]
                matches = [*zip(one.distances.tolist(), numbers, texts, strict=True)]
                places = [row + first for row in rows]
                hits.append({"matches": matches, "rows": places, "pruning": asdict(one.pruning)})
        return {"state": self.index.state, "sentences": len(corpus), "hits": hits}


def merge(
    scorer: Scorer, queries: Sequence[str], shares: Sequence[dict[str, Any]], top_k: int, align: int
) -> list[SearchRanking]:
    """Return the best of all shares query by query, ties in the order of the index."""
    starts = np.cumsum([0, *(share["sentences"] for share in shares)]).tolist()
    filled = [(start, share["hits"]) for start, share in zip(starts, shares, strict=False)]
    filled = [(start, hits) for start, hits in filled if hits]
    rankings = []
    for place, query in enumerate(queries):
        every = [
            (distance, start + number, text)
            for start, hits in filled
            for distance, number, text in hits[place]["matches"]
        ]
        best = sorted(every, key=lambda hit: (np.nan_to_num(hit[0], nan=np.inf), hit[1]))[:top_k]
        texts = {number: text for _, number, text in best}
        distances = np.array([distance for distance, _, _ in best], np.float64)
        matches = scorer.matches(np.array([*texts], np.int64), distances, texts.__getitem__)
        pruned = [hits[place]["pruning"] for _, hits in filled]
        counts = {name: sum(p[name] for p in pruned) for name in ("corpus", *STAGES, "seconds")}
        compared = tuple(scorer.compare(query, match.text) for match in matches[:align])
        pruning = Pruning(**counts)
        rankings.append(SearchRanking(query, matches, scorer.signature, pruning, compared))
    return rankings


def _best(hits: Sequence[Hits], top_k: int) -> SearchResult:
    """Return the nearest rows of what shares have for a query, ties in the order of the index."""
    rows = np.array([row for hit in hits for row in hit["rows"]], np.int64)
    distances = np.array([match[0] for hit in hits for match in hit["matches"]], np.float64)
    order = np.lexsort((rows, distances))[:top_k]
    counts = {name: sum(hit["pruning"][name] for hit in hits) for name in ("corpus", *STAGES)}
    return SearchResult(rows[order], distances[order], Pruning(**counts))


@lru_cache(maxsize=1)
def _opened(folder: str, scorer: Scorer) -> Index:
    return Index.open(folder, scorer=scorer)


@lru_cache(maxsize=1)
def _whole_texts(index: Index, state: str) -> WholeTexts:
    return WholeTexts.of(index)


class RayEngine:
    """What builds, mines and searches indexes, with workers of Ray.

    Without the address of a running cluster, Ray starts on this machine for as long as it takes.
    """

    def __init__(self, workers: Workers | None = None, address: str | None = None) -> None:
        self.workers, self.address = workers or Workers(), address

    def build(
        self,
        scorer: Scorer,
        sentences: Iterable[str] | Path,
        folder: str | Path,
        *,
        keep: Keep | None = None,
        vectors: Precision | None = None,
        replace: bool = False,
        progress: bool = False,
    ) -> Index:
        """Encode a corpus for search; `Index.build` explains the options.

        Texts and keys of the corpus pass through the memory of this process; vectors do not.
        """
        layout, files = make_layout(scorer, keep, vectors), Folder(Path(folder).resolve())
        place, name, signature = files.path, layout.name, str(scorer.signature)

        def write(held: dict[str, Scorer], batch: Any) -> dict[str, list[str]]:
            texts = batch.column("sentence").to_pylist()
            make = partial(find_layout(name).make, held[""], texts)
            part = Folder(place).store((texts, make), signature, name)
            return {"made": [json.dumps(asdict(part))]}

        with cluster(self.address):
            cutter = Cutter(scorer)
            texts = [*cutter.sentences(CorpusReader(sentences))]
            made = self._mapped(write, scorer, {"sentence": texts}, layout.capacity)
            with progress_bar("indexing", "sentences", len(texts), progress=progress) as bar:
                parts = _watched((Part(**facts) for facts in made), bar)
                files.fill(parts, scorer, layout.name, cutter.table, replace=replace)
        return Index(scorer, layout, files)

    def mine(
        self, index: Index, threshold: float, *, start: int = 0, progress: bool = False
    ) -> Iterator[list[Pair]]:
        """Yield block by block all pairs at a distance of at most the threshold."""
        return mine(index, threshold, start=start, miner=self._mined, progress=progress)

    def _mined(
        self, whole: WholeTexts, threshold: float, blocks: Sequence[range]
    ) -> Iterator[list[Pair]]:
        """Yield the near pairs of blocks, which workers mine."""
        folder = _place(whole.index)

        def look(held: dict[str, Scorer], batch: Any) -> dict[str, list[str]]:
            (low,), (high,) = (batch.column(name).to_pylist() for name in ("low", "high"))
            opened = _opened(folder, held[""])
            pairs = _whole_texts(opened, opened.state).mine(threshold, range(low, high))
            return {"made": [json.dumps([asdict(pair) for pair in pairs])]}

        columns = {"low": [one.start for one in blocks], "high": [one.stop for one in blocks]}
        with cluster(self.address):
            for pairs in self._mapped(look, whole.index.scorer, columns, 1):
                yield [Pair(**pair) for pair in pairs]

    def search_many(
        self,
        index: Index,
        queries: Iterable[str],
        top_k: int = 10,
        within: float | None = None,
        align: int = 0,
    ) -> list[SearchRanking]:
        """Search for every query, exactly; workers share the shards, and the answers are merged."""
        texts, limit = check_queries(queries, within, top_k=top_k)
        with cluster(self.address):
            ray = import_ray()
            room = max(1, int(ray.cluster_resources().get("CPU", 1) // self.workers.cpus))
            count = max(1, min(self.workers.count or room, index.parts))
            lives = {"max_restarts": -1, "max_task_retries": LIVES - 1}
            share = ray.remote(num_cpus=self.workers.cpus, **lives)(Share)
            shares = [share.remote(_place(index), number, count) for number in range(count)]

            def find(asked: Sequence[str], top_k: int, within: float) -> list[SearchResult]:
                parts = ray.get([one.search.remote([*asked], top_k, within) for one in shares])
                filled = [part["hits"] for part in parts if part["hits"]]
                return [_best(hits, top_k) for hits in zip(*filled, strict=True)]

            return index.rank_found(texts, top_k, limit, find, align=align)

    def _mapped(
        self, work: Work, scorer: Scorer, columns: dict[str, list[Any]], batch_size: int
    ) -> Iterator[Any]:
        """Yield what workers make of batches of columns, in order."""
        import pyarrow

        ray = import_ray()
        ray.data.DataContext.get_current().enable_progress_bars = False
        if not next(iter(columns.values())):
            return
        dataset = ray.data.from_arrow(pyarrow.table(columns))
        scorer.prepare()
        for row in mapped(dataset, work, {"": scorer}, self.workers, batch_size).iter_rows():
            yield json.loads(row["made"])


def _watched(parts: Iterable[Part], bar: Bar) -> Iterator[Part]:
    """Yield parts as they come, with a bar that tells of their sentences."""
    for part in parts:
        bar.update(part.sentences)
        yield part


def _place(index: Index) -> str:
    if index.folder is None:
        raise InputError("an index in memory cannot be shared with workers; save it to a folder")
    return str(index.folder.resolve())
