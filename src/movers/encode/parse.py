"""Parsers: sentences in, dependency trees out.

Trees come from CoNLL-U files, from spaCy or from stanza; anything else with a ``parse`` method
will do. Nothing is imported or read before the first sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from movers.encode.conllu import ConlluParser
from movers.encode.trees import Tree
from movers.errors import DependencyError, InputError

EXTRA = "pip install movers[parse]"
CACHED = 1 << 17
"""Trees to keep; a cache that is full starts afresh."""


class Parser(Protocol):
    """Anything that parses sentences.

    A parser may have a ``name`` for signatures, and ``lookup = True`` if it only knows certain
    sentences.
    """

    def parse(self, sentences: Sequence[str]) -> list[Tree]:
        """Parse sentences, in order."""


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


KINDS = {"conllu": ConlluParser, "spacy": SpacyParser, "stanza": StanzaParser}


def load_parser(parser: Any) -> CachedParser | None:
    """Make a parser of what a user passes; None stays None.

    ``"spacy:en_core_web_sm"``, ``"conllu:PATH"``, ``"stanza:en"``, the path of a CoNLL-U file or
    folder, several paths, a loaded spaCy pipeline, or an object with ``parse``.
    """
    if parser is None or isinstance(parser, CachedParser):
        return parser
    if isinstance(parser, str):
        kind, colon, rest = parser.partition(":")
        if colon and rest and kind in KINDS:
            return CachedParser(KINDS[kind](rest))
        if not Path(parser).exists():
            raise InputError(
                f"no parser {parser!r}; pass 'spacy:NAME', 'conllu:PATH', 'stanza:LANGUAGE' or "
                "the path of a CoNLL-U file or folder"
            )
    if isinstance(parser, str | Path | list | tuple):
        parser = ConlluParser(*(parser if isinstance(parser, list | tuple) else [parser]))
    elif hasattr(parser, "pipe") and not hasattr(parser, "parse"):
        parser = SpacyParser(parser)
    if not hasattr(parser, "parse"):
        raise InputError(f"parser must be a name, a path or an object with parse(), got {parser!r}")
    return CachedParser(parser)
