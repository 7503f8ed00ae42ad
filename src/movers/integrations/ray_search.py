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
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from movers.errors import InputError
from movers.integrations.ray import mapped
from movers.integrations.ray_session import Work, Worker, Workers, cluster, import_ray, plain_errors
from movers.io.pairs import check_queries
from movers.runtime.progress import Bar, progress_bar
from movers.scorer import Scorer
from movers.search.corpus import CorpusReader as Sentences
from movers.search.cosine import Keep
from movers.search.folder import Folder
from movers.search.index import Index
from movers.search.layouts import check_method, find_layout, make_layout
from movers.search.manifest import Part
from movers.search.mining import Pair, WholeTexts, check_threshold, mine_long, mining_bar
from movers.search.passages import Cutter
from movers.search.search_ranking import STAGES, Pruning, SearchRanking, SearchResult
from movers.search.vectors import Precision

SHARES = 4
"""Tasks for every worker that a search is cut into, so that none waits long for the last."""


def write_shard(worker: Worker, batch: Any) -> dict[str, list[str]]:
    """Encode sentences, write a shard into the folder of an index, and say what was written."""
    folder, signature, layout = worker.rest
    texts = next(worker.texts(batch))
    make = partial(find_layout(layout).make, worker.scorer, texts)
    part = Folder(Path(folder)).store((texts, make), signature, layout)
    return {"part": [json.dumps(asdict(part))]}


def look_into(worker: Worker, batch: Any) -> dict[str, list[str]]:
    """Tell what ranges of an index hold, by a function of index, range and task."""
    look, folder, task = worker.rest
    index = _opened(folder, worker)
    low, high = (batch.column(name).to_pylist() for name in ("low", "high"))
    ranges = zip(low, high, strict=True)
    return {"found": [json.dumps(look(index, *ends, **task)) for ends in ranges]}


@lru_cache(maxsize=1)
def _opened(folder: str, worker: Worker) -> Index:
    return Index.open(folder, scorer=worker.scorer)


def mine_range(index: Index, low: int, high: int, *, threshold: float) -> list[dict[str, Any]]:
    """Return the near pairs of a block."""
    whole = _whole_texts(index, index.state)
    return [asdict(pair) for pair in whole.mine(threshold, range(low, high))]


@lru_cache(maxsize=1)
def _whole_texts(index: Index, state: str) -> WholeTexts:
    return WholeTexts.of(index)


def search_range(index: Index, low: int, high: int, **task: Any) -> list[Any]:
    """Return rows, distances and pruning in some shards, query by query."""
    corpus, first = index.some(low, high)
    found: list[SearchResult] = index.layout.search(index.scorer, corpus, **task)
    return [
        ((one.rows + first).tolist(), one.distances.tolist(), asdict(one.pruning)) for one in found
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
            cutter = Cutter(scorer)
            texts = [*cutter.sentences(Sentences(sentences))]
            given = str(files.path), str(scorer.signature), layout.name
            rows = self._mapped(write_shard, scorer, {"sentence": texts}, layout.capacity, *given)
            with progress_bar("indexing", "sentences", len(texts), progress=progress) as bar:
                parts = _watched((Part(**json.loads(row["part"])) for row in rows), bar)
                files.fill(parts, scorer, layout.name, cutter.table, replace=replace)
        return Index(scorer, layout, files=files)

    def mine(
        self, index: Index, threshold: float, *, start: int = 0, progress: bool = False
    ) -> Iterator[list[Pair]]:
        """Yield block by block all pairs at a distance of at most the threshold."""
        check_threshold(threshold)
        whole = WholeTexts.of(index)
        ranges = whole.blocks[start:]
        blocks = {"low": [one.start for one in ranges], "high": [one.stop for one in ranges]}
        with cluster(self.address), plain_errors():
            task = {"threshold": threshold}
            given = mine_range, _place(index), task
            rows = self._mapped(look_into, index.scorer, blocks, 1, *given)
            with mining_bar(index, start, progress=progress) as bar:
                for numbers, row in zip(ranges, rows, strict=True):
                    yield [Pair(**pair) for pair in json.loads(row["found"])]
                    bar.update(len(numbers))
        yield from mine_long(whole, threshold, start, progress=progress)

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
        with cluster(self.address), plain_errors():
            return index.rank_found(texts, top_k, limit, partial(self._find, index), align=align)

    def _find(
        self, index: Index, queries: Sequence[str], top_k: int, within: float
    ) -> list[SearchResult]:
        """Find the nearest sentences of all shards, by row."""
        task = {"queries": queries, "top_k": top_k, "within": within}
        room = max(1, int(import_ray().cluster_resources().get("CPU", 1)))
        count, shares = len(index.shards), SHARES * (self.workers.count or room)
        cuts = sorted({round(count * share / shares) for share in range(shares + 1)})
        ranges = {"low": cuts[:-1], "high": cuts[1:]}
        rows = self._mapped(look_into, index.scorer, ranges, 1, search_range, _place(index), task)
        parts = [json.loads(row["found"]) for row in rows]
        return [_merged(found, top_k) for found in zip(*parts, strict=True)]

    def _mapped(
        self,
        work: Work,
        scorer: Scorer,
        columns: dict[str, list[Any]],
        batch_size: int,
        *rest: Any,
    ) -> Iterator[dict[str, Any]]:
        """Yield rows that workers make of columns, in order."""
        import pyarrow

        ray = import_ray()
        ray.data.DataContext.get_current().enable_progress_bars = False
        if not next(iter(columns.values())):
            return
        dataset = ray.data.from_arrow(pyarrow.table(columns))
        scorer.prepare()
        given = {"": scorer}, tuple(columns), self.workers, batch_size
        yield from mapped(dataset, work, *given, *rest).iter_rows()


def _watched(parts: Iterable[Part], bar: Bar) -> Iterator[Part]:
    """Yield parts as they come, with a bar that tells of their sentences."""
    for part in parts:
        bar.update(part.sentences)
        yield part


def _place(index: Index) -> str:
    if index.folder is None:
        raise InputError("an index in memory cannot be shared with workers; save it to a folder")
    return str(index.folder.resolve())


def _merged(parts: Iterable[Any], top_k: int) -> SearchResult:
    """Return the best of what was found in parts of a corpus, ties in corpus order."""
    found, values, pruned = zip(*parts, strict=True)
    rows, distances = np.array([*chain(*found)], np.int64), np.array([*chain(*values)], np.float64)
    order = np.lexsort((rows, distances))[:top_k]
    pruning = {name: sum(part[name] for part in pruned) for name in ("corpus", *STAGES)}
    return SearchResult(rows[order], distances[order], Pruning(**pruning))
