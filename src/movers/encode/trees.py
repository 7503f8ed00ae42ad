"""What makes dependency trees of sentences, for measures that packages beside this one add."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from movers.errors import DependencyError, InputError
from movers.runtime.entry_points import load_entries

GROUP = "movers.parsers"
"""Entry points of this group lead to functions that make a parser of what users name."""
EXTRA = "pip install movers[parse]"
CACHED = 1 << 17
"""Trees to keep; a cache that is full starts afresh."""


class Parser(Protocol):
    """Anything that parses sentences into trees as its measures take them.

    Those of movers-research take its `Tree`. A parser may have a ``name`` for
    signatures, and ``lookup = True`` if it only knows certain sentences.
    """

    def parse(self, sentences: Sequence[str]) -> list[Any]:
        """Parse sentences, in order."""


class CachedParser:
    """A parser that parses a sentence once."""

    def __init__(self, parser: Parser) -> None:
        self.parser = parser
        self.name = str(getattr(parser, "name", type(parser).__name__))
        self.lookup = bool(getattr(parser, "lookup", False))
        self._trees: dict[str, Any] = {}

    def parse(self, sentences: Sequence[str]) -> list[Any]:
        """Parse the sentences not seen before."""
        if len(self._trees) > CACHED:
            self._trees = {}
        missing = [text for text in dict.fromkeys(sentences) if text not in self._trees]
        if missing:
            self._trees.update(zip(missing, self.parser.parse(missing), strict=True))
        return [self._trees[text] for text in sentences]


def load_parser(parser: Any) -> CachedParser | None:
    """Make a parser of what a user passes; None stays None.

    An object with ``parse``, or what a package that offers parsers takes; those of movers-research
    are ``"spacy:en_core_web_sm"``, ``"conllu:PATH"``, ``"stanza:en"``, paths of CoNLL-U files or
    folders, and a loaded spaCy pipeline.
    """
    if parser is None or isinstance(parser, CachedParser):
        return parser
    if hasattr(parser, "parse"):
        return CachedParser(parser)
    offered = load_entries(GROUP)
    for _, _, make in offered:
        if (made := make(parser)) is not None:
            return CachedParser(made)
    if not offered:
        raise DependencyError(
            f"the parser {parser!r} needs movers-research, which is not installed; in a checkout "
            "of movers: pip install ./research, or pass an object with parse()"
        )
    raise InputError(f"parser must be a name, a path or an object with parse(), got {parser!r}")
