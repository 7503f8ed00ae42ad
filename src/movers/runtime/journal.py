"""Finished work, line by line: a file that a killed process leaves fit to go on from."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO
from zlib import crc32

from movers.errors import InputError
from movers.runtime.atomic import naming
from movers.runtime.json_text import parse_json

CHECKSUM = 9
"""Bytes before the text of a line."""


def record(stream: BinaryIO, value: Any) -> None:
    """Write a value as a line that tells whether it is whole, and wait until it is on the disk."""
    text = json.dumps(value).encode()
    stream.write(b"%08x %s\n" % (crc32(text), text))
    stream.flush()
    os.fsync(stream.fileno())


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of a journal up to the first that is not as it was written."""
    with path.open("rb") as stream:
        for line in stream:
            if line[:CHECKSUM] != b"%08x " % crc32(line[CHECKSUM:-1]) or line[-1:] != b"\n":
                return
            yield line


def records(path: Path) -> Iterator[Any]:
    """Yield the values of a journal up to the first that is not as it was written."""
    for number, line in enumerate(whole_lines(path), 1):
        try:
            yield parse_json(line[CHECKSUM:])
        except ValueError as error:
            raise InputError(
                f"{path}, line {number}: written by something else ({error}); remove it"
            ) from error


@contextmanager
def open_journal(
    path: Path, task: Any, differing: Callable[[Any], str]
) -> Iterator[tuple[BinaryIO, int]]:
    """Open a journal behind its last whole line; also tells how many lines of work there are.

    Its first line is the task. That of another task is refused, with a message made from it.
    """
    lengths = [len(line) for line in whole_lines(path)] if path.exists() else []
    if lengths and (earlier := next(records(path))) != task:
        raise InputError(differing(earlier))
    with naming(path), path.open("ab") as stream:
        stream.truncate(sum(lengths))
        if not lengths:
            record(stream, task)
        yield stream, max(0, len(lengths) - 1)
