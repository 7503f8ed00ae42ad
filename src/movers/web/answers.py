"""What is done with the pairs of a batch: one result for each, which may be an error."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import isfinite
from typing import Any

from movers.difference.misspelt import Spelling
from movers.errors import InputError
from movers.explain.curve import Step, curve_step
from movers.runtime.interrupts import end_if_unwanted
from movers.scorer import Scorer
from movers.web.batcher import Answer, Pair
from movers.web.failures import HTTP, sendable
from movers.web.indexes import Search


@dataclass(frozen=True)
class Scored:
    """A distance with its signature, or why there is none; the similarity where it has a scale."""

    distance: float | None
    similarity: float | None
    reason: str | None
    signature: str
    unread: bool = False


class Answers:
    """The kinds of answers, each for many pairs at a time.

    A pair with a sentence of more than ``max_words`` words to compare gets an error.
    """

    def __init__(self, max_words: int) -> None:
        self.max_words = max_words
        # Made once: jobs with the same answer share a call.
        self.distances: Answer = partial(self._answer, _distances, long=True)
        self.comparisons: Answer = partial(self._answer, _comparisons, long=True)
        self.differences: Answer = partial(self._answer, _differences, long=True)
        self.alignments: Answer = partial(self._answer, partial(_each, _alignment))
        self.steps: Answer = partial(self._answer, partial(_each, _step))

    def explanations(self, *, attention: bool, links: bool) -> Answer:
        """Return what makes what the page shows of pairs, with all it may ask for besides."""

        def explained(scorer: Scorer, *pair: str) -> dict[str, Any]:
            explanation = scorer.explain(*pair, links=links)
            end_if_unwanted()
            return explanation.to_dict(attention=attention)

        return partial(self._answer, partial(_each, explained))

    def searches(self, search: Search, queries: Sequence[Pair]) -> list[Any]:
        """Search for queries that are short enough."""

        def run(_: Scorer, kept: Sequence[Pair]) -> list[Any]:
            return search.run([query for (query,) in kept]) if kept else []

        return self._answer(run, search.scorer, queries, long=True)

    def _answer(
        self, answer: Answer, scorer: Scorer, pairs: Sequence[Pair], *, long: bool = False
    ) -> list[Any]:
        """Answer the pairs, or queries, whose sentences are short enough.

        ``long`` says that longer texts are answered for too, where the scorer takes sentences.
        """
        # A word has at least one character, so that short sentences need not be tokenized here.
        wide = list({text for pair in pairs for text in pair[:2] if len(text) > self.max_words})
        _, words = scorer.encoder.located(wide, scorer.settings.rules)
        counts = zip(wide, words.lengths, strict=True)
        refused = {
            text
            for text, count in counts
            if count > self.max_words and not (long and scorer.takes_sentences(text))
        }
        answers = iter(answer(scorer, [pair for pair in pairs if refused.isdisjoint(pair)]))
        return [
            next(answers) if refused.isdisjoint(pair) else self._refusal(pair, refused)
            for pair in pairs
        ]

    def _refusal(self, pair: Pair, refused: set[str]) -> InputError:
        sides = ("source", "target") if len(pair) > 1 else ("query",)
        side, text = next(one for one in zip(sides, pair, strict=False) if one[1] in refused)
        return InputError(
            f"the {side} has more than the {self.max_words} words this server compares "
            f"({text[:40]!r} …); split it into sentences, or start the server with --max-words"
        )


def _distances(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    signature, distances = str(scorer.signature), scorer.distances(pairs)
    scaled = scorer.scaled(distances)
    alike = [None] * len(pairs) if scaled is None else scaled.tolist()
    scored = []
    for pair, value, similarity in zip(pairs, distances, alike, strict=True):
        if isfinite(value):
            unread = any(map(scorer.unread, pair))
            scored.append(Scored(float(value), similarity, None, signature, unread))
            continue
        reason = "the distance is not a finite number"
        try:
            scorer.using(empty="raise").compare(*pair)
        except InputError as error:
            reason = sendable(error.worded(HTTP))
        scored.append(Scored(None, None, reason, signature))
    return scored


def _comparisons(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    texts = (text for pair in pairs for text in pair[:2])
    scorer.prepare([text for text in texts if not scorer.takes_sentences(text)])
    return _each(_compare, scorer, pairs)


def _compare(scorer: Scorer, source: str, target: str, spelling: Spelling) -> dict[str, Any]:
    return scorer.compare(source, target, spelling=spelling).to_dict()


def _differences(scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    names = "source", "target", "differences", "source_repairs", "target_repairs", "signature"
    comparisons = _comparisons(scorer, pairs)
    return [
        answer if isinstance(answer, Exception) else {name: answer[name] for name in names}
        for answer in comparisons
    ]


def _alignment(scorer: Scorer, source: str, target: str, aligner: str) -> dict[str, Any]:
    return scorer.align(source, target, aligner=aligner).to_dict()


def _step(scorer: Scorer, source: str, target: str, mix: float) -> Step:
    return curve_step(scorer.using(mix=mix).compare(source, target))


def _each(answer: Callable[..., Any], scorer: Scorer, pairs: Sequence[Pair]) -> list[Any]:
    """Return the answers pair by pair, or the errors that are meant for one pair alone."""
    answers: list[Any] = []
    for pair in pairs:
        end_if_unwanted()
        try:
            answers.append(answer(scorer, *pair))
        except InputError as error:
            answers.append(error)
    return answers
