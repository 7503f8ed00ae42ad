"""Files of labelled pairs as their authors lay them out, read row by row and checked."""

from __future__ import annotations

import ast
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice, repeat
from pathlib import Path
from typing import Any

from movers.errors import InputError
from movers.io.tables import check_texts, decoded_lines, open_table, pick_columns, plain_values

Row = tuple[str, str, float]
"""Two sentences and what people say about them."""

GOLD = (
    *("label", "score", "gold", "similarity", "similarity_score", "relatedness_score"),
    *("is_duplicate", "quality"),
)
"""Columns that usually hold the label or score, the likeliest first."""

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


def read_table(
    path: Path,
    source: str | None = None,
    target: str | None = None,
    gold: str | None = None,
    *,
    labelled: bool = True,
) -> Iterator[Row]:
    """Yield the rows of any table of pairs with a column of labels or scores.

    Gold values are NaN without one, where the pairs need not be labelled.
    """
    with open_table(path) as table:
        sides = pick_columns(table.columns, source, target)
        golds = _find_gold(table.columns, sides, gold, labelled=labelled)
        seen = 0
        for chunk in table.chunks:
            texts = [check_texts(chunk[side], side, seen) for side in sides]
            values = plain_values(chunk[golds]) if golds else [math.nan] * len(texts[0])
            rows = enumerate(zip(*texts, values, strict=True), seen + 1)
            for seen, (first, second, value) in rows:
                where = f"{path}, row {seen}, column {golds!r}"
                yield first, second, label_in(value, where) if golds else math.nan


def _find_gold(
    columns: list[str], sides: tuple[str, str], named: str | None, *, labelled: bool
) -> str | None:
    """The column of labels or scores: the one named or well known, or the only one there is."""
    others = [name for name in columns if name not in sides]
    if named is not None and named not in others:
        raise InputError(f"no column {named!r} of labels; there are: {', '.join(others)}")
    found = named or next((name for name in GOLD if name in others), None)
    if found or not labelled or len(others) == 1:
        return found or (others[0] if labelled else None)
    raise InputError(
        "which column holds the label or score? call it 'label' or 'score', or name it; "
        f"beside the sentences there are: {', '.join(others) or 'none'}"
    )


WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
"""Labels people write out."""


def label_in(value: Any, where: str) -> float:
    """The number that a cell of anybody's table holds; yes and true are 1, no and false 0."""
    text = "" if value is None else str(value).strip().lower()
    if not text:
        raise InputError(
            f"{where}: the label is blank; fill it in, or take the row out of the table"
        )
    also = ", and not yes, no, true or false" if isinstance(value, str) else ""
    return WORDS[text] if text in WORDS else number_in(value, where, also)


def number_in(value: Any, where: str, also: str = "") -> float:
    """The number that a cell holds; the message for any other tells what ``also`` it is not."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{where}: {value!r} is not a number{also}") from None
    if not math.isfinite(number):
        raise InputError(f"{where}: {value!r} is not a finite number")
    return number
