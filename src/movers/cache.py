"""A cache of answers by what a question says, that can be trusted with word order."""

from __future__ import annotations

import time
from collections.abc import Sequence
from numbers import Real
from pathlib import Path
from typing import Any, NamedTuple

from movers.difference.finder import differences
from movers.errors import InputError
from movers.io.pairs import check_count, check_sentence, check_sentences, check_share
from movers.results import Match
from movers.runtime.json_text import parse_json
from movers.scorer import Scorer
from movers.search.collection import Collection, Record, as_json
from movers.search.keep_apart import objections

GUARDS = ("numbers", "renamed", "negation", "opposites", "roles", "unread")
"""What keeps an answer from another question, unless told otherwise."""
LEAST = 0.85
"""Similarity from which a question counts as one that was answered."""
TRIED = 5
"""Stored questions that are looked at, nearest first."""


class Hit(NamedTuple):
    """The answer of a cache to a question.

    ``answer`` is None for a miss; ``match`` the stored question that is nearest, or answers; and
    ``why`` says in words what decided.
    """

    answer: Any
    match: Match | None
    why: str


class SemanticCache:
    """Answers by question, given again to questions that say the same.

    A stored question answers another if they are similar enough and no guard objects: other
    numbers, names, roles, a negation or an opposite keep them apart however near they are.
    Several processes may use one folder.

    Parameters
    ----------
    folder
        Where answers lie or will lie; None keeps them in memory.
    guard
        Name or names of `movers.difference.guards.GUARDS`.
    least
        Similarity, from 0 to 1, from which a stored question answers.
    ttl
        Seconds that an answer lasts; None is for ever.
    size
        Most answers; those that were not used for longest go first. None is no limit.
    scorer
        The measure that finds questions; it needs a scale and an index. None is the default one.
    judge
        What decides on the questions found, by its own similarity, which ``least`` then is of: a
        judge by name (``"same"``) or file, or another scorer. None leaves that to the first.

    Examples
    --------
    >>> cache = SemanticCache()
    >>> cache.set("how do I transfer money from savings to checking?", "Menu, Transfer.")
    >>> cache.get("How do I transfer money from savings to checking").answer
    'Menu, Transfer.'
    >>> cache.get("how do I transfer money from checking to savings?").answer is None
    True
    """

    def __init__(
        self,
        folder: str | Path | None = None,
        *,
        guard: str | Sequence[str] = GUARDS,
        least: float = LEAST,
        ttl: float | None = None,
        size: int | None = None,
        scorer: Scorer | None = None,
        judge: Scorer | str | None = None,
    ) -> None:
        check_share("least", least)
        if size is not None:
            check_count("size", size)
        if ttl is not None and not (isinstance(ttl, Real) and ttl > 0):
            raise InputError(f"ttl must be a time above 0 in seconds, or None, got {ttl!r}")
        self.least, self.ttl, self.size = least, ttl, size
        self._records = Collection(folder, scorer=scorer)
        self.judge = self._records.scorer.using(judge=judge) if isinstance(judge, str) else judge
        self._object_to = objections(self._records.scorer, guard)

    def __len__(self) -> int:
        return len(self._records)

    def get(self, text: str) -> Hit:
        """Look for an answer."""
        check_sentence(text, "the question")
        if not text.strip():
            return Hit(None, None, "there is no text")
        if (same := self._alive(self._records.get([text]))) is not None:
            return self._hit(same, Match(0, text, 0.0, 1.0), "the same text")
        nearest = [*self._records.find(text, TRIED)]
        first = nearest[0][0] if nearest else None
        reasons = []
        alike = self._similarities(text, [match for match, _ in nearest])
        for (match, record), similarity in zip(nearest, alike, strict=True):
            refusal = self._refusal(text, match, similarity)
            if refusal is None and self._alive([record]) is not None:
                story = [difference.text for difference in differences(match.text, text)]
                return self._hit(record, match, " ".join([f"{similarity:.2f} alike.", *story]))
            reasons.append(refusal or "the answer has expired")
        return Hit(None, first, reasons[0] if reasons else "nothing is stored")

    def set(self, text: str, answer: Any) -> None:
        """Store an answer, anything that JSON can hold but None; what is stale or too much goes."""
        if not check_sentence(text, "the question").strip():
            raise InputError(f"the question is empty ({text!r}); an answer needs one")
        if answer is None:
            raise InputError("an answer cannot be None, which says that there is none")
        self._records.put([Record(text, text, as_json(answer, "the answer"))])
        oldest = 0.0 if self.ttl is None else time.time() - self.ttl
        if stale := self._records.stale(before=oldest, beyond=self.size):
            self._records.drop(stale)

    def forget(self, *texts: str) -> None:
        """Remove the answers to some questions."""
        self._records.drop(check_sentences(texts, "question"))

    def clear(self) -> None:
        """Remove all answers."""
        self._records.drop(self._records.stale(before=float("inf"), beyond=None))

    def close(self) -> None:
        """Let go of the files."""
        self._records.close()

    def _alive(self, records: Sequence[Record]) -> Record | None:
        oldest = 0.0 if self.ttl is None else time.time() - self.ttl
        return next((record for record in records if record.written >= oldest), None)

    def _similarities(self, text: str, matches: Sequence[Match]) -> list[float]:
        """Return how alike a question is to stored ones, by the judge if there is one."""
        if self.judge is not None and matches:
            chances: list[float] = self.judge.similarities(
                [(text, match.text) for match in matches]
            ).tolist()
            return chances
        alike = [match.similarity for match in matches]
        if None in alike:
            raise InputError("a cache needs a measure with a scale; fit the scorer first")
        return [similarity for similarity in alike if similarity is not None]

    def _refusal(self, text: str, match: Match, similarity: float) -> str | None:
        """Return why a stored question does not answer; None if it does."""
        if not similarity >= self.least:
            return f"the nearest is {similarity:.2f} alike, less than {self.least:g}"
        return self._object_to([(match.text, text)])[0]

    def _hit(self, record: Record, match: Match, why: str) -> Hit:
        self._records.touch(record)
        return Hit(parse_json(record.value), match, why)
