"""Dependency trees of known sentences, from CoNLL-U files."""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path

from movers.encode.trees import Tree
from movers.errors import InputError


class ConlluParser:
    """Trees of known sentences, from CoNLL-U files.

    Sentences are looked up by their ``# text =`` line: as it stands up to whitespace, or else
    without regard to blanks and case, so that a tokenised, lower-cased copy is found too.

    Parameters
    ----------
    paths
        Files ending in ``.conllu`` or ``.conllu.gz``, or folders of them.
    """

    lookup = True

    def __init__(self, *paths: str | Path) -> None:
        self.paths = [file for path in paths for file in _conllu_files(Path(path))]
        self.name = "conllu:" + ",".join(file.name for file in self.paths)

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Look sentences up."""
        trees = []
        for text in sentences:
            found = self._known.get(" ".join(text.split())) or self._loose.get(_bare(text))
            if found is None and text.strip():
                raise InputError(
                    f"no tree for {text!r} among the {len(self._known)} sentences of "
                    f"{', '.join(map(str, self.paths))}; add it or use another parser"
                )
            forms, heads = found or ([], [])
            trees.append(Tree.of(_locate(forms, text), heads))
        return trees

    @cached_property
    def _known(self) -> dict[str, tuple[list[str], list[int]]]:
        """Forms and heads by sentence."""
        return {text: (forms, heads) for path in self.paths for text, forms, heads in _read(path)}

    @cached_property
    def _loose(self) -> dict[str, tuple[list[str], list[int]]]:
        """The same by sentence without blanks and case."""
        return {_bare(text): tree for text, tree in self._known.items()}


def _bare(text: str) -> str:
    """A text without blanks and case, character by character."""
    return "".join(letter.lower()[0] for letter in text if not letter.isspace())


def _conllu_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    files = sorted(file for ending in ("", ".gz") for file in path.glob(f"*.conllu{ending}"))
    if not files:
        raise InputError(f"no CoNLL-U file {str(path)!r}, nor a folder with any *.conllu[.gz]")
    return files


def _read(path: Path) -> Iterator[tuple[str, list[str], list[int]]]:
    """Sentence text, forms and heads (from 0; -1 for a root) of every tree of a file."""
    start = gzip.open if path.suffix == ".gz" else open
    with start(path, "rt", encoding="utf-8") as stream:
        block: list[str] = []
        for number, line in enumerate(stream, 1):
            block.append(line.rstrip("\n"))
            if not line.strip():
                yield from _tree_of(block, f"{path}, line {number}")
                block = []
        yield from _tree_of(block, f"{path}, end")


def _tree_of(block: list[str], place: str) -> Iterator[tuple[str, list[str], list[int]]]:
    lines = [line for line in block if line.strip()]
    texts = [line.partition("=")[2] for line in lines if line.startswith("# text =")]
    words = [line.split("\t") for line in lines if not line.startswith("#")]
    if not words:
        return
    surface: dict[int, str] = {}  # what the words of a range such as 3-4 stand for: the first all
    for word in words:
        first, dash, last = word[0].partition("-")
        if dash:
            surface |= dict.fromkeys(range(int(first), int(last) + 1), "")
            surface[int(first)] = word[1]
    try:
        plain = [word for word in words if word[0].isdigit()]
        forms = [surface.get(int(word[0]), word[1]) for word in plain]
        heads = [int(word[6]) - 1 for word in plain]
    except (IndexError, ValueError) as error:
        raise InputError(f"{place}: not CoNLL-U ({error})") from error
    text = texts[0] if texts else " ".join(form for form in forms if form)
    yield " ".join(text.split()), forms, heads


def _locate(forms: Iterable[str], sentence: str) -> list[tuple[int, int]]:
    """Character ranges of words in a sentence; an empty form shares the range before it."""
    places = [place for place, letter in enumerate(sentence) if not letter.isspace()]
    text = _bare(sentence)
    spans: list[tuple[int, int]] = []
    end = 0
    for form in forms:
        if not form:
            spans.append(spans[-1])
            continue
        start = text.find(_bare(form), end)
        if start < 0:
            raise InputError(f"the tree of {sentence!r} has a word {form!r} that its text has not")
        end = start + len(_bare(form))
        spans.append((places[start], places[end - 1] + 1))
    return spans
