"""The output of a table: it grows in ``OUTPUT.partial`` and takes its name when it is whole.

Beside it, ``OUTPUT.journal`` keeps the values of every finished step, so that a run that was broken
off in whatever way, ``kill -9`` included, goes on behind its last step, whatever the format.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from movers.bulk.noticing import Rowlist
from movers.errors import InputError, StorageError
from movers.io.tables import STANDARD, Chunk, TwoTexts, Write
from movers.runtime.atomic import FULL, clean_up, naming, room, sized, sync
from movers.runtime.interrupts import end_if_asked, undisturbed
from movers.runtime.journal import open_journal, record, records
from movers.runtime.locks import locked
from movers.runtime.progress import Bar

logger = logging.getLogger("movers")

Pairs = Sequence[tuple[str | Sequence[str], str | Sequence[str]]]
Some = TypeVar("Some", bound=tuple[str | Sequence[str], str | Sequence[str]])

FIRST_STEP, LONGEST_STEP = 64, 1024
"""Rows of the first step, so that something is safe early, and of later ones, which pay off."""


@dataclass(frozen=True)
class Kept:
    """What a step of rows got: values by column, and which rows had a sentence cut."""

    values: Mapping[str, list[Any]]
    cut: list[int]


@dataclass
class Outcome:
    """How far a run has come.

    ``rows`` are safe, ``resumed`` of them since an earlier run, and ``cut`` those with a sentence
    that is longer than the model reads; ``total`` is None if nobody knows.
    """

    total: int | None
    rows: int = 0
    resumed: int = 0
    cut: Rowlist = field(default_factory=Rowlist)


class Earlier:
    """Steps that an earlier run has finished, handed out in their order."""

    def __init__(self, steps: Iterable[Any] = ()) -> None:
        self.rows = 0
        self._steps = iter(steps)

    def take(self, pairs: Pairs) -> Kept | None:
        """What these rows got in the earlier run; None if it did not come so far."""
        step = next(self._steps, None)
        if step is None:
            return None
        if step["pairs"] != _digest(pairs):
            raise InputError(
                f"the sentences of rows {self.rows + 1} to {self.rows + len(pairs)} are not those "
                "of the run that was broken off; run without --resume to start anew"
            )
        self.rows += len(pairs)
        return Kept(step["values"], step["cut"])


Save = Callable[[Chunk, Pairs, Kept], None]


def in_steps(chunks: Iterable[tuple[Chunk, list[Some]]]) -> Iterator[tuple[Chunk, list[Some]]]:
    """Rows and their pairs a few at a time, and then some more."""
    size = FIRST_STEP
    for chunk, pairs in chunks:
        start = 0
        while start < len(pairs):
            part = slice(start, start + size)
            yield {name: values[part] for name, values in chunk.items()}, pairs[part]
            start, size = part.stop, min(2 * size, LONGEST_STEP)


def fill_output(
    file: Path | TwoTexts,
    rows: Iterable[tuple[Chunk, list[Some]]],
    make: Callable[[list[Some]], Kept],
    output: AbstractContextManager[tuple[Save, Earlier]],
    outcome: Outcome,
    bar: AbstractContextManager[Bar],
) -> Iterator[tuple[int, Kept]]:
    """Write what rows get, unless an earlier run had it, and hand it on behind how many rows."""
    with bar as shown, output as (write, earlier):
        for chunk, pairs in in_steps(rows):
            end_if_asked()
            step = earlier.take(pairs) or make(pairs)
            outcome.cut.add(outcome.rows + place + 1 for place in step.cut)
            outcome.resumed = earlier.rows
            yield outcome.rows, step
            write({**chunk, **step.values}, pairs, step)
            shown.update(len(pairs))
        if not outcome.rows:
            raise InputError(f"{file} has a header but no rows")


@contextmanager
def open_output(
    path: Path,
    writer: Callable[[Path], AbstractContextManager[Write]],
    task: dict[str, Any],
    outcome: Outcome,
    *,
    resume: bool = False,
) -> Iterator[tuple[Save, Earlier]]:
    """Open the output of a table for writing.

    A run that was broken off is resumed under the same ``task`` only, which names all that shapes
    the values. Yields a function that writes a step, and the steps of the earlier run.
    """
    if path == STANDARD:
        if resume:
            raise InputError("--resume needs a file to go on with; name it with -o")
        with writer(path) as write:
            yield _counting(write, outcome), Earlier()
        return
    grown, journal = (path.with_name(path.name + end) for end in (".partial", ".journal"))
    with locked(path.with_name(path.name + ".lock"), repr(str(path))):
        clean_up(path)
        if not resume:
            _discard(grown, journal)
        try:
            with (
                open_journal(journal, task, partial(_differing, journal, task)) as (log, done),
                naming(path),
                writer(grown) as write,
            ):
                earlier = Earlier(islice(records(journal), 1, 1 + done))
                yield _recording(write, log, earlier, outcome), earlier
            with undisturbed():
                sync(grown)
                os.replace(grown, path)
                sync(path.parent)
                journal.unlink()
        except BaseException as error:
            kept = _keep(grown, journal)
            if isinstance(error, OSError) and error.errno in FULL:
                raise StorageError(_no_room(path, grown, outcome, kept)) from error
            if kept:
                logger.warning("%s", kept)
            raise


def _counting(write: Write, outcome: Outcome) -> Save:
    def save(chunk: Chunk, pairs: Pairs, step: Kept) -> None:
        write(chunk)
        outcome.rows += len(pairs)

    return save


def _recording(write: Write, log: Any, earlier: Earlier, outcome: Outcome) -> Save:
    """Write steps to the table and, unless they come from there, to the journal."""

    def save(chunk: Chunk, pairs: Pairs, step: Kept) -> None:
        with undisturbed():
            if outcome.rows >= earlier.rows:
                record(log, {"pairs": _digest(pairs), **asdict(step)})
            write(chunk)
            outcome.rows += len(pairs)

    return save


def _discard(partial: Path, journal: Path) -> None:
    """Remove what an earlier run left, and say so."""
    rows = _rows_of(journal)
    found = [path for path in (partial, journal) if path.exists()]
    for path in found:
        path.unlink()
    if found:
        logger.warning(
            "starting anew: removed %s%s of a run that was broken off (--resume goes on with it)",
            " and ".join(path.name for path in found),
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


def _no_room(path: Path, partial: Path, outcome: Outcome, kept: str) -> str:
    """What a full disk lacks: measured by the rows written so far."""
    message = f"no room left for {str(path)!r}: {room(path)}"
    with suppress(OSError):
        written = partial.stat().st_size
        message += f", {sized(written)} written"
        if outcome.total and outcome.rows:
            message += f", about {sized(written / outcome.rows * outcome.total)} needed in all"
    return f"{message}. {kept or 'Nothing was kept, for no row was finished'}"


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
