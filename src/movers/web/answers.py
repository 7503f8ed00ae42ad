"""What is done with the pairs of a batch: one result for each, which may be an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from math import isfinite
from typing import Any

from movers.difference.misspelt import Spelling
from movers.errors import InputError
from movers.explain.curve import Step, curve_step
from movers.runtime.threads import end_if_unwanted
from movers.scorer import Scorer
from movers.web.batcher import Pair
from movers.web.failures import HTTP, sendable
from movers.web.models import Kind, Models, Setup

DIFFERENCES = ("source", "target", "differences", "source_repairs", "target_repairs", "signature")
"""What of a comparison tells differences."""


def answer_pairs(models: Models, max_words: int, setup: Setup, pairs: Sequence[Pair]) -> list[Any]:
    """Answer the pairs, or the queries of an index, whose sentences are short enough.

    The others get an error.

    Parameters
    ----------
    models
        Those of this thread.
    max_words
        Words of a sentence that is compared; of longer texts where these are taken by sentences.
    setup, pairs
        What answers, with which kind of answer, and what.
    """
    scorer = models.scorer(setup)
    # A word has at least one character, so that short sentences need not be tokenized here.
    wide = list({text for pair in pairs for text in pair[:2] if len(text) > max_words})
    _, words = scorer.encoder.located(wide, scorer.settings.rules)
    refused = {
        text
        for text, count in zip(wide, words.lengths, strict=True)
        if count > max_words and not (setup.kind in LONG and scorer.takes_sentences(text))
    }
    short = [pair for pair in pairs if refused.isdisjoint(pair)]
    if setup.kind is not None:
        answers = iter(setup.kind(scorer, short))
    else:
        answers = iter(models.search(setup, [query for (query,) in short]) if short else [])
    return [
        next(answers) if refused.isdisjoint(pair) else _refusal(pair, refused, max_words)
        for pair in pairs
    ]


def _refusal(pair: Pair, refused: set[str], max_words: int) -> InputError:
    sides = ("source", "target") if len(pair) > 1 else ("query",)
    side, text = next(one for one in zip(sides, pair, strict=False) if one[1] in refused)
    return InputError(
        f"the {side} has more than the {max_words} words this server compares "
        f"({text[:40]!r} …); split it into sentences, or start the server with --max-words"
    )


def distances(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    """Return distances with similarity and signature, or the reason why there is none."""
    values, signature = scorer.distances(pairs), str(scorer.signature)
    scaled = scorer.scaled(values)
    alike = [None] * len(pairs) if scaled is None else scaled.tolist()
    scored = []
    for pair, value, similarity in zip(pairs, values.tolist(), alike, strict=True):
        facts: dict[str, Any] = {"distance": None, "similarity": None, "reason": None}
        if isfinite(value):
            unread = any(map(scorer.unread, pair))
            facts |= {"distance": value, "similarity": similarity, "unread": unread}
        else:
            facts |= {"reason": _reason(scorer, pair), "unread": False}
        scored.append(facts | {"signature": signature})
    return scored


def _reason(scorer: Scorer, pair: Pair) -> str:
    """Say why a pair has no distance."""
    try:
        scorer.using(empty="raise").compare(*pair)
    except InputError as error:
        return sendable(error.worded(HTTP))
    return "the distance is not a finite number"


def one_by_one(answer: Callable[..., Any]) -> Kind:
    """Return a kind that answers pair by pair, or with the error that one pair alone gives."""

    @wraps(answer)
    def answered(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
        answers: list[Any] = []
        for pair in pairs:
            end_if_unwanted()
            try:
                answers.append(answer(scorer, *pair))
            except InputError as error:
                answers.append(error)
        return answers

    return answered


@one_by_one
def _compared(scorer: Scorer, source: str, target: str, spelling: Spelling) -> dict[str, Any]:
    return scorer.compare(source, target, spelling=spelling).to_dict()


def comparisons(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    """Compare pairs that come with what to do about their spelling."""
    texts = (text for pair in pairs for text in pair[:2])
    scorer.prepare([text for text in texts if not scorer.takes_sentences(text)])
    return _compared(scorer, pairs)


def differences(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    """Find what such pairs differ in."""
    return [
        answer if isinstance(answer, Exception) else {name: answer[name] for name in DIFFERENCES}
        for answer in comparisons(scorer, pairs)
    ]


@one_by_one
def alignments(scorer: Scorer, source: str, target: str, aligner: str) -> dict[str, Any]:
    """Link the words of a pair."""
    return scorer.align(source, target, aligner=aligner).to_dict()


@one_by_one
def steps(scorer: Scorer, source: str, target: str, mix: float) -> Step:
    """Compare a pair under one mix, as a curve needs it."""
    return curve_step(scorer.using(mix=mix).compare(source, target))


@one_by_one
def explanations(
    scorer: Scorer, source: str, target: str, attention: bool, links: bool
) -> dict[str, Any]:
    """Explain a pair, with the attention of every head and with links of words if asked for."""
    explanation = scorer.explain(source, target, links=links)
    end_if_unwanted()
    return explanation.to_dict(attention=attention)


LONG = (None, distances, comparisons, differences)
"""Kinds of answers, searches among them, that there are of texts longer than a sentence too."""
