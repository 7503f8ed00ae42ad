"""Sentences and sentence pairs as callers pass them, checked at the border."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from math import inf
from numbers import Integral, Real
from typing import Any

from movers.errors import InputError, missing

KNOWN_PAIRS = (
    ("source", "target"),
    ("sentence1", "sentence2"),
    ("sentence_A", "sentence_B"),
    ("text1", "text2"),
    ("question1", "question2"),
    ("premise", "hypothesis"),
    ("reference", "candidate"),
    ("s1", "s2"),
)

Check = Callable[[Any, str], Any]
"""Returns what may stand on one side of a pair, or says what is wrong with it."""


def known_columns(columns: Sequence[str]) -> tuple[str, str] | None:
    """Return the two columns that usually hold sentences, if a table has such a pair."""
    return next((pair for pair in KNOWN_PAIRS if set(pair) <= set(columns)), None)


def pick_pair(columns: Sequence[Any], source: Any, target: Any, options: str) -> tuple[Any, Any]:
    """Return the columns named, a well-known pair, or the only two; ``options`` would name them."""
    there = ", ".join(map(str, columns))
    for name in (source, target):
        if name is not None and name not in columns:
            raise InputError(f"no column {name!r}; the columns are: {there}")
    if source is not None and target is not None:
        if source == target:
            raise InputError(f"both sentences are to come from the column {source!r}; name two")
        return source, target
    pair = known_columns(columns) or columns
    if source is not None or target is not None or len(pair) != 2:
        raise InputError(
            f"which two columns hold the sentences? name them with {options}; "
            f"the columns are: {there}"
        )
    return pair[0], pair[1]


def check_sentences(sentences: Iterable[Any], what: str, check: Check | None = None) -> list[Any]:
    """List sentences, refusing a bare string and anything that is not text."""
    if isinstance(sentences, str):
        raise InputError(f"{what}s must be a list of sentences, got one string; put it in a list")
    if not isinstance(sentences, Iterable):
        raise InputError(f"{what}s must be a list of sentences, got {sentences!r}")
    texts = list(sentences)
    for number, text in enumerate(texts):
        name = what if len(texts) == 1 else f"{what} {number}"
        texts[number] = (check or check_sentence)(text, name)
    return texts


def text_of_cell(value: Any, what: str) -> str:
    """Return the text of a cell; a missing one is an empty sentence, without a distance to any."""
    return "" if is_missing(value) else check_sentence(value, what)


def is_missing(value: Any) -> bool:
    """Tell whether a cell holds nothing: None, NaN, or what pandas puts in their place.

    Examples
    --------
    >>> [is_missing(value) for value in (None, float("nan"), "", 0)]
    [True, True, False, False]
    """
    if isinstance(value, float):
        return value != value
    return value is None or type(value).__name__ in ("NAType", "NaTType")


def check_sentence(text: Any, what: str) -> str:
    """Return text that is a string, or say what it is instead."""
    if not isinstance(text, str):
        advice = "drop or fill missing values first" if is_missing(text) else "pass it as text"
        raise InputError(f"{what} is {text!r} ({type(text).__name__}), expected a string; {advice}")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} is {text!r}, which is not valid text (a lone surrogate at {error.start}); "
            "decode the file with its own encoding"
        ) from None
    return text


def check_asked(given: Any, what: str) -> Any:
    """Return a sentence, or a list of words, that is asked about by itself, unless it is empty."""
    words = check_words(given, what)
    if not (words.strip() if isinstance(words, str) else words):
        raise InputError(f"the {what} is empty ({given!r}); pass a sentence")
    return words


def check_queries(
    queries: Iterable[str], within: float | None = None, *, top_k: int
) -> tuple[list[str], float]:
    """Return what a search is asked for, and the largest distance, or say what is wrong."""
    if isinstance(queries, str) or not isinstance(queries, Iterable):
        raise InputError(f"queries must be a list of sentences, got {queries!r}; put it in a list")
    texts = [check_asked(check_sentence(query, "query"), "query") for query in queries]
    check_count("top_k", top_k)
    limit = inf if within is None else within
    if not limit >= 0:
        raise InputError(f"within must be a distance of at least 0, got {within}")
    return texts, limit


def check_count(name: str, value: object) -> None:
    """Refuse a number of sentences that is none."""
    if not isinstance(value, Integral) or value < 1:
        raise InputError(f"{name} must be at least 1, a whole number, got {value!r}")


def check_share(name: str, value: object, what: str = "similarity") -> None:
    """Refuse a similarity, or another share, that is none."""
    if not isinstance(value, Real) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"{name} must be a {what} from 0 to 1, got {value!r}")


def check_words(given: Any, what: str) -> Any:
    """Return a text, or a list of words that have something in them, or say what it is instead."""
    if isinstance(given, str) or not isinstance(given, Sequence):
        return check_sentence(given, what)
    for number, word in enumerate(given):
        if not check_sentence(word, f"word {number} of {what}").strip():
            raise InputError(
                f"word {number} of {what} is {word!r}, which has no letters; leave it out"
            )
    return list(given)


def check_text(given: Any, what: str) -> Any:
    """Return a text, or a tuple of sentences that stand for one, or say what it is instead."""
    if isinstance(given, str) or not isinstance(given, list | tuple):
        return check_sentence(given, what)
    return tuple(check_sentences(given, f"sentence of {what}"))


def read_pairs(
    pairs: Any, targets: Iterable[str] | None = None, *, check: Check = check_sentence
) -> list[tuple[Any, Any]]:
    """List sentence pairs given as 2-tuples, as a data frame, or as sources and targets.

    A frame has two columns, or among others a well-known pair such as sentence1 and sentence2;
    its missing cells are empty sentences.

    Examples
    --------
    >>> read_pairs([("a dog barks", "a cat sleeps")])
    [('a dog barks', 'a cat sleeps')]
    >>> read_pairs(["a dog barks"], ["a cat sleeps"])
    [('a dog barks', 'a cat sleeps')]
    """
    if targets is not None:
        left, right = (
            check_sentences(side, name, check)
            for side, name in ((pairs, "source"), (targets, "target"))
        )
        if len(left) != len(right):
            raise InputError(
                f"there are {len(left)} sources and {len(right)} targets; every source needs its "
                "target (scorer.matrix compares all with all)"
            )
        return list(zip(left, right, strict=True))
    if isinstance(pairs, str):
        raise InputError("pairs must be a list of two sentences each, got one string")
    in_frame = None if isinstance(pairs, list) else _read_frame(pairs)
    if in_frame is not None:
        return in_frame
    read = []
    for number, pair in enumerate(pairs):
        if isinstance(pair, str | Mapping | Set) or not hasattr(pair, "__len__") or len(pair) != 2:
            raise InputError(f"pair {number} is {pair!r}; expected two sentences")
        source, target = pair
        sides = f"source of pair {number}", f"target of pair {number}"
        read.append((check(source, sides[0]), check(target, sides[1])))
    return read


def _read_frame(pairs: Any) -> list[tuple[str, str]] | None:
    """List the sentence pairs of a data frame; None if it is no frame."""
    expected = InputError(
        "pairs must be a list of two sentences each, or a data frame in memory, got "
        f"{type(pairs).__name__}"
    )
    if not hasattr(type(pairs), "columns"):
        if isinstance(pairs, Iterable):
            return None
        raise expected
    try:
        import narwhals.stable.v2 as nw
    except ModuleNotFoundError as error:
        raise missing("narwhals", "a data frame") from error
    frame = nw.from_native(pairs, eager_only=True, pass_through=True)
    if isinstance(frame, nw.LazyFrame) or not isinstance(frame, nw.DataFrame | Iterable):
        raise expected
    if not isinstance(frame, nw.DataFrame):
        return None
    columns = known_columns(frame.columns) or frame.columns
    if len(columns) != 2:
        raise InputError(f"a frame of pairs needs two columns, got {frame.columns}; select two")
    first, second = (f"(from 0) of column {name!r}" for name in columns)
    return [
        (text_of_cell(left, f"row {row} {first}"), text_of_cell(right, f"row {row} {second}"))
        for row, (left, right) in enumerate(frame.select(*columns).iter_rows())
    ]
