"""Which of the sentences that lie near each other are kept apart all the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

from movers.difference.guards import check_guards, guarded
from movers.scorer import Scorer

Objection = Callable[[str, str], str | None]
"""What says why two sentences are kept apart; None if nothing speaks against joining them."""


def objection_of(scorer: Scorer, guards: Sequence[str], *, by_sentences: bool = False) -> Objection:
    """Make what keeps sentences apart, from the names of guards.

    Texts with another end that the model does not read are kept apart whatever the guards, unless
    they were compared ``by_sentences``, as those of an index are not.
    """
    names = check_guards(guards)

    @cache
    def unread(text: str) -> str:
        return "" if by_sentences and scorer.takes_sentences(text) else scorer.encoder.unread(text)

    def objection(source: str, target: str) -> str | None:
        reason = guarded(names, source, target)
        if reason is None and unread(source) != unread(target):
            reason = "another end, which the model does not read"
        return reason

    return objection
