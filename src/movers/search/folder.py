"""The files of an index: read by everybody, written by one at a time, whole or not at all.

A writer holds the lock file and reads the manifest again. Shards get names of their own, made
from what is in them, and are on the disk before a manifest that names them takes the place of
the last one; only then is what no manifest names any more removed. So at every moment the
manifest names files that are complete, whether the writer goes on or not.
"""

from __future__ import annotations

import dataclasses
import json
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from hashlib import blake2b
from mmap import mmap
from pathlib import Path

import numpy as np

from movers.arrays import Ints
from movers.errors import Choose, Do, InputError, StorageError
from movers.measures.parts.statistics import Statistics
from movers.runtime.atomic import replacing, sweep
from movers.runtime.json_text import parse_json
from movers.runtime.locks import locked
from movers.scorer import Scorer
from movers.search.corpus import NOTHING, Corpus, Piece, Shard
from movers.search.layouts import load_arguments
from movers.search.manifest import (
    FORMAT,
    NAME,
    Manifest,
    Part,
    checksum,
    damaged,
    encode_shard,
    open_shard,
    read_raw,
)
from movers.search.passages import IndexedTexts, Table

MakeTable = Callable[[Iterable[str]], Table | None]
"""From the sentences of an index to its texts; None if it holds none by their sentences."""
WRITTEN = ("shard-*.safetensors", "statistics*.safetensors", "deleted-*.int64", "texts-*.jsonl")
"""Files of an index beside the manifest."""
LOCK = "writer.lock"
EMPTY = "there is no sentence to index"


class ReplacedError(InputError):
    """An index of another measure lies where the one that was opened did."""


class Folder:
    """An index on disk as it was when last looked at.

    Make one with `Folder.opened`, or fill a new one with `fill`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.manifest: Manifest
        self._raw: bytes | None = None
        self._opened: dict[Part, tuple[mmap, Shard]] = {}
        self._checked: set[Part] = set()
        self._deleted = NOTHING
        self._table: tuple[Part | None, Table | None] = None, None
        self._texts: IndexedTexts | None = None

    @classmethod
    def opened(cls, path: Path) -> Folder:
        """Map the index that is there."""
        folder = cls(path)
        folder._take(Manifest.read(path))
        return folder

    def refresh(self) -> None:
        """Take in what others have written since; an index that was removed stays as it is."""
        raw = read_raw(self.path)
        if raw is None or raw == self._raw:
            return
        manifest = Manifest.decoded(raw, self.path / NAME)
        if (manifest.signature, manifest.layout) != (self.manifest.signature, self.manifest.layout):
            raise ReplacedError(
                f"the index {str(self.path)!r} was replaced by one built with "
                f"{manifest.signature} ({manifest.layout}); open it again"
            )
        self._take(manifest)

    def _take(self, manifest: Manifest) -> None:
        """Map the files of a manifest, or of the one that takes its place meanwhile."""
        known = self._opened
        while True:
            try:
                opened = {
                    part: known.get(part) or open_shard(part.find(self.path))
                    for part in manifest.parts
                }
                gone, table = manifest.deleted, self._table
                content = b"" if gone is None else gone.read(self.path)
                if table[0] != manifest.texts:
                    table = manifest.texts, self._read_table(manifest.texts)
                break
            except (InputError, FileNotFoundError):
                manifest, failed = Manifest.read(self.path), manifest
                if manifest == failed:
                    raise
        self.manifest, self._raw = manifest, manifest.encoded()
        self._opened, self._table, self._texts = opened, table, None
        self._deleted = np.frombuffer(content, np.int64)

    def _read_table(self, part: Part | None) -> Table | None:
        if part is None:
            return None
        lines = part.read(self.path).split(b"\n")[:-1]
        try:
            return [(text, spans) for text, spans in map(parse_json, lines)]
        except (TypeError, ValueError) as error:
            raise damaged(self.path / part.name, str(error)) from error

    @property
    def texts(self) -> IndexedTexts:
        """All texts; their sentences are compared with their checksums when they are first used."""
        if self._texts is None:
            self._texts = IndexedTexts(self.some(0, len(self._opened))[0], self._table[1])
        return self._texts

    def some(self, low: int, high: int) -> tuple[Corpus, int]:
        """Return the sentences of some shards, which alone are read, and the row of the first."""
        every = list(self._opened.items())
        some, starts = every[low:high], np.cumsum([0, *(part.sentences for part, _ in every)])
        for part, (mapped, _) in some:
            if part not in self._checked:
                part.check(self.path, mapped)
                self._checked.add(part)
        first, last = int(starts[low]), int(starts[high])
        inside = self._deleted[(self._deleted >= first) & (self._deleted < last)]
        return Corpus([shard for _, (_, shard) in some], inside - first), first

    def load_statistics(self) -> Statistics:
        """Return the statistics of the index."""
        part = self.manifest.statistics
        part.read(self.path)
        return Statistics.load(part.find(self.path))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Keep other writers out, and remove what a killed one was writing."""
        with ExitStack() as stack:
            with self._storing(self.path):
                stack.enter_context(locked(self.path / LOCK, f"the index {str(self.path)!r}"))
                sweep(self.path)
            yield

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Keep other writers out, and start from what is there now."""
        with self.writing():
            self.refresh()
            self.clear()
            yield

    def fill(
        self,
        pieces: Iterable[Piece | Part],
        scorer: Scorer,
        layout: str,
        table: MakeTable,
        *,
        replace: bool = False,
    ) -> None:
        """Make the folder a new index; the one that is there stays until this one is complete.

        Parameters
        ----------
        pieces
            Shards to make, or that workers made; finished ones of a build that was broken off are
            used as they are.
        scorer, layout
            The measure, and the name of how its sentences are kept.
        table
            Gives the texts that the sentences belong to.
        replace
            Whether there may be an index already.
        """
        with self.writing():
            if not replace and (self.path / NAME).exists():
                raise InputError(
                    f"{str(self.path)!r} holds an index already", Do("add"), Choose("replace", True)
                )
            signature, statistics = str(scorer.signature), scorer.statistics
            parts = tuple(self.store(piece, signature, layout) for piece in pieces)
            if not parts:
                raise InputError(EMPTY)
            path = self.path / f"statistics-{secrets.token_hex(4)}.safetensors"
            with self._storing(path):
                statistics.save(path)
            manifest = Manifest(signature, load_arguments(scorer), Part.of(path), layout, parts)
            self._commit(manifest, NOTHING, table)

    def change(self, shards: Iterable[int | Piece], deleted: Ints, table: MakeTable) -> None:
        """Make the folder some of its shards, by number, and new ones.

        A writer that fails leaves nothing behind. ``deleted`` are rows, ascending.
        """
        old = self.manifest
        try:
            every = (old.parts[one] if isinstance(one, int) else one for one in shards)
            parts = tuple(self.store(one, old.signature, old.layout) for one in every)
            content, gone = deleted.astype(np.int64).tobytes(), None
            if content:
                name = f"deleted-{blake2b(content).hexdigest()[:16]}.int64"
                gone = self._write(name, content, len(deleted))
            self._commit(dataclasses.replace(old, parts=parts, deleted=gone), deleted, table)
        except BaseException:
            with suppress(InputError):
                self.clear()
            raise

    def clear(self) -> None:
        """Remove shards and statistics that no manifest names."""
        names = Manifest.read(self.path).names
        for pattern in WRITTEN:
            for path in self.path.glob(pattern):
                if path.name not in names:
                    with suppress(OSError):  # the next writer tries again
                        path.unlink()

    def store(self, piece: Piece | Part, signature: str, layout: str) -> Part:
        """Write a shard, unless it lies there finished and undamaged.

        Its name tells what is in it and the checksum, so that no shard takes another's place.
        """
        if isinstance(piece, Part):
            return piece
        texts, make = piece
        key = digest([FORMAT, signature, layout, *texts])[:16]
        for path in self.path.glob(f"shard-{key}-*.safetensors"):
            if path.stem == f"shard-{key}-{(part := Part.of(path, len(texts))).checksum}":
                return part
        content = encode_shard(make())
        return self._write(f"shard-{key}-{checksum(content)}.safetensors", content, len(texts))

    def _commit(self, manifest: Manifest, deleted: Ints, table: MakeTable) -> None:
        """Make the folder this index, with the texts that its sentences belong to."""
        part, texts = None, table(self._sentences(manifest, deleted))
        if texts is not None:
            lines = (json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in texts)
            content = b"".join(lines)
            name = f"texts-{blake2b(content).hexdigest()[:16]}.jsonl"
            part = self._write(name, content, len(texts))
        manifest = dataclasses.replace(manifest, texts=part)
        self._write(NAME, manifest.encoded())
        self.clear()
        self._take(manifest)

    def _sentences(self, manifest: Manifest, deleted: Ints) -> Iterator[str]:
        """Yield the sentences of an index whose parts are written."""
        shards = [open_shard(part.find(self.path))[1] for part in manifest.parts]
        yield from Corpus(shards, deleted).sentences

    def _write(self, name: str, content: bytes, sentences: int = 0) -> Part:
        path = self.path / name
        with self._storing(path, len(content)), replacing(path) as temporary:
            temporary.write_bytes(content)
        return Part(name, len(content), checksum(content), sentences)

    @contextmanager
    def _storing(self, path: Path, needed: int = 0) -> Iterator[None]:
        """Say which file could not be written, and what that means for the index."""
        before = read_raw(self.path)
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            if needed:
                why += f"; it takes {needed:,} bytes"
                with suppress(OSError):
                    why += f" and {shutil.disk_usage(self.path).free:,} are free"
            if read_raw(self.path) != before:
                state = "the index has its new state"
            elif before is not None:
                state = "the index keeps its old state"
            else:
                state = "finished parts are kept, and the same build goes on with them"
            raise StorageError(f"cannot write {str(path)!r} ({why}); {state}") from error


def digest(texts: list[str]) -> str:
    """Return the hash of texts, in order."""
    return blake2b(json.dumps(texts).encode()).hexdigest()
