"""Indexing, mining and searching on a Ray cluster, row for row as in one process.

Every node sees the folder of the index under the same path. Tasks write shards into it, mine
blocks of it or search some of its shards; the driver puts the parts together in order, and alone
writes the manifest, the journal and the results. Ray does again what a killed worker was doing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace as replaced
from functools import lru_cache, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from movers.errors import InputError
from movers.integrations.ray import LIVES, Workers, cluster
from movers.io.pairs import check_queries
from movers.runtime.progress import Bar, progress_bar
from movers.scorer import Scorer
from movers.search.cosine import Keep
from movers.search.folder import Folder
from movers.search.index import Index
from movers.search.layouts import find_layout, make_layout
from movers.search.manifest import Part
from movers.search.mining import Pair, WholeTexts, mine
from movers.search.passages import Cutter
from movers.search.search_ranking import STAGES, Pruning, SearchRanking, SearchResult
from movers.search.vectors import Precision

UNSEEN = Bar()


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
        cutter = Cutter(scorer)
        write = partial(_write, files.path, str(scorer.signature), layout.name)
        with cluster(self.address):
            texts = [*cutter.sentences(sentences)]
            starts = range(0, len(texts), layout.capacity)
            chunks = (texts[low : low + layout.capacity] for low in starts)
            with progress_bar("indexing", "shards", len(starts), progress=progress) as bar:
                parts = self._each(write, scorer, chunks, bar)
                files.fill(parts, scorer, layout.name, cutter.table, replace=replace)
        return Index(scorer, layout, files)

    def mine(
        self, index: Index, threshold: float, *, start: int = 0, progress: bool = False
    ) -> Iterator[list[Pair]]:
        """Yield block by block all pairs at a distance of at most the threshold."""

        def mined(whole: WholeTexts, threshold: float, blocks: Sequence[range]) -> Any:
            with cluster(self.address):
                near = partial(_mine, _place(index).path.resolve(), threshold)
                yield from self._each(near, index.scorer, blocks)

        return mine(index, threshold, start=start, miner=mined, progress=progress)

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
        files = _place(index)
        parts = len(files.manifest.parts)
        with cluster(self.address):
            count = min(self.workers.count or self.workers.room(), parts)
            shares = [*pairwise(round(parts * number / count) for number in range(count + 1))]

            def find(asked: Sequence[str], top_k: int, within: float) -> list[SearchResult]:
                nearest = partial(_search, files.path.resolve(), [*asked], top_k, within)
                found = self._each(nearest, index.scorer, shares)
                return [_best(results, top_k) for results in zip(*found, strict=True)]

            return index.rank_found(texts, top_k, limit, find, align=align)

    def _each(
        self, work: Callable[..., Any], scorer: Scorer, inputs: Iterable[Any], bar: Bar = UNSEEN
    ) -> Iterator[Any]:
        """Yield what workers make of inputs, in order, and move a bar."""
        import ray

        scorer.prepare()
        held = [ray.put(scorer)]  # in a list, which a worker gets as it is
        workers, most = self.workers, self.workers.count or self.workers.room()
        task = ray.remote(num_cpus=workers.cpus, num_gpus=workers.gpus, max_retries=LIVES - 1)(_run)
        running = deque[Any]()
        for given in inputs:
            running.append(task.remote(work, held, workers, given))
            bar.update(len(running) == most)
            if len(running) == most:
                yield ray.get(running.popleft())
        yield from map(ray.get, running)


def _run(work: Callable[..., Any], held: list[Any], workers: Workers, given: Any) -> Any:
    return work(given, _equipped(held[0], workers))


@lru_cache(maxsize=1)
def _equipped(scorer: Any, workers: Workers) -> Scorer:
    """Return the scorer that Ray holds, made ready once by a worker."""
    import ray

    return workers.equip(ray.get(scorer))


def _write(folder: Path, signature: str, layout: str, texts: list[str], scorer: Scorer) -> Part:
    """Write a shard of an index."""
    make = partial(find_layout(layout).make, scorer, texts)
    return Folder(folder).store((texts, make), signature, layout)


@lru_cache(maxsize=1)
def _whole_texts(folder: Path, scorer: Scorer) -> WholeTexts:
    return WholeTexts.of(Index.open(folder, scorer=scorer))


def _mine(folder: Path, threshold: float, block: range, scorer: Scorer) -> list[Pair]:
    """Return the near pairs of a block of an index."""
    return _whole_texts(folder, scorer).mine(threshold, block)


def _search(
    folder: Path,
    queries: list[str],
    top_k: int,
    within: float,
    share: tuple[int, int],
    scorer: Scorer,
) -> list[SearchResult]:
    """Return what a share of the files of an index, which alone are read, has for queries."""
    files = Folder.opened(folder)
    corpus, first = files.some(*share)
    if not len(corpus):
        return [SearchResult(np.zeros(0, np.int64), np.zeros(0)) for _ in queries]
    layout = find_layout(files.manifest.layout)
    results = layout.search(scorer, corpus, queries, top_k, within)
    return [replaced(one, rows=one.rows + first) for one in results]


def _best(results: Sequence[SearchResult], top_k: int) -> SearchResult:
    """Return the nearest rows of all shares for a query, ties in the order of the index."""
    rows = np.concatenate([one.rows for one in results])
    distances = np.concatenate([one.distances for one in results])
    order = np.lexsort((rows, distances))[:top_k]
    counts = {
        name: sum(getattr(one.pruning, name) for one in results) for name in ("corpus", *STAGES)
    }
    return SearchResult(rows[order], distances[order], Pruning(**counts))


def _place(index: Index) -> Folder:
    """Return the folder of an index, which every worker sees."""
    if index.files is None:
        raise InputError("an index in memory cannot be shared with workers; save it to a folder")
    return index.files
