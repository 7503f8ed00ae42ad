"""One file of an index: some thousand sentences with all that comparing them needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from mmap import mmap
from pathlib import Path
from typing import TypeVar

import numpy as np

from movers.arrays import Array, Ints, Ragged, Rows, boundaries, gathered
from movers.io.mapped import map_arrays
from movers.measures.sentences import WeightedSentences
from movers.search.manifest import damaged


class StoredLines(Sequence[str]):
    """Texts in UTF-8, one after another, read and decoded when they are looked at."""

    def __init__(self, data: Array, starts: Ints) -> None:
        self.data, self.starts = data, starts

    @classmethod
    def of(cls, texts: Sequence[str]) -> StoredLines:
        """Return texts as they are kept; those that are so already stay."""
        if isinstance(texts, StoredLines):
            return texts
        raw = [text.encode() for text in texts]
        return cls(np.frombuffer(b"".join(raw), np.uint8), boundaries(map(len, raw)))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, row: int) -> str:  # type: ignore[override]
        return self.data[self.starts[row] : self.starts[row + 1]].tobytes().decode()

    @classmethod
    def gathered(cls, pieces: Sequence[tuple[StoredLines, Rows]]) -> StoredLines:
        """Return some texts of several, one after another."""
        found = Ragged.gathered([(Ragged(one.data, one.starts), rows) for one, rows in pieces])
        return cls(found.data, found.starts)


@dataclass(frozen=True)
class Sentences:
    """What every file of an index holds, in memory or mapped: sentences and their words.

    Sentences of which only vectors are kept have no words, and the others no vectors here.
    """

    words: WeightedSentences

    def __len__(self) -> int:
        return len(self.words.sentences)

    @property
    def sentences(self) -> list[str]:
        """All texts."""
        return [*self.words.sentences]

    @property
    def keys(self) -> Ints:
        """What every sentence is known by."""
        return keys_of(self.sentences)


Kind = TypeVar("Kind", bound=Sentences)


def key(text: str) -> bytes:
    """Return what a sentence is known by."""
    return blake2b(text.encode(), digest_size=16).digest()


def keys_of(texts: Sequence[str]) -> Ints:
    """Return short keys to find sentences by; two may share one, though hardly ever do."""
    return np.frombuffer(b"".join(key(text)[:8] for text in texts), np.int64)


def some_of(pieces: Sequence[tuple[Kind, Rows]]) -> Kind:
    """Copy some sentences of several shards into one."""
    return gathered(type(pieces[0][0]), pieces)


def joined(shards: Sequence[Kind]) -> Kind:
    """Return all sentences of several shards in one."""
    return some_of([(shard, slice(None)) for shard in shards])


def stored(words: WeightedSentences, sentences: Sequence[str]) -> WeightedSentences:
    """Return weighted sentences as a shard keeps them: without vectors of whole sentences."""
    return replace(words, sentences=StoredLines.of(sentences), pooled=words.pooled[:, :0])


def wordless(sentences: Sequence[str]) -> WeightedSentences:
    """Return sentences of which nothing but the vectors is known."""
    none = Ragged.zeros([0] * len(sentences))
    nothing = np.zeros((len(sentences), 0))
    return WeightedSentences(
        sentences=StoredLines.of(sentences),
        weights=none,
        vectors=None,
        norms=None,
        structure=Ragged(none.data.astype(np.float32), none.starts),
        sums=nothing,
        squares=nothing,
        sizes=none.lengths,
        pooled=nothing.astype(np.float32),
    )


def encode_shard(shard: Sentences) -> bytes:
    """Return a shard as the content of a safetensors file."""
    from safetensors.numpy import save

    own = {part.name: getattr(shard, part.name) for part in fields(shard)[1:]}  # beside the words
    words, lines = shard.words, StoredLines.of(shard.words.sentences)
    arrays = own | {
        "text": lines.data,
        "text_starts": lines.starts,
        "counts": words.weights.lengths,
        "sizes": words.sizes,
        "weights": words.weights,
        "norms": np.zeros(0) if words.norms is None else words.norms,
        "vectors": np.zeros((0, 0), np.float32) if words.vectors is None else words.vectors,
        "structure": words.structure,
        "sums": words.sums,
        "squares": words.squares,
    }
    flat = {name: one.data if isinstance(one, Ragged) else one for name, one in arrays.items()}
    return bytes(save({name: np.ascontiguousarray(one) for name, one in flat.items()}))


def open_shard(path: Path, kind: type[Kind]) -> tuple[mmap, Kind]:
    """Map a file, and the shard of a kind in it; nothing is read before it is used."""
    try:
        mapped, arrays = map_arrays(path)
        words = _words(arrays)
        return mapped, kind(words, **{part.name: arrays[part.name] for part in fields(kind)[1:]})
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, f"its header: {error}") from error


def _words(arrays: dict[str, Array]) -> WeightedSentences:
    """Return what `encode_shard` took apart."""
    counts, sums = arrays["counts"], arrays["sums"]
    kept = arrays["vectors"].shape[1] > 0
    if len(arrays["weights"]):
        starts, cells = boundaries(counts), boundaries(sums.shape[1] * counts**2)
    else:  # no words are kept, and nothing need be read to know it
        starts = cells = np.zeros(len(counts) + 1, np.int64)
    return WeightedSentences(
        sentences=StoredLines(arrays["text"], arrays["text_starts"]),
        weights=Ragged(arrays["weights"], starts),
        vectors=Ragged(arrays["vectors"], starts) if kept else None,
        norms=Ragged(arrays["norms"], starts) if kept else None,
        structure=Ragged(arrays["structure"], cells),
        sums=sums,
        squares=arrays["squares"],
        sizes=arrays["sizes"],
        pooled=np.zeros((len(counts), 0), np.float32),
    )
