"""The files of an index: shards, and the manifest, which makes a folder of them an index.

The manifest is written last and replaced whole, so a folder holds a usable index or none.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from mmap import mmap
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from movers.arrays import Array, Ragged, boundaries
from movers.errors import InputError
from movers.io.mapped import map_arrays
from movers.measures.sentences import WeightedSentences
from movers.runtime.json_text import parse_json
from movers.search.corpus import Shard, StoredLines
from movers.search.vectors import StoredVectors

FORMAT = "movers-index-6"
NAME = "manifest.json"


class FolderError(InputError):
    """A folder is not an index, or not as it was written."""


@dataclass(frozen=True)
class Part:
    """A file of an index as it was written: name, bytes, their CRC-32, and sentences in it."""

    name: str
    size: int
    checksum: str
    sentences: int = 0

    @classmethod
    def of(cls, path: Path, sentences: int = 0) -> Part:
        """Describe a finished file."""
        content = path.read_bytes()
        return cls(path.name, len(content), checksum(content), sentences)

    def find(self, folder: Path) -> Path:
        """Return where the file lies; it has to have its size."""
        path = folder / self.name
        if not path.is_file():
            raise FolderError(f"the index {str(folder)!r} lacks {self.name}; build it again")
        size = path.stat().st_size
        if size != self.size:
            raise damaged(path, f"{size} bytes, expected {self.size}")
        return path

    def read(self, folder: Path) -> bytes:
        """Return the content, compared with its checksum."""
        content = self.find(folder).read_bytes()
        self.check(folder, content)
        return content

    def check(self, folder: Path, content: Any) -> None:
        """Compare every byte with the checksum."""
        if checksum(content) != self.checksum:
            raise damaged(folder / self.name, "its checksum differs")


def checksum(content: Any) -> str:
    """Return the CRC-32 of bytes, which finds any damage of a few bytes for certain."""
    return f"{crc32(content):08x}"


def damaged(path: Path, how: str) -> FolderError:
    """Return the error for a file that is not as it was written."""
    return FolderError(f"{str(path)!r} is damaged ({how}); build the index again")


@dataclass(frozen=True)
class Manifest:
    """An index: how its distances are made, and where its sentences are.

    ``settings`` are arguments of `movers.load`, without statistics and device, and ``layout``, a
    row of `movers.search.layouts.LAYOUTS`, is how sentences lie in the shards; ``parts`` are these,
    in order, and ``deleted`` is the file that lists deleted sentences, None if there are none;
    ``texts`` is that of the texts, where the sentences are those of longer ones.
    """

    signature: str
    settings: dict[str, Any]
    statistics: Part
    layout: str
    parts: tuple[Part, ...] = ()
    deleted: Part | None = None
    texts: Part | None = None

    @property
    def names(self) -> set[str]:
        """All files of the index."""
        every = (self.statistics, self.deleted, self.texts, *self.parts)
        return {part.name for part in every if part is not None}

    @property
    def sentences(self) -> int:
        """How many sentences are there, without the deleted ones, or texts if they are longer."""
        if self.texts is not None:
            return self.texts.sentences
        gone = 0 if self.deleted is None else self.deleted.sentences
        return sum(part.sentences for part in self.parts) - gone

    @cached_property
    def digest(self) -> str:
        """Sixteen hex digits that tell one state of an index from another."""
        return _digest(self._content)[:16]

    @property
    def _content(self) -> dict[str, Any]:
        content = {"format": FORMAT, **asdict(self)}
        if self.texts is None:
            del content["texts"]
        return content

    def encoded(self) -> bytes:
        """Return the file that makes a folder this index."""
        content = {**self._content, "checksum": _digest(self._content)}
        return json.dumps(content, ensure_ascii=False, indent=1).encode()

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder, or say why it is not an index."""
        raw = read_raw(folder)
        if raw is None:
            unfinished = folder.is_dir() and any(folder.glob("shard-*.safetensors"))
            why = "its build was broken off; build it again, finished parts are kept"
            raise FolderError(
                f"no index in {str(folder)!r}: {why if unfinished else f'there is no {NAME}'}"
            )
        return cls.decoded(raw, folder / NAME)

    @classmethod
    def decoded(cls, raw: bytes, path: Path) -> Manifest:
        """Return what `encoded` wrote."""
        try:
            content = parse_json(raw)
            form = content.pop("format", None) if isinstance(content, dict) else None
        except ValueError as error:
            raise damaged(path, str(error)) from error
        if form != FORMAT:
            raise FolderError(
                f"{str(path)!r} has format {form!r}, expected {FORMAT!r}; build the index again"
            )
        if content.pop("checksum", None) != _digest({"format": FORMAT, **content}):
            raise damaged(path, "its checksum differs")
        try:
            parts = tuple(Part(**part) for part in content.pop("parts"))
            statistics, single = Part(**content.pop("statistics")), ("deleted", "texts")
            given = ((name, content.pop(name, None)) for name in single)
            files: dict[str, Any] = {name: Part(**part) for name, part in given if part}
            return cls(**content, statistics=statistics, parts=parts, **files)
        except (KeyError, TypeError) as error:
            raise damaged(path, f"it lacks or adds something: {error}") from error


def read_raw(folder: Path) -> bytes | None:
    """Return the manifest as it stands; None if there is none."""
    path = folder / NAME
    if path.is_dir():
        raise FolderError(f"{str(path)!r} is a folder, not the manifest of an index; remove it")
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _digest(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def encode_shard(shard: Shard) -> bytes:
    """Return a shard as the content of a safetensors file."""
    from safetensors.numpy import save

    words, lines = shard.words, StoredLines.of(shard.words.sentences)
    vectors = {} if shard.vectors is None else vars(shard.vectors)
    features = {} if shard.features is None else {"features": shard.features}
    arrays = {
        **vectors,
        **features,
        "keys": shard.keys,
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


def open_shard(path: Path) -> tuple[mmap, Shard]:
    """Map a file, and the shard in it; nothing is read before it is used."""
    try:
        mapped, arrays = map_arrays(path)
        names = [part.name for part in fields(StoredVectors) if part.name in arrays]
        vectors = StoredVectors(*(arrays[name] for name in names)) if names else None
        return mapped, Shard(_words(arrays), arrays["keys"], vectors, arrays.get("features"))
    except (KeyError, TypeError, ValueError) as error:
        raise damaged(path, f"its header: {error}") from error


def _words(arrays: dict[str, Array]) -> WeightedSentences:
    """Return what `encode_shard` took apart."""
    counts, sums = arrays["counts"], arrays["sums"]
    with_vectors = arrays["vectors"].shape[1] > 0
    if len(arrays["weights"]):
        starts, cells = boundaries(counts), boundaries(sums.shape[1] * counts**2)
    else:  # no words are kept, and nothing need be read to know it
        starts = cells = np.zeros(len(counts) + 1, np.int64)
    return WeightedSentences(
        sentences=StoredLines(arrays["text"], arrays["text_starts"]),
        weights=Ragged(arrays["weights"], starts),
        vectors=Ragged(arrays["vectors"], starts) if with_vectors else None,
        norms=Ragged(arrays["norms"], starts) if with_vectors else None,
        structure=Ragged(arrays["structure"], cells),
        sums=sums,
        squares=arrays["squares"],
        sizes=arrays["sizes"],
        pooled=np.zeros((len(counts), 0), np.float32),
    )
