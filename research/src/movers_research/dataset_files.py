"""Files of labelled pairs as their authors lay them out, read row by row and checked."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path

from movers.errors import InputError
from movers.evaluate.labelled import Row
from movers.io.labels import number_in
from movers.io.tables import decoded_lines

SCORED = (
    "two tab-separated sentences a line in STS.input.X.txt, the score on the same line of "
    "STS.gs.X.txt, empty for pairs that do not count"
)
WRAPPED = re.compile(r"""b(['"]).*\1""", re.DOTALL)


@dataclass(frozen=True)
class Columns:
    """A tab-separated file without quoting.

    Parameters
    ----------
    source, target, gold
        Positions of the sentences and of the label or score, counted from 0.
    fields, extra
        Fields of a row, and whether there may be more.
    header
        Whether the first line names the columns.
    label
        Whether the gold column is 0 or 1.
    wrapped
        Whether sentences may be written as Python bytes, ``b'…'``.
    """

    source: int
    target: int
    gold: int
    fields: int
    header: bool = True
    extra: bool = False
    label: bool = False
    wrapped: bool = False

    def __str__(self) -> str:
        gold = "label 0 or 1" if self.label else "score"
        return (
            f"tab-separated, {'with a' if self.header else 'no'} header line, sentences in columns "
            f"{self.source + 1} and {self.target + 1}, {gold} in column {self.gold + 1}"
        )

    def read(self, path: Path, ids: Counter[str] | None = None) -> Iterator[Row]:
        """Yield the rows of a file: all, or as often as their first field is among the ids."""
        for where, line in islice(_lines_of(path), self.header, None):
            if not line:
                continue
            fields = line.split("\t")
            if len(fields) < self.fields or (len(fields) > self.fields and not self.extra):
                least = "at least " if self.extra else ""
                raise InputError(f"{where}: {len(fields)} fields, expected {least}{self.fields}")
            gold = number_in(fields[self.gold], where)
            if self.label and gold not in (0, 1):
                raise InputError(f"{where}: label {fields[self.gold]!r}, expected 0 or 1")
            texts = fields[self.source], fields[self.target]
            source, target = (unwrap(text, where) for text in texts) if self.wrapped else texts
            yield from repeat((source, target, gold), 1 if ids is None else ids[fields[0]])


def _lines_of(path: Path) -> Iterator[tuple[str, str]]:
    """Where each line stands, for messages, and the line."""
    with path.open("rb") as stream:
        for number, line in enumerate(decoded_lines(stream, path), 1):
            yield f"{path}, line {number}", line.rstrip("\r\n")


def unwrap(text: str, where: str) -> str:
    r"""Decode a sentence that Python 2 wrote as bytes; leave any other alone.

    Examples
    --------
    >>> unwrap(r"b'caf\xc3\xa9'", "train.tsv, line 2")
    'café'
    """
    if not WRAPPED.fullmatch(text):
        return text
    try:
        return bytes(ast.literal_eval(text)).decode("utf-8")
    except (SyntaxError, ValueError) as error:  # UnicodeDecodeError is a ValueError
        raise InputError(f"{where}: cannot decode {text[:40]!r}: {error}") from None


def read_scored(texts: Path, scores: Path) -> Iterator[Row]:
    """Yield the pairs of an STS task that have a score, which is on the same line of `scores`."""
    pairs, golds = list(_lines_of(texts)), list(_lines_of(scores))
    if len(pairs) != len(golds):
        raise InputError(f"{texts} has {len(pairs)} lines while {scores} has {len(golds)}")
    for (where, pair), (beside, gold) in zip(pairs, golds, strict=True):
        source, *others = pair.split("\t")
        if not others:
            raise InputError(f"{where}: one field, expected two sentences")
        if gold.strip():
            yield source, others[0], number_in(gold, beside)
