"""The output of a table: it grows in ``OUTPUT.partial`` and takes its name when it is whole.

Beside it, ``OUTPUT.journal`` keeps the values of every finished step, so that a run that was broken
off in whatever way, ``kill -9`` included, goes on behind its last step, whatever the format.
"""

from __future__ import annotations

import json
import logging
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from movers.arrays import Bools
from movers.errors import InputError, StorageError
from movers.io.columns import UNREAD
from movers.io.tables import STANDARD, Chunk, TwoTexts, Write, check_texts
from movers.runtime.atomic import FULL, clean_up, naming, room, sized, sync
from movers.runtime.interrupts import end_if_asked, undisturbed
from movers.runtime.journal import open_journal, record, records
from movers.runtime.locks import locked
from movers.runtime.notices import TruncationWarning, UndefinedWarning
from movers.runtime.progress import Bar

logger = logging.getLogger("movers")

Pairs = list[tuple[Any, Any]]
"""Two sentences each: texts, or lists of words."""
Values = dict[str, list[Any]]
"""What rows get, by column."""
Writer = Callable[[Path], AbstractContextManager[Write]]
Opened = tuple[Write, BinaryIO | None, Iterator[Any]]
"""What writes rows, the journal if there is one, and the steps that an earlier run finished."""

LINKS = "links"
"""Column that counts the links between the words of a pair."""
NAMED = 10
"""So many rows are named where something is said of some."""
FIRST_STEP, LONGEST_STEP = 64, 1024
"""Rows of the first step, so that something is safe early, and of later ones, which pay off."""


@dataclass
class Rowlist:
    """A count of rows that something holds of, and the first of them, counted from 1."""

    count: int = 0
    first: list[int] = field(default_factory=list)

    def add(self, rows: Iterable[int]) -> None:
        """Count further rows."""
        for row in rows:
            self.count += 1
            if len(self.first) < NAMED:
                self.first.append(row)

    def __str__(self) -> str:
        more = "" if self.count <= NAMED else f" and {self.count - NAMED:,} more"
        return f"row{'s' if self.count > 1 else ''} {', '.join(map(str, self.first))}{more}"


TOLD = ("rows", "seconds", "undefined", "links", "cut", "resumed")
"""What a report tells of a table, as JSON."""


@dataclass
class Report:
    """A table on its way to its output, and what became of its rows.

    ``total`` is how many there are, None if nobody knows; to ``resume`` is to go on behind those
    that a run broken off has left. ``rows`` are safe, ``resumed`` of them since that run.
    ``undefined`` lists rows without a distance, by measure, ``links`` counts those between words,
    and ``cut`` lists rows with words that were not read.
    """

    file: Path | TwoTexts
    output: Path
    total: int | None = None
    resume: bool = False
    rows: int = 0
    resumed: int = 0
    seconds: float = 0.0
    undefined: dict[str, Rowlist] = field(default_factory=dict)
    links: int = 0
    cut: Rowlist = field(default_factory=Rowlist)
    started: float = field(default_factory=time.monotonic)

    def to_dict(self) -> dict[str, Any]:
        """Return what became of the rows, for JSON."""
        facts = asdict(self)
        return {name: facts[name] for name in TOLD}

    def count(self, values: Values) -> None:
        """Count rows by what they got."""
        for name, missing in self.undefined.items():
            missing.add(row_numbers(np.isnan(values[name]), self.rows))
        self.cut.add(row_numbers(np.array(values[UNREAD]) > 0, self.rows))
        self.links += sum(values.get(LINKS, ()))
        self.rows += len(values[UNREAD])

    def fill(
        self,
        rows: Iterable[tuple[Chunk, Pairs]],
        make: Callable[[Pairs], Values],
        writer: Writer,
        task: dict[str, Any],
        bar: AbstractContextManager[Bar],
    ) -> None:
        """Write what rows get, unless an earlier run had it, and count them.

        Parameters
        ----------
        rows
            Rows as they are, with their pairs.
        make
            Gives what pairs get, by column; "unread" counts words that were not read.
        writer
            Opens a path for rows.
        task
            All that shapes the values; a run that was broken off is resumed under the same only.
        bar
            What shows how far it is.
        """
        with (
            bar as shown,
            self._opened(writer, task) as (write, log, finished),
            counted_not_warned(),
        ):
            for chunk, pairs in in_steps(rows):
                end_if_asked()
                earlier = next(finished, None)
                values = make(pairs) if earlier is None else self._again(earlier, pairs)
                with nullcontext() if log is None else undisturbed():
                    if log is not None and earlier is None:
                        record(log, {"pairs": _digest(pairs), "values": values})
                    write({**chunk, **values})
                    self.count(values)
                shown.update(len(pairs))
            if not self.rows:
                raise InputError(f"{self.file} has a header but no rows")
        self.seconds = time.monotonic() - self.started

    def _again(self, earlier: dict[str, Any], pairs: Pairs) -> Values:
        """Return what rows got in an earlier run, if it had the same."""
        last = self.rows + len(pairs)
        if earlier["pairs"] != _digest(pairs):
            raise InputError(
                f"the sentences of rows {self.rows + 1} to {last} are not those of the run that "
                "was broken off; run without --resume to start anew"
            )
        self.resumed = last
        values: Values = earlier["values"]
        return values

    @contextmanager
    def _opened(self, writer: Writer, task: dict[str, Any]) -> Iterator[Opened]:
        """Open the output for rows; that of a file is this run's alone."""
        path = self.output
        if path == STANDARD:
            if self.resume:
                raise InputError("--resume needs a file to go on with; name it with -o")
            with writer(path) as write:
                yield write, None, iter(())
            return
        with (
            locked(path.with_name(path.name + ".lock"), repr(str(path))),
            self._growing(writer, task) as opened,
        ):
            yield opened

    @contextmanager
    def _growing(self, writer: Writer, task: dict[str, Any]) -> Iterator[Opened]:
        """Open a file that takes its name at the end; keep what is finished if that fails."""
        path = self.output
        grown, journal = (path.with_name(path.name + end) for end in (".partial", ".journal"))
        clean_up(path)
        if not self.resume:
            _discard(grown, journal)
        try:
            with (
                open_journal(journal, task, partial(_differing, journal, task)) as (log, done),
                naming(path),
                writer(grown) as write,
            ):
                yield write, log, islice(records(journal), 1, 1 + done)
            with undisturbed():
                sync(grown)
                os.replace(grown, path)
                sync(path.parent)
                journal.unlink()
        except BaseException as error:
            notice = _keep(grown, journal)
            if isinstance(error, OSError) and error.errno in FULL:
                raise StorageError(self._no_room(grown, notice)) from error
            if notice:
                logger.warning("%s", notice)
            raise

    def _no_room(self, grown: Path, notice: str) -> str:
        """Return what a full disk lacks: measured by the rows written so far."""
        message = f"no room left for {str(self.output)!r}: {room(self.output)}"
        with suppress(OSError):
            written = grown.stat().st_size
            message += f", {sized(written)} written"
            if self.total and self.rows:
                message += f", about {sized(written / self.rows * self.total)} needed in all"
        return f"{message}. {notice or 'Nothing was kept, for no row was finished'}"


@contextmanager
def counted_not_warned() -> Iterator[None]:
    """Ignore warnings of what a report counts: rows without a distance, and words not read."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedWarning)
        warnings.simplefilter("ignore", TruncationWarning)
        yield


def row_numbers(marked: Bools, before: int) -> list[int]:
    """Return numbers of the marked rows, counted from 1 over the whole table."""
    return [before + int(place) + 1 for place in np.flatnonzero(marked)]


def paired(
    chunks: Iterable[Chunk],
    names: tuple[str, str],
    read: Callable[[Any, str, int], list[Any]] = check_texts,
) -> Iterator[tuple[Chunk, Pairs]]:
    """Yield every chunk with its pairs of sentences."""
    row = 0
    for chunk in chunks:
        source, target = (read(chunk[name], name, row) for name in names)
        row += len(source)
        yield chunk, list(zip(source, target, strict=True))


def in_steps(chunks: Iterable[tuple[Chunk, Pairs]]) -> Iterator[tuple[Chunk, Pairs]]:
    """Yield rows and their pairs a few at a time, and then some more."""
    size = FIRST_STEP
    for chunk, pairs in chunks:
        start = 0
        while start < len(pairs):
            part = slice(start, start + size)
            yield {name: values[part] for name, values in chunk.items()}, pairs[part]
            start, size = part.stop, min(2 * size, LONGEST_STEP)


def _discard(partial: Path, journal: Path) -> None:
    """Remove what an earlier run left, and say so."""
    rows = _rows_of(journal)
    leftovers = [path for path in (partial, journal) if path.exists()]
    for path in leftovers:
        path.unlink()
    if leftovers:
        logger.warning(
            "starting anew: removed %s%s of a run that was broken off (--resume goes on with it)",
            " and ".join(path.name for path in leftovers),
            f", {rows:,} finished rows" if rows else "",
        )


def _rows_of(journal: Path) -> int:
    if not journal.exists():
        return 0
    steps = islice(records(journal), 1, None)
    return sum(len(next(iter(step["values"].values()))) for step in steps)


def _keep(partial: Path, journal: Path) -> str:
    """Keep finished rows and say where they are; leave no trace of a run that finished none."""
    rows = _rows_of(journal)
    if not rows:
        for path in (partial, journal):
            path.unlink(missing_ok=True)
        return ""
    return (
        f"{rows:,} finished rows are kept in {partial}; the same command with --resume goes on "
        "behind them"
    )


def _digest(pairs: Pairs) -> str:
    return blake2b(json.dumps(pairs).encode(), digest_size=8).hexdigest()


def _differing(path: Path, new: dict[str, Any], old: dict[str, Any]) -> str:
    changes = [
        f"{name} was {old.get(name)}, is {new.get(name)}"
        for name in {**old, **new}
        if old.get(name) != new.get(name)
    ]
    return (
        f"{str(path)!r} was made with other settings ({'; '.join(changes)}); go on with the old "
        "ones, or run without --resume to start anew"
    )
