"""Many measures on one data set: encoded once, solved chunk by chunk, kept as it goes."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from movers.arrays import Bools, Floats
from movers.encode.encoder import Encoder
from movers.encode.encodings import Request
from movers.evaluate.labelled import Dataset
from movers.measures.base import Measure
from movers.measures.parts.statistics import Statistics, statistics_of
from movers.measures.parts.structure import attention_variability
from movers.measures.registry import find_measure
from movers.measures.word_transport import WordTransport
from movers.runtime.progress import Bar, progress_bar
from movers.scorer import Scorer
from movers.solve.solution import NUMBERS, Many
from movers_research.encoded_corpus import CorpusEncoder
from movers_research.outcomes import Stage
from movers_research.runs import RunFolder, is_whole, read_column, write_chunk
from movers_research.scores import Column, grouped

CHUNK_PAIRS = 1024
CHUNK_BYTES = 1 << 27
"""About what the encodings of the sentences of a chunk take."""
LABELS = (
    "name",
    "title",
    "paper",
    "recipes",
    "base",
    "reference",
    "bound_to",
    "symmetric",
    "word_part",
)
"""Fields of a measure that do not change what is solved."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """Columns of one data set, computed into a run folder.

    ``base`` has the model and all settings that the columns leave open.
    """

    base: Scorer
    dataset: Dataset
    columns: Sequence[Column]
    folder: RunFolder

    def run(self, *, progress: bool = False, overall: Bar | None = None) -> None:
        """Compute whatever is not in the folder yet; moves an overall bar by distances."""
        every = [path for group in self.groups for path in self.paths(group)]
        missing = [path for path in every if not is_whole(path)]
        for path in missing:
            path.unlink(missing_ok=True)
        if missing:
            with self.folder.timed("encode", len(self.counts), "sentences"):
                self.corpus.run(progress=progress)
            for recipe in dict.fromkeys(column.recipe for column in self.columns):
                self._score(recipe, overall, progress=progress)
        elif overall is not None:
            overall.update(len(self.columns) * len(self.dataset))
        vars(self).pop("corpus", None)  # lets go of its files before they are removed
        shutil.rmtree(self.folder.encodings(self.dataset.name), ignore_errors=True)

    @cached_property
    def groups(self) -> dict[str, list[Column]]:
        """Columns by recipe and embedding layer, which share a file."""
        return grouped(self.columns, group_of)

    def paths(self, group: str) -> list[Path]:
        """The files of a group, in order of the pairs."""
        count = len(self.chunks)
        return [self.folder.chunk(self.dataset.name, group, number) for number in range(count)]

    def values(self, column: Column) -> Floats:
        """What was computed for a column, shape ``(pairs, heads)``.

        Pairs with nothing to compare on one side have NaN under every measure.
        """
        paths = self.paths(group_of(column))
        values, empty = (read_column(paths, name) for name in (label(column), "empty"))
        values[empty[:, 0].astype(bool)] = np.nan
        return values

    @cached_property
    def counts(self) -> Counter[str]:
        """The sentences in the order of the pairs: the one in which published code averages."""
        return Counter(chain.from_iterable(self.dataset.pairs))

    @cached_property
    def chunks(self) -> list[slice]:
        """Runs of pairs whose sentences fit into memory."""
        widest = max(self.requests, key=lambda request: request.nbytes(20, self.model.dimension))
        chunks, start, room = [], 0, CHUNK_BYTES
        for place, pair in enumerate(self.dataset.pairs):
            size = sum(widest.nbytes(len(text.split()), self.model.dimension) for text in pair)
            if place > start and (size > room or place - start == CHUNK_PAIRS):
                chunks.append(slice(start, place))
                start, room = place, CHUNK_BYTES
            room -= size
        return [*chunks, slice(start, len(self.dataset))]

    @property
    def model(self) -> Encoder:
        """The model itself."""
        return self.base.encoder

    @cached_property
    def corpus(self) -> CorpusEncoder:
        """The model with all sentences of the data set at hand."""
        store = self.folder.encodings(self.dataset.name)
        kinds = {self._scorer(one, self.model).settings.whitening_to_fit for one in self.columns}
        ordered = "as-coded" in kinds
        return CorpusEncoder(self.model, store, self.counts, self.requests, ordered=ordered)

    @cached_property
    def requests(self) -> list[Request]:
        """What the columns need of the sentences, one request for each set of words."""
        scorers = (self._scorer(column, self.model) for column in self.columns)
        return joined_requests(scorer.measure.requirements for scorer in scorers)

    def _scorer(
        self, column: Column, encoder: Encoder, statistics: Statistics | None = None
    ) -> Scorer:
        settings = replace(self.base.settings, **_settings(column), statistics=statistics)
        return Scorer(settings, encoder)

    def _score(self, recipe: str, overall: Bar | None, *, progress: bool) -> None:
        """Fill every chunk of the groups of a recipe that is not there yet."""
        scorers = self._scorers(recipe)
        title, total = f"{self.dataset.name}, {recipe}", len(scorers) * len(self.dataset)
        with progress_bar(title, "distances", total, progress=progress) as bar:
            bars = [bar] if overall is None else [bar, overall]
            for number, chunk in enumerate(self.chunks):
                for group, members in self.groups.items():
                    if members[0].recipe != recipe:
                        continue
                    path = self.folder.chunk(self.dataset.name, group, number)
                    if path.exists():
                        for one in bars:
                            one.update(len(members) * (chunk.stop - chunk.start))
                    else:
                        own = {column: scorers[column] for column in members}
                        self._fill(path, chunk, own, bars)

    def _scorers(self, recipe: str) -> dict[Column, Scorer]:
        """A scorer for every column of a recipe, with what was fitted on the data set."""
        columns = [column for column in self.columns if column.recipe == recipe]
        fitted = self.folder.statistics(self.dataset.name, recipe)
        if not fitted.exists():
            with self.folder.timed("fit", len(self.counts), "sentences"):
                self._fit(columns).save(fitted)
        root = self._scorer(columns[0], self.corpus, Statistics.load(fitted))
        scorers = {column: root.using(**_settings(column)) for column in columns}
        for scorer in scorers.values():
            scorer.prepare()
        return scorers

    def _fill(
        self, path: Path, chunk: slice, scorers: Mapping[Column, Scorer], bars: Sequence[Bar]
    ) -> None:
        """Compute one chunk of one group and write it."""
        pairs = self.dataset.pairs[chunk]
        values, stages = {}, []
        shared = grouped(scorers, lambda column: (problem_of(scorers[column].measure), column.mix))
        for columns in shared.values():
            started = monotonic()
            parts = solve_parts(scorers[columns[0]], pairs)
            for column in columns:
                measure = scorers[column].measure
                found = measure.reported(parts)
                values[label(column)] = found if measure.by_head else found.mean(axis=1)
            first = columns[0]
            name = first.base.method if first.base and first.is_word_part else first.method
            stages.append(Stage(name, monotonic() - started, len(pairs), "pairs"))
            for bar in bars:
                bar.update(len(columns) * len(pairs))
        facts = {
            "pairs": [chunk.start, chunk.stop],
            "signatures": {label(column): str(scorers[column].signature) for column in scorers},
        }
        write_chunk(path, values, self._empty(pairs, scorers), facts)
        self.folder.add_time(*stages)

    def _empty(self, pairs: Sequence[tuple[str, str]], scorers: Mapping[Column, Scorer]) -> Bools:
        """Which pairs have no words on one side once stop words are gone, under any measure."""
        settings = replace(next(iter(scorers.values())).settings, method=find_measure("wmd"))
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        words = self.model.encode(texts, Request(rules=settings.rules))
        counts = dict(zip(texts, words.counts.tolist(), strict=True))
        return np.array([not (counts[a] and counts[b]) for a, b in pairs])

    def _fit(self, columns: Sequence[Column]) -> Statistics:
        """Statistics of the data set under one recipe."""
        settings = self._scorer(columns[0], self.model).settings
        whitening, origin = settings.whitening_to_fit, self.dataset.title
        moments = self.corpus.moments if whitening else {}
        sentences = chain.from_iterable(self.dataset.pairs)
        known = (self.corpus, sentences, moments, settings.rules)
        statistics = statistics_of(*known, whitening=whitening, origin=origin)
        root = self._scorer(columns[0], self.corpus, statistics)
        for column in columns:
            scorer = root.using(**_settings(column))
            if type(scorer.measure).fit is not Measure.fit:
                root = scorer.fit(self.counts.elements())
        return root.statistics


def solve_parts(scorer: Scorer, pairs: Sequence[tuple[str, str]]) -> Many:
    """Return the distance of every pair under every head, with its parts.

    Pairs without a proper distance get its limit.
    """
    sides, measure = [text for pair in pairs for text in pair], scorer.measure
    sentences = scorer.weigh(sides)
    rows = sentences.numbers(sides).reshape(-1, 2)
    defined = measure.undefined(sentences, rows) == 0
    parts, solved = measure.limits(sentences, rows), measure.solve(sentences, rows[defined])
    for name in NUMBERS:
        getattr(parts, name)[defined] = getattr(solved, name)
    return parts


def problem_of(measure: Measure) -> Hashable:
    """Return a key that measures share if `solve` returns the same for them."""
    if not isinstance(measure, WordTransport):
        return measure.name
    facts = (getattr(measure, part.name) for part in fields(measure) if part.name not in LABELS)
    return measure.reads_attention, *facts


def measure_variability(
    base: Scorer, dataset: Dataset, folder: RunFolder, *, progress: bool = False
) -> Floats:
    """BV_A of every head on all sentences of a data set, shape ``(layers, heads)``."""
    encoder = base.encoder
    sentences = [text for side in zip(*dataset.pairs, strict=True) for text in side]

    def measured() -> Floats:
        def counted() -> Iterator[Any]:
            for attention in encoder.attentions(sentences):
                yield attention
                bar.update()

        with (
            folder.timed("variability", len(sentences), "sentences"),
            progress_bar("BV", "sentences", 2 * len(sentences), progress=progress) as bar,
        ):
            found = attention_variability(counted)
        return found.reshape(encoder.layers, encoder.heads)

    return folder.array(folder.variability(dataset.name), measured, "measure")


def joined_requests(requests: Iterable[Request]) -> list[Request]:
    """One request for each set of words, which serves all that compare these words."""
    every: dict[Any, Request] = {}
    for request in requests:
        known = every.get(request.rules, request)
        every[request.rules] = Request(
            tuple(sorted({*known.embeddings, *request.embeddings})),
            tuple(sorted({*known.heads, *request.heads})),
            request.rules,
            known.pooled or request.pooled,
        )
    return list(every.values())


def group_of(column: Column) -> str:
    """Name of the group a column belongs to."""
    return f"{column.recipe}-{column.embedding}"


def label(column: Column) -> str:
    """Name of a column within its group."""
    return column.method if column.mix is None else f"{column.method}@{column.mix}"


def _settings(column: Column) -> dict[str, Any]:
    layers = "all" if find_measure(column.method).by_head else None
    return {**column.settings, "layers": layers}
