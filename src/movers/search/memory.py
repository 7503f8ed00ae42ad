"""An index that is kept in memory alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from movers.arrays import Ints
from movers.errors import InputError
from movers.scorer import Scorer
from movers.search.corpus import NOTHING, Corpus, Piece
from movers.search.folder import EMPTY, MakeTable
from movers.search.passages import IndexedTexts


class Memory:
    """The counterpart of `movers.search.folder.Folder` in memory, where nobody else writes."""

    path, state, parts = None, "", 0

    def __init__(self) -> None:
        self.texts = IndexedTexts(Corpus[Any](()))
        self.signature = ""

    def __len__(self) -> int:
        return len(self.texts)

    def refresh(self) -> None:
        """Do nothing."""

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Do nothing, and go on with what is there."""
        yield

    def fill(
        self,
        pieces: Iterable[Piece],
        scorer: Scorer,
        layout: str,
        table: MakeTable,
        *,
        replace: bool = False,
    ) -> None:
        """Hold new shards, compared by the measure of a scorer."""
        self.signature = str(scorer.signature)
        self.change(pieces, NOTHING, table)
        if not self.texts.corpus.shards:
            raise InputError(EMPTY)

    def change(self, shards: Iterable[int | Piece], deleted: Ints, table: MakeTable) -> None:
        """Hold some of the shards, by number, and new ones."""
        old = self.texts.corpus.shards
        made = [old[one] if isinstance(one, int) else one[1]() for one in shards]
        corpus = Corpus(made, deleted)
        self.texts = IndexedTexts(corpus, table(corpus.sentences))
