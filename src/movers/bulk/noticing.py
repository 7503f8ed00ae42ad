"""What is told of some rows of a table: which they are, and which had sentences cut."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from movers.runtime.notices import TruncationWarning

NAMED = 10
"""So many rows are named where something is said of some."""


@dataclass
class Rowlist:
    """How many rows something holds of, and the first of them, counted from 1."""

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


class LongSentences:
    """Remembers which sentences were longer than the model reads, in place of warnings.

    Other warnings are passed on, each once.
    """

    def __init__(self) -> None:
        self.seen: set[str] = set()
        self.told: set[str] = set()

    @contextmanager
    def noticed(self) -> Iterator[None]:
        """Take note of sentences that are cut in a block."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TruncationWarning)
            yield
        for warning in caught:
            if isinstance(warning.message, TruncationWarning):
                self.seen |= set(warning.message.sentences)
            elif str(warning.message) not in self.told:
                self.told.add(str(warning.message))
                warnings.warn(warning.message, stacklevel=3)

    def places(self, pairs: Sequence[tuple[str, str]]) -> list[int]:
        """Which pairs have one of them."""
        return [place for place, pair in enumerate(pairs) if self.seen & {*pair}]
