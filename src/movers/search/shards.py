"""One file of an index: some thousand sentences with all that comparing them needs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from mmap import mmap
from pathlib import Path
from typing import TypeVar

import numpy as np

from movers.arrays import Array, Ints, Ragged, Singles, boundaries
from movers.errors import InputError
from movers.io.mapped import map_arrays
from movers.measure.measured import Bags, Measured
from movers.methods import Method
from movers.search.sentences import keys_of
from movers.solve.bounds import profile_sizes, structure_profiles
from movers.solve.rounding import to_integers

NO_VECTORS = np.zeros((0, 0), np.float32)

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
    """What every file of an index holds, in memory or mapped: sentences and their words.

    Parameters
    ----------
    text, text_starts
        The sentences in UTF-8, one after another.
    counts, sizes
        Words kept of each, and tokens the factor k averages over.
    weights, norms, vectors
        Of every word; norms and vectors are empty for a method without.
    structure, sums, squares
        Of every sentence under every head; empty for a method without structure.
    """

    text: Array
    text_starts: Ints
    counts: Ints
    sizes: Ints
    weights: Array
    norms: Array
    vectors: Array
    structure: Array
    sums: Array
    squares: Array

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

    @cached_property
    def starts(self) -> Ints:
        """Where the words of each sentence start."""
        return boundaries(self.counts)

    @cached_property
    def structure_starts(self) -> Ints:
        """Where the structure of each sentence starts."""
        return boundaries(self.sums.shape[1] * self.counts**2)

    def pooled(self, rows: Ints | slice) -> Singles:
        """Vectors of some sentences; without columns where none are kept."""
        return np.zeros((len(self), 0), np.float32)[rows]

    @property
    def bags(self) -> Bags:
        """The sentences as the solver takes them."""
        kept = self.vectors.shape[1] > 0
        return Bags(
            sentences=self.sentences,
            weights=Ragged(self.weights, self.starts),
            vectors=Ragged(self.vectors, self.starts) if kept else None,
            norms=Ragged(self.norms, self.starts) if kept else None,
            structure=Ragged(self.structure, self.structure_starts),
            sums=self.sums,
            squares=self.squares,
            sizes=self.sizes,
            pooled=self.pooled(slice(None)),
        )


Kind = TypeVar("Kind", bound=Sentences)


@dataclass(frozen=True)
class Shard(Sentences):
    """Sentences with all that bounds of transport distances need.

    Parameters
    ----------
    means, mean_steps, mean_errors
        Weighted mean of each sentence's vectors, of the normalised ones under a cosine cost; in
        steps, which are NaN where it is undefined, and how far that moved it.
    profiles, profile_steps
        Of every sentence under every head.
    """

    means: Array
    mean_steps: Array
    mean_errors: Array
    profiles: Array
    profile_steps: Array

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
        arrays = {
            part.name: getattr(self, part.name)[_start(self, part.name, row) :]
            for part in fields(self)
        }
        arrays["text_starts"] = arrays["text_starts"] - arrays["text_starts"][0]
        return Shard(**arrays)


def _start(shard: Sentences, name: str, row: int) -> int:
    """Where what one array holds of a sentence starts."""
    return int(getattr(shard, RAGGED[name])[row]) if name in RAGGED else row


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


def flat(bags: Bags) -> dict[str, Array]:
    """Sentences as the arrays that every file of an index holds."""
    text, text_starts = encoded_texts(bags.sentences)
    return {
        "text": text,
        "text_starts": text_starts,
        "counts": bags.weights.lengths,
        "sizes": bags.sizes,
        "weights": bags.weights.data,
        "norms": np.zeros(0) if bags.norms is None else bags.norms.data,
        "vectors": NO_VECTORS if bags.vectors is None else bags.vectors.data,
        "structure": bags.structure.data,
        "sums": bags.sums,
        "squares": bags.squares,
    }


def make_shard(measured: Measured, sentences: list[str], method: Method) -> Shard:
    """Keep of measured sentences what a search under a method needs."""
    own = measured.take(measured.encodings.numbers(sentences))
    if not method.needs_attention:
        nothing = np.zeros((len(sentences), 0))
        structure = Ragged.zeros([0] * len(sentences), dtype=np.float32)
        own = replace(own, structure=structure, sums=nothing, squares=nothing)
    means = np.zeros((len(sentences), 0))
    if own.vectors is not None and own.norms is not None:
        means = weighted_means(own.vectors.data, own.norms.data, own.weights, method)
    integers, steps = to_integers(means, np.int8)
    weights, heads = own.weights, own.sums.shape[1]
    profiles = structure_profiles(own.structure.data, weights.data, weights.starts, heads)
    return Shard(
        **flat(own),
        means=integers,
        mean_steps=steps,
        mean_errors=_moved(means, integers * steps[:, None]),
        profiles=profiles.numbers,
        profile_steps=profiles.steps,
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


def encode_shard(shard: Sentences) -> bytes:
    """A shard as the content of a safetensors file."""
    from safetensors.numpy import save

    tensors = {part.name: np.ascontiguousarray(getattr(shard, part.name)) for part in fields(shard)}
    return bytes(save(tensors))


def open_shard(path: Path, kind: type[Kind]) -> tuple[mmap, Kind]:
    """Map a file, and the shard of a kind in it; nothing is read before it is used."""
    try:
        mapped, arrays = map_arrays(path)
        return mapped, kind(**{part.name: arrays[part.name] for part in fields(kind)})
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{str(path)!r} is damaged (its header: {error}); build the index again"
        ) from error
