"""Indexing, mining and searching on a Ray cluster, row for row as in one process.

Every node sees the folder of the index under the same path. Workers write shards into it, mine
blocks of it or search some of its shards; the driver puts the parts together in order, and alone
writes the manifest, the journal and the results. What a killed worker was doing is done again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from movers.errors import InputError
from movers.integrations.ray import mapped
from movers.integrations.ray_session import Worker, Workers, cluster, import_ray, plain_errors
from movers.runtime.progress import Bar, progress_bar
from movers.scorer import Scorer
from movers.search.corpus import CorpusReader as Sentences
from movers.search.corpus import distinct
from movers.search.cosine import Keep
from movers.search.folder import Folder
from movers.search.index import Index
from movers.search.layouts import check_method, find_layout, make_layout
from movers.search.manifest import Part
from movers.search.mining import Pair, blocks_of, check_threshold, mine_block, mining_bar
from movers.search.queries import check_queries
from movers.search.search_ranking import STAGES, Pruning, SearchRanking, SearchResult
from movers.search.vectors import Precision

SHARES = 4
"""Tasks for every worker that a search is cut into, so that none waits long for the last."""


class ShardWriter(Worker):
    """Encodes sentences and writes them into the folder of an index."""

    def work(self, batch: Any) -> dict[str, list[str]]:
        """Write a shard, and say what was written."""
        folder, signature, layout = self.rest
        texts = next(self.texts(batch))
        make = partial(find_layout(layout).make, self.scorer, texts)
        part = Folder(Path(folder)).store((texts, make), signature, layout)
        return {"part": [json.dumps(asdict(part))]}


class IndexWorker(Worker):
    """Has an index open, and looks into ranges of it."""

    def __init__(self, *rest: Any) -> None:
        super().__init__(*rest)
        folder, self.task = self.rest
        self.index = Index.open(folder, scorer=self.scorer)

    def work(self, batch: Any) -> dict[str, list[str]]:
        """What every range holds."""
        low, high = (batch.column(name).to_pylist() for name in ("low", "high"))
        return {"found": [json.dumps(self.found(*ends)) for ends in zip(low, high, strict=True)]}

    def found(self, low: int, high: int) -> list[Any]:
        """What one range holds, as plain values."""
        raise NotImplementedError


class BlockMiner(IndexWorker):
    """Mines blocks of an index."""

    def found(self, low: int, high: int) -> list[dict[str, Any]]:
        """Near pairs of a block."""
        return [
            asdict(pair) for pair in mine_block(self.index, **self.task, numbers=range(low, high))
        ]


class ShardSearcher(IndexWorker):
    """Searches some shards of an index."""

    def found(self, low: int, high: int) -> list[tuple[list[int], list[float], dict[str, Any]]]:
        """Rows, distances and pruning, query by query."""
        corpus, first = self.index.some(low, high)
        found: list[SearchResult] = self.index.layout.search(self.scorer, corpus, **self.task)
        return [
            ((one.rows + first).tolist(), one.distances.tolist(), asdict(one.pruning))
            for one in found
        ]


class RayEngine:
    """Builds, mines and searches with workers of Ray.

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
        check_method(scorer)
        layout, files = make_layout(scorer, keep, vectors), Folder(Path(folder).resolve())
        with cluster(self.address), plain_errors():
            texts = [*distinct(Sentences(sentences))]
            given = str(files.path), str(scorer.signature), layout.name
            rows = self._mapped(ShardWriter, scorer, {"sentence": texts}, layout.capacity, *given)
            with progress_bar("indexing", "sentences", len(texts), progress=progress) as bar:
                parts = _watched((Part(**json.loads(row["part"])) for row in rows), bar)
                files.fill(parts, scorer, layout.name, replace=replace)
        return Index(scorer, layout, files=files)

    def mine(
        self, index: Index, threshold: float, *, start: int = 0, progress: bool = False
    ) -> Iterator[list[Pair]]:
        """Yield block by block all pairs at a distance of at most the threshold."""
        check_threshold(threshold)
        ranges = blocks_of(index)[start:]
        blocks = {"low": [one.start for one in ranges], "high": [one.stop for one in ranges]}
        with cluster(self.address), plain_errors():
            task = {"threshold": threshold}
            rows = self._mapped(BlockMiner, index.scorer, blocks, 1, _place(index), task)
            with mining_bar(index, start, progress=progress) as bar:
                for numbers, row in zip(ranges, rows, strict=True):
                    yield [Pair(**pair) for pair in json.loads(row["found"])]
                    bar.update(len(numbers))

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
        started, corpus = time.process_time(), index.corpus
        task = {"queries": texts, "top_k": top_k, "within": limit}
        with cluster(self.address), plain_errors():
            room = max(1, int(import_ray().cluster_resources().get("CPU", 1)))
            count, shares = len(corpus.shards), SHARES * (self.workers.count or room)
            cuts = sorted({round(count * share / shares) for share in range(shares + 1)})
            ranges = {"low": cuts[:-1], "high": cuts[1:]}
            rows = self._mapped(ShardSearcher, index.scorer, ranges, 1, _place(index), task)
            parts = [json.loads(row["found"]) for row in rows]
        seconds = (time.process_time() - started) / max(1, len(texts))
        return [
            index.make_ranking(text, corpus, _merged(found, top_k), seconds, align=align)
            for text, found in zip(texts, zip(*parts, strict=True), strict=True)
        ]

    def _mapped(
        self,
        worker: type[Worker],
        scorer: Scorer,
        columns: dict[str, list[Any]],
        batch_size: int,
        *rest: Any,
    ) -> Iterator[dict[str, Any]]:
        """Rows that workers make of columns, in order."""
        import pyarrow

        ray = import_ray()
        ray.data.DataContext.get_current().enable_progress_bars = False
        if not next(iter(columns.values())):
            return
        dataset = ray.data.from_arrow(pyarrow.table(columns))
        scorer.prepare()
        given = {"": scorer}, tuple(columns), self.workers, batch_size
        yield from mapped(dataset, worker, *given, *rest).iter_rows()


def _watched(parts: Iterable[Part], bar: Bar) -> Iterator[Part]:
    """Parts as they come, with a bar that tells of their sentences."""
    for part in parts:
        bar.update(part.sentences)
        yield part


def _place(index: Index) -> str:
    if index.folder is None:
        raise InputError("an index in memory cannot be shared with workers; save it to a folder")
    return str(index.folder.resolve())


def _merged(parts: Iterable[Any], top_k: int) -> SearchResult:
    """The best of what was found in parts of a corpus, ties in corpus order."""
    found, values, pruned = zip(*parts, strict=True)
    rows, distances = np.array([*chain(*found)], np.int64), np.array([*chain(*values)], np.float64)
    order = np.lexsort((rows, distances))[:top_k]
    pruning = {name: sum(part[name] for part in pruned) for name in ("corpus", *STAGES)}
    return SearchResult(rows[order], distances[order], Pruning(**pruning))
