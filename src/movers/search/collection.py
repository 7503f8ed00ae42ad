"""Records that are found by their text: values in SQLite, texts in an index beside them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from zlib import crc32

from movers.errors import InputError, StorageError
from movers.io.pairs import check_queries
from movers.loading import load
from movers.results import Match
from movers.runtime.locks import locked
from movers.scorer import Scorer
from movers.search.index import Index
from movers.search.manifest import NAME

TABLE = """
CREATE TABLE IF NOT EXISTS records (
    id TEXT PRIMARY KEY, text TEXT NOT NULL, value TEXT NOT NULL, written REAL NOT NULL,
    used REAL NOT NULL, checksum INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS by_text ON records (text);
CREATE INDEX IF NOT EXISTS by_use ON records (used);
"""
COLUMNS = "id, text, value, written, checksum"
PATIENCE = 60.0
"""Seconds to wait for others who write."""
DAMAGE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""Errors of SQLite that a file has which is not as it was written."""
PRIMARY = 0xFF
"""What tells the kind of an error in its code."""
WIDER = 4
"""How many times as many texts are looked for where too few have a record."""


@dataclass(frozen=True)
class Record:
    """A value with its text; ``written`` is the time in seconds, 0 for now."""

    id: str
    text: str
    value: str
    written: float = 0.0

    @property
    def checksum(self) -> int:
        """CRC-32 of all of it."""
        parts = [self.id, self.text, self.value, self.written]
        return crc32(json.dumps(parts, default=repr).encode())  # damaged ones may be bytes


def as_json(value: Any, what: str) -> str:
    """Return a value as JSON, or say what of it JSON cannot hold."""
    try:
        return json.dumps(value)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{what} cannot be kept as JSON ({error}); pass numbers, texts, lists and dictionaries"
        ) from error


class Collection:
    """Records in a folder that several processes may use, or in memory.

    A record whose process was killed before its text was in the index is found by id and by its
    very text; the next that has this text completes it.

    Parameters
    ----------
    folder
        Where the records lie or will lie; None keeps them in memory.
    scorer
        The measure that finds them; None is the default one.
    """

    def __init__(self, folder: str | Path | None = None, *, scorer: Scorer | None = None) -> None:
        self.folder, self.scorer = None if folder is None else Path(folder), scorer or load()
        self._name = f"the collection {str(self.folder)!r}"
        self._mutex = threading.RLock()
        self._index: Index | None = None
        self._index_folder = None if self.folder is None else self.folder / "index"
        place = ":memory:" if self.folder is None else self._made(self.folder) / "records.sqlite"
        with self._naming_damage():
            self._base = sqlite3.connect(
                place, timeout=PATIENCE, check_same_thread=False, isolation_level=None
            )
            self._base.execute("PRAGMA journal_mode=WAL")
            self._base.executescript(TABLE)

    @staticmethod
    def _made(folder: Path) -> Path:
        """Make the folder, unless no collection can lie there."""
        if folder.exists() and not folder.is_dir():
            raise InputError(f"{str(folder)!r} is a file; name a folder")
        if (folder / NAME).is_file():
            raise InputError(f"{str(folder)!r} holds an index; name a folder of its own")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def close(self) -> None:
        """Let go of the files."""
        with self._mutex:
            self._base.close()
            self._index = None

    def __len__(self) -> int:
        ((count,),) = self._rows("SELECT count(*) FROM records")
        return int(count)

    def _rows(self, command: str, *values: object) -> list[tuple[Any, ...]]:
        with self._mutex, self._naming_damage():
            return self._base.execute(command, values).fetchall()

    def _change(self, command: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """Run a command for all rows, or for none."""
        with self._naming_damage(), self._base:
            self._base.execute("BEGIN")
            self._base.executemany(command, rows)

    @contextmanager
    def _naming_damage(self) -> Iterator[None]:
        """Say whether the records are damaged, or cannot be read or written."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT)
            if code & PRIMARY in DAMAGE:
                raise self._damaged(str(error)) from error
            raise StorageError(f"cannot read or write {self._name}: {error}") from error

    def _damaged(self, how: str) -> InputError:
        return InputError(f"{self._name} is damaged ({how}); remove the folder and fill it again")

    def _records(self, column: str, keys: Sequence[str]) -> list[Record]:
        marks = ",".join("?" * len(keys))
        command = f"SELECT {COLUMNS} FROM records WHERE {column} IN ({marks}) ORDER BY rowid"
        records = []
        for *parts, checksum in self._rows(command, *keys):
            record = Record(*parts)
            if checksum != record.checksum:
                raise self._damaged("a record is not as it was written")
            records.append(record)
        return records

    def get(self, ids: Sequence[str]) -> list[Record]:
        """Return records by id; unknown ones are left out."""
        return self._records("id", ids)

    def of_text(self, text: str) -> list[Record]:
        """Return records of one text."""
        return self._records("text", [text])

    def put(self, records: Iterable[Record]) -> None:
        """Write records, in the place of those with the same id."""
        given = list(records)
        now = time.time()
        dated = [replace(one, written=one.written or now) for one in given]
        rows = [(one.id, one.text, one.value, one.written, now, one.checksum) for one in dated]
        with self._writing():
            old = {one.text for one in self.get([one.id for one in given])}
            self._change("REPLACE INTO records VALUES (?, ?, ?, ?, ?, ?)", rows)
            self._leave_out(old - {one.text for one in given})
            self._add([one.text for one in given])

    def drop(self, ids: Sequence[str]) -> None:
        """Remove records by id."""
        with self._writing():
            texts = {one.text for one in self.get(ids)}
            self._change("DELETE FROM records WHERE id = ?", [(one,) for one in ids])
            self._leave_out(texts)

    def touch(self, record: Record) -> None:
        """Note that a record was of use."""
        self._rows("UPDATE records SET used = ? WHERE id = ?", time.time(), record.id)

    def stale(self, *, before: float, beyond: int | None) -> list[str]:
        """Return ids of records before a time, and of the least lately used beyond a number."""
        old = self._rows("SELECT id FROM records WHERE written < ?", before)
        if beyond is not None:
            order = "SELECT id FROM records ORDER BY used DESC LIMIT -1 OFFSET ?"
            old += self._rows(order, beyond)
        return [one for (one,) in dict.fromkeys(old)]

    def find(
        self, query: str, top_k: int = 10, *, keep: Callable[[Record], bool] = lambda _: True
    ) -> list[tuple[Match, Record]]:
        """Return the records whose texts are nearest to a query, nearest first.

        Parameters
        ----------
        query, top_k
            What to look for, and how many to find.
        keep
            Says which records count; the search goes on until it has enough of these.
        """
        check_queries([query], top_k=top_k)
        with self._mutex:
            if (index := self._opened()) is None:
                return []
            count = top_k
            while True:
                matches = index.search(query, count).matches
                pairs = [
                    (match, record)
                    for match in matches
                    for record in self.of_text(match.text)
                    if keep(record)
                ]
                if len(pairs) >= top_k or len(matches) < count:
                    return pairs[:top_k]
                count *= WIDER

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only one who writes."""
        with self._mutex, ExitStack() as stack:
            if self.folder is not None:
                lock = self.folder / "writer.lock"
                stack.enter_context(locked(lock, self._name, wait=PATIENCE))
            yield

    def _opened(self) -> Index | None:
        """Return the index as it is; None while there is no text."""
        place = self._index_folder
        if self._index is None and place is not None and (place / NAME).is_file():
            self._index = Index.open(place, scorer=self.scorer)
        return self._index

    def _add(self, texts: Sequence[str]) -> None:
        worded = [text for text in texts if text.strip()]
        if not worded:
            return
        if (index := self._opened()) is not None:
            index.add(worded)
        else:
            self._index = Index.build(self.scorer, worded, self._index_folder)

    def _leave_out(self, texts: Iterable[str]) -> None:
        """Take texts out of the index that no record has any more."""
        gone = [text for text in texts if text.strip() and not self.of_text(text)]
        if not gone or (index := self._opened()) is None:
            return
        if {*index.sentences} <= {*gone}:  # an index is never empty
            self._index = None
            if self._index_folder is not None:
                shutil.rmtree(self._index_folder)
            return
        index.delete(gone)
        if len(index.corpus.hidden) > len(index):
            index.compact()
