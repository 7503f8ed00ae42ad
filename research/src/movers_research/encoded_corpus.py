"""A corpus run through the model once: its encodings stay in a folder and are read back by row."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Array, Ragged, gathered
from movers.encode.collect import Batch, Collector, allocate
from movers.encode.encoder import Encoder, Layers, Take
from movers.encode.encodings import Encodings, Request, Spellings
from movers.encode.tokens import Text, read
from movers.encode.whiten import Moments, OrderedMoments
from movers.io.mapped import map_arrays
from movers.runtime.atomic import replacing
from movers.runtime.progress import progress_bar

PART_BYTES = 1 << 28
"""About what the encodings of one part take."""
OPEN_BYTES = 8 * PART_BYTES
"""What is mapped at a time."""
PLAIN = ("sums", "squares", "sizes", "pooled")
"""Parts of encodings that are one array each."""


class CorpusEncoder(Encoder):
    """An encoder that keeps what it makes of a corpus on disk.

    The corpus is cut into parts; each is a file that appears when it is complete, so that a
    run broken off goes on where it stopped. Sentences outside the corpus, and requests that were
    not announced, go through the model as always.

    ``counts`` are the sentences of the corpus and how often each occurs, ``requests`` what will be
    asked of them; the rules of any two differ. With ``ordered``, all token vectors are kept too,
    for as-coded whitening.
    """

    def __init__(
        self,
        encoder: Encoder,
        store: Path,
        counts: Mapping[str, int],
        requests: Sequence[Request],
        *,
        ordered: bool = False,
    ) -> None:
        vars(self).update(vars(encoder))
        self.runs = encoder
        self.store, self.counts, self.requests = store, counts, tuple(requests)
        self.ordered = ordered
        self.beside: list[tuple[Request, Encodings, Ragged]] = []
        self.layers_kept = sorted({layer for one in requests for layer in one.embeddings})

    @property
    def engine(self) -> str:  # type: ignore[override]
        """What runs the model."""
        return self.runs.engine

    @property
    def model_threads(self) -> int:
        """Threads that run the model."""
        return self.runs.model_threads

    @model_threads.setter
    def model_threads(self, threads: int) -> None:
        self.runs.model_threads = threads

    def _batches(self, text: Text) -> Iterator[Batch]:
        return self.runs._batches(text)

    def _forward(
        self, batch: Batch, layers: Layers, attention: Layers, take: Take
    ) -> dict[int, Any]:
        return self.runs._forward(batch, layers, attention, take)

    def _collector(self, collector: Collector) -> Any:
        others = [
            Collector(request, words, room, *collector.span, self.pooling)
            for request, room, words in self.beside
        ]
        return SeveralCollectors([self.runs._collector(one) for one in (collector, *others)])

    def run(self, *, progress: bool = False) -> None:
        """Encode the parts that are not there yet."""
        parts = list(self._parts())
        known = sum(self._file(number).is_file() for number in range(len(parts)))
        total, before = len(self.counts), sum(map(len, parts[:known]))
        with progress_bar("encoding", "sentences", total, progress=progress, initial=before) as bar:
            moments = self._moments_after(known)
            for number in range(known, len(parts)):
                self._encode_part(number, parts[number], moments, progress)
                bar.update(len(parts[number]))

    def _encode_part(
        self, number: int, sentences: list[str], moments: dict[int, Moments], progress: bool
    ) -> None:
        from safetensors.numpy import save_file

        counts = [self.counts[text] for text in sentences]
        text = read(self.tokenizer, sentences, self.max_length)
        first, *others = self.requests
        self.beside = [
            (one, *allocate(sentences, text, self.finder(one.rules), one, self.dimension))
            for one in others
        ]
        found = super().encode(sentences, first, moments=moments, counts=counts, progress=progress)
        rooms = [found, *(room for _, room, _ in self.beside)]
        self.beside = []
        groups = {str(place): _arrays(one) for place, one in enumerate(rooms)}
        groups |= {f"moments-{layer}": sums_of(moment) for layer, moment in moments.items()}
        arrays = {
            f"{group}/{name}": np.ascontiguousarray(array)
            for group, members in groups.items()
            for name, array in members.items()
        }
        with replacing(self._file(number)) as temporary:
            save_file(arrays, temporary)

    @cached_property
    def moments(self) -> dict[int, Moments]:
        """Moments of all token vectors of the corpus, by embedding layer."""
        return self._moments_after(len(list(self._parts())))

    def _moments_after(self, parts: int) -> dict[int, Moments]:
        kind = OrderedMoments if self.ordered else Moments
        found = {layer: kind(self.dimension) for layer in self.layers_kept}
        for layer in found if parts else ():
            files = map(self._file, range(parts))
            sums = [_group(file, f"moments-{layer}") for file in files]
            found[layer] = moments_from(kind, sums)
        return found

    def encode(
        self,
        sentences: Sequence[str],
        request: Request,
        *,
        moments: dict[int, Moments] | None = None,
        counts: Sequence[int] | None = None,
        progress: bool = False,
    ) -> Encodings:
        """Read sentences of the corpus back; encode whatever else there is."""
        known = [store for store in self.stores if store.covers(request)]
        inside = sentences and known and all(text in known[0].places for text in sentences)
        if not inside or moments:
            return super().encode(
                sentences, request, moments=moments, counts=counts, progress=progress
            )
        return known[0].read(sentences, request)

    @cached_property
    def stores(self) -> list[MappedParts]:
        """What was kept for every request."""
        limit = OPEN_BYTES // max(1, len(self.requests))
        stores = [MappedParts(request, limit) for request in self.requests]
        for number, part in enumerate(self._parts()):
            for place, store in enumerate(stores):
                store.add(part, partial(_mapped, self._file(number), str(place)))
        return stores

    def _file(self, part: int) -> Path:
        return self.store / f"part-{part:05d}.safetensors"

    def _parts(self) -> Iterator[list[str]]:
        """The sentences in runs that should fit into `PART_BYTES`."""
        part: list[str] = []
        room = PART_BYTES
        for text in self.counts:
            words = len(text.split())
            size = sum(request.nbytes(words, self.dimension) for request in self.requests)
            if part and size > room:
                yield part
                part, room = [], PART_BYTES
            part.append(text)
            room -= size
        if part:
            yield part


class SeveralCollectors:
    """Collectors of several requests, which take what they keep from one pass."""

    def __init__(self, collectors: Sequence[Any]) -> None:
        self.collectors = collectors
        asked = [one.request for one in collectors]
        layers = {layer for one in asked for layer in one.embeddings}
        heads = {head for one in asked for head in one.heads}
        pooled = any(one.pooled for one in asked)
        self.request = Request(tuple(sorted(layers)), tuple(sorted(heads)), pooled=pooled)

    def begin(self, batch: Batch) -> None:
        """Turn to the next batch."""
        for one in self.collectors:
            one.begin(batch)

    def take_states(self, states: dict[int, Any]) -> None:
        """Keep vectors."""
        for one in self.collectors:
            one.take_states(states)

    def take_attention(self, layer: int, matrices: Any) -> None:
        """Keep attention."""
        for one in self.collectors:
            one.take_attention(layer, matrices)

    def finish(self, courier: ThreadPoolExecutor) -> Future[None]:
        """Send off what was gathered; returns what to wait for."""
        sent = [one.finish(courier) for one in self.collectors]

        def arrive() -> None:
            for one in sent:
                one.result()

        return courier.submit(arrive)


@dataclass(eq=False)
class MappedParts:
    """Parts of a corpus in files, which are mapped when one of their sentences is read.

    The ``request`` tells what is kept of each sentence. Beyond the ``limit`` of bytes, files that
    were not read for longest are let go.
    """

    request: Request
    limit: int
    files: list[Callable[[], Encodings]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    mapped: dict[int, Encodings] = field(default_factory=dict)

    def add(self, sentences: Iterable[str], map: Callable[[], Encodings]) -> None:
        """Know the sentences of a file."""
        self.places.update(dict.fromkeys(sentences, len(self.files)))
        self.files.append(map)

    def covers(self, asked: Request) -> bool:
        """Tell whether what is kept is enough for a request."""
        return (
            self.request.rules == asked.rules
            and {*asked.embeddings} <= {*self.request.embeddings}
            and {*asked.heads} <= {*self.request.heads}
            and self.request.pooled >= asked.pooled
        )

    def read(self, sentences: Sequence[str], asked: Request) -> Encodings:
        """Return just these sentences, and of them what a request names."""
        by_file: dict[int, list[str]] = {}
        for text in sentences:
            by_file.setdefault(self.places[text], []).append(text)
        parts = [
            one.take(one.numbers(texts), asked, self.request.heads)
            for one, texts in ((self._map(number), texts) for number, texts in by_file.items())
        ]
        found = gathered(Encodings, [(part, slice(None)) for part in parts])
        if found.sentences == list(sentences):
            return found
        return gathered(Encodings, [(found, found.numbers(sentences))])

    def _map(self, number: int) -> Encodings:
        """Return what a file holds; let go of others beyond the limit."""
        part = self.mapped.pop(number, None)
        while sum(other.nbytes for other in self.mapped.values()) > self.limit:
            del self.mapped[next(iter(self.mapped))]
        self.mapped[number] = self.files[number]() if part is None else part
        return self.mapped[number]


def sums_of(moments: Moments) -> dict[str, Array]:
    """Return all sums of moments, and of ordered ones the rows that were completed last."""
    assert moments.origin is not None
    sums = {"origin": moments.origin, "first": moments.first, "second": moments.second}
    sums["count"] = np.array([moments.count])
    if not isinstance(moments, OrderedMoments):
        return sums
    rows, times = moments.kept[-1]
    return {**sums, "rows": rows.data, "starts": rows.starts, "times": times}


def moments_from(kind: type[Moments], sums: Sequence[Mapping[str, Array]]) -> Moments:
    """Go on from what `sums_of` returned for each of several parts."""
    last = sums[-1]
    moments = kind(len(last["first"]))
    moments.count = float(last["count"][0])
    moments.origin, moments.first = np.array(last["origin"]), np.array(last["first"])
    moments.second = np.array(last["second"])
    if isinstance(moments, OrderedMoments):
        for one in sums:
            rows = Ragged(one["rows"], np.array(one["starts"]))
            moments.kept.append((rows, np.array(one["times"])))
    return moments


def _arrays(encodings: Encodings) -> dict[str, Array]:
    """Encodings as arrays that can be mapped into memory."""
    words = json.dumps({"sentences": encodings.sentences, "spellings": [*encodings.spellings]})
    return {
        "words": np.frombuffer(words.encode(), np.uint8),
        "spans": encodings.spans.data,
        "starts": encodings.spans.starts,
        "structure": encodings.structure.data,
        "structure_starts": encodings.structure.starts,
        **{name: getattr(encodings, name) for name in PLAIN},
        **{f"vectors-{layer}": rows.data for layer, rows in encodings.vectors.items()},
    }


def _mapped(path: Path, group: str) -> Encodings:
    """What `_arrays` took apart."""
    arrays = _group(path, group)
    texts, starts = json.loads(arrays["words"].tobytes()), arrays["starts"]
    vectors = _starting(arrays, "vectors-")
    return Encodings(
        sentences=texts["sentences"],
        spellings=Spellings.of(texts["spellings"]),
        spans=Ragged(arrays["spans"], starts),
        vectors={int(layer): Ragged(array, starts) for layer, array in vectors.items()},
        structure=Ragged(arrays["structure"], arrays["structure_starts"]),
        **{name: arrays[name] for name in PLAIN},
    )


def _group(path: Path, group: str) -> dict[str, Array]:
    """The arrays of a part whose names start with one of its groups, mapped."""
    return _starting(map_arrays(path)[1], f"{group}/")


def _starting(arrays: dict[str, Array], prefix: str) -> dict[str, Array]:
    names = [name for name in arrays if name.startswith(prefix)]
    return {name.removeprefix(prefix): arrays[name] for name in names}
