"""One file of an index: some thousand sentences with all that comparing them needs."""

from __future__ import annotations

import json
import mmap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from movers.arrays import Array, Ints, Ragged, Singles, boundaries, places
from movers.encode.encodings import Encodings
from movers.encode.spellings import Spellings
from movers.errors import InputError
from movers.measure.measured import Measured
from movers.methods import Method
from movers.search.sentences import keys_of
from movers.solve.bounds import profile_sizes, structure_profiles
from movers.solve.rounding import to_integers

DTYPES: dict[str, Any] = {
    "F64": np.float64,
    "F32": np.float32,
    "I64": np.int64,
    "I16": np.int16,
    "I8": np.int8,
    "U8": np.uint8,
}

RAGGED = {
    "text": "text_starts",
    "weights": "starts",
    "norms": "starts",
    "vectors": "starts",
    "structure": "structure_starts",
    "profiles": "profile_starts",
}
"""Arrays that hold a block for every sentence, and what says where it starts."""


@dataclass(frozen=True)
class Sentences:
    """What every file of an index holds, in memory or mapped: sentences, and how many words each.

    Parameters
    ----------
    text, text_starts
        The sentences in UTF-8, one after another.
    """

    text: Array
    text_starts: Ints

    def __len__(self) -> int:
        return len(self.text_starts) - 1

    def sentence(self, row: int) -> str:
        """The text of a sentence."""
        return bytes(self.text[self.text_starts[row] : self.text_starts[row + 1]]).decode()

    @property
    def sentences(self) -> list[str]:
        """All texts."""
        return [self.sentence(row) for row in range(len(self))]

    @property
    def keys(self) -> Ints:
        """What every sentence is known by."""
        return keys_of(self.sentences)


Kind = TypeVar("Kind", bound=Sentences)


@dataclass(frozen=True)
class Shard(Sentences):
    """Sentences with all that transport distances and their bounds need.

    Parameters
    ----------
    counts, sizes
        Words kept of each, and tokens the factor k averages over.
    weights, norms, vectors
        Of every word; norms and vectors are empty for a method without.
    means, mean_steps, mean_errors
        Weighted mean of each sentence's vectors, of the normalised ones under a cosine cost; in
        steps, which are NaN where it is undefined, and how far that moved it.
    structure, profiles, profile_steps, sums, squares
        Of every sentence under every head; empty for a method without structure.
    """

    counts: Ints
    sizes: Ints
    weights: Array
    norms: Array
    vectors: Array
    means: Array
    mean_steps: Array
    mean_errors: Array
    structure: Array
    profiles: Array
    profile_steps: Array
    sums: Array
    squares: Array

    @cached_property
    def starts(self) -> Ints:
        """Where the words of each sentence start."""
        return boundaries(self.counts)

    @cached_property
    def structure_starts(self) -> Ints:
        """Where the structure of each sentence starts."""
        return boundaries(self.sums.shape[1] * self.counts**2)

    @cached_property
    def profile_starts(self) -> Ints:
        """Where the profile of each sentence starts."""
        return boundaries(self.sums.shape[1] * profile_sizes(self.counts))

    @property
    def centroids(self) -> Singles:
        """Mean vectors of all sentences, as far as their steps tell."""
        return np.asarray(self.means * self.mean_steps[:, None], np.float32)

    def take(self, rows: Ints) -> Shard:
        """Copy some of the sentences."""
        return gathered([(self, rows)])

    def since(self, row: int) -> Shard:
        """The sentences from a row on, without a copy."""
        first, letter = self.starts[row], self.text_starts[row]
        return Shard(
            text=self.text[letter:],
            text_starts=self.text_starts[row:] - letter,
            counts=self.counts[row:],
            sizes=self.sizes[row:],
            weights=self.weights[first:],
            norms=self.norms[first:],
            vectors=self.vectors[first:],
            means=self.means[row:],
            mean_steps=self.mean_steps[row:],
            mean_errors=self.mean_errors[row:],
            structure=self.structure[self.structure_starts[row] :],
            profiles=self.profiles[self.profile_starts[row] :],
            profile_steps=self.profile_steps[row:],
            sums=self.sums[row:],
            squares=self.squares[row:],
        )


def gathered(pieces: Sequence[tuple[Kind, Ints]]) -> Kind:
    """Copy some sentences of several shards into one."""
    kind = type(pieces[0][0])
    arrays = {
        part.name: np.concatenate(
            [block for shard, rows in pieces for block in _blocks(shard, part.name, rows)]
        )
        for part in fields(kind)
        if part.name != "text_starts"
    }
    lengths = [np.diff(shard.text_starts)[rows] for shard, rows in pieces]
    return kind(text_starts=boundaries(np.concatenate(lengths)), **arrays)


def _blocks(shard: Sentences, name: str, rows: Ints) -> Iterator[Array]:
    """The entries of one array that belong to some sentences."""
    array = getattr(shard, name)
    if name not in RAGGED:
        yield array[rows]
        return
    yield array[:0]
    starts = getattr(shard, RAGGED[name])
    for low, high in zip(starts[rows].tolist(), starts[rows + 1].tolist(), strict=True):
        yield array[low:high]


def joined(shards: Sequence[Kind]) -> Kind:
    """All sentences of several shards in one."""
    return gathered([(shard, np.arange(len(shard))) for shard in shards])


def encoded_texts(sentences: Sequence[str]) -> tuple[Array, Ints]:
    """Sentences in UTF-8, one after another, and where each starts."""
    texts = [text.encode() for text in sentences]
    return np.frombuffer(b"".join(texts), np.uint8), boundaries(map(len, texts))


def make_shard(measured: Measured, sentences: list[str], method: Method) -> Shard:
    """Keep of measured sentences what a search under a method needs."""
    encodings = measured.encodings
    rows = np.array([encodings.rows[text] for text in sentences], np.int64)
    text, text_starts = encoded_texts(sentences)
    words = places(measured.weights.starts, rows)
    counts, weights = measured.weights.lengths[rows], measured.weights.data[words]
    heads = encodings.sums.shape[1] if method.needs_attention else 0
    blocks = places(encodings.structure.starts, rows) if heads else np.zeros(0, np.int64)
    structure = encodings.structure.data[blocks]
    vectors = np.zeros((0, 0), np.float32)
    norms, means = np.zeros(0), np.zeros((len(rows), 0))
    if measured.vectors is not None and measured.norms is not None:
        vectors, norms = measured.vectors.data[words], measured.norms.data[words]
        means = weighted_means(vectors, norms, Ragged(weights, boundaries(counts)), method)
    mean_integers, mean_steps = to_integers(means, np.int8)
    profiles = structure_profiles(structure, weights, boundaries(counts), heads)
    return Shard(
        text=text,
        text_starts=text_starts,
        counts=counts,
        sizes=encodings.sizes[rows],
        weights=weights,
        norms=norms,
        vectors=vectors,
        means=mean_integers,
        mean_steps=mean_steps,
        mean_errors=_moved(means, mean_integers * mean_steps[:, None]),
        structure=structure,
        profiles=profiles.numbers,
        profile_steps=profiles.steps,
        sums=encodings.sums[rows, :heads],
        squares=encodings.squares[rows, :heads],
    )


def weighted_means(vectors: Array, norms: Array, weights: Ragged, method: Method) -> Array:
    """Mean vector of every sentence, as the centroid bound of the method's cost needs it."""
    factors = weights.data.copy()
    if method.cost != "l2":
        with np.errstate(divide="ignore"):
            factors /= np.where(norms > 0, norms, np.nan)
    return Ragged(vectors * factors[:, None], weights.starts).sums()


def _moved(before: Array, after: Array) -> Array:
    """How far rows were moved, rounded up."""
    apart = np.linalg.norm(before - after, axis=1).astype(np.float32)
    return np.asarray(np.nextafter(apart, np.float32(np.inf)))


def as_measured(shard: Shard, embedding: int | None) -> Measured:
    """The sentences of a shard as the solver takes them."""
    heads = shard.sums.shape[1]
    encodings = Encodings(
        sentences=shard.sentences,
        spans=Ragged(np.zeros((len(shard.weights), 2), np.int32), shard.starts),
        spellings=Spellings.of([]),
        vectors={},
        structure=Ragged(shard.structure, boundaries(heads * shard.counts**2)),
        sums=shard.sums,
        squares=shard.squares,
        sizes=shard.sizes,
        pooled=np.zeros((len(shard), 0), np.float32),
    )
    weights = Ragged(shard.weights, shard.starts)
    totals = np.ones(len(shard))
    if embedding is None:
        return Measured(encodings, None, None, weights, totals)
    vectors, norms = Ragged(shard.vectors, shard.starts), Ragged(shard.norms, shard.starts)
    return Measured(encodings, vectors, norms, weights, totals, embedding)


def encode_shard(shard: Sentences) -> bytes:
    """A shard as the content of a safetensors file."""
    from safetensors.numpy import save

    tensors = {part.name: np.ascontiguousarray(getattr(shard, part.name)) for part in fields(shard)}
    return bytes(save(tensors))


def open_shard(path: Path, kind: type[Kind]) -> tuple[mmap.mmap, Kind]:
    """Map a file, and the shard of a kind in it; nothing is read before it is used."""
    with path.open("rb") as stream:
        mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    try:
        size = int.from_bytes(mapped[:8], "little")
        header = json.loads(mapped[8 : 8 + size])
        arrays = {}
        for part in fields(kind):
            entry = header[part.name]
            low, high = entry["data_offsets"]
            dtype = DTYPES[entry["dtype"]]
            count = (high - low) // dtype().itemsize
            flat = np.frombuffer(mapped, dtype, count, 8 + size + low)
            arrays[part.name] = flat.reshape(entry["shape"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{str(path)!r} is damaged (its header: {error}); build the index again"
        ) from error
    return mapped, kind(**arrays)
