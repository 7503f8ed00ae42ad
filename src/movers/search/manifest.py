"""What an index consists of: the one file that makes a folder of shards an index.

It is written last and replaced whole, so a folder holds a usable index or none.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from movers.atomic import replacing
from movers.errors import InputError
from movers.search.shards import Shard, digest_file, open_shard, read_header

FORMAT = "movers-index-2"
NAME = "manifest.json"
STATISTICS = "statistics.safetensors"


@dataclass(frozen=True)
class Part:
    """A shard as it was written: name, sentences, bytes, and hashes of header and file."""

    name: str
    sentences: int
    size: int
    header: str
    digest: str

    @classmethod
    def of(cls, path: Path, sentences: int) -> Part:
        """Describe a finished file."""
        raw, _ = read_header(path)
        header = sha256(raw).hexdigest()
        return cls(path.name, sentences, path.stat().st_size, header, digest_file(path))

    def open(self, folder: Path, *, verify: bool) -> Shard:
        """Map the shard after a look at its size and header, or at all of it."""
        path = folder / self.name
        if not path.is_file():
            raise InputError(f"the index {str(folder)!r} lacks {self.name}; build it again")
        size = path.stat().st_size
        if size != self.size:
            raise _damaged(path, f"{size} bytes, expected {self.size}")
        if sha256(read_header(path)[0]).hexdigest() != self.header:
            raise _damaged(path, "its header changed")
        if verify and digest_file(path) != self.digest:
            raise _damaged(path, "its checksum differs")
        return open_shard(path)


def _damaged(path: Path, how: str) -> InputError:
    return InputError(f"{str(path)!r} is damaged ({how}); build the index again")


@dataclass(frozen=True)
class Manifest:
    """An index: how its distances are made, and where its sentences are.

    Parameters
    ----------
    signature
        Signature of the distances.
    settings
        Arguments of `movers.load`, without statistics and device.
    parts
        The shards, in order.
    """

    signature: str
    settings: dict[str, Any]
    parts: tuple[Part, ...] = ()

    def write(self, folder: Path) -> None:
        """Make the folder this index."""
        content = {"format": FORMAT, **asdict(self)}
        content["checksum"] = _checksum(content)
        with replacing(folder / NAME) as temporary:
            temporary.write_text(json.dumps(content, ensure_ascii=False, indent=1), "utf-8")

    def extended(self, parts: list[Part]) -> Manifest:
        """The same index with more shards."""
        return replace(self, parts=(*self.parts, *parts))

    @classmethod
    def read(cls, folder: Path) -> Manifest:
        """Read the manifest of a folder, or say why it is not an index."""
        path = folder / NAME
        if not path.is_file():
            unfinished = folder.is_dir() and any(folder.glob("shard-*.safetensors"))
            why = "its build was broken off; build it again, finished parts are kept"
            raise InputError(
                f"no index in {str(folder)!r}: {why if unfinished else f'there is no {NAME}'}"
            )
        try:
            content = json.loads(path.read_text("utf-8"))
            form = content.pop("format", None) if isinstance(content, dict) else None
        except ValueError as error:
            raise _damaged(path, str(error)) from error
        if form != FORMAT:
            raise InputError(
                f"{str(path)!r} has format {form!r}, expected {FORMAT!r}; build the index again"
            )
        checksum = content.pop("checksum", None)
        if checksum != _checksum({"format": FORMAT, **content}):
            raise _damaged(path, "its checksum differs")
        parts = tuple(Part(**part) for part in content.pop("parts"))
        return cls(parts=parts, **content)


def _checksum(content: dict[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
