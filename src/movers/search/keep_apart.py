"""Which of the sentences that lie near each other are kept apart all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from movers.difference.guards import UNREAD, check_guards, guarded
from movers.scorer import Scorer

MARKS = 2
"""Tokens that begin and end what a model reads."""
Objection = Callable[[str, str], str | None]
"""What says why two sentences are kept apart; None if nothing speaks against joining them."""


def objection_of(scorer: Scorer, guards: Sequence[str]) -> Objection:
    """Make what keeps sentences apart, from the names of guards."""
    names = check_guards(guards)

    @cache
    def unread(text: str) -> str:
        # A token has at least one byte, so that short sentences need not be tokenized here.
        return (
            scorer.encoder.unread(text)
            if len(text.encode()) > scorer.encoder.max_length - MARKS
            else ""
        )

    def objection(source: str, target: str) -> str | None:
        reason = guarded(names, source, target)
        if reason is None and UNREAD in names and unread(source) != unread(target):
            reason = "another end, which the model does not read"
        return reason

    return objection
