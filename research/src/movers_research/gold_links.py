"""Links that people made, in the layouts they come in.

- MultiMWA: a line of tab-separated fields without header: id, words, –, words, –, –, –, sure links,
  possible links.
- Jacana, Edinburgh++: JSON objects, a list of them or one a line, with ``source``, ``target``,
  ``sureAlign`` and ``possibleAlign``.
- Pharaoh: three files of as many lines, words, words and links; or one with the three between
  ``|||`` or tabs. Links are ``i-j``, or ``i?j`` and ``ipj`` for possible ones.
- The shared tasks' layout for the third file: ``sentence i j S`` or ``P``, all counted from 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from movers.errors import Choose, InputError
from movers.io.pairs import check_words
from movers.io.tables import decoded_lines
from movers.runtime.json_text import parse_json

Pairs = frozenset[tuple[int, int]]

LINK = re.compile(r"(\d+)([-?pP])(\d+)")
NUMBERED = re.compile(r"(\d+)\s+(\d+)\s+(\d+)(?:\s+([SP]))?(?:\s+[\d.]+)?")
FIELDS = re.compile(r"\s*\|\|\|\s*|\t")


@dataclass(frozen=True)
class GoldPair:
    """Two sentences as words, and the links between them, counted from 0.

    ``sure`` and ``possible`` have no link in common.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    sure: Pairs = field(default_factory=frozenset)
    possible: Pairs = field(default_factory=frozenset)

    @property
    def links(self) -> Pairs:
        """Sure and possible links."""
        return self.sure | self.possible


def read_gold(files: Sequence[Path], *, one_based: bool = False) -> list[GoldPair]:
    """Read gold links from one file, or from the three files of words, words and links.

    ``one_based`` says that links count words from 1.
    """
    first = int(one_based)
    if len(files) == 3:
        return _parallel(files[0], files[1], files[2], first)
    if len(files) != 1:
        raise InputError(
            f"expected one file of gold links, or three of words, words and links; got {len(files)}"
        )
    pairs = list(_single(files[0], first))
    if not pairs:
        raise InputError(f"{files[0]} holds no pairs")
    return pairs


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise InputError(f"no file {str(path)!r}")
    with path.open("rb") as stream:
        return [line.rstrip("\r\n") for line in decoded_lines(stream, path)]


def _numbered_lines(lines: Iterable[str], path: Path) -> list[tuple[str, str]]:
    """The lines that are not blank, and where each stands."""
    return [(f"{path}, line {k}", line) for k, line in enumerate(lines, 1) if line.strip()]


def _single(path: Path, first: int) -> Iterator[GoldPair]:
    """The pairs of one file, laid out as its first line tells."""
    lines = _lines(path)
    opening = next((line for line in lines if line.strip()), "")
    if opening.lstrip()[:1] in ("[", "{") and path.suffix in (".json", ".jsonl"):
        yield from _records(lines, path, first)
        return
    width = len(FIELDS.split(opening))
    if width < 9 and width != 3:
        raise InputError(
            f"{path}: no known layout of gold links in {opening[:60]!r}; expected MultiMWA (nine "
            "tab-separated fields), JSON with sureAlign, or words ||| words ||| links"
        )
    for where, line in _numbered_lines(lines, path):
        fields = FIELDS.split(line) if width == 3 else line.split("\t")
        if width == 3 and len(fields) != 3:
            raise InputError(f"{where}: {len(fields)} fields, expected words, words and links")
        if width > 3 and len(fields) < 9:
            raise InputError(f"{where}: {len(fields)} fields, expected at least 9")
        chosen = fields if width == 3 else [fields[1], fields[3], *fields[7:9]]
        yield _pair(where, first, *chosen)


def _records(lines: list[str], path: Path, first: int) -> Iterator[GoldPair]:
    """The pairs of a JSON list of records, or of a record on every line that is not blank."""
    text = "\n".join(lines)
    if text.lstrip().startswith("["):
        found = [(f"{path}, record {k}", one) for k, one in enumerate(_json(text, str(path)), 1)]
    else:
        found = [(where, _json(line, where)) for where, line in _numbered_lines(lines, path)]
    for where, record in found:
        if not isinstance(record, dict) or not {"source", "target", "sureAlign"} <= record.keys():
            raise InputError(f"{where}: expected an object with source, target and sureAlign")
        words = [check_words(record[side], f"{where}, {side}") for side in ("source", "target")]
        links = [record.get(name) or "" for name in ("sureAlign", "possibleAlign")]
        for text in links:
            if not isinstance(text, str):
                raise InputError(f"{where}: links are {text!r}, expected a text such as '0-0 1-2'")
        yield _pair(where, first, *words, *links)


def _json(text: str, where: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise InputError(f"{where}: not JSON ({error})") from error


def _parallel(source: Path, target: Path, links: Path, first: int) -> list[GoldPair]:
    """Three files, one sentence a line; blank lines of links are pairs without any."""
    columns = [_trimmed(_lines(path)) for path in (source, target)]
    gold, unit, count = _lines(links), "line", len(columns[0])
    if gold and NUMBERED.fullmatch(gold[0].strip()):
        gold, first, unit = _by_sentence(gold, links, count), 1, "sentence"
    if len(gold) > count:
        gold = _trimmed(gold)
    sizes = [count, len(columns[1]), len(gold)]
    if len(set(sizes)) > 1:
        raise InputError(
            f"{source.name}, {target.name} and {links.name} have {sizes[0]}, {sizes[1]} and "
            f"{sizes[2]} lines; they must belong together line by line"
        )
    rows = enumerate(zip(*columns, gold, strict=True), 1)
    return [_pair(f"{links}, {unit} {k}", first, a, b, told) for k, (a, b, told) in rows]


def _by_sentence(lines: list[str], path: Path, count: int) -> list[str]:
    """Links of the shared tasks' layout, one on each line, gathered sentence by sentence."""
    gathered: list[list[str]] = [[] for _ in range(count)]
    for where, line in _numbered_lines(lines, path):
        found = NUMBERED.fullmatch(line.strip())
        if not found or not 1 <= int(found[1]) <= count:
            raise InputError(
                f"{where}: {line!r} is not 'sentence i j' with a sentence from 1 to {count}"
            )
        mark = "p" if found[4] == "P" else "-"
        gathered[int(found[1]) - 1].append(f"{found[2]}{mark}{found[3]}")
    return [" ".join(each) for each in gathered]


def _trimmed(lines: list[str]) -> list[str]:
    return lines[:-1] if lines and not lines[-1] else lines


Side = str | list[str]


def _pair(
    where: str, first: int, source: Side, target: Side, sure: str, possible: str = ""
) -> GoldPair:
    words = [tuple(side.split() if isinstance(side, str) else side) for side in (source, target)]
    certain: set[tuple[int, int]] = set()
    doubtful: set[tuple[int, int]] = set()
    for text, doubted in ((sure, False), (possible, True)):
        for link in text.split():
            found = LINK.fullmatch(link)
            if not found:
                raise InputError(f"{where}: {link!r} is no link; expected i-j, or i?j if possible")
            pair = int(found[1]) - first, int(found[3]) - first
            if not (0 <= pair[0] < len(words[0]) and 0 <= pair[1] < len(words[1])):
                raise InputError(
                    f"{where}: link {link} is outside the {len(words[0])} and {len(words[1])} "
                    f"words, counted from {first}",
                    *([] if first else [Choose("one_based", True, "if they count from 1")]),
                )
            (doubtful if doubted or found[2] != "-" else certain).add(pair)
    return GoldPair(words[0], words[1], frozenset(certain), frozenset(doubtful - certain))
