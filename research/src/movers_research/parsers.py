"""Parsers: sentences in, dependency trees out.

Trees come from CoNLL-U files, from spaCy or from stanza. Nothing is imported or read before the
first sentence.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

from movers.errors import Choose, DependencyError, InputError
from movers.measures.parts.context import Context, Parser
from movers_research.trees import Tree

EXTRA = "pip install movers[parse]"
CACHED = 1 << 17
"""Trees to keep; a cache that is full starts afresh."""


class CachedParser:
    """A parser that parses a sentence once."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.name = str(getattr(parser, "name", type(parser).__name__))
        self.lookup = bool(getattr(parser, "lookup", False))
        self._trees: dict[str, Tree] = {}

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse the sentences not seen before."""
        if len(self._trees) > CACHED:
            self._trees = {}
        missing = [text for text in dict.fromkeys(sentences) if text not in self._trees]
        if missing:
            self._trees.update(zip(missing, self.parser.parse(missing), strict=True))
        return [self._trees[text] for text in sentences]


def parse(context: Context, sentences: Sequence[str]) -> list[Tree]:
    """Return the trees of sentences; say how to get a parser where there is none."""
    if context.parser is None:
        raise InputError(
            "this measure needs dependency trees and no parser is set",
            Choose("parser", "spacy:en_core_web_sm", f"after {EXTRA!r}"),
            Choose("parser", "conllu:PATH", "for sentences parsed already"),
        )
    return context.parser.parse(sentences)


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
        self.paths: list[Path] = []
        for path in map(Path, paths):
            inside = [path.glob(f"*.conllu{ending}") for ending in ("", ".gz")]
            files = [path] if path.is_file() else sorted(chain(*inside))
            if not files:
                wanted = f"CoNLL-U file {str(path)!r}, nor a folder with any *.conllu[.gz]"
                raise InputError(f"no {wanted}")
            self.paths += files
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
    """Return a text without blanks and case, character by character."""
    return "".join(letter.lower()[0] for letter in text if not letter.isspace())


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
    """Return character ranges of words in a sentence; an empty form shares the range before it."""
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


class SpacyParser:
    """Trees from a spaCy pipeline: loaded, or the name of an installed one (``en_core_web_sm``)."""

    def __init__(self, pipeline: Any) -> None:
        self._pipeline = pipeline
        named = isinstance(pipeline, str)
        self.name = f"spacy:{pipeline if named else pipeline.meta.get('name', 'pipeline')}"

    @cached_property
    def pipeline(self) -> Any:
        """The pipeline, loaded when first needed."""
        if not isinstance(self._pipeline, str):
            return self._pipeline
        spacy = _optional("spacy")
        try:
            return spacy.load(self._pipeline)
        except OSError as error:
            raise DependencyError(
                f"spaCy has no pipeline {self._pipeline!r} installed: "
                f"python -m spacy download {self._pipeline}"
            ) from error

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse sentences in batches."""
        return [self._tree(document) for document in self.pipeline.pipe(sentences)]

    def _tree(self, document: Any) -> Tree:
        if len(document) and not document.has_annotation("DEP"):
            raise InputError(f"the spaCy pipeline {self.name!r} has no dependency parser")
        words = [token for token in document if not token.is_space]
        place = {token.i: number for number, token in enumerate(words)}
        spans = [(token.idx, token.idx + len(token)) for token in words]
        # A token's ancestors begin with its head; the nearest that is a word counts.
        above = ((place[head.i] for head in token.ancestors if head.i in place) for token in words)
        return Tree.of(spans, [next(heads, -1) for heads in above])


class StanzaParser:
    """Trees from stanza, by the language code of a downloaded model."""

    def __init__(self, language: str = "en") -> None:
        self.language = language
        self.name = f"stanza:{language}"

    @cached_property
    def pipeline(self) -> Any:
        """The pipeline, loaded when first needed."""
        processors = "tokenize,mwt,pos,lemma,depparse"
        return _optional("stanza").Pipeline(self.language, processors=processors, verbose=False)

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse sentences one by one."""
        return [self._tree(text) for text in sentences]

    def _tree(self, text: str) -> Tree:
        spans: list[tuple[int, int]] = []
        heads: list[int] = []
        for sentence in self.pipeline(text).sentences if text.strip() else ():
            first = len(heads)
            for token in sentence.tokens:
                for word in token.words:
                    spans.append((token.start_char, token.end_char))
                    heads.append(first + word.head - 1 if word.head else -1)
        return Tree.of(spans, heads)


def _optional(package: str) -> Any:
    try:
        return import_module(package)
    except ImportError as error:
        remedy = EXTRA if package == "spacy" else f"pip install {package}"
        message = f"parser={package!r} needs the package {package}: {remedy}"
        raise DependencyError(message) from error


KINDS: dict[str, Callable[[str], Parser]] = {
    "conllu": ConlluParser,
    "spacy": SpacyParser,
    "stanza": StanzaParser,
}


def make_parser(parser: Any) -> CachedParser | None:
    """Make a parser of what a user passes, one that parses a sentence once; None of anything else.

    ``"spacy:en_core_web_sm"``, ``"conllu:PATH"``, ``"stanza:en"``, the path of a CoNLL-U file or
    folder, several paths, a loaded spaCy pipeline, or an object with ``parse``.
    """
    if isinstance(parser, CachedParser):
        return parser
    made = parser if hasattr(parser, "parse") else _named(parser)
    return None if made is None else CachedParser(made)


def _named(parser: Any) -> Parser | None:
    if isinstance(parser, str):
        kind, colon, rest = parser.partition(":")
        if colon and rest and kind in KINDS:
            return KINDS[kind](rest)
        if not Path(parser).exists():
            raise InputError(
                f"no parser {parser!r}; pass 'spacy:NAME', 'conllu:PATH', 'stanza:LANGUAGE' or "
                "the path of a CoNLL-U file or folder"
            )
    if isinstance(parser, str | Path | list | tuple):
        return ConlluParser(*(parser if isinstance(parser, list | tuple) else [parser]))
    return SpacyParser(parser) if hasattr(parser, "pipe") else None
