"""A corpus run through the model once: its encodings stay in a folder and are read back by row."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property, reduce
from pathlib import Path
from typing import Any

import numpy as np

from movers.arrays import Ragged
from movers.encode.encodings import Encodings, Request
from movers.encode.spellings import Spellings
from movers.encode.transformer import TransformerEncoder
from movers.encode.whiten import Moments, OrderedMoments
from movers.runtime.atomic import sync
from movers.runtime.progress import progress_bar

PART_BYTES = 1 << 28
"""About what the encodings of one part take."""
OPEN = 8
"""Files of parts mapped at a time: pages once read count as memory as long as they are mapped."""


class CorpusEncoder(TransformerEncoder):
    """An encoder that keeps what it makes of a corpus on disk.

    The corpus is cut into parts; each is a folder that appears when it is complete, so that a
    run broken off goes on where it stopped. Sentences outside the corpus, and requests that were
    not announced, go through the model as always.

    Parameters
    ----------
    encoder
        The model.
    store
        Folder to keep the parts in.
    counts
        The sentences of the corpus, and how often each occurs.
    requests
        What will be asked of the sentences; the rules of any two differ.
    ordered
        Keep all token vectors too, for as-coded whitening.
    """

    def __init__(
        self,
        encoder: TransformerEncoder,
        store: Path,
        counts: Mapping[str, int],
        requests: Sequence[Request],
        *,
        ordered: bool = False,
    ) -> None:
        vars(self).update(vars(encoder))
        self.store, self.counts, self.requests = store, counts, tuple(requests)
        self.ordered = ordered
        self.layers_kept = sorted({layer for one in requests for layer in one.embeddings})

    def run(self, *, progress: bool = False) -> None:
        """Encode the parts that are not there yet."""
        parts = list(self._parts())
        known = sum(self._folder(number).is_dir() for number in range(len(parts)))
        before = sum(map(len, parts[:known]))
        with progress_bar(
            "encoding", "sentences", len(self.counts), progress=progress, initial=before
        ) as bar:
            moments = self._moments_after(known)
            for number in range(known, len(parts)):
                self._encode_part(number, parts[number], moments, progress=progress)
                bar.update(len(parts[number]))

    def _encode_part(
        self,
        number: int,
        sentences: list[str],
        moments: dict[int, Moments],
        *,
        progress: bool = False,
    ) -> None:
        counts = [self.counts[text] for text in sentences]
        found = super().encode_all(
            sentences, self.requests, moments=moments, counts=counts, progress=progress
        )
        target = self._folder(number)
        temporary = target.with_suffix(".partial")
        shutil.rmtree(temporary, ignore_errors=True)
        for place, encodings in enumerate(found):
            _save(encodings, temporary / str(place))
        for layer, moment in moments.items():
            _save_arrays(moment.state(), temporary / f"moments-{layer}")
        for path in temporary.rglob("*"):
            sync(path)
        os.replace(temporary, target)

    @cached_property
    def moments(self) -> dict[int, Moments]:
        """Moments of all token vectors of the corpus, by embedding layer."""
        return self._moments_after(len(list(self._parts())))

    def _moments_after(self, parts: int) -> dict[int, Moments]:
        kind = OrderedMoments if self.ordered else Moments
        if not parts:
            return {layer: kind(self.dimension) for layer in self.layers_kept}
        folders = [self._folder(part) for part in range(parts)]
        return {
            layer: kind.from_states([_load_arrays(one / f"moments-{layer}") for one in folders])
            for layer in self.layers_kept
        }

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
        known = [n for n, kept in enumerate(self.requests) if kept.covers(request)]
        inside = all(text in self._places for text in sentences)
        if not (known and inside and sentences) or moments:
            return super().encode(
                sentences, request, moments=moments, counts=counts, progress=progress
            )
        return self._read(sentences, request, known[0])

    def _read(self, sentences: Sequence[str], request: Request, place: int) -> Encodings:
        """Sentences as they were kept for one of the requests, in the order given."""
        heads = self.requests[place].heads
        places = np.array([self._places[text] for text in sentences])
        order = np.argsort(places[:, 0], kind="stable")
        parts, rows = places[order].T
        blocks = [
            self._open(part, place).take(rows[parts == part], request, heads)
            for part in np.unique(parts).tolist()
        ]
        joined = reduce(Encodings.joined, blocks)
        if (order[:-1] < order[1:]).all():
            return joined
        return joined.take(np.argsort(order), request, request.heads)

    def _open(self, part: int, place: int) -> Encodings:
        if (part, place) not in self._opened:
            if len(self._opened) == OPEN:
                del self._opened[next(iter(self._opened))]
            self._opened[part, place] = _load(self._folder(part) / str(place))
        return self._opened[part, place]

    @cached_property
    def _opened(self) -> dict[tuple[int, int], Encodings]:
        return {}

    @cached_property
    def _places(self) -> dict[str, tuple[int, int]]:
        """Part and row of every sentence."""
        return {
            text: (number, row)
            for number, part in enumerate(self._parts())
            for row, text in enumerate(part)
        }

    def _folder(self, part: int) -> Path:
        return self.store / f"part-{part:05d}"

    def _parts(self) -> Iterator[list[str]]:
        """The sentences in runs that should fit into `PART_BYTES`."""
        part: list[str] = []
        room = PART_BYTES
        for text in self.counts:
            size = sum(
                request.nbytes(len(text.split()), self.dimension) for request in self.requests
            )
            if part and size > room:
                yield part
                part, room = [], PART_BYTES
            part.append(text)
            room -= size
        if part:
            yield part


def _save(encodings: Encodings, folder: Path) -> None:
    """Write encodings as arrays that can be mapped into memory."""
    arrays = {
        "spans": encodings.spans.data,
        "starts": encodings.spans.starts,
        "structure": encodings.structure.data,
        "structure_starts": encodings.structure.starts,
        "sums": encodings.sums,
        "squares": encodings.squares,
        "sizes": encodings.sizes,
        "pooled": encodings.pooled,
        **{f"vectors-{layer}": rows.data for layer, rows in encodings.vectors.items()},
    }
    _save_arrays(arrays, folder)
    texts = {"sentences": encodings.sentences, "spellings": [*encodings.spellings]}
    (folder / "words.json").write_text(json.dumps(texts), "utf-8")


def _load(folder: Path) -> Encodings:
    """Map what `_save` wrote."""
    arrays = _load_arrays(folder)
    starts = np.array(arrays["starts"])
    prefix = "vectors-"
    texts = json.loads((folder / "words.json").read_text("utf-8"))
    return Encodings(
        sentences=texts["sentences"],
        spellings=Spellings.of(texts["spellings"]),
        spans=Ragged(arrays["spans"], starts),
        vectors={
            int(name.removeprefix(prefix)): Ragged(array, starts)
            for name, array in arrays.items()
            if name.startswith(prefix)
        },
        structure=Ragged(arrays["structure"], np.array(arrays["structure_starts"])),
        sums=np.array(arrays["sums"]),
        squares=np.array(arrays["squares"]),
        sizes=np.array(arrays["sizes"]),
        pooled=arrays["pooled"],
    )


def _save_arrays(arrays: Mapping[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True)
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)


def _load_arrays(folder: Path) -> dict[str, Any]:
    return {path.stem: np.load(path, mmap_mode="r") for path in sorted(folder.glob("*.npy"))}
